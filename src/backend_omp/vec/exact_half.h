/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of f16 and bf16 as folds (exact_fold.h) in f32, which take half the room of doubles: 24 bits are little, but
 * these types have 11 and 8. Two parts hold what lies within some 35 binades of a block. What the parts have
 * taken is kept as integers from block to block.
 */
#ifndef RED_VEC_EXACT_HALF_H
#define RED_VEC_EXACT_HALF_H

#include "exact_lossy.h"

enum {
  HALF_CHAINS = 4,
  HALF_ADDS = BLOCK_LOG2 - 2 - (VB == 64 ? 4 : VB == 32 ? 3 : 2), /* log2 of the terms that a lane of a chain takes */
  HALF_PLACES = 22,        /* log2 of the places above and below its start that a part may take */
  HALF_LEAST = -149,       /* the smallest f32 */
  HALF_FLUSH_LEAST = -124, /* as FLUSH_LEAST */
  HALF_MOST_GRID = 103,    /* 3/2 of 2^(103 + 23) is finite, and so is twice that */
  HALF_BLOCKS = 1 << 6,    /* in an integer of 32 bits, HALF_CHAINS times 2^HALF_PLACES each */
  HALF_MOST_SKIP = 15
};

/* ---- Terms: products of two f32, of an element and a power of two or another element ---- */

/* Sums of bf16 are scaled down, lest they overflow; the smallest bf16 times 2^-16 is the smallest f32. */
INLINE int half_scale(terms t) {
  return t.in == RED_BF16 && !multiplies(t.map) ? 16 : 0;
}

/* The other factor of an element in a sum. */
INLINE v_f32 half_unit(red_dtype in) {
  v_f32 unit = (v_f32){0} + (in == RED_BF16 ? 0x1p-16f : 1.0f);
#ifdef SPARE_MULTIPLIERS
  __asm__("" : "+v"(unit)); /* as v_one_f32() */
#endif
  return unit;
}

/* x * y, which is exact or cut off below the smallest f32, + a */
INLINE v_f32 half_add(v_f32 x, v_f32 y, v_f32 a) {
#ifdef SPARE_MULTIPLIERS
  return v_fma_f32(x, y, a);
#else
  return (v_f32)(x * y) + a;
#endif
}

/* Twice VB / 4 elements, in any order. */
INLINE void load_halves(terms t, const uint8_t *p, v_f32 x[2]) {
  const uint32_t kept = t.map == RED_MAP_ABS ? INT32_MAX : UINT32_MAX;
  const v_u32 bits = (v_u32)v_load(p);
  const v_u32 a = t.in == RED_F16 ? (v_u32)v_f32_from_f16(p) : (v_u32)(bits << 16);
  const v_u32 b = t.in == RED_F16 ? (v_u32)v_f32_from_f16(p + VB / 2) : (v_u32)(bits & 0xffff0000);
  x[0] = (v_f32)(a & kept);
  x[1] = (v_f32)(b & kept);
}

/* ---- What is seen ---- */

/* As look_at() and glance_at(); f16 are multiples of 2^-24, which is fine enough to look no closer. */
INLINE look look_at_halves(look seen, red_dtype in, v_u8 bits, bool closely) {
  const v_u16 magnitude = (v_u16)((v_u16)bits & INT16_MAX), least = (v_u16)(magnitude - (uint16_t)closely);
  return (look){v_max_u16(seen.most, (v_u8)magnitude), in == RED_F16 ? seen.least : v_min_u16(seen.least, (v_u8)least)};
}

INLINE range range_of_halves(red_dtype in, look seen) {
  const int fraction = fraction_of(in), bias = in == RED_F16 ? 15 : 127;
  for (unsigned group = VB / 2; group >= 2; group /= 2) {
    seen.most = v_max_u16(seen.most, v_swap(seen.most, group));
    seen.least = v_min_u16(seen.least, v_swap(seen.least, group));
  }
  const int most = ((v_u16)seen.most)[0], least = ((v_u16)seen.least)[0];
  const int high = most >> fraction, low = least >> fraction;
  range r = {.special = high > 2 * bias, .zero = most == 0, .hidden = least == 0};
  r.top = (high > 1 ? high : 1) - bias + 1;
  r.bottom = in == RED_F16 ? least_bit_of(in) : (low > 1 ? low : 1) - bias - fraction;
  return r;
}

/* What is seen of the elements, and of the other factors if there are any. */
typedef struct half_looks {
  look x, y;
} half_looks;

INLINE void look_at_both(half_looks *seen, terms t, const uint8_t *p, const uint8_t *q, bool closely) {
  seen->x = look_at_halves(seen->x, t.in, v_load(p), closely);
  if (t.map == RED_MAP_PRODUCT) seen->y = look_at_halves(seen->y, t.in, v_load(q), closely);
}

