/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments of a chunk (`stats-1` of docs/numerics.md): the first row gives a shift near the mean; then one sweep sums
 * the differences from it and their squares, in rows and lanes as sums have them, but all in f64. Lanes without
 * elements are zero: the sign of a zero sum never reaches a result.
 */
#include "widen.h"

#include "kernels.def"

#if VB == 64 || defined(RED_ISA_neon)
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

enum {
  ROWS = 32,
  LANES = VB / 8,             /* of a vector */
  MOST_VECTORS = 128 / LANES, /* of a row */
  PASS = REGISTERS / 4,       /* columns whose sums are held in registers at a time; the chunk lies in L1 */
  LINE = 64
};

INLINE unsigned row_lanes(red_dtype in) {
  return element_bytes(in) == 8 ? 64 : 128;
}

INLINE unsigned row_vectors(red_dtype in) {
  return row_lanes(in) / LANES;
}

/* All lanes of a row by halving. */
INLINE double fold(v_f64 *lanes, unsigned vectors) {
  for (unsigned half = vectors / 2; half > 0; half /= 2)
    for (unsigned j = 0; j < half; j++) lanes[j] += lanes[j + half];
  return ((v_f64)v_fold(RED_ADD_F64, (v_u8)lanes[0]))[0];
}

/* `count` elements at p, fewer than a vector's lanes; `pad` beyond. */
INLINE v_f64 load_some(red_dtype in, const uint8_t *p, size_t count, double pad) {
  v_f64 x = (v_f64){0} + pad;
  for (size_t l = 0; l < count; l++) x[l] = element_f64(in, p + l * element_bytes(in));
  return x;
}

/* Near the mean: the first element and the mean difference from it over the first row. */
INLINE double shift_of(red_dtype in, const uint8_t *p, size_t n) {
  const size_t step = LANES * element_bytes(in), row = n < row_lanes(in) ? n : row_lanes(in);
  v_f64 lanes[MOST_VECTORS];
  double origin;
  if (row == row_lanes(in)) {
    origin = load_f64(in, p)[0];
    for (unsigned j = 0; j < row_vectors(in); j++) lanes[j] = load_f64(in, p + j * step) - origin;
  } else {
    origin = element_f64(in, p);
    for (unsigned j = 0; j < row_vectors(in); j++) {
      size_t left = row > j * LANES ? row - j * LANES : 0;
      lanes[j] = (left >= LANES ? load_f64(in, p + j * step) : load_some(in, p + j * step, left, origin)) - origin;
    }
  }
  return origin + fold(lanes, row_vectors(in)) / (double)row;
}

typedef struct sums {
  v_f64 difference[MOST_VECTORS], square[MOST_VECTORS];
} sums;

/*
 * Whole rows, PASS columns at a time. What lies `ahead` is asked for meanwhile: this takes longer than reading. Of wide
 * elements every second line, as they would ask for more than one core gets; the others come with their neighbours.
 */
INLINE void add_rows(red_dtype in, const uint8_t *p, size_t rows, double shift, size_t ahead, sums *all) {
  const size_t step = LANES * element_bytes(in), row_bytes = row_lanes(in) * element_bytes(in);
  const v_f64 shifts = (v_f64){0} + shift;
  const size_t stride = element_bytes(in) == 8 ? 2 * LINE : LINE;
  for (unsigned first = 0; first < row_vectors(in); first += PASS) {
    const uint8_t *row = p + first * step;
    v_f64 difference[PASS] = {{0}}, square[PASS] = {{0}};
    for (size_t r = 0; r < rows; r++, row += row_bytes) {
      if (ahead != 0)
        for (size_t line = 0; line < PASS * step; line += stride) __builtin_prefetch(row + ahead + line, 0, 2);
      for (unsigned j = 0; j < PASS; j++) {
        v_f64 d = v_spare_sub_f64(load_f64(in, row + j * step), shifts);
        if (j % 2 == 0)
          difference[j] += d;
        else
          difference[j] = v_spare_add_f64(d, difference[j]);
        square[j] += d * d;
      }
    }
    for (unsigned j = 0; j < PASS; j++) {
      all->difference[first + j] = difference[j];
      all->square[first + j] = square[j];
    }
  }
}

/* An incomplete row; the pad is the shift, which differs from itself by nothing. */
INLINE void add_last_row(red_dtype in, const uint8_t *p, size_t count, double shift, sums *all) {
  const size_t step = LANES * element_bytes(in);
  for (unsigned j = 0; count > 0; j++, p += step) {
    size_t here = count < LANES ? count : LANES;
    v_f64 d = (here == LANES ? load_f64(in, p) : load_some(in, p, here, shift)) - shift;
    all->difference[j] += d;
    all->square[j] += d * d;
    count -= here;
  }
}

INLINE red_moments moments(red_dtype in, const uint8_t *p, size_t n, size_t ahead) {
  const size_t rows = n / row_lanes(in), rest = n % row_lanes(in);
  const double shift = shift_of(in, p, n);
  sums all;
  if (rows == ROWS)
    add_rows(in, p, ROWS, shift, ahead, &all);
  else
    add_rows(in, p, rows, shift, 0, &all);
  if (rest > 0) add_last_row(in, p + rows * row_lanes(in) * element_bytes(in), rest, shift, &all);
  double difference = fold(all.difference, row_vectors(in)), square = fold(all.square, row_vectors(in));
  return red_moments_of_sums(n, shift, difference, square);
}

#define KERNEL(dtype, suffix)                                                                                          \
  red_moments ISA(moments_##suffix)(const void *in, size_t n, size_t ahead) {                                          \
    return moments(dtype, in, n, ahead);                                                                               \
  }
RED_DTYPE_NAMES(KERNEL)
#undef KERNEL
