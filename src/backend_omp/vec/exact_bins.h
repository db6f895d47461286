/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bins for finite numbers of any exponents: a number goes to the bin of its exponent, where it is added without error,
 * because all numbers of a bin are multiples of one unit and not many binades larger. There are a few columns of bins,
 * and neighbours in the array go to different ones: an addition need not wait for the one before it.
 *
 * f64: a bin takes eight binades, and each number is cut into its upper 27 bits and the rest, for the two halves of the
 * bin: both have fewer than 2^34 units. Narrower types: a bin takes sixteen binades of f32, 2^39 units; as that makes
 * only sixteen bins, there is a cell for any two of them, which takes two neighbours at once: what costs time is how
 * often memory is changed.
 */
#ifndef RED_VEC_EXACT_BINS_H
#define RED_VEC_EXACT_BINS_H

#include "exact.h"
#include "widen.h"

enum {
  WIDE_BINS = 256,
  WIDE_COLUMNS = 4,
  NARROW_BINS = 16,
  NARROW_CELLS = NARROW_BINS * NARROW_BINS,
  NARROW_COLUMNS = 4,

  /*
   * When they are emptied, all columns of a wide bin are summed, 2^34 * 2^18 units, but narrow ones column by column:
   * an eighth of the numbers, 2^39 * 2^14 units.
   */
  WIDE_MOST = 1 << 18,
  NARROW_MOST = 1 << 17,
  CUT_BITS = 26,
  /* f64 from 2 on are scaled down by 2^64, lest their sums overflow. */
  UPPER_SCALE = 64
};

typedef union bins {
  _Alignas(64) pair_f64 wide[WIDE_BINS][WIDE_COLUMNS]; /* upper, lower */
  pair_f64 narrow[NARROW_COLUMNS][NARROW_CELLS];       /* of the lower four bits' bin, of the upper ones' */
} bins;

/* ---- f64 ---- */

INLINE void add_wide(bins *to, const uint8_t *element, pair_f64 halves, unsigned column) {
  const uint32_t offset = ((const u32_unaligned *)element)[1] >> (23 - 6) & (WIDE_BINS - 1) * sizeof to->wide[0];
  *((pair_f64 *)((uint8_t *)to->wide + offset) + column) += halves;
}

/* The doubles x come from p, but may have other signs; column is a constant. */
INLINE void add_wide_vector(bins *to, const uint8_t *p, v_f64 x, unsigned column) {
  v_u64 bits = (v_u64)x;
  v_f64 scaled = (v_f64)(bits - ((bits & (uint64_t)1 << 62) >> 4)); /* bit 62: 2 or more; the exponent less 64 */
  v_f64 upper = (v_f64)((v_u64)scaled & ~(uint64_t)0 << CUT_BITS), lower = scaled - upper;
  v_f64 even = (v_f64)v_low_64((v_u8)upper, (v_u8)lower), odd = (v_f64)v_high_64((v_u8)upper, (v_u8)lower);
  for (unsigned k = 0; k < VB / 16; k++) {
    add_wide(to, p + 16 * k, v_pair_f64(even, k), (column + 2 * k) % WIDE_COLUMNS);
    add_wide(to, p + 16 * k + 8, v_pair_f64(odd, k), (column + 2 * k + 1) % WIDE_COLUMNS);
  }
}

INLINE void flush_wide(bins *from, red_exact *sum) {
  _Alignas(16) double total[2 * WIDE_BINS];
  for (unsigned i = 0; i < WIDE_BINS; i++) {
    pair_f64 all = from->wide[i][0];
    for (unsigned c = 1; c < WIDE_COLUMNS; c++) all += from->wide[i][c];
    *(pair_f64 *)&total[2 * i] = all;
  }
  red_exact_add_all_scaled(sum, total, WIDE_BINS, 0);
  red_exact_add_all_scaled(sum, total + WIDE_BINS, WIDE_BINS, UPPER_SCALE);
}

/* ---- f32 and bf16 ---- */

/* The cell of two neighbours, by the highest four bits of their exponents. */
INLINE size_t cell_of(red_dtype in, const uint8_t *two) {
  return in == RED_F32 ? nibbles_at(*(const u64_unaligned *)two, 27, 59)
                       : nibbles_at(*(const u32_unaligned *)two, 11, 27);
}

INLINE void add_narrow_vector(bins *to, red_dtype in, const uint8_t *p, v_f64 x, unsigned column) {
  const unsigned two = in == RED_F32 ? 8 : 4;
  for (unsigned k = 0; k < VB / 16; k++)
    to->narrow[(column + k) % NARROW_COLUMNS][cell_of(in, p + k * two)] += v_pair_f64(x, k);
}

/* A column of cells: `low` are the sums over the upper bins, of which the first halves count. */
INLINE void flush_column(const pair_f64 cell[NARROW_CELLS], red_exact *sum) {
  pair_f64 low[NARROW_BINS] = {{0}};
  double total[2 * NARROW_BINS];
  for (unsigned h = 0; h < NARROW_BINS; h++) {
    pair_f64 high = {0};
    for (unsigned l = 0; l < NARROW_BINS; l++) {
      low[l] += cell[h * NARROW_BINS + l];
      high += cell[h * NARROW_BINS + l];
    }
    total[h] = high[1];
  }
  for (unsigned l = 0; l < NARROW_BINS; l++) total[NARROW_BINS + l] = low[l][0];
  red_exact_add_all_scaled(sum, total, 2 * NARROW_BINS, 0);
}

INLINE void flush_narrow(bins *from, red_exact *sum) {
  for (unsigned c = 0; c < NARROW_COLUMNS; c++) flush_column(from->narrow[c], sum);
}

/* ---- Filling and emptying ---- */

/* The bins of one kernel call; they are cleared when they are first used. */
typedef struct binning {
  bins *bins;
  uint32_t count; /* numbers since they were empty */
  bool used;
} binning;

INLINE void bins_flush(binning *b, red_dtype in, red_exact *sum) {
  if (in == RED_F64)
    flush_wide(b->bins, sum);
  else
    flush_narrow(b->bins, sum);
  b->used = false;
}

/* Room for `count` more numbers. */
INLINE void bins_prepare(binning *b, red_dtype in, uint32_t count, red_exact *sum) {
  uint32_t most = in == RED_F64 ? WIDE_MOST : NARROW_MOST;
  if (b->used && b->count + count > most) bins_flush(b, in, sum);
  if (!b->used) {
    memset(b->bins, 0, in == RED_F64 ? sizeof b->bins->wide : sizeof b->bins->narrow);
    b->count = 0;
    b->used = true;
  }
  b->count += count;
}

#endif
