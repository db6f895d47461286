/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the magnitude of an exact sum to a float: the sum, its quotient or its root, one rounding, ties to even. Read by
 * C and by CUDA C++, so that devices which finish there give the bits of those that do not.
 */
#ifndef RED_CORE_EXACT_ROUND_H
#define RED_CORE_EXACT_ROUND_H

#include <math.h>

#include "exact.h"

#ifdef __CUDACC__
#define RED_ROUND static inline __host__ __device__
#else
#define RED_ROUND static inline
#endif

/* A float format: bits of the whole, significant ones, and the bit of the long integer that its smallest subnormal is.
 */
typedef struct red_exact_format {
  unsigned bits, precision, least;
} red_exact_format;

RED_ROUND red_exact_format red_exact_format_of(red_dtype dtype) {
  switch (dtype) {
  case RED_F16: {
    red_exact_format f16 = {16, 11, 2148 - 24};
    return f16;
  }
  case RED_BF16: {
    red_exact_format bf16 = {16, 8, 2148 - 133};
    return bf16;
  }
  case RED_F32: {
    red_exact_format f32 = {32, 24, 2148 - 149};
    return f32;
  }
  default: {
    red_exact_format f64 = {64, 53, 2148 - 1074};
    return f64;
  }
  }
}

RED_ROUND uint64_t red_exact_infinity(red_exact_format f) {
  return (((uint64_t)1 << (f.bits - f.precision)) - 1) << (f.precision - 1);
}

/* How many zeros there are above the highest one of a digit that is not zero. */
RED_ROUND unsigned red_exact_zeros_above(uint32_t digit) {
#ifdef __CUDA_ARCH__
  return (unsigned)__clz((int)digit);
#else
  return (unsigned)__builtin_clz(digit);
#endif
}

/* ---- Magnitudes ---- */

/* Bits [bit, bit + 64) of the magnitude. */
RED_ROUND uint64_t red_exact_bits_from(const red_exact_magnitude *m, unsigned bit) {
  unsigned i = bit / 32, shift = bit % 32;
  uint64_t digit[3];
  for (unsigned k = 0; k < 3; k++) digit[k] = i + k < RED_EXACT_DIGITS ? m->digit[i + k] : 0;
  uint64_t low = digit[0] | digit[1] << 32;
  return shift == 0 ? low : low >> shift | digit[2] << (64 - shift);
}

/* Is any bit below `bit` set? */
RED_ROUND bool red_exact_any_below(const red_exact_magnitude *m, unsigned bit) {
  for (uint32_t i = m->first; i < m->last && i < bit / 32; i++)
    if (m->digit[i] != 0) return true;
  return bit / 32 < m->last && (m->digit[bit / 32] & (((uint32_t)1 << bit % 32) - 1)) != 0;
}

/* Forget zeros above the highest digit. */
RED_ROUND void red_exact_trim(red_exact_magnitude *m) {
  while (m->last > m->first && m->digit[m->last - 1] == 0) m->last--;
}

/* Less than 2^32; most divisions need 64 bits only. */
RED_ROUND uint32_t red_exact_quotient(unsigned __int128 rest, uint64_t n) {
  return (uint32_t)(rest >> 64 == 0 ? (uint64_t)rest / n : rest / n);
}

/* The magnitude divided by n, a fraction of a unit or a hundred bits below the highest one cut off; was any? */
RED_ROUND bool red_exact_divide(red_exact_magnitude *m, uint64_t n) {
  enum {
    ENOUGH = 4 /* digits: at least 97 bits */
  };
  unsigned __int128 rest = 0;
  unsigned found = 0;
  uint32_t i = m->last;
  while (i > 0 && found < ENOUGH && (rest != 0 || i > m->first)) {
    i--;
    rest = rest << 32 | m->digit[i];
    m->digit[i] = red_exact_quotient(rest, n);
    rest -= (unsigned __int128)m->digit[i] * n;
    if (found > 0 || m->digit[i] != 0) found++;
  }
  bool more = rest != 0;
  while (i > m->first) {
    more = m->digit[--i] != 0 || more;
    m->digit[i] = 0;
  }
  m->first = i < m->first ? i : m->first;
  red_exact_trim(m);
  return more;
}

/*
 * The greatest integer whose square is not above x, which is at least 2^126: an estimate that is 2^12 off at most, one
 * step of Newton's method that leaves less than 1 of that, and a search from just below.
 */
