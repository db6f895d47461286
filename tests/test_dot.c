/* SPDX-License-Identifier: BSD-2-Clause */
/* Fused rows where a second rounding would show, on every instruction set; laws that dot, sumsq and norms obey. */
#include <math.h>
#include <string.h>

#include "compare.h"

static red_context *context;

enum {
  MOST_LANES = 128
};

/* ---- One fused multiply-add: c in the first row of lane 0, a * b in the second, -0 in every other lane ---- */

static uint32_t fused_f32(float a, float b, float c) {
  float x[MOST_LANES + 1], y[MOST_LANES + 1];
  uint32_t bits = 0;
  for (int l = 0; l < MOST_LANES; l++) {
    x[l] = -0.0f;
    y[l] = 1;
  }
  x[0] = c;
  x[MOST_LANES] = a;
  y[MOST_LANES] = b;
  ck_red(red_dot(context, RED_F32, x, y, MOST_LANES + 1, &bits));
  return bits;
}

static uint64_t fused_f64(double a, double b, double c) {
  enum {
    LANES = MOST_LANES / 2
  };
  double x[LANES + 1], y[LANES + 1];
  uint64_t bits = 0;
  for (int l = 0; l < LANES; l++) {
    x[l] = -0.0;
    y[l] = 1;
  }
  x[0] = c;
  x[LANES] = a;
  y[LANES] = b;
  ck_red(red_dot(context, RED_F64, x, y, LANES + 1, &bits));
  return bits;
}

static float f32_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double f64_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void check_f32(float a, float b, float c) {
  float exact = fmaf(a, b, c);
  uint32_t expected = 0x7fc00000, actual = fused_f32(a, b, c);
  if (!isnan(exact)) memcpy(&expected, &exact, sizeof expected);
  ck_assert_msg(actual == expected, "%a * %a + %a: expected %08x, got %08x%s", (double)a, (double)b, (double)c,
                expected, actual, suite_seed_text());
}

static void check_f64(double a, double b, double c) {
  double exact = fma(a, b, c);
  uint64_t expected = 0x7ff8000000000000u, actual = fused_f64(a, b, c);
  if (!isnan(exact)) memcpy(&expected, &exact, sizeof expected);
  ck_assert_msg(actual == expected, "%a * %a + %a: expected %016llx, got %016llx%s", a, b, c,
                (unsigned long long)expected, (unsigned long long)actual, suite_seed_text());
}

/* A power of two from [lowest, highest] times 1 + `steps` last digits. */
static float scaled_f32(random_state *random, int lowest, int highest, int steps) {
  int exponent = lowest + (int)random_below(random, (uint64_t)(highest - lowest + 1));
  return ldexpf(1 + (float)steps * 0x1p-23f, exponent);
}

static double scaled_f64(random_state *random, int lowest, int highest, int steps) {
  int exponent = lowest + (int)random_below(random, (uint64_t)(highest - lowest + 1));
  return ldexp(1 + (double)steps * 0x1p-52, exponent);
}

/* Add up to three last digits to either side. */
static float nudged_f32(random_state *random, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return f32_of(bits + (uint32_t)random_below(random, 7) - 3);
}

static double nudged_f64(random_state *random, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return f64_of(bits + random_below(random, 7) - 3);
}

/* How hard operands are made. */
enum {
  ANY_BITS,
  CANCELLING,   /* c is -a b, about */
  NEAR_A_TIE,   /* a b is half a last digit of c, about */
  UNDERFLOWING, /* a b is about the smallest subnormal, c too */
  OVERFLOWING,  /* a b is about the largest number, c cancels or not */
  SPARSE,       /* few digits, many exponents: exact results and ties */
  WAYS
};

