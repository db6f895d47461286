/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results with their bounds (`problem.bound`): the bits of the result without, the bound that two passes give, from any
 * memory, and no result further from the exact one than it says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum {
  MOST = 30000
};

static red_context *context;
static const red_op ops[] = {RED_SUM, RED_MEAN, RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2};
static const red_dtype floats[] = {RED_F16, RED_BF16, RED_F32, RED_F64};
#define OPS    (sizeof ops / sizeof *ops)
#define FLOATS (sizeof floats / sizeof *floats)

static red_problem bounded(red_op op, red_dtype in, uint64_t n) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  problem.bound = 1;
  return problem;
}

/* ---- The bits of the reference, which passes twice over the data ---- */

static void choose_dtypes(red_problem *problem, random_state *random) {
  static const red_dtype outs[] = {RED_DTYPE_DEFAULT, RED_F16, RED_BF16, RED_F32, RED_F64};
  red_problem resolved;
  if (random_below(random, 3) == 0) problem->acc = RED_F64;
  if (random_below(random, 3) == 0) problem->out = outs[random_below(random, 5)];
  problem->exact = random_below(random, 4) == 0;
  if (problem->exact) problem->acc = RED_DTYPE_DEFAULT;
  problem->has_init = takes_init(problem) && random_below(random, 3) == 0;
  resolved = *problem;
  ck_red(red_problem_resolve(&resolved));
  if (problem->has_init) problem->init = random_scalar(random, resolved.acc);
}

START_TEST(reference_bits) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(12); repeat > 0; repeat--)
    for (size_t o = 0; o < OPS; o++)
      for (size_t d = 0; d < FLOATS; d++) {
        red_problem problem = bounded(ops[o], floats[d], random_length(&random, MOST));
        choose_dtypes(&problem, &random);
        compare_with_reference(context, &problem, &random);
      }
}
END_TEST

/* Where chunks, rows and trees begin and end; long arrays take several threads and blocks. */
START_TEST(lengths) {
  static const uint64_t list[] = {0,    1,    2,    63,   64,   65,   127,   129,    2047,
                                  2048, 2049, 4095, 4096, 4097, 8193, 65537, 1 << 20};
  random_state random = random_start(2);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    for (size_t d = 0; d < FLOATS; d++) {
      red_problem sum = bounded(RED_SUM, floats[d], list[i]), dot = bounded(RED_DOT, floats[d], list[i]);
      if (random_below(&random, 2) == 0) sum.acc = dot.acc = RED_F64;
      compare_with_reference(context, &sum, &random);
      compare_with_reference(context, &dot, &random);
    }
}
END_TEST

/* ---- The answers of two passes of the same backend ---- */

START_TEST(two_passes) {
  static float x[MOST];
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(40); repeat > 0; repeat--) {
    red_problem problem = bounded(RED_SUM, RED_F32, 1 + random_below(&random, MOST)), plain = problem, asum;
    float value, abs_sum;
    double bound;
    red_bounded both;
    random_numbers(&random, RED_F32, x, problem.n);
    plain.bound = 0;
    asum = plain;
    asum.op = RED_ASUM;
    ck_red(red_run(context, &problem, x, &both));
    ck_red(red_run(context, &plain, x, &value));
    ck_red(red_run(context, &asum, x, &abs_sum));
    ck_red(red_error_bound(&plain, (double)abs_sum, &bound));
    ck_assert(memcmp(&both.value.f32, &value, sizeof value) == 0 && both.bound == bound);
  }
}
END_TEST

/* ---- Device memory ---- */

static void *uploaded(const void *data, uint64_t bytes) {
  void *memory = NULL;
  ck_red(red_alloc(context, bytes, &memory));
  ck_red(red_upload(context, NULL, memory, 0, data, bytes));
  return memory;
}

START_TEST(device_memory) {
  static unsigned char x[MOST * 8], y[MOST * 8];
  random_state random = random_start(4);
  for (unsigned repeat = suite_repeat(3); repeat > 0; repeat--)
    for (size_t o = 0; o < OPS; o++)
      for (size_t d = 0; d < FLOATS; d++) {
        red_problem problem = bounded(ops[o], floats[d], 1 + random_below(&random, MOST));
        const uint64_t bytes = problem.n * red_dtype_bytes(problem.in);
        red_bounded expected, actual;
        choose_dtypes(&problem, &random);
        random_elements(&random, problem.in, x, problem.n);
        random_elements(&random, problem.in, y, problem.n);
        ck_red(red_reference2(&problem, x, takes_two(&problem) ? y : NULL, &expected));
        problem.in_memory = RED_DEVICE;
        void *in = uploaded(x, bytes), *in2 = uploaded(y, bytes);
        red_status status = red_run2(context, &problem, in, takes_two(&problem) ? in2 : NULL, &actual);
        if (!may_refuse(&problem, status)) {
          ck_red(status);
          compare_outputs(&problem, "from device memory", &expected, &actual);
        }
        red_free(context, in);
        red_free(context, in2);
      }
}
END_TEST

/* ---- What it promises ---- */

/* The exact result in f64, itself off by half a unit in the last place at most. */
static double exact_of(const red_problem *problem, const void *x, const void *y) {
  red_problem exact = RED_PROBLEM_INIT(RED_REDUCE, problem->op, problem->in, problem->n);
  double value;
  exact.exact = 1;
  exact.out = RED_F64;
  ck_red(red_reference2(&exact, x, y, &value));
  return value;
}

