/* SPDX-License-Identifier: BSD-2-Clause */
/* red_error_bound: the depths that docs/numerics.md gives, and no sum of random data beyond its bound. */
#include <math.h>
#include <string.h>

#include "compare.h"

enum {
  MOST = 20000
};

static double bound_of(red_kind kind, red_dtype dtype, red_dtype acc, red_dtype out, uint64_t n, double abs_sum) {
  red_problem problem = RED_PROBLEM_INIT(kind, RED_SUM, dtype, n);
  double bound = -1;
  problem.acc = acc;
  problem.out = out;
  ck_red(red_error_bound(&problem, abs_sum, &bound));
  return bound;
}

/* For a sum of magnitudes of one the bound is k units of rounding, and a little: gamma_k / (1 - gamma_k). */
static void check_depth(red_kind kind, red_dtype dtype, uint64_t n, unsigned depth) {
  double unit = dtype == RED_F64 ? 0x1p-53 : 0x1p-24;
  double in_units = bound_of(kind, dtype, RED_DTYPE_DEFAULT, RED_DTYPE_DEFAULT, n, 1.0) / unit;
  ck_assert_msg(in_units >= depth && in_units <= depth * 1.0001, "n = %llu: %.17g units, expected %u",
                (unsigned long long)n, in_units, depth);
}

START_TEST(depths) {
  check_depth(RED_REDUCE, RED_F32, 1, 0);
  check_depth(RED_REDUCE, RED_F32, 2, 1);
  check_depth(RED_REDUCE, RED_F32, 128, 7);
  check_depth(RED_REDUCE, RED_F32, 129, 8);
  check_depth(RED_REDUCE, RED_F32, 4096, 38);
  check_depth(RED_REDUCE, RED_F32, (uint64_t)1 << 28, 54);
  check_depth(RED_REDUCE, RED_F64, 2048, 37);
  check_depth(RED_REDUCE, RED_F64, 2049, 38);
  check_depth(RED_INCLUSIVE_SCAN, RED_F32, 1024, 20);
  check_depth(RED_EXCLUSIVE_SCAN, RED_F32, 1025, 20);
}
END_TEST

/* Products add a rounding to each depth, and what they lose where they underflow. */
START_TEST(depths_of_products) {
  static const red_op ops[] = {RED_DOT, RED_SUMSQ};
  for (size_t i = 0; i < 2; i++) {
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[i], RED_F32, 4096);
    double bound, least;
    ck_red(red_error_bound(&problem, 1.0, &bound));
    ck_assert_msg(bound >= 39 * 0x1p-24 && bound <= 39.01 * 0x1p-24, "%s: %g", red_op_name(ops[i]), bound);
    ck_red(red_error_bound(&problem, 0.0, &least));
    ck_assert_msg(least >= 4096 * 0x1p-149 && least <= 4097 * 0x1p-149, "%s: %g", red_op_name(ops[i]), least);
    problem.n = 1;
    ck_red(red_error_bound(&problem, 1.0, &bound));
    ck_assert(bound >= 0x1p-24 && bound <= 0x1.0001p-24);
  }
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 4096), asum = sum;
  double of_sum, of_asum;
  asum.op = RED_ASUM;
  ck_red(red_error_bound(&sum, 3.0, &of_sum));
  ck_red(red_error_bound(&asum, 3.0, &of_asum));
  ck_assert(of_sum == of_asum);
}
END_TEST

/* A mean adds its division to the sum's bound, a norm half the depth in f64 to its rounding; exact is one rounding. */
START_TEST(finished_sums) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_MEAN, RED_F32, 4096);
  double bound;
  ck_red(red_error_bound(&problem, 4096.0, &bound));
  ck_assert_msg(bound >= 39 * 0x1p-24 && bound <= 39.01 * 0x1p-24, "mean: %g", bound);
  problem.exact = 1;
  ck_red(red_error_bound(&problem, 1.0, &bound));
  ck_assert_msg(bound >= 0x1p-24 && bound <= 0x1.001p-24, "exact mean: %g", bound);
  problem.exact = 0;
  problem.op = RED_NRM2;
  ck_red(red_error_bound(&problem, 1.0, &bound));
  ck_assert_msg(bound >= 0x1p-24 && bound <= 0x1.001p-24, "norm: %g", bound);
  problem.out = RED_F64; /* two chunks of f64 */
  ck_red(red_error_bound(&problem, 1.0, &bound));
  ck_assert_msg(bound >= (0.5 * 38 + 1) * 0x1p-53 && bound <= 20.01 * 0x1p-53, "norm in f64: %g", bound);
  problem.in = RED_F64;
  ck_red(red_error_bound(&problem, 1.0, &bound));
  ck_assert_msg(bound >= 0x1p-53 && bound <= 0x1.001p-53, "norm of f64: %g", bound);
  ck_red(red_error_bound(&problem, INFINITY, &bound));
  ck_assert(isinf(bound));
}
END_TEST

