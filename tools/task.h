/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What reduce, scan and stats share: an input, the problem that fits it, a context and an accumulator for the pieces.
 */
#ifndef REDTOOL_TASK_H
#define REDTOOL_TASK_H

#include "input.h"
#include "options.h"

struct task {
  struct input input;
  struct input second; /* of an operator of two arrays; its name is NULL otherwise */
  red_problem problem; /* resolved: no default dtypes left */
  red_context *context;
  red_accumulator *accumulator;
  red_device_info device; /* that works on the data */
};

/* Open the operands and everything else. task_close must follow in any case. */
int task_open(struct task *task, const options *chosen, red_kind kind);
void task_close(struct task *task);

/* Reductions and statistics: append the whole input. */
int task_consume(struct task *task);

/* The next piece, with progress. */
int task_next(struct task *task, uint64_t most, const void **piece, uint64_t *count);

#endif
