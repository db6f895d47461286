/* SPDX-License-Identifier: BSD-2-Clause */
/* A block of terms in doubles, looked at while it is added: the sum is right if what was seen says so. */
#ifndef RED_VEC_EXACT_SUM_H
#define RED_VEC_EXACT_SUM_H

#include "exact_bins.h"
#include "exact_terms.h"

enum {
  BLOCK = 2048, /* elements, at most */
  BLOCK_LOG2 = 11,
  CHAINS = 4,
  ADDS = BLOCK_LOG2 - (VB == 64 ? 5 : VB == 32 ? 4 : 3) /* log2 of the terms that a lane of a chain takes */
};

INLINE double total(v_f64 x) {
  return ((v_f64)v_fold(RED_ADD_F64, (v_u8)x))[0];
}

/* Every partial sum is a multiple of 2^bottom below 2^(top + BLOCK_LOG2). */
INLINE bool is_plain(range r) {
  return r.top + BLOCK_LOG2 - r.bottom <= 53;
}

INLINE double add_seen(terms t, size_t n, bool closely, range *seen) {
  enum {
    STEP = VB / 4,
    UNROLL = 2
  };
  const unsigned bytes = bytes_of(t.in);
  v_f64 acc[2 * UNROLL];
  look looks[UNROLL];
  for (unsigned k = 0; k < 2 * UNROLL; k++) acc[k] = (v_f64){0};
  for (unsigned k = 0; k < UNROLL; k++) looks[k] = look_nowhere();
  size_t i = 0;
  for (; i + UNROLL * STEP <= n; i += UNROLL * STEP) {
    prefetch(t, i);
    for (unsigned k = 0; k < UNROLL; k++) {
      looks[k] = glance_at(looks[k], bits_at(t.in, t.p + (i + k * STEP) * bytes), 4, closely);
      acc[2 * k] += terms_at(t, i + k * STEP);
      acc[2 * k + 1] += terms_at(t, i + k * STEP + LANES);
    }
  }
  for (; i < n; i += STEP) {
    uint8_t padded[VB] = {0};
    const terms last = {t.in, t.map, padded, NULL};
    memcpy(padded, t.p + i * bytes, (n - i < STEP ? n - i : STEP) * bytes);
    looks[0] = look_at(looks[0], bits_at(t.in, padded), 4);
    acc[0] += terms_at(last, 0);
    acc[1] += terms_at(last, LANES);
  }
  for (unsigned k = 1; k < UNROLL; k++) {
    looks[0] = look_merge(looks[0], looks[k]);
    acc[0] += acc[2 * k];
    acc[1] += acc[2 * k + 1];
  }
  *seen = range_of(t.in, looks[0]);
  return total(acc[0] + acc[1]);
}

/*
 * The sum of a block, right if is_plain() of what was seen. Where there was a zero there will be others, and what
 * follows is looked at closely.
 */
INLINE double add_plain(terms t, size_t n, bool *closely, range *seen) {
  if (*closely) return add_seen(t, n, true, seen);
  const double sum = add_seen(t, n, false, seen);
  *closely = seen->hidden;
  if (*closely) *seen = look_over(t, n);
  return sum;
}

/* Times 2^-scale */
INLINE v_f64 scaled_down(v_f64 x, unsigned scale) {
  const double factor = 1 / (double)((uint64_t)1 << scale);
  return scale > 0 ? (v_f64)(x * factor) : x;
}

/*
 * What is looked at of the terms x: of f64 the elements' own bits, as a compiler may make a product of x, times 1, and
 * that is zero for a subnormal x where these are flushed (exact_lossy.h).
 */
INLINE v_u8 seen_at(terms t, size_t i, v_f64 x) {
  return t.in == RED_F64 ? v_load(t.p + 8 * i) : (v_u8)x;
}
INLINE v_u8 last_seen_at(terms t, size_t i, size_t count, v_f64 x) {
  return t.in == RED_F64 ? (v_u8)widen_partial(RED_F64, t.p + 8 * i, count) : (v_u8)x;
}

