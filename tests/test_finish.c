/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last step of mean and nrm2 (src/core/state.c, by rounding to odd) against the reference's integers and against
 * answers that were computed with rational numbers outside: sums and counts that no array of a test would reach.
 */
#include <math.h>
#include <string.h>

#include "random.h"
#include "reference.h"
#include "state.h"
#include "suite.h"

static const red_dtype floats[] = {RED_F16, RED_BF16, RED_F32, RED_F64};

static red_lowered lowered_of(red_op op, red_dtype out) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, op == RED_NRM2 ? RED_F32 : RED_F64, 0);
  red_lowered lowered;
  problem.out = out;
  ck_red(red_lower(&problem, &lowered));
  return lowered;
}

static uint64_t finished(red_op op, red_dtype out, double sum, uint64_t count) {
  red_lowered lowered = lowered_of(op, out);
  uint64_t bits = 0;
  ck_red(red_state_finish(&lowered, (red_state){.f64 = sum}, count, &bits));
  return bits;
}

/* A number that `dtype` represents, as its bits: the sum of it alone. */
static uint64_t bits_of(red_dtype dtype, double value) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F64, 1);
  uint64_t bits = 0;
  problem.out = dtype;
  ck_red(red_reference(&problem, &value, &bits));
  return bits;
}

static double sum_of(random_state *random) {
  uint64_t bits = random_next(random);
  if (random_below(random, 2)) bits &= UINT64_MAX << random_below(random, 52);     /* few digits: near a tie */
  if (random_below(random, 4) == 0) bits = bits >> 12 >> random_below(random, 52); /* subnormal */
  double value;
  memcpy(&value, &bits, sizeof value);
  return isfinite(value) ? value : 1.0;
}

/* Quotients beside a tie of the output: a count of many bits times a number of few, and a step. */
static double beside(random_state *random, uint64_t count) {
  double tie = ldexp((double)(1 + random_below(random, 1 << 12)), (int)random_below(random, 40) - 30);
  double sum = tie * (double)count, step = nextafter(sum, random_below(random, 2) ? INFINITY : 0.0);
  return random_below(random, 3) ? step : sum;
}

START_TEST(means_round_once) {
  random_state random = random_start(1);
  for (unsigned i = 0; i < suite_repeat(200000); i++) {
    uint64_t count = 1 + (random_next(&random) >> (11 + random_below(&random, 52))); /* below 2^53 */
    double sum = i % 2 ? sum_of(&random) : beside(&random, count);
    red_dtype out = floats[i / 2 % 4];
    uint64_t expected = bits_of(out, red_reference_quotient(out, sum, count));
    uint64_t actual = finished(RED_MEAN, out, sum, count);
    ck_assert_msg(actual == expected, "%a / %llu to %s: expected %llx, got %llx%s", sum, (unsigned long long)count,
                  red_dtype_name(out), (unsigned long long)expected, (unsigned long long)actual, suite_seed_text());
  }
}
END_TEST

START_TEST(roots_round_once) {
  random_state random = random_start(2);
  for (unsigned i = 0; i < suite_repeat(200000); i++) {
    /* sums of squares of f32 are zero or above 2^-298 */
    double root = ldexp((double)(random_below(&random, (uint64_t)1 << 25) + 1), (int)random_below(&random, 250) - 149);
    double sum = root * root;
    for (uint64_t steps = random_below(&random, 3); steps > 0; steps--) sum = nextafter(sum, i % 2 ? INFINITY : 0.0);
    if (i % 5 == 0) sum = fabs(sum_of(&random));
    if (sum < 0x1p-298) sum = 0x1p-298;
    red_dtype out = floats[i / 2 % 4];
    uint64_t expected = bits_of(out, red_reference_root(out, sum));
    uint64_t actual = finished(RED_NRM2, out, sum, 1);
    ck_assert_msg(actual == expected, "root of %a to %s: expected %llx, got %llx%s", sum, red_dtype_name(out),
                  (unsigned long long)expected, (unsigned long long)actual, suite_seed_text());
  }
}
END_TEST

