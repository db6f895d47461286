/* SPDX-License-Identifier: BSD-2-Clause */
/* The exact mode: true results on any data, whatever the order, the threads and the way kernels take. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static const red_op ops[] = {RED_SUM, RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2, RED_MEAN};
enum {
  OPS = sizeof ops / sizeof *ops
};

static red_context *context;

/* Significands of all ones in one binade, one number of another so that no window holds both, then all undone. */
static void fill_room(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  uint64_t ones = ((uint64_t)1 << float_fraction(dtype)) - 1,
           exponents = float_infinity(dtype) >> float_fraction(dtype);
  uint64_t exponent = exponents / 2 + random_below(random, exponents / 2), half = (n - 1) / 2;
  for (uint64_t i = 0; i < n; i++) put_float(dtype, array, i, exponent << float_fraction(dtype) | ones, i >= half);
  for (uint64_t i = 0; i < n; i += 900) put_float(dtype, array, i, 1 + random_below(random, 9), false);
  if (2 * half < n) put_float(dtype, array, n - 1, 1, false);
}

/* Moderate numbers, among which one that is late and huge, or tiny. */
static void fill_late(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  random_numbers(random, dtype, array, n);
  for (uint64_t k = random_below(random, 3); k > 0; k--)
    put_float(dtype, array, n - 1 - random_below(random, n < 3000 ? n : 3000),
              random_below(random, 2) != 0 ? float_infinity(dtype) - 1 - random_below(random, 5)
                                           : 1 + random_below(random, 5),
              random_below(random, 2) != 0);
}

/* Many numbers of one binade and their negatives; what they leave are odd numbers of another one. */
static void fill_apart(red_dtype dtype, unsigned char *array, uint64_t n, uint64_t high, uint64_t low,
                       uint64_t stride) {
  unsigned fraction = float_fraction(dtype);
  uint64_t ones = ((uint64_t)1 << fraction) - 1;
  for (uint64_t i = 0; i < n; i++) put_float(dtype, array, i, high << fraction | ones, i >= n / 2);
  if (n % 2 != 0) put_float(dtype, array, n / 2, 0, false);
  for (uint64_t i = 0; i < n / 2; i += stride) {
    put_float(dtype, array, i, low << fraction | 1, false);
    put_float(dtype, array, n - 1 - i, 0, false);
  }
}

static void fill_span(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  uint64_t exponents = float_infinity(dtype) >> float_fraction(dtype);
  uint64_t span = random_below(random, exponents - 2 < 64 ? exponents - 2 : 64);
  uint64_t low = 1 + random_below(random, exponents - 1 - span);
  fill_apart(dtype, array, n, low + span, low, 3);
}

/* Both ends of one bin, and far smaller numbers, so that bins are needed. */
static void fill_bin(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  uint64_t bins = (float_infinity(dtype) >> float_fraction(dtype)) / 16;
  uint64_t low = 16 * (bins / 2 + random_below(random, bins / 2));
  fill_apart(dtype, array, n, low + (dtype == RED_F64 ? 7 : 15) - (low + 15 >= 16 * bins + 15), low, 17);
  for (uint64_t i = 0; i < n / 2; i += 900) {
    put_float(dtype, array, i, 1 + random_below(random, 9), false);
    put_float(dtype, array, n - 1 - i, 0, false);
  }
}

/*
 * 1 with two units more and all ones, in turns and in one binade: what they multiply keeps its distances, and of 1 with
 * one unit more the first makes an odd number.
 */
static void fill_factors(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  unsigned fraction = float_fraction(dtype);
  uint64_t ones = ((uint64_t)1 << fraction) - 1, one = (float_infinity(dtype) >> 1) & ~ones;
  (void)random;
  for (uint64_t i = 0; i < n; i++) put_float(dtype, array, i, (one + 3 * (ones + 1)) | (i % 2 != 0 ? ones : 2), false);
}

typedef void filler(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n);
static filler *const fillers[] = {random_exponents, fill_room, fill_late, random_cancelling, fill_span};
enum {
  FILLERS = sizeof fillers / sizeof *fillers
};

static void check(const red_problem *problem, const unsigned char *in, const unsigned char *in2, const char *how) {
  uint64_t expected = 0, actual = 0;
  const unsigned char *second = problem->op == RED_DOT ? in2 : NULL;
  red_status want = red_reference2(problem, in, second, &expected);
  red_status got = red_run2(context, problem, in, second, &actual);
  if (may_refuse(problem, got)) return;
  ck_assert_msg(got == want, "status %d, expected %d%s", got, want, suite_seed_text());
  if (got == RED_OK) compare_outputs(problem, how, &expected, &actual);
}

static void check_filled(random_state *random, red_op op, red_dtype in, filler *fill, filler *fill2, uint64_t n) {
  size_t bytes = red_dtype_bytes(in);
  buffer x = buffer_new(n * bytes, random_below(random, 64)), y = buffer_new(n * bytes, random_below(random, 64));
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  problem.exact = 1;
  problem.out = n > 9000 ? RED_F64 : random_below(random, 2) != 0 ? in : (red_dtype)(RED_F16 + random_below(random, 4));
  fill(random, in, x.data, n);
  fill2(random, in, y.data, n);
  check(&problem, x.data, y.data, "filled");
  buffer_free(&x);
  buffer_free(&y);
}

