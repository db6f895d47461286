/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact sums of products of f64. Each is the sum of two doubles, itself rounded and the error of that, where neither
 * overflows or underflows; both are folded (exact_block.h) if a look at the factors proves that to be exact. All other
 * products, and all where no instruction fuses a product and a sum, are made of integers, and added in bins of 128
 * bits, one for every eight binades.
 */
#include "exact_lossy_product.h"

#include "kernels.def"

enum {
  LONG_BINS = 512,
  LONG_MOST = 1 << 14, /* in a bin, of products below 2^113 */
  LONG_PAY = 32,       /* fewer products are added one by one */
  PREPARED = 128       /* products at a time, between two loops */
};

typedef struct long_course {
  course value;   /* of products, its grid among it */
  int error_grid; /* that of errors */
  bool used;      /* there is something in the bins: */
  uint32_t count; /* so many products at most */
  __int128 bin[LONG_BINS];
} long_course;

/* ---- Pairs of doubles ---- */

INLINE bool find_grids(const ranges *r, unsigned levels, long_course *c) {
  c->value.levels = levels;
  return r->exact && find_grid(r->value, LONG_ADDS, levels, &c->value.grid) &&
         find_grid(r->error, LONG_ADDS, levels, &c->error_grid);
}

INLINE bool grids_suit(const ranges *r, const long_course *c) {
  const unsigned levels = c->value.levels;
  return r->exact && grid_suits(c->value.grid, r->value, LONG_ADDS, levels) &&
         grid_suits(c->error_grid, r->error, LONG_ADDS, levels);
}

typedef struct folds {
  fold value[LONG_CHAINS], error[LONG_CHAINS];
  look x, y;
} folds;

INLINE void fold_product(folds *f, unsigned k, red_map map, v_f64 x, v_f64 y, unsigned levels) {
  const v_f64 product = x * y;
  f->x = look_at(f->x, (v_u8)x, 8);
  if (map == RED_MAP_PRODUCT) f->y = look_at(f->y, (v_u8)y, 8);
  f->value[k] = fold_in(f->value[k], product, levels);
  f->error[k] = fold_in(f->error[k], v_fma_f64(x, y, -product), levels);
}

/* Fold a block's products and their errors, which is right if grids_suit() what was seen. */
INLINE ranges add_folded_products(red_map map, const uint8_t *p, const uint8_t *q, size_t n, const long_course *c,
                                  unsigned levels, folds *f) {
  const int grid = c->value.grid, error_grid = c->error_grid;
  for (unsigned k = 0; k < LONG_CHAINS; k++) {
    f->value[k] = fold_start(grid, LONG_ADDS, levels);
    f->error[k] = fold_start(error_grid, LONG_ADDS, levels);
  }
  f->x = f->y = look_nowhere();
  size_t i = 0;
  for (; i + LONG_CHAINS * LANES <= n; i += LONG_CHAINS * LANES) {
    __builtin_prefetch(p + 8 * i + AHEAD, 0, 2);
    if (map == RED_MAP_PRODUCT) __builtin_prefetch(q + 8 * i + AHEAD, 0, 2);
    for (unsigned k = 0; k < LONG_CHAINS; k++) {
      const size_t at = (i + k * LANES) * 8;
      fold_product(f, k, map, (v_f64)v_load(p + at), (v_f64)v_load(q + at), levels);
    }
  }
  for (unsigned k = 0; k < LONG_CHAINS; k++, i += LANES) {
    if (i >= n) break;
    fold_product(f, k, map, factors(p, i, n), factors(q, i, n), levels);
  }
  return ranges_of(f->x, map == RED_MAP_PRODUCT ? f->y : f->x);
}

/* ---- Bins ---- */

static void long_flush(long_course *c, red_exact *sum) {
  red_exact_add_all_integers(sum, c->bin, LONG_BINS);
  c->used = false;
}

static void long_prepare(long_course *c, size_t count, red_exact *sum) {
  if (c->used && c->count + count > LONG_MOST) long_flush(c, sum);
  if (!c->used) {
    memset(c->bin, 0, sizeof c->bin);
    c->count = 0;
    c->used = true;
  }
  c->count += (uint32_t)count;
}

/* Significands and exponents: x is significand * 2^(exponent - 1074). */
typedef struct pieces {
  v_u64 significand, exponent;
} pieces;

INLINE pieces take_apart(v_u64 bits) {
  const v_u64 field = bits >> 52 & 0x7ff, normal = (v_u64)(field != 0); /* all ones */
  return (pieces){(bits & 0xfffffffffffff) | (normal & (uint64_t)1 << 52), field + normal};
}

/* What a product needs: two signed factors, the first with what of the exponent is below a bin's, and the bin. */
typedef struct prepared {
  _Alignas(64) int64_t x[PREPARED + LANES], y[PREPARED + LANES];
  uint64_t bin[PREPARED + LANES];
} prepared;

INLINE v_u8 prepare(prepared *to, size_t i, v_u8 x_bits, v_u8 y_bits, v_u8 most) {
  const pieces x = take_apart((v_u64)x_bits), y = take_apart((v_u64)y_bits);
  const v_u64 exponent = x.exponent + y.exponent, sign = (v_u64)((v_i64)(x_bits ^ y_bits) >> 63);
  const v_u64 factor = x.significand << (exponent & 7);
  v_store(&to->x[i], (v_u8)((factor ^ sign) - sign));
  v_store(&to->y[i], (v_u8)y.significand);
  v_store(&to->bin[i], (v_u8)(exponent >> 3));
  return v_max_u32(most, v_max_u32(magnitudes(x_bits, 8), magnitudes(y_bits, 8)));
}

