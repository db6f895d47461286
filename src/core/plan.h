/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans: the lowered problem, the device that runs it and what the backend prepared. */
#ifndef RED_CORE_PLAN_H
#define RED_CORE_PLAN_H

#include "context.h"

struct red_plan {
  red_small_fn *small; /* the short way for arguments with which there is nothing wrong; or NULL */
  red_device *device;
  red_lowered lowered;
  void *state; /* the backend's; NULL where executing needs no preparation */
  uint64_t workspace;
};

/* Prepare a plan that lies anywhere (the one-shot calls keep theirs on the stack) and whose `lowered` is filled. */
red_status red_plan_prepare(red_context *context, red_plan *plan);
/* The same on a given device. */
red_status red_plan_prepare_on(red_device *device, red_plan *plan);
void red_plan_release(red_plan *plan);

/* Where work in pieces wants its raw results, as in red_exec; members that are NULL do not matter. */
typedef struct red_raw {
  red_state *total;
  red_stats_state *stats;
  red_exact *exact;
  red_pair *pair;
} red_raw;

/* Check the arguments, execute, write the result; `raw` may be NULL. */
red_status red_plan_run(const red_plan *plan, red_queue *queue, const red_args *args, const red_raw *raw);
/* The same without offsets and workspace; in2 may be NULL. */
red_status red_plan_run_arrays(const red_plan *plan, red_queue *queue, const void *in, const void *in2, void *out);

struct red_queue {
  red_device *device;
  void *state;
};

#endif
