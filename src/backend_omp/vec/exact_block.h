/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of floats without rounding, a block in the nearest cache at a time. A look at a block finds how large and how
 * fine its numbers are; the cheapest way that this proves to be exact adds it up:
 *   - doubles, where the whole block's sum has at most 53 bits (narrow inputs of moderate range);
 *   - two doubles, one on a coarse grid and one for what that leaves (f64 of moderate range);
 *   - bins, for any numbers (exact_bins.h).
 * The first two look while they add, and their result is thrown away if it turns out not to be exact. Infinities and
 * NaNs are flags.
 */
#ifndef RED_VEC_EXACT_BLOCK_H
#define RED_VEC_EXACT_BLOCK_H

#include "exact_bins.h"
#include "ops.h"
#include "widen.h"

enum {
  BLOCK = 2048, /* elements, at most */
  BLOCK_LOG2 = 11,
  LANES = VB / 8,
  MOST_TRUST = 15,
  AHEAD = 4096 /* bytes of prefetching */
};

INLINE unsigned bytes_of(red_dtype in) {
  return in == RED_F64 ? 8 : in == RED_F32 ? 4 : 2;
}

/* The last, incomplete vector: -0 beyond the end. */
INLINE v_f64 widen_partial(red_dtype in, const uint8_t *p, size_t count) {
  const unsigned bytes = bytes_of(in);
  uint8_t padded[VB] = {0};
  for (size_t i = 0; i < LANES; i++) padded[i * bytes + bytes - 1] = 0x80;
  memcpy(padded, p, count * bytes);
  return load_f64(in, padded);
}

/* ---- The first look ---- */

