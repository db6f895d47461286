/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of f64 whose products are added: a look at them, and flags. */
#ifndef RED_VEC_EXACT_FACTORS_H
#define RED_VEC_EXACT_FACTORS_H

#include <math.h>

#include "exact_block.h"

/* Without an instruction for it the error of a product takes longer than bins for the whole. */
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
#define FUSES true
#else
#define FUSES false
#endif

enum {
  LONG_BLOCK = 1024,
  LONG_CHAINS = VB == 64 ? 4 : 2,                     /* of folds of products, and as many of errors */
  LONG_ADDS = 10 - (VB == 64 ? 5 : VB == 32 ? 3 : 2), /* log2 of the terms that a lane takes */
};

typedef struct ranges {
  range x, y, value, error;
  int top;    /* products lie below 2^top, which may be far below both factors' tops */
  bool exact; /* each product is the sum of value and error */
} ranges;

/*
 * Of factors, and how large products are: the bits of a number are nearly its logarithm, and their sum, which may say
 * one binade too little, that of a product.
 */
typedef struct pair_look {
  look x, y;
  v_u8 most;
} pair_look;

INLINE pair_look look_at_no_pair(void) {
  return (pair_look){look_nowhere(), look_nowhere(), (v_u8){0}};
}

INLINE pair_look look_at_pair(pair_look so_far, red_map map, v_f64 x, v_f64 y) {
  so_far.x = look_at(so_far.x, (v_u8)x, 8);
  if (map != RED_MAP_PRODUCT) return so_far;
  const v_u8 sums = (v_u8)((v_u64)magnitudes((v_u8)x, 8) + (v_u64)magnitudes((v_u8)y, 8));
  so_far.y = look_at(so_far.y, (v_u8)y, 8);
  so_far.most = v_max_u32(so_far.most, sums);
  return so_far;
}

/* Factors have 53 bits above their bottom, and so have products, if all are normal. */
INLINE ranges ranges_of(look x, look y) {
  ranges r = {.x = range_of(RED_F64, x), .y = range_of(RED_F64, y)};
  const int top = r.x.top + r.y.top, bottom = r.x.bottom + r.y.bottom;
  r.top = top;
  r.value = (range){.top = top, .bottom = bottom + 52};
  r.error = (range){.top = top - 53, .bottom = bottom};
  r.exact = r.x.bottom > -1074 && r.y.bottom > -1074 && top <= 1023 && bottom >= -1074;
  return r;
}

INLINE ranges ranges_of_pairs(red_map map, pair_look seen) {
  ranges r = ranges_of(seen.x, map == RED_MAP_PRODUCT ? seen.y : seen.x);
  const int top = range_of(RED_F64, (look){seen.most, (v_u8){0}}).top - 1022; /* one bias and one binade more */
  if (map == RED_MAP_PRODUCT && top < r.top) r.top = top;
  return r;
}

INLINE v_f64 factors(const uint8_t *p, size_t i, size_t n) {
  return n - i >= LANES ? (v_f64)v_load(p + 8 * i) : widen_partial(RED_F64, p + 8 * i, n - i);
}

INLINE ranges look_over_factors(red_map map, const uint8_t *p, const uint8_t *q, size_t n) {
  pair_look seen = look_at_no_pair();
  for (size_t i = 0; i < n; i += LANES) seen = look_at_pair(seen, map, factors(p, i, n), factors(q, i, n));
  return ranges_of_pairs(map, seen);
}

INLINE double f64_at(const uint8_t *p, size_t i) {
  return ((const f64_unaligned *)p)[i];
}

/* Where a factor is an infinity or a NaN only flags come of the products: they sum up to an infinity or a NaN. */
static __attribute__((noinline)) void add_product_flags(const uint8_t *p, const uint8_t *q, size_t n, red_exact *sum) {
  v_f64 kinds = {0};
  for (size_t i = 0; i < n; i += LANES) kinds += kind_of(factors(p, i, n)) * kind_of(factors(q, i, n));
  red_exact_add_f64(sum, total(kinds));
}

/* Is there a product that is not -0? Most often the first one is not. */
INLINE void note_zeros(const uint8_t *p, const uint8_t *q, size_t n, red_exact *sum) {
  for (size_t i = 0; i < n && (sum->flags & RED_EXACT_NOT_MINUS_ZERO) == 0; i++) {
    const double x = f64_at(p, i), y = f64_at(q, i);
    if ((x != 0 && y != 0) || signbit(x) == signbit(y)) sum->flags |= RED_EXACT_NOT_MINUS_ZERO;
  }
}

INLINE bool products_are_settled(const uint8_t *p, const uint8_t *q, size_t n, const ranges *r, red_exact *sum) {
  const bool special = r->x.special || r->y.special;
  if (special) add_product_flags(p, q, n, sum);
  return special || r->x.zero || r->y.zero || (sum->flags & RED_EXACT_INFINITIES) != 0;
}

#endif
