/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The law `scan-1` in pieces: P(k) is the left-to-right sum of the nodes of k's binary expansion, in the tree of
 * adjacent pairs. Everywhere the same two steps: climb the tree of totals, keeping each left sibling; then descend from
 * what comes before, adding the left sibling wherever one is a right child. Elements in a lane, lanes in a row, rows in
 * a warp, warps in a tile and tiles in the array are all trees of this kind.
 *
 * Tiles publish totals only. Level 0 holds them, level 1 the nodes of 128 tiles, and each level above those of 32 of
 * the level below; the tile that ends such a node publishes it. A tile reads at most 127 values of level 0 and 31 of
 * each other level, and no value depends on when others arrive. (Some 130 tiles are under way at a time: with 128 in a
 * group what a tile waits for is hardly ever two publications away.)
 */
#ifndef RED_CUDA_SCAN_CUH
#define RED_CUDA_SCAN_CUH

#include <red/device/cuda/warp.cuh>

#include "convert.cuh"
#include "memory.cuh"

namespace red {

/* ---- In one lane: V elements, V a power of two ----------------------------------------------------------------------
 */

/* Up-sweep in place: x[i] becomes the node that ends at i; the last one is the total. */
template <int V, class T, class Op> __device__ inline T climb_lane(T (&x)[V], Op op) {
#pragma unroll
  for (int d = 1; d < V; d *= 2) {
#pragma unroll
    for (int i = 2 * d - 1; i < V; i += 2 * d) x[i] = op(x[i - d], x[i]);
  }
  return x[V - 1];
}

/* From the up-sweep and what comes before the lane to what comes before each element. */
template <int V, class T, class Op> __device__ inline void descend_lane(const T (&x)[V], T before, T (&y)[V], Op op) {
  y[0] = before;
#pragma unroll
  for (int d = V / 2; d > 0; d /= 2) {
#pragma unroll
    for (int i = 0; i < V; i += 2 * d) y[i + d] = op(y[i], x[i + d - 1]);
  }
}

/* ---- Across the lanes of a warp
 * -------------------------------------------------------------------------------------- */

/* Adds neighbours, then pairs of them, ...: the total in all lanes. sibling[h] is the other half of this lane's block
 * of 2^(h+1) lanes. All operators here are commutative, bit for bit, canonical NaNs being made at the end. */
template <int Levels, class T, class Op> __device__ inline T climb(T total, T (&sibling)[Levels], Op op) {
#pragma unroll
  for (int h = 0; h < Levels; h++) {
    sibling[h] = warp_xor(total, 1u << h);
    total = op(total, sibling[h]);
  }
  return total;
}

template <int Levels, class T, class Op>
__device__ inline T descend(T before, const T (&sibling)[Levels], unsigned lane, Op op) {
#pragma unroll
  for (int h = Levels - 1; h >= 0; h--)
    if (lane >> h & 1) before = op(before, sibling[h]);
  return before;
}

/* Rows of a warp, level by level: they wait for their shuffles together. In `row` their totals. */
template <int Rows, class T, class Op> __device__ inline void climb_rows(T (&row)[Rows], T (&sibling)[5][Rows], Op op) {
#pragma unroll
  for (int h = 0; h < 5; h++) {
#pragma unroll
    for (int r = 0; r < Rows; r++) sibling[h][r] = warp_xor(row[r], 1u << h);
#pragma unroll
    for (int r = 0; r < Rows; r++) row[r] = op(row[r], sibling[h][r]);
  }
}

/* From what comes before each row to what comes before this lane in it. */
template <int Rows, class T, class Op>
__device__ inline void descend_rows(T (&before)[Rows], const T (&sibling)[5][Rows], unsigned lane, Op op) {
#pragma unroll
  for (int h = 4; h >= 0; h--) {
#pragma unroll
    for (int r = 0; r < Rows; r++)
      if (lane >> h & 1) before[r] = op(before[r], sibling[h][r]);
  }
}

/* ---- Across tiles
 * ----------------------------------------------------------------------------------------------------- */

/* The slots of the first `count` lanes, one in each; the other lanes read a neighbour's and get the identity. */
template <class T> struct LaneSlots {
  const uint64_t *slots;
  unsigned count;
  Slot<T> slot;

  __device__ LaneSlots(const uint64_t *level, uint64_t base, unsigned n)
      : slots(level + base * Payload<T>::stride), count(n) {
    read();
  }
  __device__ void read() { slot.read(slots, lane_index() < count ? lane_index() : 0); }
  __device__ T wait(uint32_t epoch, T identity) {
    bool missing = lane_index() < count && !slot.valid(epoch);
    while (
        __any_sync(0xffffffffu, missing)) { /* only what is missing is asked for again: all blocks read these lines */
      if (missing) {
        slot.read(slots, lane_index());
        missing = !slot.valid(epoch);
      }
    }
    return lane_index() < count ? slot.value() : identity;
  }
};

template <class T>
__device__ inline T wait_lanes(const uint64_t *slots, uint64_t base, unsigned count, uint32_t epoch, T identity) {
  return LaneSlots<T>(slots, base, count).wait(epoch, identity);
}

/*
 * How tiles are grouped: at level 0 LaneTiles of them in each of a warp's lanes, above by 32. Large groups spare the
 * pipeline waits; where each multiprocessor runs many tiles at a time, their polls would get in each other's way.
 */
template <int LaneTiles> struct Groups {
  static constexpr unsigned lane_tiles = LaneTiles;
  static constexpr unsigned low_bits = LaneTiles == 4 ? RED_CUDA_SCAN_LARGE_GROUPS : RED_CUDA_SCAN_SMALL_GROUPS;
  static_assert(1u << low_bits == 32 * lane_tiles, "a warp's lanes hold a group");

  __device__ static unsigned shift(unsigned level) {
    return level == 0 ? 0 : low_bits + RED_CUDA_SCAN_HIGH_BITS * (level - 1);
  }
  __device__ static unsigned last_digit(unsigned level) { return level == 0 ? 32 * lane_tiles - 1 : 31; }
  __device__ static unsigned digit(uint64_t tile, unsigned level) {
    return static_cast<unsigned>(tile >> shift(level)) & last_digit(level);
  }
  /* The first slot of the group at `level` that `tile` belongs to. */
  __device__ static uint64_t base(uint64_t tile, unsigned level) {
    return tile >> shift(level) & ~static_cast<uint64_t>(last_digit(level));
  }
  /* Whether `tile` ends a group of level 0. */
  __device__ static bool ends(uint64_t tile) { return digit(tile, 0) == last_digit(0); }
};
using SmallGroups = Groups<1>;
using LargeGroups = Groups<4>;

/* If `tile` is the first of a sector of slots, ask for it; at the level above likewise. */
template <class G, class T> __device__ inline void prefetch_slots(const red_cuda_scan &args, uint64_t tile) {
  if (tile >= args.tiles || tile % Sector<T>::slots != 0) return;
  prefetch_slot<T>(args.slots[0], tile);
  uint64_t node = tile >> G::shift(1);
  if (args.levels > 1 && node << G::shift(1) == tile && node % Sector<T>::slots == 0)
    prefetch_slot<T>(args.slots[1], node);
}

/* The slots of a group of level 0 before the one with `digit`, some in each lane. */
template <class G, class T> struct LowSlots {
  static constexpr unsigned lane_tiles = G::lane_tiles;
  const uint64_t *slots;
  unsigned digit, first;
  Slot<T> slot[lane_tiles];

  __device__ LowSlots(const red_cuda_scan &args, uint64_t tile)
      : slots(args.slots[0] + G::base(tile, 0) * Payload<T>::stride), digit(G::digit(tile, 0)),
        first(lane_index() * lane_tiles) {
    read();
  }
  __device__ void read() {
    unsigned from = first < digit ? first : 0;
    if constexpr (Payload<T>::words == 1 && lane_tiles == 4) {
      load_relaxed_pair(slots + from, slot[0].word[0], slot[1].word[0]);
      load_relaxed_pair(slots + from + 2, slot[2].word[0], slot[3].word[0]);
    } else {
#pragma unroll
      for (unsigned i = 0; i < lane_tiles; i++) slot[i].read(slots, from + i);
    }
  }
  __device__ bool incomplete(uint32_t epoch) const {
    bool all = true;
#pragma unroll
    for (unsigned i = 0; i < lane_tiles; i++) all = all && (first + i >= digit || slot[i].valid(epoch));
    return !all;
  }
  /* The lane's totals; `own` is that of the tile with `digit`, the identity stands for later ones. */
  __device__ void wait(uint32_t epoch, T own, T identity, T (&total)[lane_tiles]) {
    bool missing = incomplete(epoch);
    while (__any_sync(0xffffffffu, missing)) {
      if (missing) {
        read();
        missing = incomplete(epoch);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < lane_tiles; i++)
      total[i] = first + i < digit ? slot[i].value() : first + i == digit ? own : identity;
  }
};

/* What lies `index` places into the group, in all lanes. */
template <class T> __device__ inline T pick(const T (&y)[1], unsigned index) {
  return warp_broadcast(y[0], index);
}
template <class T> __device__ inline T pick(const T (&y)[4], unsigned index) {
  T low = index & 1 ? y[1] : y[0], high = index & 1 ? y[3] : y[2];
  return warp_broadcast(index & 2 ? high : low, index / 4);
}

/* The node above `level` that ends at `tile`, from that at `level`; the identity stands for missing tiles. */
template <class G, class T, class Op>
__device__ __noinline__ T close_level(const red_cuda_scan &args, uint64_t tile, unsigned level, T node, uint32_t epoch,
                                      Op op, T identity) {
  T sibling[5];
  if (level == 0) {
    T total[G::lane_tiles];
    LowSlots<G, T>(args, tile).wait(epoch, node, identity, total);
    return climb(climb_lane(total, op), sibling, op);
  }
  unsigned digit = G::digit(tile, level);
  T value = wait_lanes(args.slots[level], G::base(tile, level), digit, epoch, identity);
  return climb(lane_index() == digit ? node : value, sibling, op);
}

/* Publish the nodes above the tiles that end at `tile`, if any. A warp calls. Few tiles do: out of line. */
template <class G, class T, class Op>
__device__ __noinline__ void close_levels(const red_cuda_scan &args, uint64_t tile, T own, uint32_t epoch, Op op,
                                          T identity) {
  T node = own;
  for (unsigned level = 0; level + 1 < args.levels && G::digit(tile, level) == G::last_digit(level); level++) {
    node = close_level<G>(args, tile, level, node, epoch, op, identity);
    if (lane_index() == 0) publish(args.slots[level + 1], tile >> G::shift(level + 1), node, epoch);
  }
}

/* The total of all tiles, wanted only where their number is a power of two: `tile` is the last one. */
template <class G, class T, class Op>
__device__ __noinline__ T total_of_tiles(const red_cuda_scan &args, uint64_t tile, T own, uint32_t epoch, Op op,
                                         T identity) {
  T node = own;
  for (unsigned level = 0; level < args.levels; level++)
    node = close_level<G>(args, tile, level, node, epoch, op, identity);
  return node;
}

/* What comes before tiles whose index differs in the lower two digits only. */
template <class T> struct UpperPrefix {
  uint64_t key;
  T before;
  bool known;
};

/* P up to the node of `level` that `tile` belongs to, level > 0; `start` is init or the identity. */
template <class G, class T, class Op>
__device__ __noinline__ T prefix_above(const red_cuda_scan &args, uint64_t tile, unsigned level, uint32_t epoch, Op op,
                                       T identity, T start) {
  T before = start;
  for (unsigned k = args.levels; k-- > level;) {
    unsigned digit = G::digit(tile, k);
    T value = wait_lanes(args.slots[k], G::base(tile, k), digit, epoch, identity);
    T sibling[5];
    climb(value, sibling, op);
    before = warp_broadcast(descend(before, sibling, lane_index(), op), digit);
  }
  return before;
}

template <class T> struct Prefix {
  T before; /* P at the tile's beginning */
  T after;  /* P at its end, which is not before + own: the carry ripples above the tile */
};

/* P at the end of a tile that ends a group of level 0. */
template <class G, class T, class Op>
__device__ __noinline__ T prefix_after_group(const red_cuda_scan &args, uint64_t tile, T own, uint32_t epoch, Op op,
                                             T identity, T start) {
  T node = own;
  unsigned level = 0;
  for (; level < args.levels && G::digit(tile, level) == G::last_digit(level); level++)
    node = close_level<G>(args, tile, level, node, epoch, op, identity);
  if (level == args.levels) return op(start, node);
  T before = prefix_above<G>(args, tile, level + 1, epoch, op, identity, start);
  unsigned digit = G::digit(tile, level);
  T value = wait_lanes(args.slots[level], G::base(tile, level), digit, epoch, identity);
  T sibling[5];
  climb(lane_index() == digit ? node : value, sibling, op);
  return warp_broadcast(descend(before, sibling, lane_index(), op), digit + 1);
}

/* The slots of the two lowest levels that come before a tile, asked for together. */
template <class G, class T> struct TileSlots {
  LowSlots<G, T> low;
  LaneSlots<T> high;
  __device__ TileSlots(const red_cuda_scan &args, uint64_t tile)
      : low(args, tile),
        high(args.slots[args.levels > 1], G::base(tile, args.levels > 1), args.levels > 1 ? G::digit(tile, 1) : 0) {}
};

/*
 * A warp calls for a tile with the total `own`. What is above the two lowest levels changes once in some thousand tiles
 * and is kept in `upper`.
 */
template <class G, class T, class Op>
__device__ inline Prefix<T> look_back(const red_cuda_scan &args, uint64_t tile, TileSlots<G, T> &slots, T own,
                                      uint32_t epoch, Op op, T identity, T start, UpperPrefix<T> &upper) {
  unsigned lane = lane_index(), low = G::digit(tile, 0);
  T before = start, low_sibling[5], high_sibling[5], total[G::lane_tiles], at[G::lane_tiles];
  if (args.levels > 2) {
    uint64_t key = tile >> G::shift(2);
    if (!upper.known || upper.key != key) {
      upper.before = prefix_above<G>(args, tile, 2, epoch, op, identity, start);
      upper.key = key;
      upper.known = true;
    }
    before = upper.before;
  }
  /* Both levels climb side by side; only the descent takes one after the other. */
  T high_value = slots.high.wait(epoch, identity);
  slots.low.wait(epoch, own, identity, total);
  climb(high_value, high_sibling, op);
  climb(climb_lane(total, op), low_sibling, op);
  if (args.levels > 1) before = warp_broadcast(descend(before, high_sibling, lane, op), G::digit(tile, 1));
  descend_lane(total, descend(before, low_sibling, lane, op), at, op);
  Prefix<T> prefix;
  prefix.before = pick(at, low);
  prefix.after = pick(at, (low + 1) & G::last_digit(0));
  if (low == G::last_digit(0) && args.inclusive)
    prefix.after = prefix_after_group<G>(args, tile, own, epoch, op, identity, start);
  return prefix;
}

/* The raw total for the host. */
__device__ inline void answer_total(const red_cuda_scan &args, uint64_t bits) {
  args.total->word[0] = bits;
  __threadfence_system();
  *static_cast<volatile uint32_t *>(&args.total->flag) = args.total_flag;
}

__device__ inline uint64_t state_bits(float x) {
  return __float_as_uint(x);
}
__device__ inline uint64_t state_bits(double x) {
  return static_cast<uint64_t>(__double_as_longlong(x));
}
__device__ inline uint64_t state_bits(uint32_t x) {
  return x;
}
__device__ inline uint64_t state_bits(int32_t x) {
  return static_cast<uint64_t>(static_cast<int64_t>(x));
}
__device__ inline uint64_t state_bits(int64_t x) {
  return static_cast<uint64_t>(x);
}
__device__ inline uint64_t state_bits(uint64_t x) {
  return x;
}

template <class T> __device__ inline T state_of(uint64_t bits) {
  return static_cast<T>(bits);
}
template <> __device__ inline float state_of<float>(uint64_t bits) {
  return __uint_as_float(static_cast<uint32_t>(bits));
}
template <> __device__ inline double state_of<double>(uint64_t bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

} // namespace red

#endif
