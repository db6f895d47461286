/* SPDX-License-Identifier: BSD-2-Clause */
#include "device.h"

#include <stdlib.h>
#include <string.h>

red_context *context, *cpu;

void open_contexts(void) {
  red_context_options options = {.size = sizeof options, .backend = "omp"};
  context = suite_context(0);
  ck_red(red_context_create(&options, &cpu));
}
void close_contexts(void) {
  red_context_destroy(context);
  red_context_destroy(cpu);
}

int possible(const red_problem *problem) {
  red_problem resolved = *problem;
  return red_problem_resolve(&resolved) == RED_OK;
}

enum {
  FRINGE = 64 /* bytes that are watched on either side of the output */
};

static void *alloc(uint64_t bytes) {
  void *memory;
  ck_red(red_alloc(context, bytes, &memory));
  return memory;
}

/* Device memory of `bytes`, every byte `value`. */
static void *alloc_filled(uint64_t bytes, int value) {
  void *memory = alloc(bytes), *filled = malloc(bytes);
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

/* An output in watched memory, and inputs `at` bytes behind the beginning of theirs. */
typedef struct arrays {
  unsigned char *memory, *input, *input2;
  uint64_t in_at, in2_at, out_at, out_bytes, room;
} arrays;

static uint64_t unit_of(const red_problem *problem, uint64_t bytes) {
  if (problem->kind == RED_STATS) return 8;
  return problem->kind == RED_REDUCE || problem->n == 0 ? bytes : bytes / problem->n;
}

/* One byte more: what is read beyond the end is read beyond the allocation. Words may begin before the array. */
static unsigned char *input_at(uint64_t at, const void *data, uint64_t bytes) {
  unsigned char *memory = alloc(at + bytes + 1), *before = malloc(at);
  memset(before, MARK, at);
  ck_red(red_upload(context, NULL, memory, 0, before, at));
  free(before);
  if (bytes > 0) ck_red(red_upload(context, NULL, memory, at, data, bytes));
  return memory;
}

static arrays arrays_new(const device_run *run, const red_problem *problem, const void *in) {
  uint64_t size = red_dtype_bytes(problem->in), in_bytes = problem->n * size;
  arrays a = {.in_at = FRINGE + run->in_shift * size, .in2_at = run->in2_shift * size};
  a.out_bytes = output_bytes(problem);
  a.out_at = run->in_place ? a.in_at : FRINGE + run->out_shift * unit_of(problem, a.out_bytes);
  a.room = a.out_at + a.out_bytes + FRINGE;
  if (run->in_place && a.room < a.in_at + in_bytes + FRINGE) a.room = a.in_at + in_bytes + FRINGE;
  a.memory = alloc_filled(a.room, MARK);
  if (!run->in_place)
    a.input = input_at(a.in_at, in, in_bytes);
  else if (in_bytes > 0)
    ck_red(red_upload(context, NULL, a.memory, a.in_at, in, in_bytes));
  if (run->in2 != NULL) a.input2 = input_at(a.in2_at, run->in2, in_bytes);
  return a;
}

static void arrays_free(arrays *a) {
  red_free(context, a->memory);
  red_free(context, a->input);
  red_free(context, a->input2);
}

static void take_output(const device_run *run, const arrays *a, void *out) {
  unsigned char *copy = malloc(a->room);
  ck_red(red_download(context, run->queue, copy, a->memory, 0, a->room));
  memcpy(out, copy + a->out_at, a->out_bytes);
  check_fringe(copy, a->out_at - FRINGE, a->out_at);
  check_fringe(copy, a->out_at + a->out_bytes, a->out_at + a->out_bytes + FRINGE);
  free(copy);
}

red_status run_on_device(const device_run *run, const red_problem *host, const void *in, void *out) {
  red_problem problem = on_device(run, host);
  red_plan *plan;
  red_status status = red_plan_create(context, &problem, &plan);
  if (status != RED_OK) return status;
  if (run->prepare != NULL) run->prepare(plan);
  arrays a = arrays_new(run, &problem, in);
  red_args args = {.size = sizeof args,
                   .in = (run->in_place ? a.memory : a.input) + a.in_at,
                   .in2 = a.input2 != NULL ? a.input2 + a.in2_at : NULL,
                   .out = run->host_result ? out : a.memory + a.out_at};
  if (run->own_workspace && red_plan_workspace(plan) > 0) {
    args.workspace_bytes = red_plan_workspace(plan);
    args.workspace = alloc_filled(args.workspace_bytes, 0x5a);
  }
  if (run->host_result) prepare_output(host, out);
  status = red_plan_execute_args(plan, run->queue, &args);
  if (status == RED_OK && !run->host_result)
    take_output(run, &a, out);
  else if (run->queue != NULL)
    ck_red(red_queue_finish(run->queue));
  red_plan_destroy(plan);
  red_free(context, args.workspace);
  arrays_free(&a);
  return status;
}
