/* SPDX-License-Identifier: BSD-2-Clause */
/* Reductions: every operator, dtype, accumulator and output on random data against the reference. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "compare.h"

#define LONG (((uint64_t)1 << 32) + 12345)

static red_context *context;

static int possible(const red_problem *problem) {
  red_problem resolved = *problem;
  return red_problem_resolve(&resolved) == RED_OK;
}

START_TEST(operators) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(6); repeat > 0; repeat--)
    for (unsigned op = 1; op < RED_OP_COUNT; op++)
      for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, (red_op)op, (red_dtype)in, random_length(&random, 20000));
        if (possible(&problem)) compare_with_reference(context, &problem, &random);
      }
}
END_TEST

START_TEST(small_lengths) {
  random_state random = random_start(2);
  unsigned stride = 200 / suite_repeat(40) + 1;
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++)
      for (uint64_t n = 0; n < 200; n += 1 + random_below(&random, stride)) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, (red_op)op, (red_dtype)in, n);
        if (possible(&problem)) compare_with_reference(context, &problem, &random);
      }
}
END_TEST

/* Every accumulator and output that the operator admits, with and without an initial value. */
START_TEST(accumulators_and_outputs) {
  random_state random = random_start(3);
  unsigned tried = 0;
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++)
      for (unsigned acc = 0; acc < RED_DTYPE_COUNT; acc++)
        for (unsigned out = 0; out < RED_DTYPE_COUNT; out++) {
          red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, (red_op)op, (red_dtype)in, random_length(&random, 4500));
          problem.acc = (red_dtype)acc;
          problem.out = (red_dtype)out;
          red_problem resolved = problem;
          if (red_problem_resolve(&resolved) != RED_OK) continue;
          problem.has_init = takes_init(&problem) && random_below(&random, 2) == 0;
          if (problem.has_init) problem.init = random_scalar(&random, resolved.acc);
          compare_with_reference(context, &problem, &random);
          tried++;
        }
  ck_assert_uint_gt(tried, 1000);
}
END_TEST

/* What may start threads, and what a canonical order must not let them change. */
static const struct {
  red_op op;
  red_dtype in, acc;
} threaded[] = {
    {RED_SUM, RED_F32, 0},    {RED_SUM, RED_F32, RED_F64}, {RED_SUM, RED_F64, 0},
    {RED_PROD, RED_F32, 0},   {RED_SUM, RED_BF16, 0},      {RED_SUM, RED_F16, 0},
    {RED_SUM, RED_I8, 0},     {RED_MIN, RED_F32, 0},       {RED_MAXNUM, RED_F64, 0},
    {RED_ARGMIN, RED_F32, 0}, {RED_ARGMAX, RED_U8, 0},     {RED_ARGMINNUM, RED_F64, 0},
    {RED_BXOR, RED_U32, 0},   {RED_ALL, RED_I16, 0},       {RED_COUNT_NONZERO, RED_F32, 0},
    {RED_DOT, RED_F32, 0},    {RED_DOT, RED_F64, 0},       {RED_DOT, RED_I32, 0},
    {RED_DOT, RED_BF16, 0},   {RED_SUMSQ, RED_F64, 0},     {RED_ASUM, RED_F32, 0},
    {RED_NRM2, RED_F32, 0},   {RED_MEAN, RED_F16, 0},      {RED_ASUM, RED_I64, 0},
};

enum {
  SECOND = 77 /* where dot's second input begins, the two overlapping */
};

START_TEST(threads) {
  random_state random = random_start(4);
  red_context *contexts[SUITE_MOST_THREADS + 1];
  for (unsigned t = 1; t <= suite_threads(); t++) contexts[t] = suite_context(t);
  for (size_t i = 0; i < sizeof threaded / sizeof *threaded; i++)
    for (unsigned repeat = suite_repeat(2); repeat > 0; repeat--) {
      uint64_t bytes = ((uint64_t)1 << 20) + random_below(&random, (uint64_t)4 << 20);
      uint64_t n = bytes / red_dtype_bytes(threaded[i].in);
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, threaded[i].op, threaded[i].in, n);
      problem.acc = threaded[i].acc;
      buffer in = buffer_new((n + SECOND) * red_dtype_bytes(problem.in), 0);
      uint64_t expected = 0;
      (repeat % 2 ? random_numbers : random_elements)(&random, problem.in, in.data, n + SECOND);
      const void *second = takes_two(&problem) ? in.data + SECOND * red_dtype_bytes(problem.in) : NULL;
      red_status want = red_reference2(&problem, in.data, second, &expected);
      for (unsigned t = 1; t <= suite_threads(); t = suite_more_threads(t)) {
        uint64_t actual = 0;
        red_status got = red_run2(contexts[t], &problem, in.data, second, &actual);
        if (may_refuse(&problem, got)) break;
        ck_assert_msg(got == want, "%u threads: status %d, expected %d%s", t, got, want, suite_seed_text());
        if (got == RED_OK) compare_outputs(&problem, "with another number of threads", &expected, &actual);
      }
      buffer_free(&in);
    }
  for (unsigned t = 1; t <= suite_threads(); t++) red_context_destroy(contexts[t]);
}
END_TEST

