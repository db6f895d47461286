/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans of data that random arrays are not: extrema and masks that soon stay what they are, and products that go to
 * zero, beyond the range, or from there to a NaN.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static red_context *context;

static void check(red_problem *problem, const void *in, size_t bytes, const char *what) {
  const size_t out_bytes = output_bytes(problem);
  unsigned char *expected = malloc(out_bytes + 1), *out = malloc(out_bytes + bytes + 1);
  ck_red(red_reference(problem, in, expected));
  memset(out, MARK, out_bytes);
  red_status status = red_run(context, problem, in, out);
  if (!may_refuse(problem, status)) {
    ck_red(status);
    compare_outputs(problem, what, expected, out);
    if (may_be_in_place(problem)) {
      memcpy(out, in, bytes);
      ck_red(red_run(context, problem, out, out));
      compare_outputs(problem, what, expected, out);
    }
  }
  free(expected);
  free(out);
}

static const red_op settling[] = {RED_MIN, RED_MAX, RED_MINNUM, RED_MAXNUM, RED_BAND,
                                  RED_BOR, RED_ALL, RED_ANY,    RED_BXOR,   RED_COUNT_NONZERO};

/* One element everywhere, another one here and there: special ones among them, NaNs and zeros of the other sign. */
static void fill_with_few(random_state *random, red_dtype dtype, unsigned char *in, uint64_t n) {
  const size_t bytes = red_dtype_bytes(dtype);
  red_scalar element = random_scalar(random, dtype);
  for (uint64_t i = 0; i < n; i++) memcpy(in + i * bytes, &element, bytes);
  for (uint64_t changes = random_below(random, 6); changes > 0 && n > 0; changes--) {
    const uint64_t at = random_below(random, n), run = 1 + random_below(random, n - at);
    random_elements(random, dtype, in + at * bytes, random_below(random, 2) ? 1 : run);
  }
}

/* Every dtype, inclusive and exclusive, n elements. */
static void settle(red_op op, uint64_t n, unsigned char *in, random_state *random) {
  for (unsigned dtype = 1; dtype < RED_DTYPE_COUNT; dtype++)
    for (unsigned kind = RED_INCLUSIVE_SCAN; kind <= RED_EXCLUSIVE_SCAN; kind++) {
      red_problem problem = RED_PROBLEM_INIT((red_kind)kind, op, (red_dtype)dtype, n), resolved = problem;
      if (red_problem_resolve(&resolved) != RED_OK) continue;
      problem.has_init = random_below(random, 3) == 0;
      problem.init = random_scalar(random, resolved.acc);
      fill_with_few(random, problem.in, in, n);
      check(&problem, in, n * red_dtype_bytes(problem.in), "settled");
    }
}

START_TEST(settled) {
  enum {
    MOST = 20000
  };
  static unsigned char in[MOST * 8];
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(4); repeat > 0; repeat--)
    for (size_t op = 0; op < sizeof settling / sizeof *settling; op++)
      settle(settling[op], random_length(&random, MOST - 2), in, &random);
}
END_TEST

/* So long that the kernels for large arrays have them, whatever the dtype. */
START_TEST(settled_late) {
  enum {
    LEAST = 270000,
    MOST = 400000
  };
  random_state random = random_start(6);
  if (suite_repeat(10) < 10) return; /* too slow where tests are scaled down */
  unsigned char *in = malloc(MOST * 8);
  for (size_t op = 0; op < 4; op += 2) /* a minimum or a maximum, the NaNs winning, then losing */
    settle(settling[op + random_below(&random, 2)], LEAST + random_below(&random, MOST - LEAST), in, &random);
  settle(random_below(&random, 2) ? RED_ALL : RED_ANY, LEAST + random_below(&random, MOST - LEAST), in, &random);
  settle(RED_COUNT_NONZERO, LEAST + random_below(&random, MOST - LEAST), in, &random);
  free(in);
}
END_TEST

/* Each element, or each eighth, changes the minimum: no look ahead helps. */
START_TEST(descending) {
  enum {
    N = 300011
  };
  static float x[N];
  static int16_t k[N];
  for (int i = 0; i < N; i++) {
    x[i] = (float)(N / 2 - i);
    k[i] = (int16_t)((N / 2 - i) / 8);
  }
  for (unsigned kind = RED_INCLUSIVE_SCAN; kind <= RED_EXCLUSIVE_SCAN; kind++) {
    red_problem floats = RED_PROBLEM_INIT((red_kind)kind, RED_MIN, RED_F32, N), integers = floats;
    integers.in = RED_I16;
    check(&floats, x, sizeof x, "descending");
    check(&integers, k, sizeof k, "descending");
  }
}
END_TEST

/*
 * Factors of which a prefix is zero, infinite or a NaN, whose node differs: large ones and small ones come in runs,
 * with zeros, infinities and NaNs now and then.
 */