START_TEST(rows_of_f32_are_fused) {
  random_state random = random_start(1);
  for (unsigned i = 0; i < suite_repeat(60000); i++) {
    float a = f32_of((uint32_t)random_next(&random)), b = f32_of((uint32_t)random_next(&random));
    float c = f32_of((uint32_t)random_next(&random));
    float sign = random_below(&random, 2) ? 1.0f : -1.0f;
    int k = (int)random_below(&random, 9);
    switch (i % WAYS) {
    case ANY_BITS:
      break;
    case CANCELLING:
      c = nudged_f32(&random, -fmaf(a, b, 0));
      break;
    case NEAR_A_TIE:
      a = scaled_f32(&random, -40, 40, k);
      b = sign * scaled_f32(&random, -40, 40, -2 * k);
      c = nudged_f32(&random, a * b * 0x1p24f * (1 + (float)random_below(&random, 1 << 20) * 0x1p-20f));
      break;
    case UNDERFLOWING:
      a = scaled_f32(&random, -80, -60, (int)random_below(&random, 1 << 23));
      b = sign * scaled_f32(&random, -90, -60, (int)random_below(&random, 1 << 23));
      c = f32_of((uint32_t)random_below(&random, 1 << (1 + random_below(&random, 26))));
      break;
    case OVERFLOWING:
      a = scaled_f32(&random, 60, 66, (int)random_below(&random, 1 << 23));
      b = sign * scaled_f32(&random, 60, 66, (int)random_below(&random, 1 << 23));
      c = scaled_f32(&random, 100, 127, -k);
      break;
    default:
      a = sign * scaled_f32(&random, -149, 127, k << 20);
      b = scaled_f32(&random, -149, 127, 0);
      c = scaled_f32(&random, -149, 127, (int)random_below(&random, 4) << 21);
      break;
    }
    check_f32(a, b, c);
  }
}
END_TEST

START_TEST(rows_of_f64_are_fused) {
  random_state random = random_start(2);
  for (unsigned i = 0; i < suite_repeat(60000); i++) {
    double a = f64_of(random_next(&random)), b = f64_of(random_next(&random)), c = f64_of(random_next(&random));
    double sign = random_below(&random, 2) ? 1.0 : -1.0;
    int k = (int)random_below(&random, 9), digits = (int)random_below(&random, INT32_MAX);
    switch (i % WAYS) {
    case ANY_BITS:
      break;
    case CANCELLING:
      c = nudged_f64(&random, -fma(a, b, 0));
      break;
    case NEAR_A_TIE:
      a = scaled_f64(&random, -200, 200, k);
      b = sign * scaled_f64(&random, -200, 200, -2 * k);
      c = nudged_f64(&random, a * b * 0x1p53 * (1 + (double)digits * 0x1p-31));
      break;
    case UNDERFLOWING:
      a = scaled_f64(&random, -560, -470, digits);
      b = sign * scaled_f64(&random, -560, -470, digits);
      c = f64_of(random_next(&random) >> (1 + random_below(&random, 60)) >> 4);
      break;
    case OVERFLOWING:
      a = scaled_f64(&random, 470, 515, digits);
      b = sign * scaled_f64(&random, 470, 515, digits);
      c = scaled_f64(&random, 950, 1023, -k);
      break;
    default:
      a = sign * scaled_f64(&random, -1074, 1023, k << 20);
      b = scaled_f64(&random, -1074, 1023, 0);
      c = scaled_f64(&random, -1074, 1023, (int)random_below(&random, 4) << 21);
      break;
    }
    check_f64(a, b, c);
  }
}
END_TEST

/* ---- Laws ---- */

static const red_dtype floats[] = {RED_F16, RED_BF16, RED_F32, RED_F64};

/* A product does not care which factor comes first, and a square is one. */
START_TEST(products_commute) {
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(100); repeat > 0; repeat--)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, (red_dtype)in, random_length(&random, 9000));
      size_t bytes = problem.n * red_dtype_bytes(problem.in);
      buffer x = buffer_new(bytes, random_below(&random, 16)), y = buffer_new(bytes, random_below(&random, 16));
      uint64_t forth = 0, back = 0, square = 0, itself = 0;
      random_elements(&random, problem.in, x.data, problem.n);
      random_elements(&random, problem.in, y.data, problem.n);
      ck_red(red_dot(context, problem.in, x.data, y.data, problem.n, &forth));
      ck_red(red_dot(context, problem.in, y.data, x.data, problem.n, &back));
      compare_outputs(&problem, "the factors exchanged", &forth, &back);
      ck_red(red_dot(context, problem.in, x.data, x.data, problem.n, &itself));
      ck_red(red_reduce(context, RED_SUMSQ, problem.in, x.data, problem.n, &square));
      compare_outputs(&problem, "by itself", &itself, &square);
      buffer_free(&x);
      buffer_free(&y);
    }
}
END_TEST

