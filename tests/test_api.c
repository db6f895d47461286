/* SPDX-License-Identifier: BSD-2-Clause */
/* Bad calls: the status, a sentence that names the argument, and outputs left alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;
static float elements[100];

static const red_problem good = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 100);

/* ---- Problems ---- */

START_TEST(problems) {
  uint64_t result = 7;
  red_problem p = good;
  ck_red_fails(red_run(context, NULL, elements, &result), RED_ERR_INVALID, "problem");
  p.size = 3;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "size");
  p = good;
  p.kind = (red_kind)0;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "kind");
  p.kind = (red_kind)77;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "kind");
  p = good;
  p.op = (red_op)0;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "op");
  p.op = RED_OP_COUNT;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "op");
  p = good;
  p.in = RED_DTYPE_DEFAULT;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "dtype");
  p.in = (red_dtype)-5;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "dtype");
  p = good;
  p.acc = (red_dtype)99;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "acc");
  p = good;
  p.out = (red_dtype)99;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "out");
  p = good;
  p.in_memory = (red_memory)9;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "in_memory");
  p = good;
  p.out_memory = (red_memory)9;
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "out_memory");
  ck_assert_uint_eq(result, 7);
}
END_TEST

/* Each refused combination, and the words that its sentence must have. */
START_TEST(impossible_combinations) {
  static const struct {
    red_kind kind;
    red_op op;
    red_dtype in, acc, out;
    const char *words[2];
  } rows[] = {
      {RED_REDUCE, RED_BAND, RED_F32, 0, 0, {"band", "f32"}},
      {RED_REDUCE, RED_BXOR, RED_BF16, 0, 0, {"bxor", "bf16"}},
      {RED_REDUCE, RED_ARGMINNUM, RED_I32, 0, 0, {"argminnum", "i32"}},
      {RED_REDUCE, RED_ARGMAXNUM, RED_U8, 0, 0, {"argmaxnum", "u8"}},
      {RED_REDUCE, RED_SUM, RED_F64, RED_F32, 0, {"acc", "f32"}},
      {RED_REDUCE, RED_SUM, RED_F16, RED_F16, 0, {"acc", "f16"}},
      {RED_REDUCE, RED_SUM, RED_F32, RED_I64, 0, {"acc", "i64"}},
      {RED_REDUCE, RED_SUM, RED_I32, RED_F64, 0, {"acc", "f64"}},
      {RED_REDUCE, RED_SUM, RED_I32, RED_I16, 0, {"acc", "i16"}},
      {RED_REDUCE, RED_SUM, RED_F32, 0, RED_I32, {"out", "i32"}},
      {RED_REDUCE, RED_SUM, RED_I32, 0, RED_F64, {"out", "f64"}},
      {RED_REDUCE, RED_MIN, RED_F32, RED_F64, 0, {"acc", "f64"}},
      {RED_REDUCE, RED_ARGMIN, RED_F32, 0, RED_F32, {"out", "f32"}},
      {RED_REDUCE, RED_COUNT_NONZERO, RED_F32, 0, RED_F32, {"out", "f32"}},
      {RED_INCLUSIVE_SCAN, RED_ARGMIN, RED_F32, 0, 0, {"argmin", "scan"}},
      {RED_EXCLUSIVE_SCAN, RED_ARGMAXNUM, RED_F32, 0, 0, {"argmaxnum", "scan"}},
      {RED_INCLUSIVE_SCAN, RED_DOT, RED_F32, 0, 0, {"dot", "scan"}},
      {RED_EXCLUSIVE_SCAN, RED_MEAN, RED_F32, 0, 0, {"mean", "scan"}},
      {RED_REDUCE, RED_NRM2, RED_I32, 0, 0, {"nrm2", "floats"}},
      {RED_REDUCE, RED_NRM2, RED_F32, RED_F32, 0, {"nrm2", "f64"}},
      {RED_REDUCE, RED_MEAN, RED_I8, 0, 0, {"mean", "RED_STATS"}},
      {RED_REDUCE, RED_DOT, RED_F64, RED_F32, 0, {"acc", "f32"}},
      {RED_REDUCE, RED_ASUM, RED_F32, 0, RED_I64, {"out", "i64"}},
      {RED_STATS, RED_SUM, RED_F32, RED_F64, 0, {"stats", "acc"}},
      {RED_STATS, RED_SUM, RED_F32, 0, RED_F64, {"stats", "out"}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    red_problem p = good;
    red_plan *plan = NULL;
    p.kind = rows[i].kind;
    p.op = rows[i].op;
    p.in = rows[i].in;
    p.acc = rows[i].acc;
    p.out = rows[i].out;
    for (size_t w = 0; w < 2; w++) ck_red_fails(red_problem_resolve(&p), RED_ERR_UNSUPPORTED, rows[i].words[w]);
    ck_red_fails(red_plan_create(context, &p, &plan), RED_ERR_UNSUPPORTED, rows[i].words[0]);
    ck_assert_ptr_null(plan);
  }
}
END_TEST

START_TEST(no_initial_value) {
  red_problem p = good;
  p.has_init = 1;
  static const red_op ops[] = {RED_ARGMAX, RED_NRM2, RED_MEAN};
  for (size_t i = 0; i < 3; i++) {
    p.op = ops[i];
    ck_red_fails(red_problem_resolve(&p), RED_ERR_UNSUPPORTED, "initial value");
  }
  p.kind = RED_STATS;
  ck_red_fails(red_problem_resolve(&p), RED_ERR_UNSUPPORTED, "initial value");
}
END_TEST

START_TEST(selections) {
  red_problem p = good;
  p.stats = RED_STAT_MEAN;
  ck_red_fails(red_problem_resolve(&p), RED_ERR_INVALID, "problem.stats");
  p.kind = RED_STATS;
  ck_red(red_problem_resolve(&p));
  p.stats = RED_STAT_ALL + 1;
  ck_red_fails(red_problem_resolve(&p), RED_ERR_INVALID, "problem.stats");
}
END_TEST

/* Wherever a result is written to the host's memory. */
START_TEST(size_of_statistics) {
  red_problem p = RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_F32, 5);
  red_stats_result result = {.size = sizeof result - 8}, before = result;
  red_accumulator *accumulator = NULL;
  red_plan *plan = NULL;
  ck_red_fails(red_stats(context, RED_F32, elements, 5, &result), RED_ERR_INVALID, "size");
  ck_red_fails(red_run(context, &p, elements, &result), RED_ERR_INVALID, "size");
  ck_red_fails(red_reference(&p, elements, &result), RED_ERR_INVALID, "size");
  ck_red_fails(red_stats(context, RED_F32, elements, 0, &result), RED_ERR_INVALID, "size");
  ck_red(red_plan_create(context, &p, &plan));
  ck_red_fails(red_plan_execute(plan, NULL, elements, &result), RED_ERR_INVALID, "size");
  ck_red(red_accumulator_create(context, &p, &accumulator));
  ck_red(red_accumulator_add(accumulator, elements, 5));
  ck_red_fails(red_accumulator_result(accumulator, &result), RED_ERR_INVALID, "size");
  ck_assert_mem_eq(&result, &before, sizeof result);
  result.size = sizeof result;
  ck_red(red_plan_execute(plan, NULL, elements, &result));
  ck_red(red_accumulator_result(accumulator, &result));
  red_accumulator_destroy(accumulator);
  red_plan_destroy(plan);
}
END_TEST