static void fill_with_factors(random_state *random, red_dtype dtype, unsigned char *in, uint64_t n) {
  const uint64_t infinity = float_infinity(dtype), unit = (uint64_t)1 << float_fraction(dtype);
  const uint64_t one = (infinity >> 1) / unit * unit, far = infinity / unit / 4 * unit;
  const uint64_t rare = 1 + random_below(random, 2 * n), rates[3] = {random_below(random, 4) + 1, rare, rare};
  uint64_t factor = one;
  for (uint64_t i = 0; i < n; i++) {
    if (random_below(random, 40) == 0) {
      const uint64_t choices[] = {one,           one,           one,       one + unit, one - unit,
                                  one + far / 8, one - far / 8, one + far, one - far};
      factor = choices[random_below(random, sizeof choices / sizeof *choices)];
    }
    uint64_t magnitude = factor + random_below(random, rates[0]);
    if (random_below(random, rates[1]) == 0) magnitude = random_below(random, 2) ? 0 : infinity;
    if (random_below(random, 4 * rates[2]) == 0) magnitude = infinity + 1;
    put_float(dtype, in, i, magnitude, random_below(random, 2) == 0);
  }
}

START_TEST(products) {
  enum {
    MOST = 9000
  };
  static const red_dtype floats[] = {RED_F16, RED_BF16, RED_F32, RED_F64};
  static unsigned char in[MOST * 8];
  random_state random = random_start(2);
  for (unsigned repeat = suite_repeat(60); repeat > 0; repeat--)
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
      const uint64_t n = 1 + random_length(&random, MOST - 3);
      red_problem problem =
          RED_PROBLEM_INIT(repeat % 2 ? RED_INCLUSIVE_SCAN : RED_EXCLUSIVE_SCAN, RED_PROD, floats[i], n);
      if (random_below(&random, 2)) problem.acc = RED_F64;
      fill_with_factors(&random, problem.in, in, n);
      check(&problem, in, n * red_dtype_bytes(problem.in), "products");
    }
}
END_TEST

/* So long that the kernels for large arrays have them. */
START_TEST(products_late) {
  enum {
    LEAST = 140000,
    MOST = 200000
  };
  random_state random = random_start(7);
  if (suite_repeat(10) < 10) return;
  unsigned char *in = malloc(MOST * 8);
  for (unsigned repeat = suite_repeat(4); repeat > 0; repeat--)
    for (unsigned dtype = RED_F16; dtype <= RED_F64; dtype++) {
      const uint64_t n = LEAST + random_below(&random, MOST - LEAST);
      red_problem problem =
          RED_PROBLEM_INIT(repeat % 2 ? RED_INCLUSIVE_SCAN : RED_EXCLUSIVE_SCAN, RED_PROD, (red_dtype)dtype, n);
      if (repeat / 2 % 2) problem.acc = RED_F64;
      fill_with_factors(&random, problem.in, in, n);
      check(&problem, in, n * red_dtype_bytes(problem.in), "long products");
    }
  free(in);
}
END_TEST

/* Three factors among ones, of all kinds: what the first two become meets the third one in the same strip or a later
 * one. */
START_TEST(three_factors) {
  enum {
    MOST = 3000
  };
  static const red_dtype floats[] = {RED_BF16, RED_F32, RED_F64};
  static unsigned char in[MOST * 8];
  random_state random = random_start(3);
  for (unsigned repeat = 2 * suite_repeat(2); repeat > 0; repeat--)
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
      const uint64_t infinity = float_infinity(floats[i]), unit = (uint64_t)1 << float_fraction(floats[i]);
      const uint64_t one = (infinity >> 1) / unit * unit, tiny = one / 4 / unit * unit, huge = one + one / 4 * 3;
      const uint64_t factors[] = {0, tiny, one, huge, infinity, infinity + 1};
      for (unsigned choice = 0; choice < 6 * 6 * 6; choice++) {
        const uint64_t n = 3 + random_below(&random, MOST - 2);
        red_problem problem =
            RED_PROBLEM_INIT(repeat % 2 ? RED_INCLUSIVE_SCAN : RED_EXCLUSIVE_SCAN, RED_PROD, floats[i], n);
        for (uint64_t k = 0; k < n; k++) put_float(floats[i], in, k, one, false);
        uint64_t at = random_below(&random, n - 2);
        for (unsigned k = 0, rest = choice; k < 3; k++, rest /= 6) {
          put_float(floats[i], in, at, factors[rest % 6], false);
          at += 1 + random_below(&random, n - 2 - at + k);
        }
        check(&problem, in, n * red_dtype_bytes(problem.in), "three factors");
      }
    }
}
END_TEST

/*
 * Zero, and then two factors whose product overflows: the carry of an index that ends in zeros takes these two first.
 */
START_TEST(rippling_products) {
  enum {
    MOST = 4 * 2048
  };
  static double in[MOST];
  random_state random = random_start(4);
  for (uint64_t part = 8; part <= MOST / 4; part *= 2)
    for (unsigned kind = RED_INCLUSIVE_SCAN; kind <= RED_EXCLUSIVE_SCAN; kind++) {
      red_problem problem = RED_PROBLEM_INIT((red_kind)kind, RED_PROD, RED_F64, 4 * part + kind % 2);
      if (problem.n > MOST) problem.n = MOST;
      for (uint64_t k = 0; k < problem.n; k++) in[k] = 1;
      in[random_below(&random, 2 * part)] = 0;
      in[2 * part + random_below(&random, part)] = in[3 * part + random_below(&random, part)] = 1e200;
      check(&problem, in, problem.n * sizeof *in, "rippling products");
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
  tcase_add_test(tests, settled);
  tcase_add_test(tests, settled_late);
  tcase_add_test(tests, descending);
  tcase_add_test(tests, products);
  tcase_add_test(tests, products_late);
  tcase_add_test(tests, three_factors);
  tcase_add_test(tests, rippling_products);
}

int main(void) {
  return suite_run("scan_edges", fill);
}