START_TEST(any_data) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(12); repeat > 0; repeat--)
    for (unsigned op = 0; op < OPS; op++)
      for (unsigned in = RED_F16; in <= RED_F64; in++) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[op], (red_dtype)in, random_length(&random, 9000));
        problem.exact = 1;
        compare_with_reference(context, &problem, &random);
        for (unsigned f = 0; f < FILLERS; f++)
          check_filled(&random, ops[op], (red_dtype)in, fillers[f], fillers[random_below(&random, FILLERS)],
                       1 + random_length(&random, 9000));
      }
}
END_TEST

/* More numbers in one bin than it has room for at a time, by one thread. */
START_TEST(beyond_the_room) {
  random_state random = random_start(2);
  red_context *many = context;
  context = suite_context(1);
  for (unsigned in = RED_BF16; in <= RED_F64; in++) {
    for (unsigned f = 0; f < FILLERS; f++) {
      check_filled(&random, RED_SUM, (red_dtype)in, fillers[f], random_exponents, 100001);
      check_filled(&random, RED_DOT, (red_dtype)in, fillers[f], fill_factors, 100001);
    }
    check_filled(&random, RED_SUM, (red_dtype)in, fill_bin, random_exponents, in == RED_F64 ? 8000001 : 900001);
    check_filled(&random, RED_DOT, (red_dtype)in, fill_bin, fill_factors, 1200001);
  }
  red_context_destroy(context);
  context = many;
}
END_TEST

/* As far apart as a block's sum in doubles admits, and one binade more: of the numbers and of products. */
START_TEST(every_span) {
  enum {
    N = 4096
  };
  static double x[N], y[N];
  random_state random = random_start(5);
  for (unsigned in = RED_F16; in <= RED_F64; in++) {
    uint64_t exponents = float_infinity((red_dtype)in) >> float_fraction((red_dtype)in);
    for (uint64_t span = 0; span < 70 && span + 2 < exponents; span++) {
      uint64_t low = 1 + random_below(&random, exponents - 1 - span);
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, (red_dtype)in, N);
      problem.exact = 1;
      problem.out = RED_F64;
      fill_factors(&random, (red_dtype)in, (unsigned char *)y, N);
      for (uint64_t stride = 3; stride <= N; stride += N - 3) {
        fill_apart((red_dtype)in, (unsigned char *)x, N, low + span, low, stride);
        problem.op = RED_SUM;
        check(&problem, (unsigned char *)x, NULL, "a span");
        problem.op = RED_DOT;
        check(&problem, (unsigned char *)x, (unsigned char *)y, "a span");
        check(&problem, (unsigned char *)y, (unsigned char *)x, "a span");
      }
    }
  }
}
END_TEST

START_TEST(any_order) {
  enum {
    N = 9000
  };
  static double x[N];
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(20); repeat > 0; repeat--) {
    uint64_t n = 1 + random_below(&random, N), first = 0, again = 0;
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F64, n);
    problem.exact = 1;
    fillers[repeat % FILLERS](&random, RED_F64, (unsigned char *)x, n);
    red_status status = red_run(context, &problem, x, &first);
    if (may_refuse(&problem, status)) return;
    ck_red(status);
    for (uint64_t i = n - 1; i > 0; i--) {
      uint64_t k = random_below(&random, i + 1);
      double swapped = x[i];
      x[i] = x[k];
      x[k] = swapped;
    }
    ck_red(red_run(context, &problem, x, &again));
    compare_outputs(&problem, "shuffled", &first, &again);
  }
}
END_TEST

START_TEST(any_number_of_threads) {
  random_state random = random_start(4);
  uint64_t n = 1500007;
  buffer in = buffer_new(n * 4, 12);
  uint64_t expected = 0, actual = 0;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, n);
  problem.exact = 1;
  random_exponents(&random, RED_F32, in.data, n);
  ck_red(red_reference(&problem, in.data, &expected));
  for (unsigned threads = 1; threads <= suite_threads(); threads = suite_more_threads(threads)) {
    red_context *own = suite_context(threads);
    red_status status = red_run(own, &problem, in.data, &actual);
    if (!may_refuse(&problem, status)) {
      ck_red(status);
      compare_outputs(&problem, "by several threads", &expected, &actual);
    }
    red_context_destroy(own);
  }
  buffer_free(&in);
}
END_TEST

START_TEST(refusals) {
  double x = 1, out = 7;
  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, 1);
  problem.exact = 1;
  ck_assert_int_eq(red_run(context, &problem, &x, &out), RED_ERR_UNSUPPORTED);
  ck_assert(strstr(red_last_error(), "only reductions") != NULL);
  problem.kind = RED_REDUCE;
  problem.op = RED_MAX;
  ck_assert_int_eq(red_run(context, &problem, &x, &out), RED_ERR_UNSUPPORTED);
  ck_assert(strstr(red_last_error(), "max") != NULL);
  problem.op = RED_SUM;
  problem.in = RED_F32;
  problem.acc = RED_F64;
  ck_assert_int_eq(red_run(context, &problem, &x, &out), RED_ERR_UNSUPPORTED);
  ck_assert(strstr(red_last_error(), "no accumulator") != NULL);
  ck_assert(out == 7);
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
}
static void close_context(void) {
  red_context_destroy(context);
}

static void fill_suite(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  tcase_add_test(tests, any_data);
  tcase_add_test(tests, beyond_the_room);
  tcase_add_test(tests, every_span);
  tcase_add_test(tests, any_order);
  tcase_add_test(tests, any_number_of_threads);
  tcase_add_test(tests, refusals);
}

int main(void) {
  return suite_run("exact", fill_suite);
}