START_TEST(too_many_elements) {
  static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX / 4 + 2, (uint64_t)INT64_MAX / 4 + 1,
                                     ((uint64_t)1 << 54) + 1 /* beyond any user space */};
  float result = 7;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    ck_red_fails(red_reduce(context, RED_SUM, RED_F32, elements, lengths[i], &result), RED_ERR_INVALID, "n = ");
    /* the output is the longer one */
    ck_red_fails(red_inclusive_scan(context, RED_SUM, RED_I8, elements, lengths[i], &result), RED_ERR_INVALID, "n = ");
  }
  ck_assert(result == 7);
}
END_TEST

/* ---- Handles ---- */

START_TEST(null_handles) {
  red_problem p = good;
  float result = 7;
  unsigned char byte = 1;
  void *memory;
  ck_red_fails(red_plan_create(context, &p, NULL), RED_ERR_INVALID, "plan is NULL");
  ck_red_fails(red_plan_create(context, NULL, (red_plan **)&memory), RED_ERR_INVALID, "problem");
  ck_red_fails(red_plan_execute(NULL, NULL, elements, &result), RED_ERR_INVALID, "plan is NULL");
  ck_red_fails(red_plan_execute_args(NULL, NULL, NULL), RED_ERR_INVALID, "plan is NULL");
  ck_red_fails(red_queue_create(context, NULL), RED_ERR_INVALID, "queue is NULL");
  ck_red_fails(red_queue_wrap(context, NULL, (red_queue **)&memory), RED_ERR_INVALID, "native is NULL");
  ck_red_fails(red_queue_finish(NULL), RED_ERR_INVALID, "queue is NULL");
  ck_red_fails(red_alloc(context, 1, NULL), RED_ERR_INVALID, "memory is NULL");
  ck_red_fails(red_upload(context, NULL, NULL, 0, &byte, 1), RED_ERR_INVALID, "is NULL");
  ck_red_fails(red_download(context, NULL, &byte, NULL, 0, 1), RED_ERR_INVALID, "is NULL");
  ck_red_fails(red_accumulator_create(context, &p, NULL), RED_ERR_INVALID, "accumulator is NULL");
  ck_red_fails(red_accumulator_create(context, NULL, (red_accumulator **)&memory), RED_ERR_INVALID, "problem");
  ck_red_fails(red_accumulator_add(NULL, elements, 1), RED_ERR_INVALID, "accumulator is NULL");
  ck_red_fails(red_accumulator_scan(NULL, elements, 1, elements), RED_ERR_INVALID, "accumulator is NULL");
  ck_red_fails(red_accumulator_result(NULL, &result), RED_ERR_INVALID, "accumulator is NULL");
  ck_red_fails(red_context_create(NULL, NULL), RED_ERR_INVALID, "context is NULL");
  ck_red_fails(red_devices(NULL, 0, NULL), RED_ERR_INVALID, "count is NULL");
  ck_red_fails(red_context_device(context, RED_HOST, NULL), RED_ERR_INVALID, "info is NULL");
  ck_red_fails(red_problem_parse(NULL, &p), RED_ERR_INVALID, "text is NULL");
  ck_red_fails(red_problem_parse("reduce:sum:f32:1", NULL), RED_ERR_INVALID, "problem is NULL");
  ck_red_fails(red_problem_print(NULL, (char *)elements, 128), RED_ERR_INVALID, "problem");
  ck_red_fails(red_problem_print(&good, NULL, 128), RED_ERR_INVALID, "text is NULL");
  ck_assert_uint_eq(red_plan_workspace(NULL), 0);
  ck_assert_uint_eq(red_accumulator_count(NULL), 0);
}
END_TEST

