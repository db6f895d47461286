/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the CPU's exact kernels may leave out of a sum: never more than they say, whatever the data; and what the core
 * makes of that.
 */
#include <string.h>

#include "../src/backend_omp/room.h"
#include "exact.h"
#include "random.h"
#include "suite.h"

enum {
  MOST = 9000
};

static red_lowered lowered_of(red_op op, red_dtype in, red_dtype out, uint64_t n) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  red_lowered lowered;
  problem.exact = 1;
  problem.out = out;
  ck_red(red_lower(&problem, &lowered));
  return lowered;
}

/* Is the sum negative? */
static bool is_below_zero(const red_exact *sum) {
  red_exact_magnitude m;
  red_exact_measure(sum, &m);
  return m.last > 0 && m.negative;
}

static void negate(red_exact *sum) {
  for (unsigned i = 0; i < RED_EXACT_DIGITS; i++) sum->digit[i] = -sum->digit[i];
}

/* Pieces of any range each, so that kernels change their minds. */
static void fill(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  const uint64_t exponents = float_infinity(dtype) >> float_fraction(dtype);
  const unsigned size = (unsigned)red_dtype_bytes(dtype), fraction = float_fraction(dtype);
  for (uint64_t i = 0, here; i < n; i += here) {
    here = 1 + random_below(random, 4000);
    if (here > n - i) here = n - i;
    uint64_t top = 1 + random_below(random, exponents), span = 1 + random_below(random, top);
    if (random_below(random, 2) != 0) top = exponents;
    if (random_below(random, 2) != 0) span = span < 20 ? span : 20;
    const uint64_t low = (top - span) << fraction, width = (top << fraction) - low;
    const uint64_t mask = random_below(random, 3) == 0 ? UINT64_MAX << random_below(random, fraction) : UINT64_MAX;
    for (uint64_t j = 0; j < here; j++)
      put_float(dtype, array + i * size, j, (low + random_below(random, width)) & mask, random_below(random, 2) != 0);
  }
}

START_TEST(kernels_say_what_they_lose) {
  static double x[MOST], y[MOST];
  const red_kernels *kernels = red_cpu_kernels();
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(150); repeat > 0; repeat--)
    for (unsigned in = RED_F16; in <= RED_F64; in++) {
      const uint64_t n = 1 + random_length(&random, MOST - 2);
      fill(&random, (red_dtype)in, (unsigned char *)x, n);
      fill(&random, (red_dtype)in, (unsigned char *)y, n);
      for (unsigned map = 0; map < RED_MAPS; map++) {
        red_exact_fn *kernel = kernels->exact[map][in];
        if (kernel == NULL) continue;
        const red_dtype out = (red_dtype)(RED_F16 + random_below(&random, 4));
        const red_lowered lowered = lowered_of(RED_SUM, (red_dtype)in, out, n);
        red_exact_loss loss = red_exact_no_loss(&lowered);
        red_exact all, some;
        red_exact_clear(&all);
        red_exact_clear(&some);
        kernel(x, y, n, &all, NULL);
        kernel(x, y, n, &some, &loss);
        ck_assert_uint_eq(all.flags, some.flags);
        ck_assert(loss.terms <= n);
        negate(&all);
        red_exact_merge(&some, &all);
        for (unsigned side = 0; side < 2; side++, negate(&some)) {
          red_exact end = some;
          if (loss.terms > 0) red_exact_add_bits(&end, false, loss.terms, (unsigned)(loss.unit - RED_EXACT_UNIT));
          ck_assert_msg(!is_below_zero(&end), "map %u of %s, n = %llu: lost more than %llu * 2^%d%s", map,
                        red_dtype_name((red_dtype)in), (unsigned long long)n, (unsigned long long)loss.terms, loss.unit,
                        suite_seed_text());
        }
      }
    }
}
END_TEST

