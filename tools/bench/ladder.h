/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `redtool bench ladder`: the history of making a sum of f32 fast, as kernels that can be run, each one fact about the
 * hardware away from the last.
 */
#ifndef REDTOOL_BENCH_LADDER_H
#define REDTOOL_BENCH_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/profile.h"
#include "bench/sampling.h"
#include "options.h"

/* How a step did on one set of data. */
struct rung {
  const char *name, *why;
  bool measured;
  char reason[128]; /* why not */
  struct quartiles time;
  struct profile profile; /* where the report says that there is one */
};

/* Steps on the same data, and what the memory gives to a plain read or copy. */
struct ladder {
  const char *place; /* where the data lies: "in memory" */
  uint64_t n;
  double bytes; /* that each step moves */
  struct rung *rungs;
  size_t count;
  double roof; /* bytes per second; 0: unknown */
};

/* The device's line, then the ladders, which have the same steps, side by side. */
struct ladder_report {
  const char *title;
  char device[256];
  const char *note; /* or NULL */
  const struct ladder *ladders;
  size_t count;
  bool profiled;
  const char *no_profile; /* why not, or NULL if nobody asked */
};

/* After "bench ladder"; the operands are NAME [N]. */
int ladder_run(const options *chosen);

/* The ladders themselves. `n` is 0 if the command line leaves it out. */
int ladder_cpu(const options *chosen, uint64_t n);
int ladder_opencl(const options *chosen, uint64_t n);
int ladder_cuda(const options *chosen, uint64_t n);
int coarsening_opencl(const options *chosen, uint64_t n);
int coarsening_cuda(const options *chosen, uint64_t n);
int shuffle_opencl(const options *chosen, uint64_t n);
int shuffle_cuda(const options *chosen, uint64_t n);

/* The device that --backend names, which must be of `backend`; without it the backend's first. */
int ladder_choose_device(const options *chosen, const char *backend, red_device_info *info);

void ladder_print(const struct ladder_report *report, bool json);

/*
 * The data: mostly small positive integers that add up to less than 2^24, so that every order of additions is exact. A
 * step must give exactly this sum; any element that is lost or counted twice shows.
 */
void ladder_fill(float *x, uint64_t n, double *sum);

/* Whether a step's result is right; the sentence if it is not. */
int ladder_check(const char *step, float result, double sum);

#endif
