/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of floats without rounding, a block in the nearest cache at a time. A look at a block finds how large and how
 * fine its numbers are; the cheapest way that this proves to be exact adds it up:
 *   - doubles, where the whole block's sum has at most 53 bits (narrow inputs of moderate range);
 *   - two or three doubles, on a coarse grid and on finer ones for what that leaves (exact_fold.h; moderate ranges);
 *   - bins, for any numbers (exact_bins.h).
 * The first two look while they add, and their result is thrown away if it turns out not to be exact. Infinities and
 * NaNs are flags.
 */
#ifndef RED_VEC_EXACT_BLOCK_H
#define RED_VEC_EXACT_BLOCK_H

#include "exact_bins.h"
#include "exact_fold.h"

enum {
  BLOCK = 2048, /* elements, at most */
  BLOCK_LOG2 = 11,
  MOST_TRUST = 15,
  AHEAD = 4096,         /* bytes of prefetching */
  BINNED_AHEAD = 16384, /* into the next cache: the bins need most of the nearest */
  BINS_PAY = 512        /* elements: adding fewer takes less time than emptying bins */
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

INLINE range look_over_bits(red_dtype in, const uint8_t *p, size_t n) {
  const unsigned bytes = bytes_of(in), width = bytes == 8 ? 8 : 4;
  const size_t step = VB / width;
  look seen[2] = {look_nowhere(), look_nowhere()};
  size_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step)
    for (unsigned k = 0; k < 2; k++) seen[k] = look_at(seen[k], bits_at(in, p + (i + k * step) * bytes), width);
  for (; i < n; i += step) {
    uint8_t padded[VB] = {0};
    memcpy(padded, p + i * bytes, (n - i < step ? n - i : step) * bytes);
    seen[0] = look_at(seen[0], bits_at(in, padded), width);
  }
  return range_of(in, look_merge(seen[0], seen[1]));
}

/* Of doubles that are elements or products of a narrower type: these have fewer bits below their highest. */
INLINE range range_of_terms(terms t, look seen) {
  range r = range_of(RED_F64, seen);
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
  return range_of_terms(t, seen);
}

/* ---- Adding a block ---- */

enum {
  CHAINS = 4
};

INLINE double total(v_f64 x) {
  return ((v_f64)v_fold(RED_ADD_F64, (v_u8)x))[0];
}

/* Every partial sum is a multiple of 2^bottom below 2^(top + BLOCK_LOG2). */
INLINE bool is_plain(range r) {
  return r.top + BLOCK_LOG2 - r.bottom <= 53;
}

