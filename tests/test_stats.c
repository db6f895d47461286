/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics: random data against the reference, each part against its own reduction, and means that are hard. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;

/* Devices without f64 have no mean. */
static int refused(red_dtype in) {
  static const uint64_t zero;
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, in, 1);
  red_stats_result result = {.size = sizeof result};
  return may_refuse(&problem, red_run(context, &problem, &zero, &result));
}

/* Each kind of selection is a program of its own to compile. */
static int compiles(void) {
  return strncmp(suite_backend(), "opencl", 6) == 0;
}

/* The default, everything, mean and variance alone, and whatever else can be asked for. */
static unsigned any_selection(random_state *random, unsigned turn) {
  if (turn % 6 == 2 && !compiles()) return RED_STAT_MEAN | RED_STAT_VARIANCE;
  if (turn % 6 == 5 && !compiles()) return (unsigned)random_below(random, RED_STAT_ALL + 1);
  return turn % 3 == 0 ? 0 : RED_STAT_ALL;
}

START_TEST(random_data) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(30); repeat > 0; repeat--)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, random_length(&random, 20000));
      problem.stats = any_selection(&random, repeat);
      compare_with_reference(context, &problem, &random);
    }
}
END_TEST

START_TEST(threads) {
  random_state random = random_start(2);
  for (unsigned t = 1; t <= suite_threads(); t += 2) {
    red_context *own = suite_context(t);
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, 200000 + random_below(&random, 200000));
      problem.stats = any_selection(&random, in);
      compare_with_reference(own, &problem, &random);
    }
    red_context_destroy(own);
  }
}
END_TEST

static void compare_part(red_op op, red_dtype in, const void *data, uint64_t n, const void *part) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  uint64_t expected = 0;
  ck_red(red_run(context, &problem, data, &expected));
  compare_outputs(&problem, "red_stats", &expected, part);
}

START_TEST(parts_are_reductions) {
  random_state random = random_start(3);
  static double data[9000];
  for (unsigned repeat = suite_repeat(5); repeat > 0; repeat--)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_stats_result result = {.size = sizeof result};
      uint64_t n = 1 + random_below(&random, 9000);
      red_dtype dtype = (red_dtype)in;
      if (refused(dtype)) continue;
      random_elements(&random, dtype, data, n);
      ck_red(red_stats(context, dtype, data, n, &result));
      ck_assert_uint_eq(result.count, n);
      compare_part(RED_SUM, dtype, data, n, &result.sum);
      compare_part(RED_MIN, dtype, data, n, &result.min);
      compare_part(RED_MAX, dtype, data, n, &result.max);
      compare_part(RED_ARGMIN, dtype, data, n, &result.argmin);
      compare_part(RED_ARGMAX, dtype, data, n, &result.argmax);
    }
}
END_TEST

static double mean_of(red_dtype in, const void *data, uint64_t n) {
  red_stats_result result = {.size = sizeof result};
  ck_red(red_stats(context, in, data, n, &result));
  return result.mean;
}

