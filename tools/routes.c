/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "routes.h"

int is_scan(const red_problem *problem) {
  return problem->kind == RED_INCLUSIVE_SCAN || problem->kind == RED_EXCLUSIVE_SCAN;
}

static size_t output_width(const red_problem *problem) {
  red_problem resolved = *problem;
  if (problem->kind == RED_STATS) return sizeof(red_stats_result);
  if (problem->bound) return sizeof(red_bounded);
  return red_problem_resolve(&resolved) == RED_OK ? red_dtype_bytes(resolved.out) : 0;
}

size_t output_bytes(const red_problem *problem) {
  return output_width(problem) * (is_scan(problem) ? problem->n : 1);
}

red_status route_whole(red_context *context, const red_problem *problem, const void *in, const void *in2, void *out) {
  return red_run2(context, problem, in, in2, out);
}

/* ---- pieces ---- */

static red_status feed(red_accumulator *accumulator, const red_problem *problem, const void *in, const void *in2,
                       void *out) {
  static const uint64_t lengths[] = {1, 4096, 3, 1000, 64, 8192, 5, 2047, 129, 16384};
  enum {
    LENGTHS = sizeof lengths / sizeof *lengths
  };
  const size_t in_width = red_dtype_bytes(problem->in), out_width = output_width(problem);
  red_status status = RED_OK;
  for (uint64_t done = 0, turn = problem->n; done < problem->n && !status; turn++) {
    const uint64_t left = problem->n - done, wish = lengths[turn % LENGTHS];
    const uint64_t length = wish < left ? wish : left;
    const char *from = (const char *)in + done * in_width;
    if (is_scan(problem))
      status = red_accumulator_scan(accumulator, from, length, (char *)out + done * out_width);
    else
      status = red_accumulator_add2(accumulator, from, in2 ? (const char *)in2 + done * in_width : NULL, length);
    done += length;
  }
  return status;
}

red_status route_pieces(red_context *context, const red_problem *problem, const void *in, const void *in2, void *out) {
  red_accumulator *accumulator = NULL;
  red_status status = red_accumulator_create(context, problem, &accumulator);
  if (!status) status = feed(accumulator, problem, in, in2, out);
  if (!status && !is_scan(problem)) status = red_accumulator_result(accumulator, out);
  red_accumulator_destroy(accumulator);
  return status;
}

/* ---- device memory ---- */

enum {
  ODD_ELEMENTS = 5
}; /* the arrays begin here, so that they are aligned to one element only */

static red_status execute(red_context *context, const red_problem *problem, const red_args *args) {
  red_plan *plan = NULL;
  red_status status = red_plan_create(context, problem, &plan);
  if (!status) status = red_plan_execute_args(plan, NULL, args);
  red_plan_destroy(plan);
  return status;
}

static int may_find_nothing(const red_problem *problem) {
  return problem->kind == RED_REDUCE && (problem->op == RED_ARGMINNUM || problem->op == RED_ARGMAXNUM);
}

/*
 * Results of reductions may lie in either memory: odd lengths take the device's. Statistics go to the host, and so do
 * results with a bound and indices too narrow to tell UINT64_MAX from a place.
 */
static int result_on_device(const red_problem *problem) {
  if (problem->bound || (may_find_nothing(problem) && output_width(problem) < sizeof(uint64_t))) return 0;
  return is_scan(problem) || (problem->kind == RED_REDUCE && problem->n % 2 == 1);
}

/* What stays on the device cannot be an error: UINT64_MAX stands for an arg operator's RED_ERR_EMPTY. */
static int found_nothing(const red_problem *problem, const void *out) {
  uint64_t index;
  if (!may_find_nothing(problem)) return 0;
  memcpy(&index, out, sizeof index);
  return index == UINT64_MAX;
}

static red_status run_on_device(red_context *context, red_problem *problem, red_args *args, void *out) {
  const size_t bytes = output_bytes(problem);
  void *device_out = NULL;
  problem->in_memory = RED_DEVICE;
  if (!result_on_device(problem)) {
    args->out = out;
    return execute(context, problem, args);
  }
  problem->out_memory = RED_DEVICE;
  args->out_offset = ODD_ELEMENTS * output_width(problem);
  red_status status = red_alloc(context, bytes + args->out_offset + 1, &device_out);
  if (status) return status;
  args->out = device_out;
  status = execute(context, problem, args);
  if (!status && bytes) status = red_download(context, NULL, out, device_out, args->out_offset, bytes);
  red_free(context, device_out);
  if (!status && found_nothing(problem, out)) return RED_ERR_EMPTY;
  return status;
}

/* A copy in the device's memory that begins `offset` bytes into *device. */
static red_status upload(red_context *context, const void *host, uint64_t bytes, uint64_t offset, void **device) {
  red_status status = red_alloc(context, offset + bytes + 1, device);
  if (!status && bytes) status = red_upload(context, NULL, *device, offset, host, bytes);
  return status;
}

red_status route_device(red_context *context, const red_problem *problem, const void *in, const void *in2, void *out) {
  red_problem on_device = *problem;
  const size_t width = red_dtype_bytes(problem->in), bytes = problem->n * width;
  red_args args = {.size = sizeof args, .in_offset = ODD_ELEMENTS * width};
  void *device_in = NULL, *device_in2 = NULL;
  red_status status = upload(context, in, bytes, args.in_offset, &device_in);
  if (!status && in2) {
    args.in2_offset = 3 * width;
    status = upload(context, in2, bytes, args.in2_offset, &device_in2);
  }
  args.in = device_in;
  args.in2 = device_in2;
  if (!status) status = run_on_device(context, &on_device, &args, out);
  red_free(context, device_in);
  red_free(context, device_in2);
  return status;
}