INLINE range fold_seen(terms t, size_t n, int grid, unsigned levels, unsigned scale, bool closely, fold *f) {
  const bool as_f32 =
      t.in == RED_F32 && !multiplies(t.map); /* looked at before they are widened, two vectors at once */
  look looks[2] = {look_nowhere(), look_nowhere()}, whole[2] = {look_nowhere(), look_nowhere()};
  for (unsigned k = 0; k < CHAINS; k++) f[k] = fold_start(grid - (int)scale, ADDS, levels);
  size_t i = 0;
  for (; i + CHAINS * LANES <= n; i += CHAINS * LANES) {
    prefetch(t, i);
    for (unsigned k = 0; k < CHAINS; k += 2) {
      const v_f64 x = terms_at(t, i + k * LANES), y = terms_at(t, i + (k + 1) * LANES);
      if (as_f32)
        looks[k / 2] = glance_at(looks[k / 2], bits_at(t.in, t.p + (i + k * LANES) * 4), 4, closely);
      else if (closely && t.in == RED_F64)
        whole[k / 2] =
            look_at(look_at(whole[k / 2], seen_at(t, i + k * LANES, x), 8), seen_at(t, i + (k + 1) * LANES, y), 8);
      else
        looks[k / 2] = glance_at_two(looks[k / 2], (v_f64)seen_at(t, i + k * LANES, x),
                                     (v_f64)seen_at(t, i + (k + 1) * LANES, y), closely);
      f[k] = fold_in(f[k], scaled_down(x, scale), levels);
      f[k + 1] = fold_in(f[k + 1], scaled_down(y, scale), levels);
    }
  }
  if (as_f32) looks[0] = look_at_rest(looks[0], t.in, t.p + i * 4, n - i);
  for (unsigned k = 0; k < CHAINS; k++, i += LANES) {
    if (i >= n) break;
    v_f64 x = n - i < LANES ? last_terms_at(t, i, n - i) : terms_at(t, i);
    if (!as_f32) whole[0] = look_at(whole[0], n - i < LANES ? last_seen_at(t, i, n - i, x) : seen_at(t, i, x), 8);
    f[k] = fold_in(f[k], scaled_down(x, scale), levels);
  }
  const look seen = look_merge(looks[0], looks[1]);
  if (as_f32) return range_of(t.in, seen);
  return range_of_terms(t, look_merge(seen, upper_halves(look_merge(whole[0], whole[1]))), 1);
}

/* Fold a block's terms, times 2^-scale, into f[CHAINS], which is right if grid_suits() what was seen. */
INLINE range add_folded(terms t, size_t n, int grid, unsigned levels, unsigned scale, bool *closely, fold *f) {
  const bool pays = !multiplies(t.map) && levels < 3 && scale == 0;
  if (!pays || *closely) return fold_seen(t, n, grid, levels, scale, true, f);
  const range r = fold_seen(t, n, grid, levels, scale, false, f);
  *closely = r.hidden;
  return r.hidden ? look_over(t, n) : r;
}

/* Which zeros, or which infinities and NaNs: only flags come of them, or of their sum. */
INLINE void add_flags(terms t, size_t n, red_exact *sum) {
  v_f64 kinds = (v_f64)v_splat_u64((uint64_t)1 << 63); /* -0, which leaves a sum its sign */
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) kinds += kind_of(terms_at(t, i));
  if (i < n) {
    const v_f64 last = kind_of(last_terms_at(t, i, n - i));
    for (size_t k = 0; k < n - i; k++) kinds[k] += last[k];
  }
  red_exact_add_f64(sum, total(kinds));
}

/* What is known of a kernel call's data so far. */
typedef struct course {
  binning *binning;
  red_exact_loss *loss; /* NULL if nothing may be left out */
  bool lossy;           /* something may have been */
  bool wide;            /* the last block went to the bins, or lost something: so may the next one */
  unsigned trust;       /* so many more blocks need no look for that, */
  unsigned trusted;     /* as after the last look */
  bool closely;         /* there was a zero: blocks are looked at, not glanced at */
  bool folded;          /* narrow sums: the last block was more than a double holds */
  bool has_grid;
  int grid;        /* that suited a block before, */
  unsigned levels; /* with so many parts */
  gathered taken;
} course;

/*
 * Flags of a block whose numbers need not, or must not, be added: true. Once there is an infinity no number matters,
 * once there is a NaN nothing does.
 */
INLINE bool is_settled(terms t, size_t n, range r, red_exact *sum) {
  const bool known = (sum->flags & RED_EXACT_NOT_MINUS_ZERO) != 0;
  if (r.special || (r.zero && !known)) add_flags(t, n, sum);
  if (!r.zero) sum->flags |= RED_EXACT_NOT_MINUS_ZERO;
  return r.special || r.zero || (sum->flags & RED_EXACT_INFINITIES) != 0;
}

#endif
