/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The law `scan-1` in pieces: P(k) is the left-to-right sum of the nodes of k's binary expansion, in the tree of
 * adjacent pairs. Everywhere the same two steps: climb the tree of totals, keeping each left sibling; then descend from
 * what comes before, adding the left sibling wherever one is a right child. Elements in a lane, lanes in a row, rows in
 * a warp, warps in a tile and tiles in the array are all trees of this kind.
 *
 * Tiles publish totals only. Level k holds the nodes of 32^k tiles; the tile that ends such a node publishes it. A tile
 * reads at most 31 values a level, and no value depends on when others arrive.
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
    while (!__all_sync(0xffffffffu, lane_index() >= count || slot.valid(epoch))) read();
    return lane_index() < count ? slot.value() : identity;
  }
};

template <class T>
__device__ inline T wait_lanes(const uint64_t *slots, uint64_t base, unsigned count, uint32_t epoch, T identity) {
  return LaneSlots<T>(slots, base, count).wait(epoch, identity);
}

__device__ inline unsigned digit_of(uint64_t tile, unsigned level) {
  return static_cast<unsigned>(tile >> 5 * level) & 31;
}

/* If `tile` is the first of a sector of slots, ask for it; at the level above likewise. */
template <class T> __device__ inline void prefetch_slots(const red_cuda_scan &args, uint64_t tile) {
  if (tile >= args.tiles || tile % Sector<T>::slots != 0) return;
  prefetch_slot<T>(args.slots[0], tile);
  if (args.levels > 1 && tile % (32 * Sector<T>::slots) == 0) prefetch_slot<T>(args.slots[1], tile / 32);
}

/* The first slot of the group of 32 at `level` that `tile` belongs to. */
__device__ inline uint64_t group_base(uint64_t tile, unsigned level) {
  return (tile >> 5 * level) & ~31ull;
}

/* The node of 32^(level+1) tiles that ends at `tile`, from that of 32^level; the identity stands for missing tiles. */
template <class T, class Op>
__device__ inline T close_level(const red_cuda_scan &args, uint64_t tile, unsigned level, T node, uint32_t epoch, Op op,
                                T identity) {
  unsigned digit = digit_of(tile, level);
  T value = wait_lanes(args.slots[level], group_base(tile, level), digit, epoch, identity);
  T sibling[5];
  return climb(lane_index() == digit ? node : value, sibling, op);
}

/* Publish the nodes above the tiles that end at `tile`, if any. A warp calls. Few tiles do: out of line. */
template <class T, class Op>
__device__ __noinline__ void close_levels(const red_cuda_scan &args, uint64_t tile, T own, uint32_t epoch, Op op,
                                          T identity) {
  T node = own;
  for (unsigned level = 0; level + 1 < args.levels && digit_of(tile, level) == 31; level++) {
    node = close_level(args, tile, level, node, epoch, op, identity);
    if (lane_index() == 0) publish(args.slots[level + 1], tile >> 5 * (level + 1), node, epoch);
  }
}

/* The total of all tiles, wanted only where their number is a power of two: `tile` is the last one. */
template <class T, class Op>
__device__ __noinline__ T total_of_tiles(const red_cuda_scan &args, uint64_t tile, T own, uint32_t epoch, Op op,
                                         T identity) {
  T node = own;
  for (unsigned level = 0; level < args.levels; level++)
    node = close_level(args, tile, level, node, epoch, op, identity);
  return node;
}

/* What comes before tiles whose index differs in the lower two digits only. */
template <class T> struct UpperPrefix {
  uint64_t key;
  T before;
  bool known;
};

/* P up to the group of 32^level tiles that `tile` belongs to; `start` is init or the identity. */
template <class T, class Op>
__device__ __noinline__ T prefix_above(const red_cuda_scan &args, uint64_t tile, unsigned level, uint32_t epoch, Op op,
                                       T identity, T start) {
  T before = start;
  for (unsigned k = args.levels; k-- > level;) {
    unsigned digit = digit_of(tile, k);
    T value = wait_lanes(args.slots[k], group_base(tile, k), digit, epoch, identity);
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

/* P at the end of a tile that ends a group of 32. */
template <class T, class Op>
__device__ __noinline__ T prefix_after_group(const red_cuda_scan &args, uint64_t tile, T own, uint32_t epoch, Op op,
                                             T identity, T start) {
  T node = own;
  unsigned level = 0;
  for (; level < args.levels && digit_of(tile, level) == 31; level++)
    node = close_level(args, tile, level, node, epoch, op, identity);
  if (level == args.levels) return op(start, node);
  T before = prefix_above(args, tile, level + 1, epoch, op, identity, start);
  unsigned digit = digit_of(tile, level);
  T value = wait_lanes(args.slots[level], group_base(tile, level), digit, epoch, identity);
  T sibling[5];
  climb(lane_index() == digit ? node : value, sibling, op);
  return warp_broadcast(descend(before, sibling, lane_index(), op), digit + 1);
}

/* The slots of the two lowest levels that come before a tile, asked for together. */
template <class T> struct TileSlots {
  LaneSlots<T> low, high;
  __device__ TileSlots(const red_cuda_scan &args, uint64_t tile)
      : low(args.slots[0], group_base(tile, 0), digit_of(tile, 0)),
        high(args.slots[args.levels > 1], group_base(tile, args.levels > 1), args.levels > 1 ? digit_of(tile, 1) : 0) {}
};

/*
 * A warp calls for a tile with the total `own`. What is above the two lowest levels changes once in 1024 tiles and is
 * kept in `upper`.
 */
template <class T, class Op>
__device__ inline Prefix<T> look_back(const red_cuda_scan &args, uint64_t tile, TileSlots<T> &slots, T own,
                                      uint32_t epoch, Op op, T identity, T start, UpperPrefix<T> &upper) {
  unsigned lane = lane_index(), low = digit_of(tile, 0);
  T before = start, low_sibling[5], high_sibling[5];
  if (args.levels > 2) {
    uint64_t key = tile >> 10;
    if (!upper.known || upper.key != key) {
      upper.before = prefix_above(args, tile, 2, epoch, op, identity, start);
      upper.key = key;
      upper.known = true;
    }
    before = upper.before;
  }
  /* Both levels climb side by side; only the descent takes one after the other. */
  T high_value = slots.high.wait(epoch, identity), low_value = slots.low.wait(epoch, identity);
  climb(high_value, high_sibling, op);
  climb(lane == low ? own : low_value, low_sibling, op);
  if (args.levels > 1) before = warp_broadcast(descend(before, high_sibling, lane, op), digit_of(tile, 1));
  before = descend(before, low_sibling, lane, op);
  Prefix<T> prefix;
  prefix.before = warp_broadcast(before, low);
  prefix.after = warp_broadcast(before, (low + 1) & 31);
  if (low == 31 && args.inclusive) prefix.after = prefix_after_group(args, tile, own, epoch, op, identity, start);
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