INLINE range range_of_half_terms(terms t, half_looks seen) {
  const range x = range_of_halves(t.in, seen.x);
  if (!multiplies(t.map)) return x;
  const range y = t.map == RED_MAP_PRODUCT ? range_of_halves(t.in, seen.y) : x;
  return (range){.top = x.top + y.top,
                 .bottom = x.bottom + y.bottom,
                 .special = x.special || y.special,
                 .zero = x.zero || y.zero,
                 .hidden = x.hidden || y.hidden};
}

/* VB / 2 elements, and other factors, from i on, zeros behind the last one. */
typedef struct padded_halves {
  uint8_t p[VB], q[VB];
} padded_halves;

INLINE void pad_halves(terms t, size_t i, size_t n, padded_halves *to) {
  const size_t bytes = 2 * (n - i < VB / 2 ? n - i : VB / 2);
  memset(to->p, 0, VB);
  memcpy(to->p, t.p + 2 * i, bytes);
  if (t.map != RED_MAP_PRODUCT) return;
  memset(to->q, 0, VB);
  memcpy(to->q, t.q + 2 * i, bytes);
}

INLINE range look_over_halves(terms t, size_t n) {
  half_looks seen = {look_nowhere(), look_nowhere()};
  for (size_t i = 0; i < n; i += VB / 2) {
    padded_halves here;
    pad_halves(t, i, n, &here);
    look_at_both(&seen, t, here.p, here.q, true);
  }
  return range_of_half_terms(t, seen);
}

/* ---- Folds ---- */

typedef struct half_fold {
  v_f32 coarse, fine;
} half_fold;

INLINE v_f32 half_start(int grid) {
  return (v_f32)((v_u32){0} + ((uint32_t)(grid + 23 + 127) << 23 | (uint32_t)1 << 22));
}

INLINE int half_finer(int grid) {
  const int fine = grid + HALF_ADDS - 1 - HALF_PLACES;
  return fine > HALF_LEAST ? fine : HALF_LEAST;
}

INLINE half_fold half_in(half_fold f, v_f32 x, v_f32 y) {
  const v_f32 coarse = half_add(x, y, f.coarse), rest = half_add(x, y, -(coarse - f.coarse));
  return (half_fold){coarse, f.fine + rest};
}

/* VB / 2 terms. */
INLINE void half_pair(half_fold *f, terms t, const uint8_t *p, const uint8_t *q, v_f32 unit) {
  v_f32 x[2], y[2] = {unit, unit};
  load_halves(t, p, x);
  if (t.map == RED_MAP_PRODUCT) load_halves(t, q, y);
  for (unsigned k = 0; k < 2; k++) f[k] = half_in(f[k], x[k], t.map == RED_MAP_SQUARE ? x[k] : y[k]);
}

INLINE range half_seen(terms t, size_t n, int grid, bool closely, half_fold *f) {
  const v_f32 unit = half_unit(t.in);
  half_looks seen = {look_nowhere(), look_nowhere()};
  size_t i = 0;
  for (unsigned k = 0; k < HALF_CHAINS; k++) f[k] = (half_fold){half_start(grid), half_start(half_finer(grid))};
  for (; i + VB <= n; i += VB)
    for (unsigned k = 0; k < 2; k++) {
      const uint8_t *p = t.p + 2 * i + k * VB, *q = t.map == RED_MAP_PRODUCT ? t.q + 2 * i + k * VB : NULL;
      look_at_both(&seen, t, p, q, closely);
      half_pair(f + 2 * k, t, p, q, unit);
    }
  for (unsigned k = 0; i < n; k++, i += VB / 2) {
    padded_halves here;
    pad_halves(t, i, n, &here);
    look_at_both(&seen, t, here.p, here.q, true);
    half_pair(f + 2 * k, t, here.p, here.q, unit);
  }
  return range_of_half_terms(t, seen);
}

/* A block on a grid, which is right if the grid suits what is seen. No zero hides anything of f16. */
INLINE range half_block(terms t, size_t n, int grid, bool *closely, half_fold *f) {
  if (t.in != RED_F16 && *closely) return half_seen(t, n, grid, true, f);
  const range r = half_seen(t, n, grid, false, f);
  *closely = r.hidden;
  return r.hidden ? look_over_halves(t, n) : r;
}

/* ---- From block to block ---- */

typedef struct half_course {
  v_u32 coarse, fine; /* places taken in `blocks` blocks on `grid` */
  unsigned blocks;
  bool has_grid;
  bool closely; /* as a course's */
  bool wide;    /* the last block was not held whole */
  unsigned skip, skipped;
  int grid; /* of scaled numbers */
} half_course;

