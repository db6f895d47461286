/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of which something may be left out: folds whose last part is rounded to its grid. What that loses
 * is counted as a place of that grid a term, some 2^-88 of the largest; docs/numerics.md proves that it is enough. A
 * block that loses nothing is as good as any other.
 */
#ifndef RED_VEC_EXACT_LOSSY_H
#define RED_VEC_EXACT_LOSSY_H

#include "exact_sum.h"
#include "fpenv.h"

enum {
  MOST_GRID = 970,    /* 3/2 of 2^(970 + 52) is finite; sums on coarser grids are scaled down */
  LOSSY_SCALE = 32,   /* by 2^32, which may cut off numbers at 2^(32 - 1074) */
  GRID_ROOM = 3,      /* for somewhat larger terms */
  GRID_SLACK = 8,     /* a grid that is coarser than this block's by more is changed */
  FLUSH_LEAST = -1020 /* the finest last grid that subnormal f64 lie far enough below */
};

/* One double is enough for a short result, or one of f32 if the terms have one sign: a block loses some 2^-30 of it. */
INLINE unsigned lossy_levels(terms t, const red_exact_loss *loss) {
  const bool one_sign = t.map == RED_MAP_ABS || t.map == RED_MAP_SQUARE;
  return t.in != RED_F64 && loss->precision <= (one_sign ? 24 : 11) ? 1 : 2;
}

INLINE unsigned lossy_scale(terms t, int grid) {
  return t.in == RED_F64 && grid > MOST_GRID ? LOSSY_SCALE : 0;
}

INLINE int lossy_last_grid(int grid, unsigned levels) {
  return levels == 1 ? grid : finer(grid, ADDS);
}

/* Between these subnormal numbers are zeros; elements are loaded after the first, folds stored before the second. */
INLINE void flush_begin(bool flush) {
  if (!flush) return;
  red_fpenv_flush(1);
  __asm__ volatile("" ::: "memory");
}
INLINE void flush_end(bool flush, void *folds) {
  if (!flush) return;
  __asm__ volatile("" ::"r"(folds) : "memory");
  red_fpenv_flush(0);
}

INLINE range fold_lossy(terms t, size_t n, int grid, unsigned levels, bool *closely, fold *f) {
  if (t.in == RED_F64 && lossy_scale(t, grid) > 0) return add_folded(t, n, grid, 2, LOSSY_SCALE, closely, f);
  if (t.in != RED_F64 && levels == 1) return add_folded(t, n, grid, 1, 0, closely, f);
  return add_folded(t, n, grid, 2, 0, closely, f);
}

/* Where the block lies: a grid on which it loses nothing, if there is one, else one that is as fine as it may be. */
INLINE bool find_lossy_grid(range r, unsigned levels, int *grid) {
  const bool exact = find_grid(r, ADDS, levels, grid);
  if (!exact) *grid = r.top + ADDS - 51 + GRID_ROOM;
  return exact;
}

/* False for a block that would be the first to lose something after some that did not: it need not. */
INLINE bool add_lossy(terms t, size_t n, course *c, red_exact *sum) {
  const unsigned levels = lossy_levels(t, c->loss);
  if (!c->has_grid) {
    const range r = look_over(t, n);
    if (is_settled(t, n, r, sum)) return true;
    find_lossy_grid(r, levels, &c->grid);
    c->has_grid = true;
  }
  for (;;) {
    fold f[CHAINS];
    const int grid = c->grid;
    const unsigned scale = lossy_scale(t, grid);
    const int last = lossy_last_grid(grid, levels);
    const bool flush = t.in == RED_F64 && c->wide && last >= FLUSH_LEAST;
    flush_begin(flush);
    const range r = fold_lossy(t, n, grid, levels, &c->closely, f);
    flush_end(flush, f);
    if (is_settled(t, n, r, sum)) return true;
    const int least = r.top + ADDS - 51;
    const bool can = find_lossy_grid(r, levels, &c->grid), exact = scale == 0 && last <= r.bottom;
    if (!can && levels == 2 && !c->wide) {
      c->wide = true;
      c->grid = grid;
      return false;
    }
    const bool usual = c->loss->terms > 0 && last <= c->loss->unit && levels == 2;
    const bool close = grid <= least + GRID_SLACK && (!can || levels == 1);
    if (least > grid || !(exact || usual || close)) continue;
    gather(&c->taken, f, CHAINS, grid - (int)scale, ADDS, levels, scale, sum);
    if (!exact) red_exact_lose(c->loss, n, last);
    c->grid = grid;
    c->wide = !exact;
    c->folded = !is_plain(r);
    return true;
  }
}

#endif
