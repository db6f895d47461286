/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices that can do less: small work-groups of odd sizes, little local memory, no f64. And what such devices have
 * tripped over: maxima of negative numbers, products, ties, inputs shorter than a work-group, the second block of an
 * exclusive scan, totals that do not fit in 30, 31 or 32 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum {
  MOST = 12000
};

/* ---- Data ---- */

static double negative(uint64_t i) {
  return -1.0 - (double)(i * 7919 % 113);
}
static double factor(uint64_t i) {
  return (i % 2 == 0 ? -1 : 1) * (1 + (double)(i * 31 % 17) / 1024);
}
static double odd(uint64_t i) {
  return 2 * (double)(i * 2654435761u % 1000) - 999;
}
static double vast(uint64_t i) {
  return (double)((1 << 28) - (int)(i % 97));
}
static double tied(uint64_t i) {
  return (double)(i % 13 % 5);
}
/* Of all magnitudes: any other order of the additions gives another sum. */
static double uneven(uint64_t i) {
  double x = (double)(i * 2654435761u % 4096) - 2047.25;
  return i % 3 == 0 ? x * 0x1p-9 : i % 3 == 1 ? x : x * 0x1p12;
}

typedef double (*recipe)(uint64_t i);

static void cook(recipe value, red_dtype dtype, uint64_t n, void *to) {
  for (uint64_t i = 0; i < n; i++) {
    double x = value(i);
    if (dtype == RED_F32) ((float *)to)[i] = (float)x;
    if (dtype == RED_F64) ((double *)to)[i] = x;
    if (dtype == RED_I32) ((int32_t *)to)[i] = (int32_t)x;
    if (dtype == RED_I8) ((int8_t *)to)[i] = (int8_t)x;
  }
}

/* ---- Problems ---- */

typedef struct task {
  red_kind kind;
  red_op op;
  red_dtype in, out; /* out 0: the default */
  recipe data;
} task;

static const task tasks[] = {
    {RED_REDUCE, RED_MAX, RED_F32, 0, negative},
    {RED_REDUCE, RED_MAX, RED_I8, 0, negative},
    {RED_REDUCE, RED_PROD, RED_F32, 0, factor},
    {RED_REDUCE, RED_PROD, RED_I32, 0, odd},
    {RED_REDUCE, RED_SUM, RED_F32, 0, uneven},
    {RED_REDUCE, RED_SUM, RED_I32, 0, vast},
    {RED_REDUCE, RED_ARGMAX, RED_I32, 0, tied},
    {RED_INCLUSIVE_SCAN, RED_MAX, RED_F32, 0, negative},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, 0, vast},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, vast}, /* wraps */
    {RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, 0, uneven},
    {RED_EXCLUSIVE_SCAN, RED_PROD, RED_I32, 0, odd},
};
enum {
  TASKS = sizeof tasks / sizeof *tasks
};

/*
 * Below any work-group's size, then around blocks of each size: groups of 2^k lanes with one to sixteen elements each.
 */
static const uint64_t lengths[] = {1,    2,    3,    4,    5,    7,    8,    9,    15,   16,   17,   31,   32,   33,
                                   63,   64,   65,   127,  128,  129,  255,  256,  257,  511,  512,  513,  1023, 1024,
                                   1025, 2047, 2048, 2049, 4095, 4096, 4097, 4098, 8191, 8192, 8193, 11999};
enum {
  LENGTHS = sizeof lengths / sizeof *lengths
};

static void run_tasks(void) {
  static double data[MOST];
  random_state random = random_start(1);
  for (unsigned t = 0; t < TASKS; t++)
    for (unsigned i = 0; i < LENGTHS; i++) {
      red_problem problem = RED_PROBLEM_INIT(tasks[t].kind, tasks[t].op, tasks[t].in, lengths[i]);
      problem.out = tasks[t].out;
      cook(tasks[t].data, tasks[t].in, lengths[i], data);
      compare_data_on_device(&problem, data, NULL, NULL, &random);
    }
}

static void under(const char *settings, void (*run)(void)) {
  red_context *usual = context;
  ck_red(untested_context_under(settings, &context));
  run();
  red_context_destroy(context);
  context = usual;
}

START_TEST(as_it_is) {
  run_tasks();
}
END_TEST

START_TEST(one_work_item) {
  under("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=1", run_tasks);
}
END_TEST

START_TEST(odd_groups) {
  under("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=3", run_tasks);
  under("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=7", run_tasks);
  under("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=100", run_tasks);
}
END_TEST

START_TEST(little_local_memory) {
  under("RED_OPENCL_SHAPE=local RED_OPENCL_LOCAL=1024", run_tasks);
  under("RED_OPENCL_SHAPE=local RED_OPENCL_LOCAL=16384", run_tasks);
}
END_TEST

/* Variances take more of it than other problems: two rows of f64, together 1024 bytes of f64, else 2048, and more. */
static red_status run_stats(red_dtype dtype, unsigned which, uint64_t n) {
  static double data[MOST];
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, 0, dtype, n);
  problem.stats = which;
  cook(dtype == RED_I8 ? tied : uneven, dtype, n, data);
  red_problem on_device = problem;
  on_device.in_memory = on_device.out_memory = RED_DEVICE;
  red_plan *plan = NULL;
  red_status status = red_plan_create(context, &on_device, &plan);
  red_plan_destroy(plan);
  random_state random = random_start(3);
  if (status == RED_OK) compare_data_on_device(&problem, data, NULL, NULL, &random);
  return status;
}