INLINE void half_flush_part(v_u32 places, int grid, red_exact *sum) {
  int64_t all = 0;
  for (unsigned l = 0; l < VB / 4; l++) all += ((v_i32)places)[l];
  red_exact_add_integer(sum, all, (unsigned)(grid - RED_EXACT_UNIT));
}

INLINE void half_flush(half_course *h, int scale, red_exact *sum) {
  if (h->blocks == 0) return;
  half_flush_part(h->coarse, h->grid + scale, sum);
  half_flush_part(h->fine, half_finer(h->grid) + scale, sum);
  h->coarse = h->fine = (v_u32){0};
  h->blocks = 0;
}

INLINE void half_take(half_course *h, const half_fold *f, int scale, red_exact *sum) {
  const v_u32 coarse = (v_u32)half_start(h->grid), fine = (v_u32)half_start(half_finer(h->grid));
  if (h->blocks == HALF_BLOCKS) half_flush(h, scale, sum);
  for (unsigned k = 0; k < HALF_CHAINS; k++) {
    h->coarse += (v_u32)f[k].coarse - coarse;
    h->fine += (v_u32)f[k].fine - fine;
  }
  h->blocks++;
}

INLINE void half_regrid(half_course *h, int grid, int scale, red_exact *sum) {
  if (h->has_grid && grid == h->grid) return;
  half_flush(h, scale, sum);
  h->grid = grid;
  h->has_grid = true;
}

INLINE int least_half_grid(range r) {
  const int least = r.top + HALF_ADDS - HALF_PLACES;
  return least > HALF_LEAST ? least : HALF_LEAST;
}

/* A grid on which a block of scaled numbers loses nothing, if there is one, else one that is as fine as it may be. */
INLINE bool find_half_grid(range r, int *grid) {
  const int least = least_half_grid(r), most = r.bottom + HALF_PLACES + 1 - HALF_ADDS;
  const bool can = least <= most && r.bottom >= HALF_LEAST;
  *grid = can && most < least + GRID_ROOM ? most : least + GRID_ROOM;
  return can;
}

INLINE range half_scaled(range r, int scale) {
  r.top -= scale;
  r.bottom -= scale;
  return r;
}

/* The more blocks in a row were too wide, the longer the next ones are not tried. */
INLINE bool half_gives_up(half_course *h) {
  if (h->skipped < HALF_MOST_SKIP) h->skipped = 2 * h->skipped + 1;
  h->skip = h->skipped;
  return false;
}

/*
 * False for a block that is added otherwise: it is too wide, and may not, or need not, lose anything (add_lossy()), or
 * too large. Also before there was a product that is not -0, as factors do not tell that.
 */
INLINE bool add_halves(terms t, size_t n, half_course *h, red_exact_loss *loss, red_exact *sum) {
  const bool may_lose = loss != NULL && loss->precision <= 11;
  const int scale = half_scale(t);
  int best;
  if (multiplies(t.map) && (sum->flags & RED_EXACT_NOT_MINUS_ZERO) == 0) return false;
  if (h->skip > 0) {
    h->skip--;
    return false;
  }
  if (!h->has_grid) {
    const range r = look_over_halves(t, n);
    if (is_settled(t, n, r, sum)) return true;
    find_half_grid(half_scaled(r, scale), &best);
    if (best > HALF_MOST_GRID) return half_gives_up(h);
    half_regrid(h, best, scale, sum);
  }
  for (;;) {
    half_fold f[HALF_CHAINS];
    const int last = half_finer(h->grid);
    const bool flush = t.in == RED_BF16 && !multiplies(t.map) && h->wide && last >= HALF_FLUSH_LEAST;
    flush_begin(flush);
    const range seen = half_block(t, n, h->grid, &h->closely, f), r = half_scaled(seen, scale);
    flush_end(flush, f);
    if (is_settled(t, n, seen, sum)) return true;
    const int least = least_half_grid(r);
    const bool can = find_half_grid(r, &best), exact = last <= r.bottom;
    if ((!can && !may_lose) || best > HALF_MOST_GRID) return half_gives_up(h);
    if (!can && !h->wide) {
      h->wide = true;
      return false;
    }
    const bool usual = may_lose && loss->terms > 0 && last + scale <= loss->unit;
    const bool close = !can && h->grid <= least + GRID_SLACK;
    if (h->grid >= least && (exact || usual || close)) {
      half_take(h, f, scale, sum);
      if (!exact) red_exact_lose(loss, n, last + scale);
      h->wide = !exact;
      h->skipped = 0;
      return true;
    }
    half_regrid(h, best, scale, sum);
  }
}

#endif