RED_ROUND uint64_t red_exact_integer_root(unsigned __int128 x) {
  double estimate = sqrt((double)(uint64_t)(x >> 64)) * 0x1p32;
  uint64_t root = estimate < 0x1p64 ? (uint64_t)estimate : UINT64_MAX;
  __int128 error = (__int128)(x - (unsigned __int128)root * root); /* below 2^78 either way */
  double step = (double)(int64_t)(error >> 16) * 0x1p16 / (2 * (double)root);
  root = root - 2 + (uint64_t)(int64_t)step;
  while (root < UINT64_MAX && (unsigned __int128)(root + 1) * (root + 1) <= x) root++;
  return root;
}

/*
 * The square root of a magnitude, cut off after 64 bits; was anything? A window of the highest 127 or 128 bits, at an
 * even distance from bit 0, has the root's bits.
 */
RED_ROUND bool red_exact_take_root(red_exact_magnitude *m) {
  int length = (int)(32 * m->last - red_exact_zeros_above(m->digit[m->last - 1]));
  int low = length - 128 + (length & 1); /* the window's lowest bit, may be below 0 */
  unsigned from = low > 0 ? (unsigned)low : 0;
  unsigned __int128 window = (unsigned __int128)red_exact_bits_from(m, from + 64) << 64 | red_exact_bits_from(m, from);
  if (low < 0) window <<= -low;
  uint64_t root = red_exact_integer_root(window);
  bool more = (unsigned __int128)root * root != window || red_exact_any_below(m, from);
  /* sqrt(window * 2^low * 2^-2148) = root * 2^(low / 2) * 2^-1074 */
  unsigned bit = (unsigned)(1074 + low / 2), shift = bit % 32;
  unsigned __int128 shifted = (unsigned __int128)root << shift;
  for (uint32_t i = 0; i < RED_EXACT_DIGITS; i++) m->digit[i] = 0;
  m->first = bit / 32;
  m->last = m->first + 3;
  for (unsigned k = 0; k < 3; k++) m->digit[m->first + k] = (uint32_t)(shifted >> 32 * k);
  red_exact_trim(m);
  return more;
}

/* ---- Rounding ---- */

/* The bits of the float nearest to a nonzero magnitude; `more` says that a fraction of a unit is missing from it. */
RED_ROUND uint64_t red_exact_round(const red_exact_magnitude *m, bool more, red_exact_format f) {
  uint64_t infinity = red_exact_infinity(f), sign = (uint64_t)m->negative << (f.bits - 1);
  unsigned top = 32 * m->last - 1 - red_exact_zeros_above(m->digit[m->last - 1]);
  unsigned quantum = top >= f.least + f.precision ? top - (f.precision - 1) : f.least; /* of the result's last bit */
  uint64_t kept = top >= quantum ? red_exact_bits_from(m, quantum) : 0;
  bool half = (red_exact_bits_from(m, quantum - 1) & 1) != 0;
  if (half && ((kept & 1) != 0 || more || red_exact_any_below(m, quantum - 1))) kept++;
  /* The hidden bit adds one to the exponent, and so does a carry out of the fraction. */
  uint64_t bits = ((uint64_t)(quantum - f.least) << (f.precision - 1)) + kept;
  return sign | (bits < infinity ? bits : infinity);
}

/* The result where flags alone decide; false if the digits do. */
RED_ROUND bool red_exact_special(uint32_t flags, red_exact_format f, uint64_t *bits) {
  uint64_t infinity = red_exact_infinity(f), sign = (uint64_t)1 << (f.bits - 1);
  uint32_t infinities = flags & RED_EXACT_INFINITIES;
  if ((flags & RED_EXACT_NAN) != 0 || infinities == RED_EXACT_INFINITIES)
    *bits = infinity | (uint64_t)1 << (f.precision - 2);
  else if (infinities != 0)
    *bits = infinities == RED_EXACT_PLUS_INF ? infinity : infinity | sign;
  else
    return false;
  return true;
}

/* The bits of the result: of `count` elements (init among them) with these flags and this magnitude, which it spoils.
 */
RED_ROUND uint64_t red_exact_rounded(uint32_t flags, red_exact_magnitude *m, red_finish finish, uint64_t count,
                                     red_dtype out) {
  red_exact_format f = red_exact_format_of(out);
  uint64_t bits;
  if (red_exact_special(flags, f, &bits)) return bits;
  if (m->last == 0) { /* zero is -0 only as a sum of elements that all are */
    bool minus = count > 0 && (flags & RED_EXACT_NOT_MINUS_ZERO) == 0;
    return (uint64_t)minus << (f.bits - 1);
  }
  bool more = false;
  if (finish == RED_FINISH_MEAN) more = red_exact_divide(m, count);
  if (finish == RED_FINISH_ROOT) more = red_exact_take_root(m);
  return red_exact_round(m, more, f);
}

#endif
