/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The caller's floating-point environment: whatever it is (subnormals flushed, another rounding, traps), the bits are
 * the same, and the library leaves it as it was.
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum {
  N = 300000
};

static red_context *context;
static unsigned char *elements, *expected, *actual;

/* ---- The control register ---- */

#if defined(__x86_64__)
#include <xmmintrin.h>

typedef unsigned control;
enum {
  FLUSH = 0x8040,
  EXCEPTIONS = 0x1f80
}; /* FTZ and DAZ; the masks of all exceptions */

static control get_control(void) {
  return _mm_getcsr();
}
static void set_control(control value) {
  _mm_setcsr(value);
}
static control flushing(control value) {
  return value | FLUSH;
}
static control trapping(control value) {
  return value & ~(control)EXCEPTIONS & ~0x3fu;
}

#elif defined(__aarch64__)

typedef uint64_t control;

static control get_control(void) {
  control value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
static void set_control(control value) {
  __asm__ volatile("msr fpcr, %0" ::"r"(value));
}
static control flushing(control value) {
  return value | 1u << 24;
}
static control trapping(control value) {
  return value | 0x1f00u;
} /* where the core has traps */

#endif

/* Run in the environment `inside`, then return to that of the test. */
static red_status run_in(control inside, const red_problem *problem, const char *what) {
  control outside = get_control();
  set_control(inside);
  control before = get_control(); /* not every bit need exist */
  red_status status = red_run(context, problem, elements, actual);
  control after = get_control();
  set_control(outside);
  ck_assert_msg(before == after, "%s: the control register was %llx and is %llx", what, (unsigned long long)before,
                (unsigned long long)after);
  return status;
}

static void check_problem(const red_problem *problem, control inside, const char *what) {
  prepare_output(problem, expected);
  prepare_output(problem, actual);
  red_status want = red_reference(problem, elements, expected);
  red_status got = run_in(inside, problem, what);
  if (may_refuse(problem, got)) return;
  ck_assert_msg(got == want, "%s: status %d, expected %d%s", what, got, want, suite_seed_text());
  if (got == RED_OK) compare_outputs(problem, what, expected, actual);
}

/* Elements around the smallest normal number: flushing or another rounding shows at once. */
static void subnormal_elements(red_dtype dtype, uint64_t n, random_state *random) {
  size_t bytes = red_dtype_bytes(dtype);
  unsigned fraction = dtype == RED_F16 ? 10 : dtype == RED_BF16 ? 7 : dtype == RED_F32 ? 23 : 52;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t next = random_next(random), bits = next & (((uint64_t)2 << fraction) - 1);
    if (next >> 63) bits |= (uint64_t)1 << (8 * bytes - 1);
    memcpy(elements + i * bytes, &bits, bytes);
  }
}

static void every_problem(control inside, const char *what) {
  static const red_kind kinds[] = {RED_REDUCE, RED_INCLUSIVE_SCAN, RED_EXCLUSIVE_SCAN, RED_STATS};
  static const red_op ops[] = {RED_SUM, RED_PROD, RED_MIN, RED_MAXNUM, RED_ARGMIN, RED_COUNT_NONZERO};
  static const red_dtype dtypes[] = {RED_F16, RED_BF16, RED_F32, RED_F64};
  random_state random = random_start(1);
  for (size_t k = 0; k < 4; k++)
    for (size_t o = 0; o < (kinds[k] == RED_STATS ? 1 : sizeof ops / sizeof *ops); o++)
      for (size_t d = 0; d < 4; d++) {
        red_problem problem = RED_PROBLEM_INIT(kinds[k], ops[o], dtypes[d], 1 + random_below(&random, 9000));
        red_problem resolved = problem;
        if (red_problem_resolve(&resolved) != RED_OK) continue;
        if (kinds[k] == RED_STATS && random_below(&random, 2) == 0) problem.stats = RED_STAT_ALL;
        if (random_below(&random, 40) < suite_repeat(5)) problem.n = N; /* the workers' environment counts too */
        subnormal_elements(dtypes[d], problem.n, &random);
        check_problem(&problem, inside, what);
        random_elements(&random, dtypes[d], elements, problem.n);
        check_problem(&problem, inside, what);
      }
}

START_TEST(subnormals_flushed) {
  every_problem(flushing(get_control()), "flushing subnormals");
}
END_TEST

START_TEST(other_roundings) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int saved = fegetround();
  for (size_t i = 0; i < 3; i++) {
    ck_assert_int_eq(fesetround(modes[i]), 0);
    control inside = get_control();
    ck_assert_int_eq(fesetround(saved), 0);
    every_problem(inside, "another rounding");
    every_problem(flushing(inside), "another rounding, flushing subnormals");
  }
}
END_TEST

/* A trap would end the process. */
START_TEST(traps) {
  every_problem(trapping(get_control()), "trapping");
}
END_TEST

