/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact results on the edge between two floats, where the smallest number anywhere decides: sums that end in a tie, in
 * nothing or at the end of the range, among many large numbers that undo each other.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;

static void check(const red_problem *problem, const unsigned char *in, const unsigned char *in2, const char *how) {
  uint64_t expected = 0, actual = 0;
  const unsigned char *second = problem->op == RED_DOT ? in2 : NULL;
  red_status want = red_reference2(problem, in, second, &expected);
  red_status got = red_run2(context, problem, in, second, &actual);
  if (may_refuse(problem, got)) return;
  ck_assert_msg(got == want, "status %d, expected %d%s", got, want, suite_seed_text());
  if (got == RED_OK) compare_outputs(problem, how, &expected, &actual);
}

/* The same by an accumulator, which may leave nothing out. */
static void check_accumulator(const red_problem *problem, const unsigned char *in, const char *how) {
  uint64_t expected = 0, actual = 0;
  const unsigned char *second = problem->op == RED_DOT ? in : NULL;
  red_accumulator *sum;
  ck_assert_int_eq(red_reference2(problem, in, second, &expected), RED_OK);
  red_status made = red_accumulator_create(context, problem, &sum);
  if (may_refuse(problem, made)) return;
  ck_assert_int_eq(made, RED_OK);
  red_status added =
      second != NULL ? red_accumulator_add2(sum, in, second, problem->n) : red_accumulator_add(sum, in, problem->n);
  ck_assert_int_eq(added, RED_OK);
  ck_assert_int_eq(red_accumulator_result(sum, &actual), RED_OK);
  red_accumulator_destroy(sum);
  compare_outputs(problem, how, &expected, &actual);
}

static red_problem exact_problem(red_op op, red_dtype in, red_dtype out, uint64_t n) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  problem.exact = 1;
  problem.out = out;
  return problem;
}

static uint64_t power_of_two(red_dtype dtype, uint64_t exponent) {
  return exponent << float_fraction(dtype);
}

static uint64_t exponents_of(red_dtype dtype) {
  return float_infinity(dtype) >> float_fraction(dtype);
}

/* Exchange elements at random. */
static void shuffle(random_state *random, size_t bytes, unsigned char *array, uint64_t n) {
  unsigned char aside[8];
  for (uint64_t i = n - 1; i > 0; i--) {
    uint64_t k = random_below(random, i + 1);
    memcpy(aside, array + i * bytes, bytes);
    memcpy(array + i * bytes, array + k * bytes, bytes);
    memcpy(array + k * bytes, aside, bytes);
  }
}

/* Numbers below 2^most of the exponents above `least`, and their opposites; an odd one is a zero. */
static void put_pairs(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n, uint64_t least,
                      uint64_t most) {
  uint64_t low = power_of_two(dtype, least), width = power_of_two(dtype, most) - low;
  for (uint64_t i = 0; i + 1 < n; i += 2) {
    uint64_t bits = low + random_below(random, width);
    put_float(dtype, array, i, bits, false);
    put_float(dtype, array, i + 1, bits, true);
  }
  if (n % 2 != 0) put_float(dtype, array, n - 1, 0, false);
}

/*
 * A sum that is a tie of `out`, nothing, or (at = 2) half a place beyond the largest number, in a few elements; then
 * perhaps one of the smallest numbers, or one of any, on either side. Returns how many elements.
 */
static uint64_t put_edge(random_state *random, red_dtype in, red_dtype out, unsigned char *array, uint64_t exponent,
                         unsigned at) {
  unsigned precision = float_fraction(out) + 1;
  uint64_t i = 0;
  bool negative = random_below(random, 2) != 0;
  if (at == 0) {
    put_float(in, array, i++, power_of_two(in, exponent), negative);
    if (exponent > precision + 1) {
      if (random_below(random, 2) != 0) put_float(in, array, i++, power_of_two(in, exponent - precision + 1), negative);
      put_float(in, array, i++, power_of_two(in, exponent - precision), negative);
    }
  } else if (at == 2) {
    put_float(in, array, i++, float_infinity(in) - 1, negative);
    if (exponents_of(in) > float_fraction(in) + 4)
      put_float(in, array, i++, power_of_two(in, exponents_of(in) - float_fraction(in) - 3), negative);
  }
  switch (random_below(random, 4)) {
  case 0:
    put_float(in, array, i++, 1, random_below(random, 2) != 0);
    break;
  case 1:
    put_float(in, array, i++, random_below(random, power_of_two(in, 1 + random_below(random, exponent))),
              random_below(random, 2) != 0);
  }
  return i;
}

