/* SPDX-License-Identifier: BSD-2-Clause */
/* The long integer of `exact-1`: adding, carrying, merging. */
#include "exact.h"

#include <limits.h>
#include <string.h>

#include "half.h"

#define DIGIT_MASK 0xffffffffu

void red_exact_clear(red_exact *sum) {
  memset(sum, 0, sizeof *sum);
}

/* Make room for digits [first, last). */
static void reach(red_exact *sum, uint32_t first, uint32_t last) {
  if (sum->first == sum->last) {
    sum->first = first;
    sum->last = last;
    return;
  }
  if (first < sum->first) sum->first = first;
  if (last > sum->last) sum->last = last;
}

static void count_additions(red_exact *sum, uint32_t more) {
  sum->additions += more;
  if (sum->additions >= RED_EXACT_MOST_ADDITIONS) red_exact_carry(sum);
}

/* Digits [bit / 32, bit / 32 + 3) must be within reach. */
static void add_to_digits(red_exact *sum, bool negative, uint64_t significand, unsigned bit) {
  unsigned i = bit / 32, shift = bit % 32;
  uint64_t low = significand << shift, high = significand >> 1 >> (63 - shift);
  int64_t part[3] = {(int64_t)(low & DIGIT_MASK), (int64_t)(low >> 32), (int64_t)high}, sign = -(int64_t)negative;
  for (unsigned k = 0; k < 3; k++) sum->digit[i + k] += (part[k] ^ sign) - sign;
}

void red_exact_add_bits(red_exact *sum, bool negative, uint64_t significand, unsigned bit) {
  reach(sum, bit / 32, bit / 32 + 3);
  add_to_digits(sum, negative, significand, bit);
  count_additions(sum, 1);
}

void red_exact_add_integer(red_exact *sum, int64_t value, unsigned bit) {
  red_exact_add_bits(sum, value < 0, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value, bit);
}

/* The significand of a finite f64, and how many bits above that of the smallest f64 its lowest bit is. */
static uint64_t significand_of(double x, unsigned *bit) {
  const uint64_t bits = red_f64_bits(x);
  const unsigned exponent = (unsigned)(bits >> 52) & 0x7ff, normal = exponent > 0;
  *bit = exponent - normal;
  return (bits & 0xfffffffffffffu) | (uint64_t)normal << 52;
}

void red_exact_add_scaled(red_exact *sum, double x, unsigned scale) {
  unsigned bit;
  const uint64_t significand = significand_of(x, &bit);
  if (significand != 0) red_exact_add_bits(sum, signbit(x), significand, RED_EXACT_F64 + scale + bit);
}

void red_exact_add_all_scaled(red_exact *sum, const double *x, unsigned count, unsigned scale) {
  unsigned least = UINT_MAX, most = 0, bit;
  for (unsigned i = 0; i < count; i++) {
    if (significand_of(x[i], &bit) == 0) continue;
    if (bit < least) least = bit;
    if (bit > most) most = bit;
  }
  if (least > most) return;
  const unsigned unit = RED_EXACT_F64 + scale;
  reach(sum, (unit + least) / 32, (unit + most) / 32 + 3);
  count_additions(sum, count);
  for (unsigned i = 0; i < count; i++) {
    const uint64_t significand = significand_of(x[i], &bit);
    if (significand != 0) add_to_digits(sum, signbit(x[i]), significand, unit + bit);
  }
}

void red_exact_add_all_integers(red_exact *sum, const __int128 *x, unsigned count) {
  enum {
    GROUP = 4, /* begin at one digit and reach so many: */
    DIGITS = 5,
    ADDITIONS = 6 /* to one digit, by all groups */
  };
  count_additions(sum, ADDITIONS);
  for (unsigned i = 0; i < count; i += GROUP) {
    unsigned __int128 low = 0;
    __int128 high = 0;
    if ((x[i] | x[i + 1] | x[i + 2] | x[i + 3]) == 0) continue;
    for (unsigned k = 0; k < GROUP; k++) {
      low += (unsigned __int128)(uint64_t)x[i + k] << 8 * k;
      high += (__int128)(int64_t)(x[i + k] >> 64) * (1 << 8 * k);
    }
    int64_t *digit = sum->digit + i / GROUP;
    reach(sum, i / GROUP, i / GROUP + DIGITS);
    for (unsigned k = 0; k < 3; k++) digit[k] += (int64_t)(uint64_t)(low >> 32 * k & DIGIT_MASK);
    for (unsigned k = 0; k < 2; k++) digit[2 + k] += (int64_t)(high >> 32 * k & DIGIT_MASK);
    digit[4] += (int64_t)(high >> 64);
  }
}