START_TEST(destroy_takes_null) {
  red_context_destroy(NULL);
  red_plan_destroy(NULL);
  red_queue_destroy(NULL);
  red_accumulator_destroy(NULL);
  red_free(context, NULL);
}
END_TEST

/* ---- Sizes of structs ---- */

START_TEST(sizes_of_structs) {
  red_context_options options = {.size = 1};
  red_context *made = NULL;
  red_device_info info[2];
  size_t count = 77;
  memset(info, 0, sizeof info);
  ck_red_fails(red_context_create(&options, &made), RED_ERR_INVALID, "size");
  ck_assert_ptr_null(made);
  ck_red_fails(red_devices(info, 2, &count), RED_ERR_INVALID, "size");
  ck_red_fails(red_devices(NULL, 2, &count), RED_ERR_INVALID, "list is NULL");
  ck_assert_uint_eq(count, 77);
  ck_red_fails(red_context_device(context, RED_HOST, info), RED_ERR_INVALID, "size");
  info[0].size = sizeof *info;
  ck_red_fails(red_context_device(context, (red_memory)5, info), RED_ERR_INVALID, "memory");
  red_plan *plan;
  red_args args = {.size = 2, .in = elements, .out = elements};
  ck_red(red_plan_create(context, &good, &plan));
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "size");
  ck_red_fails(red_plan_execute_args(plan, NULL, NULL), RED_ERR_INVALID, "args is NULL");
  red_plan_destroy(plan);
}
END_TEST

/* ---- Workspaces ---- */