/* Both ways, so that they cannot be wrong together. */
START_TEST(known_answers) {
  static const struct {
    red_op op;
    red_dtype out;
    double sum;
    uint64_t count, bits;
  } rows[] = {
      {RED_MEAN, RED_F16, 0x1.5b938323e9d95p+54, 6677177748507u, 0x6b27},
      {RED_MEAN, RED_F16, 0x1.f89df0770e0cbp+54, 14107771590911u, 0x68eb},
      {RED_MEAN, RED_F16, 0x1.60daafe8786f0p+55, 17047655485151u, 0x69b1},
      {RED_MEAN, RED_F32, 0x1.b725e7c90060ap+67, 8785323764367u, 0x4bdbd7db},
      {RED_MEAN, RED_F32, 0x1.4ab5062f5b3bcp+68, 12402358080383u, 0x4bea8bed},
      {RED_MEAN, RED_F32, 0x1.f29e9dd4ad1cbp+67, 8931846793335u, 0x4bf58545},
      {RED_MEAN, RED_F32, 0x1.0000000000000p+0, 3u, 0x3eaaaaab},
      {RED_MEAN, RED_F64, 0x0.0000000000001p-1022, 2u, 0x0},
      {RED_MEAN, RED_F64, 0x0.0000000000001p-1022, 3u, 0x0},
      {RED_MEAN, RED_F64, 0x0.0000000000002p-1022, 3u, 0x1},
      {RED_MEAN, RED_F64, 0x0.0000000000003p-1022, 2u, 0x2},
      {RED_MEAN, RED_F64, -0x0.0000000000001p-1022, 2u, 0x8000000000000000},
      {RED_MEAN, RED_F64, 0x1.0000000000000p+0, 3u, 0x3fd5555555555555},
      {RED_MEAN, RED_F16, 0x1.0000000000000p+0, 9007199254740991u, 0x0},
      {RED_MEAN, RED_F16, 0x1.ffde000000000p+16, 2u, 0x7bff},
      {RED_MEAN, RED_F16, 0x1.ffe0000000000p+16, 2u, 0x7c00},
      {RED_NRM2, RED_F32, 0x1.810f59cadcb91p+48, 1u, 0x4b9cfbcb},
      {RED_NRM2, RED_F32, 0x1.87a827c5e0911p+48, 1u, 0x4b9e5295},
      {RED_NRM2, RED_F32, 0x1.8f41015218211p+48, 1u, 0x4b9fd9c9},
      {RED_NRM2, RED_F32, 0x1.0000000000000p+1, 1u, 0x3fb504f3},
      {RED_NRM2, RED_F64, 0x1.0000000000000p+1, 1u, 0x3ff6a09e667f3bcd},
      {RED_NRM2, RED_F16, 0x1.0000000000000p+1, 1u, 0x3da8},
      {RED_NRM2, RED_BF16, 0x1.0000000000000p+1, 1u, 0x3fb5},
      {RED_NRM2, RED_F32, 0x1.0000000000000p-298, 1u, 0x1},
      {RED_NRM2, RED_F32, 0x1.8000000000000p-297, 1u, 0x2},
      {RED_NRM2, RED_F32, 0x1.0000000000000p+256, 1u, 0x7f800000},
      {RED_NRM2, RED_F16, 0x1.ffbc024200000p+31, 1u, 0x7bff},
      {RED_NRM2, RED_F16, 0x1.ffc0020000000p+31, 1u, 0x7c00},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double other = rows[i].op == RED_MEAN ? red_reference_quotient(rows[i].out, rows[i].sum, rows[i].count)
                                          : red_reference_root(rows[i].out, rows[i].sum);
    uint64_t actual = finished(rows[i].op, rows[i].out, rows[i].sum, rows[i].count),
             oracle = bits_of(rows[i].out, other);
    ck_assert_msg(actual == rows[i].bits && oracle == rows[i].bits,
                  "row %zu: expected %llx, got %llx, the reference %llx", i, (unsigned long long)rows[i].bits,
                  (unsigned long long)actual, (unsigned long long)oracle);
  }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_test(tests, means_round_once);
  tcase_add_test(tests, roots_round_once);
  tcase_add_test(tests, known_answers);
}

int main(void) {
  return suite_run("finish", fill);
}