void red_exact_add_f64(red_exact *sum, double x) {
  if (red_f64_bits(x) != (uint64_t)1 << 63) sum->flags |= RED_EXACT_NOT_MINUS_ZERO;
  if (isnan(x))
    sum->flags |= RED_EXACT_NAN;
  else if (isinf(x))
    sum->flags |= x > 0 ? RED_EXACT_PLUS_INF : RED_EXACT_MINUS_INF;
  else
    red_exact_add_scaled(sum, x, 0);
}

void red_exact_add_product(red_exact *sum, double x, double y) {
  bool negative = signbit(x) != signbit(y), zero = x == 0 || y == 0, infinite = isinf(x) || isinf(y);
  if (!zero || !negative) sum->flags |= RED_EXACT_NOT_MINUS_ZERO;
  if (isnan(x) || isnan(y) || (zero && infinite)) {
    sum->flags |= RED_EXACT_NAN | RED_EXACT_NOT_MINUS_ZERO;
  } else if (infinite) {
    sum->flags |= negative ? RED_EXACT_MINUS_INF : RED_EXACT_PLUS_INF;
  } else if (!zero) {
    unsigned x_bit, y_bit;
    unsigned __int128 product = (unsigned __int128)significand_of(x, &x_bit) * significand_of(y, &y_bit);
    red_exact_add_bits(sum, negative, (uint64_t)product, x_bit + y_bit);
    red_exact_add_bits(sum, negative, (uint64_t)(product >> 64), x_bit + y_bit + 64);
  }
}

void red_exact_merge(red_exact *into, const red_exact *from) {
  into->flags |= from->flags;
  if (from->first == from->last) return;
  if (into->additions + from->additions + 1 >= RED_EXACT_MOST_ADDITIONS) red_exact_carry(into);
  reach(into, from->first, from->last);
  for (uint32_t i = from->first; i < from->last; i++) into->digit[i] += from->digit[i];
  count_additions(into, from->additions + 1); /* one for what carried digits hold */
}

void red_exact_carry(red_exact *sum) {
  if (sum->first == sum->last) return;
  uint32_t top = sum->last - 1;
  for (uint32_t i = sum->first; i < top; i++) {
    sum->digit[i + 1] += sum->digit[i] >> 32;
    sum->digit[i] &= DIGIT_MASK;
  }
  for (; top + 1 < RED_EXACT_DIGITS && (sum->digit[top] < INT32_MIN || sum->digit[top] > INT32_MAX); top++) {
    sum->digit[top + 1] = sum->digit[top] >> 32;
    sum->digit[top] &= DIGIT_MASK;
  }
  sum->last = top + 1;
  sum->additions = 0;
}

void red_exact_measure(const red_exact *sum, red_exact_magnitude *magnitude) {
  int64_t carry = 0;
  uint32_t i = sum->first;
  memset(magnitude, 0, sizeof *magnitude);
  /* Two's complement first: 2^63 of the largest products leave the sign in the highest digit. */
  for (; i < RED_EXACT_DIGITS && (i < sum->last || (carry != 0 && carry != -1)); i++) {
    carry += sum->digit[i];
    magnitude->digit[i] = (uint32_t)carry;
    carry >>= 32;
  }
  uint32_t last = i;
  magnitude->negative = carry < 0;
  if (magnitude->negative) {
    uint64_t one = 1;
    for (i = sum->first; i < last; i++) {
      one += (uint32_t)~magnitude->digit[i];
      magnitude->digit[i] = (uint32_t)one;
      one >>= 32;
    }
    if (one != 0 && last < RED_EXACT_DIGITS) magnitude->digit[last++] = 1;
  }
  while (last > sum->first && magnitude->digit[last - 1] == 0) last--;
  if (last == sum->first) return;
  magnitude->last = last;
  magnitude->first = sum->first;
  while (magnitude->digit[magnitude->first] == 0) magnitude->first++;
}