static void check_kernel(red_map map, red_dtype in, const void *x, const void *y, uint64_t n, bool lossy) {
  static const red_op ops[] = {
      [RED_MAP_NONE] = RED_SUM, [RED_MAP_PRODUCT] = RED_DOT, [RED_MAP_SQUARE] = RED_SUMSQ, [RED_MAP_ABS] = RED_ASUM};
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[map], in, n);
  problem.exact = 1;
  problem.out = RED_F64;
  const red_lowered lowered = lowered_of(ops[map], in, RED_F64, n);
  red_exact_loss loss = red_exact_no_loss(&lowered);
  red_exact sum;
  uint64_t expected = 0, actual = 0;
  red_exact_clear(&sum);
  red_cpu_kernels()->exact[map][in](x, y, n, &sum, lossy ? &loss : NULL);
  if (lossy && !red_exact_is_settled(&lowered, &sum, &loss, n)) return;
  ck_red(red_exact_finish(&lowered, &sum, n, &actual));
  ck_red(red_reference2(&problem, x, map == RED_MAP_PRODUCT ? y : NULL, &expected));
  ck_assert_msg(actual == expected, "%s of %s, n = %llu: %llx, expected %llx%s", red_op_name(ops[map]),
                red_dtype_name(in), (unsigned long long)n, (unsigned long long)actual, (unsigned long long)expected,
                suite_seed_text());
}

/* Numbers with all bits set and one sign fill what bins have room for, at each place of a bin. */
START_TEST(bins_hold_what_they_must) {
  enum {
    LENGTH = (1 << 15) + 77,
    PLACES = 16
  };
  static double x[LENGTH], y[LENGTH];
  random_state random = random_start(4);
  for (unsigned in = RED_F16; in <= RED_F64; in++)
    for (unsigned place = 0; place < PLACES; place++) {
      const unsigned fraction = float_fraction((red_dtype)in);
      const uint64_t exponents = float_infinity((red_dtype)in) >> fraction;
      const uint64_t top = exponents / 2 + random_below(&random, exponents / 3) + place;
      for (uint64_t i = 0; i < LENGTH; i++) { /* here and there a small one, so that nothing but bins will do */
        const bool small = i % 1000 == 0 && place % 4 != 3;
        put_float((red_dtype)in, (unsigned char *)x, i,
                  small ? 1 : ((top < exponents ? top : exponents) << fraction) - 1, false);
        put_float((red_dtype)in, (unsigned char *)y, i, ((exponents / 2) << fraction) - 1, false);
      }
      for (unsigned map = 0; map < RED_MAPS; map++)
        if (red_cpu_kernels()->exact[map][in] != NULL) check_kernel((red_map)map, (red_dtype)in, x, y, LENGTH, false);
    }
}
END_TEST

/* Blocks of numbers near 2 or 1.5 times a power of two and of one sign, each some binades above the one before. */
START_TEST(blocks_that_rise) {
  enum {
    PIECE = 1024,
    PIECES = 6
  };
  static double x[PIECE * PIECES], y[PIECE * PIECES];
  random_state random = random_start(5);
  for (unsigned repeat = suite_repeat(40); repeat > 0; repeat--)
    for (unsigned in = RED_F16; in <= RED_F64; in++) {
      const unsigned fraction = float_fraction((red_dtype)in), rise = (unsigned)random_below(&random, 8);
      const uint64_t exponents = float_infinity((red_dtype)in) >> fraction;
      const uint64_t top = 1 + random_below(&random, exponents), one = (exponents / 2) << fraction;
      const uint64_t less = 1 + (random_below(&random, 2) << (fraction - 1));
      for (uint64_t i = 0; i < PIECE * PIECES; i++) {
        const uint64_t exponent = top + i / PIECE * rise;
        uint64_t bits = ((exponent < exponents ? exponent : exponents) << fraction) - less;
        if (i < PIECE) bits = random_below(&random, bits);
        put_float((red_dtype)in, (unsigned char *)x, i, bits, false);
        put_float((red_dtype)in, (unsigned char *)y, i, i < PIECE ? one : one - less, false);
      }
      for (unsigned map = 0; map < RED_MAPS; map++)
        if (red_cpu_kernels()->exact[map][in] != NULL)
          for (unsigned lossy = 0; lossy < 2; lossy++)
            check_kernel((red_map)map, (red_dtype)in, x, y, PIECE * PIECES, lossy != 0);
    }
}
END_TEST

