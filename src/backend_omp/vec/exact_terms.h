/* SPDX-License-Identifier: BSD-2-Clause */
/* What exact sums add: elements, magnitudes, squares or products as vectors of f64, and a first look at them. */
#ifndef RED_VEC_EXACT_TERMS_H
#define RED_VEC_EXACT_TERMS_H

#include "exact_fold.h"

enum {
  AHEAD = 4096 /* bytes of prefetching */
};

/* Elements or their magnitudes; of types narrower than f64 also squares and products, which are doubles. */
typedef struct terms {
  red_dtype in;
  red_map map;
  const uint8_t *p, *q; /* q: the other factors of PRODUCT */
} terms;

INLINE unsigned bytes_of(red_dtype in) {
  return in == RED_F64 ? 8 : in == RED_F32 ? 4 : 2;
}

INLINE bool multiplies(red_map map) {
  return map == RED_MAP_PRODUCT || map == RED_MAP_SQUARE;
}

INLINE v_f64 map_f64(red_map map, v_f64 x, v_f64 y) {
  if (map == RED_MAP_ABS) return (v_f64)((v_u64)x & INT64_MAX);
  return multiplies(map) ? (v_f64)(x * y) : x;
}

INLINE v_f64 terms_at(terms t, size_t i) {
  const size_t offset = i * bytes_of(t.in);
  const v_f64 x = load_f64(t.in, t.p + offset);
  return map_f64(t.map, x, t.map == RED_MAP_PRODUCT ? load_f64(t.in, t.q + offset) : x);
}

/* The last, incomplete vector: -0 beyond the end. */
INLINE v_f64 widen_partial(red_dtype in, const uint8_t *p, size_t count) {
  const unsigned bytes = bytes_of(in);
  uint8_t padded[VB] = {0};
  for (size_t i = 0; i < LANES; i++) padded[i * bytes + bytes - 1] = 0x80;
  memcpy(padded, p, count * bytes);
  return load_f64(in, padded);
}

INLINE v_f64 last_terms_at(terms t, size_t i, size_t count) {
  const size_t offset = i * bytes_of(t.in);
  const v_f64 x = widen_partial(t.in, t.p + offset, count);
  return map_f64(t.map, x, t.map == RED_MAP_PRODUCT ? widen_partial(t.in, t.q + offset, count) : x);
}

/* Zeros, infinities and NaNs as they are, 1 or -1 for any other number. */
INLINE v_f64 kind_of(v_f64 x) {
  const v_u64 bits = (v_u64)x, below = (bits & INT64_MAX) - 1;
  const v_u64 kept = (v_u64)(below >= 0x7fefffffffffffff); /* all ones */
  const v_u64 unit = (bits & (uint64_t)1 << 63) | 0x3ff0000000000000;
  return (v_f64)((bits & kept) | (unit & ~kept));
}

/* One line of several: the others come with it, and asking for all of them keeps the core from asking for others. */
INLINE void prefetch(terms t, size_t i) {
  __builtin_prefetch(t.p + i * bytes_of(t.in) + AHEAD, 0, 2);
  if (t.map == RED_MAP_PRODUCT) __builtin_prefetch(t.q + i * bytes_of(t.in) + AHEAD, 0, 2);
}

/* ---- The first look ---- */

/* The bits of VB bytes of f64 or f32 at p, or of VB / 4 halves as f32. */
INLINE v_u8 bits_at(red_dtype in, const uint8_t *p) {
  return in == RED_F16 ? (v_u8)v_f32_from_f16(p) : in == RED_BF16 ? (v_u8)v_f32_from_bf16(p) : v_load(p);
}

/* A few more, whose last vector may be incomplete. */
INLINE look look_at_rest(look seen, red_dtype in, const uint8_t *p, size_t n) {
  const unsigned bytes = bytes_of(in), width = bytes == 8 ? 8 : 4;
  const size_t step = VB / width;
  for (size_t i = 0; i < n; i += step) {
    uint8_t padded[VB] = {0};
    memcpy(padded, p + i * bytes, (n - i < step ? n - i : step) * bytes);
    seen = look_at(seen, bits_at(in, padded), width);
  }
  return seen;
}

INLINE range look_over_bits(red_dtype in, const uint8_t *p, size_t n) {
  const unsigned bytes = bytes_of(in), width = bytes == 8 ? 8 : 4;
  const size_t step = VB / width;
  look seen[2] = {look_nowhere(), look_nowhere()};
  size_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step)
    for (unsigned k = 0; k < 2; k++) seen[k] = look_at(seen[k], bits_at(in, p + (i + k * step) * bytes), width);
  seen[0] = look_at_rest(seen[0], in, p + i * bytes, n - i);
  return range_of(in, look_merge(seen[0], seen[1]));
}

/* Of doubles that are elements or products of a narrower type: these have fewer bits below their highest. */
INLINE range range_of_terms(terms t, look seen, unsigned step) {
  range r = range_of_words(RED_F64, seen, step);
  if (t.in == RED_F64) return r;
  const int fraction = fraction_of(t.in), least_bit = least_bit_of(t.in);
  r.bottom += 52 - (multiplies(t.map) ? 2 * fraction + 1 : fraction);
  const int least = multiplies(t.map) ? 2 * least_bit : least_bit;
  if (r.bottom < least) r.bottom = least;
  return r;
}

INLINE range look_over(terms t, size_t n) {
  if (!multiplies(t.map)) return look_over_bits(t.in, t.p, n);
  look seen = look_nowhere();
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) seen = look_at(seen, (v_u8)terms_at(t, i), 8);
  if (i < n) seen = look_at(seen, (v_u8)last_terms_at(t, i, n - i), 8);
  return range_of_terms(t, seen, 2);
}

#endif
