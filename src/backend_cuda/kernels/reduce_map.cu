/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Canonical sums of what becomes of floats: products of two inputs, squares, magnitudes. Rows, lanes and tree are those
 * of sums (reduce_float.cu); a product is fused into its addition.
 *
 * Kernels with a load of their own are for the default way of combining; `any` does the rest.
 */
#include "rows_shifted.cuh"

namespace red {

/* Where a thread's column begins. */
template <class T, class Load> struct Column {
  using S = Shape<T, Load::lanes>;
  unsigned lane, left;
  uint64_t first;
  __device__ Column(const red_cuda_reduce &args, uint64_t t)
      : lane(threadIdx.x % S::threads * Load::lanes), first(t * S::tile + threadIdx.x / S::threads * S::chunk) {
    left = left_in_chunk(args.n, first, S::chunk);
  }
  __device__ bool full() const { return __builtin_expect(left == S::chunk, 1); }
};

template <class T, class Load, class Map>
__device__ inline void add_full(const red_cuda_reduce &args, uint64_t element, T (&a)[Load::lanes]) {
  constexpr unsigned bytes = sizeof(typename Load::Word) / Load::lanes;
  const char *in = static_cast<const char *>(args.in) + element * bytes;
  const char *in2 = static_cast<const char *>(args.in2) + element * bytes;
  if (args.streaming)
    add_chunk<T, Load, Map, true>(Load(), in, in2, a);
  else
    add_chunk<T, Load, Map, false>(Load(), in, in2, a);
}

template <int Batch, class T, class Load>
__device__ inline void add_rest(const red_cuda_reduce &args, const Column<T, Load> &column, const Load &load,
                                T (&a)[Load::lanes]) {
  uint64_t at = column.first * args.element.in_bytes;
#pragma unroll
  for (unsigned v = 0; v < Load::lanes; v++) a[v] = static_cast<T>(-0.0);
  add_partial_mapped<Batch>(load, args.element.map, static_cast<const char *>(args.in) + at,
                            static_cast<const char *>(args.in2) + at, column.left, column.lane, a);
}

template <class T, class Load, red_finish Finish> __device__ inline void reduce_dot(const red_cuda_reduce &args) {
  __shared__ Scratch<T> scratch;
  const AddFloats add(args.element);
  auto tile = [&](uint64_t t) {
    const Column<T, Load> column(args, t);
    T a[Load::lanes];
    if (column.full())
      add_full<T, Load, Product>(args, column.first + column.lane, a);
    else
      add_rest<8>(args, column, Load(), a);
    return fold_lanes(a, add, scratch.fold);
  };
  reduce_quickly(args, FloatPolicy<T, AddFloats, Finish>(args.element), tile, scratch.combine);
}

/* Squares or magnitudes. */
template <class T, class Load, red_finish Finish> __device__ inline void reduce_mapped(const red_cuda_reduce &args) {
  __shared__ Scratch<T> scratch;
  const AddFloats add(args.element);
  auto tile = [&](uint64_t t) {
    const Column<T, Load> column(args, t);
    T a[Load::lanes];
    if (!column.full())
      add_rest<8>(args, column, Load(), a);
    else if (args.element.map == RED_MAP_SQUARE)
      add_full<T, Load, Square>(args, column.first + column.lane, a);
    else
      add_full<T, Load, Magnitude>(args, column.first + column.lane, a);
    return fold_lanes(a, add, scratch.fold);
  };
  reduce_quickly(args, FloatPolicy<T, AddFloats, Finish>(args.element), tile, scratch.combine);
}

/* Sums and products of 16-bit floats, and sums of what becomes of them, where a thread cannot load its lanes at once.
 */
template <class T, class Load, red_finish Finish> __device__ inline void reduce_shifted(const red_cuda_reduce &args) {
  __shared__ Scratch<T> scratch;
  const MergeFloats merge(args.element);
  const FloatPolicy<T, MergeFloats, Finish> policy(args.element);
  auto tile = [&](uint64_t t) {
    const Column<T, Load> column(args, t);
    const uint64_t first = column.first * args.element.in_bytes;
    const char *in = static_cast<const char *>(args.in) + first, *in2 = static_cast<const char *>(args.in2) + first;
    const bool whole = column.full() && column.first + Column<T, Load>::S::chunk + Load::lanes <= args.n;
    T a[Load::lanes];
#pragma unroll
    for (unsigned v = 0; v < Load::lanes; v++) a[v] = policy.identity();
    if (!whole && merge.multiply)
      add_partial<8>(Load(), in, column.left, column.lane, policy.identity(), merge, a);
    else if (!whole)
      add_rest<8>(args, column, Load(), a);
    else if (merge.multiply)
      add_shifted<T, Load, Factor>(Load(), in, in, a);
    else if (args.element.map == RED_MAP_PRODUCT)
      add_shifted<T, Load, Product>(Load(), in, in2, a);
    else if (args.element.map == RED_MAP_SQUARE)
      add_shifted<T, Load, Square>(Load(), in, in, a);
    else if (args.element.map == RED_MAP_ABS)
      add_shifted<T, Load, Magnitude>(Load(), in, in, a);
    else
      add_shifted<T, Load, Itself>(Load(), in, in, a);
    return fold_lanes(a, merge, scratch.fold);
  };
  reduce_quickly(args, policy, tile, scratch.combine);
}

/* Any map of any float dtype, element by element. */
template <class T, red_finish Finish> __device__ inline void reduce_any(const red_cuda_reduce &args) {
  __shared__ Scratch<T> scratch;
  const AddFloats add(args.element);
  auto tile = [&](uint64_t t) {
    T a[1];
    switch (args.element.in) {
    case RED_F16: {
      using Load = LoadOne<T, RED_F16>;
      add_rest<16>(args, Column<T, Load>(args, t), Load(), a);
      break;
    }
    case RED_BF16: {
      using Load = LoadOne<T, RED_BF16>;
      add_rest<16>(args, Column<T, Load>(args, t), Load(), a);
      break;
    }
    case RED_F32: {
      using Load = LoadOne<T, RED_F32>;
      add_rest<16>(args, Column<T, Load>(args, t), Load(), a);
      break;
    }
    default: {
      using Load = LoadOne<T, RED_F64>;
      add_rest<16>(args, Column<T, Load>(args, t), Load(), a);
      break;
    }
    }
    return fold_lanes(a, add, scratch.fold);
  };
  reduce_tiles(args, FloatPolicy<T, AddFloats, Finish>(args.element), tile, scratch.combine);
}

} // namespace red

