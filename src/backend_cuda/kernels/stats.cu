/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sum, minimum, maximum and their places in one pass: the tiles of `sum-1`, one lane in each thread, with the 32 rows
 * in registers. The sum's nodes are folded as in a sum; extremes merge in any order, the earlier tile winning. Only
 * when all is merged the last block looks into the two tiles for the places.
 *
 * Both extremes are least keys: of x (RED_MIN) and of its complement (RED_MAX). A NaN makes both nan_key, which is the
 * least of all; zeros of either sign are the same to the places, not to the extremes.
 */
#include <red/device/cuda/block.cuh>

#include "keys.cuh"
#include "lanes.cuh"
#include "stats_element.cuh"

namespace red {

/* ---- Extremes and their places
 * --------------------------------------------------------------------------------------- */

template <class Key> struct Extremes {
  Key least, greatest;     /* least keys of RED_MIN and of RED_MAX */
  uint64_t argmin, argmax; /* tiles, and elements in the end */
};

/* To the places a zero is a zero: -1 and 0 are the keys of -0 and +0, and the other way round in complements. */
template <bool IsFloat, class Key> __device__ inline Key place_of_least(Key key) {
  return IsFloat && key == -1 ? 0 : key;
}
template <bool IsFloat, class Key> __device__ inline Key place_of_greatest(Key key) {
  return IsFloat && key == 0 ? -1 : key;
}

template <bool IsFloat, class Key> struct MergeExtremes {
  __device__ Extremes<Key> operator()(Extremes<Key> a, Extremes<Key> b) const {
    Key a_min = place_of_least<IsFloat>(a.least), b_min = place_of_least<IsFloat>(b.least);
    Key a_max = place_of_greatest<IsFloat>(a.greatest), b_max = place_of_greatest<IsFloat>(b.greatest);
    if (b_min < a_min || (b_min == a_min && b.argmin < a.argmin)) a.argmin = b.argmin;
    if (b_max < a_max || (b_max == a_max && b.argmax < a.argmax)) a.argmax = b.argmax;
    a.least = b.least < a.least ? b.least : a.least;
    a.greatest = b.greatest < a.greatest ? b.greatest : a.greatest;
    return a;
  }
};

/* ---- One tile
 * -------------------------------------------------------------------------------------------------------- */

template <class Element> struct StatsTile {
  using Bits = typename Element::Bits;
  using Key = typename Element::Key;
  using S = Shape<typename Element::Lane, 1>;
  Bits x[rows];

  /* Missing elements are copies of in[0]: as extremes they change nothing, since in[0] itself comes first. */
  __device__ void load(const void *in, const void *chunk, unsigned left) {
    unsigned lane = threadIdx.x % S::threads;
    if (left == S::chunk) {
#pragma unroll
      for (unsigned r = 0; r < rows; r++) x[r] = element(chunk, r * S::lanes + lane);
      return;
    }
    Bits pad = element(in, 0);
#pragma unroll
    for (unsigned r = 0; r < rows; r++) {
      x[r] = pad;
      if (r * S::lanes + lane < left) x[r] = element(chunk, r * S::lanes + lane);
    }
  }

  __device__ static Bits element(const void *in, unsigned i) {
    switch (Element::bytes) {
    case 1:
      return __ldg(static_cast<const uint8_t *>(in) + i);
    case 2:
      return __ldg(static_cast<const uint16_t *>(in) + i);
    case 4:
      return __ldg(static_cast<const uint32_t *>(in) + i);
    default:
      return static_cast<Bits>(__ldg(static_cast<const unsigned long long *>(in) + i));
    }
  }

  /* The lane's sum in the order of the law. */
  __device__ typename Element::Partial sum(const Element &element, unsigned left) const {
    using Partial = typename Element::Partial;
    const Partial identity = Element::is_float ? static_cast<Partial>(-0.0) : static_cast<Partial>(0);
    Partial a = identity;
    if (left == S::chunk) {
#pragma unroll
      for (unsigned r = 0; r < rows; r++) a += element.number(x[r]);
    } else {
#pragma unroll
      for (unsigned r = 0; r < rows; r++) {
        bool present = r * S::lanes + threadIdx.x % S::threads < left;
        a += present ? static_cast<Partial>(element.number(x[r])) : identity;
      }
    }
    return a;
  }

  __device__ void extremes(const Element &element, Key &least, Key &greatest) const {
    typename Element::Range range(element, x[0]);
#pragma unroll
    for (unsigned r = 0; r < rows; r += 2) range.take(element, x[r], x[r + 1]);
    bool nan = range.keys(element, least, greatest);
    if (nan) least = greatest = nan_key();
  }

  __device__ static constexpr Key nan_key() {
    return static_cast<Key>(~0ll << (8 * Element::bytes - 1));
  }

  /* The first row of this lane with this key (of RED_MIN, zeros being equal), or `rows`. */
  __device__ unsigned find(const Element &element, Key key, bool nan) const {
    unsigned row = rows;
    if constexpr (Element::is_float) {
      if (nan) {
#pragma unroll
        for (int r = rows - 1; r >= 0; r--)
          if ((x[r] & Element::positive) > element.inf) row = r;
        return row;
      }
      constexpr Bits all = (Element::positive << 1) + 1;
      Bits want = static_cast<Bits>(key ^ (key >> (8 * sizeof(Key) - 1) & static_cast<Key>(Element::positive))) & all;
      Bits mask = (want & Element::positive) == 0 ? Element::positive : all;
      want &= mask;
#pragma unroll
      for (int r = rows - 1; r >= 0; r--)
        if ((x[r] & mask) == want) row = r;
    } else {
#pragma unroll
      for (int r = rows - 1; r >= 0; r--)
        if (element.key(x[r]) == key) row = r;
    }
    return row;
  }
};

template <class Key> __device__ inline Key least_of_warps(const Key (&warp)[block_warps]) {
  return min(min(warp[0], warp[1]), min(warp[2], warp[3]));
}

template <class Element> struct StatsScratch {
  CombineScratch combine;
  FoldScratch<typename Element::Lane> fold;
  BlockScratch<typename Element::Number> block;
  typename Element::Key least[block_warps], greatest[block_warps];
  Extremes<typename Element::Key> whole;
  uint32_t place[block_warps];
};

/* In thread 0; one barrier, which the sum's lanes share. */
template <class Element>
__device__ inline Extremes<typename Element::Key> tile_extremes(const Element &element, const StatsTile<Element> &x,
                                                                uint64_t t, StatsScratch<Element> &scratch) {
  typename Element::Key least, greatest;
  x.extremes(element, least, greatest);
  least = warp_least(least);
  greatest = warp_least(greatest);
  if (threadIdx.x % 32 == 0) {
    scratch.least[threadIdx.x / 32] = least;
    scratch.greatest[threadIdx.x / 32] = greatest;
  }
  __syncthreads();
  return {least_of_warps(scratch.least), least_of_warps(scratch.greatest), t, t};
}

/* The first element of tile t with this key of RED_MIN; all threads call and get it. */
template <class Element>
__device__ __noinline__ uint64_t find_in_tile(const red_cuda_reduce &args, uint64_t t, typename Element::Key key,
                                              StatsScratch<Element> &scratch) {
  using S = typename StatsTile<Element>::S;
  const Element element(args.element);
  unsigned lane = threadIdx.x / S::threads * S::chunk + threadIdx.x % S::threads;
  uint64_t first = t * S::tile + threadIdx.x / S::threads * S::chunk;
  StatsTile<Element> x;
  x.load(args.in, static_cast<const char *>(args.in) + first * Element::bytes, left_in_chunk(args.n, first, S::chunk));
  unsigned row = x.find(element, key, Element::is_float && (key == x.nan_key() || ~key == x.nan_key()));
  uint32_t place = warp_first(row < rows ? lane + row * S::lanes : UINT32_MAX);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch.place[threadIdx.x / 32] = place;
  __syncthreads();
  return t * S::tile + least_of_warps(scratch.place);
}

/* ---- All tiles
 * ------------------------------------------------------------------------------------------------------- */

template <class Element> struct StatsPolicy {
  using Number = typename Element::Number;
  using Slots = Number;
  static constexpr bool asks_input = true;
  using Key = typename Element::Key;
  struct State {
    Number sum;
    Extremes<Key> extremes;
  };
  StatsScratch<Element> &shared;
  __device__ explicit StatsPolicy(StatsScratch<Element> &scratch) : shared(scratch) {}
  /* From the tiles that have the extremes to the elements. */
  __device__ void ask_input(const red_cuda_reduce &args, State &state) const {
    if (threadIdx.x == 0) shared.whole = state.extremes;
    __syncthreads();
    Extremes<Key> whole = shared.whole;
    state.extremes.argmin = find_in_tile<Element>(args, whole.argmin, whole.least, shared);
    state.extremes.argmax = find_in_tile<Element>(args, whole.argmax, ~whole.greatest, shared);
  }
  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, State state, uint32_t epoch) const {
    red::publish(args.slots[level], index, state.sum, epoch);
    red::publish(args.extrema[level], index, state.extremes, epoch);
  }
  __device__ State fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                        CombineScratch &scratch) const {
    State state;
    const uint64_t *sums = args.slots[level] + first * Payload<Number>::stride;
    if constexpr (Element::is_float)
      state.sum = fold_tree(sums, count, scratch.epoch, static_cast<Number>(-0.0), Sum(), scratch);
    else
      state.sum = fold_any(sums, count, scratch.epoch, static_cast<Number>(0), Sum(), scratch);
    const Key most = sizeof(Key) == 4 ? static_cast<Key>(INT32_MAX) : static_cast<Key>(INT64_MAX);
    const Extremes<Key> none = {most, most, UINT64_MAX, UINT64_MAX};
    state.extremes = fold_any(args.extrema[level] + first * Payload<Extremes<Key>>::stride, count, scratch.epoch, none,
                              MergeExtremes<Element::is_float, Key>(), scratch);
    return state;
  }
  __device__ void merge_atomically(const red_cuda_reduce &, State) const {}
  __device__ void take_atomically(const red_cuda_reduce &, State &) const {}
  __device__ void finish(const red_cuda_reduce &args, State state) const {
    uint64_t *word = args.answer != nullptr ? args.answer->word : static_cast<uint64_t *>(args.out);
    word[RED_CUDA_RAW_SUM] = low_word(state.sum);
    word[RED_CUDA_RAW_SUM_HIGH] = high_word(state.sum);
    word[RED_CUDA_RAW_LEAST] = extend(state.extremes.least);
    word[RED_CUDA_RAW_GREATEST] = extend(state.extremes.greatest);
    word[RED_CUDA_RAW_ARGMIN_KEY] = extend(place_of_least<Element::is_float>(state.extremes.least));
    word[RED_CUDA_RAW_ARGMIN] = state.extremes.argmin;
    word[RED_CUDA_RAW_ARGMAX_KEY] = extend(place_of_greatest<Element::is_float>(state.extremes.greatest));
    word[RED_CUDA_RAW_ARGMAX] = state.extremes.argmax;
    if (args.answer != nullptr) raise_flag(args);
  }

