/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Minima and maxima of every dtype and their places, as least signed keys of the element's width. For the place a tile
 * first finds its least key, then only the threads that have it look where; the smallest place wins. Of a large array
 * (reduce_far) only the last block does so, in the first of the tiles that have the least key of all.
 */
#include <red/device/cuda/block.cuh>

#include "keys.cuh"

namespace red {

struct KeyScratch {
  CombineScratch combine;
  BlockScratch<int64_t> block;
  uint32_t place[block_warps];
  uint64_t tile;
};

/* The least key of the block's tile, in all threads. */
template <unsigned Bytes, bool Zeros>
__device__ inline typename KeyRule<Bytes>::Key least_of_tile(const red_cuda_reduce &args, const KeyRule<Bytes> &rule,
                                                             uint64_t t, KeyScratch &scratch) {
  using Key = typename KeyRule<Bytes>::Key;
  uint4 x[tile_vectors];
  load_tile<Bytes>(args, t, x);
  Key least = Bytes > 1 && args.element.in_float ? least_key<Bytes, (Bytes > 1), Zeros>(rule, x)
                                                 : least_key<Bytes, false, Zeros>(rule, x);
  least = warp_least(least);
  if (threadIdx.x % 32 == 0) scratch.block.warp[threadIdx.x / 32] = least;
  __syncthreads();
  const int64_t *warp = scratch.block.warp;
  return static_cast<Key>(min(min(warp[0], warp[1]), min(warp[2], warp[3])));
}

template <unsigned Bytes> __device__ inline void reduce_min(const red_cuda_reduce &args) {
  __shared__ KeyScratch scratch;
  const KeyRule<Bytes> rule(args.element);
  const WordPolicy<MergeMin> policy(args.element);
  auto tile = [&](uint64_t t) {
    return static_cast<uint64_t>(static_cast<int64_t>(least_of_tile<Bytes, false>(args, rule, t, scratch)));
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

/* The place in the tile, counted from the tile's beginning, and the key, in all threads. */
template <unsigned Bytes, bool Float>
__device__ inline KeyIndex least_and_place(const KeyRule<Bytes> &rule, const uint4 (&x)[tile_vectors],
                                           KeyScratch &scratch) {
  using Key = typename KeyRule<Bytes>::Key;
  constexpr unsigned elements = VectorShape<Bytes>::elements;
  Key key[tile_vectors];
  Key least = sizeof(Key) == 4 ? static_cast<Key>(INT32_MAX) : static_cast<Key>(INT64_MAX);
#pragma unroll
  for (unsigned i = 0; i < tile_vectors; i++) {
    LeastKey<Bytes, Float, Float> vector;
    vector.take(rule, x[i]);
    key[i] = vector.key(rule);
    least = key[i] < least ? key[i] : least;
  }
  Key mine = least;
  least = warp_least(least);
  if (threadIdx.x % 32 == 0) scratch.block.warp[threadIdx.x / 32] = least;
  __syncthreads();
  const int64_t *warp = scratch.block.warp;
  least = static_cast<Key>(min(min(warp[0], warp[1]), min(warp[2], warp[3])));
  uint32_t place = UINT32_MAX;
  if (mine == least) {
    uint4 vector = x[tile_vectors - 1];
    unsigned row = tile_vectors - 1;
#pragma unroll
    for (int i = tile_vectors - 2; i >= 0; i--)
      if (key[i] == least) {
        vector = x[i];
        row = i;
      }
    place = (row * block_threads + threadIdx.x) * elements + find_key<Bytes, Float, Float>(rule, vector, least);
  }
  place = warp_first(place);
  if (threadIdx.x % 32 == 0) scratch.place[threadIdx.x / 32] = place;
  __syncthreads();
  place = min(min(scratch.place[0], scratch.place[1]), min(scratch.place[2], scratch.place[3]));
  return KeyIndex{least, place};
}

/* The first element of tile t with the tile's least key, and the key. */
template <unsigned Bytes>
__device__ inline KeyIndex find_in_tile(const red_cuda_reduce &args, const KeyRule<Bytes> &rule, uint64_t t,
                                        KeyScratch &scratch) {
  uint4 x[tile_vectors];
  load_tile<Bytes>(args, t, x);
  KeyIndex state = Bytes > 1 && args.element.in_float ? least_and_place<Bytes, (Bytes > 1)>(rule, x, scratch)
                                                      : least_and_place<Bytes, false>(rule, x, scratch);
  /* Whatever pads the first vector is in[0]: its place is that of in[0]. */
  uint64_t place = t * VectorShape<Bytes>::tile + state.index;
  state.index = place < args.head_elements ? 0 : place - args.head_elements;
  return state;
}

template <unsigned Bytes> __device__ inline void reduce_arg(const red_cuda_reduce &args) {
  __shared__ KeyScratch scratch;
  const KeyRule<Bytes> rule(args.element);
  auto tile = [&](uint64_t t) { return find_in_tile<Bytes>(args, rule, t, scratch); };
  reduce_tiles(args, ArgPolicy(args.element), tile, scratch.combine);
}

/* The places of tiles are their indices, until all has come together. */
template <unsigned Bytes> struct FarPolicy : ArgPolicy {
  static constexpr bool asks_input = true;
  KeyScratch &shared;
  __device__ FarPolicy(const red_cuda_element &e, KeyScratch &scratch) : ArgPolicy(e), shared(scratch) {}
  __device__ void ask_input(const red_cuda_reduce &args, KeyIndex &state) const {
    if (threadIdx.x == 0) shared.tile = state.index;
    __syncthreads();
    state = find_in_tile<Bytes>(args, KeyRule<Bytes>(args.element), shared.tile, shared);
  }
};

template <unsigned Bytes> __device__ inline void reduce_far(const red_cuda_reduce &args) {
  __shared__ KeyScratch scratch;
  const KeyRule<Bytes> rule(args.element);
  const FarPolicy<Bytes> policy(args.element, scratch);
  auto tile = [&](uint64_t t) {
    int64_t least = least_of_tile<Bytes, true>(args, rule, t, scratch);
    return KeyIndex{least, tile_at_hand(scratch.combine)};
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

} // namespace red

#define KERNEL(name, resident) extern "C" __global__ void __launch_bounds__(red::block_threads, resident) name

/* `words` are blocks on a multiprocessor for elements of 4 bytes. */
#define WIDTHS(name, function, words)                                                                                  \
  KERNEL(name##_1, 7)(const __grid_constant__ red_cuda_reduce args) {                                                  \
    red::function<1>(args);                                                                                            \
  }                                                                                                                    \
  KERNEL(name##_2, 7)(const __grid_constant__ red_cuda_reduce args) {                                                  \
    red::function<2>(args);                                                                                            \
  }                                                                                                                    \
  KERNEL(name##_4, words)(const __grid_constant__ red_cuda_reduce args) {                                              \
    red::function<4>(args);                                                                                            \
  }                                                                                                                    \
  KERNEL(name##_8, 7)(const __grid_constant__ red_cuda_reduce args) {                                                  \
    red::function<8>(args);                                                                                            \
  }

WIDTHS(reduce_min, reduce_min, 7)
WIDTHS(reduce_arg, reduce_arg, 7)
WIDTHS(reduce_far, reduce_far, 6)

KERNEL(reduce_groups_min, 7)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::WordPolicy<red::MergeMin>(args.element), scratch);
}
KERNEL(reduce_groups_arg, 7)(const __grid_constant__ red_cuda_reduce args) {
  __shared__ red::CombineScratch scratch;
  red::reduce_groups(args, red::ArgPolicy(args.element), scratch);
}
