/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments, the nodes of the variance (`stats-1` of docs/numerics.md, core/moments.h): of sums, of neighbours, and folds
 * of a row's lanes by halving. All arithmetic is rounded to nearest, divisions too.
 */
#ifndef RED_CUDA_MOMENTS_CUH
#define RED_CUDA_MOMENTS_CUH

#include "lanes.cuh"

namespace red {

struct Moments {
  uint64_t count;
  double mean, low, squares;
};

/* `shift` + `offset` without error. */
__device__ inline void set_mean(Moments &m, double shift, double offset) {
  double mean = shift + offset, part = mean - shift;
  m.mean = mean;
  m.low = (shift - (mean - part)) + (offset - part);
}

/* Divided by a power of two or by anything else: the quotient is the same, the way is shorter. */
template <unsigned Whole> __device__ inline double divide(double sum, unsigned count) {
  return count == Whole ? sum * (1.0 / Whole) : __ddiv_rn(sum, static_cast<double>(count));
}

template <unsigned Chunk>
__device__ inline Moments moments_of_sums(unsigned count, double shift, double sum, double squares) {
  Moments m;
  double offset = divide<Chunk>(sum, count);
  m.count = count;
  m.squares = squares - sum * offset;
  if (m.squares < 0) m.squares = 0;
  set_mean(m, shift, offset);
  return m;
}

/* Neighbours, a on the left; either may be missing. Complete siblings have equal counts. */
__device__ inline Moments merge_moments(const Moments &a, const Moments &b) {
  if (b.count == 0) return a;
  Moments m;
  m.count = a.count + b.count;
  double share = a.count == b.count ? 0.5 : __ddiv_rn(__ull2double_rn(b.count), __ull2double_rn(m.count));
  double delta = (b.mean - a.mean) + (b.low - a.low);
  m.squares = (a.squares + b.squares) + (delta * delta) * (__ull2double_rn(a.count) * share);
  set_mean(m, a.mean, a.low + delta * share);
  return m;
}

} // namespace red

#endif