START_TEST(workspaces) {
  red_problem p = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 1 << 20);
  red_plan *plan;
  void *in, *workspace;
  p.in_memory = p.out_memory = RED_DEVICE;
  ck_red(red_plan_create(context, &p, &plan));
  uint64_t bytes = red_plan_workspace(plan);
  ck_red(red_alloc(context, p.n * sizeof(float), &in));
  ck_red(red_alloc(context, bytes + 512, &workspace));
  red_args args = {.size = sizeof args, .in = in, .out = in, .workspace = workspace, .workspace_bytes = bytes + 512};
  args.workspace_offset = 128;
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_WORKSPACE, "aligned");
  if (bytes > 0) {
    args.workspace_offset = 0;
    args.workspace_bytes = bytes - 1;
    ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_WORKSPACE, "workspace_bytes");
  }
  red_free(context, in);
  red_free(context, workspace);
  red_plan_destroy(plan);
}
END_TEST

/* ---- Accumulators ---- */

START_TEST(accumulators) {
  red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0), device = good, least = good;
  red_accumulator *acc = NULL;
  float out[100], result = 7;
  device.out_memory = RED_DEVICE;
  least.op = RED_MIN;
  ck_red_fails(red_accumulator_create(context, &device, &acc), RED_ERR_UNSUPPORTED, "finished on the host");
  ck_assert_ptr_null(acc);
  ck_red(red_accumulator_create(context, &scan, &acc));
  ck_red_fails(red_accumulator_add(acc, elements, 5), RED_ERR_INVALID, "scan");
  ck_red_fails(red_accumulator_result(acc, &result), RED_ERR_INVALID, "scan");
  ck_red_fails(red_accumulator_scan(acc, NULL, 5, out), RED_ERR_INVALID, "in is NULL");
  ck_red_fails(red_accumulator_scan(acc, elements, 5, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_accumulator_scan(acc, elements, 50, elements + 1), RED_ERR_OVERLAP, "overlap");
  ck_assert_uint_eq(red_accumulator_count(acc), 0);
  red_accumulator_destroy(acc);
  ck_red(red_accumulator_create(context, &least, &acc));
  ck_red_fails(red_accumulator_scan(acc, elements, 5, out), RED_ERR_INVALID, "scan");
  ck_red_fails(red_accumulator_add(acc, NULL, 5), RED_ERR_INVALID, "in is NULL");
  ck_red_fails(red_accumulator_add(acc, elements, UINT64_MAX / 2), RED_ERR_INVALID, "n = ");
  ck_red_fails(red_accumulator_result(acc, NULL), RED_ERR_INVALID, "out is NULL");
  ck_red_fails(red_accumulator_result(acc, &result), RED_ERR_EMPTY, "empty");
  ck_assert(result == 7);
  ck_red(red_accumulator_add(acc, NULL, 0));
  ck_red(red_accumulator_add(acc, elements, 5)); /* a refused piece does not spoil it */
  ck_red(red_accumulator_result(acc, &result));
  ck_assert(result == 1);
  red_accumulator_destroy(acc);
}
END_TEST

/* ---- Empty input ---- */

START_TEST(empty_input) {
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem p = RED_PROBLEM_INIT(RED_REDUCE, (red_op)op, (red_dtype)in, 0);
      red_problem resolved = p;
      uint64_t result = 0x5a5a5a5a5a5a5a5a;
      if (red_problem_resolve(&resolved) != RED_OK) continue;
      red_status status = red_run(context, &p, NULL, &result);
      if (may_refuse(&p, status)) continue;
      int has_none = (op >= RED_MIN && op <= RED_ARGMAXNUM) || op == RED_MEAN;
      ck_assert_msg(status == (has_none ? RED_ERR_EMPTY : RED_OK), "%s of no %s: status %d", red_op_name(p.op),
                    red_dtype_name(p.in), status);
      if (has_none) {
        ck_assert_uint_eq(result, 0x5a5a5a5a5a5a5a5a);
        ck_assert_ptr_nonnull(strstr(red_last_error(), "n = 0"));
      }
    }
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
  tcase_add_test(tests, problems);
  tcase_add_test(tests, impossible_combinations);
  tcase_add_test(tests, no_initial_value);
  tcase_add_test(tests, selections);
  tcase_add_test(tests, size_of_statistics);
  tcase_add_test(tests, too_many_elements);
  tcase_add_test(tests, null_handles);
  tcase_add_test(tests, destroy_takes_null);
  tcase_add_test(tests, sizes_of_structs);
  tcase_add_test(tests, workspaces);
  tcase_add_test(tests, accumulators);
  tcase_add_test(tests, empty_input);
}

int main(void) {
  return suite_run("api", fill);
}
