/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device headers' primitives cost: each thread reads four consecutive elements, passes them through one
 * primitive and writes four. Moves of lanes move each element; a reduction or a scan begins with the thread's own four.
 * Blocks have 256 threads. Who gets no result writes its own elements. Names are those of shuffle.cl.
 */
#include <cstdint>

#include <red/device/cuda/block.cuh>

namespace {

constexpr unsigned group = 256, all_lanes = 0xffffffffu;

using Scratch = red::BlockScratch<float>;

__device__ unsigned here() {
  return blockIdx.x * group + threadIdx.x;
}

template <class Op> __device__ float fold(float4 x, Op op) {
  return op(op(op(x.x, x.y), x.z), x.w);
}

/* The running sums of a thread's elements, after `before`. */
__device__ float4 run_on(float before, float4 x) {
  x.x += before;
  x.y += x.x;
  x.z += x.y;
  x.w += x.z;
  return x;
}

template <class Op> __device__ void reduce_group(const float4 *in, float4 *out, Op op) {
  __shared__ Scratch scratch;
  float4 x = in[here()];
  const float all = red::block_reduce<group>(fold(x, op), op, scratch);
  if (threadIdx.x == 0) x.x = all;
  out[here()] = x;
}

/* What the threads before this one add up to. */
__device__ float sum_before(float4 x, Scratch &scratch) {
  return red::block_exclusive_scan<group>(fold(x, red::Sum()), red::Sum(), 0.0f, scratch);
}

template <class Move> __device__ void move_lanes(const float4 *in, float4 *out, Move move) {
  const float4 x = in[here()];
  out[here()] = make_float4(move(x.x), move(x.y), move(x.z), move(x.w));
}

} // namespace

extern "C" __global__ void __launch_bounds__(group) plain(const float4 *in, uint32_t, float4 *out) {
  out[here()] = in[here()];
}

extern "C" __global__ void __launch_bounds__(group) group_sum(const float4 *in, uint32_t, float4 *out) {
  reduce_group(in, out, red::Sum());
}

extern "C" __global__ void __launch_bounds__(group) group_max(const float4 *in, uint32_t, float4 *out) {
  reduce_group(in, out, red::Max());
}

extern "C" __global__ void __launch_bounds__(group) group_inclusive(const float4 *in, uint32_t, float4 *out) {
  __shared__ Scratch scratch;
  const float4 x = in[here()];
  out[here()] = run_on(sum_before(x, scratch), x);
}

extern "C" __global__ void __launch_bounds__(group) group_exclusive(const float4 *in, uint32_t, float4 *out) {
  __shared__ Scratch scratch;
  const float4 x = in[here()];
  const float before = sum_before(x, scratch);
  out[here()] = run_on(before, make_float4(0.0f, x.x, x.y, x.z));
}

/* How many lanes a warp has. */
extern "C" __global__ void __launch_bounds__(group) lanes(const float4 *, uint32_t, float *out) {
  if (here() == 0) *out = 32.0f;
}

extern "C" __global__ void __launch_bounds__(group) lanes_broadcast(const float4 *in, uint32_t, float4 *out) {
  move_lanes(in, out, [](float x) { return __shfl_sync(all_lanes, x, 0); });
}

extern "C" __global__ void __launch_bounds__(group) lanes_xor(const float4 *in, uint32_t, float4 *out) {
  move_lanes(in, out, [](float x) { return __shfl_xor_sync(all_lanes, x, 1); });
}

extern "C" __global__ void __launch_bounds__(group) lanes_up(const float4 *in, uint32_t, float4 *out) {
  move_lanes(in, out, [](float x) { return __shfl_up_sync(all_lanes, x, 1); });
}

extern "C" __global__ void __launch_bounds__(group) lanes_down(const float4 *in, uint32_t, float4 *out) {
  move_lanes(in, out, [](float x) { return __shfl_down_sync(all_lanes, x, 1); });
}

extern "C" __global__ void __launch_bounds__(group) lanes_sum(const float4 *in, uint32_t, float4 *out) {
  float4 x = in[here()];
  const float sum = red::warp_reduce(fold(x, red::Sum()), red::Sum());
  if (threadIdx.x % 32 == 0) x.x = sum;
  out[here()] = x;
}
