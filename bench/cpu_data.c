/* SPDX-License-Identifier: BSD-2-Clause */
/* The data of the cases: what exact sums cost depends on it. */
#include <math.h>
#include <string.h>

#include "cpu_measure.h"

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state;
}

/* In [-1, 1) */
static double uniform(uint64_t *state) {
  return (double)((int64_t)next(state) >> 32) * 0x1p-31;
}

static double normal(uint64_t *state) {
  double u = (double)((next(state) >> 12) + 1) * 0x1p-52;
  return sqrt(-2 * log(u)) * cos(3.14159265358979 * uniform(state));
}

/* Any finite number's bits. */
static uint64_t any_bits(red_dtype dtype, uint64_t *state) {
  const unsigned bits = 8 * (unsigned)red_dtype_bytes(dtype);
  const unsigned fraction = dtype == RED_F64 ? 52 : dtype == RED_F32 ? 23 : dtype == RED_BF16 ? 7 : 10;
  const uint64_t exponents = (((uint64_t)1 << (bits - 1 - fraction)) - 1) << fraction;
  for (;;) {
    uint64_t x = (next(state) >> 32 | next(state) << 32) >> (64 - bits);
    if ((x & exponents) != exponents) return x;
  }
}

static void put(red_dtype dtype, void *array, uint64_t i, double x) {
  const float f = (float)x;
  const int64_t whole = (int64_t)(x * 0x1p31);
  const size_t bytes = red_dtype_bytes(dtype);
  uint32_t bits;
  memcpy(&bits, &f, 4);
  switch (dtype) {
  case RED_F64:
    ((double *)array)[i] = x;
    break;
  case RED_F32:
    ((float *)array)[i] = f;
    break;
  case RED_BF16:
    ((uint16_t *)array)[i] = (uint16_t)(bits >> 16);
    break;
  case RED_F16: /* in one binade or two */
    ((uint16_t *)array)[i] = (uint16_t)(0x3800 | (whole & 0x83ff));
    break;
  default:
    memcpy((char *)array + i * bytes, &whole, bytes);
  }
}

/* Repeated, where a number is costly: what a cache holds is not the point of large cases. */
static void repeat(void *array, size_t bytes, size_t period) {
  for (size_t at = period; at < bytes; at += period)
    memcpy((char *)array + at, array, bytes - at < period ? bytes - at : period);
}

void bench_fill(const bench_case *c, void *in, bench_data data) {
  enum {
    PERIOD = (1 << 20) - 2 /* elements, even; arrays of a power of two do not begin alike */
  };
  const red_dtype dtype = c->problem.in;
  const size_t bytes = red_dtype_bytes(dtype), all = bench_in_bytes(c);
  const uint64_t n = all / bytes, distinct = data == BENCH_UNIFORM || n < PERIOD ? n : PERIOD;
  uint64_t state = 1;
  for (uint64_t i = 0; i < distinct; i++) {
    uint64_t bits;
    switch (data) {
    case BENCH_ZERO:
      put(dtype, in, i, 0);
      break;
    case BENCH_UNIFORM:
      put(dtype, in, i, uniform(&state));
      break;
    case BENCH_NORMAL:
      put(dtype, in, i, normal(&state));
      break;
    case BENCH_WHOLE_RANGE:
      bits = any_bits(dtype, &state);
      memcpy((char *)in + i * bytes, &bits, bytes);
      break;
    case BENCH_CANCELLING:
      put(dtype, in, i, ldexp(normal(&state), (int)(next(&state) >> 58) - 32));
      if (i % 2 != 0) { /* the neighbour's opposite */
        memcpy((char *)in + i * bytes, (char *)in + (i - 1) * bytes, bytes);
        ((unsigned char *)in)[(i + 1) * bytes - 1] ^= 0x80;
      }
    }
  }
  if (distinct < n) repeat(in, all, distinct * bytes);
}
