/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics whose answers need no arithmetic, of lengths beside the edges of what kernels count in: ties, ends, zeros,
 * NaNs.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;

static const uint64_t edges[] = {1, 2, 127, 129, 2048, 4095, 4097, 16385, 3 * 16384 + 5, (1 << 21) - 1, (1 << 21) + 1};

enum {
  MOST_EDGE = (1 << 21) + 1
};

static uint64_t bits_of(red_dtype dtype, double value) {
  uint64_t bits = 0;
  float narrow = (float)value;
  switch (dtype) {
  case RED_F64:
    memcpy(&bits, &value, 8);
    return bits;
  case RED_F32:
    memcpy(&bits, &narrow, 4);
    return bits;
  case RED_BF16: /* of values that have few digits */
    memcpy(&bits, &narrow, 4);
    return bits >> 16;
  case RED_F16:
    memcpy(&bits, &narrow, 4);
    return (bits >> 16 & 0x8000) | (value == 0 ? 0 : ((bits & 0x7fffffff) - (112u << 23)) >> 13);
  default:
    return (uint64_t)(int64_t)value;
  }
}

static void set(red_dtype dtype, unsigned char *data, uint64_t i, uint64_t bits) {
  memcpy(data + i * red_dtype_bytes(dtype), &bits, red_dtype_bytes(dtype));
}

static void set_all(red_dtype dtype, unsigned char *data, uint64_t n, uint64_t bits) {
  const size_t bytes = n * red_dtype_bytes(dtype);
  set(dtype, data, 0, bits);
  for (size_t done = red_dtype_bytes(dtype), more; done < bytes; done += more) { /* twice as many each time */
    more = done < bytes - done ? done : bytes - done;
    memcpy(data + done, data, more);
  }
}

static int same_bits(red_dtype dtype, const red_scalar *scalar, uint64_t bits) {
  return memcmp(scalar, &bits, red_dtype_bytes(dtype)) == 0;
}

/* Everything about n elements; 0 where the device cannot. */
static int all_stats(red_dtype dtype, const void *data, uint64_t n, red_stats_result *result) {
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, dtype, n);
  *result = (red_stats_result){.size = sizeof *result};
  problem.stats = RED_STAT_ALL;
  red_status status = red_run(context, &problem, data, result);
  if (may_refuse(&problem, status)) return 0;
  ck_red(status);
  ck_assert_uint_eq(result->count, n);
  return 1;
}

/* Equal elements: the first one is both extremes, and nothing deviates. */
START_TEST(ties) {
  unsigned char *data = malloc(MOST_EDGE * sizeof(double));
  for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
    red_dtype dtype = (red_dtype)in;
    uint64_t three = bits_of(dtype, 3);
    set_all(dtype, data, MOST_EDGE, three);
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
      red_stats_result result;
      if (!all_stats(dtype, data, edges[e], &result)) break;
      ck_assert(same_bits(dtype, &result.min, three) && same_bits(dtype, &result.max, three));
      ck_assert(result.argmin == 0 && result.argmax == 0 && result.nan_count == 0);
      ck_assert(result.squared_deviations == 0 && result.variance == 0);
      ck_assert(edges[e] == 1 ? isnan(result.sample_variance) : result.sample_variance == 0);
    }
  }
  free(data);
}
END_TEST

/* One element below the others and one above, each beside an edge. */
START_TEST(places) {
  unsigned char *data = malloc(MOST_EDGE * sizeof(double));
  for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
    red_dtype dtype = (red_dtype)in;
    set_all(dtype, data, MOST_EDGE, bits_of(dtype, 3));
    for (size_t e = 1; e < sizeof edges / sizeof *edges; e++) {
      red_stats_result result;
      uint64_t n = edges[e], low = n - 1, high = edges[e - 1] - 1;
      set(dtype, data, low, bits_of(dtype, 2));
      set(dtype, data, high, bits_of(dtype, 4));
      int known = all_stats(dtype, data, n, &result);
      set(dtype, data, low, bits_of(dtype, 3));
      set(dtype, data, high, bits_of(dtype, 3));
      if (!known) break;
      ck_assert_uint_eq(result.argmin, low);
      ck_assert_uint_eq(result.argmax, high);
      ck_assert(same_bits(dtype, &result.min, bits_of(dtype, 2)) && same_bits(dtype, &result.max, bits_of(dtype, 4)));
    }
  }
  free(data);
}
END_TEST