/* The sum of a block, right if is_plain() of what was seen. */
INLINE double add_plain(terms t, size_t n, range *seen) {
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
      looks[k] = look_at(looks[k], bits_at(t.in, t.p + (i + k * STEP) * bytes), 4);
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

enum {
  ADDS = BLOCK_LOG2 - (VB == 64 ? 5 : VB == 32 ? 4 : 3) /* log2 of the terms that a lane of a chain takes */
};

/* Fold a block's terms into f[CHAINS], which is right if grid_suits() what was seen. */
INLINE range add_folded(terms t, size_t n, int grid, unsigned levels, fold *f) {
  look looks[2] = {look_nowhere(), look_nowhere()};
  for (unsigned k = 0; k < CHAINS; k++) f[k] = fold_start(grid, ADDS, levels);
  size_t i = 0;
  for (; i + CHAINS * LANES <= n; i += CHAINS * LANES) {
    prefetch(t, i);
    for (unsigned k = 0; k < CHAINS; k++) {
      v_f64 x = terms_at(t, i + k * LANES);
      looks[k % 2] = look_at(looks[k % 2], (v_u8)x, 8);
      f[k] = fold_in(f[k], x, levels);
    }
  }
  for (unsigned k = 0; k < CHAINS; k++, i += LANES) {
    if (i >= n) break;
    v_f64 x = n - i < LANES ? last_terms_at(t, i, n - i) : terms_at(t, i);
    looks[0] = look_at(looks[0], (v_u8)x, 8);
    f[k] = fold_in(f[k], x, levels);
  }
  return range_of_terms(t, look_merge(looks[0], looks[1]));
}

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

/* Which zeros, or which infinities and NaNs: only flags come of them. */
INLINE void add_flags(terms t, size_t n, red_exact *sum) {
  for (size_t i = 0; i < n; i += LANES) {
    size_t here = n - i < LANES ? n - i : LANES;
    v_f64 x = last_terms_at(t, i, here);
    for (size_t k = 0; k < here; k++)
      if (x[k] == 0 || x[k] - x[k] != 0) red_exact_add_f64(sum, x[k]);
  }
}

/* What is known of a kernel call's data so far. */
typedef struct course {
  binning *binning;
  bool wide;        /* the last block went to the bins: the next one is not expected to do without */
  unsigned trust;   /* so many more blocks need no look for that, */
  unsigned trusted; /* as after the last look */
  bool folded;      /* narrow sums: the last block was more than a double holds */
  bool has_grid;
  int grid;        /* that suited a block before, */
  unsigned levels; /* with so many parts */
} course;

/*
 * Flags of a block whose numbers need not, or must not, be added: true. Once there is an infinity no number matters,
 * once there is a NaN nothing does.
 */
INLINE bool is_settled(terms t, size_t n, range r, red_exact *sum) {
  bool known = r.zero && (sum->flags & RED_EXACT_NOT_MINUS_ZERO) != 0;
  if ((r.special || r.zero) && !known) add_flags(t, n, sum);
  if (!r.zero) sum->flags |= RED_EXACT_NOT_MINUS_ZERO;
  return r.special || r.zero || (sum->flags & RED_EXACT_INFINITIES) != 0;
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

/* Elements of narrower types: folding them in three parts takes as long as bins. */
INLINE bool is_narrow_sum(terms t) {
  return t.in != RED_F64 && !multiplies(t.map);
}

/* A grid for the next folds, or the bins. */
INLINE void expect_range(terms t, range r, course *c) {
  bool found = find_grid(r, ADDS, 2, &c->grid);
  c->levels = found || is_narrow_sum(t) ? 2 : 3;
  if (c->levels == 3) found = find_grid(r, ADDS, 3, &c->grid);
  expect(c, !found);
  c->has_grid = true;
  c->folded = !is_plain(r);
}

INLINE void add_block_wide(terms t, size_t n, course *c, red_exact *sum) {
  range r;
  if (!c->has_grid || (c->wide && !is_trusted(c, n, sum))) {
    r = look_over(t, n);
    if (is_settled(t, n, r, sum)) return;
    expect_range(t, r, c);
  }
  while (!c->wide) {
    fold f[CHAINS];
    const int grid = c->grid;
    const unsigned levels = c->levels;
    r = levels == 2 || is_narrow_sum(t) ? add_folded(t, n, grid, 2, f) : add_folded(t, n, grid, 3, f);
    if (is_settled(t, n, r, sum)) return;
    const bool suits = grid_suits(grid, r, ADDS, levels);
    if (suits) add_folds(f, CHAINS, grid, ADDS, levels, sum);
    if (!suits || levels == 3) expect_range(t, r, c);
    c->folded = !is_plain(r);
    if (suits) return;
  }
  add_any(t, n, c, sum);
}

INLINE void add_block(terms t, size_t n, course *c, red_exact *sum) {
  if (is_narrow_sum(t) && !c->folded) {
    range r;
    double block = add_plain(t, n, &r);
    if (is_settled(t, n, r, sum)) return;
    if (is_plain(r)) {
      red_exact_add_scaled(sum, block, 0);
      return;
    }
    expect_range(t, r, c);
  }
  add_block_wide(t, n, c, sum);
}

/* All of a kernel call, but for products of f64. */
INLINE void add_terms(red_dtype in, red_map map, const void *data, const void *data2, size_t n, red_exact *sum) {
  const unsigned bytes = bytes_of(in);
  bins room;
  binning b = {.bins = &room};
  course c = {.binning = &b};
  for (size_t i = 0; i < n && (sum->flags & RED_EXACT_NAN) == 0; i += BLOCK) {
    terms t = {in, map, (const uint8_t *)data + i * bytes, NULL};
    if (map == RED_MAP_PRODUCT) t.q = (const uint8_t *)data2 + i * bytes;
    add_block(t, n - i < BLOCK ? n - i : BLOCK, &c, sum);
  }
  if (b.used) bins_flush(&b, multiplies(map) ? RED_F64 : in, sum);
}

#endif
