/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Canonical sums and dot products of floats with the sums of their magnitudes, from one read of the input: rows, lanes
 * and tree of reduce_float.cu, twice. Slots of the second sums of a level lie behind those of the first.
 */
#include "rows.cuh"

namespace red {

/* Of elements or products, and of their magnitudes. */
template <class T> struct Pair { T sum, size; };

template <class T> constexpr unsigned number_bytes<Pair<T>> = sizeof(T);

template <class T> __device__ inline Pair<T> either(bool first, const Pair<T> &a, const Pair<T> &b) {
  return {first ? a.sum : b.sum, first ? a.size : b.size};
}

struct AddPairs {
  template <class T> __device__ Pair<T> operator()(const Pair<T> &a, const Pair<T> &b) const {
    return {a.sum + b.sum, a.size + b.size};
  }
};

template <class Map, class T> __device__ inline void add_to(Pair<T> &a, T x, T y) {
  a.sum = Map::next(a.sum, x, y);
  a.size = Map::next(a.size, static_cast<T>(fabs(x)), static_cast<T>(fabs(y)));
}

template <class T> struct PairPolicy {
  using State = Pair<T>;
  using Slots = T;
  static constexpr bool asks_input = false;
  AddFloats add;
  __device__ explicit PairPolicy(const red_cuda_element &e) : add(e) {}

  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, const State &state,
                          uint32_t epoch) const {
    red::publish(args.slots[level], index, state.sum, epoch);
    red::publish(sizes(args, level), index, state.size, epoch);
  }
  __device__ State fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                        CombineScratch &scratch) const {
    const uint64_t at = first * Payload<T>::stride;
    State state;
    state.sum = fold_tree(args.slots[level] + at, count, scratch.epoch, static_cast<T>(-0.0), add, scratch);
    state.size = fold_tree(sizes(args, level) + at, count, scratch.epoch, static_cast<T>(-0.0), add, scratch);
    return state;
  }
  __device__ void merge_atomically(const red_cuda_reduce &, const State &) const {}
  __device__ void take_atomically(const red_cuda_reduce &, State &) const {}

  /* Results with a bound are finished on the host. */
  __device__ void finish(const red_cuda_reduce &args, const State &state) const {
    args.answer->word[0] = bits_of(state.sum);
    args.answer->word[1] = bits_of(state.size);
    raise_flag(args);
  }

private:
  /* Requests are of 16 bytes. */
  __device__ static uint64_t *sizes(const red_cuda_reduce &args, int level) {
    uint64_t count = args.tiles;
    for (int i = 0; i < level; i++) count = (count + group_tiles - 1) / group_tiles;
    return args.slots[level] + (((count + 1) * Payload<T>::stride + 1) & ~1ull);
  }
  __device__ static uint64_t bits_of(float x) { return __float_as_uint(x); }
  __device__ static uint64_t bits_of(double x) { return static_cast<uint64_t>(__double_as_longlong(x)); }
};

/*
 * Any chunk, some rows at a time. Whole: nothing is missing. What is, is -0 times +0, which changes nothing; a sum adds
 * x times 1.
 */
template <bool Whole, class T, class Load>
__device__ inline void add_rows(const Load &load, const char *in, const char *in2, unsigned left, unsigned lane,
                                Pair<T> (&a)[Load::lanes]) {
  constexpr unsigned row_lanes = 512 / sizeof(T), batch = 16 / Load::lanes;
  const T missing = static_cast<T>(-0.0);
#pragma unroll 1
  for (unsigned r = 0; r * row_lanes < left; r += batch) {
    T x[batch][Load::lanes], y[batch][Load::lanes];
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) {
        const unsigned at = (r + i) * row_lanes + lane + v;
        const bool here = Whole || at < left;
        x[i][v] = here ? static_cast<T>(load.one(in, at)) : missing;
        y[i][v] = !here ? -missing : in2 != nullptr ? static_cast<T>(load.one(in2, at)) : static_cast<T>(1);
      }
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) add_to<Product>(a[v], x[i][v], y[i][v]);
  }
}

/* A full chunk whose rows can be loaded as they are. */
template <class Map, class T, class Load>
__device__ inline void add_all_rows(const Load &load, const char *in, const char *in2, Pair<T> (&a)[Load::lanes]) {
  take_chunk<T, Load, Map::inputs, false>(load, in, in2,
                                          [&](unsigned, unsigned v, T x, T y) { add_to<Map>(a[v], x, y); });
}