START_TEST(repeated_runs) {
  random_state random = random_start(5);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 700001);
  buffer in = buffer_new(problem.n * 4, 0);
  uint32_t expected, actual;
  random_elements(&random, RED_F32, in.data, problem.n);
  ck_red(red_reference(&problem, in.data, &expected));
  for (unsigned repeat = suite_repeat(50); repeat > 0; repeat--) {
    ck_red(red_run(context, &problem, in.data, &actual));
    compare_outputs(&problem, "repeated", &expected, &actual);
  }
  buffer_free(&in);
}
END_TEST

/* The same elements at every offset from an aligned address. */
START_TEST(alignments) {
  random_state random = random_start(6);
  static unsigned char bytes[64 + 6000 * 8];
  static unsigned char elements[6000 * 8];
  static const red_op ops[] = {RED_SUM, RED_DOT, RED_ASUM};
  for (unsigned i = 0; i < 3 * RED_DTYPE_COUNT; i++) {
    red_problem problem =
        RED_PROBLEM_INIT(RED_REDUCE, ops[i % 3], (red_dtype)(i / 3), 4000 + random_below(&random, 2000));
    if (!possible(&problem)) continue;
    size_t size = red_dtype_bytes(problem.in);
    uint64_t expected = 0, actual[2];
    random_elements(&random, problem.in, elements, problem.n);
    const void *second = takes_two(&problem) ? elements : NULL;
    ck_red(red_reference2(&problem, elements, second, &expected));
    for (size_t shift = 0; shift < 64; shift++) {
      unsigned char *out = (unsigned char *)actual + shift % 8;
      memcpy(bytes + shift, elements, problem.n * size);
      red_status status = red_run2(context, &problem, bytes + shift, second, out);
      if (may_refuse(&problem, status)) break;
      ck_assert_int_eq(status, RED_OK);
      compare_outputs(&problem, "misaligned", &expected, out);
    }
  }
}
END_TEST

/* Lengths, counts and indices have 64 bits: an array of zeros, which take no memory, but for its last element. */
START_TEST(beyond_32_bits) {
  static const struct {
    red_op op;
    uint64_t result;
  } rows[] = {{RED_ARGMAX, LONG - 1}, {RED_COUNT_NONZERO, 1}, {RED_SUM, 255}};
  if (suite_repeat(10) < 10) return; /* too slow where tests are scaled down */
  unsigned char *bytes = mmap(NULL, LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert(bytes != MAP_FAILED);
  bytes[LONG - 1] = 255;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t result = 0;
    red_status status = red_reduce(context, rows[i].op, RED_U8, bytes, LONG, &result);
    if (status == RED_ERR_NO_MEMORY && strncmp(suite_backend(), "omp", 3) != 0) break; /* a small device */
    ck_assert_msg(status == RED_OK, "%s", red_last_error());
    ck_assert_uint_eq(result, rows[i].result);
  }
  munmap(bytes, LONG);
}
END_TEST

static void convenience(red_op op, red_dtype in, uint64_t n, random_state *random) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  buffer data = buffer_new(n * red_dtype_bytes(in), 0);
  uint64_t expected = 0, actual = 0;
  random_elements(random, in, data.data, n);
  int two = takes_two(&problem);
  red_status want = red_reference2(&problem, data.data, two ? data.data : NULL, &expected);
  red_status got =
      two ? red_dot(context, in, data.data, data.data, n, &actual) : red_reduce(context, op, in, data.data, n, &actual);
  if (!may_refuse(&problem, got)) {
    ck_assert_msg(got == want, "red_reduce: status %d, expected %d%s", got, want, suite_seed_text());
    if (got == RED_OK) compare_outputs(&problem, "red_reduce", &expected, &actual);
  }
  buffer_free(&data);
}

START_TEST(red_reduce_itself) {
  random_state random = random_start(7);
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, (red_op)op, (red_dtype)in, 0);
      if (possible(&problem)) convenience((red_op)op, (red_dtype)in, random_length(&random, 5000), &random);
    }
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
  tcase_add_test(tests, operators);
  tcase_add_test(tests, small_lengths);
  tcase_add_test(tests, accumulators_and_outputs);
  tcase_add_test(tests, threads);
  tcase_add_test(tests, repeated_runs);
  tcase_add_test(tests, alignments);
  tcase_add_test(tests, beyond_32_bits);
  tcase_add_test(tests, red_reduce_itself);
}

int main(void) {
  return suite_run("reduce", fill);
}
