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
  uint64_t least, most; /* that make sense; most < least: none does on this device */
  bool power_of_two;
  uint64_t *value; /* the default, to be replaced */
} red_tuning_row;

enum {
  RED_MOST_TUNING_ROWS = 32
};

/* For the lists X(name, default, least, most, power of two) in the backends' tuning.def; `tuning` points to a struct of
 * fields. */
#define RED_TUNING_FIELD(name, value, least, most, power)   uint64_t name;
#define RED_TUNING_DEFAULT(name, value, least, most, power) tuning->name = (value);
#define RED_TUNING_ROW(name, value, least, most, power)     {#name, least, most, power, &tuning->name},

/*
 * Replace the values of the rows that the tuning file has for the device, whose section is [backend: name, detail]. The
 * file is the one that RED_TUNE_FILE names, none if it is set but empty, else libred/tune in $XDG_CONFIG_HOME or
 * ~/.config. A named file that is missing or malformed is an error; the default one is then left alone, and the log
 * says so. All rows or none change.
 */
red_status red_tune_load(const char *backend, const char *name, const char *detail, const red_tuning_row *rows,
                         size_t count);

#endif