private:
  __device__ static uint64_t extend(Key key) { return static_cast<uint64_t>(static_cast<int64_t>(key)); }
  __device__ static uint64_t low_word(float x) { return __float_as_uint(x); }
  __device__ static uint64_t low_word(double x) { return static_cast<uint64_t>(__double_as_longlong(x)); }
  __device__ static uint64_t low_word(__int128 x) { return static_cast<uint64_t>(x); }
  __device__ static uint64_t high_word(float) { return 0; }
  __device__ static uint64_t high_word(double) { return 0; }
  __device__ static uint64_t high_word(__int128 x) { return static_cast<uint64_t>(x >> 64); }
};

template <class Element> __device__ inline void stats(const red_cuda_reduce &args) {
  using S = Shape<typename Element::Lane, 1>;
  using State = typename StatsPolicy<Element>::State;
  __shared__ StatsScratch<Element> scratch;
  const Element element(args.element);
  auto tile = [&](uint64_t t) {
    uint64_t first = t * S::tile + threadIdx.x / S::threads * S::chunk;
    unsigned left = left_in_chunk(args.n, first, S::chunk);
    StatsTile<Element> x;
    x.load(args.in, static_cast<const char *>(args.in) + first * Element::bytes, left);
    typename Element::Partial lane = x.sum(element, left);
    if constexpr (Element::is_float) scratch.fold.lane[threadIdx.x] = lane; /* the extremes have the barrier */
    State state;
    state.extremes = tile_extremes(element, x, t, scratch);
    if constexpr (Element::is_float)
      state.sum = threadIdx.x < 32 ? fold_stored(Sum(), scratch.fold) : lane;
    else
      state.sum = block_reduce<block_threads>(static_cast<__int128>(lane), Sum(), scratch.block);
    return state;
  };
  reduce_tiles(args, StatsPolicy<Element>(scratch), tile, scratch.combine);
}

} // namespace red

#define STATS(name, element, resident)                                                                                 \
  extern "C" __global__ void __launch_bounds__(red::block_threads, resident)                                           \
      name(const __grid_constant__ red_cuda_reduce args) {                                                             \
    red::stats<red::element>(args);                                                                                    \
  }

STATS(stats_f16, F16, 8)
STATS(stats_bf16, BF16, 7)
STATS(stats_f32, F32, 8)
STATS(stats_f64, F64, 4)
STATS(stats_1, Integer<1>, 6)
STATS(stats_2, Integer<2>, 8)
STATS(stats_4, Integer<4>, 8)
STATS(stats_8, Wide, 4)
