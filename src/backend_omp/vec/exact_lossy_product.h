/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Products of f64 of which something may be left out (exact_lossy.h): the rounded product goes to a coarse part, and
 * what that leaves to a finer one together with the error of the product.
 */
#ifndef RED_VEC_EXACT_LOSSY_PRODUCT_H
#define RED_VEC_EXACT_LOSSY_PRODUCT_H

#include "exact_factors.h"

enum {
  FACTOR_SCALE = 520,         /* each factor is scaled down by so much where products would overflow */
  FLUSH_PRODUCTS_LEAST = 530, /* as FLUSH_LEAST; a subnormal factor, scaled or not, makes less than 2^523 */
  LEAST_GRID = -1074
};

typedef struct lossy_folds {
  fold part[LONG_CHAINS];
  pair_look seen;
} lossy_folds;

/* One binade more than a rest alone would need. */
INLINE int lossy_fine_grid(int grid) {
  return finer(grid, LONG_ADDS) + 1;
}

INLINE void fold_lossy_product(lossy_folds *f, unsigned k, red_map map, v_f64 x, v_f64 y, bool scaled) {
  f->seen = look_at_pair(f->seen, map, x, y);
  if (scaled) {
    x = (v_f64)(x * 0x1p-520);
    y = (v_f64)(y * 0x1p-520);
  }
  const v_f64 product = (v_f64)(x * y), error = v_fma_f64(x, y, -product);
  const v_f64 coarse = f->part[k].coarse + product, rest = product - (coarse - f->part[k].coarse);
  f->part[k].coarse = coarse;
  f->part[k].fine += rest + error;
}

/* Right if the grid, that of scaled products, suits what was seen. */
INLINE ranges fold_lossy_products(red_map map, const uint8_t *p, const uint8_t *q, size_t n, int grid, bool scaled,
                                  lossy_folds *f) {
  for (unsigned k = 0; k < LONG_CHAINS; k++)
    f->part[k] = (fold){.coarse = part_start(grid), .fine = part_start(lossy_fine_grid(grid))};
  f->seen = look_at_no_pair();
  size_t i = 0;
  for (; i + LONG_CHAINS * LANES <= n; i += LONG_CHAINS * LANES) {
    __builtin_prefetch(p + 8 * i + AHEAD, 0, 2);
    if (map == RED_MAP_PRODUCT) __builtin_prefetch(q + 8 * i + AHEAD, 0, 2);
    for (unsigned k = 0; k < LONG_CHAINS; k++) {
      const size_t at = (i + k * LANES) * 8;
      fold_lossy_product(f, k, map, (v_f64)v_load(p + at), (v_f64)v_load(q + at), scaled);
    }
  }
  for (unsigned k = 0; k < LONG_CHAINS; k++, i += LANES) {
    if (i >= n) break;
    fold_lossy_product(f, k, map, factors(p, i, n), factors(q, i, n), scaled);
  }
  return ranges_of_pairs(map, f->seen);
}

INLINE int lossy_product_grid(int top) {
  const int grid = top + LONG_ADDS - 51 + GRID_ROOM;
  return grid > LEAST_GRID ? grid : LEAST_GRID;
}

/* One block; its course has only a grid. */
INLINE void add_lossy_products(red_map map, const uint8_t *p, const uint8_t *q, size_t n, course *c, red_exact *sum) {
  if (!c->has_grid) {
    const ranges r = look_over_factors(map, p, q, n);
    if (products_are_settled(p, q, n, &r, sum)) return;
    c->grid = lossy_product_grid(r.top);
    c->has_grid = true;
  }
  for (;;) {
    lossy_folds f;
    const bool scaled = c->grid > MOST_GRID;
    const unsigned scale = scaled ? 2 * FACTOR_SCALE : 0;
    const int grid = c->grid - (int)scale, fine = lossy_fine_grid(grid), last = fine + (int)scale;
    const bool flush = last >= FLUSH_PRODUCTS_LEAST;
    flush_begin(flush);
    const ranges r =
        scaled ? fold_lossy_products(map, p, q, n, grid, true, &f) : fold_lossy_products(map, p, q, n, grid, false, &f);
    flush_end(flush, &f);
    if (products_are_settled(p, q, n, &r, sum)) return;
    const int best = lossy_product_grid(r.top);
    const bool exact = !scaled && r.exact && last <= r.error.bottom;
    const bool usual = c->loss->terms > 0 && last <= c->loss->unit;
    const bool holds = c->grid >= r.top + LONG_ADDS - 51;
    if (holds && (exact || usual || c->grid <= best + GRID_SLACK)) {
      add_parts(&f.part[0].coarse, LONG_CHAINS, grid, scale, sum);
      add_parts(&f.part[0].fine, LONG_CHAINS, fine, scale, sum);
      if (!exact) red_exact_lose(c->loss, n, last);
      return;
    }
    c->grid = best;
  }
}

#endif