/* The sum of integers has 128 bits, and the quotient is rounded once. */
START_TEST(means_of_integers) {
  static const int64_t most[] = {INT64_MAX, INT64_MAX}, least[] = {INT64_MIN, INT64_MIN, INT64_MIN},
                       ends[] = {INT64_MAX, INT64_MIN}, odd[] = {(1ll << 53) + 1, (1ll << 53) + 1}, third[] = {1, 0, 0},
                       negative_third[] = {-1, 0, 0};
  static const uint64_t top[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
  static const uint64_t above_tie[] = {(1ull << 54) + 2, (1ull << 54) + 2, (1ull << 54) + 3};
  if (refused(RED_I64)) return;
  ck_assert_double_eq(mean_of(RED_I64, most, 2), 0x1p63);
  ck_assert_double_eq(mean_of(RED_I64, least, 3), -0x1p63);
  ck_assert_double_eq(mean_of(RED_I64, ends, 2), -0.5);
  ck_assert_double_eq(mean_of(RED_I64, odd, 2), 0x1p53);
  ck_assert_double_eq(mean_of(RED_I64, third, 3), 1.0 / 3);
  ck_assert_double_eq(mean_of(RED_I64, negative_third, 3), -1.0 / 3);
  ck_assert_double_eq(mean_of(RED_U64, top, 4), 0x1p64);
  ck_assert_double_eq(mean_of(RED_U64, above_tie, 3), 0x1p54 + 4);
}
END_TEST

/* (double)S / n, S in the accumulator: f32 addition overflows here, f16 addition would. */
START_TEST(means_of_floats) {
  static const float large[] = {0x1.fffffep127f, 0x1.fffffep127f};
  static const uint16_t half[] = {0x7bff, 0x7bff}; /* 65504 */
  static const float thirds[] = {1, 1, 2};
  if (refused(RED_F32)) return;
  ck_assert(isinf(mean_of(RED_F32, large, 2)));
  ck_assert_double_eq(mean_of(RED_F16, half, 2), 65504.0);
  ck_assert_double_eq(mean_of(RED_F32, thirds, 3), 4.0 / 3);
}
END_TEST

/* ---- Variances beside exact ones, by the bound of docs/numerics.md ---- */

enum {
  MANY = 1 << 20
};

/* Many chunks: a tree of height 8 or 9. `exact` is right to a unit in the last place. */
static void check_variance(red_dtype in, const void *data, uint64_t n, double exact) {
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, in, n);
  red_stats_result result = {.size = sizeof result};
  problem.stats = RED_STAT_VARIANCE;
  red_status status = red_run(context, &problem, data, &result);
  if (may_refuse(&problem, status)) return;
  ck_red(status);
  double error = fabs(result.squared_deviations - exact), bound = (16500 + 1000 * 9) * 0x1p-53 * exact;
  ck_assert_msg(error <= bound, "%s: squared deviations %.17g, exactly %.17g, error %g, bound %g", red_dtype_name(in),
                result.squared_deviations, exact, error, bound);
  ck_assert_double_eq(result.variance, result.squared_deviations / (double)n);
  ck_assert_double_eq(result.sample_variance, result.squared_deviations / (double)(n - 1));
}

/* Sums of f64 squares give -0.03 here. */
START_TEST(one_in_a_hundred) {
  float *data = malloc(MANY * sizeof *data);
  uint64_t others = 0;
  for (uint64_t i = 0; i < MANY; i++) {
    data[i] = i % 100 == 37 ? 12345679 : 12345678;
    others += i % 100 == 37;
  }
  check_variance(RED_F32, data, MANY, (double)others * (double)(MANY - others) / MANY);
  free(data);
}
END_TEST

/* 1e9 and multiples k of 2^-20: n times the sum of squared deviations is an integer, in units of 2^-40. */
START_TEST(small_noise) {
  random_state random = random_start(5);
  double *data = malloc(MANY * sizeof *data);
  for (int64_t most = 1; most <= 1 << 20; most *= 32) {
    __int128 sum = 0, squares = 0;
    for (uint64_t i = 0; i < MANY; i++) {
      int64_t k = (int64_t)random_below(&random, (uint64_t)(2 * most + 1)) - most;
      data[i] = 1e9 + (double)k * 0x1p-20;
      sum += k;
      squares += k * k;
    }
    check_variance(RED_F64, data, MANY, (double)(squares * MANY - sum * sum) / MANY * 0x1p-40);
  }
  free(data);
}
END_TEST

/* Squares that are no f32. */
START_TEST(large_alternations) {
  float *data = malloc(MANY * sizeof *data);
  for (uint64_t i = 0; i < MANY; i++) data[i] = i % 2 == 0 ? 1e20f : -1e20f;
  check_variance(RED_F32, data, MANY, (double)1e20f * (double)1e20f * MANY);
  free(data);
}
END_TEST

/* Levels far apart, each with its own noise: what the tree's merges are for. */
START_TEST(steps) {
  random_state random = random_start(6);
  int64_t *data = malloc(MANY * sizeof *data);
  __int128 sum = 0, squares = 0;
  for (uint64_t i = 0; i < MANY; i++) {
    data[i] = (int64_t)(i / 50000) * 1000000 + (int64_t)random_below(&random, 100);
    sum += data[i];
    squares += (__int128)data[i] * data[i];
  }
  check_variance(RED_I64, data, MANY, (double)(squares * MANY - sum * sum) / MANY);
  free(data);
}
END_TEST