/* Doubles narrowed at the end: the rounding of the conversion. */
START_TEST(narrow_outputs) {
  static const red_dtype outs[] = {RED_F16, RED_BF16, RED_F32};
  random_state random = random_start(2);
  for (unsigned repeat = suite_repeat(20); repeat > 0; repeat--)
    for (size_t i = 0; i < 3; i++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F64, 1 + random_below(&random, 100));
      problem.out = outs[i];
      random_elements(&random, RED_F64, elements, problem.n);
      check_problem(&problem, flushing(get_control()), "narrow outputs");
    }
}
END_TEST

/* Exact reductions are rounded once, by the library and not by the caller's rounding. */
START_TEST(exact) {
  static const red_op ops[] = {RED_SUM, RED_MEAN, RED_ASUM, RED_SUMSQ, RED_NRM2};
  static const red_dtype dtypes[] = {RED_F16, RED_BF16, RED_F32, RED_F64};
  random_state random = random_start(5);
  const int saved = fegetround();
  control outside = get_control();
  ck_assert_int_eq(fesetround(FE_UPWARD), 0);
  control upward = get_control();
  ck_assert_int_eq(fesetround(saved), 0);
  for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
    for (size_t d = 0; d < 4; d++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[o], dtypes[d], 1 + random_below(&random, 9000));
      problem.exact = 1;
      subnormal_elements(dtypes[d], problem.n, &random);
      check_problem(&problem, flushing(upward), "exact, rounding upwards, flushing subnormals");
      random_elements(&random, dtypes[d], elements, problem.n);
      check_problem(&problem, upward, "exact, rounding upwards");
      check_problem(&problem, trapping(outside), "exact, trapping");
    }
}
END_TEST

START_TEST(pieces) {
  random_state random = random_start(3);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 10000);
  float want, got;
  subnormal_elements(RED_F32, problem.n, &random);
  ck_red(red_reference(&problem, elements, &want));
  control outside = get_control(), inside = flushing(outside);
  red_accumulator *acc;
  ck_red(red_accumulator_create(context, &problem, &acc));
  set_control(inside);
  control before = get_control();
  red_status status = red_accumulator_add(acc, elements, 7777);
  if (status == RED_OK) status = red_accumulator_add(acc, elements + 7777 * sizeof(float), 10000 - 7777);
  if (status == RED_OK) status = red_accumulator_result(acc, &got);
  control after = get_control();
  set_control(outside);
  ck_assert_int_eq(status, RED_OK);
  ck_assert_uint_eq(before, after);
  compare_outputs(&problem, "pieces, flushing subnormals", &want, &got);
  red_accumulator_destroy(acc);
}
END_TEST

/* The reference itself, and what a problem string says, do not depend on the environment either. */
START_TEST(reference_and_strings) {
  random_state random = random_start(4);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 1000), plain, flushed;
  float want, got;
  subnormal_elements(RED_F32, problem.n, &random);
  ck_red(red_reference(&problem, elements, &want));
  ck_red(red_problem_parse("reduce:sum:f32:1:init=1e-41", &plain));
  control outside = get_control();
  set_control(flushing(outside));
  red_status referred = red_reference(&problem, elements, &got);
  red_status parsed = red_problem_parse("reduce:sum:f32:1:init=1e-41", &flushed);
  set_control(outside);
  ck_assert_int_eq(referred, RED_OK);
  ck_assert_int_eq(parsed, RED_OK);
  compare_outputs(&problem, "the reference, flushing subnormals", &want, &got);
  ck_assert_mem_eq(&plain.init, &flushed.init, sizeof(float));
}
END_TEST

/* A context may be opened, self-test included, in any environment. */
START_TEST(opening) {
  control outside = get_control(), inside = flushing(outside);
  red_context_options options = {.size = sizeof options, .backend = suite_backend()};
  red_context *made = NULL;
  set_control(inside);
  control before = get_control();
  red_status status = red_context_create(&options, &made);
  control after = get_control();
  set_control(outside);
  ck_assert_msg(status == RED_OK, "%s", red_last_error());
  ck_assert_uint_eq(before, after);
  red_context_destroy(made);
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
  elements = malloc(N * 8);
  expected = malloc(N * 8);
  actual = malloc(N * 8);
}

static void close_context(void) {
  red_context_destroy(context);
  free(elements);
  free(expected);
  free(actual);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  tcase_add_test(tests, subnormals_flushed);
  tcase_add_test(tests, other_roundings);
  tcase_add_test(tests, traps);
  tcase_add_test(tests, narrow_outputs);
  tcase_add_test(tests, exact);
  tcase_add_test(tests, pieces);
  tcase_add_test(tests, reference_and_strings);
  tcase_add_test(tests, opening);
}

int main(void) {
  return suite_run("fpenv", fill);
}
