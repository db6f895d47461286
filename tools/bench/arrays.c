/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/arrays.h"

#include <string.h>

#include "bench/host.h"
#include "bench/machine.h"
#include "report.h"

enum {
  LEAST_BYTES = 4096
};

/* Copies, the roofline of a scan, move half of the bytes each way: that may be more than its narrower array has. */
static uint64_t array_bytes(const struct bench_case *c, uint64_t bytes) {
  const uint64_t half = c->bytes_out ? (c->bytes_in + c->bytes_out) / 2 : 0, most = bytes > half ? bytes : half;
  return most < LEAST_BYTES ? LEAST_BYTES : (most + 63) / 64 * 64;
}

static uint64_t sweep_bytes(void) {
  return 2 * machine_caches();
}

static double gibibytes(uint64_t bytes) {
  return (double)bytes / 1073741824.0;
}

int arrays_check(const struct cases *cases, size_t copies, int cold) {
  const uint64_t allowed = machine_free_memory() / 2, fixed = cold ? sweep_bytes() : 0;
  for (size_t i = 0; i < cases->count; i++) {
    const struct bench_case *c = &cases->list[i];
    const double arrays = (double)array_bytes(c, c->bytes_in) + (double)array_bytes(c, c->bytes_out);
    const double needed = arrays * (double)copies + (double)fixed;
    if (needed <= (double)allowed) continue;
    complain("%s takes %.1f GiB of memory, and no more than half of what is free is used: %.1f GiB", c->text,
             needed / 1073741824.0, gibibytes(allowed));
    return EXIT_LIBRARY;
  }
  return EXIT_OK;
}

/* ---- data ---- */

struct filling {
  const red_problem *problem;
  char *array;
};

/* Any number's bits, mixed well: the finalizer of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* In [-1, 1); for products 1 or -1, lest they drown in subnormal numbers, which some processors are slow at. */
static double number(uint64_t bits, red_op op) {
  if (op == RED_PROD) return bits & 1 ? 1 : -1;
  return (double)(int64_t)bits * 0x1p-63;
}

static void store(red_dtype dtype, red_op op, uint64_t bits, char *to) {
  const double x = number(bits, op);
  const float f = (float)x;
  uint32_t single;
  memcpy(&single, &f, sizeof single);
  uint16_t half = (uint16_t)(single >> 16);
  switch (dtype) {
  case RED_F64:
    memcpy(to, &x, sizeof x);
    break;
  case RED_F32:
    memcpy(to, &f, sizeof f);
    break;
  case RED_F16: /* a sign, an exponent below that of 1, any fraction */
    half = op == RED_PROD ? (uint16_t)(0x3c00 | (bits & 1) << 15) : (uint16_t)(0x3800 | (bits & 0x83ff));
    memcpy(to, &half, sizeof half);
    break;
  case RED_BF16:
    memcpy(to, &half, sizeof half);
    break;
  default:
    memcpy(to, &bits, red_dtype_bytes(dtype));
    break;
  }
}

static void fill_share(void *argument, unsigned index, size_t first, size_t last) {
  const struct filling *filling = argument;
  const red_problem *problem = filling->problem;
  const size_t width = red_dtype_bytes(problem->in);
  (void)index;
  for (size_t at = first; at + width <= last; at += width)
    store(problem->in, problem->op, mix(at / width), filling->array + at);
}

int arrays_make(struct arrays *arrays, const struct bench_case *c) {
  arrays->in_bytes = array_bytes(c, c->bytes_in);
  arrays->out_bytes = array_bytes(c, c->bytes_out);
  arrays->in = host_map(arrays->in_bytes);
  arrays->out = host_map(arrays->out_bytes);
  if (!arrays->in || !arrays->out) {
    complain("%s: no memory for arrays of %.1f GiB", c->text, gibibytes(arrays->in_bytes + arrays->out_bytes));
    return EXIT_LIBRARY;
  }
  struct filling filling = {&c->problem, arrays->in};
  host_share(host_threads(), c->bytes_in, fill_share, &filling);
  return EXIT_OK;
}

void arrays_free(struct arrays *arrays) {
  host_unmap(arrays->in, arrays->in_bytes);
  host_unmap(arrays->out, arrays->out_bytes);
  arrays->in = arrays->out = NULL;
}

/* ---- cold caches ---- */

int arrays_make_sweep(struct arrays *arrays) {
  arrays->sweep_bytes = sweep_bytes();
  arrays->sweep = host_map(arrays->sweep_bytes);
  if (arrays->sweep) return EXIT_OK;
  complain("no memory for %.1f GiB to sweep the caches with", gibibytes(arrays->sweep_bytes));
  return EXIT_LIBRARY;
}

void arrays_free_sweep(struct arrays *arrays) {
  host_unmap(arrays->sweep, arrays->sweep_bytes);
  arrays->sweep = NULL;
}

void arrays_chill(const struct arrays *arrays) {
  host_move(HOST_READ, arrays->threads, NULL, arrays->sweep, arrays->sweep_bytes);
}