/* The norm of 4^k numbers 2^e is 2^(e + k), wherever their squares would lie. */
START_TEST(norms_neither_overflow_nor_underflow) {
  static const struct {
    red_dtype dtype;
    uint64_t least, largest; /* bits of powers of two at both ends of the range */
    uint64_t times_eight;    /* of the least */
    uint64_t by_eight;       /* 2^3 times the largest divided by eight */
  } rows[] = {{RED_F16, 0x0001, 0x6c00, 0x0008, 0x7800},
              {RED_BF16, 0x0001, 0x7d80, 0x0008, 0x7f00},
              {RED_F32, 0x00000001, 0x7d800000, 0x00000008, 0x7f000000}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unsigned char elements[64 * 4];
    size_t bytes = red_dtype_bytes(rows[i].dtype);
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_NRM2, rows[i].dtype, 64);
    for (int large = 0; large < 2; large++) {
      uint64_t result = 0;
      for (size_t e = 0; e < 64; e++) memcpy(elements + e * bytes, large ? &rows[i].largest : &rows[i].least, bytes);
      ck_red(red_reduce(context, RED_NRM2, rows[i].dtype, elements, 64, &result));
      compare_outputs(&problem, "powers of two", large ? &rows[i].by_eight : &rows[i].times_eight, &result);
    }
  }
}
END_TEST

/* Equal numbers are their own mean, as long as their sum is exact; -0 is one of them. */
START_TEST(equal_numbers_are_their_mean) {
  enum {
    N = 48
  };
  random_state random = random_start(4);
  for (unsigned repeat = suite_repeat(200); repeat > 0; repeat--)
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
      unsigned char elements[N * 8];
      size_t bytes = red_dtype_bytes(floats[i]);
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_MEAN, floats[i], 1 + random_below(&random, N));
      uint64_t bits = random_next(&random) >> (64 - 8 * bytes) & ~(uint64_t)63, mean = 0; /* six digits to spare */
      if (random_below(&random, 9) == 0) bits = (uint64_t)1 << (8 * bytes - 1);
      if (bytes == 2)
        bits &= ~((uint64_t)1 << 14); /* f32 has no more room for the sums of bf16 than bf16 */
      else
        bits &= ~((uint64_t)1 << (8 * bytes - 2));
      for (uint64_t e = 0; e < problem.n; e++) memcpy(elements + e * bytes, &bits, bytes);
      ck_red(red_run(context, &problem, elements, &mean));
      compare_outputs(&problem, "equal numbers", &bits, &mean);
    }
}
END_TEST

/* Of each dtype: bits of -0, 1, infinity, the canonical NaN. */
static const struct {
  red_dtype dtype;
  uint64_t minus_zero, one, infinity, nan;
} specials[] = {{RED_F16, 0x8000, 0x3c00, 0x7c00, 0x7e00},
                {RED_BF16, 0x8000, 0x3f80, 0x7f80, 0x7fc0},
                {RED_F32, 0x80000000, 0x3f800000, 0x7f800000, 0x7fc00000},
                {RED_F64, 0x8000000000000000, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000}};

enum {
  LONGEST = 16500
};

static unsigned char first_input[LONGEST * 8], second_input[LONGEST * 8];

static void fill_with(unsigned char *array, red_dtype dtype, uint64_t n, uint64_t bits) {
  size_t bytes = red_dtype_bytes(dtype);
  for (uint64_t i = 0; i < n; i++) memcpy(array + i * bytes, &bits, bytes);
}

/* Lengths around rows, chunks and tiles. */
static const uint64_t lengths[] = {1, 2, 63, 65, 127, 129, 2047, 2049, 4095, 4097, 16385, LONGEST};