static double half_value(uint16_t bits, red_dtype dtype) {
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, dtype, 1);
  double value;
  sum.out = RED_F64;
  ck_red(red_reference(&sum, &bits, &value));
  return value;
}

static double value_of(const red_bounded *result, red_dtype dtype) {
  if (dtype == RED_F64) return result->value.f64;
  return dtype == RED_F32 ? (double)result->value.f32 : half_value(result->value.f16, dtype);
}

/* Every operator, and data that cancels: the second half is the first one's negative, but for the last element. */
START_TEST(errors_stay_within) {
  static unsigned char x[MOST * 8], y[MOST * 8];
  random_state random = random_start(5);
  for (unsigned repeat = suite_repeat(10); repeat > 0; repeat--)
    for (size_t o = 0; o < OPS; o++)
      for (size_t d = 0; d < FLOATS; d++) {
        red_problem problem = bounded(ops[o], floats[d], 2 + 2 * random_below(&random, MOST / 2 - 1));
        const size_t width = red_dtype_bytes(problem.in), half = problem.n / 2 * width;
        red_bounded got;
        random_numbers(&random, problem.in, x, problem.n);
        random_numbers(&random, problem.in, y, problem.n);
        if (repeat % 2 == 0) {
          memcpy(x + half, x, half - width);
          memcpy(y + half, y, half - width);
          for (size_t at = half + width - 1; at < 2 * half - width; at += width) x[at] ^= 0x80;
        }
        const void *second = takes_two(&problem) ? y : NULL;
        red_status status = red_run2(context, &problem, x, second, &got);
        if (may_refuse(&problem, status)) continue;
        ck_red(status);
        const double value = value_of(&got, problem.in), exact = exact_of(&problem, x, second);
        if (isfinite(got.bound))
          ck_assert_msg(fabs(value - exact) <= got.bound + fabs(exact) * 0x1p-52,
                        "%s of %s, n = %llu: error %g, bound %g%s", red_op_name(problem.op), red_dtype_name(problem.in),
                        (unsigned long long)problem.n, fabs(value - exact), got.bound, suite_seed_text());
        else
          ck_assert(problem.in == RED_F16); /* sums of f16 leave its range */
      }
}
END_TEST

static red_bounded answer(const red_problem *problem, const float *x) {
  red_bounded result;
  ck_red(red_run(context, problem, x, &result));
  return result;
}

START_TEST(special_values) {
  const float inf = INFINITY, list[][3] = {{1, NAN, 2}, {1, inf, 2}, {inf, 1, -inf}, {0x1.fffffep127f, 0x1p104f, 1}};
  red_problem problem = bounded(RED_SUM, RED_F32, 3);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) ck_assert(isinf(answer(&problem, list[i]).bound));
  ck_assert(isnan(answer(&problem, list[0]).value.f32) && isinf(answer(&problem, list[1]).value.f32));

  problem.n = 0; /* nothing is added: no error, but that of rounding an initial value to the output */
  ck_assert(answer(&problem, NULL).bound == 0 && answer(&problem, NULL).value.f32 == 0);
  problem.has_init = 1;
  problem.init.f32 = -1.0001f;
  ck_assert(answer(&problem, NULL).bound <= 0x1.01p-24 && answer(&problem, NULL).value.f32 == -1.0001f);
  problem.out = RED_F16;
  ck_assert(answer(&problem, NULL).bound >= 0x1p-11 && answer(&problem, NULL).bound <= 0x1.01p-11);
  problem = bounded(RED_MEAN, RED_F32, 0);
  red_bounded untouched = {.bound = 7};
  ck_red_fails(red_run(context, &problem, NULL, &untouched), RED_ERR_EMPTY, "n = 0");
  ck_assert(untouched.bound == 7);

  const float zeros[] = {-0.0f, -0.0f};
  problem = bounded(RED_SUM, RED_F32, 2);
  ck_assert(signbit(answer(&problem, zeros).value.f32) && answer(&problem, zeros).bound < 1e-300);
}
END_TEST

START_TEST(refusals) {
  red_problem problem = bounded(RED_MAX, RED_F32, 10);
  ck_red_fails(red_problem_resolve(&problem), RED_ERR_UNSUPPORTED, "op = max");
  problem.op = RED_PROD;
  ck_red_fails(red_problem_resolve(&problem), RED_ERR_UNSUPPORTED, "op = prod");
  problem = bounded(RED_SUM, RED_I32, 10);
  ck_red_fails(red_problem_resolve(&problem), RED_ERR_UNSUPPORTED, "of i32");
  problem = bounded(RED_SUM, RED_F32, 10);
  problem.kind = RED_INCLUSIVE_SCAN;
  ck_red_fails(red_problem_resolve(&problem), RED_ERR_UNSUPPORTED, "red_error_bound");
  problem.kind = RED_STATS;
  ck_red_fails(red_problem_resolve(&problem), RED_ERR_UNSUPPORTED, "only reductions");
  problem.kind = RED_REDUCE;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  ck_red_fails(red_problem_resolve(&problem), RED_ERR_UNSUPPORTED, "out_memory");
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
  tcase_add_test(tests, reference_bits);
  tcase_add_test(tests, lengths);
  tcase_add_test(tests, two_passes);
  tcase_add_test(tests, device_memory);
  tcase_add_test(tests, errors_stay_within);
  tcase_add_test(tests, special_values);
  tcase_add_test(tests, refusals);
}

int main(void) {
  return suite_run("bounded", fill);
}
