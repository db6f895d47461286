/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA ladder: one kernel a step, each differing from the last by one idea (after Harris, Optimizing Parallel
 * Reduction in CUDA, 2007, whose last warp relied on lanes running in step; since Volta they need not). Names and
 * arguments are those of ladder.cl. A block adds up its part of `in` and writes one partial sum; `in` and `out` are
 * different arrays.
 */
#include <cooperative_groups.h>

#include <cstdint>

namespace {

constexpr unsigned group = 256, warp = 32, all_lanes = 0xffffffffu;

__device__ unsigned thread_of_grid() {
  return blockIdx.x * group + threadIdx.x;
}

__device__ float load_one(const float *in, uint32_t n) {
  const unsigned i = thread_of_grid();
  return i < n ? in[i] : 0.0f;
}

__device__ float load_two(const float *in, uint32_t n) {
  const unsigned i = blockIdx.x * 2 * group + threadIdx.x;
  return (i < n ? in[i] : 0.0f) + (i + group < n ? in[i + group] : 0.0f);
}

__device__ float load_many(const float *in, uint32_t n) {
  const float4 *quads = reinterpret_cast<const float4 *>(in);
  const unsigned stride = gridDim.x * group;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
  for (unsigned i = thread_of_grid(); i < n / 4; i += stride) {
    const float4 x = quads[i];
    sum.x += x.x;
    sum.y += x.y;
    sum.z += x.z;
    sum.w += x.w;
  }
  const float rest = thread_of_grid() < n % 4 ? in[n / 4 * 4 + thread_of_grid()] : 0.0f;
  return ((sum.x + sum.y) + (sum.z + sum.w)) + rest;
}

__device__ void add_halves(float *a) {
  for (unsigned s = group / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) a[threadIdx.x] += a[threadIdx.x + s];
    __syncthreads();
  }
}

/* Within a warp __syncwarp orders what lanes read and write; between the two, no lane may have moved on. */
__device__ void add_last_warp(volatile float *a) {
  const unsigned l = threadIdx.x;
  float sum = a[l] + a[l + 32];
#pragma unroll
  for (unsigned s = 16; s > 0; s /= 2) {
    __syncwarp();
    a[l] = sum;
    __syncwarp();
    sum += a[l + s];
  }
  __syncwarp();
  a[l] = sum;
}

__device__ void add_unrolled(float *a) {
  const unsigned l = threadIdx.x;
  if (l < 128) a[l] += a[l + 128];
  __syncthreads();
  if (l < 64) a[l] += a[l + 64];
  __syncthreads();
  if (l < warp) add_last_warp(a);
}

__device__ float add_lanes(float value) {
#pragma unroll
  for (unsigned s = warp / 2; s > 0; s /= 2) value += __shfl_down_sync(all_lanes, value, s);
  return value;
}

/* `loads` elements, a multiple of Batch. No test is between the loads of a batch: all are under way before one is
 * added. */
template <unsigned Batch> __device__ float add_batches(const float *in, uint32_t n, uint32_t loads) {
  const uint32_t first = blockIdx.x * loads * group + threadIdx.x;
  float sum = 0.0f;
  for (uint32_t k = 0; k < loads; k += Batch) {
    float x[Batch];
#pragma unroll
    for (unsigned j = 0; j < Batch; j++) {
      const uint32_t i = first + (k + j) * group;
      x[j] = i < n ? in[i] : 0.0f;
    }
#pragma unroll
    for (unsigned j = 0; j < Batch; j++) sum += x[j];
  }
  return sum;
}

/* Thread 0 gets the sum of the block. */
__device__ float add_group(float value) {
  __shared__ float a[warp];
  const unsigned lane = threadIdx.x % warp, index = threadIdx.x / warp;
  value = add_lanes(value);
  __syncthreads(); /* of an earlier call, whose values might still be read */
  if (lane == 0) a[index] = value;
  __syncthreads();
  value = threadIdx.x < group / warp ? a[lane] : 0.0f;
  return index == 0 ? add_lanes(value) : value;
}

} // namespace

/* ---- 1: interleaved addressing, with modulo: neighbours diverge ---- */

extern "C" __global__ void __launch_bounds__(group) interleaved(const float *in, uint32_t n, float *out) {
  __shared__ float a[group];
  const unsigned l = threadIdx.x;
  a[l] = load_one(in, n);
  __syncthreads();
  for (unsigned s = 1; s < group; s *= 2) {
    if (l % (2 * s) == 0) a[l] += a[l + s];
    __syncthreads();
  }
  if (l == 0) out[blockIdx.x] = a[0];
}

