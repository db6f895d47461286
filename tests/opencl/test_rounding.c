/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that are rounded on the device, exact sums in every form that bins have there: norms and means of canonical
 * and of exact sums, for each shape of the kernels, with bins in local and in private memory.
 */
#include <stdlib.h>
#include <string.h>

#include "native.h"

static const red_op ops[] = {RED_SUM, RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2, RED_MEAN};
enum {
  OPS = sizeof ops / sizeof *ops
};

static red_problem random_problem(random_state *random, red_op op, red_dtype in, uint64_t most) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, 1 + random_length(random, most));
  problem.out = random_below(random, 2) != 0 ? in : (red_dtype)(RED_F16 + random_below(random, 4));
  problem.has_init = takes_init(&problem) && random_below(random, 3) == 0;
  red_problem resolved = problem;
  ck_red(red_problem_resolve(&resolved));
  if (problem.has_init) problem.init = random_scalar(random, resolved.acc);
  return problem;
}

static void try_operator(random_state *random, red_op op, red_dtype in, int exact) {
  for (unsigned i = suite_repeat(8); i > 0; i--) {
    red_problem problem = random_problem(random, op, in, i % 4 == 0 ? 100000 : 3000);
    problem.exact = exact;
    compare_on_device(&problem, NULL, random);
  }
}

/* In a context of its own, each form that terms have: of one factor or two, in f32 and in f64. */
static void under(const char *settings, unsigned salt) {
  red_context *usual = context;
  random_state random = random_start(salt);
  ck_red(untested_context_under(settings, &context));
  for (unsigned in = RED_F32; in <= RED_F64; in++) {
    try_operator(&random, RED_SUM, (red_dtype)in, 1);
    try_operator(&random, RED_DOT, (red_dtype)in, 1);
  }
  try_operator(&random, RED_MEAN, RED_BF16, 1);
  try_operator(&random, RED_SUMSQ, RED_F16, 1);
  red_context_destroy(context);
  context = usual;
}

START_TEST(every_operator) {
  random_state random = random_start(1);
  for (unsigned op = 0; op < OPS; op++)
    for (unsigned in = RED_F16; in <= RED_F64; in++)
      for (int exact = 0; exact < 2; exact++) try_operator(&random, ops[op], (red_dtype)in, exact);
}
END_TEST

START_TEST(bins_in_local_memory) {
  under("RED_OPENCL_SHAPE=local", 2);
}
END_TEST

START_TEST(bins_of_integers) {
  under("RED_OPENCL_SHAPE=local RED_OPENCL_F64=0", 7);
}
END_TEST

START_TEST(bins_in_private_memory) {
  under("RED_OPENCL_SHAPE=local RED_OPENCL_LOCAL=4000", 3);
}
END_TEST

START_TEST(one_lane) {
  under("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=1", 4);
}
END_TEST

START_TEST(wide_items) {
  under("RED_OPENCL_SHAPE=wide", 5);
}
END_TEST

/*
 * Both ends of one bin so often that a lane's bins must be carried, or would round as doubles; then all of it undone,
 * and something small left.
 */
static double of_a_bin(red_dtype dtype, uint64_t i) {
  if (dtype == RED_F64) return 0x1.fffffffffffffp+300;
  return i % 3 == 0 ? 0x1.000002p+49 : 0x1.fffffep+64;
}

static void fill_a_bin(const char *settings, red_dtype dtype, uint64_t n) {
  red_context *usual = context;
  random_state random = random_start(6);
  double *x = malloc(n * sizeof *x);
  ck_assert_ptr_nonnull(x);
  for (uint64_t i = 0; i < n; i++) {
    double value = i < n / 2 ? of_a_bin(dtype, i) : i == n / 2 ? 0x1p-100 : -of_a_bin(dtype, i - n / 2 - 1);
    if (dtype == RED_F64)
      x[i] = value;
    else
      ((float *)x)[i] = (float)value;
  }
  ck_red(untested_context_under(settings, &context));
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, dtype, n);
  red_problem norm = RED_PROBLEM_INIT(RED_REDUCE, RED_NRM2, dtype, n);
  sum.exact = norm.exact = 1;
  compare_data_on_device(&sum, x, NULL, NULL, &random);
  sum.n = n / 2;
  sum.out = RED_F64;
  compare_data_on_device(&sum, x, NULL, NULL, &random);
  compare_data_on_device(&norm, x, NULL, NULL, &random);
  red_context_destroy(context);
  context = usual;
  free(x);
}

