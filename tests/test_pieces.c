/* SPDX-License-Identifier: BSD-2-Clause */
/* Accumulators: whatever the pieces, the bits of one call on the whole. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;

/* A piece of what is left: often tiny, often all, sometimes empty or beside a chunk. */
static uint64_t piece_length(random_state *random, uint64_t left) {
  uint64_t n = random_length(random, 1 + random_below(random, 12000));
  if (random_below(random, 8) == 0) n = left;
  if (random_below(random, 4) == 0) n = random_below(random, 4);
  return n < left ? n : left;
}

static int is_scan(const red_problem *problem) {
  return problem->kind == RED_INCLUSIVE_SCAN || problem->kind == RED_EXCLUSIVE_SCAN;
}

/* From device memory: each piece in an array of its own. */
static red_status add_device_piece(red_accumulator *acc, const void *in, const void *in2, uint64_t n, uint64_t bytes) {
  void *arrays[2] = {NULL, NULL};
  const void *from[2] = {in, in2};
  for (int i = 0; i < 2; i++) {
    if (from[i] == NULL) continue;
    ck_red(red_alloc(context, bytes + 1, &arrays[i]));
    ck_red(red_upload(context, NULL, arrays[i], 0, from[i], bytes));
  }
  red_status status =
      in2 != NULL ? red_accumulator_add2(acc, arrays[0], arrays[1], n) : red_accumulator_add(acc, arrays[0], n);
  for (int i = 0; i < 2; i++) red_free(context, arrays[i]);
  return status;
}

static red_status add_piece(const red_problem *problem, red_accumulator *acc, const void *in, const void *in2,
                            uint64_t n) {
  if (problem->in_memory == RED_DEVICE) return add_device_piece(acc, in, in2, n, n * red_dtype_bytes(problem->in));
  return in2 != NULL ? red_accumulator_add2(acc, in, in2, n) : red_accumulator_add(acc, in, n);
}

/* Status of the result; scans have none. */
static red_status run_in_pieces(const red_problem *problem, const unsigned char *in, const unsigned char *in2,
                                unsigned char *out, random_state *random) {
  red_accumulator *acc;
  size_t in_bytes = red_dtype_bytes(problem->in);
  size_t out_bytes = is_scan(problem) && problem->n > 0 ? output_bytes(problem) / problem->n : 0;
  ck_red(red_accumulator_create(context, problem, &acc));
  for (uint64_t done = 0; done < problem->n;) {
    uint64_t n = piece_length(random, problem->n - done);
    const unsigned char *second = in2 != NULL ? in2 + done * in_bytes : NULL;
    red_status status = is_scan(problem) ? red_accumulator_scan(acc, in + done * in_bytes, n, out + done * out_bytes)
                                         : add_piece(problem, acc, in + done * in_bytes, second, n);
    if (status != RED_OK) {
      red_accumulator_destroy(acc);
      return status;
    }
    done += n;
    ck_assert_uint_eq(red_accumulator_count(acc), done);
  }
  red_status status = is_scan(problem) ? RED_OK : red_accumulator_result(acc, out);
  red_accumulator_destroy(acc);
  return status;
}

static void compare_pieces(red_problem problem, random_state *random) {
  size_t bytes = output_bytes(&problem);
  int in_place = is_scan(&problem) && bytes == problem.n * red_dtype_bytes(problem.in) && random_below(random, 3) == 0;
  buffer in = buffer_new(problem.n * red_dtype_bytes(problem.in), random_below(random, 16));
  buffer in2 = buffer_new(problem.n * red_dtype_bytes(problem.in), random_below(random, 16));
  buffer out = buffer_new(bytes, random_below(random, 16));
  unsigned char *expected = malloc(bytes + 1);
  random_elements(random, problem.in, in.data, problem.n);
  if (in_place) memcpy(out.data, in.data, bytes);
  const unsigned char *second = takes_two(&problem) ? in2.data : NULL;
  if (second != NULL) random_elements(random, problem.in, in2.data, problem.n);
  prepare_output(&problem, expected);
  prepare_output(&problem, out.data);
  red_status want = red_reference2(&problem, in.data, second, expected);
  red_status got = run_in_pieces(&problem, in_place ? out.data : in.data, second, out.data, random);
  if (!may_refuse(&problem, got)) {
    ck_assert_msg(got == want, "status %d, expected %d (%s)%s", got, want, red_last_error(), suite_seed_text());
    if (got == RED_OK) compare_outputs(&problem, "in pieces", expected, out.data);
    buffer_check(&out, "in pieces");
  }
  free(expected);
  buffer_free(&in);
  buffer_free(&in2);
  buffer_free(&out);
}

