/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the results of tiles to the result of all. A kernel says how the state of a tile is computed, in thread 0 of a
 * block of 128; reduce_tiles() publishes it, and the block that closes everything finishes.
 *
 * Tiles form groups of 2048, groups form groups again. Within a group the tree of adjacent pairs is folded, a missing
 * operand being the exact identity: complete nodes of the canonical order.
 *
 * Polling needs no order of dispatch: a block that polls occupies one slot of a multiprocessor, there is one for each
 * group, and the host hands out tile indices by ticket where those could fill the device.
 */
#ifndef RED_CUDA_COMBINE_CUH
#define RED_CUDA_COMBINE_CUH

#include "args.h"
#include "fold.cuh"

namespace red {

__device__ inline uint64_t groups_of(uint64_t count) {
  return (count + group_tiles - 1) / group_tiles;
}

/* Whether this block was the last of `members` to add its result. */
__device__ inline bool arrives_last(uint32_t *counter, uint32_t members, CombineScratch &scratch) {
  if (threadIdx.x == 0) {
    __threadfence();
    scratch.closing = atomicInc(counter, members - 1) == members - 1;
    __threadfence();
  }
  __syncthreads();
  bool last = scratch.closing;
  __syncthreads();
  return last;
}

/* Everybody has published; blocks are all resident (cooperative launch). */
__device__ inline void grid_barrier(red_cuda_head *head, uint32_t epoch) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicInc(&head->arrived, gridDim.x - 1) == gridDim.x - 1) store_relaxed(&head->barrier, epoch);
    while (load_relaxed(&head->barrier) != epoch) {
    }
    __threadfence();
  }
  __syncthreads();
}

/* Fold a group of tiles, and upwards while this block closes the next group too. True where all has come together. */
template <class Policy>
__device__ inline bool close_groups(const red_cuda_reduce &args, const Policy &policy, uint64_t group, uint64_t count,
                                    typename Policy::State &state, CombineScratch &scratch) {
  uint32_t *counters = args.counters;
  for (int level = 0;; level++) {
    uint64_t groups = groups_of(count);
    uint64_t first = group * group_tiles;
    unsigned members = static_cast<unsigned>(count - first < group_tiles ? count - first : group_tiles);
    state = policy.fold(args, level, first, members, scratch);
    if (groups == 1) return true;
    counters += groups;
    if (threadIdx.x == 0) policy.publish(args, level + 1, group, state, scratch.epoch);
    uint64_t above = group / group_tiles;
    uint64_t last = (above + 1) * group_tiles < groups ? (above + 1) * group_tiles : groups;
    bool closes = args.combine == RED_CUDA_LAST
                      ? arrives_last(counters + above, static_cast<uint32_t>(last - above * group_tiles), scratch)
                      : group + 1 == last;
    if (!closes) return false;
    group = above;
    count = groups;
  }
}

/* ---- A kernel's frame ----------------------------------------------------------------------------------------------
 */

/* The block's first tile. */
__device__ inline uint64_t begin(const red_cuda_reduce &args, CombineScratch &scratch) {
  if (args.tiles == 1) return 0;
  if (args.ordered) {
    if (threadIdx.x == 0) scratch.tile = atomicInc(&args.head->ticket, static_cast<uint32_t>(args.tiles - 1));
    __syncthreads();
    return scratch.tile;
  }
  return blockIdx.x;
}

/* The epoch of this execution, in thread 0: the next one begins only after every tile of this one was published. */
__device__ inline uint32_t read_epoch(const red_cuda_reduce &args) {
  return threadIdx.x == 0 ? load_relaxed(&args.head->epoch) : 0;
}

template <class Policy> __device__ inline void prefetch_own(const red_cuda_reduce &args, uint64_t index) {
  if (threadIdx.x == 0) prefetch_slot<typename Policy::Slots>(args.slots[0], index);
}

/* The block that has the whole; some policies have a last question to the input, which all threads answer. */
template <class Policy>
__device__ inline void finish_all(const red_cuda_reduce &args, const Policy &policy, typename Policy::State state,
                                  uint32_t epoch) {
  if constexpr (Policy::asks_input) policy.ask_input(args, state);
  if (threadIdx.x != 0) return;
  if (args.tiles > 1) store_relaxed(&args.head->epoch, epoch);
  policy.finish(args, state);
}

/* Whether this block folds a group of tiles when its own have been published, and which: first, first + step, ... */
__device__ inline bool closes_groups(const red_cuda_reduce &args, uint64_t tile, uint32_t epoch, uint64_t &first,
                                     uint64_t &step, CombineScratch &scratch) {
  if (args.combine == RED_CUDA_COOP) {
    grid_barrier(args.head, epoch);
    first = blockIdx.x;
    step = gridDim.x;
    return true;
  }
  first = tile / group_tiles;
  step = args.tiles; /* only this one */
  uint64_t end = (first + 1) * group_tiles < args.tiles ? (first + 1) * group_tiles : args.tiles;
  if (args.combine == RED_CUDA_LAST)
    return arrives_last(args.counters + first, static_cast<uint32_t>(end - first * group_tiles), scratch);
  if (args.combine != RED_CUDA_POLL || tile + 1 != end) return false;
  __syncthreads(); /* the epoch, for the threads that poll */
  return true;
}