/* Magnitudes of the nonzero numbers lie below 2^top and are multiples of 2^bottom. */
typedef struct range {
  int top, bottom;
  bool special; /* an infinity or a NaN */
  bool zero;    /* nothing but zeros */
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

INLINE look look_merge(look a, look b) {
  return (look){v_max_u32(a.most, b.most), v_min_u32(a.least, b.least)};
}

INLINE range range_of(red_dtype in, look seen) {
  const unsigned wide = in == RED_F64, shift = wide ? 20 : 23, step = wide ? 2 : 1;
  const int bias = wide ? 1023 : 127, infinity = wide ? 0x7ff : 0xff;
  const int fraction = in == RED_F16 ? 10 : in == RED_BF16 ? 7 : in == RED_F32 ? 23 : 52;
  const int least_bit = in == RED_F16 ? -24 : in == RED_BF16 ? -133 : in == RED_F32 ? -149 : -1074;
  for (unsigned group = VB / 2; group >= 4 * step; group /= 2) {
    seen.most = v_max_u32(seen.most, v_swap(seen.most, group));
    seen.least = v_min_u32(seen.least, v_swap(seen.least, group));
  }
  const uint32_t most = ((v_u32)seen.most)[step - 1], least = ((v_u32)seen.least)[step - 1];
  int high = (int)(most >> shift), low = (int)(least >> shift);
  range r = {.special = high >= infinity, .zero = most == 0 && least == UINT32_MAX};
  r.top = (high > 1 ? high : 1) - bias + 1;
  r.bottom = (low > 1 ? low : 1) - bias - fraction;
  if (r.bottom < least_bit) r.bottom = least_bit;
  return r;
}

/* The bits of VB bytes of f64 or f32 at p, or of VB / 4 halves as f32. */
INLINE v_u8 bits_at(red_dtype in, const uint8_t *p) {
  return in == RED_F16 ? (v_u8)v_f32_from_f16(p) : in == RED_BF16 ? (v_u8)v_f32_from_bf16(p) : v_load(p);
}

INLINE range look_over(red_dtype in, const uint8_t *p, size_t n) {
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
INLINE double add_plain(red_dtype in, const uint8_t *p, size_t n, range *seen) {
  enum {
    STEP = VB / 4,
    UNROLL = 2
  };
  const unsigned bytes = bytes_of(in);
  v_f64 acc[2 * UNROLL];
  look looks[UNROLL];
  for (unsigned k = 0; k < 2 * UNROLL; k++) acc[k] = (v_f64){0};
  for (unsigned k = 0; k < UNROLL; k++) looks[k] = look_nowhere();
  size_t i = 0;
  for (; i + UNROLL * STEP <= n; i += UNROLL * STEP)
    for (unsigned k = 0; k < UNROLL; k++) {
      const uint8_t *at = p + (i + k * STEP) * bytes;
      __builtin_prefetch(at + AHEAD);
      looks[k] = look_at(looks[k], bits_at(in, at), 4);
      acc[2 * k] += load_f64(in, at);
      acc[2 * k + 1] += load_f64(in, at + LANES * bytes);
    }
  for (; i < n; i += STEP) {
    uint8_t padded[VB] = {0};
    memcpy(padded, p + i * bytes, (n - i < STEP ? n - i : STEP) * bytes);
    looks[0] = look_at(looks[0], bits_at(in, padded), 4);
    acc[0] += load_f64(in, padded);
    acc[1] += load_f64(in, padded + LANES * bytes);
  }
  for (unsigned k = 1; k < UNROLL; k++) {
    looks[0] = look_merge(looks[0], looks[k]);
    acc[0] += acc[2 * k];
    acc[1] += acc[2 * k + 1];
  }
  *seen = range_of(in, looks[0]);
  return total(acc[0] + acc[1]);
}

/*
 * `coarse` begins as 3/2 of a power of two so large that its last place, 2^grid, never changes: what it takes of x is x
 * rounded to the grid, and the rest of x is found exactly and summed in `fine`.
 */
typedef struct fold {
  v_f64 coarse, fine;
} fold;

INLINE fold fold_in(fold f, v_f64 x) {
  v_f64 coarse = f.coarse + x;
  return (fold){coarse, f.fine + (x - (coarse - f.coarse))};
}

INLINE double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/* The coarse sums stay below 2^51 of the grid, the fine ones below 2^53 of the unit. */
INLINE bool grid_suits(int grid, range r) {
  return r.top + BLOCK_LOG2 <= grid + 51 && grid - 1 + BLOCK_LOG2 - r.bottom <= 53;
}

/* Whether there is a grid, and one with some room for larger numbers; the power of two must be finite and normal. */
INLINE bool find_grid(range r, int *grid) {
  int least = r.top + BLOCK_LOG2 - 51, most = r.bottom + 54 - BLOCK_LOG2;
  if (least < -1074) least = -1074;
  if (most > 970) most = 970;
  *grid = least + 3 < most ? least + 3 : most;
  return least <= most;
}

typedef struct folded {
  double coarse, fine;
} folded;

/* The sum of a block, right if grid_suits() what was seen. */
INLINE folded add_folded(const uint8_t *p, size_t n, int grid, range *seen) {
  const v_f64 start = (v_f64){0} + 1.5 * power_of_two(grid + 52);
  fold f[CHAINS];
  look looks[2] = {look_nowhere(), look_nowhere()};
  for (unsigned k = 0; k < CHAINS; k++) f[k] = (fold){start, (v_f64){0}};
  size_t i = 0;
  for (; i + CHAINS * LANES <= n; i += CHAINS * LANES)
    for (unsigned k = 0; k < CHAINS; k++) {
      v_u8 x = v_load(p + (i + k * LANES) * 8);
      __builtin_prefetch(p + (i + k * LANES) * 8 + AHEAD);
      looks[k % 2] = look_at(looks[k % 2], x, 8);
      f[k] = fold_in(f[k], (v_f64)x);
    }
  for (; i < n; i += LANES) {
    v_f64 x = (v_f64){0};
    memcpy(&x, p + i * 8, (n - i < LANES ? n - i : LANES) * 8);
    looks[0] = look_at(looks[0], (v_u8)x, 8);
    f[0] = fold_in(f[0], x);
  }
  v_f64 coarse = (v_f64){0}, fine = (v_f64){0};
  for (unsigned k = 0; k < CHAINS; k++) {
    coarse += f[k].coarse - start;
    fine += f[k].fine;
  }
  *seen = range_of(RED_F64, look_merge(looks[0], looks[1]));
  return (folded){total(coarse), total(fine)};
}

INLINE void add_scalars(red_dtype in, const uint8_t *p, size_t n, red_exact *sum) {
  const unsigned bytes = bytes_of(in);
  for (size_t i = 0; i < n; i += LANES) {
    size_t here = n - i < LANES ? n - i : LANES;
    v_f64 x = widen_partial(in, p + i * bytes, here);
    for (size_t k = 0; k < here; k++) red_exact_add_f64(sum, x[k]);
  }
}

/* False if there were infinities or NaNs: then the bins hold nothing of use, and flags decide. */
INLINE bool add_binned(red_dtype in, const uint8_t *p, size_t n, binning *to, red_exact *sum) {
  const unsigned bytes = bytes_of(in), width = bytes == 8 ? 8 : 4;
  const size_t group = 64 / width, ahead = BLOCK * bytes; /* the block itself is in the cache */
  look seen = look_nowhere();
  size_t i = 0;
  bins_prepare(to, in, (uint32_t)n, sum);
  for (; i + group <= n; i += group) {
    const uint8_t *at = p + i * bytes;
    __builtin_prefetch(at + ahead);
    for (unsigned k = 0; k < 64 / VB; k++)
      seen.most = v_max_u32(seen.most, magnitudes(bits_at(in, at + k * (VB / width) * bytes), width));
    if (in == RED_F64)
      for (unsigned k = 0; k < group; k += LANES) add_wide_vector(to->bins, at + k * bytes, k);
    else
      for (unsigned k = 0; k < group; k += 4) add_narrow_four(to->bins, in, at + k * bytes, k % NARROW_COLUMNS);
  }
  add_scalars(in, p + i * bytes, n - i, sum);
  return !range_of(in, seen).special;
}

/* Which zeros, or which infinities and NaNs: only flags come of them. */
INLINE void add_flags(red_dtype in, const uint8_t *p, size_t n, red_exact *sum) {
  const unsigned bytes = bytes_of(in);
  for (size_t i = 0; i < n; i += LANES) {
    size_t here = n - i < LANES ? n - i : LANES;
    v_f64 x = widen_partial(in, p + i * bytes, here);
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
  bool has_grid;
  int grid; /* that suited a block before */
} course;

/*
 * Flags of a block whose numbers need not, or must not, be added: true. Once there is an infinity no number matters,
 * once there is a NaN nothing does.
 */
INLINE bool is_settled(red_dtype in, const uint8_t *p, size_t n, range r, red_exact *sum) {
  bool known = r.zero && (sum->flags & RED_EXACT_NOT_MINUS_ZERO) != 0;
  if ((r.special || r.zero) && !known) add_flags(in, p, n, sum);
  if (!r.zero) sum->flags |= RED_EXACT_NOT_MINUS_ZERO;
  return r.special || r.zero || (sum->flags & RED_EXACT_INFINITIES) != 0;
}

INLINE void add_any(red_dtype in, const uint8_t *p, size_t n, course *c, red_exact *sum) {
  if (n < (in == RED_F64 ? 512 : 64)) /* emptying the bins would take longer */
    add_scalars(in, p, n, sum);
  else if (!add_binned(in, p, n, c->binning, sum))
    add_flags(in, p, n, sum);
}

/* A block that is not looked at, because those before it needed the bins. */
INLINE bool is_trusted(course *c, const red_exact *sum) {
  if (c->trust == 0 || (sum->flags & RED_EXACT_INFINITIES) != 0) return false;
  c->trust--;
  return true;
}

/* The more blocks in a row needed the bins, the longer the next ones are trusted to need them. */
INLINE void expect(course *c, bool wide) {
  c->trusted = wide && c->wide ? (c->trusted < MOST_TRUST ? 2 * c->trusted + 1 : c->trusted) : 0;
  c->trust = c->trusted;
  c->wide = wide;
}

INLINE void add_block_narrow(red_dtype in, const uint8_t *p, size_t n, course *c, red_exact *sum) {
  range r;
  if (c->wide && !is_trusted(c, sum)) {
    r = look_over(in, p, n);
    if (is_settled(in, p, n, r, sum)) return;
    expect(c, !is_plain(r));
  }
  if (!c->wide) {
    double block = add_plain(in, p, n, &r);
    if (is_settled(in, p, n, r, sum)) return;
    if (is_plain(r)) {
      red_exact_add_scaled(sum, block, 0);
      return;
    }
    expect(c, true);
  }
  add_any(in, p, n, c, sum);
}

static __attribute__((noinline)) void add_block_wide(const uint8_t *p, size_t n, course *c, red_exact *sum) {
  range r;
  if (!c->has_grid || (c->wide && !is_trusted(c, sum))) {
    r = look_over(RED_F64, p, n);
    if (is_settled(RED_F64, p, n, r, sum)) return;
    c->has_grid = true;
    expect(c, !find_grid(r, &c->grid));
  }
  while (!c->wide) {
    folded block = add_folded(p, n, c->grid, &r);
    if (is_settled(RED_F64, p, n, r, sum)) return;
    if (grid_suits(c->grid, r)) {
      red_exact_add_scaled(sum, block.coarse, 0);
      red_exact_add_scaled(sum, block.fine, 0);
      return;
    }
    expect(c, !find_grid(r, &c->grid));
  }
  add_any(RED_F64, p, n, c, sum);
}

#endif
