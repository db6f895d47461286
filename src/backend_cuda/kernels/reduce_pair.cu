/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Canonical sums and dot products of floats with the sums of their magnitudes, from one read of the input: rows, lanes
 * and tree of reduce_float.cu, twice. Slots of the second sums of a level lie behind those of the first.
 */
#include "rows.cuh"

namespace red {

template <class T> struct Pair { T sum, size; };

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
 * A thread's column of a chunk, some rows at a time. A sum adds x times 1; what is missing is -0 times +0, which
 * changes nothing.
 */
template <bool Whole, class T, class Load>
__device__ inline Pair<T> add_column(const Load &load, const char *in, const char *in2, unsigned left, unsigned lane) {
  constexpr unsigned row_lanes = 512 / sizeof(T), batch = 16;
  const T missing = static_cast<T>(-0.0);
  Pair<T> a = {missing, missing};
#pragma unroll 1
  for (unsigned r = 0; r * row_lanes < left; r += batch) {
    T x[batch], y[batch];
#pragma unroll
    for (unsigned i = 0; i < batch; i++) {
      const unsigned at = (r + i) * row_lanes + lane;
      const bool here = Whole || at < left;
      x[i] = here ? static_cast<T>(load.one(in, at)) : missing;
      y[i] = !here ? -missing : in2 != nullptr ? static_cast<T>(load.one(in2, at)) : static_cast<T>(1);
    }
#pragma unroll
    for (unsigned i = 0; i < batch; i++) {
      a.sum = fused(x[i], y[i], a.sum);
      a.size = fused(fabs(x[i]), fabs(y[i]), a.size);
    }
  }
  return a;
}

template <class T, unsigned Dtype> __device__ inline Pair<T> column_of(const red_cuda_reduce &args, uint64_t t) {
  using S = Shape<T, 1>;
  const LoadOne<T, Dtype> load;
  const uint64_t first = t * S::tile + threadIdx.x / S::threads * S::chunk, bytes = first * args.element.in_bytes;
  const unsigned lane = threadIdx.x % S::threads, left = left_in_chunk(args.n, first, S::chunk);
  const char *in = static_cast<const char *>(args.in) + bytes;
  const char *in2 = args.element.map == RED_MAP_PRODUCT ? static_cast<const char *>(args.in2) + bytes : nullptr;
  if (__builtin_expect(left == S::chunk, 1)) return add_column<true, T>(load, in, in2, left, lane);
  return add_column<false, T>(load, in, in2, left, lane);
}

template <class T> struct PairScratch {
  CombineScratch combine;
  FoldScratch<T> sums, sizes;
};

template <class T> __device__ inline void reduce_pair(const red_cuda_reduce &args) {
  __shared__ PairScratch<T> scratch;
  const PairPolicy<T> policy(args.element);
  auto tile = [&](uint64_t t) {
    Pair<T> column;
    switch (args.element.in) {
    case RED_F16:
      column = column_of<T, RED_F16>(args, t);
      break;
    case RED_BF16:
      column = column_of<T, RED_BF16>(args, t);
      break;
    case RED_F32:
      column = column_of<T, RED_F32>(args, t);
      break;
    default:
      column = column_of<T, RED_F64>(args, t);
      break;
    }
    T sum[1] = {column.sum}, size[1] = {column.size};
    column.sum = fold_lanes(sum, policy.add, scratch.sums);
    column.size = fold_lanes(size, policy.add, scratch.sizes);
    return column;
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

} // namespace red

#define KERNELS(suffix, T)                                                                                             \
  extern "C" __global__ void __launch_bounds__(red::block_threads)                                                     \
      reduce_pair_##suffix(const __grid_constant__ red_cuda_reduce args) {                                             \
    red::reduce_pair<T>(args);                                                                                         \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(red::block_threads)                                                     \
      reduce_groups_pair_##suffix(const __grid_constant__ red_cuda_reduce args) {                                      \
    __shared__ red::CombineScratch scratch;                                                                            \
    red::reduce_groups(args, red::PairPolicy<T>(args.element), scratch);                                               \
  }

KERNELS(f32, float)
KERNELS(f64, double)