/* Losses add up to no less than they are, and to less than one unit a loss more. */
START_TEST(losses_add_up) {
  random_state random = random_start(2);
  for (unsigned repeat = suite_repeat(10000); repeat > 0; repeat--) {
    const red_lowered lowered = lowered_of(RED_SUM, RED_F64, RED_F64, 1);
    red_exact_loss loss = red_exact_no_loss(&lowered);
    red_exact sum;
    red_exact_clear(&sum);
    int most = -1074;
    for (unsigned k = 0; k < 5; k++) {
      const uint64_t terms =
          random_below(&random, 3) == 0 ? 0 : 1 + (random_next(&random) >> (4 + random_below(&random, 60)));
      const int unit = (int)random_below(&random, repeat % 2 ? 20 : 2000) - 1000;
      red_exact_lose(&loss, terms, unit);
      if (terms == 0) continue;
      red_exact_add_bits(&sum, true, terms, (unsigned)(unit - RED_EXACT_UNIT));
      if (unit > most) most = unit;
    }
    if (loss.terms == 0) continue;
    ck_assert_int_eq(loss.unit, most);
    red_exact_add_bits(&sum, false, loss.terms, (unsigned)(loss.unit - RED_EXACT_UNIT));
    ck_assert(!is_below_zero(&sum));
    red_exact_add_bits(&sum, true, 5, (unsigned)(loss.unit - RED_EXACT_UNIT));
    ck_assert(is_below_zero(&sum));
  }
}
END_TEST

static bool settled(red_op op, red_dtype in, red_dtype out, double value, uint64_t terms, int unit, uint64_t n) {
  const red_lowered lowered = lowered_of(op, in, out, n);
  red_exact_loss loss = red_exact_no_loss(&lowered);
  red_exact sum;
  red_exact_clear(&sum);
  red_exact_add_f64(&sum, value);
  red_exact_lose(&loss, terms, unit);
  return red_exact_is_settled(&lowered, &sum, &loss, n);
}

START_TEST(certain_results) {
  ck_assert(settled(RED_SUM, RED_F64, RED_F64, 1, 0, 0, 1));
  ck_assert(settled(RED_SUM, RED_F64, RED_F64, 1, 1, -55, 1));
  ck_assert(settled(RED_SUM, RED_F64, RED_F64, 1, 1, -54, 1));  /* a tie below, which goes to the even 1 */
  ck_assert(!settled(RED_SUM, RED_F64, RED_F64, 1, 3, -55, 1)); /* beyond it */
  ck_assert(settled(RED_SUM, RED_F64, RED_F32, 1 + 0x1p-25, 1, -26, 1));
  ck_assert(!settled(RED_SUM, RED_F64, RED_F32, 1 + 0x1p-24, 1, -1074, 1)); /* a tie, and anything */
  ck_assert(!settled(RED_SUM, RED_F64, RED_F32, 1 + 0x3p-24, 1, -1074, 1));
  ck_assert(!settled(RED_SUM, RED_F64, RED_F64, 0, 1, -1074, 1)); /* either sign */
  ck_assert(settled(RED_SUM, RED_F64, RED_F16, 0x1p-1000, 1, -1074, 1));
  ck_assert(!settled(RED_SUM, RED_F64, RED_F16, 65520, 1, -1074, 1)); /* the greatest number, or infinity */
  ck_assert(settled(RED_SUM, RED_F64, RED_F16, 0x1p20, 1, 10, 1));
  ck_assert(!settled(RED_MEAN, RED_F64, RED_F32, 3 + 0x3p-24, 1, -1074, 3)); /* 1 + 2^-24 */
  ck_assert(settled(RED_MEAN, RED_F64, RED_F32, 3, 1, -30, 3));
  ck_assert(!settled(RED_NRM2, RED_F64, RED_F64, 0x1p-1074, 1, -1073, 1)); /* no root below zero */
  ck_assert(settled(RED_NRM2, RED_F64, RED_F64, 4, 1, -60, 1));
}
END_TEST

/* The result at one end; false if there is none. */
static bool end_result(const red_lowered *lowered, const red_exact *sum, const red_exact_loss *loss, bool below,
                       uint64_t *result) {
  red_exact end = *sum;
  red_exact_add_bits(&end, below, loss->terms, (unsigned)(loss->unit - RED_EXACT_UNIT));
  *result = 0;
  if (lowered->op == RED_NRM2 && is_below_zero(&end)) return false;
  return red_exact_finish(lowered, &end, lowered->n, result) == RED_OK;
}

