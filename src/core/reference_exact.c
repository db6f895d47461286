/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oracle of `exact-1`, independent of exact.c: what is positive and what is negative are two natural numbers, and
 * the result is the float that a search among all floats finds nearest. Slow on purpose.
 */
#include <string.h>

#include "half.h"
#include "reference.h"
#include "status.h"
#include "tables.h"

/* A natural number of units of 2^-2152, which leaves room below the smallest product of two f64. */
enum {
  WORDS = 136,
  UNIT = -2152
};

typedef struct natural {
  uint32_t word[WORDS];
} natural;

typedef unsigned __int128 u128;

/* a += m * 2^bit */
static void add(natural *a, u128 m, unsigned bit) {
  unsigned i = bit / 32;
  u128 high = m >> (128 - 32); /* so that shifting loses nothing */
  m = (m << 32 >> 32) << bit % 32;
  for (uint64_t carry = 0; i < WORDS && (m != 0 || carry != 0); i++, m >>= 32) {
    carry += (uint64_t)a->word[i] + (uint32_t)m;
    a->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (high != 0) add(a, high, bit + 96);
}

static int compare(const natural *a, const natural *b) {
  for (unsigned i = WORDS; i-- > 0;)
    if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
  return 0;
}

/* a -= b, which is not greater */
static void subtract(natural *a, const natural *b) {
  int64_t borrow = 0;
  for (unsigned i = 0; i < WORDS; i++) {
    borrow += (int64_t)a->word[i] - (int64_t)b->word[i];
    a->word[i] = (uint32_t)borrow;
    borrow >>= 32;
  }
}

typedef struct total {
  natural positive, negative;
  bool nan, plus_infinity, minus_infinity;
  bool only_minus_zeros; /* of at least one element */
  bool empty;
} total;

/* A finite double is m * 2^exponent. */
static uint64_t significant_bits(double x, int *exponent) {
  uint64_t bits = red_f64_bits(x) & INT64_MAX, hidden = (uint64_t)1 << 52;
  bool subnormal = bits < hidden;
  *exponent = subnormal ? -1074 : (int)(bits >> 52) - 1075;
  return subnormal ? bits : (bits & (hidden - 1)) | hidden;
}

/* Take in x * y. */
static void take(total *t, double x, double y) {
  int x_exponent, y_exponent;
  bool zero = x == 0 || y == 0, infinite = isinf(x) || isinf(y), negative = signbit(x) != signbit(y);
  bool nan = isnan(x) || isnan(y) || (zero && infinite);
  t->only_minus_zeros = (t->empty || t->only_minus_zeros) && !nan && zero && negative;
  t->empty = false;
  if (nan)
    t->nan = true;
  else if (infinite)
    *(negative ? &t->minus_infinity : &t->plus_infinity) = true;
  else if (!zero) {
    u128 m = (u128)significant_bits(x, &x_exponent) * significant_bits(y, &y_exponent);
    add(negative ? &t->negative : &t->positive, m, (unsigned)(x_exponent + y_exponent - UNIT));
  }
}

static void take_element(total *t, const red_lowered *lowered, double x, double y) {
  switch (lowered->map) {
  case RED_MAP_PRODUCT:
    take(t, x, y);
    break;
  case RED_MAP_SQUARE:
    take(t, x, x);
    break;
  case RED_MAP_ABS:
    take(t, fabs(x), 1);
    break;
  default:
    take(t, x, 1);
    break;
  }
}

/*
 * The positive float with these bits as m * 2^exponent; the one after the greatest is a power of two like the others.
 */
static uint64_t decode(red_dtype dtype, uint64_t bits, int *exponent) {
  unsigned precision = dtype == RED_F16 ? 11 : dtype == RED_BF16 ? 8 : dtype == RED_F32 ? 24 : 53;
  int least = dtype == RED_F16 ? -24 : dtype == RED_BF16 ? -133 : dtype == RED_F32 ? -149 : -1074;
  uint64_t hidden = (uint64_t)1 << (precision - 1);
  *exponent = bits < hidden ? least : least + (int)(bits >> (precision - 1)) - 1;
  return bits < hidden ? bits : (bits & (hidden - 1)) | hidden;
}

/* How f = m * 2^exponent compares with what the magnitude of a sum is finished to: f^2 or n f with the sum itself. */
static int compare_with(const red_lowered *lowered, uint64_t m, int exponent, const natural *magnitude) {
  natural candidate = {{0}};
  if (lowered->finish == RED_FINISH_ROOT)
    add(&candidate, (u128)m * m, (unsigned)(2 * exponent - UNIT));
  else
    add(&candidate, lowered->finish == RED_FINISH_MEAN ? (u128)m * lowered->n : m, (unsigned)(exponent - UNIT));
  return compare(&candidate, magnitude);
}

/* The greatest float that is not above the result, then whether the middle between it and the next one is. */
static uint64_t nearest(const red_lowered *lowered, const natural *magnitude) {
  const red_dtype dtype = lowered->out;
  uint64_t least = 0, beyond = red_infinity_bits(dtype) + 1;
  int exponent;
  while (beyond - least > 1) {
    uint64_t middle = least + (beyond - least) / 2, m = decode(dtype, middle, &exponent);
    if (compare_with(lowered, m, exponent, magnitude) <= 0)
      least = middle;
    else
      beyond = middle;
  }
  if (least == red_infinity_bits(dtype)) return least;
  uint64_t m = decode(dtype, least, &exponent);
  int side = compare_with(lowered, 2 * m + 1, exponent - 1, magnitude);
  bool up = side < 0 || (side == 0 && (least & 1) != 0);
  return least + up;
}

static uint64_t result_bits(const red_lowered *lowered, total *t) {
  const red_dtype out = lowered->out;
  uint64_t sign = (uint64_t)1 << (8 * red_dtype_bytes(out) - 1), infinity = red_infinity_bits(out);
  if (t->nan || (t->plus_infinity && t->minus_infinity)) return red_nan_bits(out);
  if (t->plus_infinity) return infinity;
  if (t->minus_infinity) return sign | infinity;
  int side = compare(&t->positive, &t->negative);
  if (side == 0) return t->only_minus_zeros ? sign : 0;
  if (side < 0) {
    subtract(&t->negative, &t->positive);
    return sign | nearest(lowered, &t->negative);
  }
  subtract(&t->positive, &t->negative);
  return nearest(lowered, &t->positive);
}

red_status red_reference_exact(const red_lowered *lowered, const void *in, const void *in2, void *out) {
  total t;
  if (lowered->n == 0 && lowered->empty_is_error)
    return red_fail(RED_ERR_EMPTY, "n = 0: op = %s has no result for empty input", red_op_name(lowered->op));
  memset(&t, 0, sizeof t);
  t.empty = true;
  for (uint64_t i = 0; i < lowered->n; i++) {
    double x = red_reference_real(lowered->in, (const unsigned char *)in + i * lowered->in_bytes);
    double y = in2 != NULL ? red_reference_real(lowered->in, (const unsigned char *)in2 + i * lowered->in_bytes) : 0;
    take_element(&t, lowered, x, y);
  }
  if (lowered->has_init) take(&t, red_reference_real(lowered->acc, &lowered->init), 1);
  uint64_t bits = result_bits(lowered, &t);
  memcpy(out, &bits, lowered->out_bytes);
  return RED_OK;
}