static const red_dtype stats_dtypes[] = {RED_F32, RED_I8, RED_F64};

static void stats_without_variance(void) {
  for (unsigned d = 0; d < 3; d++)
    for (unsigned i = 0; i < LENGTHS; i += 6)
      ck_red(run_stats(stats_dtypes[d], RED_STAT_SUM | RED_STAT_MIN | RED_STAT_ARGMAX, lengths[i]));
}

static void all_stats(void) {
  for (unsigned d = 0; d < 3; d++)
    for (unsigned i = 0; i < LENGTHS; i += 6) ck_red(run_stats(stats_dtypes[d], RED_STAT_ALL, lengths[i]));
}

/* How much a kernel needs is the driver's compiler's to say: what fits has the right bits, the rest is refused. */
static void what_fits(void) {
  stats_without_variance();
  for (unsigned d = 0; d < 3; d++) {
    red_status status = run_stats(stats_dtypes[d], RED_STAT_ALL, 100);
    if (status != RED_OK) ck_red_fails(status, RED_ERR_UNSUPPORTED, "bytes of local memory");
  }
  ck_red(red_self_test(context, RED_DEVICE)); /* of all that it can do */
}

/* Work-groups as in other tests: their programs are there already. */
START_TEST(little_local_memory_for_stats) {
  under("RED_OPENCL_SHAPE=local RED_OPENCL_LOCAL=1024", what_fits);
  under("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=4 RED_OPENCL_LOCAL=2048", what_fits);
  under("RED_OPENCL_SHAPE=local RED_OPENCL_LOCAL=16384", all_stats);
}
END_TEST

START_TEST(too_little_local_memory) {
  red_context *none = NULL;
  ck_assert_int_ne(context_under("RED_OPENCL_SHAPE=local RED_OPENCL_LOCAL=1023", &none), RED_OK);
  ck_assert_msg(strstr(red_last_error(), "cannot do that") != NULL, "%s", red_last_error());
  ck_assert_ptr_null(none);
  /* Left to itself it needs none. */
  ck_red(context_under("RED_OPENCL_SHAPE= RED_OPENCL_LOCAL=0 RED_OPENCL_GROUP=1", &none));
  red_context_destroy(none);
}
END_TEST

/* ---- Without f64 ---- */

static void expect_no_f64(red_op op, red_dtype in, red_dtype acc, red_dtype out) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, 100);
  red_plan *plan = NULL;
  problem.acc = acc;
  problem.out = out;
  ck_assert_int_eq(red_plan_create(context, &problem, &plan), RED_ERR_UNSUPPORTED);
  ck_assert_msg(strstr(red_last_error(), "f64") != NULL, "%s", red_last_error());
  ck_assert_ptr_null(plan);
}

static void run_without_f64(void) {
  static double data[MOST];
  random_state random = random_start(2);
  const task done[] = {
      {RED_REDUCE, RED_MAX, RED_F64, 0, negative},       {RED_REDUCE, RED_ARGMIN, RED_F64, 0, tied},
      {RED_INCLUSIVE_SCAN, RED_MIN, RED_F64, 0, uneven}, {RED_REDUCE, RED_SUM, RED_F32, RED_F64, uneven},
      {RED_REDUCE, RED_NRM2, RED_F64, 0, uneven},        {RED_REDUCE, RED_MEAN, RED_F32, RED_F64, uneven},
  };
  for (unsigned t = 0; t < sizeof done / sizeof *done; t++)
    for (unsigned i = 0; i < LENGTHS; i += 3) {
      red_problem problem = RED_PROBLEM_INIT(done[t].kind, done[t].op, done[t].in, lengths[i]);
      problem.out = done[t].out;
      cook(done[t].data, done[t].in, lengths[i], data);
      red_problem on_device = problem;
      red_plan *plan = NULL;
      on_device.in_memory = on_device.out_memory = RED_DEVICE;
      ck_red(red_plan_create(context, &on_device, &plan)); /* not refused */
      red_plan_destroy(plan);
      compare_data_on_device(&problem, data, NULL, NULL, &random);
    }
  for (unsigned i = 0; i < LENGTHS; i += 3) {
    red_problem exact = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F64, lengths[i]);
    exact.exact = 1;
    cook(uneven, RED_F64, lengths[i], data);
    compare_data_on_device(&exact, data, NULL, NULL, &random);
  }
  expect_no_f64(RED_SUM, RED_F64, RED_DTYPE_DEFAULT, RED_DTYPE_DEFAULT);
  expect_no_f64(RED_PROD, RED_F32, RED_F64, RED_DTYPE_DEFAULT);
  expect_no_f64(RED_NRM2, RED_F32, RED_DTYPE_DEFAULT, RED_DTYPE_DEFAULT); /* accumulates in f64 */
}

START_TEST(no_f64) {
  under("RED_OPENCL_F64=0", run_without_f64);
  under("RED_OPENCL_F64=0 RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=64", run_without_f64);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, open_native, close_native);
  tcase_add_test(tests, as_it_is);
  tcase_add_test(tests, one_work_item);
  tcase_add_test(tests, odd_groups);
  tcase_add_test(tests, little_local_memory);
  tcase_add_test(tests, little_local_memory_for_stats);
  tcase_add_test(tests, too_little_local_memory);
  tcase_add_test(tests, no_f64);
}

int main(void) {
  return suite_run("opencl limits", fill);
}
