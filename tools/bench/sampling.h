/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timing. Contestants take turns, one sample each in every round, so that whatever the machine does meanwhile it does
 * to all of them. A sample is one call, or as many as fill half a millisecond: a clock cannot see less.
 */
#ifndef REDTOOL_BENCH_SAMPLING_H
#define REDTOOL_BENCH_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct quartiles {
  double least, q1, median, q3; /* seconds a call */
  unsigned samples, calls;      /* calls in each sample */
};

struct contestant {
  /* `calls` times the work, all of it done on return. An exit status; the sentence is said already. */
  int (*run)(void *argument, unsigned calls);
  /* What must happen before each sample, untimed: driving the data out of the caches, say. NULL: nothing. */
  int (*before)(void *argument);
  /* Others leave nothing as it was: a call that is not counted precedes each sample, unless that is a single one. */
  bool warms_up;
  bool single; /* a sample is one call, since a second one would find what the first left behind */
  void *argument;
  const double *told; /* seconds of the last run by its own clock; NULL: it is timed from outside */
  struct quartiles result;
};

struct sampling {
  unsigned samples; /* at most, of each contestant */
  double seconds;   /* for the whole measurement; at least SAMPLING_LEAST samples are taken all the same */
};

enum {
  SAMPLING_LEAST = 3
};

int sampling_measure(struct contestant *contestants, size_t count, const struct sampling *sampling);

double sampling_now(void);

/* Sorts `values`. */
struct quartiles quartiles_of(double *values, unsigned count);

#endif
