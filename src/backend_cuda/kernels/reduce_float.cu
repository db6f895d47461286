/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Canonical sums and products of floats: the law `sum-1`. A chunk is 32 rows of L lanes (L = 512 /
 * sizeof(accumulator)); each thread owns one lane, or four adjacent ones of 16-bit elements, and has all 32 rows in
 * flight before it adds.
 */
#include "lanes.cuh"

namespace red {

/* ---- Elements: what a thread loads in a row, and the `lanes` values in it ------------------------------------------
 */

struct LoadF32 {
  using Word = float;
  static constexpr unsigned lanes = 1;
  __device__ void widen(Word word, float (&x)[1]) const { x[0] = word; }
  __device__ float one(const void *in, uint64_t i) const { return static_cast<const float *>(in)[i]; }
};

struct LoadF64 {
  using Word = double;
  static constexpr unsigned lanes = 1;
  __device__ void widen(Word word, double (&x)[1]) const { x[0] = word; }
  __device__ double one(const void *in, uint64_t i) const { return static_cast<const double *>(in)[i]; }
};

struct LoadF16 {
  using Word = uint2;
  static constexpr unsigned lanes = 4;
  __device__ void widen(Word word, float (&x)[4]) const {
    x[0] = f16_to_f32(static_cast<uint16_t>(word.x));
    x[1] = f16_to_f32(static_cast<uint16_t>(word.x >> 16));
    x[2] = f16_to_f32(static_cast<uint16_t>(word.y));
    x[3] = f16_to_f32(static_cast<uint16_t>(word.y >> 16));
  }
  __device__ float one(const void *in, uint64_t i) const { return f16_to_f32(static_cast<const uint16_t *>(in)[i]); }
};

struct LoadBF16 {
  using Word = uint2;
  static constexpr unsigned lanes = 4;
  __device__ void widen(Word word, float (&x)[4]) const {
    x[0] = __uint_as_float(word.x << 16);
    x[1] = __uint_as_float(word.x & 0xffff0000u);
    x[2] = __uint_as_float(word.y << 16);
    x[3] = __uint_as_float(word.y & 0xffff0000u);
  }
  __device__ float one(const void *in, uint64_t i) const { return bf16_to_f32(static_cast<const uint16_t *>(in)[i]); }
};

/* One element of a dtype known at compile time, as T. */
template <class T, unsigned Dtype> struct LoadOne {
  static constexpr unsigned lanes = 1;
  __device__ T one(const void *in, uint64_t i) const {
    if (Dtype == RED_F16) return static_cast<T>(f16_to_f32(__ldg(static_cast<const uint16_t *>(in) + i)));
    if (Dtype == RED_BF16) return static_cast<T>(bf16_to_f32(__ldg(static_cast<const uint16_t *>(in) + i)));
    if (Dtype == RED_F32) return static_cast<T>(__ldg(static_cast<const float *>(in) + i));
    return static_cast<T>(__ldg(static_cast<const double *>(in) + i));
  }
};

/* A chunk that need not be full: some rows at a time, whatever is missing being the identity. */
template <int Batch, class T, class Load, class Merge>
__device__ inline void add_partial(const Load &load, const void *in, unsigned left, unsigned lane, T identity,
                                   Merge merge, T (&a)[Load::lanes]) {
  constexpr unsigned row_lanes = 512 / sizeof(T), batch = Batch;
#pragma unroll 1
  for (unsigned r = 0; r * row_lanes < left; r += batch) {
    T x[batch][Load::lanes];
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) {
        unsigned at = (r + i) * row_lanes + lane + v;
        x[i][v] = at < left ? load.one(in, at) : identity;
      }
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) a[v] = merge(a[v], x[i][v]);
  }
}

template <class T, class Load, bool Streaming>
__device__ inline void add_chunk(const Load &load, const void *in, T (&a)[Load::lanes]) {
  using Word = typename Load::Word;
  constexpr unsigned stride = 512 / sizeof(T) / Load::lanes;
  Word word[rows];
#pragma unroll
  for (unsigned r = 0; r < rows; r++) word[r] = load_input<Streaming>(static_cast<const Word *>(in) + r * stride);
#pragma unroll
  for (unsigned r = 0; r < rows; r++) {
    T x[Load::lanes];
    load.widen(word[r], x);
#pragma unroll
    for (unsigned v = 0; v < Load::lanes; v++) a[v] = r == 0 ? x[v] : a[v] + x[v];
  }
}

