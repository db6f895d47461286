/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics in one pass: tiles as reductions take them, the places of the extremes at the end, and the result. */
#ifndef RED_CUDA_STATS_KERNEL_CUH
#define RED_CUDA_STATS_KERNEL_CUH

#include "stats_finish.cuh"
#include "stats_tile.cuh"

namespace red {

/*
 * The selection of kernels for sums and variances alone: but for integers of 8 bytes, their slots are two whole
 * sectors, which need not be asked for.
 */
constexpr unsigned sum_and_moments = needs_sum | needs_moments;

/* Only: the selection, if it is known beforehand; else 0. */
template <class Element, bool WithMoments, unsigned Only> struct StatsPolicy {
  using State = Summary<Element>;
  using Scratch = StatsScratch<Element, WithMoments>;
  static constexpr bool asks_input = true;
  Scratch &shared;

  __device__ explicit StatsPolicy(Scratch &scratch) : shared(scratch) {}
  __device__ static unsigned selected(const red_cuda_reduce &args) { return Only != 0 ? Only : args.stats; }

  /* From the tiles that have the extremes to the elements. */
  __device__ void ask_input(const red_cuda_reduce &args, State &state) const {
    if ((selected(args) & needs_places) == 0) return;
    if (threadIdx.x == 0) shared.whole = state;
    __syncthreads();
    const uint64_t min_tile = shared.whole.argmin, max_tile = shared.whole.argmax;
    const typename Element::Key least = shared.whole.least, most = ~shared.whole.greatest;
    if (min_tile != max_tile) prefetch_tile<Element>(args, max_tile);
    uint64_t first = find_in_tile<Element>(args, min_tile, least, shared);
    uint64_t last = find_in_tile<Element>(args, max_tile, most, shared);
    if (threadIdx.x == 0) {
      shared.found[0] = first;
      shared.found[1] = last;
    }
  }

  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, const State &state,
                          uint32_t epoch) const {
    publish_summary<Element, WithMoments>(args.slots[level], index, level == 0, selected(args), state, epoch);
  }

  __device__ State fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                        CombineScratch &scratch) const {
    uint64_t span = Rows<Element>::S::tile;
    for (int i = 0; i < level; i++) span *= args.group;
    return fold_summaries<Element, WithMoments>(args.slots[level], first, count, level == 0, selected(args), span,
                                                args.n, scratch.epoch, shared.of_warp);
  }

  __device__ void merge_atomically(const red_cuda_reduce &, const State &) const {}
  __device__ void take_atomically(const red_cuda_reduce &, State &) const {}

  __device__ void finish(const red_cuda_reduce &args, State state) const {
    if constexpr (!Element::is_float) state.sum += Element(args.element).origin() * static_cast<__int128>(args.n);
    if (args.answer == nullptr) {
      finish_stats(args, state, shared.found[0], shared.found[1]);
      return;
    }
    uint64_t *word = args.answer->word;
    word[RED_CUDA_RAW_SUM] = low_word(state.sum);
    word[RED_CUDA_RAW_SUM_HIGH] = high_word(state.sum);
    word[RED_CUDA_RAW_LEAST] = extend(state.least);
    word[RED_CUDA_RAW_GREATEST] = extend(state.greatest);
    word[RED_CUDA_RAW_ARGMIN] = shared.found[0];
    word[RED_CUDA_RAW_ARGMAX] = shared.found[1];
    word[RED_CUDA_RAW_NANS] = state.nans;
    word[RED_CUDA_RAW_MEAN] = low_word(state.moments.mean);
    word[RED_CUDA_RAW_MEAN_LOW] = low_word(state.moments.low);
    word[RED_CUDA_RAW_SQUARES] = low_word(state.moments.squares);
    raise_flag(args);
  }

private:
  __device__ static uint64_t extend(typename Element::Key key) {
    return static_cast<uint64_t>(static_cast<int64_t>(key));
  }
  __device__ static uint64_t low_word(float x) { return __float_as_uint(x); }
  __device__ static uint64_t low_word(double x) { return static_cast<uint64_t>(__double_as_longlong(x)); }
  __device__ static uint64_t low_word(__int128 x) { return static_cast<uint64_t>(x); }
  __device__ static uint64_t high_word(float) { return 0; }
  __device__ static uint64_t high_word(double) { return 0; }
  __device__ static uint64_t high_word(__int128 x) { return static_cast<uint64_t>(x >> 64); }
};

template <class Element, bool WithMoments, unsigned Only> struct GroupOf<StatsPolicy<Element, WithMoments, Only>> {
  __device__ static uint64_t tiles(const red_cuda_reduce &args) { return args.group; }
};
template <class Element, bool WithMoments, unsigned Only> struct SlotOf<StatsPolicy<Element, WithMoments, Only>> {
  using Places = SlotPlaces<Element, WithMoments>;
  static constexpr bool fills_sectors = Only != 0 && Places(Only, true).stride % 4 == 0;
  __device__ static unsigned words(const red_cuda_reduce &args) {
    return Places(StatsPolicy<Element, WithMoments, Only>::selected(args), true).stride;
  }
};

template <class Element, bool WithMoments, unsigned Only> __device__ inline void stats(const red_cuda_reduce &args) {
  using Policy = StatsPolicy<Element, WithMoments, Only>;
  using Scratch = StatsScratch<Element, WithMoments>;
  __shared__ __align__(16) char memory[sizeof(Scratch)]; /* some of its parts have constructors */
  Scratch &scratch = *reinterpret_cast<Scratch *>(memory);
  auto tile = [&](uint64_t t) {
    const unsigned selected = Policy::selected(args);
    if (selected == RED_STAT_COUNT) {
      __syncthreads();
      return no_summary<Element>();
    }
    if (tile_is_whole<Element>(args, t)) {
      const ChunkAt<Element> chunk(args, t);
      Rows<Element> x;
      typename Element::Bits first = 0; /* before the rows, or it would be asked for when they are there */
      if constexpr (WithMoments) first = Rows<Element>::ask(chunk.at);
      if (args.streaming)
        x.template load_whole<true>(chunk.at);
      else
        x.template load_whole<false>(chunk.at);
      gather_tile<Element, WithMoments, true>(args, selected, x, chunk, first, scratch);
    } else {
      gather_any_tile<Element, WithMoments>(args, selected, t, scratch);
    }
    __syncthreads();
    return tile_summary<Element, WithMoments>(args, selected, tile_at_hand(scratch.combine), scratch);
  };
  reduce_tiles(args, Policy(scratch), tile, scratch.combine);
}

} // namespace red

#define RED_STATS_KERNEL_OF(name, element, moments, only, resident)                                                    \
  extern "C" __global__ void __launch_bounds__(red::block_threads, resident)                                           \
      name(const __grid_constant__ red_cuda_reduce args) {                                                             \
    red::stats<element, moments, only>(args);                                                                          \
  }
#define RED_STATS_KERNEL(name, element, moments, resident) RED_STATS_KERNEL_OF(name, element, moments, 0, resident)

#endif