/* Integers at both ends of their type: sums mod 2^64, from the sum of all equal ones; means of these are themselves. */
START_TEST(ends) {
  unsigned char *data = malloc(MOST_EDGE * sizeof(double));
  for (unsigned in = 1; in < RED_F16; in++) {
    red_dtype dtype = (red_dtype)in;
    const int is_signed = in <= RED_I64;
    const uint64_t all = UINT64_MAX >> (64 - 8 * red_dtype_bytes(dtype)), top = is_signed ? all >> 1 : all;
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
      for (int least = 0; least < 2; least++) {
        const uint64_t n = edges[e], value = least != 0 ? all - top : top, other = all - value;
        const uint64_t wide = is_signed && least != 0 ? value - all - 1 : value; /* sign-extended */
        red_stats_result same, mixed;
        set_all(dtype, data, n, value);
        if (!all_stats(dtype, data, n, &same)) break;
        ck_assert_uint_eq(same.sum.u64, n * wide);
        ck_assert_double_eq(same.mean, is_signed ? (double)(int64_t)wide : (double)wide);
        set(dtype, data, n / 2, other);
        if (!all_stats(dtype, data, n, &mixed)) break;
        ck_assert_uint_eq(mixed.sum.u64, (n - 1) * wide + (is_signed ? ~wide : other));
        ck_assert(mixed.argmin == (n > 1 && least != 0 ? 0 : n / 2) &&
                  mixed.argmax == (n > 1 && least == 0 ? 0 : n / 2));
      }
  }
  free(data);
}
END_TEST

/* -0 < +0 to the extremes, -0 == +0 to their places. */
START_TEST(zeros) {
  unsigned char *data = malloc(MOST_EDGE * sizeof(double));
  for (unsigned in = RED_F16; in < RED_DTYPE_COUNT; in++) {
    red_dtype dtype = (red_dtype)in;
    const uint64_t minus = (uint64_t)1 << (8 * red_dtype_bytes(dtype) - 1);
    for (size_t e = 1; e < sizeof edges / sizeof *edges; e++)
      for (int others = 0; others < 4; others++) {
        red_stats_result result;
        uint64_t n = edges[e];
        set_all(dtype, data, n, others % 2 != 0 ? minus : 0);
        set(dtype, data, others < 2 ? n - 1 : n / 2, others % 2 != 0 ? 0 : minus);
        if (!all_stats(dtype, data, n, &result)) break;
        ck_assert(same_bits(dtype, &result.min, minus) && same_bits(dtype, &result.max, 0));
        ck_assert(result.argmin == 0 && result.argmax == 0);
        ck_assert(result.variance == 0 && result.nan_count == 0);
      }
  }
  free(data);
}
END_TEST

/* NaNs of any sign and payload: among others the first is both extremes; alone they are counted all the same. */
START_TEST(nans) {
  static const uint64_t patterns[] = {0x7e01, 0xffc1, 0xff800001, 0x7ff0000000000001};
  static const uint64_t canonical[] = {0x7e00, 0x7fc0, 0x7fc00000, 0x7ff8000000000000};
  unsigned char *data = malloc(MOST_EDGE * sizeof(double));
  for (unsigned in = RED_F16; in < RED_DTYPE_COUNT; in++) {
    red_dtype dtype = (red_dtype)in;
    const uint64_t nan = patterns[in - RED_F16], quiet = canonical[in - RED_F16];
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
      for (int alone = 0; alone < 2; alone++) {
        red_stats_result result;
        uint64_t n = edges[e], first = alone != 0 ? 0 : n / 2;
        set_all(dtype, data, n, alone != 0 ? nan : bits_of(dtype, -1));
        set(dtype, data, first, nan);
        if (!all_stats(dtype, data, n, &result)) break;
        ck_assert(same_bits(dtype, &result.min, quiet) && same_bits(dtype, &result.max, quiet));
        ck_assert(same_bits(dtype, &result.sum, quiet));
        ck_assert(result.argmin == first && result.argmax == first);
        ck_assert_uint_eq(result.nan_count, alone != 0 ? n : 1);
        ck_assert(isnan(result.mean) && isnan(result.variance) && isnan(result.squared_deviations));
      }
  }
  free(data);
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
}
static void close_context(void) {
  red_context_destroy(context);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  tcase_add_test(tests, ties);
  tcase_add_test(tests, places);
  tcase_add_test(tests, ends);
  tcase_add_test(tests, zeros);
  tcase_add_test(tests, nans);
}

int main(void) {
  return suite_run("stats at edges", fill);
}
