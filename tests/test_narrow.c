/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversions of floats of 16 bits, each number of both formats: widening is exact, narrowing rounds once, to nearest,
 * ties to even (docs/numerics.md, section 4). What is to come out is known from the neighbours that a number was put
 * between. Ascending numbers are what a scan for the maximum gives back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;

typedef struct format {
  red_dtype dtype;
  int fraction, bias;
} format;

static const format formats[] = {{RED_F16, 10, 15}, {RED_BF16, 7, 127}};

static uint16_t infinity_of(const format *f) {
  return (uint16_t)(0x7fffu >> f->fraction << f->fraction);
}

/* The value of a number's magnitude; of infinity, that of the number which would come next. */
static double value_of(const format *f, unsigned magnitude) {
  const int exponent = (int)(magnitude >> f->fraction), unit = 1 << f->fraction, digits = (int)magnitude % unit;
  if (exponent == 0) return ldexp(digits, 1 - f->bias - f->fraction);
  return ldexp(unit + digits, exponent - f->bias - f->fraction);
}

/* ---- Numbers in ascending order, and what they become ---- */

typedef struct table {
  uint64_t n;
  double *number;
  uint16_t *half;
} table;

enum {
  CASES = 6 /* for each number: itself, its neighbours of f32 or f64, and around the tie with the next one */
};

static void put(table *t, double number, uint16_t half) {
  t->number[t->n] = number;
  t->half[t->n++] = half;
}

/* The next number away from zero in f64, or in f32, which both formats' ties are in. */
static double beyond(double x, bool wide, double towards) {
  return wide ? nextafter(x, towards) : (double)nextafterf((float)x, (float)towards);
}

static void put_cases_of(table *t, const format *f, bool wide, unsigned magnitude) {
  const double value = value_of(f, magnitude), tie = (value + value_of(f, magnitude + 1)) / 2;
  const uint16_t here = (uint16_t)magnitude, next = (uint16_t)(magnitude + 1);
  if (magnitude > 0) put(t, beyond(value, wide, 0), here);
  put(t, value, here);
  put(t, beyond(value, wide, INFINITY), here);
  put(t, beyond(tie, wide, 0), here);
  put(t, tie, here % 2 ? next : here);
  put(t, beyond(tie, wide, INFINITY), next);
}

static table table_of(const format *f, bool wide) {
  const unsigned infinity = infinity_of(f), most = 2 * (CASES * infinity + 4);
  table up = {.number = malloc(most * sizeof(double)), .half = malloc(most * sizeof(uint16_t))};
  for (unsigned magnitude = 0; magnitude < infinity; magnitude++) put_cases_of(&up, f, wide, magnitude);
  put(&up, wide ? 1.7976931348623157e308 : 3.4028234663852886e38, (uint16_t)infinity);
  put(&up, INFINITY, (uint16_t)infinity);
  const uint64_t n = up.n;
  for (uint64_t i = 0; i < n; i++) { /* the negative ones before them */
    up.number[2 * n - 1 - i] = up.number[n - 1 - i];
    up.half[2 * n - 1 - i] = up.half[n - 1 - i];
  }
  for (uint64_t i = 0; i < n; i++) {
    up.number[i] = -up.number[2 * n - 1 - i];
    up.half[i] = up.half[2 * n - 1 - i] ^ 0x8000;
  }
  up.n = 2 * n;
  return up;
}

static void table_free(table *t) {
  free(t->number);
  free(t->half);
}

/* ---- Through a scan ---- */

static void narrow(const format *f, bool wide) {
  table t = table_of(f, wide);
  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_MAX, wide ? RED_F64 : RED_F32, t.n);
  problem.out = f->dtype;
  float *floats = malloc(t.n * sizeof *floats);
  uint16_t *out = malloc(t.n * sizeof *out);
  for (uint64_t i = 0; i < t.n; i++) floats[i] = (float)t.number[i];
  red_status status = red_run(context, &problem, wide ? (void *)t.number : floats, out);
  if (!may_refuse(&problem, status)) {
    ck_red(status);
    for (uint64_t i = 0; i < t.n; i++)
      ck_assert_msg(out[i] == t.half[i], "%a to %s: expected %04x, got %04x", t.number[i], red_dtype_name(f->dtype),
                    t.half[i], out[i]);
  }
  free(floats);
  free(out);
  table_free(&t);
}

START_TEST(narrowing) {
  for (unsigned i = 0; i < 2; i++) {
    narrow(&formats[i], false);
    narrow(&formats[i], true);
  }
}
END_TEST

/*
 * A NaN, whatever its payload and sign, is the canonical one, at every place of a vector and beyond the last whole one.
 */
START_TEST(nans) {
  static const uint32_t patterns[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001,
                                      0x7fffffff, 0xffffffff, 0x7f802000};
  enum {
    N = 77
  };
  for (unsigned i = 0; i < 2; i++)
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
      for (unsigned at = 0; at < N; at++) {
        uint32_t in[N] = {0};
        uint16_t out[N], canonical = (uint16_t)(infinity_of(&formats[i]) | 1u << (formats[i].fraction - 1));
        red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N);
        problem.out = formats[i].dtype;
        in[at] = patterns[p];
        ck_red(red_run(context, &problem, in, out));
        for (unsigned k = 0; k < N; k++) ck_assert_uint_eq(out[k], k < at ? 0 : canonical);
      }
}
END_TEST

/* Each number of 16 bits but NaNs, in ascending order. */
START_TEST(widening) {
  for (unsigned i = 0; i < 2; i++) {
    const format *f = &formats[i];
    const unsigned infinity = infinity_of(f), n = 2 * (infinity + 1);
    uint16_t *in = malloc(n * sizeof *in);
    float *out = malloc(n * sizeof *out);
    for (unsigned k = 0; k <= infinity; k++) {
      in[infinity - k] = (uint16_t)(k | 0x8000);
      in[infinity + 1 + k] = (uint16_t)k;
    }
    red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_MAX, f->dtype, n);
    problem.out = RED_F32;
    ck_red(red_run(context, &problem, in, out));
    for (unsigned k = 0; k < n; k++) {
      const unsigned magnitude = in[k] & 0x7fffu;
      const double value = magnitude == infinity ? (double)INFINITY : value_of(f, magnitude);
      const float expected = (float)copysign(value, in[k] & 0x8000 ? -1.0 : 1.0);
      ck_assert_msg(memcmp(&expected, &out[k], sizeof expected) == 0, "%s %04x: expected %a, got %a",
                    red_dtype_name(f->dtype), in[k], (double)expected, (double)out[k]);
    }
    free(in);
    free(out);
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
  tcase_add_test(tests, narrowing);
  tcase_add_test(tests, nans);
  tcase_add_test(tests, widening);
}

int main(void) {
  return suite_run("narrow", fill);
}
