/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device headers' primitives cost: each kernel reads an element, passes it through one primitive and writes
 * one. Blocks have 256 threads, which divides n. Who gets no result writes its own element. Names are those of
 * shuffle.cl.
 */
#include <cstdint>

#include <red/device/cuda/block.cuh>

namespace {

constexpr unsigned group = 256, all_lanes = 0xffffffffu;

__device__ unsigned here() {
  return blockIdx.x * group + threadIdx.x;
}

__device__ unsigned lane() {
  return threadIdx.x % 32;
}

} // namespace

extern "C" __global__ void __launch_bounds__(group) plain(const float *in, uint32_t, float *out) {
  out[here()] = in[here()];
}

extern "C" __global__ void __launch_bounds__(group) group_sum(const float *in, uint32_t, float *out) {
  __shared__ red::BlockScratch<float> scratch;
  const float x = in[here()], sum = red::block_reduce<group>(x, red::Sum(), scratch);
  out[here()] = threadIdx.x == 0 ? sum : x;
}

extern "C" __global__ void __launch_bounds__(group) group_max(const float *in, uint32_t, float *out) {
  __shared__ red::BlockScratch<float> scratch;
  const float x = in[here()], most = red::block_reduce<group>(x, red::Max(), scratch);
  out[here()] = threadIdx.x == 0 ? most : x;
}

extern "C" __global__ void __launch_bounds__(group) group_inclusive(const float *in, uint32_t, float *out) {
  __shared__ red::BlockScratch<float> scratch;
  out[here()] = red::block_inclusive_scan<group>(in[here()], red::Sum(), scratch);
}

extern "C" __global__ void __launch_bounds__(group) group_exclusive(const float *in, uint32_t, float *out) {
  __shared__ red::BlockScratch<float> scratch;
  out[here()] = red::block_exclusive_scan<group>(in[here()], red::Sum(), 0.0f, scratch);
}

/* How many lanes a warp has. */
extern "C" __global__ void __launch_bounds__(group) lanes(const float *, uint32_t, float *out) {
  if (here() == 0) *out = 32.0f;
}

extern "C" __global__ void __launch_bounds__(group) lanes_broadcast(const float *in, uint32_t, float *out) {
  out[here()] = __shfl_sync(all_lanes, in[here()], 0);
}

extern "C" __global__ void __launch_bounds__(group) lanes_xor(const float *in, uint32_t, float *out) {
  out[here()] = __shfl_xor_sync(all_lanes, in[here()], 1);
}

extern "C" __global__ void __launch_bounds__(group) lanes_up(const float *in, uint32_t, float *out) {
  out[here()] = __shfl_up_sync(all_lanes, in[here()], 1);
}

extern "C" __global__ void __launch_bounds__(group) lanes_down(const float *in, uint32_t, float *out) {
  out[here()] = __shfl_down_sync(all_lanes, in[here()], 1);
}

extern "C" __global__ void __launch_bounds__(group) lanes_sum(const float *in, uint32_t, float *out) {
  const float x = in[here()], sum = red::warp_reduce(x, red::Sum());
  out[here()] = lane() == 0 ? sum : x;
}
