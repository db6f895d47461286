/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans: every operator, dtype, accumulator and output, in place and not, on random data against the reference. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static const red_kind kinds[] = {RED_INCLUSIVE_SCAN, RED_EXCLUSIVE_SCAN};

static red_context *context;

static int possible(const red_problem *problem) {
  red_problem resolved = *problem;
  return red_problem_resolve(&resolved) == RED_OK;
}

static void every_operator(unsigned long salt, uint64_t most) {
  random_state random = random_start(salt);
  for (unsigned kind = 0; kind < 2; kind++)
    for (unsigned op = 1; op < RED_OP_COUNT; op++)
      for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
        red_problem problem = RED_PROBLEM_INIT(kinds[kind], (red_op)op, (red_dtype)in, random_length(&random, most));
        if (possible(&problem)) compare_with_reference(context, &problem, &random);
      }
}

START_TEST(operators) {
  for (unsigned repeat = suite_repeat(4); repeat > 0; repeat--) every_operator(1 + repeat, 15000);
}
END_TEST

START_TEST(small_lengths) {
  for (unsigned repeat = suite_repeat(20); repeat > 0; repeat--) every_operator(100 + repeat, 150);
}
END_TEST

START_TEST(accumulators_and_outputs) {
  random_state random = random_start(3);
  unsigned tried = 0;
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++)
      for (unsigned acc = 0; acc < RED_DTYPE_COUNT; acc++)
        for (unsigned out = 0; out < RED_DTYPE_COUNT; out++) {
          red_problem problem = RED_PROBLEM_INIT(kinds[random_below(&random, 2)], (red_op)op, (red_dtype)in,
                                                 random_length(&random, 1500));
          problem.acc = (red_dtype)acc;
          problem.out = (red_dtype)out;
          red_problem resolved = problem;
          if (red_problem_resolve(&resolved) != RED_OK) continue;
          problem.has_init = random_below(&random, 2) == 0;
          if (problem.has_init) problem.init = random_scalar(&random, resolved.acc);
          compare_with_reference(context, &problem, &random);
          tried++;
        }
  ck_assert_uint_gt(tried, 1000);
}
END_TEST

static const struct {
  red_op op;
  red_dtype in, acc;
} threaded[] = {{RED_SUM, RED_F32, 0},  {RED_SUM, RED_F64, 0}, {RED_PROD, RED_F32, 0}, {RED_SUM, RED_F32, RED_F64},
                {RED_SUM, RED_F16, 0},  {RED_SUM, RED_I32, 0}, {RED_MIN, RED_F32, 0},  {RED_MAXNUM, RED_BF16, 0},
                {RED_BXOR, RED_U64, 0}, {RED_ANY, RED_F64, 0}, {RED_ALL, RED_U8, 0},   {RED_COUNT_NONZERO, RED_I8, 0}};

static void scan_with_threads(red_context **contexts, const red_problem *problem, random_state *random, int mixed) {
  size_t bytes = output_bytes(problem);
  buffer in = buffer_new(problem->n * red_dtype_bytes(problem->in), 0), out = buffer_new(bytes, 0);
  unsigned char *expected = malloc(bytes);
  (mixed ? random_elements : random_numbers)(random, problem->in, in.data, problem->n);
  ck_red(red_reference(problem, in.data, expected));
  for (unsigned t = 1; t <= suite_threads(); t = suite_more_threads(t)) {
    memset(out.data, 0xee, bytes);
    red_status status = red_run(contexts[t], problem, in.data, out.data);
    if (may_refuse(problem, status)) break;
    ck_assert_msg(status == RED_OK, "%u threads: %s", t, red_last_error());
    compare_outputs(problem, "with another number of threads", expected, out.data);
  }
  free(expected);
  buffer_free(&in);
  buffer_free(&out);
}

START_TEST(threads) {
  random_state random = random_start(4);
  red_context *contexts[SUITE_MOST_THREADS + 1];
  for (unsigned t = 1; t <= suite_threads(); t++) contexts[t] = suite_context(t);
  for (size_t i = 0; i < sizeof threaded / sizeof *threaded; i++)
    for (unsigned round = 0; round < 2 * suite_repeat(2); round++) {
      uint64_t n = 300000 + random_below(&random, 700000);
      red_problem problem = RED_PROBLEM_INIT(kinds[round % 2], threaded[i].op, threaded[i].in, n);
      problem.acc = threaded[i].acc;
      problem.has_init = random_below(&random, 2) == 0;
      red_problem resolved = problem;
      ck_red(red_problem_resolve(&resolved));
      problem.init = random_scalar(&random, resolved.acc);
      scan_with_threads(contexts, &problem, &random, round > 1);
    }
  for (unsigned t = 1; t <= suite_threads(); t++) red_context_destroy(contexts[t]);
}
END_TEST

/*
 * Long enough for several windows of every thread: what ripples from one into the next must arrive. Such outputs may go
 * past the caches, whatever they are aligned to, and however little is left of the last window.
 */
