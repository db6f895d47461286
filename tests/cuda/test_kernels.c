/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small problems that take every kernel and every way to combine, in device and in host memory: for compute-sanitizer,
 * under which a kernel takes hundreds of times as long (sanitize.sh). RED_TEST_SCALE repeats them.
 */
#include <stdlib.h>

#include "device.h"

/* Tiles have 1024 to 16384 elements: some of them, and one that is not full. */
enum {
  ONE_TILE = 3000,
  SOME = 70001,
  PIPED = 1100003 /* scans of 4 MB and more take the pipeline */
};

static void check(const red_problem *problem, random_state *random, uint64_t shift) {
  uint64_t bytes = output_bytes(problem);
  unsigned char *in = malloc((problem->n + 1) * red_dtype_bytes(problem->in));
  unsigned char *expected = malloc(bytes), *actual = malloc(bytes);
  device_run run = {.in_shift = shift,
                    .out_shift = shift,
                    .own_workspace = random_below(random, 4) == 0,
                    .host_result = problem->bound != 0};
  random_numbers(random, problem->in, in, problem->n + 1);
  if (takes_two(problem)) run.in2 = in + red_dtype_bytes(problem->in);
  prepare_output(problem, expected);
  prepare_output(problem, actual);
  ck_red(red_reference2(problem, in, run.in2, expected));
  ck_red(run_on_device(&run, problem, in, actual));
  compare_outputs(problem, "in device memory", expected, actual);
  if (shift == 0) {
    prepare_output(problem, actual);
    ck_red(red_run2(context, problem, in, run.in2, actual));
    compare_outputs(problem, "in host memory", expected, actual);
  }
  free(in);
  free(expected);
  free(actual);
}

static const red_dtype dtypes[] = {RED_I8, RED_U16, RED_I32, RED_U64, RED_F16, RED_BF16, RED_F32, RED_F64};
#define DTYPES (sizeof dtypes / sizeof *dtypes)

static const red_op ops[] = {RED_SUM,  RED_PROD,   RED_MIN, RED_COUNT_NONZERO, RED_ALL,
                             RED_BXOR, RED_ARGMAX, RED_DOT, RED_SUMSQ,         RED_NRM2};
#define OPS (sizeof ops / sizeof *ops)

START_TEST(reductions) {
  random_state random = random_start(601);
  for (unsigned repeat = suite_repeat(1); repeat > 0; repeat--)
    for (size_t d = 0; d < DTYPES; d++)
      for (size_t o = 0; o < OPS; o++)
        for (int mode = 0; mode < 5; mode++) {
          red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[o], dtypes[d], SOME);
          problem.exact = mode == 1;
          problem.bound = mode == 2 || mode == 4;
          if (mode >= 3) problem.acc = RED_F64;
          if (!possible(&problem) || (mode >= 3 && problem.in == RED_F64)) continue;
          check(&problem, &random, 0);
          check(&problem, &random, 1);
          problem.n = ONE_TILE;
          check(&problem, &random, 0);
        }
}
END_TEST

START_TEST(statistics) {
  static const unsigned selections[] = {RED_STAT_DEFAULT, RED_STAT_ALL, RED_STAT_MEAN | RED_STAT_VARIANCE};
  random_state random = random_start(602);
  for (unsigned repeat = suite_repeat(1); repeat > 0; repeat--)
    for (size_t d = 0; d < DTYPES; d++)
      for (unsigned s = 0; s < 3; s++) {
        red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, dtypes[d], SOME);
        problem.stats = selections[s];
        check(&problem, &random, 0);
        check(&problem, &random, 1);
        problem.n = ONE_TILE;
        check(&problem, &random, 0);
      }
}
END_TEST

START_TEST(scans) {
  random_state random = random_start(603);
  for (unsigned repeat = suite_repeat(1); repeat > 0; repeat--)
    for (size_t d = 0; d < DTYPES; d++)
      for (size_t o = 0; o < 6; o++)
        for (int exclusive = 0; exclusive < 2; exclusive++) {
          red_problem problem =
              RED_PROBLEM_INIT(exclusive ? RED_EXCLUSIVE_SCAN : RED_INCLUSIVE_SCAN, ops[o], dtypes[d], SOME);
          if (!possible(&problem)) continue;
          check(&problem, &random, 0);
          check(&problem, &random, 1);
          const int piped = o < 5 && !exclusive;
          problem.n = piped ? PIPED * 4 / red_dtype_bytes(dtypes[d]) : ONE_TILE;
          check(&problem, &random, 0);
          if (!piped || o > 1 || dtypes[d] < RED_F16 || dtypes[d] == RED_F64) continue;
          problem.acc = RED_F64;
          check(&problem, &random, 0);
        }
}
END_TEST

START_TEST(combinations) {
  static const char *const ways[] = {"last", "two", "pdl", "coop", "atomic"};
  random_state random = random_start(604);
  for (unsigned repeat = suite_repeat(1); repeat > 0; repeat--)
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      setenv("RED_CUDA_COMBINE", ways[w], 1);
      for (size_t d = 0; d < DTYPES; d++) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, dtypes[d], SOME);
        check(&problem, &random, 0);
        problem.bound = dtypes[d] >= RED_F16;
        check(&problem, &random, 0);
        problem.bound = 0;
        problem.op = RED_ARGMIN;
        check(&problem, &random, 0);
        problem.op = RED_SUM;
        problem.kind = RED_INCLUSIVE_SCAN;
        if (w == 1) check(&problem, &random, 0);
      }
      unsetenv("RED_CUDA_COMBINE");
    }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_contexts, close_contexts);
  tcase_add_test(tests, reductions);
  tcase_add_test(tests, statistics);
  tcase_add_test(tests, scans);
  tcase_add_test(tests, combinations);
}

int main(void) {
  return suite_run("kernels", fill);
}
