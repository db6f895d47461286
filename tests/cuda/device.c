/* SPDX-License-Identifier: BSD-2-Clause */
#include "device.h"

#include <stdlib.h>
#include <string.h>

enum {
  MARK = 0xa5,
  FRINGE = 64 /* bytes that are watched on either side of the output */
};

static void *alloc(red_context *context, uint64_t bytes) {
  void *memory;
  ck_red(red_alloc(context, bytes, &memory));
  return memory;
}

/* Device memory of `bytes`, every byte `value`. */
static void *alloc_filled(red_context *context, uint64_t bytes, int value) {
  void *memory = alloc(context, bytes), *filled = malloc(bytes);
  memset(filled, value, bytes);
  ck_red(red_upload(context, NULL, memory, 0, filled, bytes));
  free(filled);
  return memory;
}

static void check_fringe(const unsigned char *data, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++)
    ck_assert_msg(data[i] == MARK, "byte %llu beside the output was written", (unsigned long long)i);
}

static red_problem on_device(const device_run *run, const red_problem *host) {
  red_problem problem = *host;
  problem.in_memory = RED_DEVICE;
  problem.out_memory = run->host_result ? RED_HOST : RED_DEVICE;
  return problem;
}

red_status run_on_device(const device_run *run, const red_problem *host, const void *in, void *out) {
  red_context *context = run->context;
  red_problem problem = on_device(run, host);
  red_plan *plan;
  red_status status = red_plan_create(context, &problem, &plan);
  if (status != RED_OK) return status;
  size_t size = red_dtype_bytes(problem.in), bytes = output_bytes(&problem);
  size_t unit = problem.kind == RED_STATS || problem.kind == RED_REDUCE || problem.n == 0 ? bytes : bytes / problem.n;
  if (problem.kind == RED_STATS) unit = 8;
  uint64_t in_at = FRINGE + run->in_shift * size, out_at = FRINGE + run->out_shift * unit;
  if (run->in_place) out_at = in_at;
  uint64_t room = out_at + bytes + FRINGE;
  if (run->in_place && room < in_at + problem.n * size + FRINGE) room = in_at + problem.n * size + FRINGE;
  unsigned char *memory = alloc_filled(context, room, MARK), *input = memory, *workspace = NULL;
  if (!run->in_place) input = alloc(context, in_at + problem.n * size + 1);
  if (problem.n > 0) ck_red(red_upload(context, NULL, input, in_at, in, problem.n * size));
  red_args args = {.size = sizeof args, .in = input + in_at, .out = run->host_result ? out : memory + out_at};
  unsigned char *input2 = NULL;
  if (run->in2 != NULL) {
    uint64_t in2_at = run->in2_shift * size;
    input2 = alloc(context, in2_at + problem.n * size + 1);
    if (problem.n > 0) ck_red(red_upload(context, NULL, input2, in2_at, run->in2, problem.n * size));
    args.in2 = input2 + in2_at;
  }
  if (run->own_workspace && red_plan_workspace(plan) > 0) {
    args.workspace_bytes = red_plan_workspace(plan);
    args.workspace = workspace = alloc_filled(context, args.workspace_bytes, 0x5a);
  }
  if (run->host_result) prepare_output(host, out);
  status = red_plan_execute_args(plan, run->queue, &args);
  if (status == RED_OK && !run->host_result) {
    unsigned char *copy = malloc(room);
    ck_red(red_download(context, run->queue, copy, memory, 0, room));
    memcpy(out, copy + out_at, bytes);
    check_fringe(copy, out_at - FRINGE, out_at);
    check_fringe(copy, out_at + bytes, out_at + bytes + FRINGE);
    free(copy);
  } else if (run->queue != NULL) {
    ck_red(red_queue_finish(run->queue));
  }
  red_plan_destroy(plan);
  if (input != memory) red_free(context, input);
  red_free(context, input2);
  red_free(context, memory);
  red_free(context, workspace);
  return status;
}
