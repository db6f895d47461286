/* SPDX-License-Identifier: BSD-2-Clause */
/* Measuring a row: the default and each candidate take turns, each in a context of its own. */
#ifndef REDTOOL_TUNE_MEASURE_H
#define REDTOOL_TUNE_MEASURE_H

#include "bench/device.h"
#include "bench/sampling.h"
#include "tune/tune.h"

struct tuning {
  const struct bench_device *device; /* opened with the defaults */
  unsigned threads;
  char section[320];        /* of the file: "omp: name, detail" */
  struct sampling sampling; /* of one size of a row */
};

int tune_measure(const struct tuning *tuning, const struct tune_row *row, struct tune_result *result);

/* The first lines of a tuning file. */
extern const char tune_file_begin[];

#endif