static int may_have_bound(const red_problem *problem) {
  return problem->kind == RED_REDUCE && problem->in >= RED_F16 && (problem->op == RED_SUM || problem->op >= RED_DOT);
}

static void every_operator(red_kind kind, red_memory memory, random_state *random, uint64_t most) {
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(kind, (red_op)op, (red_dtype)in, random_length(random, most));
      red_problem resolved = problem;
      if (red_problem_resolve(&resolved) != RED_OK) continue;
      problem.in_memory = memory;
      problem.has_init = takes_init(&problem) && random_below(random, 3) == 0;
      if (problem.has_init) problem.init = random_scalar(random, resolved.acc);
      problem.exact = may_have_bound(&problem) && random_below(random, 4) == 0;
      problem.bound = may_have_bound(&problem) && random_below(random, 2) == 0;
      compare_pieces(problem, random);
    }
}

START_TEST(reductions) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(4); repeat > 0; repeat--) every_operator(RED_REDUCE, RED_HOST, &random, 20000);
}
END_TEST

START_TEST(scans) {
  random_state random = random_start(2);
  for (unsigned repeat = suite_repeat(2); repeat > 0; repeat--) {
    every_operator(RED_INCLUSIVE_SCAN, RED_HOST, &random, 9000);
    every_operator(RED_EXCLUSIVE_SCAN, RED_HOST, &random, 9000);
  }
}
END_TEST

START_TEST(statistics) {
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(8); repeat > 0; repeat--)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, random_length(&random, 30000));
      problem.stats = repeat % 2 == 0 ? RED_STAT_ALL : 0;
      compare_pieces(problem, &random);
    }
}
END_TEST

START_TEST(device_memory) {
  random_state random = random_start(7);
  for (unsigned repeat = suite_repeat(2); repeat > 0; repeat--) {
    every_operator(RED_REDUCE, RED_DEVICE, &random, 20000);
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, random_length(&random, 30000));
      problem.stats = RED_STAT_ALL;
      problem.in_memory = RED_DEVICE;
      compare_pieces(problem, &random);
    }
  }
}
END_TEST

/* What is finished or scanned piece by piece comes from the host, or goes there. */
START_TEST(refused_memory) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0);
  red_accumulator *acc = NULL;
  problem.out_memory = RED_DEVICE;
  ck_red_fails(red_accumulator_create(context, &problem, &acc), RED_ERR_UNSUPPORTED, "out_memory");
  problem.kind = RED_INCLUSIVE_SCAN;
  problem.in_memory = RED_DEVICE;
  ck_red_fails(red_accumulator_create(context, &problem, &acc), RED_ERR_UNSUPPORTED, "in_memory");
  ck_assert(acc == NULL);
}
END_TEST

/* Accumulators and outputs of the caller's choice survive the cut. */
START_TEST(chosen_dtypes) {
  static const struct {
    red_kind kind;
    red_op op;
    red_dtype in, acc, out;
  } rows[] = {
      {RED_REDUCE, RED_SUM, RED_F32, RED_F64, RED_F32},
      {RED_REDUCE, RED_SUM, RED_F32, RED_F64, RED_F64},
      {RED_REDUCE, RED_PROD, RED_F16, RED_F32, RED_F64},
      {RED_REDUCE, RED_SUM, RED_I16, RED_I16, RED_I32},
      {RED_REDUCE, RED_MIN, RED_F32, RED_F32, RED_F16},
      {RED_REDUCE, RED_ALL, RED_I8, RED_U8, RED_U64},
      {RED_REDUCE, RED_COUNT_NONZERO, RED_I8, RED_U64, RED_U8},
      {RED_REDUCE, RED_ARGMAX, RED_F16, RED_U64, RED_U16},
      {RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_F64, RED_F32},
      {RED_EXCLUSIVE_SCAN, RED_SUM, RED_F16, RED_F32, RED_F16},
      {RED_EXCLUSIVE_SCAN, RED_SUM, RED_U8, RED_U8, RED_U8},
      {RED_INCLUSIVE_SCAN, RED_ANY, RED_F64, RED_U8, RED_I64},
      {RED_EXCLUSIVE_SCAN, RED_MINNUM, RED_BF16, RED_BF16, RED_F32},
  };
  random_state random = random_start(4);
  for (unsigned repeat = suite_repeat(10); repeat > 0; repeat--)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      red_problem problem = RED_PROBLEM_INIT(rows[i].kind, rows[i].op, rows[i].in, random_length(&random, 12000));
      problem.acc = rows[i].acc;
      problem.out = rows[i].out;
      compare_pieces(problem, &random);
    }
}
END_TEST