enum {
  MOST = 20000,
  EDGE = 4
};

static void check_sum(random_state *random, red_op op, red_dtype in, red_dtype out, unsigned at) {
  static double x[MOST + EDGE], y[MOST + EDGE];
  unsigned char *array = (unsigned char *)x, *ones = (unsigned char *)y;
  uint64_t exponents = exponents_of(in), exponent = 1 + random_below(random, exponents - 1);
  uint64_t n = random_length(random, MOST - 100);
  uint64_t most = random_below(random, 2) != 0 ? exponents : exponent; /* of the pairs */
  uint64_t least = random_below(random, 2) != 0 ? 0 : most > 60 ? most - 1 - random_below(random, 60) : 0;
  put_pairs(random, in, array, n, least, most);
  if (random_below(random, 3) != 0) shuffle(random, red_dtype_bytes(in), array, n > 1 ? n : 1);
  uint64_t edge = put_edge(random, in, out, array + n * red_dtype_bytes(in), exponent, at);
  n += edge;
  if (n == 0) return;
  if (random_below(random, 3) != 0) /* the edge somewhere, too */
    for (uint64_t k = 0; k < edge; k++) {
      uint64_t to = random_below(random, n), bytes = red_dtype_bytes(in), from = n - 1 - k;
      unsigned char aside[8];
      memcpy(aside, array + from * bytes, bytes);
      memcpy(array + from * bytes, array + to * bytes, bytes);
      memcpy(array + to * bytes, aside, bytes);
    }
  uint64_t one = float_infinity(in) >> 1 & ~(power_of_two(in, 1) - 1);
  for (uint64_t i = 0; i < n; i++) put_float(in, ones, i, one, false);
  red_problem problem = exact_problem(op, in, out, n);
  if (op != RED_MEAN && random_below(random, 4) == 0) {
    problem.has_init = 1;
    if (in == RED_F64)
      problem.init.f64 = -x[0];
    else
      problem.init.f32 = (float)random_below(random, 3) - 1;
  }
  check(&problem, array, ones, "on an edge");
}

START_TEST(sums) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(40); repeat > 0; repeat--)
    for (unsigned in = RED_F16; in <= RED_F64; in++)
      for (unsigned at = 0; at < 3; at++) {
        red_dtype out = random_below(&random, 2) != 0 ? (red_dtype)in : (red_dtype)(RED_F16 + random_below(&random, 4));
        check_sum(&random, RED_SUM, (red_dtype)in, out, at);
        check_sum(&random, RED_DOT, (red_dtype)in, out, at);
        check_sum(&random, RED_MEAN, (red_dtype)in, out, at);
      }
}
END_TEST

