/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of floats without rounding, a block in the nearest cache at a time. A look at a block finds how large and how
 * fine its numbers are; the cheapest way that this proves to be exact adds it up:
 *   - two f32 for elements of 16 bits and their products (exact_half.h);
 *   - doubles, where the whole block's sum has at most 53 bits (narrow inputs of moderate range);
 *   - two or three doubles, on a coarse grid and on finer ones for what that leaves (exact_fold.h; moderate ranges);
 *   - bins, for any numbers (exact_bins.h), unless something may be left out (exact_lossy.h).
 * The first two look while they add, and their result is thrown away if it turns out not to be exact. Infinities and
 * NaNs are flags.
 */
#ifndef RED_VEC_EXACT_BLOCK_H
#define RED_VEC_EXACT_BLOCK_H

#include "exact_half.h"

enum {
  MOST_TRUST = 15,
  BINNED_AHEAD = 16384, /* into the next cache: the bins need most of the nearest */
  BINS_PAY = 512        /* elements: adding fewer takes less time than emptying bins */
};

INLINE void add_scalars(terms t, size_t first, size_t n, red_exact *sum) {
  for (size_t i = first; i < n; i += LANES) {
    size_t here = n - i < LANES ? n - i : LANES;
    v_f64 x = last_terms_at(t, i, here);
    for (size_t k = 0; k < here; k++) red_exact_add_f64(sum, x[k]);
  }
}

/* False if there were infinities or NaNs: then the bins hold nothing of use, and flags decide. */
INLINE bool add_binned(terms t, size_t n, binning *to, red_exact *sum) {
  const unsigned bytes = bytes_of(t.in), width = bytes == 8 ? 8 : 4;
  const size_t group = 64 / width;
  look seen = look_nowhere();
  size_t i = 0;
  bins_prepare(to, t.in, (uint32_t)n, sum);
  for (; i + group <= n; i += group) {
    const uint8_t *at = t.p + i * bytes;
    __builtin_prefetch(at + BINNED_AHEAD, 0, 2);
    for (unsigned k = 0; k < 64 / VB; k++)
      seen.most = v_max_u32(seen.most, magnitudes(bits_at(t.in, at + k * (VB / width) * bytes), width));
    for (unsigned k = 0; k < group; k += LANES) {
      if (t.in == RED_F64)
        add_wide_vector(to->bins, at + k * bytes, terms_at(t, i + k), k);
      else
        add_narrow_vector(to->bins, t.in, at + k * bytes, terms_at(t, i + k), k / 2);
    }
  }
  add_scalars(t, i, n, sum);
  return !range_of(t.in, seen).special;
}

INLINE void store_terms(terms t, size_t n, double *to) {
  for (size_t i = 0; i < n; i += LANES)
    v_store(&to[i], (v_u8)(n - i < LANES ? last_terms_at(t, i, n - i) : terms_at(t, i)));
}

/* Bins want to find their numbers in memory. */
INLINE void add_any_product(terms t, size_t n, binning *to, red_exact *sum) {
  _Alignas(64) double value[BLOCK + LANES];
  store_terms(t, n, value);
  if (!add_binned((terms){RED_F64, RED_MAP_NONE, (const uint8_t *)value, NULL}, n, to, sum)) add_flags(t, n, sum);
}

/* A few numbers that were looked at: all are finite. */
INLINE void add_few(terms t, size_t n, red_exact *sum) {
  _Alignas(64) double value[BINS_PAY + LANES];
  store_terms(t, n, value);
  red_exact_add_all_scaled(sum, value, (unsigned)n, 0);
}

INLINE void add_any(terms t, size_t n, course *c, red_exact *sum) {
  if (n < BINS_PAY)
    add_few(t, n, sum);
  else if (multiplies(t.map))
    add_any_product(t, n, c->binning, sum);
  else if (!add_binned(t, n, c->binning, sum))
    add_flags(t, n, sum);
}

/* A block that is not looked at, because those before it needed the bins. */
INLINE bool is_trusted(course *c, size_t n, const red_exact *sum) {
  if (c->trust == 0 || n < BINS_PAY || (sum->flags & RED_EXACT_INFINITIES) != 0) return false;
  c->trust--;
  return true;
}

