/* SPDX-License-Identifier: BSD-2-Clause */
/* How large and how fine the numbers of a block are, found by a minimum and a maximum of their bits. */
#ifndef RED_VEC_EXACT_LOOK_H
#define RED_VEC_EXACT_LOOK_H

#include "exact.h"
#include "ops.h"
#include "widen.h"

/* Magnitudes of the nonzero numbers lie below 2^top and are multiples of 2^bottom. */
typedef struct range {
  int top, bottom;
  bool special; /* an infinity or a NaN */
  bool zero;    /* nothing but zeros */
  bool hidden;  /* a zero may have hidden the least of the others, if they were glanced at */
} range;

typedef struct look {
  v_u8 most, least; /* bits of magnitudes, the latter less one */
} look;

INLINE look look_nowhere(void) {
  return (look){(v_u8){0}, v_splat_u8(0xff)};
}

INLINE v_u8 magnitudes(v_u8 bits, unsigned bytes) {
  return bytes == 8 ? (v_u8)((v_u64)bits & INT64_MAX) : (v_u8)((v_u32)bits & INT32_MAX);
}

/* Numbers of 64 bits are judged by their upper halves; taking one from all the bits lets zeros look largest. */
INLINE look look_at(look so_far, v_u8 bits, unsigned bytes) {
  v_u8 magnitude = magnitudes(bits, bytes);
  v_u8 less = bytes == 8 ? (v_u8)((v_u64)magnitude - 1) : (v_u8)((v_u32)magnitude - 1);
  return (look){v_max_u32(so_far.most, magnitude), v_min_u32(so_far.least, less)};
}

/* The same by one operation less, but for zeros, which then hide what else is small; or `closely`, as above. */
INLINE look glance_at(look so_far, v_u8 bits, unsigned bytes, bool closely) {
  if (closely) return look_at(so_far, bits, bytes);
  v_u8 magnitude = magnitudes(bits, bytes);
  return (look){v_max_u32(so_far.most, magnitude), v_min_u32(so_far.least, magnitude)};
}

/* At the upper halves of two vectors of f64; closely only if these are zeros or normal. */
INLINE look glance_at_two(look so_far, v_f64 x, v_f64 y, bool closely) {
  return glance_at(so_far, v_odd_32((v_u8)x, (v_u8)y), 4, closely);
}

/* A look at f64 as one at their upper halves. */
INLINE look upper_halves(look seen) {
  return (look){v_odd_32(seen.most, seen.most), v_odd_32(seen.least, seen.least)};
}

INLINE look look_merge(look a, look b) {
  return (look){v_max_u32(a.most, b.most), v_min_u32(a.least, b.least)};
}

/* Bits below the highest one of a number, and the lowest bit that one can have. */
INLINE int fraction_of(red_dtype in) {
  return in == RED_F16 ? 10 : in == RED_BF16 ? 7 : in == RED_F32 ? 23 : 52;
}
INLINE int least_bit_of(red_dtype in) {
  return in == RED_F16 ? -24 : in == RED_BF16 ? -133 : in == RED_F32 ? -149 : -1074;
}

/* `step`: 2 if the upper halves of f64 are every second word, 1 if all words count. */
INLINE range range_of_words(red_dtype in, look seen, unsigned step) {
  const unsigned wide = in == RED_F64, shift = wide ? 20 : 23;
  const int bias = wide ? 1023 : 127, infinity = wide ? 0x7ff : 0xff;
  const int fraction = fraction_of(in), least_bit = least_bit_of(in);
  for (unsigned group = VB / 2; group >= 4 * step; group /= 2) {
    seen.most = v_max_u32(seen.most, v_swap(seen.most, group));
    seen.least = v_min_u32(seen.least, v_swap(seen.least, group));
  }
  const uint32_t most = ((v_u32)seen.most)[step - 1], least = ((v_u32)seen.least)[step - 1];
  int high = (int)(most >> shift), low = (int)(least >> shift);
  range r = {.special = high >= infinity, .zero = most == 0 && least == UINT32_MAX, .hidden = least == 0};
  r.top = (high > 1 ? high : 1) - bias + 1;
  r.bottom = (low > 1 ? low : 1) - bias - fraction;
  if (r.bottom < least_bit) r.bottom = least_bit;
  return r;
}

INLINE range range_of(red_dtype in, look seen) {
  return range_of_words(in, seen, in == RED_F64 ? 2 : 1);
}

#endif