#define KERNEL(name, resident, reduce, ...)                                                                            \
  extern "C" __global__ void __launch_bounds__(red::block_threads, resident)                                           \
      name(const __grid_constant__ red_cuda_reduce args) {                                                             \
    red::reduce<__VA_ARGS__>(args);                                                                                    \
  }

KERNEL(reduce_dot_f32, 5, reduce_dot, float, red::LoadF32, RED_FINISH_VALUE)
KERNEL(reduce_dot_f64, 3, reduce_dot, double, red::LoadF64, RED_FINISH_VALUE)
KERNEL(reduce_dot_f16, 5, reduce_dot, float, red::LoadF16, RED_FINISH_VALUE)
KERNEL(reduce_dot_bf16, 5, reduce_dot, float, red::LoadBF16, RED_FINISH_VALUE)

KERNEL(reduce_map_f32, 7, reduce_mapped, float, red::LoadF32, RED_FINISH_VALUE)
KERNEL(reduce_map_f64, 4, reduce_mapped, double, red::LoadF64, RED_FINISH_VALUE)
KERNEL(reduce_map_f16, 5, reduce_mapped, float, red::LoadF16, RED_FINISH_VALUE)
KERNEL(reduce_map_bf16, 5, reduce_mapped, float, red::LoadBF16, RED_FINISH_VALUE)
/* With an f64 accumulator, as norms have. */
KERNEL(reduce_dot_f32_wide, 5, reduce_dot, double, red::LoadF32, RED_FINISH_VALUE)
KERNEL(reduce_dot_f16_wide, 5, reduce_dot, double, red::LoadF16Pair, RED_FINISH_VALUE)
KERNEL(reduce_dot_bf16_wide, 5, reduce_dot, double, red::LoadBF16Pair, RED_FINISH_VALUE)
KERNEL(reduce_map_f32_wide, 5, reduce_mapped, double, red::LoadF32, RED_FINISH_ROOT)
KERNEL(reduce_map_f16_wide, 5, reduce_mapped, double, red::LoadF16Pair, RED_FINISH_ROOT)
KERNEL(reduce_map_bf16_wide, 5, reduce_mapped, double, red::LoadBF16Pair, RED_FINISH_ROOT)

KERNEL(reduce_shifted_f16, 4, reduce_shifted, float, red::LoadF16, RED_FINISH_MEAN)
KERNEL(reduce_shifted_bf16, 4, reduce_shifted, float, red::LoadBF16, RED_FINISH_MEAN)
KERNEL(reduce_shifted_f16_wide, 5, reduce_shifted, double, red::LoadF16Pair, RED_FINISH_ROOT)
KERNEL(reduce_shifted_bf16_wide, 5, reduce_shifted, double, red::LoadBF16Pair, RED_FINISH_ROOT)

KERNEL(reduce_map_any_f32, 5, reduce_any, float, RED_FINISH_VALUE)
KERNEL(reduce_map_any_f64, 4, reduce_any, double, RED_FINISH_ROOT)

extern "C" __global__ void __launch_bounds__(red::block_threads)
    reduce_groups_root(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::FloatPolicy<double, red::AddFloats, RED_FINISH_ROOT>(args.element), scratch);
}