/* ---- 2: the same pairs, by consecutive threads: no divergence, but strides meet in the same banks ---- */

extern "C" __global__ void __launch_bounds__(group) strided(const float *in, uint32_t n, float *out) {
  __shared__ float a[group];
  a[threadIdx.x] = load_one(in, n);
  __syncthreads();
  for (unsigned s = 1; s < group; s *= 2) {
    const unsigned k = 2 * s * threadIdx.x;
    if (k < group) a[k] += a[k + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = a[0];
}

/* ---- 3: sequential addressing: consecutive threads, consecutive banks ---- */

extern "C" __global__ void __launch_bounds__(group) sequential(const float *in, uint32_t n, float *out) {
  __shared__ float a[group];
  a[threadIdx.x] = load_one(in, n);
  __syncthreads();
  add_halves(a);
  if (threadIdx.x == 0) out[blockIdx.x] = a[0];
}

/* ---- 4: add while loading: no thread idles in the first step ---- */

extern "C" __global__ void __launch_bounds__(group) add_loading(const float *in, uint32_t n, float *out) {
  __shared__ float a[group];
  a[threadIdx.x] = load_two(in, n);
  __syncthreads();
  add_halves(a);
  if (threadIdx.x == 0) out[blockIdx.x] = a[0];
}

/* ---- 5: unrolled, and the last warp without the block's barriers ---- */

extern "C" __global__ void __launch_bounds__(group) unrolled(const float *in, uint32_t n, float *out) {
  __shared__ float a[group];
  a[threadIdx.x] = load_two(in, n);
  __syncthreads();
  add_unrolled(a);
  if (threadIdx.x == 0) out[blockIdx.x] = a[0];
}

/* ---- 6: shuffles within warps, shared memory once between them ---- */

extern "C" __global__ void __launch_bounds__(group) shuffled(const float *in, uint32_t n, float *out) {
  const float sum = add_group(load_two(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/* ---- 7: as many blocks as the device holds, each striding through the array with 16-byte loads ---- */

extern "C" __global__ void __launch_bounds__(group) grid_stride(const float *in, uint32_t n, float *out) {
  const float sum = add_group(load_many(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/* ---- How blocks combine: step 7 takes a second launch; or atomics; or the last block ---- */

extern "C" __global__ void __launch_bounds__(group) combine_atomics(const float *in, uint32_t n, float *out) {
  const float sum = add_group(load_many(in, n));
  if (threadIdx.x == 0) atomicAdd(out, sum); /* *out begins as zero */
}

/* The counter is zero before, and again afterwards. */
extern "C" __global__ void __launch_bounds__(group)
    combine_last(const float *in, uint32_t n, float *out, volatile float *parts, unsigned *counter) {
  __shared__ bool last;
  float sum = add_group(load_many(in, n));
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(counter, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = 0.0f;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += group) sum += parts[k];
  sum = add_group(sum);
  if (threadIdx.x != 0) return;
  *out = sum;
  *counter = 0;
}

/* All blocks run at the same time and meet at a barrier; then the first one adds up. */
extern "C" __global__ void __launch_bounds__(group)
    combine_grid(const float *in, uint32_t n, float *out, volatile float *parts) {
  float sum = add_group(load_many(in, n));
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x != 0) return;
  sum = 0.0f;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += group) sum += parts[k];
  sum = add_group(sum);
  if (threadIdx.x == 0) *out = sum;
}

/* ---- Coarsening: how many elements a thread takes, everything else as in step 6 ---- */

extern "C" __global__ void __launch_bounds__(group) coarsened(const float *in, uint32_t n, float *out, uint32_t loads) {
  float sum = loads >= 8   ? add_batches<8>(in, n, loads)
              : loads == 4 ? add_batches<4>(in, n, loads)
              : loads == 2 ? add_batches<2>(in, n, loads)
                           : add_batches<1>(in, n, loads);
  sum = add_group(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/* ---- The roofline: a thread a quad, and nothing else; whoever finds a certain word says so ---- */

extern "C" __global__ void __launch_bounds__(group) read_all(const uint4 *in, uint32_t quads, uint32_t *out) {
  const unsigned i = thread_of_grid();
  if (i >= quads) return;
  const uint4 x = in[i];
  if ((x.x | x.y | x.z | x.w) == 0xdeadbeefu) *out = 1;
}
