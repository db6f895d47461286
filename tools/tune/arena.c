/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/arena.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

enum {
  RESULT_BYTES = 4096,
  MOST_SLICES = 64
};

static const uint64_t pool_bytes = (uint64_t)256 << 20; /* twice the caches of the GPUs of today */

static bool has_output(const struct tune_row *row) {
  return row->kind != RED_REDUCE;
}

static bool is_on_host(const struct bench_device *device, const struct tune_row *row) {
  return device->on_host || row->in_host_memory;
}

static unsigned slices_for(const struct bench_device *device, const struct tune_row *row, uint64_t bytes) {
  if (is_on_host(device, row) || device->engine.is_cpu || bytes >= pool_bytes) return 1;
  const uint64_t slices = pool_bytes / bytes;
  return slices < MOST_SLICES ? (unsigned)slices : MOST_SLICES;
}

/* Scans of zeros stay zeros, however often they replace themselves. */
static int make_host(struct arena *arena, const struct tune_row *row, uint64_t bytes) {
  const uint64_t n = bytes / red_dtype_bytes(row->dtype);
  const struct bench_case c = {.problem = RED_PROBLEM_INIT(row->kind, row->op, row->dtype, n),
                               .text = "tuning",
                               .bytes_in = bytes,
                               .bytes_out = has_output(row) ? bytes : 0};
  const int code = arrays_make(&arena->host, &c);
  if (!code && row->in_place) memset(arena->host.in, 0, bytes);
  arena->in = arena->host.in;
  arena->out = row->in_place ? arena->host.in : arena->host.out;
  return code;
}

static red_status make_device(struct arena *arena, red_context *context, const struct tune_row *row, uint64_t bytes) {
  arena->in = arena->out = NULL;
  arena->context = context;
  arena->in_step = bytes;
  arena->out_step = has_output(row) ? bytes : 0;
  red_status status = red_alloc(context, arena->slices * bytes, &arena->in);
  if (!status) status = red_alloc(context, has_output(row) ? arena->slices * bytes : RESULT_BYTES, &arena->out);
  for (unsigned i = 0; i < arena->slices && !status; i++)
    status = red_upload(context, NULL, arena->in, i * bytes, arena->host.in, bytes);
  return status;
}

int arena_make(struct arena *arena, const struct bench_device *device, const struct tune_row *row, uint64_t bytes) {
  memset(arena, 0, sizeof *arena);
  arena->slices = slices_for(device, row, bytes);
  const int code = make_host(arena, row, bytes);
  if (code || is_on_host(device, row)) return code;
  const red_status status = make_device(arena, device->context, row, bytes);
  return status ? library_error(status) : EXIT_OK;
}

void arena_free(struct arena *arena) {
  if (arena->context && arena->in) red_free(arena->context, arena->in);
  if (arena->context && arena->out) red_free(arena->context, arena->out);
  arrays_free(&arena->host);
}

red_args arena_args(const struct arena *arena, unsigned turn) {
  const uint64_t slice = turn % arena->slices;
  return (red_args){.size = sizeof(red_args),
                    .in = arena->in,
                    .in_offset = slice * arena->in_step,
                    .out = arena->out,
                    .out_offset = slice * arena->out_step};
}

red_problem arena_problem(const struct arena *arena, const struct tune_row *row, uint64_t bytes) {
  red_problem problem = RED_PROBLEM_INIT(row->kind, row->op, row->dtype, bytes / red_dtype_bytes(row->dtype));
  if (arena->context) problem.in_memory = problem.out_memory = RED_DEVICE;
  return problem;
}

static uint64_t largest(const struct tune_row *row) {
  uint64_t most = 0;
  for (size_t i = 0; row->sizes[i]; i++)
    if (row->sizes[i] > most) most = row->sizes[i];
  return most;
}

uint64_t arena_host_bytes(const struct tune_row *row) {
  return 2 * largest(row);
}

uint64_t arena_device_bytes(const struct bench_device *device, const struct tune_row *row) {
  if (is_on_host(device, row)) return 0;
  const uint64_t bytes = largest(row), least = device->engine.is_cpu ? 0 : pool_bytes;
  return 2 * (bytes > least ? bytes : least);
}