/* False if there were infinities or NaNs, as add_binned(). */
static __attribute__((noinline)) bool add_long_binned(const uint8_t *p, const uint8_t *q, size_t n, long_course *c,
                                                      red_exact *sum) {
  prepared ready;
  v_u8 most = {0};
  long_prepare(c, n, sum);
  for (size_t first = 0; first < n; first += PREPARED) {
    const size_t count = n - first < PREPARED ? n - first : PREPARED;
    for (size_t i = 0; i < count; i += 8) {
      __builtin_prefetch(p + 8 * (first + i) + BINNED_AHEAD, 0, 2);
      __builtin_prefetch(q + 8 * (first + i) + BINNED_AHEAD, 0, 2);
    }
    for (size_t i = 0; i < count; i += LANES)
      most = prepare(&ready, i, (v_u8)factors(p, first + i, n), (v_u8)factors(q, first + i, n), most);
    for (size_t i = 0; i < count; i++) c->bin[ready.bin[i]] += (__int128)ready.x[i] * ready.y[i];
  }
  return !range_of(RED_F64, (look){most, (v_u8){0}}).special;
}

/* ---- Blocks ---- */

static __attribute__((noinline)) void add_one_by_one(const uint8_t *p, const uint8_t *q, size_t n, red_exact *sum) {
  for (size_t i = 0; i < n; i++) red_exact_add_product(sum, f64_at(p, i), f64_at(q, i));
}

/* Grids for the next folds, or one for those that may lose something. */
INLINE void expect_products(const ranges *r, long_course *c) {
  const bool found = find_grids(r, 2, c) || find_grids(r, 3, c);
  if (!found) c->value.grid = lossy_product_grid(r->top);
  c->value.has_grid = true;
  expect(&c->value, !found);
}

/* By the first vector. */
INLINE bool guess_grids(red_map map, const uint8_t *p, const uint8_t *q, size_t n, long_course *c) {
  if (n < LANES) return false;
  ranges r = look_over_factors(map, p, q, LANES);
  if (r.x.special || r.y.special || r.x.zero || r.y.zero) return false;
  r.value = sample_of(r.value);
  r.error = sample_of(r.error);
  c->value.has_grid = find_grids(&r, 2, c);
  c->value.wide = false;
  return c->value.has_grid;
}

/* False if no doubles suit. */
INLINE bool add_products_in_folds(red_map map, const uint8_t *p, const uint8_t *q, size_t n, long_course *c,
                                  red_exact *sum) {
  const bool begun = c->value.has_grid || guess_grids(map, p, q, n, c);
  if (!begun || (c->value.wide && !is_trusted(&c->value, n, sum))) {
    ranges r = look_over_factors(map, p, q, n);
    if (products_are_settled(p, q, n, &r, sum)) return true;
    expect_products(&r, c);
  }
  while (!c->value.wide) {
    folds f;
    const unsigned levels = c->value.levels;
    const ranges r =
        levels == 2 ? add_folded_products(map, p, q, n, c, 2, &f) : add_folded_products(map, p, q, n, c, 3, &f);
    if (products_are_settled(p, q, n, &r, sum)) return true;
    const bool suits = grids_suit(&r, c);
    if (suits) {
      add_folds(f.value, LONG_CHAINS, c->value.grid, LONG_ADDS, levels, 0, sum);
      add_folds(f.error, LONG_CHAINS, c->error_grid, LONG_ADDS, levels, 0, sum);
    }
    if (!suits || levels == 3) expect_products(&r, c);
    if (suits) return true;
  }
  return false;
}

INLINE void add_block_products(red_map map, const uint8_t *p, const uint8_t *q, size_t n, long_course *c,
                               red_exact *sum) {
  course *value = &c->value;
  const bool exactly = FUSES && (value->loss == NULL || (n < LONG_BLOCK && !value->lossy)); /* as add_without_bins() */
  note_zeros(p, q, n, sum);
  if (exactly && add_products_in_folds(map, p, q, n, c, sum)) return;
  if (FUSES && value->loss != NULL) {
    value->lossy = true;
    add_lossy_products(map, p, q, n, value, sum);
  } else if (n < LONG_PAY) {
    add_one_by_one(p, q, n, sum);
  } else if (!add_long_binned(p, q, n, c, sum)) {
    add_product_flags(p, q, n, sum);
  }
}

INLINE void add_products(red_map map, const uint8_t *p, const uint8_t *q, size_t n, red_exact *sum,
                         red_exact_loss *loss) {
  long_course c;
  c.value = (course){.loss = loss};
  c.used = false;
  for (size_t i = 0; i < n && (sum->flags & RED_EXACT_NAN) == 0; i += LONG_BLOCK)
    add_block_products(map, p + 8 * i, q + 8 * i, n - i < LONG_BLOCK ? n - i : LONG_BLOCK, &c, sum);
  if (c.used) long_flush(&c, sum);
}

#define KERNEL(name, in, map)                                                                                          \
  void ISA(exact_##name)(const void *data, const void *data2, size_t n, red_exact *sum, red_exact_loss *loss) {        \
    add_products(map, data, map == RED_MAP_PRODUCT ? data2 : data, n, sum, loss);                                      \
  }
RED_EXACT_LONG_PRODUCT(KERNEL)
