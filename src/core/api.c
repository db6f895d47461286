/* SPDX-License-Identifier: BSD-2-Clause */
/* The one-shot calls: lower, prepare, execute and wait. */
#include "plan.h"
#include "small.h"

/* A plan on the stack: where planning is free, as on the CPU, so is the call. */
static red_status run_plan(red_context *context, const red_problem *problem, const void *in, const void *in2,
                           void *out) {
  red_plan plan;
  red_status status = red_lower(problem, &plan.lowered);
  if (status == RED_OK) status = red_plan_prepare(context, &plan);
  if (status != RED_OK) return status;
  status = red_plan_run_arrays(&plan, NULL, in, in2, out);
  red_plan_release(&plan);
  return status;
}

/* After the first call like it, a small reduction is planned by looking two things up. */
static red_status run(red_context *context, const red_problem *problem, const void *in, const void *in2, void *out) {
  const red_lowered *lowered = red_lower_known(problem);
  const red_device *device = lowered != NULL ? red_context_device_known(context, RED_HOST) : NULL;
  red_small_fn *small = device != NULL ? red_small_find(device, lowered, problem->n) : NULL;
  if (small != NULL && red_small_fits(lowered, in, in2, problem->n, out))
    return small(device->state, lowered, in, in2, problem->n, out);
  return run_plan(context, problem, in, in2, out);
}

red_status red_run(red_context *context, const red_problem *problem, const void *in, void *out) {
  return run(context, problem, in, NULL, out);
}

red_status red_run2(red_context *context, const red_problem *problem, const void *x, const void *y, void *out) {
  return run(context, problem, x, y, out);
}

red_status red_dot(red_context *context, red_dtype dtype, const void *x, const void *y, uint64_t n, void *out) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, dtype, n);
  return run(context, &problem, x, y, out);
}

red_status red_reduce(red_context *context, red_op op, red_dtype dtype, const void *in, uint64_t n, void *out) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, dtype, n);
  return run(context, &problem, in, NULL, out);
}

red_status red_inclusive_scan(red_context *context, red_op op, red_dtype dtype, const void *in, uint64_t n, void *out) {
  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, op, dtype, n);
  return run(context, &problem, in, NULL, out);
}

red_status red_exclusive_scan(red_context *context, red_op op, red_dtype dtype, const void *in, uint64_t n, void *out) {
  red_problem problem = RED_PROBLEM_INIT(RED_EXCLUSIVE_SCAN, op, dtype, n);
  return run(context, &problem, in, NULL, out);
}

red_status red_stats(red_context *context, red_dtype dtype, const void *in, uint64_t n, red_stats_result *out) {
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, dtype, n);
  return run(context, &problem, in, NULL, out);
}