static void add_wide(red_exact *sum, bool negative, unsigned __int128 x, int bit) {
  red_exact_add_bits(sum, negative, (uint64_t)x, (unsigned)(bit - RED_EXACT_UNIT));
  red_exact_add_bits(sum, negative, (uint64_t)(x >> 64), (unsigned)(bit - RED_EXACT_UNIT) + 64);
}

/* Sums whose results lie near the middle between two floats, or near one, and losses of about that distance. */
START_TEST(certain_is_what_both_ends_give) {
  static const red_op ops[] = {RED_SUM, RED_MEAN, RED_NRM2};
  static const int least[] = {[RED_F16] = -24, [RED_BF16] = -133, [RED_F32] = -149, [RED_F64] = -1074};
  unsigned certain = 0, all = 0;
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(30000); repeat > 0; repeat--) {
    const red_dtype out = (red_dtype)(RED_F16 + random_below(&random, 4));
    const red_op op = ops[random_below(&random, 3)];
    const uint64_t n = 1 + (random_next(&random) >> (20 + random_below(&random, 44)));
    const red_lowered lowered = lowered_of(op, RED_F64, out, n);
    const int precision = (int)red_exact_no_loss(&lowered).precision;
    uint64_t significand = (uint64_t)1 << (precision - 1), size;
    if (random_below(&random, 3) != 0) significand += random_below(&random, significand);
    if (random_below(&random, 4) == 0) significand >>= random_below(&random, (unsigned)precision); /* subnormal below */
    significand = 2 * significand + random_below(&random, 2); /* a float, or the middle above it */
    const int most = least[out] > -1074 ? -least[out] : op == RED_NRM2 ? 900 : 970; /* that the long integer holds */
    int bit =
        least[out] - 1 + (int)random_below(&random, random_below(&random, 2) ? 60 : (unsigned)(most - least[out]));
    if (op == RED_NRM2) bit = 2 * bit < RED_EXACT_UNIT ? RED_EXACT_UNIT : 2 * bit;
    red_exact sum;
    red_exact_clear(&sum);
    if (op == RED_NRM2) {
      add_wide(&sum, false, (unsigned __int128)significand * significand, bit);
      size = significand;
    } else {
      size = op == RED_MEAN ? n : 1;
      add_wide(&sum, random_below(&random, 2) != 0, (unsigned __int128)significand * size, bit);
    }
    int far = 63 - __builtin_clzll(size) + bit - (int)random_below(&random, 90); /* a little beside it */
    if (far < RED_EXACT_UNIT) far = RED_EXACT_UNIT;
    if (random_below(&random, 4) != 0)
      red_exact_add_bits(&sum, random_below(&random, 2) != 0, 1 + random_below(&random, 7),
                         (unsigned)(far - RED_EXACT_UNIT));
    red_exact_loss loss = red_exact_no_loss(&lowered);
    far += (int)random_below(&random, random_below(&random, 3) != 0 ? 5 : 100) - 2;
    const uint64_t terms = 1 + (random_next(&random) >> (1 + random_below(&random, 63)));
    far -= random_below(&random, 4) != 0 ? 64 - __builtin_clzll(terms) : 0;
    if (far < RED_EXACT_UNIT) far = RED_EXACT_UNIT;
    red_exact_lose(&loss, terms, far);
    uint64_t low, high;
    const bool both = end_result(&lowered, &sum, &loss, true, &low) && end_result(&lowered, &sum, &loss, false, &high);
    const bool same = both && low == high;
    ck_assert_msg(red_exact_is_settled(&lowered, &sum, &loss, n) == same, "%s to %s, n = %llu, loss %llu * 2^%d: %s%s",
                  red_op_name(op), red_dtype_name(out), (unsigned long long)n, (unsigned long long)terms, far,
                  same ? "certain, but not found so" : "not certain", suite_seed_text());
    certain += same;
    all++;
  }
  ck_assert(certain > all / 10 && all - certain > all / 10); /* the test looks where both happen */
}
END_TEST

static void fill_suite(TCase *tests) {
  tcase_add_test(tests, kernels_say_what_they_lose);
  tcase_add_test(tests, bins_hold_what_they_must);
  tcase_add_test(tests, blocks_that_rise);
  tcase_add_test(tests, losses_add_up);
  tcase_add_test(tests, certain_results);
  tcase_add_test(tests, certain_is_what_both_ends_give);
}

int main(void) {
  return suite_run("loss", fill_suite);
}
