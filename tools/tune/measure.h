/* SPDX-License-Identifier: BSD-2-Clause */
/* Measuring a row: the default and each candidate take turns, each in a context of its own. */
#ifndef REDTOOL_TUNE_MEASURE_H
#define REDTOOL_TUNE_MEASURE_H

#include "bench/sampling.h"
#include "tune/tune.h"

struct tuning {
  unsigned threads;
  char section[256];        /* of the file: "omp: name, detail" */
  struct sampling sampling; /* of one size of a row */
};

/* The library's description of the CPU device, with the defaults. */
int tune_describe(struct tuning *tuning, unsigned threads);

int tune_measure(const struct tuning *tuning, const struct tune_row *row, struct tune_result *result);

/* The first lines of a tuning file, up to its section. */
int tune_header(const struct tuning *tuning, char *text, size_t bytes);

#endif
