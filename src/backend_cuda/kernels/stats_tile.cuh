/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a block makes of a tile: chunks of `sum-1` with the 32 rows in registers, one in all four warps, one in two (of
 * elements of 2 or 8 bytes) or one in each (of 1 byte). Extremes are found by value alone; their places are looked for
 * when all is merged.
 */
#ifndef RED_CUDA_STATS_TILE_CUH
#define RED_CUDA_STATS_TILE_CUH

#include "moments_chunk.cuh"
#include "stats_summary.cuh"

namespace red {

template <class Element, bool WithMoments> struct StatsScratch {
  CombineScratch combine;
  typename Element::Lane lane[Element::is_float ? block_threads * Element::lanes : 1];
  MomentsScratch<WithMoments, Element::lanes> moments;
  typename Element::Key least[block_warps], greatest[block_warps];
  uint32_t nans[block_warps];
  __int128 sum[block_warps];
  Summary<Element> of_warp[block_warps], whole;
  uint32_t place[block_warps];
  uint64_t found[2]; /* the elements with the extremes */
};

template <class Key> __device__ inline Key least_of_warps(const Key (&warp)[block_warps]) {
  return min(min(warp[0], warp[1]), min(warp[2], warp[3]));
}

/* Whether rows can be loaded as they are, and whether the tile is full. */
template <class Element> __device__ inline bool tile_is_whole(const red_cuda_reduce &args, uint64_t t) {
  using S = typename Rows<Element>::S;
  bool aligned = reinterpret_cast<uintptr_t>(args.in) % sizeof(typename Element::Row) == 0;
  return aligned && (t + 1) * S::tile <= args.n;
}

/* The elements of this thread's chunk in tile t: where they begin, how many there are. */
template <class Element> struct ChunkAt {
  uint64_t first;
  const char *at;
  unsigned left;
  __device__ ChunkAt(const red_cuda_reduce &args, uint64_t t) {
    using S = typename Rows<Element>::S;
    first = t * S::tile + threadIdx.x / S::threads * S::chunk;
    at = static_cast<const char *>(args.in) + first * Element::bytes;
    left = left_in_chunk(args.n, first, S::chunk);
  }
};

/* A sum that is a NaN has met one, or infinities: only then elements are looked at. */
template <class Element, bool Whole>
__device__ inline uint32_t nans_of_lane(const Element &element, const Rows<Element> &x, unsigned left,
                                        const typename Element::Number (&sum)[Element::lanes]) {
  bool suspicious = false;
#pragma unroll
  for (unsigned v = 0; v < Element::lanes; v++) suspicious = suspicious || sum[v] != sum[v];
  return suspicious ? x.template count_nans<Whole>(element, left) : 0;
}

/* Keys of the tile's extremes, one of each warp; a thread with a NaN has the keys of NaN. */
template <class Element, class Scratch>
__device__ inline void store_extremes(const Element &element, const Rows<Element> &x, bool nan, Scratch &scratch) {
  typename Element::Key least, greatest;
  x.extremes(element, least, greatest);
  if (Element::is_float && nan) least = greatest = nan_key<Element>();
  least = warp_least(least);
  greatest = warp_least(greatest);
  if (threadIdx.x % 32 == 0) {
    scratch.least[threadIdx.x / 32] = least;
    scratch.greatest[threadIdx.x / 32] = greatest;
  }
}

/* Sums of lanes, and how many NaNs this thread has, if somebody asks: to look for them takes as long as to add. */
template <class Element, bool Whole>
__device__ inline uint32_t gather_sums(const Element &element, const Rows<Element> &x, unsigned left, bool asked,
                                       typename Element::Lane *stored) {
  typename Element::Number lane[Element::lanes];
  x.template sum<Whole>(left, lane);
#pragma unroll
  for (unsigned v = 0; v < Element::lanes; v++) stored[threadIdx.x * Element::lanes + v] = lane[v];
  return asked ? nans_of_lane<Element, Whole>(element, x, left, lane) : 0;
}

/* The sum of the tile's chunks, in the first warp, after the barrier. */
template <class S, class Number> __device__ inline Number fold_tile(const Number *stored) {
  static_assert(S::chunks <= 2, "pairs are one node");
  Number first = fold_row<S>(stored, 0);
  return S::chunks == 1 ? first : first + fold_row<S>(stored, S::chunks - 1);
}

/* What all warps have to say about a tile, before the barrier. `first` is the chunk's first element. */
template <class Element, bool WithMoments, bool Whole>
__device__ inline void gather_tile(const red_cuda_reduce &args, unsigned stats, const Rows<Element> &x,
                                   const ChunkAt<Element> &chunk, typename Element::Bits first,
                                   StatsScratch<Element, WithMoments> &scratch) {
  const Element element(args.element);
  uint32_t nans = 0;
  double shift = 0; /* before all else: the first row has come, and the others come meanwhile */
  if constexpr (WithMoments && Element::bytes > 1)
    shift = shift_of_chunk<Element, Whole>(element, x, first, chunk.left, scratch.moments);
  if constexpr (Element::is_float) {
    if (stats & (needs_sum | needs_extremes | needs_nans))
      nans = gather_sums<Element, Whole>(element, x, chunk.left, (stats & (needs_extremes | needs_nans)) != 0,
                                         scratch.lane);
    if (stats & needs_nans) {
      uint32_t all = warp_add(nans);
      if (threadIdx.x % 32 == 0) scratch.nans[threadIdx.x / 32] = all;
    }
  } else if (stats & needs_sum) {
    auto sum = x.sum_codes(element).of_warp();
    if (threadIdx.x % 32 == 0) scratch.sum[threadIdx.x / 32] = sum;
  }
  if (stats & needs_extremes) store_extremes(element, x, nans > 0, scratch);
  if constexpr (WithMoments) gather_tile_moments<Element, Whole>(args, x, first, shift, chunk.left, scratch.moments);
}

/* The tile's summary, after the barrier, in thread 0. Missing elements were added as copies of in[0]. */
template <class Element, bool WithMoments>
__device__ inline Summary<Element> tile_summary(const red_cuda_reduce &args, unsigned stats, uint64_t t,
                                                const StatsScratch<Element, WithMoments> &scratch) {
  using S = typename Rows<Element>::S;
  Summary<Element> s = no_summary<Element>();
  s.argmin = s.argmax = static_cast<uint32_t>(t);
  if (threadIdx.x >= 32) return s;
  if (stats & needs_sum) {
    if constexpr (Element::is_float) {
      s.sum = fold_tile<S>(scratch.lane);
    } else {
      s.sum = scratch.sum[0] + scratch.sum[1] + scratch.sum[2] + scratch.sum[3];
      if ((t + 1) * S::tile > args.n) {
        const Element element(args.element);
        s.sum -= static_cast<__int128>((t + 1) * S::tile - args.n) * element.code(Rows<Element>::element(args.in, 0));
      }
    }
  }
  if (stats & needs_extremes) {
    s.least = least_of_warps(scratch.least);
    s.greatest = least_of_warps(scratch.greatest);
  }
  if (Element::is_float && (stats & needs_nans))
    s.nans = scratch.nans[0] + scratch.nans[1] + scratch.nans[2] + scratch.nans[3];
  if constexpr (WithMoments) s.moments = tile_moments<Element>(args.n, t * S::tile, scratch.moments);
  return s;
}

/* Tiles that are not full or lie at odd addresses. */
template <class Element, bool WithMoments>
__device__ __noinline__ void gather_any_tile(const red_cuda_reduce &args, unsigned stats, uint64_t t,
                                             StatsScratch<Element, WithMoments> &scratch) {
  const ChunkAt<Element> chunk(args, t);
  Rows<Element> x;
  x.load_partial(args.in, chunk.at, chunk.left);
  const typename Element::Bits first = chunk.left > 0 ? Rows<Element>::element(chunk.at, 0) : 0;
  gather_tile<Element, WithMoments, false>(args, stats, x, chunk, first, scratch);
}

/* The first element of tile t with this key of RED_MIN; all threads call and get it. */
template <class Element, class Scratch>
__device__ __noinline__ uint64_t find_in_tile(const red_cuda_reduce &args, uint64_t t, typename Element::Key key,
                                              Scratch &scratch) {
  using S = typename Rows<Element>::S;
  const ChunkAt<Element> chunk(args, t);
  Rows<Element> x;
  if (tile_is_whole<Element>(args, t))
    x.template load_whole<false>(chunk.at);
  else
    x.load_partial(args.in, chunk.at, chunk.left);
  uint32_t place = x.find(Element(args.element), key);
  if (place != UINT32_MAX) place += threadIdx.x / S::threads * S::chunk;
  place = warp_first(place);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch.place[threadIdx.x / 32] = place;
  __syncthreads();
  return t * S::tile + least_of_warps(scratch.place);
}

/* Ask for a tile that will be looked into soon. */
template <class Element> __device__ inline void prefetch_tile(const red_cuda_reduce &args, uint64_t t) {
  constexpr uint64_t bytes = Rows<Element>::S::tile * Element::bytes;
  const char *end = static_cast<const char *>(args.in) + args.n * Element::bytes;
  const char *at = static_cast<const char *>(args.in) + t * bytes + threadIdx.x * 128;
  for (uint64_t i = 0; i < bytes; i += block_threads * 128)
    if (at + i < end) asm volatile("prefetch.global.L2 [%0];" ::"l"(at + i));
}

} // namespace red

#endif
