/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of the ladders of OpenCL and CUDA, and of their coarsening. Both have the same steps, whose kernels have
 * the same names and arguments.
 */
#ifndef REDTOOL_BENCH_LADDER_STEPS_H
#define REDTOOL_BENCH_LADDER_STEPS_H

#include "bench/engine.h"

struct climber;

struct device_step {
  const char *name, *why;
  const char *kernel; /* NULL: the library */
  int (*enqueue)(struct climber *c, const struct device_step *step, void *kernel);
  unsigned loads; /* elements that a work-item loads; 0: as many as it takes */
  enum {
    ANYWHERE,
    SHUFFLES, /* between lanes */
    TOGETHER  /* all groups at the same time */
  } needs;
};

struct device_steps {
  const struct device_step *list;
  size_t count;
};
extern const struct device_steps ladder_steps, coarsening_steps;
enum {
  LADDER_MOST_STEPS = 11
};

/* A device, the data on it, and the library there. */
struct climber {
  const struct device_steps *steps;
  struct engine engine;
  red_context *context;
  red_queue *queue;
  red_plan *plan;
  red_device_info info;
  uint32_t n;
  void *in, *out, *parts[2], *counter;
  double sum; /* the right answer */
};

/* As many groups as fit on the device at the same time, or fewer for a small array. */
uint32_t ladder_most_groups(const struct climber *c);

/* A kernel of the arguments (in, n, out). */
int ladder_launch(struct climber *c, void *kernel, uint32_t groups, void *in, uint32_t n, void *out);

#endif