START_TEST(one_element) {
  static const double data[] = {-3.5};
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_F64, 1);
  red_stats_result result = {.size = sizeof result};
  problem.stats = RED_STAT_ALL;
  if (may_refuse(&problem, red_run(context, &problem, data, &result))) return;
  ck_assert_double_eq(result.variance, 0);
  ck_assert_double_eq(result.squared_deviations, 0);
  ck_assert(isnan(result.sample_variance));
  ck_assert_uint_eq(result.nan_count, 0);
}
END_TEST

/* What is not asked for is zero, what is asked for has the bits that it has among all. */
START_TEST(selections) {
  static const struct {
    unsigned bit;
    size_t offset, bytes;
  } parts[] = {
      {RED_STAT_COUNT, offsetof(red_stats_result, count), sizeof(uint64_t)},
      {RED_STAT_NAN_COUNT, offsetof(red_stats_result, nan_count), sizeof(uint64_t)},
      {RED_STAT_MEAN, offsetof(red_stats_result, mean), sizeof(double)},
      {RED_STAT_VARIANCE, offsetof(red_stats_result, variance), 3 * sizeof(double)},
      {RED_STAT_SUM, offsetof(red_stats_result, sum), sizeof(red_scalar)},
      {RED_STAT_MIN, offsetof(red_stats_result, min), sizeof(red_scalar)},
      {RED_STAT_MAX, offsetof(red_stats_result, max), sizeof(red_scalar)},
      {RED_STAT_ARGMIN, offsetof(red_stats_result, argmin), sizeof(uint64_t)},
      {RED_STAT_ARGMAX, offsetof(red_stats_result, argmax), sizeof(uint64_t)},
  };
  enum {
    N = 9000
  };
  static double data[N];
  random_state random = random_start(4);
  for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
    if (compiles() && in != RED_U16 && in != RED_F32) continue;
    red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, N);
    red_stats_result all = {.size = sizeof all}, some = all;
    problem.stats = RED_STAT_ALL;
    random_elements(&random, problem.in, data, N);
    if (may_refuse(&problem, red_run(context, &problem, data, &all))) continue;
    for (size_t i = 0; i < 40; i++) {
      problem.stats = i < 9 ? parts[i].bit : 1 + (unsigned)random_below(&random, RED_STAT_ALL);
      ck_red(red_run(context, &problem, data, &some));
      ck_assert_uint_eq(some.size, sizeof some);
      for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        static const unsigned char zero[3 * sizeof(double)];
        const char *got = (const char *)&some + parts[p].offset, *want = (const char *)&all + parts[p].offset;
        if ((problem.stats & parts[p].bit) == 0) want = (const char *)zero;
        ck_assert_msg(memcmp(got, want, parts[p].bytes) == 0, "selection %#x of %s: part %#x%s", problem.stats,
                      red_dtype_name(problem.in), parts[p].bit, suite_seed_text());
      }
    }
  }
}
END_TEST

START_TEST(empty_input) {
  red_stats_result result, before;
  memset(&result, 0x5a, sizeof result);
  result.size = sizeof result;
  before = result;
  ck_assert_int_eq(red_stats(context, RED_F32, NULL, 0, &result), RED_ERR_EMPTY);
  ck_assert_ptr_nonnull(strstr(red_last_error(), "n = 0"));
  ck_assert_mem_eq(&result, &before, sizeof result);
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
  tcase_add_test(tests, random_data);
  tcase_add_test(tests, threads);
  tcase_add_test(tests, parts_are_reductions);
  tcase_add_test(tests, means_of_integers);
  tcase_add_test(tests, means_of_floats);
  tcase_add_test(tests, one_in_a_hundred);
  tcase_add_test(tests, small_noise);
  tcase_add_test(tests, large_alternations);
  tcase_add_test(tests, steps);
  tcase_add_test(tests, one_element);
  tcase_add_test(tests, selections);
  tcase_add_test(tests, empty_input);
}

int main(void) {
  return suite_run("stats", fill);
}