/* 2^k equal numbers, whose sum or whose squares' sum is a power of two, half a place of it, and perhaps a tiny one. */
static void check_one_sign(random_state *random, red_op op, red_dtype in, red_dtype out) {
  static double x[MOST];
  unsigned char *array = (unsigned char *)x;
  unsigned precision = float_fraction(out) + 1, log2 = (unsigned)random_below(random, 14);
  uint64_t count = (uint64_t)1 << log2, exponents = exponents_of(in), i = 0;
  uint64_t exponent = random_below(random, 2) != 0 ? exponents - 1 - random_below(random, 3 < exponents ? 3 : 1)
                                                   : 1 + random_below(random, exponents - 1);
  /* half a place is 2^(-precision) of the sum: of the same numbers, or of squares where that is even */
  bool squares = op != RED_ASUM;
  int64_t half = (int64_t)exponent + (squares ? ((int)log2 - (int)precision) / 2 : (int)log2 - (int)precision);
  for (; i < count; i++) put_float(in, array, i, power_of_two(in, exponent), random_below(random, 2) != 0);
  if (half > 0 && half < (int64_t)exponents) {
    put_float(in, array, i++, power_of_two(in, (uint64_t)half), false);
    if (squares && (log2 - precision) % 2 != 0) put_float(in, array, i++, power_of_two(in, (uint64_t)half), true);
    for (unsigned more = 2 * (unsigned)random_below(random, 2); more > 0; more--) /* three halves */
      put_float(in, array, i++, power_of_two(in, (uint64_t)half), false);
  }
  if (random_below(random, 3) != 0)
    put_float(in, array, i++, random_below(random, 2) != 0 ? 1 : random_below(random, power_of_two(in, exponent)),
              false);
  for (uint64_t more = random_below(random, 3000); more > 0; more--) put_float(in, array, i++, 0, more % 2 != 0);
  if (random_below(random, 2) != 0) shuffle(random, red_dtype_bytes(in), array, i);
  red_problem problem = exact_problem(op, in, out, i);
  check(&problem, array, array, "of one sign, on an edge");
}

START_TEST(one_sign) {
  random_state random = random_start(2);
  for (unsigned repeat = suite_repeat(100); repeat > 0; repeat--)
    for (unsigned in = RED_F16; in <= RED_F64; in++) {
      red_dtype out = random_below(&random, 2) != 0 ? (red_dtype)in : (red_dtype)(RED_F16 + random_below(&random, 4));
      check_one_sign(&random, RED_ASUM, (red_dtype)in, out);
      check_one_sign(&random, RED_SUMSQ, (red_dtype)in, out);
      check_one_sign(&random, RED_NRM2, (red_dtype)in, out);
      check_one_sign(&random, RED_DOT, (red_dtype)in, out);
    }
}
END_TEST

/* Blocks of which some are narrow, some as wide as can be and some far below, in any order. */
START_TEST(mixed_blocks) {
  enum {
    PIECE = 1024
  };
  static double x[MOST], y[MOST];
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(60); repeat > 0; repeat--)
    for (unsigned in = RED_F16; in <= RED_F64; in++) {
      red_dtype dtype = (red_dtype)in;
      uint64_t n = 1 + random_below(&random, MOST), bytes = red_dtype_bytes(dtype), exponents = exponents_of(dtype);
      for (uint64_t i = 0; i < n; i += PIECE)
        for (unsigned k = 0; k < 2; k++) {
          unsigned char *at = (unsigned char *)(k == 0 ? x : y) + i * bytes;
          uint64_t here = n - i < PIECE ? n - i : PIECE, top = 1 + random_below(&random, exponents);
          uint64_t wide = random_below(&random, 3),
                   span = wide == 0 ? top : 1 + random_below(&random, top < 8 ? top : 8);
          uint64_t low = power_of_two(dtype, top - span), width = power_of_two(dtype, top) - low;
          for (uint64_t j = 0; j < here; j++)
            put_float(dtype, at, j, low + random_below(&random, width), random_below(&random, 2) != 0);
        }
      static const red_op ops[] = {RED_SUM, RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2, RED_MEAN};
      for (unsigned op = 0; op < sizeof ops / sizeof *ops; op++) {
        red_problem problem = exact_problem(ops[op], dtype, (red_dtype)(RED_F16 + random_below(&random, 4)), n);
        check(&problem, (unsigned char *)x, (unsigned char *)y, "in mixed blocks");
      }
    }
}
END_TEST