template <class T> struct Scratch {
  CombineScratch combine;
  FoldScratch<T> fold;
};

/* Sums with a load of their own. */
template <class T, class Load, bool Quick> __device__ inline void reduce_sum(const red_cuda_reduce &args) {
  using S = Shape<T, Load::lanes>;
  __shared__ Scratch<T> scratch;
  Load load;
  const AddFloats add(args.element);
  const FloatPolicy<T, AddFloats> policy(args.element);
  constexpr unsigned element = sizeof(typename Load::Word) / Load::lanes;
  auto tile = [&](uint64_t t) {
    uint64_t first = t * S::tile + threadIdx.x / S::threads * S::chunk;
    unsigned lane = threadIdx.x % S::threads * Load::lanes;
    const char *in = static_cast<const char *>(args.in) + first * element;
    unsigned left = left_in_chunk(args.n, first, S::chunk);
    T a[Load::lanes];
    if (__builtin_expect(left == S::chunk, 1)) {
      in += lane * element;
      if (args.streaming)
        add_chunk<T, Load, true>(load, in, a);
      else
        add_chunk<T, Load, false>(load, in, a);
    } else {
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) a[v] = static_cast<T>(-0.0);
      add_partial<8>(load, in, left, lane, static_cast<T>(-0.0), add, a);
    }
    return fold_lanes(a, add, scratch.fold);
  };
  if constexpr (Quick)
    reduce_quickly(args, policy, tile, scratch.combine);
  else
    reduce_tiles(args, policy, tile, scratch.combine);
}

/*
 * Sums and products of any float dtype, element by element: other accumulators, 16-bit elements at odd addresses. The
 * dtype is looked at once, outside the loop, so that the loads of a batch do not wait for each other.
 */
template <class T> __device__ inline void reduce_any(const red_cuda_reduce &args) {
  using S = Shape<T, 1>;
  __shared__ Scratch<T> scratch;
  const FloatPolicy<T, MergeFloats> policy(args.element);
  auto tile = [&](uint64_t t) {
    uint64_t first = t * S::tile + threadIdx.x / S::threads * S::chunk;
    unsigned lane = threadIdx.x % S::threads;
    const char *in = static_cast<const char *>(args.in) + first * args.element.in_bytes;
    T a[1] = {policy.identity()};
    unsigned left = left_in_chunk(args.n, first, S::chunk);
    switch (args.element.in) {
    case RED_F16:
      add_partial<16>(LoadOne<T, RED_F16>(), in, left, lane, policy.identity(), policy.merge, a);
      break;
    case RED_BF16:
      add_partial<16>(LoadOne<T, RED_BF16>(), in, left, lane, policy.identity(), policy.merge, a);
      break;
    case RED_F32:
      add_partial<16>(LoadOne<T, RED_F32>(), in, left, lane, policy.identity(), policy.merge, a);
      break;
    default:
      add_partial<16>(LoadOne<T, RED_F64>(), in, left, lane, policy.identity(), policy.merge, a);
      break;
    }
    return fold_lanes(a, policy.merge, scratch.fold);
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

} // namespace red

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(red::block_threads) name

#define SUM(dtype, acc, load)                                                                                          \
  KERNEL(reduce_sum_##dtype)(const __grid_constant__ red_cuda_reduce args) {                                           \
    red::reduce_sum<acc, load, false>(args);                                                                           \
  }                                                                                                                    \
  KERNEL(reduce_quick_##dtype)(const __grid_constant__ red_cuda_reduce args) {                                         \
    red::reduce_sum<acc, load, true>(args);                                                                            \
  }

SUM(f32, float, red::LoadF32)
SUM(f64, double, red::LoadF64)
SUM(f16, float, red::LoadF16)
SUM(bf16, float, red::LoadBF16)
KERNEL(reduce_any_f32)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_any<float>(args);
}
KERNEL(reduce_any_f64)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_any<double>(args);
}

KERNEL(reduce_groups_f32)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::FloatPolicy<float, red::MergeFloats>(args.element), scratch);
}
KERNEL(reduce_groups_f64)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::FloatPolicy<double, red::MergeFloats>(args.element), scratch);
}
