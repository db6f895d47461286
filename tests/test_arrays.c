/* SPDX-License-Identifier: BSD-2-Clause */
/* Bad arrays: NULL, a second input too many or too few, overlaps, ends beyond all addresses. Outputs are left alone. */
#include <string.h>

#include "compare.h"

static red_context *context;
static float elements[100];

static const red_problem good = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 100);

START_TEST(null_pointers) {
  float result = 7;
  red_stats_result stats = {.size = sizeof stats};
  ck_red_fails(red_reduce(context, RED_SUM, RED_F32, NULL, 5, &result), RED_ERR_INVALID, "in is NULL");
  ck_red_fails(red_reduce(context, RED_SUM, RED_F32, elements, 5, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_reduce(context, RED_SUM, RED_F32, NULL, 0, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_inclusive_scan(context, RED_SUM, RED_F32, NULL, 5, elements), RED_ERR_INVALID, "in is NULL");
  ck_red_fails(red_exclusive_scan(context, RED_SUM, RED_F32, elements, 5, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_stats(context, RED_F32, NULL, 5, &stats), RED_ERR_INVALID, "in is NULL");
  ck_red_fails(red_stats(context, RED_F32, elements, 5, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_reference(NULL, elements, &result), RED_ERR_INVALID, "problem");
  ck_red_fails(red_reference(&good, NULL, &result), RED_ERR_INVALID, "in is NULL");
  ck_red_fails(red_reference(&good, elements, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_problem_resolve(NULL), RED_ERR_INVALID, "problem");
  ck_assert(result == 7);
  /* what is allowed: nothing to read, nothing to write */
  ck_red(red_reduce(context, RED_SUM, RED_F32, NULL, 0, &result));
  ck_assert(result == 0);
  ck_red(red_inclusive_scan(context, RED_SUM, RED_F32, NULL, 0, NULL));
}
END_TEST

START_TEST(second_inputs) {
  red_problem p = good;
  float result = 7;
  red_plan *plan;
  red_accumulator *acc;
  p.op = RED_DOT;
  red_status status = red_plan_create(context, &p, &plan);
  if (may_refuse(&p, status)) return;
  ck_red(status);
  ck_red_fails(red_dot(context, RED_F32, elements, NULL, 5, &result), RED_ERR_INVALID, "in2 is NULL");
  ck_red_fails(red_dot(context, RED_F32, NULL, elements, 5, &result), RED_ERR_INVALID, "in is NULL");
  ck_red_fails(red_dot(context, RED_F32, elements, elements, 5, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_dot(context, RED_F32, elements, elements, 100, &elements[3]), RED_ERR_OVERLAP, "overlap");
  ck_red_fails(red_dot(context, RED_F32, elements + 50, elements, 50, &elements[3]), RED_ERR_OVERLAP, "overlap");
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "in2 is NULL");
  ck_red_fails(red_run2(context, &good, elements, elements, &result), RED_ERR_INVALID, "in2 is not NULL");
  ck_red_fails(red_reduce(context, RED_DOT, RED_F32, elements, 5, &result), RED_ERR_INVALID, "in2 is NULL");
  ck_red_fails(red_reference(&p, elements, &result), RED_ERR_INVALID, "in2 is NULL");
  ck_red_fails(red_reference2(&good, elements, elements, &result), RED_ERR_INVALID, "in2 is not NULL");
  ck_assert(result == 7);
  red_args args = {.size = sizeof args, .in = elements, .out = &result};
  ck_red_fails(red_plan_execute(plan, NULL, elements, &result), RED_ERR_INVALID, "in2 is NULL");
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "in2 is NULL");
  args.in2 = elements;
  ck_red(red_plan_execute_args(plan, NULL, &args));
  ck_assert(result == 338350); /* 1 + 4 + 9 + .. + 10000, all of it exact */
  red_plan_destroy(plan);
  ck_red(red_accumulator_create(context, &p, &acc));
  ck_red_fails(red_accumulator_add(acc, elements, 5), RED_ERR_INVALID, "in2 is NULL");
  ck_red_fails(red_accumulator_add2(acc, NULL, elements, 5), RED_ERR_INVALID, "in is NULL");
  ck_red(red_accumulator_add2(acc, elements, elements + 1, 5));
  ck_red(red_accumulator_result(acc, &result));
  ck_assert(result == 70);
  red_accumulator_destroy(acc);
  ck_red(red_accumulator_create(context, &good, &acc));
  ck_red_fails(red_accumulator_add2(acc, elements, elements, 5), RED_ERR_INVALID, "in2 is not NULL");
  red_accumulator_destroy(acc);
  /* what is allowed: nothing to read */
  ck_red(red_dot(context, RED_F32, NULL, NULL, 0, &result));
  ck_assert(result == 0);
}
END_TEST

START_TEST(overlaps) {
  float data[200] = {1, 2, 3};
  double wide[200] = {1, 2, 3};
  red_problem widening = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, 100);
  red_stats_result *inside = (red_stats_result *)wide;
  float before[200];
  memcpy(before, data, sizeof data);
  ck_red_fails(red_inclusive_scan(context, RED_SUM, RED_F32, data, 100, data + 1), RED_ERR_OVERLAP, "overlap");
  ck_red_fails(red_inclusive_scan(context, RED_SUM, RED_F32, data + 99, 100, data), RED_ERR_OVERLAP, "overlap");
  ck_red_fails(red_exclusive_scan(context, RED_SUM, RED_F32, data, 100, (char *)data + 1), RED_ERR_OVERLAP, "overlap");
  ck_red_fails(red_run(context, &widening, wide, wide), RED_ERR_OVERLAP, "overlap"); /* the elements differ in size */
  ck_red_fails(red_reduce(context, RED_SUM, RED_F32, data, 100, &data[50]), RED_ERR_OVERLAP, "overlap");
  ck_red_fails(red_reduce(context, RED_SUM, RED_F32, data, 100, &data[0]), RED_ERR_OVERLAP, "overlap");
  ck_red_fails(red_stats(context, RED_F64, wide, 200, inside), RED_ERR_OVERLAP, "overlap");
  ck_assert_mem_eq(data, before, sizeof data);
  /* neighbours do not overlap, and in place is allowed */
  ck_red(red_inclusive_scan(context, RED_SUM, RED_F32, data, 100, data + 100));
  ck_red(red_inclusive_scan(context, RED_SUM, RED_F32, data + 100, 100, data));
  ck_red(red_exclusive_scan(context, RED_SUM, RED_F32, data, 200, data));
}
END_TEST

/* MAP_FAILED, say: such an array has no end, and comparing its ends would find no overlap either. */
START_TEST(beyond_all_addresses) {
  const char *last = (const char *)UINTPTR_MAX, *near = last - 30;
  float data[100] = {1}, result = 7;
  red_problem dot = good;
  red_accumulator *acc;
  dot.op = RED_DOT;
  ck_red_fails(red_reduce(context, RED_SUM, RED_F32, last, 100, &result), RED_ERR_INVALID, "in is 400 bytes at 0xffff");
  ck_red_fails(red_reduce(context, RED_SUM, RED_I8, last, 1, &result), RED_ERR_INVALID, "in is 1 bytes at 0xffff");
  ck_red_fails(red_reduce(context, RED_MAX, RED_F64, near, 4, &result), RED_ERR_INVALID, "in is 32 bytes at 0xffff");
  ck_red_fails(red_inclusive_scan(context, RED_SUM, RED_F32, data, 100, (void *)near), RED_ERR_INVALID,
               "out is 400 bytes");
  ck_red_fails(red_inclusive_scan(context, RED_SUM, RED_F32, near, 100, (void *)near), RED_ERR_INVALID,
               "in is 400 bytes");
  ck_red_fails(red_dot(context, RED_F32, data, near, 100, &result), RED_ERR_INVALID, "is 400 bytes at 0xffff");
  ck_red(red_accumulator_create(context, &dot, &acc));
  ck_red_fails(red_accumulator_add2(acc, last, data, 100), RED_ERR_INVALID, "in is 400 bytes");
  ck_red_fails(red_accumulator_add2(acc, data, last, 100), RED_ERR_INVALID, "in2 is 400 bytes");
  ck_assert_uint_eq(red_accumulator_count(acc), 0);
  red_accumulator_destroy(acc);
  ck_assert(result == 7);
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
  for (int i = 0; i < 100; i++) elements[i] = (float)(i + 1);
}

static void close_context(void) {
  red_context_destroy(context);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  tcase_add_test(tests, null_pointers);
  tcase_add_test(tests, second_inputs);
  tcase_add_test(tests, overlaps);
  tcase_add_test(tests, beyond_all_addresses);
}

int main(void) {
  return suite_run("arrays", fill);
}