/* Zeros and numbers with one of another kind, or two, anywhere: what decides is found wherever it stands. */
START_TEST(kinds_anywhere) {
  enum {
    LENGTH = 75
  };
  static double x[LENGTH], y[LENGTH];
  unsigned char *array = (unsigned char *)x, *other = (unsigned char *)y;
  static const red_op ops[] = {RED_SUM, RED_DOT, RED_SUMSQ, RED_ASUM, RED_MEAN};
  random_state random = random_start(5);
  for (unsigned in = RED_F16; in <= RED_F64; in++) {
    const red_dtype dtype = (red_dtype)in;
    const uint64_t infinity = float_infinity(dtype), one = power_of_two(dtype, exponents_of(dtype) / 2);
    const uint64_t kinds[] = {0, infinity, infinity + 1, one};
    for (uint64_t at = 0; at < LENGTH; at++) {
      const uint64_t n = at + 1 + random_below(&random, LENGTH - at), second = random_below(&random, n);
      for (unsigned repeat = suite_repeat(2); repeat > 0; repeat--) {
        const uint64_t kind = kinds[random_below(&random, 4)], most = random_below(&random, 2) != 0 ? 0 : one;
        for (uint64_t i = 0; i < n; i++) {
          put_float(dtype, array, i, most, true);
          put_float(dtype, other, i, random_below(&random, 4) != 0 ? one : 0, false);
        }
        if (random_below(&random, 2) != 0) put_float(dtype, array, second, kind, random_below(&random, 2) != 0);
        put_float(dtype, array, at, kind, random_below(&random, 2) != 0);
        for (unsigned op = 0; op < sizeof ops / sizeof *ops; op++) {
          red_problem problem = exact_problem(ops[op], dtype, dtype, n);
          check(&problem, array, other, "one of another kind");
        }
      }
    }
  }
}
END_TEST

/* After other blocks one whose first or second factors are all zero, while one of the others is no number. */
START_TEST(zeros_times_infinity) {
  enum {
    PART = 4096,
    LENGTH = 3 * PART
  };
  static double x[LENGTH], y[LENGTH];
  random_state random = random_start(5);
  for (unsigned in = RED_F16; in <= RED_F64; in++)
    for (unsigned swap = 0; swap < 2; swap++)
      for (unsigned what = 0; what < 3; what++) {
        const red_dtype dtype = (red_dtype)in;
        const uint64_t one = power_of_two(dtype, exponents_of(dtype) / 2);
        unsigned char *zeros = (unsigned char *)(swap != 0 ? y : x), *others = (unsigned char *)(swap != 0 ? x : y);
        for (uint64_t i = 0; i < LENGTH; i++) {
          put_float(dtype, zeros, i, i / PART == 1 ? 0 : one, what == 2);
          put_float(dtype, others, i, one, false);
        }
        const uint64_t at = PART + random_below(&random, PART);
        put_float(dtype, others, at, float_infinity(dtype) + what % 2, random_below(&random, 2) != 0);
        for (unsigned out = RED_F16; out <= RED_F64; out++) {
          red_problem problem = exact_problem(RED_DOT, dtype, (red_dtype)out, LENGTH);
          check(&problem, (unsigned char *)x, (unsigned char *)y, "0 times an infinity");
        }
      }
}
END_TEST

/* Zeros among pairs that cancel, so that one number, however small, is the sum, which no zero may hide. */
START_TEST(small_among_zeros) {
  enum {
    LENGTH = 9000
  };
  static double x[LENGTH];
  unsigned char *array = (unsigned char *)x;
  random_state random = random_start(5);
  for (unsigned in = RED_F16; in <= RED_F64; in++)
    for (unsigned repeat = suite_repeat(40); repeat > 0; repeat--) {
      const red_dtype dtype = (red_dtype)in;
      const uint64_t exponent = 1 + random_below(&random, exponents_of(dtype) / 2), seldom = random_below(&random, 99);
      const uint64_t small = random_below(&random, 2) != 0 ? 1 : power_of_two(dtype, random_below(&random, exponent));
      for (uint64_t i = 0; i < LENGTH; i += 2) {
        const uint64_t size = random_below(&random, 100) < seldom ? 0 : power_of_two(dtype, exponent);
        put_float(dtype, array, i, size, false);
        put_float(dtype, array, i + 1, size, true);
      }
      const uint64_t at = random_below(&random, LENGTH / 2) * 2;
      put_float(dtype, array, at, 0, false);
      put_float(dtype, array, at + 1, small, false);
      red_problem problem = exact_problem(RED_SUM, dtype, dtype, LENGTH);
      check(&problem, array, NULL, "a small one among zeros");
      check_accumulator(&problem, array, "a small one among zeros");
    }
}
END_TEST