/* The more blocks in a row needed the bins, the longer the next ones are trusted to need them. */
INLINE void expect(course *c, bool wide) {
  c->trusted = wide && c->wide ? (c->trusted < MOST_TRUST ? 2 * c->trusted + 1 : c->trusted) : 0;
  c->trust = c->trusted;
  c->wide = wide;
}

/* A grid for the next folds, or the bins. */
INLINE void expect_range(range r, course *c) {
  bool found = find_grid(r, ADDS, 2, &c->grid);
  c->levels = found ? 2 : 3;
  if (c->levels == 3) found = find_grid(r, ADDS, 3, &c->grid);
  expect(c, !found);
  c->has_grid = true;
  c->folded = !is_plain(r);
}

/* By the first vector. */
INLINE bool guess_grid(terms t, size_t n, course *c) {
  if (n < VB / 4) return false;
  const range r = look_over(t, VB / 4);
  if (r.special || r.zero || !find_grid(sample_of(r), ADDS, 2, &c->grid)) return false;
  c->levels = 2;
  c->wide = false;
  return true;
}

/* False for the bins. */
INLINE bool add_in_folds(terms t, size_t n, course *c, red_exact *sum) {
  range r;
  if (!c->has_grid && guess_grid(t, n, c)) c->has_grid = true;
  if (!c->has_grid || (c->wide && !is_trusted(c, n, sum))) {
    r = look_over(t, n);
    if (is_settled(t, n, r, sum)) return true;
    expect_range(r, c);
  }
  while (!c->wide) {
    fold f[CHAINS];
    const int grid = c->grid;
    const unsigned levels = c->levels;
    r = levels == 2 ? add_folded(t, n, grid, 2, 0, &c->closely, f) : add_folded(t, n, grid, 3, 0, &c->closely, f);
    if (is_settled(t, n, r, sum)) return true;
    const bool suits = grid_suits(grid, r, ADDS, levels);
    if (suits) gather(&c->taken, f, CHAINS, grid, ADDS, levels, 0, sum);
    if (!suits || levels == 3) expect_range(r, c);
    c->folded = !is_plain(r);
    if (suits) return true;
  }
  return false;
}

/* A short array had better lose nothing, if it need not: what is certain costs no second look. */
INLINE bool add_without_bins(terms t, size_t n, course *c, red_exact *sum) {
  const bool exactly = c->loss == NULL || (n < BLOCK && !c->lossy);
  if (exactly && add_in_folds(t, n, c, sum)) return true;
  if (c->loss == NULL) return false;
  if (exactly) c->has_grid = false;
  c->lossy = true;
  return add_lossy(t, n, c, sum);
}

INLINE void add_block(terms t, size_t n, course *c, red_exact *sum) {
  if (t.in != RED_F64 && !multiplies(t.map) && !c->folded) {
    range r;
    double block = add_plain(t, n, &c->closely, &r);
    if (is_settled(t, n, r, sum)) return;
    if (is_plain(r)) {
      red_exact_add_scaled(sum, block, 0);
      return;
    }
    expect_range(r, c);
  }
  if (!add_without_bins(t, n, c, sum)) add_any(t, n, c, sum);
}

/* All of a kernel call, but for products of f64. */
INLINE void add_terms(red_dtype in, red_map map, const void *data, const void *data2, size_t n, red_exact *sum,
                      red_exact_loss *loss) {
  const unsigned bytes = bytes_of(in);
  bins room;
  binning b = {.bins = &room};
  course c = {.binning = &b, .loss = loss, .wide = loss != NULL};
  half_course h = {.wide = loss != NULL};
  const bool halves = bytes == 2 && n >= BLOCK; /* emptying them takes long, beside a short array */
  for (size_t i = 0; i < n && (sum->flags & RED_EXACT_NAN) == 0; i += BLOCK) {
    terms t = {in, map, (const uint8_t *)data + i * bytes, NULL};
    if (map == RED_MAP_PRODUCT) t.q = (const uint8_t *)data2 + i * bytes;
    const size_t here = n - i < BLOCK ? n - i : BLOCK;
    if (!halves || !add_halves(t, here, &h, loss, sum)) add_block(t, here, &c, sum);
  }
  if (halves) half_flush(&h, half_scale((terms){.in = in, .map = map}), sum);
  gathered_flush(&c.taken, ADDS, sum);
  if (b.used) bins_flush(&b, multiplies(map) ? RED_F64 : in, sum);
}

#endif