START_TEST(overflow_knows_nothing) {
  ck_assert(isinf(bound_of(RED_REDUCE, RED_F32, RED_DTYPE_DEFAULT, RED_DTYPE_DEFAULT, 1000, INFINITY)));
  ck_assert(isinf(bound_of(RED_REDUCE, RED_F32, RED_DTYPE_DEFAULT, RED_F16, 10, 65520.0)));
  ck_assert(isfinite(bound_of(RED_REDUCE, RED_F32, RED_DTYPE_DEFAULT, RED_F16, 10, 65000.0)));
  ck_assert(isinf(bound_of(RED_REDUCE, RED_F64, RED_DTYPE_DEFAULT, RED_F32, 10, 0x1p128)));
}
END_TEST

/* An initial value alone is rounded to the output, too. */
START_TEST(initial_value_alone) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0);
  double bound;
  ck_red(red_error_bound(&problem, 0.0, &bound));
  ck_assert(bound == 0);
  problem.has_init = 1;
  problem.init.f32 = 1.0001f;
  problem.out = RED_F16;
  for (problem.exact = 0; problem.exact < 2; problem.exact++) {
    ck_red(red_error_bound(&problem, 1.0001, &bound));
    ck_assert_msg(bound >= 0x1p-11 && bound <= 0x1.01p-11, "exact = %d: %g", problem.exact, bound);
  }
  problem.exact = 0;
  problem.kind = RED_EXCLUSIVE_SCAN; /* no outputs */
  ck_red(red_error_bound(&problem, 1.0001, &bound));
  ck_assert(bound == 0);
}
END_TEST

/* The sum of the magnitudes is FLT_MAX in the order of a reduction, and a scan of them ends in infinity. */
START_TEST(scan_at_the_edge) {
  const float x[] = {0x1.fffffep127f, 0, 0x1p102f, 0x1p102f};
  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 4), asum = problem;
  float sum;
  double scan[4], bound;
  problem.out = RED_F64;
  asum.kind = RED_REDUCE;
  asum.op = RED_ASUM;
  ck_red(red_reference(&asum, x, &sum));
  ck_red(red_reference(&problem, x, scan));
  ck_assert(isfinite(sum) && isinf(scan[3]));
  ck_red(red_error_bound(&problem, sum, &bound));
  ck_assert(isinf(bound));
}
END_TEST

/* Multiples of 2^-20 below 2^4 add up exactly in 64-bit integers. */
static void fill(random_state *random, float *x, uint64_t n, int64_t *sum, int64_t *abs_sum, int mixed) {
  *sum = *abs_sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    int64_t k = (int64_t)random_below(random, (uint64_t)1 << 24);
    if (mixed && random_below(random, 2) != 0) k = -k;
    x[i] = (float)k * 0x1p-20f;
    *sum += k;
    *abs_sum += k < 0 ? -k : k;
  }
}

/* Outputs of a scan are prefixes, each with no more additions than the last. */
START_TEST(random_scans_stay_within) {
  static float x[MOST], out[MOST];
  random_state random = random_start(12);
  red_context *context = suite_context(0);
  for (unsigned repeat = suite_repeat(30); repeat > 0; repeat--) {
    int64_t sum = 0, abs_sum;
    uint64_t n = 1 + random_below(&random, MOST);
    fill(&random, x, n, &sum, &abs_sum, repeat % 2 != 0);
    ck_red(red_inclusive_scan(context, RED_SUM, RED_F32, x, n, out));
    double bound =
        bound_of(RED_INCLUSIVE_SCAN, RED_F32, RED_DTYPE_DEFAULT, RED_DTYPE_DEFAULT, n, (double)abs_sum * 0x1p-20);
    sum = 0;
    for (uint64_t i = 0; i < n; i++) {
      sum += (int64_t)(x[i] * 0x1p20f);
      double error = fabs(out[i] - (double)sum * 0x1p-20);
      ck_assert_msg(error <= bound, "n = %llu, output %llu: error %g, bound %g%s", (unsigned long long)n,
                    (unsigned long long)i, error, bound, suite_seed_text());
    }
  }
  red_context_destroy(context);
}
END_TEST

static double half_value(uint16_t bits) {
  int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f) return INFINITY;
  double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

