/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small reductions and scans by every way to ask for one: whether a problem's kind has been seen before, whether there
 * is a plan, must not show in the result, the status or the bytes beside the arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;

enum {
  MOST = 4200 /* beyond a chunk of the canonical order */
};

static red_status one_shot(const red_problem *problem, const void *in, const void *in2, void *out) {
  if (problem->kind == RED_INCLUSIVE_SCAN)
    return red_inclusive_scan(context, problem->op, problem->in, in, problem->n, out);
  if (problem->kind == RED_EXCLUSIVE_SCAN)
    return red_exclusive_scan(context, problem->op, problem->in, in, problem->n, out);
  if (in2 != NULL) return red_dot(context, problem->in, in, in2, problem->n, out);
  return red_reduce(context, problem->op, problem->in, in, problem->n, out);
}

static red_status run(const red_problem *problem, const void *in, const void *in2, void *out) {
  return red_run2(context, problem, in, in2, out);
}

static red_status by_plan(const red_problem *problem, const void *in, const void *in2, void *out) {
  red_plan *plan;
  red_status status = red_plan_create(context, problem, &plan);
  if (status != RED_OK) return status;
  red_args args = {.size = sizeof args, .in = in, .out = out, .in2 = in2};
  status = in2 != NULL ? red_plan_execute_args(plan, NULL, &args) : red_plan_execute(plan, NULL, in, out);
  red_plan_destroy(plan);
  return status;
}

typedef struct way {
  const char *name;
  red_status (*call)(const red_problem *problem, const void *in, const void *in2, void *out);
} way;
static const way ways[] = {{"one shot", one_shot}, {"red_run", run}, {"a plan", by_plan}};

/* From the way `begin` on; the first knows nothing but defaults. */
static void check_ways(const red_problem *problem, size_t begin, random_state *random) {
  const size_t bytes = output_bytes(problem);
  buffer in = buffer_new(problem->n * red_dtype_bytes(problem->in), random_below(random, 64));
  buffer in2 = buffer_new(problem->n * red_dtype_bytes(problem->in), random_below(random, 64));
  unsigned char *expected = malloc(bytes + 1);
  random_elements(random, problem->in, in.data, problem->n);
  random_elements(random, problem->in, in2.data, problem->n);
  const void *second = takes_two(problem) ? in2.data : NULL;
  red_status want = red_reference2(problem, in.data, second, expected);
  for (size_t w = begin; w < sizeof ways / sizeof *ways; w++) {
    buffer out = buffer_new(bytes, random_below(random, 64));
    memset(out.data, MARK, bytes);
    const bool in_place = may_be_in_place(problem) && random_below(random, 3) == 0;
    if (in_place) memcpy(out.data, in.data, bytes);
    red_status got = ways[w].call(problem, in_place ? out.data : in.data, second, out.data);
    if (!may_refuse(problem, got)) {
      ck_assert_msg(got == want, "%s: status %d, expected %d%s", ways[w].name, got, want, suite_seed_text());
      if (got == RED_OK)
        compare_outputs(problem, ways[w].name, expected, out.data);
      else
        check_untouched(problem, &out);
      buffer_check(&out, ways[w].name);
    }
    buffer_free(&out);
  }
  free(expected);
  buffer_free(&in);
  buffer_free(&in2);
}

static bool is_problem(const red_problem *problem) {
  red_problem resolved = *problem;
  return red_problem_resolve(&resolved) == RED_OK;
}

static const red_kind kinds[] = {RED_REDUCE, RED_INCLUSIVE_SCAN, RED_EXCLUSIVE_SCAN};

START_TEST(defaults) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(3); repeat > 0; repeat--)
    for (unsigned op = 1; red_op_name((red_op)op) != NULL; op++)
      for (unsigned dtype = 1; red_dtype_name((red_dtype)dtype) != NULL; dtype++) {
        red_problem problem = RED_PROBLEM_INIT(kinds[random_below(&random, 3)], (red_op)op, (red_dtype)dtype, 1);
        if (!is_problem(&problem)) continue;
        problem.n = random_below(&random, 2) == 0 ? random_below(&random, 200) : random_length(&random, MOST);
        check_ways(&problem, 0, &random);
      }
}
END_TEST

/* The lengths around each number of vectors that a register, a row or a chunk takes. */
START_TEST(lengths) {
  static const red_op ops[] = {RED_SUM, RED_DOT, RED_MIN, RED_ARGMAX};
  static const red_dtype dtypes[] = {RED_F32, RED_F64, RED_BF16, RED_I32};
  random_state random = random_start(2);
  for (size_t i = 0; i < 3 * 4 * 4; i++)
    for (uint64_t middle = 1; middle <= 4096; middle *= 2)
      for (uint64_t n = middle - 1; n <= middle + 1; n++) {
        red_problem problem = RED_PROBLEM_INIT(kinds[i / 16], ops[i / 4 % 4], dtypes[i % 4], n);
        if (is_problem(&problem)) check_ways(&problem, 0, &random);
      }
}
END_TEST

/* What is not the default is not taken for it, before and after. */
START_TEST(choices) {
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(60); repeat > 0; repeat--) {
    red_problem problem = RED_PROBLEM_INIT(kinds[repeat % 3], RED_SUM, RED_F32, 1 + random_below(&random, 300));
    if (random_below(&random, 2) == 0) problem.acc = RED_F64;
    if (random_below(&random, 2) == 0) problem.out = RED_F16;
    if (random_below(&random, 3) == 0) problem.exact = 1;
    red_problem resolved = problem;
    if (random_below(&random, 2) == 0 && red_problem_resolve(&resolved) == RED_OK) {
      problem.has_init = 1;
      problem.init = random_scalar(&random, resolved.acc);
    }
    if (!is_problem(&problem)) continue;
    check_ways(&problem, 1, &random);
  }
}
END_TEST

/* Bad arrays, where the same call has just succeeded with good ones. */
START_TEST(bad_arrays) {
  float around[101] = {0, 1, 2, 3}, *data = around + 1, result = 0;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 100);
  const char *last = (const char *)UINTPTR_MAX - 30;
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    ck_red(ways[w].call(&problem, data, NULL, &result));
    ck_assert(result == 6);
    ck_red_fails(ways[w].call(&problem, NULL, NULL, &result), RED_ERR_INVALID, "in is NULL");
    ck_red_fails(ways[w].call(&problem, data, NULL, NULL), RED_ERR_INVALID, "out is NULL");
    ck_red_fails(ways[w].call(&problem, last, NULL, &result), RED_ERR_INVALID, "in is 400 bytes at 0xffff");
    ck_red_fails(ways[w].call(&problem, data, NULL, (char *)(uintptr_t)UINTPTR_MAX), RED_ERR_INVALID,
                 "out is 4 bytes at 0xffff");
    ck_red_fails(ways[w].call(&problem, data, NULL, &data[99]), RED_ERR_OVERLAP, "overlap");
    ck_red_fails(ways[w].call(&problem, data, NULL, (char *)around + 1), RED_ERR_OVERLAP, "overlap");
    ck_assert(result == 6);
  }
  ck_red(red_run(context, &problem, data, &result));
  ck_red_fails(red_run2(context, &problem, data, data, &result), RED_ERR_INVALID, "in2 is not NULL");
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
  tcase_add_test(tests, defaults);
  tcase_add_test(tests, lengths);
  tcase_add_test(tests, choices);
  tcase_add_test(tests, bad_arrays);
}

int main(void) {
  return suite_run("small", fill);
}
