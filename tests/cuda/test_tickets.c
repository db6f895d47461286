/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two launches, or tiles by ticket, which plans take when the tiles that wait do not fit on the device together: arrays
 * of some 2^32 elements on a large one. Here the plans believe that it has room for three blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "room.h"

#include "device.h"

enum {
  FEW = 3,
  MOST = 12
};

static red_cuda_function functions[MOST];
static const red_cuda_function *originals[MOST];
static unsigned function_count;

/* The same kernel as a copy has it: plans compare pointers. */
static void make_few(const red_cuda_function **function) {
  if (*function == NULL) return;
  unsigned i = 0;
  while (i < function_count && originals[i] != *function) i++;
  if (i == function_count) {
    ck_assert_uint_lt(function_count, MOST);
    functions[i] = (red_cuda_function){.function = (*function)->function, .resident = FEW};
    originals[function_count++] = *function;
  }
  *function = &functions[i];
}

static void prepare(red_plan *made) {
  red_cuda_plan *plan = made->state;
  function_count = 0;
  make_few(&plan->best.function);
  make_few(&plan->shifted.function);
  make_few(&plan->small.function);
  make_few(&plan->large.function);
  make_few(&plan->any.function);
  make_few(&plan->quick);
  make_few(&plan->groups);
}

static void check(const red_problem *problem, random_state *random) {
  uint64_t bytes = output_bytes(problem);
  unsigned char *in = malloc((problem->n + 1) * red_dtype_bytes(problem->in));
  unsigned char *expected = malloc(bytes), *actual = malloc(bytes);
  random_elements(random, problem->in, in, problem->n + 1);
  device_run run = {.prepare = prepare};
  if (takes_two(problem)) run.in2 = in + red_dtype_bytes(problem->in);
  prepare_output(problem, expected);
  ck_red(red_reference2(problem, in, run.in2, expected));
  for (run.in_shift = 0; run.in_shift < 2; run.in_shift++) {
    run.out_shift = run.in2_shift = run.in_shift;
    prepare_output(problem, actual);
    ck_red(run_on_device(&run, problem, in, actual));
    compare_outputs(problem, "with room for few blocks", expected, actual);
  }
  free(in);
  free(expected);
  free(actual);
}

START_TEST(tickets) {
  static const red_op ops[] = {RED_SUM, RED_PROD,          RED_MAX, RED_ARGMIN, RED_BXOR,
                               RED_ANY, RED_COUNT_NONZERO, RED_DOT, RED_NRM2,   RED_MEAN};
  static const red_dtype dtypes[] = {RED_I8, RED_U16, RED_I32, RED_I64, RED_F16, RED_BF16, RED_F32, RED_F64};
  static const red_kind kinds[] = {RED_REDUCE, RED_INCLUSIVE_SCAN, RED_EXCLUSIVE_SCAN};
  static const uint64_t lengths[] = {30000, 700001};
  random_state random = random_start(501);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
          red_problem problem = RED_PROBLEM_INIT(kinds[k], ops[o], dtypes[d], lengths[l]);
          if (possible(&problem)) check(&problem, &random);
          problem.acc = RED_F64;
          if (kinds[k] == RED_REDUCE && dtypes[d] >= RED_F16 && possible(&problem)) check(&problem, &random);
        }
      red_problem stats = RED_PROBLEM_INIT(RED_STATS, RED_SUM, dtypes[d], lengths[l]);
      check(&stats, &random);
      stats.stats = RED_STAT_ALL;
      check(&stats, &random);
    }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_contexts, close_contexts);
  tcase_add_test(tests, tickets);
}

int main(void) {
  return suite_run("tickets", fill);
}
