/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks of the law `sum-1`: 32 rows of L lanes, L = 512 / sizeof(accumulator), and the fold of the lanes. */
#ifndef RED_CUDA_LANES_CUH
#define RED_CUDA_LANES_CUH

#include "reduce.cuh"

namespace red {

constexpr unsigned rows = 32;

/* A tile is what a block of 128 threads takes: one chunk or two, `Lanes` adjacent lanes in each thread. */
template <class T, unsigned Lanes> struct Shape {
  static constexpr unsigned lanes = 512 / sizeof(T); /* of a row */
  static constexpr unsigned chunk = lanes * rows;
  static constexpr unsigned threads = lanes / Lanes;               /* of a chunk */
  static constexpr unsigned chunks = block_threads / threads;      /* of a tile */
  static constexpr unsigned long long tile = chunks * chunk;
};

template <class T> struct FoldScratch {
  T lane[2][block_threads];
};

/* `fold` of the law: lanes l and l + h for h = L/2 .. 1; then the node of the tile's chunks. In thread 0. */
template <class T, unsigned Lanes, class Merge>
__device__ inline T fold_lanes(T (&a)[Lanes], Merge merge, FoldScratch<T> &scratch) {
  using S = Shape<T, Lanes>;
#pragma unroll
  for (unsigned v = 0; v < Lanes; v++) scratch.lane[v][threadIdx.x] = a[v];
  __syncthreads();
  if (threadIdx.x >= 32) return a[0];
  T node[S::chunks];
#pragma unroll
  for (unsigned c = 0; c < S::chunks; c++) {
    T x[Lanes];
#pragma unroll
    for (unsigned v = 0; v < Lanes; v++) {
      const T *lane = scratch.lane[v] + c * S::threads + threadIdx.x;
      x[v] = S::threads == 128 ? merge(merge(lane[0], lane[64]), merge(lane[32], lane[96])) : merge(lane[0], lane[32]);
#pragma unroll
      for (unsigned h = 16; h > 0; h /= 2) x[v] = merge(x[v], warp_xor(x[v], h));
    }
    node[c] = Lanes == 2 ? merge(x[0], x[Lanes - 1]) : x[0];
  }
  return S::chunks == 2 ? merge(node[0], node[S::chunks - 1]) : node[0];
}

} // namespace red

#endif
