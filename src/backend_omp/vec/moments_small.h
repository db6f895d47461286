/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments of whole chunks of 8 and 16-bit integers by integer sums: the shift is K = R / 128 with R the sum of the
 * first row, and what `stats-1` adds up are multiples of 2^-14 that nothing rounds, but for the fold of 16-bit columns'
 * squares (docs/numerics.md). The sum of (x - K)^2 over a column of 32 is that of x^2, less 2 K times that of x, and 32
 * K^2.
 */
#ifndef RED_VEC_MOMENTS_SMALL_H
#define RED_VEC_MOMENTS_SMALL_H

#include "moments.h"

enum {
  SMALL_ROW = 128,
  SMALL_CHUNK = ROWS * SMALL_ROW,
  GROUPS = REGISTERS / 16 /* vectors of a row whose columns' sums are held in registers at a time */
};

/* The differences add up to S - 4096 K, and so do all integers in units of 2^-7. */
INLINE double sum_of_differences(int64_t sum, int64_t first_row) {
  return (double)(sum - ROWS * first_row);
}

/* 8 bits: no order, so the sums of a chunk are enough. */
INLINE red_moments moments_of_bytes(int64_t first_row, int64_t sum, int64_t squares) {
  const int64_t scaled = 16384 * squares - 256 * first_row * sum + ROWS * SMALL_ROW * first_row * first_row;
  return red_moments_of_sums(SMALL_CHUNK, (double)first_row / SMALL_ROW, sum_of_differences(sum, first_row),
                             (double)scaled * 0x1p-14);
}

/* Sums of columns, as integers: of squares mod 2^32, and of the upper halves of squares of two rows. */
typedef struct column_sums {
  v_u32 sum, square, upper;
} column_sums;

INLINE column_sums add_pairs(column_sums c, v_u8 pairs) {
  const v_u32 square = v_dot_halfwords(pairs, pairs);
  return (column_sums){c.sum + v_dot_halfwords(pairs, (v_u8)v_splat_u16(1)), c.square + square,
                       c.upper + (square >> 16)};
}

typedef struct columns_16 {
  _Alignas(64) int32_t sum[SMALL_ROW], upper[SMALL_ROW], lower[SMALL_ROW];
} columns_16;

INLINE void store_columns(int32_t *to, v_u32 low, v_u32 high) {
  v_store(to, v_low_lanes((v_u8)low, (v_u8)high));
  v_store(to + VB / 4, v_high_lanes((v_u8)low, (v_u8)high));
}

/* All columns, of elements made signed by `flip`. */
INLINE void sum_columns(const uint8_t *p, uint16_t flip, size_t ahead, columns_16 *to) {
  const size_t row_bytes = 2 * SMALL_ROW;
  const v_u8 flips = (v_u8)v_splat_u16(flip);
  const uint8_t *later = p + ahead;
  for (size_t first = 0; first < row_bytes; first += GROUPS * VB) {
    column_sums low[GROUPS] = {{{0}, {0}, {0}}}, high[GROUPS] = {{{0}, {0}, {0}}};
    for (unsigned r = 0; r < ROWS; r += 2, later += 2 * GROUPS * VB) {
      const uint8_t *row = p + r * row_bytes + first;
      if (ahead != 0) ask_ahead(RED_I16, later, 2 * GROUPS * VB);
      UNROLLED
      for (unsigned j = 0; j < GROUPS; j++) {
        const v_u8 a = v_load(row + j * VB) ^ flips, b = v_load(row + row_bytes + j * VB) ^ flips;
        low[j] = add_pairs(low[j], v_low_16(a, b));
        high[j] = add_pairs(high[j], v_high_16(a, b));
      }
    }
    for (unsigned j = 0; j < GROUPS; j++) {
      const size_t at = first / 2 + j * (VB / 2);
      store_columns(&to->sum[at], low[j].sum, high[j].sum);
      store_columns(&to->upper[at], low[j].upper, high[j].upper);
      store_columns(&to->lower[at], low[j].square - (low[j].upper << 16), high[j].square - (high[j].upper << 16));
    }
  }
}

/* 16 bits; the shift of all elements by 2^15 changes K, but no difference. `first_row` is the sum as it is. */
INLINE red_moments moments_of_halfwords(const uint8_t *p, bool is_signed, int64_t first_row, size_t ahead) {
  const int64_t flipped_row = first_row - (is_signed ? 0 : SMALL_ROW * 32768);
  const double twice = (double)flipped_row * 0x1p-6, squared = (double)(flipped_row * flipped_row) * 0x1p-9;
  columns_16 c;
  v_f64 lanes[MOST_VECTORS], sums = {0};
  sum_columns(p, is_signed ? 0 : 0x8000, ahead, &c);
  for (unsigned j = 0; j < SMALL_ROW / LANES; j++) {
    const v_f64 sum = load_f64(RED_I32, (const uint8_t *)&c.sum[j * LANES]);
    const v_f64 upper = load_f64(RED_I32, (const uint8_t *)&c.upper[j * LANES]);
    const v_f64 lower = load_f64(RED_I32, (const uint8_t *)&c.lower[j * LANES]);
    lanes[j] = ((upper * 0x1p16 + lower) - sum * twice) + squared;
    sums += sum;
  }
  const double sum = ((v_f64)v_fold(RED_ADD_F64, (v_u8)sums))[0];
  return red_moments_of_sums(SMALL_CHUNK, (double)first_row / SMALL_ROW, sum_of_differences((int64_t)sum, flipped_row),
                             fold(lanes, SMALL_ROW / LANES));
}

#endif