START_TEST(random_sums_stay_within) {
  static float x[MOST];
  red_context *context = suite_context(0);
  random_state random = random_start(11);
  for (unsigned round = 0; round < suite_repeat(300); round++) {
    uint64_t n = 1 + random_below(&random, round % 2 == 0 ? MOST : 300);
    int64_t sum, abs_sum;
    fill(&random, x, n, &sum, &abs_sum, round % 3 != 0);
    float got;
    ck_red(red_reduce(context, RED_SUM, RED_F32, x, n, &got));
    double magnitude = (double)abs_sum * 0x1p-20, exact = (double)sum * 0x1p-20;
    double bound = bound_of(RED_REDUCE, RED_F32, RED_DTYPE_DEFAULT, RED_DTYPE_DEFAULT, n, magnitude);
    ck_assert_msg(fabs((double)got - exact) <= bound, "n = %llu: error %g, bound %g%s", (unsigned long long)n,
                  fabs((double)got - exact), bound, suite_seed_text());

    red_problem narrow = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, n);
    narrow.out = RED_F16;
    uint16_t half;
    ck_red(red_run(context, &narrow, x, &half));
    bound = bound_of(RED_REDUCE, RED_F32, RED_DTYPE_DEFAULT, RED_F16, n, magnitude);
    if (isfinite(half_value(half)))
      ck_assert_msg(fabs(half_value(half) - exact) <= bound, "n = %llu into f16: error %g, bound %g%s",
                    (unsigned long long)n, fabs(half_value(half) - exact), bound, suite_seed_text());
  }
  red_context_destroy(context);
}
END_TEST

/* Multiples of 2^-12 below 2^-1: products are multiples of 2^-24, in f64 their sums are exact. */
START_TEST(random_products_stay_within) {
  static float x[MOST], y[MOST], magnitudes_x[MOST], magnitudes_y[MOST];
  red_context *context = suite_context(0);
  random_state random = random_start(12);
  for (unsigned round = 0; round < suite_repeat(200); round++) {
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, RED_F32, 1 + random_below(&random, MOST));
    double exact = 0, bound;
    float got, abs_sum;
    for (uint64_t i = 0; i < problem.n; i++) {
      x[i] = (float)((int)random_below(&random, 1 << 13) - (1 << 12)) * 0x1p-12f;
      y[i] = (float)((int)random_below(&random, 1 << 13) - (1 << 12)) * 0x1p-12f;
      magnitudes_x[i] = fabsf(x[i]);
      magnitudes_y[i] = fabsf(y[i]);
      exact += (double)x[i] * (double)y[i];
    }
    red_status status = red_run2(context, &problem, x, y, &got);
    if (may_refuse(&problem, status)) break;
    ck_red(status);
    ck_red(red_run2(context, &problem, magnitudes_x, magnitudes_y, &abs_sum));
    ck_red(red_error_bound(&problem, (double)abs_sum, &bound));
    ck_assert_msg(fabs((double)got - exact) <= bound, "n = %llu: error %g, bound %g%s", (unsigned long long)problem.n,
                  fabs((double)got - exact), bound, suite_seed_text());
  }
  red_context_destroy(context);
}
END_TEST

START_TEST(other_problems_have_none) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_MAX, RED_F32, 10);
  double bound = 7;
  ck_assert_int_eq(red_error_bound(&problem, 1.0, &bound), RED_ERR_UNSUPPORTED);
  problem.op = RED_PROD;
  ck_assert_int_eq(red_error_bound(&problem, 1.0, &bound), RED_ERR_UNSUPPORTED);
  problem.op = RED_DOT;
  problem.in = RED_I32;
  ck_assert_int_eq(red_error_bound(&problem, 1.0, &bound), RED_ERR_UNSUPPORTED);
  problem.op = RED_SUM;
  ck_assert_int_eq(red_error_bound(&problem, 1.0, &bound), RED_ERR_UNSUPPORTED);
  problem.in = RED_F32;
  ck_assert_int_eq(red_error_bound(&problem, -1.0, &bound), RED_ERR_INVALID);
  ck_assert(strstr(red_last_error(), "abs_sum") != NULL);
  ck_assert_int_eq(red_error_bound(&problem, 1.0, NULL), RED_ERR_INVALID);
  ck_assert(bound == 7);
}
END_TEST

static void fill_suite(TCase *tests) {
  tcase_add_test(tests, depths);
  tcase_add_test(tests, depths_of_products);
  tcase_add_test(tests, random_products_stay_within);
  tcase_add_test(tests, finished_sums);
  tcase_add_test(tests, overflow_knows_nothing);
  tcase_add_test(tests, initial_value_alone);
  tcase_add_test(tests, scan_at_the_edge);
  tcase_add_test(tests, random_scans_stay_within);
  tcase_add_test(tests, random_sums_stay_within);
  tcase_add_test(tests, other_problems_have_none);
}

int main(void) {
  return suite_run("bound", fill_suite);
}