static void expect_bits(red_op op, size_t row, uint64_t n, uint64_t expected, const char *how) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, specials[row].dtype, n);
  uint64_t actual = 0;
  red_status status = red_run2(context, &problem, first_input, takes_two(&problem) ? second_input : NULL, &actual);
  if (may_refuse(&problem, status)) return;
  ck_assert_msg(status == RED_OK, "%s", red_last_error());
  compare_outputs(&problem, how, &expected, &actual);
}

/* What is missing from a row adds nothing: the sign of a zero shows it. */
START_TEST(zeros_keep_their_signs) {
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      fill_with(first_input, specials[i].dtype, lengths[l], specials[i].minus_zero);
      fill_with(second_input, specials[i].dtype, lengths[l], specials[i].one);
      expect_bits(RED_DOT, i, lengths[l], specials[i].minus_zero, "-0 times 1");
      expect_bits(RED_ASUM, i, lengths[l], 0, "magnitudes of -0");
      expect_bits(RED_SUMSQ, i, lengths[l], 0, "squares of -0");
      expect_bits(RED_NRM2, i, lengths[l], 0, "the norm of -0");
      expect_bits(RED_MEAN, i, lengths[l], specials[i].minus_zero, "the mean of -0");
      fill_with(second_input, specials[i].dtype, lengths[l], specials[i].minus_zero);
      expect_bits(RED_DOT, i, lengths[l], 0, "-0 times -0");
    }
}
END_TEST

/* One infinity anywhere, beside ones; against a zero, NaN. */
START_TEST(infinities_and_nans) {
  random_state random = random_start(5);
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      size_t bytes = red_dtype_bytes(specials[i].dtype), at = bytes * (size_t)random_below(&random, lengths[l]);
      uint64_t sign = specials[i].minus_zero, minus_infinity = specials[i].infinity | sign, zero = 0;
      fill_with(first_input, specials[i].dtype, lengths[l], specials[i].one);
      fill_with(second_input, specials[i].dtype, lengths[l], specials[i].one);
      memcpy(first_input + at, &minus_infinity, bytes);
      expect_bits(RED_DOT, i, lengths[l], minus_infinity, "-infinity times 1");
      expect_bits(RED_ASUM, i, lengths[l], specials[i].infinity, "the magnitude of -infinity");
      expect_bits(RED_SUMSQ, i, lengths[l], specials[i].infinity, "the square of -infinity");
      expect_bits(RED_NRM2, i, lengths[l], specials[i].infinity, "the norm with -infinity");
      expect_bits(RED_MEAN, i, lengths[l], minus_infinity, "the mean with -infinity");
      memcpy(second_input + at, &zero, bytes);
      expect_bits(RED_DOT, i, lengths[l], specials[i].nan, "-infinity times 0");
      uint64_t signalling = minus_infinity | 1;
      memcpy(first_input + at, &signalling, bytes);
      for (red_op op = RED_DOT; op <= RED_MEAN; op++) expect_bits(op, i, lengths[l], specials[i].nan, "a NaN");
    }
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
}
static void close_context(void) {
  red_context_destroy(context);
}

/* May the device do without? Then there is nothing to test. */
static int refused(red_op op, red_dtype in) {
  double elements[2] = {1, 1}, result;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, 1);
  const void *second = takes_two(&problem) ? elements : NULL;
  open_context();
  int refusal = may_refuse(&problem, red_run2(context, &problem, elements, second, &result));
  close_context();
  return refusal;
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  if (!refused(RED_DOT, RED_F32)) tcase_add_test(tests, rows_of_f32_are_fused);
  if (!refused(RED_DOT, RED_F64)) tcase_add_test(tests, rows_of_f64_are_fused);
  if (!refused(RED_DOT, RED_F64)) tcase_add_test(tests, products_commute);
  if (!refused(RED_NRM2, RED_F32)) tcase_add_test(tests, norms_neither_overflow_nor_underflow);
  if (!refused(RED_MEAN, RED_F64)) tcase_add_test(tests, equal_numbers_are_their_mean);
  tcase_add_test(tests, zeros_keep_their_signs);
  tcase_add_test(tests, infinities_and_nans);
}

int main(void) {
  return suite_run("dot", fill);
}
