/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments, the nodes of the variance (`stats-1` of docs/numerics.md): how many elements, their mean and the sum of the
 * squared deviations from it. The mean is an unevaluated sum of two doubles, so that means of chunks can be subtracted
 * however small their difference.
 */
#ifndef RED_CORE_MOMENTS_H
#define RED_CORE_MOMENTS_H

#include <stdint.h>

typedef struct red_moments {
  uint64_t count;
  double mean, mean_low;
  double squares;
} red_moments;

/* `shift` + `offset` as a sum of two doubles without error (Knuth, The Art of Computer Programming 2, 4.2.2). */
static inline void red_moments_set_mean(red_moments *moments, double shift, double offset) {
  double mean = shift + offset, part = mean - shift;
  moments->mean = mean;
  moments->mean_low = (shift - (mean - part)) + (offset - part);
}

/* A chunk of `count` elements: the sums of the differences from `shift` and of their squares. */
static inline red_moments red_moments_of_sums(uint64_t count, double shift, double sum, double squares) {
  red_moments moments = {.count = count};
  double offset = sum / (double)count;
  moments.squares = squares - sum * offset;
  if (moments.squares < 0) moments.squares = 0; /* of rounding alone; a NaN stays */
  red_moments_set_mean(&moments, shift, offset);
  return moments;
}

/* Two neighbours, a on the left (Chan, Golub and LeVeque 1983). */
red_moments red_moments_merge(red_moments a, red_moments b);

typedef struct red_moments_node {
  uint64_t index;
  unsigned level;
  red_moments moments;
} red_moments_node;

/* The complete nodes of a contiguous range of chunks, as red_forest has them for sums (order.h). */
typedef struct red_moments_forest {
  unsigned count;
  red_moments_node nodes[129];
} red_moments_forest;

static inline void red_moments_clear(red_moments_forest *forest) {
  forest->count = 0;
}
void red_moments_push(red_moments_forest *forest, unsigned level, uint64_t index, red_moments moments);
void red_moments_append(red_moments_forest *forest, const red_moments_forest *next);

/* The root of a range that begins at chunk 0; count 0 if it is empty. */
red_moments red_moments_root(const red_moments_forest *forest);

#endif
