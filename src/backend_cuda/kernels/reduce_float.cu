/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Canonical sums and products of floats: the law `sum-1`. A chunk is 32 rows of L lanes (L = 512 /
 * sizeof(accumulator)); each thread owns one lane, or adjacent ones of 16-bit elements, and has all 32 rows in flight
 * before it adds.
 */
#include "rows.cuh"

namespace red {

/* With a load of their own: sums, or by `Merge` products too. */
template <class T, class Load, class Merge, bool Quick>
__device__ inline void reduce_rows(const red_cuda_reduce &args) {
  using S = Shape<T, Load::lanes>;
  __shared__ Scratch<T> scratch;
  Load load;
  const Merge merge(args.element);
  const FloatPolicy<T, Merge, RED_FINISH_MEAN> policy(args.element);
  constexpr unsigned element = sizeof(typename Load::Word) / Load::lanes;
  auto tile = [&](uint64_t t) {
    uint64_t first = t * S::tile + threadIdx.x / S::threads * S::chunk;
    unsigned lane = threadIdx.x % S::threads * Load::lanes;
    const char *in = static_cast<const char *>(args.in) + first * element;
    unsigned left = left_in_chunk(args.n, first, S::chunk);
    T a[Load::lanes];
    if (__builtin_expect(left == S::chunk, 1)) {
      in += lane * element;
      if (merge.multiply)
        add_chunk<T, Load, Factor, false>(load, in, nullptr, a);
      else if (args.streaming)
        add_chunk<T, Load, Itself, true>(load, in, nullptr, a);
      else
        add_chunk<T, Load, Itself, false>(load, in, nullptr, a);
    } else {
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) a[v] = policy.identity();
      add_partial<8>(load, in, left, lane, policy.identity(), merge, a);
    }
    return fold_lanes(a, merge, scratch.fold);
  };
  if constexpr (Quick)
    reduce_quickly(args, policy, tile, scratch.combine);
  else
    reduce_tiles(args, policy, tile, scratch.combine);
}

/*
 * Sums and products of any float dtype, element by element: products, 16-bit elements at odd addresses. The dtype is
 * looked at once, outside the loop, so that the loads of a batch do not wait for each other.
 */
template <class T> __device__ inline void reduce_any(const red_cuda_reduce &args) {
  using S = Shape<T, 1>;
  __shared__ Scratch<T> scratch;
  const FloatPolicy<T, MergeFloats, RED_FINISH_MEAN> policy(args.element);
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
    red::reduce_rows<acc, load, red::AddFloats, false>(args);                                                          \
  }                                                                                                                    \
  KERNEL(reduce_quick_##dtype)(const __grid_constant__ red_cuda_reduce args) {                                         \
    red::reduce_rows<acc, load, red::AddFloats, true>(args);                                                           \
  }

SUM(f32, float, red::LoadF32)
SUM(f64, double, red::LoadF64)
SUM(f16, float, red::LoadF16)
SUM(bf16, float, red::LoadBF16)

/* Sums or products. */
#define ROWS(name, acc, load)                                                                                          \
  extern "C" __global__ void __launch_bounds__(red::block_threads, 5)                                                  \
      reduce_rows_##name(const __grid_constant__ red_cuda_reduce args) {                                               \
    red::reduce_rows<acc, load, red::MergeFloats, false>(args);                                                        \
  }

ROWS(f16, float, red::LoadF16)
ROWS(bf16, float, red::LoadBF16)
ROWS(f32_wide, double, red::LoadF32)
ROWS(f16_wide, double, red::LoadF16Pair)
ROWS(bf16_wide, double, red::LoadBF16Pair)

KERNEL(reduce_any_f32)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_any<float>(args);
}
KERNEL(reduce_any_f64)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_any<double>(args);
}

KERNEL(reduce_groups_f32)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::FloatPolicy<float, red::MergeFloats, RED_FINISH_MEAN>(args.element), scratch);
}
KERNEL(reduce_groups_f64)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::FloatPolicy<double, red::MergeFloats, RED_FINISH_MEAN>(args.element), scratch);
}
