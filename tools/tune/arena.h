/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arrays that a row is measured with: in host memory, or on the device. There executions take slices of a large
 * array in turns, lest the caches hold them, unless the device is a CPU.
 */
#ifndef REDTOOL_TUNE_ARENA_H
#define REDTOOL_TUNE_ARENA_H

#include "bench/arrays.h"
#include "bench/device.h"
#include "tune/tune.h"

struct arena {
  struct arrays host;
  red_context *context; /* whose device memory it is; NULL: host memory */
  void *in, *out;
  uint64_t in_step, out_step; /* from one slice to the next */
  unsigned slices;
};

/* For an input of `bytes` bytes; an exit status. arena_free in any case. */
int arena_make(struct arena *arena, const struct bench_device *device, const struct tune_row *row, uint64_t bytes);
void arena_free(struct arena *arena);

/* What a plan of the row takes in its turn number `turn`. */
red_args arena_args(const struct arena *arena, unsigned turn);
red_problem arena_problem(const struct arena *arena, const struct tune_row *row, uint64_t bytes);

/* The most bytes that one row's arena takes, of host and of device memory. */
uint64_t arena_host_bytes(const struct tune_row *row);
uint64_t arena_device_bytes(const struct bench_device *device, const struct tune_row *row);

#endif
