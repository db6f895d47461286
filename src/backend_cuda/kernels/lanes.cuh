/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks of the law `sum-1`: 32 rows of L lanes, L = 512 / sizeof(accumulator), and the fold of the lanes. */
#ifndef RED_CUDA_LANES_CUH
#define RED_CUDA_LANES_CUH

#include "combine.cuh"
#include "policy.cuh"

namespace red {

constexpr unsigned rows = 32;

/* Bytes of a number that lanes add, of which there may be several side by side. */
template <class T> constexpr unsigned number_bytes = sizeof(T);

/* By value: a choice between elements of an array would put the array into memory. */
template <class T> __device__ inline T either(bool first, T a, T b) {
  return first ? a : b;
}

/* A tile is what a block of 128 threads takes: one chunk, two or four, `Lanes` adjacent lanes in each thread. */
template <class T, unsigned Lanes> struct Shape {
  static constexpr unsigned lanes = 512 / number_bytes<T>; /* of a row */
  static constexpr unsigned chunk = lanes * rows;
  static constexpr unsigned threads = lanes / Lanes;          /* of a chunk */
  static constexpr unsigned chunks = block_threads / threads; /* of a tile */
  static constexpr unsigned long long tile = chunks * chunk;
};

/* How many elements the chunk at `first` has. */
__device__ inline unsigned left_in_chunk(uint64_t n, uint64_t first, unsigned chunk) {
  if (first >= n) return 0;
  return n - first < chunk ? static_cast<unsigned>(n - first) : chunk;
}

template <class T> struct FoldScratch { T lane[block_threads]; };

/* `fold` of the law: lanes l and l + h for h = L/2 .. 1; then the node of the tile's chunks. In warp 0. */

/* One lane in each thread: a chunk has two warps or four. */
template <class T, class Merge> __device__ inline T fold_stored(Merge merge, const FoldScratch<T> &scratch) {
  using S = Shape<T, 1>;
  T node[S::chunks];
#pragma unroll
  for (unsigned c = 0; c < S::chunks; c++) {
    const T *lane = scratch.lane + c * S::threads + threadIdx.x;
    node[c] = S::threads == 128 ? merge(merge(lane[0], lane[64]), merge(lane[32], lane[96])) : merge(lane[0], lane[32]);
#pragma unroll
    for (unsigned h = 16; h > 0; h /= 2) node[c] = merge(node[c], warp_xor(node[c], h));
  }
  return S::chunks == 2 ? merge(node[0], node[S::chunks - 1]) : node[0];
}

template <class T, class Merge> __device__ inline T fold_lanes(T (&a)[1], Merge merge, FoldScratch<T> &scratch) {
  scratch.lane[threadIdx.x] = a[0];
  __syncthreads();
  return threadIdx.x < 32 ? fold_stored(merge, scratch) : a[0];
}

/* Two lanes in each thread: a chunk is a warp, a tile four of them. */
template <class T, class Merge> __device__ inline T fold_lanes(T (&a)[2], Merge merge, FoldScratch<T> &scratch) {
  static_assert(Shape<T, 2>::threads == 32, "a warp has a chunk");
  unsigned thread = threadIdx.x % 32;
  bool upper = thread & 16;
  T one = merge(either(upper, a[1], a[0]), warp_xor(either(upper, a[0], a[1]), 16));
#pragma unroll
  for (unsigned h = 8; h > 0; h /= 2) one = merge(one, warp_xor(one, h));
  one = merge(one, warp_xor(one, 16)); /* lanes 0 and 1 of the last two */
  if (thread == 0) scratch.lane[threadIdx.x / 32] = one;
  __syncthreads();
  return merge(merge(scratch.lane[0], scratch.lane[1]), merge(scratch.lane[2], scratch.lane[3]));
}

/* Four adjacent lanes in each thread: a chunk is a warp. Threads exchange lanes, so that each is left with one. */
template <class T, class Merge> __device__ inline T fold_warp(const T (&a)[4], Merge merge) {
  unsigned thread = threadIdx.x % 32;
  bool upper = thread & 16, second = thread & 8;
  T low = merge(either(upper, a[2], a[0]), warp_xor(either(upper, a[0], a[2]), 16));
  T high = merge(either(upper, a[3], a[1]), warp_xor(either(upper, a[1], a[3]), 16));
  T one = merge(either(second, high, low), warp_xor(either(second, low, high), 8));
#pragma unroll
  for (unsigned h = 4; h > 0; h /= 2) one = merge(one, warp_xor(one, h));
  one = merge(one, warp_xor(one, 16)); /* lanes 0 and 2, 1 and 3 of the last four */
  return merge(one, warp_xor(one, 8));
}

template <class T, class Merge> __device__ inline T fold_lanes(T (&a)[4], Merge merge, FoldScratch<T> &scratch) {
  static_assert(Shape<T, 4>::threads == 32, "a warp has a chunk");
  T one = fold_warp(a, merge);
  if (threadIdx.x % 32 == 0) scratch.lane[threadIdx.x / 32] = one;
  __syncthreads();
  return merge(merge(scratch.lane[0], scratch.lane[1]), merge(scratch.lane[2], scratch.lane[3]));
}

} // namespace red

#endif