/* Asking for a result changes nothing, and more may follow. */
START_TEST(results_on_the_way) {
  enum {
    N = 20000
  };
  static float in[N];
  random_state random = random_start(5);
  red_accumulator *acc;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0);
  random_elements(&random, RED_F32, in, N);
  ck_red(red_accumulator_create(context, &problem, &acc));
  for (problem.n = 0; problem.n < N;) {
    float expected, actual;
    ck_red(red_reference(&problem, in, &expected));
    ck_red(red_accumulator_result(acc, &actual));
    compare_outputs(&problem, "a result on the way", &expected, &actual);
    uint64_t n = piece_length(&random, N - problem.n);
    ck_red(red_accumulator_add(acc, in + problem.n, n));
    problem.n += n;
  }
  red_accumulator_destroy(acc);
}
END_TEST

/* Large pieces are worked on by several threads, if some are asked for. */
START_TEST(large_pieces) {
  red_context *several = suite_context(suite_threads());
  static const red_op ops[] = {RED_SUM, RED_PROD, RED_ARGMAX};
  random_state random = random_start(6);
  enum {
    N = 1 << 20
  };
  buffer in = buffer_new(N * 4, 0);
  random_elements(&random, RED_F32, in.data, N);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[i], RED_F32, N);
    uint64_t expected = 0, actual = 0, cut = random_below(&random, N);
    red_accumulator *acc;
    ck_red(red_reference(&problem, in.data, &expected));
    ck_red(red_accumulator_create(several, &problem, &acc));
    ck_red(red_accumulator_add(acc, in.data, cut));
    ck_red(red_accumulator_add(acc, in.data + cut * 4, N - cut));
    ck_red(red_accumulator_result(acc, &actual));
    compare_outputs(&problem, "in two pieces", &expected, &actual);
    red_accumulator_destroy(acc);
  }
  buffer_free(&in);
  red_context_destroy(several);
}
END_TEST

/* More elements than 32 bits count: the index of the only one that is not zero. */
START_TEST(beyond_32_bits) {
  enum {
    PIECE = 1 << 26
  };
  static const uint64_t pieces = 65;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_ARGMAX, RED_U8, 0);
  red_accumulator *acc;
  uint64_t index = 0;
  if (suite_repeat(10) < 10) return; /* too slow where tests are scaled down */
  buffer piece = buffer_new(PIECE, 0);
  ck_red(red_accumulator_create(context, &problem, &acc));
  for (uint64_t i = 0; i < pieces; i++) {
    if (i == pieces - 1) piece.data[77] = 1;
    ck_red(red_accumulator_add(acc, piece.data, PIECE));
  }
  ck_red(red_accumulator_result(acc, &index));
  ck_assert_uint_eq(index, (pieces - 1) * PIECE + 77);
  ck_assert_uint_eq(red_accumulator_count(acc), pieces * PIECE);
  red_accumulator_destroy(acc);
  buffer_free(&piece);
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
  tcase_add_test(tests, reductions);
  tcase_add_test(tests, scans);
  tcase_add_test(tests, statistics);
  tcase_add_test(tests, device_memory);
  tcase_add_test(tests, refused_memory);
  tcase_add_test(tests, chosen_dtypes);
  tcase_add_test(tests, results_on_the_way);
  tcase_add_test(tests, large_pieces);
  tcase_add_test(tests, beyond_32_bits);
}

int main(void) {
  return suite_run("pieces", fill);
}
