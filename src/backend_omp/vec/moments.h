/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sweeps for moments share (`stats-1` of docs/numerics.md): rows and lanes as sums have them, but all in f64; a
 * shift near the mean, from the first row; sums of the differences from it and of their squares, by lanes, and their
 * fold. Lanes without elements are zero: the sign of a zero sum never reaches a result.
 */
#ifndef RED_VEC_MOMENTS_H
#define RED_VEC_MOMENTS_H

#include "rows.h"
#include "widen.h"

#if VB == 64 || defined(RED_ISA_avx512_half) || defined(RED_ISA_neon)
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

enum {
  LANES = VB / 8,             /* of a vector of doubles */
  MOST_VECTORS = 128 / LANES, /* of a row */
  COLUMNS = REGISTERS / 4,    /* vectors whose sums are held in registers at a time; the chunk lies in L1 */
  LINE = 64
};

INLINE unsigned row_lanes(red_dtype in) {
  return element_bytes(in) == 8 ? 64 : 128;
}

INLINE unsigned row_vectors(red_dtype in) {
  return row_lanes(in) / LANES;
}

INLINE void halve_f64(v_f64 *lanes, unsigned half) {
  UNROLLED
  for (unsigned j = 0; j < half; j++) lanes[j] += lanes[j + half];
}

/* All lanes of a row by halving, without a detour through memory. */
INLINE double fold(v_f64 *lanes, unsigned vectors) {
  if (vectors > 32) halve_f64(lanes, 32);
  if (vectors > 16) halve_f64(lanes, 16);
  if (vectors > 8) halve_f64(lanes, 8);
  if (vectors > 4) halve_f64(lanes, 4);
  if (vectors > 2) halve_f64(lanes, 2);
  if (vectors > 1) halve_f64(lanes, 1);
  return ((v_f64)v_fold(RED_ADD_F64, (v_u8)lanes[0]))[0];
}

/* `count` elements at p, fewer than a vector's lanes; `pad` beyond. */
INLINE v_f64 load_some(red_dtype in, const uint8_t *p, size_t count, double pad) {
  v_f64 x = (v_f64){0} + pad;
  for (size_t l = 0; l < count; l++) x[l] = element_f64(in, p + l * element_bytes(in));
  return x;
}

/* Near the mean: the first element and the mean difference from it over the first row, which is complete, */
INLINE double shift_of_row(red_dtype in, const uint8_t *p) {
  const size_t step = LANES * element_bytes(in);
  const unsigned half = row_vectors(in) / 2;
  const double origin = load_f64(in, p)[0];
  v_f64 lanes[MOST_VECTORS / 2];
  UNROLLED
  for (unsigned j = 0; j < half; j++)
    lanes[j] = (load_f64(in, p + j * step) - origin) + (load_f64(in, p + (j + half) * step) - origin);
  return origin + fold(lanes, half) / row_lanes(in);
}

/* or has n elements. */
INLINE double shift_of_some(red_dtype in, const uint8_t *p, size_t n) {
  const size_t step = LANES * element_bytes(in);
  const double origin = element_f64(in, p);
  v_f64 lanes[MOST_VECTORS];
  for (unsigned j = 0; j < row_vectors(in); j++) {
    const size_t left = n > j * LANES ? n - j * LANES : 0;
    lanes[j] = (left >= LANES ? load_f64(in, p + j * step) : load_some(in, p + j * step, left, origin)) - origin;
  }
  return origin + fold(lanes, row_vectors(in)) / (double)n;
}

typedef struct moment_sums {
  v_f64 difference[MOST_VECTORS], square[MOST_VECTORS];
} moment_sums;

/* Of n elements; `vectors` are not yet folded. */
INLINE red_moments moments_of(size_t n, double shift, moment_sums *all, unsigned vectors) {
  double difference = fold(all->difference, vectors), square = fold(all->square, vectors);
  return red_moments_of_sums(n, shift, difference, square);
}

/* Vector j of a row; `spare`: some of the additions are left to the multipliers. */
INLINE void add_moments(v_f64 *difference, v_f64 *square, unsigned j, bool spare, v_f64 x, v_f64 shifts) {
  const v_f64 d = v_spare_sub_f64(x, shifts);
  if (spare)
    difference[j] = v_spare_add_f64(d, difference[j]);
  else
    difference[j] += d;
  square[j] += d * d;
}

/*
 * Ask for `bytes` bytes of what is read later. Of wide elements for every second line, as they would ask for more than
 * one core gets; the others come with their neighbours.
 */
INLINE void ask_ahead(red_dtype in, const uint8_t *p, size_t bytes) {
  for (size_t line = 0; line < bytes; line += element_bytes(in) == 8 ? 4 * LINE : LINE)
    __builtin_prefetch(p + line, 0, 2);
}

#endif