/* What follows when a block's tiles have been published. */
template <class Policy>
__device__ inline void combine(const red_cuda_reduce &args, const Policy &policy, uint64_t index, uint32_t epoch,
                               typename Policy::State state, CombineScratch &scratch) {
  bool whole = args.tiles == 1;
  if (!whole && args.combine == RED_CUDA_ATOMIC) {
    if (threadIdx.x == 0) policy.merge_atomically(args, state);
    whole = arrives_last(&args.head->arrived, gridDim.x, scratch);
    if (whole && threadIdx.x == 0) policy.take_atomically(args, state);
  } else if (!whole) {
    if (threadIdx.x == 0) scratch.epoch = epoch;
    uint64_t group, step, groups = groups_of(args.tiles);
    if (!closes_groups(args, index, epoch, group, step, scratch)) return;
    for (; group < groups; group += step) whole = close_groups(args, policy, group, args.tiles, state, scratch);
  }
  if (whole) finish_all(args, policy, state, epoch);
}

/* Out of line: for statistics it needs more registers than tiles do, once for some hundreds of them. */
template <class Policy>
__device__ __noinline__ void combine_apart(const red_cuda_reduce &args, const Policy &policy, uint64_t index,
                                           uint32_t epoch, typename Policy::State state, CombineScratch &scratch) {
  combine(args, policy, index, epoch, state, scratch);
}

/*
 * tile(t) gives the state of a tile in thread 0. Blocks take one tile each, and more only in a cooperative launch,
 * whose grid is no larger than the device.
 */
template <class Policy, class Tile>
__device__ inline void reduce_tiles(const red_cuda_reduce &args, const Policy &policy, Tile tile,
                                    CombineScratch &scratch) {
#if __CUDA_ARCH__ >= 900
  if (args.combine == RED_CUDA_PDL) asm volatile("griddepcontrol.launch_dependents;");
#endif
  bool several = args.tiles > 1;
  uint32_t before = several ? read_epoch(args) : 0; /* not waited for until it is needed */
  uint64_t index, next = begin(args, scratch);
  typename Policy::State state;
  if (several) prefetch_own<Policy>(args, next);
  for (;;) {
    index = next;
    state = tile(index);
    if (several && args.combine != RED_CUDA_ATOMIC && threadIdx.x == 0)
      policy.publish(args, 0, index, state, before + 1);
    next = index + gridDim.x;
    if (args.combine != RED_CUDA_COOP || next >= args.tiles) break;
    __syncthreads(); /* the tile's scratch is free again */
  }
  /* Most blocks have nothing to fold. */
  if (several && args.combine == RED_CUDA_POLL && index + 1 != args.tiles && (index + 1) % group_tiles != 0) return;
  if (args.combine == RED_CUDA_TWO || args.combine == RED_CUDA_PDL)
    if (several) return;
  if constexpr (Policy::asks_input)
    combine_apart(args, policy, index, before + 1, state, scratch);
  else
    combine(args, policy, index, before + 1, state, scratch);
}

/*
 * The same for the default way alone, polling without tickets, in as little code as can be: arrays so small that
 * instruction fetches are a good part of their time.
 */
template <class Policy, class Tile>
__device__ inline void reduce_quickly(const red_cuda_reduce &args, const Policy &policy, Tile tile,
                                      CombineScratch &scratch) {
  using State = typename Policy::State;
  unsigned index = blockIdx.x, tiles = gridDim.x;
  bool whole = tiles == 1;
  uint32_t before = whole ? 0 : read_epoch(args);
  if (!whole) prefetch_own<Policy>(args, index);
  State state = tile(index);
  if (!whole) {
    if (threadIdx.x == 0) policy.publish(args, 0, index, state, before + 1);
    if (index + 1 != tiles && (index + 1) % group_tiles != 0) return;
    if (tiles <= Policy::few) { /* one warp can poll for them all */
      if (threadIdx.x >= 32) return;
      state = policy.fold_few(args, tiles, __shfl_sync(0xffffffffu, before, 0) + 1);
      whole = true;
    } else {
      if (threadIdx.x == 0) scratch.epoch = before + 1;
      __syncthreads();
      whole = close_groups(args, policy, index / group_tiles, tiles, state, scratch);
    }
  }
  if (whole) finish_all(args, policy, state, before + 1);
}

/* The second of two launches: one block for each group of tiles. */
template <class Policy>
__device__ inline void reduce_groups(const red_cuda_reduce &args, const Policy &policy, CombineScratch &scratch) {
#if __CUDA_ARCH__ >= 900
  if (args.combine == RED_CUDA_PDL) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  typename Policy::State state;
  if (threadIdx.x == 0) scratch.epoch = read_epoch(args) + 1;
  __syncthreads();
  if (close_groups(args, policy, blockIdx.x, args.tiles, state, scratch))
    finish_all(args, policy, state, scratch.epoch);
}

} // namespace red

#endif