/* Where this thread's lanes of tile t begin. */
template <class T, class Load> struct PairColumn {
  const char *in, *in2;
  unsigned lane, left;
  bool full;
  __device__ PairColumn(const red_cuda_reduce &args, uint64_t t) {
    using S = Shape<T, Load::lanes>;
    const uint64_t first = t * S::tile + threadIdx.x / S::threads * S::chunk, bytes = first * args.element.in_bytes;
    lane = threadIdx.x % S::threads * Load::lanes;
    left = left_in_chunk(args.n, first, S::chunk);
    full = __builtin_expect(left == S::chunk, 1);
    in = static_cast<const char *>(args.in) + bytes;
    in2 = args.element.map == RED_MAP_PRODUCT ? static_cast<const char *>(args.in2) + bytes : nullptr;
  }
};

template <class T, unsigned Lanes> __device__ inline void clear(Pair<T> (&a)[Lanes]) {
#pragma unroll
  for (unsigned v = 0; v < Lanes; v++) a[v] = {static_cast<T>(-0.0), static_cast<T>(-0.0)};
}

/* Of aligned arrays. */
template <class T, class Load> __device__ inline void reduce_pair(const red_cuda_reduce &args) {
  constexpr unsigned bytes = sizeof(typename Load::Word) / Load::lanes;
  __shared__ Scratch<Pair<T>> scratch;
  const PairPolicy<T> policy(args.element);
  auto tile = [&](uint64_t t) {
    const PairColumn<T, Load> column(args, t);
    Pair<T> a[Load::lanes];
    clear(a);
    const uint64_t at = column.lane * bytes;
    if (!column.full)
      add_rows<false>(Load(), column.in, column.in2, column.left, column.lane, a);
    else if (column.in2 != nullptr)
      add_all_rows<Product>(Load(), column.in + at, column.in2 + at, a);
    else
      add_all_rows<Itself>(Load(), column.in + at, nullptr, a);
    return fold_lanes(a, AddPairs(), scratch.fold);
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

template <class T, unsigned Dtype>
__device__ inline void add_any(const red_cuda_reduce &args, uint64_t t, Pair<T> (&a)[1]) {
  using Load = LoadOne<T, Dtype>;
  const PairColumn<T, Load> column(args, t);
  if (column.full)
    add_rows<true>(Load(), column.in, column.in2, column.left, column.lane, a);
  else
    add_rows<false>(Load(), column.in, column.in2, column.left, column.lane, a);
}

/* Element by element. */
template <class T> __device__ inline void reduce_any_pair(const red_cuda_reduce &args) {
  __shared__ Scratch<Pair<T>> scratch;
  const PairPolicy<T> policy(args.element);
  auto tile = [&](uint64_t t) {
    Pair<T> a[1];
    clear(a);
    switch (args.element.in) {
    case RED_F16:
      add_any<T, RED_F16>(args, t, a);
      break;
    case RED_BF16:
      add_any<T, RED_BF16>(args, t, a);
      break;
    case RED_F32:
      add_any<T, RED_F32>(args, t, a);
      break;
    default:
      add_any<T, RED_F64>(args, t, a);
      break;
    }
    return fold_lanes(a, AddPairs(), scratch.fold);
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

} // namespace red

#define KERNEL(name, resident) extern "C" __global__ void __launch_bounds__(red::block_threads, resident) name

KERNEL(reduce_pair_f32, 5)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_pair<float, red::LoadF32>(args);
}
KERNEL(reduce_pair_f16, 4)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_pair<float, red::LoadF16>(args);
}
KERNEL(reduce_pair_bf16, 4)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_pair<float, red::LoadBF16>(args);
}
KERNEL(reduce_pair_f64, 3)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_pair<double, red::LoadF64>(args);
}
KERNEL(reduce_pair_f32_wide, 4)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_pair<double, red::LoadF32>(args);
}
KERNEL(reduce_pair_f16_wide, 5)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_pair<double, red::LoadF16Pair>(args);
}
KERNEL(reduce_pair_bf16_wide, 5)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_pair<double, red::LoadBF16Pair>(args);
}
KERNEL(reduce_any_pair_f32, 5)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_any_pair<float>(args);
}
KERNEL(reduce_any_pair_f64, 3)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_any_pair<double>(args);
}

KERNEL(reduce_groups_pair_f32, 1)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::PairPolicy<float>(args.element), scratch);
}
KERNEL(reduce_groups_pair_f64, 1)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::PairPolicy<double>(args.element), scratch);
}