static const struct {
  red_op op;
  red_dtype in;
} long_ones[] = {{RED_SUM, RED_F32}, {RED_SUM, RED_I64}, {RED_PROD, RED_U32}, {RED_MIN, RED_F32}, {RED_BXOR, RED_U8}};

START_TEST(many_windows) {
  random_state random = random_start(8);
  for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
    const size_t bytes = 38 * (512 << 10) + 8, shift = 16 * (i % 4), width = red_dtype_bytes(long_ones[i].in);
    red_problem problem = RED_PROBLEM_INIT(kinds[i % 2], long_ones[i].op, long_ones[i].in, bytes / width);
    problem.acc = problem.out = problem.in;
    unsigned char *in = malloc(bytes), *expected = malloc(bytes), *out = aligned_alloc(64, bytes + 56);
    random_numbers(&random, problem.in, in, problem.n);
    ck_red(red_reference(&problem, in, expected));
    for (unsigned t = 1; t <= suite_threads(); t += 3) {
      red_context *team = suite_context(t);
      ck_red(red_run(team, &problem, in, out + shift));
      compare_outputs(&problem, "through many windows", expected, out + shift);
      red_context_destroy(team);
    }
    free(in);
    free(expected);
    free(out);
  }
}
END_TEST

/* Host memory that a device of its own takes in pieces: what ripples through several of them must arrive. */
START_TEST(many_pieces) {
  enum {
    N = 1 << 23 /* four of 16 MiB of output */
  };
  if (suite_threads() > 1) return; /* a CPU has no pieces */
  random_state random = random_start(9);
  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N);
  float *in = malloc(N * sizeof *in);
  double *expected = malloc(N * sizeof *expected), *out = malloc(N * sizeof *out);
  problem.acc = problem.out = RED_F64;
  random_numbers(&random, RED_F32, in, N);
  ck_red(red_reference(&problem, in, expected));
  red_status status = red_run(context, &problem, in, out);
  if (!may_refuse(&problem, status)) {
    ck_red(status);
    compare_outputs(&problem, "through many pieces", expected, out);
  }
  free(in);
  free(expected);
  free(out);
}
END_TEST

/* A scan of a prefix is the prefix of the scan. */
START_TEST(prefixes) {
  random_state random = random_start(5);
  enum {
    N = 70000
  };
  static float in[N], whole[N], part[N];
  random_elements(&random, RED_F32, in, N);
  ck_red(red_inclusive_scan(context, RED_SUM, RED_F32, in, N, whole));
  for (unsigned repeat = suite_repeat(30); repeat > 0; repeat--) {
    red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, random_length(&random, N));
    ck_red(red_inclusive_scan(context, RED_SUM, RED_F32, in, problem.n, part));
    compare_outputs(&problem, "a prefix", whole, part);
  }
}
END_TEST

/* exclusive[i + 1] is inclusive[i], bit for bit. */
START_TEST(exclusive_is_shifted) {
  random_state random = random_start(6);
  enum {
    N = 70001
  };
  static double in[N], inclusive[N], exclusive[N];
  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, N);
  random_elements(&random, RED_F64, in, N);
  if (may_refuse(&problem, red_run(context, &problem, in, inclusive))) return;
  ck_red(red_exclusive_scan(context, RED_SUM, RED_F64, in, N, exclusive));
  uint64_t first;
  memcpy(&first, exclusive, sizeof first);
  ck_assert_uint_eq(first, 0);
  problem.n = N - 1;
  compare_outputs(&problem, "exclusive, shifted", inclusive, exclusive + 1);
}
END_TEST

START_TEST(alignments) {
  random_state random = random_start(7);
  static unsigned char in[64 + 5000 * 8], out[64 + 5000 * 8], elements[5000 * 8], expected[5000 * 8];
  for (unsigned dtype = 1; dtype < RED_DTYPE_COUNT; dtype++)
    for (size_t shift = 0; shift < 64; shift += 1 + random_below(&random, 5)) {
      red_problem problem = RED_PROBLEM_INIT(kinds[shift % 2], RED_SUM, (red_dtype)dtype, 5000);
      random_elements(&random, problem.in, elements, problem.n);
      ck_red(red_reference(&problem, elements, expected));
      memcpy(in + shift, elements, problem.n * red_dtype_bytes(problem.in));
      red_status status = red_run(context, &problem, in + shift, out + shift * 7 % 64);
      if (may_refuse(&problem, status)) break;
      ck_assert_int_eq(status, RED_OK);
      compare_outputs(&problem, "misaligned", expected, out + shift * 7 % 64);
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
  tcase_add_test(tests, many_windows);
  tcase_add_test(tests, many_pieces);
  tcase_add_test(tests, prefixes);
  tcase_add_test(tests, exclusive_is_shifted);
  tcase_add_test(tests, alignments);
}

int main(void) {
  return suite_run("scan", fill);
}
