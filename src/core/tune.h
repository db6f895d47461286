/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tuning files: numbers that steer speed, never bits, as `redtool tune` measured them on a device. A backend lists its
 * rows and asks when it opens a device.
 */
#ifndef RED_CORE_TUNE_H
#define RED_CORE_TUNE_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

typedef struct red_tuning_row {
  const char *name;
  uint64_t least, most; /* that make sense */
  bool power_of_two;
  uint64_t *value; /* the default, to be replaced */
} red_tuning_row;

enum {
  RED_MOST_TUNING_ROWS = 32
};

/*
 * Replace the values of the rows that the tuning file has for `device` ("omp: name, detail"). The file is the one that
 * RED_TUNE_FILE names, none if it is set but empty, else libred/tune in $XDG_CONFIG_HOME or ~/.config. A named file
 * that is missing or malformed is an error; the default one is then left alone, and the log says so. All rows or none
 * change.
 */
red_status red_tune_load(const char *device, const red_tuning_row *rows, size_t count);

#endif
