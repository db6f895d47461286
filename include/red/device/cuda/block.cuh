/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Block primitives for your own kernels, on top of warp.cuh: reductions and scans with one barrier. A block is
 * one-dimensional, of any size up to 1024; a last warp that is not full is handled. All threads call; `scratch` is
 * shared memory, BlockScratch<T>, and may be used again after a __syncthreads(). Where the size is known at compile
 * time, say so: block_reduce<256>(...) is a little shorter.
 *
 * Order: warp_reduce inside each warp, then warp_reduce over the warps' results; scans: warp_inclusive_scan inside each
 * warp; the totals of the warps before it, folded from left to right, are each warp's left operand.
 */
#ifndef RED_DEVICE_CUDA_BLOCK_CUH
#define RED_DEVICE_CUDA_BLOCK_CUH

#include "warp.cuh"

namespace red {

template <class T> struct BlockScratch { T warp[32]; };

namespace detail {
__device__ inline unsigned warp_index() {
  return threadIdx.x / 32;
}
template <unsigned Threads> __device__ inline unsigned block_size() {
  return Threads != 0 ? Threads : blockDim.x;
}
template <unsigned Threads> __device__ inline unsigned warp_count() {
  return (block_size<Threads>() + 31) / 32;
}
/* How many lanes this thread's warp has. */
template <unsigned Threads> __device__ inline unsigned warp_lanes() {
  if (Threads % 32 == 0 && Threads != 0) return 32;
  unsigned rest = block_size<Threads>() - (threadIdx.x & ~31u);
  return rest < 32 ? rest : 32;
}
} // namespace detail

/* The result is in thread 0. One barrier: the warps relay through shared memory and the first one finishes. */
template <unsigned Threads = 0, class T, class Op>
__device__ inline T block_reduce(T value, Op op, BlockScratch<T> &scratch) {
  unsigned lane = lane_index(), warp = detail::warp_index(), warps = detail::warp_count<Threads>();
  value = warp_reduce(value, op, detail::warp_lanes<Threads>());
  if (warps == 1) return value;
  if (lane == 0) scratch.warp[warp] = value;
  __syncthreads();
  if (warp == 0 && lane < warps) value = warp_reduce(scratch.warp[lane], op, warps);
  return value;
}

/*
 * The same, and every thread gets it: a second barrier. (Each warp finishing by itself would do with one, but took up
 * to 1.4 times as long: a block's warps have better things to do than all the same.)
 */
template <unsigned Threads = 0, class T, class Op>
__device__ inline T block_reduce_all(T value, Op op, BlockScratch<T> &scratch) {
  value = block_reduce<Threads>(value, op, scratch);
  if (threadIdx.x == 0) scratch.warp[0] = value; /* which nobody else has read */
  __syncthreads();
  return scratch.warp[0];
}

namespace detail {
/* The totals of the warps before this one, folded; the first warp gets something to be left alone. One barrier. */
template <unsigned Threads = 0, class T, class Op>
__device__ inline T warps_before(T inclusive, Op op, BlockScratch<T> &scratch) {
  unsigned lane = lane_index(), warp = warp_index(), warps = warp_count<Threads>();
  if (lane + 1 == warp_lanes<Threads>()) scratch.warp[warp] = inclusive;
  __syncthreads();
  /* Each warp folds what it needs: cheaper than a second barrier. */
  T before = scratch.warp[0];
  for (unsigned w = 1; w < warp && w < warps; w++) before = op(before, scratch.warp[w]);
  return before;
}
} // namespace detail

/* Thread t gets a[0] op .. op a[t]. */
template <unsigned Threads = 0, class T, class Op>
__device__ inline T block_inclusive_scan(T value, Op op, BlockScratch<T> &scratch) {
  value = warp_inclusive_scan(value, op, detail::warp_lanes<Threads>());
  T before = detail::warps_before<Threads>(value, op, scratch);
  return detail::warp_index() == 0 ? value : op(before, value);
}

/* Thread t gets a[0] op .. op a[t-1]; thread 0 gets `identity`. *total (all threads) gets the whole, unless NULL. */
template <unsigned Threads = 0, class T, class Op>
__device__ inline T block_exclusive_scan(T value, Op op, T identity, BlockScratch<T> &scratch, T *total = nullptr) {
  unsigned lanes = detail::warp_lanes<Threads>(), warp = detail::warp_index();
  T inclusive = warp_inclusive_scan(value, op, lanes);
  T left = warp_up(inclusive, 1, lanes);
  T before = detail::warps_before<Threads>(inclusive, op, scratch);
  if (total != nullptr) {
    T all = scratch.warp[0];
    for (unsigned w = 1; w < detail::warp_count<Threads>(); w++) all = op(all, scratch.warp[w]);
    *total = all;
  }
  if (lane_index() == 0) return warp == 0 ? identity : before;
  return warp == 0 ? left : op(before, left);
}

} // namespace red

#endif
