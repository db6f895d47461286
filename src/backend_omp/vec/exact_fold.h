/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folds: sums in two or three doubles without rounding, or in one or two with what that loses known (exact_lossy.h).
 * Each part begins as 3/2 of a power of two so large that its last place, 2^grid of its own, never changes: what a part
 * takes of x is x rounded to its grid, the rest is found exactly and handed to the next, and the last one takes all of
 * it. What they have taken in the end is a difference of their bits.
 */
#ifndef RED_VEC_EXACT_FOLD_H
#define RED_VEC_EXACT_FOLD_H

#include "exact_look.h"

enum {
  LANES = VB / 8
};

/* With two levels there is no middle, with one only the coarse part. */
typedef struct fold {
  v_f64 coarse, middle, fine;
} fold;

INLINE fold fold_in(fold f, v_f64 x, unsigned levels) {
  const v_f64 coarse = v_spare_add_f64(x, f.coarse), rest = v_spare_sub_f64(x, coarse - f.coarse);
  if (levels == 1) return (fold){.coarse = coarse};
  if (levels == 2) return (fold){coarse, f.middle, v_spare_add_f64(rest, f.fine)};
  const v_f64 middle = v_spare_add_f64(rest, f.middle);
  return (fold){coarse, middle, f.fine + v_spare_sub_f64(rest, middle - f.middle)};
}

/*
 * The grid after this one, if a lane takes at most 2^adds terms: |rest| <= 2^(grid - 1), and sums stay below 2^51
 * places.
 */
INLINE int finer(int grid, int adds) {
  const int fine = grid + adds - 52;
  return fine > -1074 ? fine : -1074;
}

INLINE v_f64 part_start(int grid) {
  uint64_t bits = (uint64_t)(grid + 52 + 1023) << 52 | (uint64_t)1 << 51;
  return (v_f64)((v_u64){0} + bits);
}

INLINE fold fold_start(int grid, int adds, unsigned levels) {
  const int next = finer(grid, adds);
  if (levels == 1) return (fold){.coarse = part_start(grid)};
  if (levels == 2) return (fold){part_start(grid), (v_f64){0}, part_start(next)};
  return (fold){part_start(grid), part_start(next), part_start(finer(next, adds))};
}

INLINE bool grid_suits(int grid, range r, int adds, unsigned levels) {
  if (r.top + adds > grid + 51) return false;
  for (unsigned l = 1; l < levels; l++) grid = finer(grid, adds);
  return grid <= r.bottom;
}

/* Whether there is a grid, and one with some room for larger numbers; the power of two must be finite and normal. */
INLINE bool find_grid(range r, int adds, unsigned levels, int *grid) {
  int least = r.top + adds - 51, most = r.bottom + (int)(levels - 1) * (52 - adds);
  if (least < -1074) least = -1074;
  if (most > 970) most = 970;
  *grid = least + 3 < most ? least + 3 : most;
  return least <= most;
}

/* A vector of close exponents is taken for a sample: folding finds out soon enough what the others are like. */
INLINE range sample_of(range r) {
  enum {
    ABOVE = 4, /* binades that others may be larger, */
    BELOW = 20 /* and smaller */
  };
  r.top += ABOVE;
  r.bottom -= BELOW;
  return r;
}

/* Lanes of places on a grid, of numbers that were scaled down by 2^scale. */
INLINE void add_places(v_u64 places, int grid, unsigned scale, red_exact *sum) {
  int64_t all = 0;
  for (unsigned l = 0; l < LANES; l++) all += ((v_i64)places)[l];
  red_exact_add_integer(sum, all, (unsigned)(grid - RED_EXACT_UNIT) + scale);
}

/* What one part of some folds has taken. */
INLINE void add_parts(const v_f64 *part, unsigned count, int grid, unsigned scale, red_exact *sum) {
  const v_u64 start = (v_u64)part_start(grid);
  v_u64 places = {0};
  for (unsigned k = 0; k < count; k++) places += (v_u64)part[k * (sizeof(fold) / sizeof *part)] - start;
  add_places(places, grid, scale, sum);
}

INLINE void add_folds(const fold *f, unsigned count, int grid, int adds, unsigned levels, unsigned scale,
                      red_exact *sum) {
  add_parts(&f->coarse, count, grid, scale, sum);
  if (levels == 3) add_parts(&f->middle, count, grid = finer(grid, adds), scale, sum);
  if (levels > 1) add_parts(&f->fine, count, finer(grid, adds), scale, sum);
}

/* ---- From block to block ---- */

enum {
  GATHERED_BLOCKS = 64 /* a lane takes at most 4 * 2^51 places of a part from each, and eight lanes are added up */
};

/* What the parts have taken of some blocks on one grid: cheaper than a long integer for each. */
typedef struct gathered {
  v_u64 part[3];
  unsigned blocks, levels, scale;
  int grid;
} gathered;

INLINE void gathered_flush(gathered *g, int adds, red_exact *sum) {
  int grid = g->grid;
  for (unsigned l = 0; l < g->levels && g->blocks > 0; l++, grid = finer(grid, adds))
    add_places(g->part[l], grid, g->scale, sum);
  g->blocks = 0;
}

/* A block's folds; `levels` is a constant. */
INLINE void gather(gathered *g, const fold *f, unsigned count, int grid, int adds, unsigned levels, unsigned scale,
                   red_exact *sum) {
  const bool same = g->grid == grid && g->levels == levels && g->scale == scale;
  if (!same || g->blocks == GATHERED_BLOCKS) gathered_flush(g, adds, sum);
  if (g->blocks == 0) *g = (gathered){.levels = levels, .scale = scale, .grid = grid};
  g->blocks++;
  for (unsigned l = 0; l < levels; l++, grid = finer(grid, adds)) {
    const v_u64 start = (v_u64)part_start(grid);
    for (unsigned k = 0; k < count; k++) {
      const v_f64 taken = l == 0 ? f[k].coarse : l + 1 == levels ? f[k].fine : f[k].middle;
      g->part[l] += (v_u64)taken - start;
    }
  }
}

#endif
