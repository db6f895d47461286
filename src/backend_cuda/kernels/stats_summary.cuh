/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a run of tiles, a node of the canonical tree: how neighbours merge, how summaries are published in
 * slots and how a group of slots is folded. Only what the selection needs is published and waited for.
 */
#ifndef RED_CUDA_STATS_SUMMARY_CUH
#define RED_CUDA_STATS_SUMMARY_CUH

#include <red/red.h>

#include "moments.cuh"
#include "stats_rows.cuh"

namespace red {

/* What a selection makes necessary (core/state.h). */
constexpr unsigned needs_sum = RED_STAT_SUM | RED_STAT_MEAN, needs_moments = RED_STAT_VARIANCE,
                   needs_nans = RED_STAT_NAN_COUNT, needs_places = RED_STAT_ARGMIN | RED_STAT_ARGMAX,
                   needs_extremes = RED_STAT_MIN | RED_STAT_MAX | needs_places;

template <class Element> struct Summary {
  using Key = typename Element::Key;
  typename Element::Number sum;
  Key least, greatest;     /* least keys of RED_MIN and of RED_MAX; a NaN makes both nan_key */
  uint32_t argmin, argmax; /* tiles */
  uint64_t nans;
  Moments moments;
};

template <class Element> __device__ inline Summary<Element> no_summary() {
  constexpr typename Element::Key most = greatest_key<typename Element::Key>();
  return {Element::is_float ? static_cast<typename Element::Number>(-0.0) : static_cast<typename Element::Number>(0),
          most,
          most,
          0,
          0,
          0,
          {0, 0, 0, 0}};
}

/* To the places a zero is a zero: -1 and 0 are the keys of -0 and +0, and the other way round in complements. */
template <class Element> __device__ inline typename Element::Key place_of_least(typename Element::Key key) {
  return Element::is_float && key == -1 ? 0 : key;
}
template <class Element> __device__ inline typename Element::Key place_of_greatest(typename Element::Key key) {
  return Element::is_float && key == 0 ? -1 : key;
}

/* Neighbours, a on the left: of equals its tile is the earlier one. */
template <class Element>
__device__ inline Summary<Element> merge_summaries(const Summary<Element> &a, const Summary<Element> &b) {
  Summary<Element> m = a;
  m.sum = a.sum + b.sum;
  if (place_of_least<Element>(b.least) < place_of_least<Element>(a.least)) m.argmin = b.argmin;
  if (place_of_greatest<Element>(b.greatest) < place_of_greatest<Element>(a.greatest)) m.argmax = b.argmax;
  m.least = b.least < a.least ? b.least : a.least;
  m.greatest = b.greatest < a.greatest ? b.greatest : a.greatest;
  m.nans = a.nans + b.nans;
  return m;
}

template <class Element, bool WithMoments>
__device__ inline Summary<Element> merge(const Summary<Element> &a, const Summary<Element> &b) {
  Summary<Element> m = merge_summaries(a, b);
  if constexpr (WithMoments) m.moments = merge_moments(a.moments, b.moments);
  return m;
}

/* ---- Slots
 * -----------------------------------------------------------------------------------------------------------
 */

/*
 * Where the words of a slot lie, two and two so that each pair is one access. Only what is selected has a place: the
 * fewer lines are written among the reads, the faster the memory. A tile's places are itself and are not written;
 * counts of elements follow from the slot's index.
 */
template <class Element, bool WithMoments> struct SlotPlaces {
  static constexpr unsigned sum_words = Element::is_float ? 2 : 4, key_words = sizeof(typename Element::Key) / 4;
  static constexpr unsigned most = sum_words + (WithMoments ? 6 : 0) + 2 * key_words + 2 + (Element::is_float ? 2 : 0);
  static_assert(most <= RED_CUDA_STATS_SLOT_WORDS(Element::bytes, WithMoments), "the host reserves too little");
  /* Of a tile of integers of up to 4 bytes the sum needs half of its words. */
  static constexpr bool short_sums = !Element::is_float && Element::bytes <= 4;
  unsigned moments, keys, places, nans, stride;
  __device__ constexpr SlotPlaces(unsigned stats, bool tile) : moments(), keys(), places(), nans(), stride() {
    moments = (stats & needs_sum) == 0 ? 0 : short_sums && tile ? 2 : sum_words; /* the sum comes first */
    keys = moments + (WithMoments ? 6 : 0);
    places = keys + (stats & needs_extremes ? 2 * key_words : 0);
    nans = places + ((stats & needs_places) && !tile ? 2 : 0);
    stride = nans + (Element::is_float && (stats & needs_nans) ? 2 : 0);
  }
};

template <class T> __device__ inline void publish_part(uint64_t *slot, unsigned at, T value, uint32_t epoch) {
  red::publish(slot + at, 0, value, epoch);
}

/* A part of a slot as it was read; not asked for, it is valid and none. */
template <class T> struct SlotPart {
  Slot<T> slot;
  __device__ void read(const uint64_t *from, unsigned at, bool wanted, uint32_t epoch) {
#pragma unroll
    for (int i = 0; i < Slot<T>::words; i++) slot.word[i] = flagged(0, epoch);
    if (wanted) slot.read(from + at, 0);
  }
};

template <class T> struct Two { T first, second; };
struct Three {
  double mean, low, squares;
};
/* A float takes two words: nothing else shares its 16 bytes. */
template <class Number> struct SumPayload { using Type = Number; };
template <> struct SumPayload<float> { using Type = Two<float>; };

__device__ inline Two<float> pack_sum(float sum) {
  return {sum, 0};
}
__device__ inline double pack_sum(double sum) {
  return sum;
}
__device__ inline __int128 pack_sum(__int128 sum) {
  return sum;
}
__device__ inline float unpack_sum(Two<float> sum) {
  return sum.first;
}
__device__ inline double unpack_sum(double sum) {
  return sum;
}
__device__ inline __int128 unpack_sum(__int128 sum) {
  return sum;
}

template <class Element, bool WithMoments>
__device__ inline void publish_summary(uint64_t *slots, uint64_t index, bool tile, unsigned stats,
                                       const Summary<Element> &s, uint32_t epoch) {
  const SlotPlaces<Element, WithMoments> w(stats, tile);
  uint64_t *slot = slots + index * w.stride;
  if ((stats & needs_sum) && w.short_sums && tile)
    publish_part(slot, 0, static_cast<int64_t>(s.sum), epoch);
  else if (stats & needs_sum)
    publish_part(slot, 0, pack_sum(s.sum), epoch);
  if (stats & needs_extremes) publish_part(slot, w.keys, Two<typename Element::Key>{s.least, s.greatest}, epoch);
  if ((stats & needs_places) && !tile) publish_part(slot, w.places, Two<uint32_t>{s.argmin, s.argmax}, epoch);
  if (Element::is_float && (stats & needs_nans)) publish_part(slot, w.nans, s.nans, epoch);
  if constexpr (WithMoments)
    publish_part(slot, w.moments, Three{s.moments.mean, s.moments.low, s.moments.squares}, epoch);
}

/* One slot, all of whose parts are asked for before the first is looked at. */
template <class Element, bool WithMoments> struct SummarySlot {
  using Key = typename Element::Key;
  SlotPart<typename SumPayload<typename Element::Number>::Type> sum;
  SlotPart<Two<Key>> keys;
  SlotPart<Two<uint32_t>> places;
  SlotPart<uint64_t> nans;
  SlotPart<Three> moments;

  __device__ void read(const uint64_t *slots, uint64_t index, bool tile, unsigned stats, uint32_t epoch) {
    const SlotPlaces<Element, WithMoments> w(stats, tile);
    const uint64_t *slot = slots + index * w.stride;
    const bool short_sum = w.short_sums && tile;
    sum.read(slot, 0, (stats & needs_sum) && !short_sum, epoch);
    if ((stats & needs_sum) && short_sum) load_relaxed_pair(slot, sum.slot.word[0], sum.slot.word[1]);
    keys.read(slot, w.keys, stats & needs_extremes, epoch);
    places.read(slot, w.places, (stats & needs_places) && !tile, epoch);
    if (Element::is_float) nans.read(slot, w.nans, stats & needs_nans, epoch);
    if (WithMoments) moments.read(slot, w.moments, true, epoch);
  }
  __device__ bool valid(uint32_t epoch) const {
    return sum.slot.valid(epoch) && keys.slot.valid(epoch) && places.slot.valid(epoch) &&
           (!Element::is_float || nans.slot.valid(epoch)) && (!WithMoments || moments.slot.valid(epoch));
  }
  __device__ Summary<Element> value(uint64_t index, bool tile, uint64_t count) const {
    Summary<Element> s = no_summary<Element>();
    Two<Key> key = keys.slot.value();
    Two<uint32_t> place = places.slot.value();
    s.sum = unpack_sum(sum.slot.value());
    if (SlotPlaces<Element, WithMoments>::short_sums && tile) s.sum = static_cast<int64_t>(s.sum); /* its sign */
    s.least = key.first;
    s.greatest = key.second;
    s.argmin = tile ? static_cast<uint32_t>(index) : place.first;
    s.argmax = tile ? static_cast<uint32_t>(index) : place.second;
    if (Element::is_float) s.nans = nans.slot.value();
    if (WithMoments) {
      Three three = moments.slot.value();
      s.moments = {count, three.mean, three.low, three.squares};
    }
    return s;
  }
};

/* A thread folds up to 2^(stats_levels + 1) slots of a group. */
constexpr unsigned stats_levels = 5;
static_assert(RED_CUDA_STATS_MOST <= (2u << stats_levels) * block_threads, "groups are folded by a block");

/* ---- Folding a group
 * -------------------------------------------------------------------------------------------------
 */

template <class Element, bool WithMoments>
__device__ inline Summary<Element> from_lane_above(const Summary<Element> &s, unsigned h) {
  constexpr unsigned words = (sizeof s - (WithMoments ? 0 : sizeof(Moments))) / 4; /* moments come last */
  uint32_t word[words];
  Summary<Element> above = s;
  __builtin_memcpy(word, &s, sizeof word);
#pragma unroll
  for (unsigned i = 0; i < words; i++) word[i] = __shfl_down_sync(0xffffffffu, word[i], h);
  __builtin_memcpy(&above, word, sizeof word);
  return above;
}

/* Two slots from `at` on, of which `count` exist. A slot stands for `span` elements of n. */
template <class Element, bool WithMoments>
__device__ inline Summary<Element> wait_for_two(const uint64_t *slots, uint64_t at, unsigned count, bool tile,
                                                unsigned stats, uint64_t span, uint64_t n, uint32_t epoch) {
  SummarySlot<Element, WithMoments> slot[2];
  bool waits;
  do {
    waits = false;
#pragma unroll
    for (unsigned k = 0; k < 2; k++) slot[k].read(slots, k < count ? at + k : at, tile, stats, epoch);
#pragma unroll
    for (unsigned k = 0; k < 2; k++) waits = waits || (k < count && !slot[k].valid(epoch));
  } while (waits);
  Summary<Element> two[2];
#pragma unroll
  for (unsigned k = 0; k < 2; k++) {
    uint64_t begin = (at + k) * span;
    two[k] = k < count ? slot[k].value(at + k, tile, n - begin < span ? n - begin : span) : no_summary<Element>();
  }
  return merge<Element, WithMoments>(two[0], two[1]);
}

/*
 * Slots first .. first + count - 1, RED_CUDA_STATS_MOST at most, as a tree of neighbours: as many a thread as it takes,
 * two at a time, then lanes, then warps. The result is in thread 0.
 */
template <class Element, bool WithMoments>
__device__ inline Summary<Element> fold_summaries(const uint64_t *slots, uint64_t first, unsigned count, bool tile,
                                                  unsigned stats, uint64_t span, uint64_t n, uint32_t epoch,
                                                  Summary<Element> (&of_warp)[block_warps]) {
  unsigned each = 1;
  while (each * block_threads < count) each *= 2;
  const unsigned begin = threadIdx.x * each, pairs = (each + 1) / 2;
  Summary<Element> s, left[stats_levels]; /* left siblings, one for each level */
#pragma unroll 1
  for (unsigned p = 0; p < pairs; p++) {
    unsigned at = begin + 2 * p, here = at < count ? count - at : 0;
    s = wait_for_two<Element, WithMoments>(slots, first + (here > 0 ? at : 0), here < each ? here : each, tile, stats,
                                           span, n, epoch);
    unsigned level = 0;
    for (; (p >> level & 1) != 0; level++) s = merge<Element, WithMoments>(left[level], s);
    if (p + 1 < pairs) left[level] = s;
  }
#pragma unroll 1
  for (unsigned h = 1; h < 32; h *= 2) s = merge<Element, WithMoments>(s, from_lane_above<Element, WithMoments>(s, h));
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = s;
  __syncthreads();
  s = merge<Element, WithMoments>(merge<Element, WithMoments>(of_warp[0], of_warp[1]),
                                  merge<Element, WithMoments>(of_warp[2], of_warp[3]));
  return s;
}

} // namespace red

#endif
