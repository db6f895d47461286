/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bins for finite numbers of any exponents: a number goes to the bin of its exponent, where it is added without error,
 * because all numbers of a bin are multiples of one unit and not many binades larger. There are a few columns of bins,
 * and neighbours in the array go to different ones: an addition need not wait for the one before it.
 *
 * f64: a bin takes eight binades, and each number is cut into its upper 27 bits and the rest, for the two halves of the
 * bin: both have fewer than 2^34 units. Narrower types: a bin takes sixteen binades of f32, 2^39 units.
 */
#ifndef RED_VEC_EXACT_BINS_H
#define RED_VEC_EXACT_BINS_H

#include "exact.h"
#include "vector.h"

enum {
  WIDE_BINS = 256,
  WIDE_COLUMNS = 4,
  NARROW_BINS = 16,
  NARROW_COLUMNS = 8,

  /* All columns of a bin are summed when they are emptied: 2^34 * 2^18 and 2^39 * 2^14 units are exact. */
  WIDE_MOST = 1 << 18,
  NARROW_MOST = 1 << 14,
  CUT_BITS = 26,
  /* f64 from 2 on are scaled down by 2^64, lest their sums overflow. */
  UPPER_SCALE = 64
};

typedef union bins {
  _Alignas(64) pair_f64 wide[WIDE_BINS][WIDE_COLUMNS]; /* upper, lower */
  double narrow[NARROW_BINS][NARROW_COLUMNS];
} bins;

/* ---- f64 ---- */

INLINE void add_wide(bins *to, const uint8_t *element, pair_f64 halves, unsigned column) {
  const uint32_t offset = ((const u32_unaligned *)element)[1] >> (23 - 6) & (WIDE_BINS - 1) * sizeof to->wide[0];
  *((pair_f64 *)((uint8_t *)to->wide + offset) + column) += halves;
}

INLINE void add_wide_vector(bins *to, const uint8_t *p, unsigned column) {
  v_u64 bits = (v_u64)v_load(p);
  v_f64 scaled = (v_f64)(bits - ((bits & (uint64_t)1 << 62) >> 4)); /* bit 62: 2 or more; the exponent less 64 */
  v_f64 upper = (v_f64)((v_u64)scaled & ~(uint64_t)0 << CUT_BITS), lower = scaled - upper;
  v_f64 even = (v_f64)v_low_64((v_u8)upper, (v_u8)lower), odd = (v_f64)v_high_64((v_u8)upper, (v_u8)lower);
  for (unsigned k = 0; k < VB / 16; k++) {
    add_wide(to, p + 16 * k, v_pair_f64(even, k), (column + 2 * k) % WIDE_COLUMNS);
    add_wide(to, p + 16 * k + 8, v_pair_f64(odd, k), (column + 2 * k + 1) % WIDE_COLUMNS);
  }
}

INLINE void flush_wide(bins *from, red_exact *sum) {
  for (unsigned i = 0; i < WIDE_BINS; i++) {
    pair_f64 total = from->wide[i][0];
    for (unsigned c = 1; c < WIDE_COLUMNS; c++) total += from->wide[i][c];
    unsigned scale = i < WIDE_BINS / 2 ? 0 : UPPER_SCALE;
    if (total[0] != 0) red_exact_add_scaled(sum, total[0], scale);
    if (total[1] != 0) red_exact_add_scaled(sum, total[1], scale);
  }
}

/* ---- f32 and bf16 ---- */

/* The bin whose number in the table, times a row's columns, stands in bits 3 to 6 of `index`. */
INLINE double *narrow_bin(bins *of, uint64_t index, unsigned column) {
  return &of->narrow[0][0] + (index & (NARROW_BINS - 1) * NARROW_COLUMNS) + column;
}

INLINE void add_four_f32(bins *to, const uint8_t *p, unsigned column) {
  const uint64_t low = ((const u64_unaligned *)p)[0], high = ((const u64_unaligned *)p)[1];
  four_f64 x;
  four_f64_from_f32(*(const four_f32_unaligned *)p, &x);
  *narrow_bin(to, low >> 24, column) += x[0];
  *narrow_bin(to, low >> 56, column + 1) += x[1];
  *narrow_bin(to, high >> 24, column + 2) += x[2];
  *narrow_bin(to, high >> 56, column + 3) += x[3];
}

INLINE void add_four_bf16(bins *to, const uint8_t *p, unsigned column) {
  typedef uint16_t four_u16 __attribute__((vector_size(8)));
  typedef uint32_t four_u32 __attribute__((vector_size(16)));
  const uint64_t word = *(const u64_unaligned *)p;
  const four_u32 wide = __builtin_convertvector((four_u16)word, four_u32) << 16;
  four_f64 x;
  four_f64_from_f32((four_f32)wide, &x);
  *narrow_bin(to, word >> 8, column) += x[0];
  *narrow_bin(to, word >> 24, column + 1) += x[1];
  *narrow_bin(to, word >> 40, column + 2) += x[2];
  *narrow_bin(to, word >> 56, column + 3) += x[3];
}

INLINE void add_narrow_four(bins *to, red_dtype in, const uint8_t *p, unsigned column) {
  if (in == RED_F32)
    add_four_f32(to, p, column);
  else
    add_four_bf16(to, p, column);
}

INLINE void flush_narrow(bins *from, red_exact *sum) {
  for (unsigned i = 0; i < NARROW_BINS; i++) {
    double total = from->narrow[i][0];
    for (unsigned c = 1; c < NARROW_COLUMNS; c++) total += from->narrow[i][c];
    if (total != 0) red_exact_add_scaled(sum, total, 0);
  }
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