/* By several threads: a tie whose parts and whose last word lie at the ends of blocks and of threads' shares. */
START_TEST(by_threads) {
  enum {
    LENGTH = 1 << 20
  };
  random_state random = random_start(4);
  for (unsigned in = RED_F32; in <= RED_F64; in++) {
    red_dtype dtype = (red_dtype)in;
    size_t bytes = red_dtype_bytes(dtype);
    buffer x = buffer_new((LENGTH + EDGE) * bytes, 0);
    for (unsigned threads = 1; threads <= suite_threads(); threads += 1 + threads / 2)
      for (unsigned at = 0; at < 3; at++) {
        uint64_t exponent = exponents_of(dtype) - 200 + random_below(&random, 190) - (dtype == RED_F32 ? 10 : 0);
        if (exponent >= exponents_of(dtype)) exponent = exponents_of(dtype) / 2;
        put_pairs(&random, dtype, x.data, LENGTH, 0, exponents_of(dtype) - 1);
        shuffle(&random, bytes, x.data, LENGTH); /* so that every part of the sum is large */
        uint64_t n = LENGTH + put_edge(&random, dtype, dtype, x.data + LENGTH * bytes, exponent, at);
        for (uint64_t k = n - 1; k >= LENGTH; k--) {
          uint64_t share = n / threads, to = share * random_below(&random, threads) + random_below(&random, 3) * 2047;
          unsigned char aside[8];
          memcpy(aside, x.data + k * bytes, bytes);
          memcpy(x.data + k * bytes, x.data + to % n * bytes, bytes);
          memcpy(x.data + to % n * bytes, aside, bytes);
        }
        red_context *all = context;
        context = suite_context(threads);
        red_problem problem = exact_problem(RED_SUM, dtype, dtype, n);
        check(&problem, x.data, NULL, "by several threads");
        problem.op = RED_SUMSQ;
        check(&problem, x.data, NULL, "by several threads");
        red_context_destroy(context);
        context = all;
      }
    buffer_free(&x);
  }
}
END_TEST

/*
 * More blocks than any sum of blocks takes at once, on one thread, of one sign and as large as what the first one was
 * made ready for; here and there a zero.
 */
START_TEST(many_blocks) {
  enum {
    LENGTH = 400000,
    FIRST = 2048
  };
  static const red_op ops[] = {RED_SUM, RED_ASUM, RED_DOT, RED_SUMSQ};
  random_state random = random_start(5);
  red_context *all = context;
  context = suite_context(1);
  for (unsigned in = RED_F16; in <= RED_F64; in++) {
    red_dtype dtype = (red_dtype)in;
    buffer x = buffer_new(LENGTH * red_dtype_bytes(dtype), 0);
    for (unsigned op = 0; op < sizeof ops / sizeof *ops; op++) {
      uint64_t exponent = 4 + random_below(&random, exponents_of(dtype) / 2);
      bool negative = random_below(&random, 2) != 0, zeros = random_below(&random, 2) != 0;
      for (uint64_t i = 0; i < LENGTH; i++) {
        uint64_t above = power_of_two(dtype, i < FIRST ? exponent - 2 : exponent + 1);
        bool zero = zeros && random_below(&random, 1000) == 0;
        put_float(dtype, x.data, i, zero ? 0 : above - 1 - random_below(&random, 3), negative);
      }
      red_problem problem = exact_problem(ops[op], dtype, (red_dtype)(RED_F16 + random_below(&random, 4)), LENGTH);
      check_accumulator(&problem, x.data, "in many blocks");
    }
    buffer_free(&x);
  }
  red_context_destroy(context);
  context = all;
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
}
static void close_context(void) {
  red_context_destroy(context);
}

static void fill_suite(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  tcase_add_test(tests, sums);
  tcase_add_test(tests, one_sign);
  tcase_add_test(tests, mixed_blocks);
  tcase_add_test(tests, kinds_anywhere);
  tcase_add_test(tests, zeros_times_infinity);
  tcase_add_test(tests, small_among_zeros);
  tcase_add_test(tests, by_threads);
  tcase_add_test(tests, many_blocks);
}

int main(void) {
  return suite_run("exact_edges", fill_suite);
}