START_TEST(beyond_the_room) {
  fill_a_bin("RED_OPENCL_SHAPE=wide", RED_F64, 1000001);
  fill_a_bin("RED_OPENCL_SHAPE=local", RED_F64, 6000001);
  fill_a_bin("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=1", RED_F64, 1000001);
  fill_a_bin("RED_OPENCL_SHAPE=local RED_OPENCL_LOCAL=4000", RED_F64, 1000001);
  fill_a_bin("RED_OPENCL_SHAPE=wide", RED_F32, 1000001);
  fill_a_bin("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=1", RED_F32, 4000001);
}
END_TEST

/* Halfway cases of the quotient and of the root, by integers: the exact answers are easy. */
static void expect(red_op op, int exact, const float *x, uint64_t n, red_dtype out, uint64_t bits) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, RED_F32, n);
  red_plan *plan;
  uint64_t result = 0;
  problem.exact = exact;
  problem.out = out;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  cl_mem in = filled(x, n * sizeof *x, 0), to = filled(NULL, sizeof result, 0);
  ck_red(red_plan_create(context, &problem, &plan));
  ck_red(red_plan_execute(plan, NULL, in, to));
  ck_red(red_download(context, NULL, &result, to, 0, red_dtype_bytes(out)));
  ck_assert_msg(result == bits, "%s of %g ..: %llx, expected %llx", red_op_name(op), (double)x[0],
                (unsigned long long)result, (unsigned long long)bits);
  red_plan_destroy(plan);
  red_free(context, in);
  red_free(context, to);
}

START_TEST(known_roundings) {
  const float third[] = {1, 0, 0}, tie[] = {4098, 0}, above[] = {4098, 0x1p-13f}, zero[] = {-0.0f, -0.0f};
  const float leg[] = {3, 4}, fine[] = {1, 0x1p-12f}, tiny[] = {0x1p-149f, 0, 0, 0}, mixed[] = {1, -1};
  for (int exact = 0; exact < 2; exact++) {
    expect(RED_MEAN, exact, third, 3, RED_F32, 0x3eaaaaab);
    expect(RED_MEAN, exact, third, 3, RED_F64, 0x3fd5555555555555);
    expect(RED_MEAN, exact, tie, 2, RED_F16, 0x6800);  /* 2049: between 2048 and 2050 */
    expect(RED_MEAN, exact, tie, 2, RED_BF16, 0x4500); /* ... between 2048 and 2064 */
    expect(RED_MEAN, exact, zero, 2, RED_F32, 0x80000000);
    expect(RED_MEAN, exact, mixed, 2, RED_F32, 0);
    expect(RED_MEAN, exact, tiny, 4, RED_F32, 0); /* a quarter of the least */
    expect(RED_MEAN, exact, tiny, 4, RED_F64, 0x3680000000000000);
    expect(RED_NRM2, exact, leg, 2, RED_F32, 0x40a00000);
    expect(RED_NRM2, exact, fine, 2, RED_F32, 0x3f800000); /* 1 + 2^-25 - ..: nearer to 1 */
    expect(RED_NRM2, exact, tiny, 1, RED_F32, 1);
  }
  expect(RED_MEAN, 0, above, 2, RED_F16, 0x6800); /* the sum was rounded to f32 before: a tie */
  expect(RED_MEAN, 1, above, 2, RED_F16, 0x6801); /* above the tie */
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, open_native, close_native);
  tcase_add_test(tests, every_operator);
  tcase_add_test(tests, bins_in_local_memory);
  tcase_add_test(tests, bins_of_integers);
  tcase_add_test(tests, bins_in_private_memory);
  tcase_add_test(tests, one_lane);
  tcase_add_test(tests, wide_items);
  tcase_add_test(tests, beyond_the_room);
  tcase_add_test(tests, known_roundings);
}

int main(void) {
  return suite_run("opencl rounding", fill);
}
