/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the results of tiles to the result of all. A kernel says how the state of a tile is computed, in thread 0 of a
 * block of 128; reduce_tiles() publishes it, and the block that closes everything finishes.
 *
 * Tiles form groups of 2048 (statistics: 256 or more), groups form groups again. Within a group the tree of adjacent
 * pairs is folded, a missing operand being the exact identity: complete nodes of the canonical order.
 *
 * Polling needs no order of dispatch: a block that polls occupies one slot of a multiprocessor, there is one for each
 * group, and where those could fill the device the host makes two launches, or, of statistics, hands out tile indices
 * by ticket.
 */
#ifndef RED_CUDA_COMBINE_CUH
#define RED_CUDA_COMBINE_CUH

#include "args.h"
#include "fold.cuh"

namespace red {

/* How many tiles form a group, and groups a group of the next level; some policies say otherwise. */
template <class Policy> struct GroupOf {
  __device__ static uint64_t tiles(const red_cuda_reduce &) { return group_tiles; }
};

template <class Policy> __device__ inline uint64_t groups_of(const red_cuda_reduce &args, uint64_t count) {
  return (count + GroupOf<Policy>::tiles(args) - 1) / GroupOf<Policy>::tiles(args);
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
  const uint64_t size = GroupOf<Policy>::tiles(args);
  uint32_t *counters = args.counters;
  for (int level = 0;; level++) {
    uint64_t groups = groups_of<Policy>(args, count);
    uint64_t first = group * size;
    unsigned members = static_cast<unsigned>(count - first < size ? count - first : size);
    state = policy.fold(args, level, first, members, scratch);
    if (groups == 1) return true;
    counters += groups;
    if (threadIdx.x == 0) policy.publish(args, level + 1, group, state, scratch.epoch);
    uint64_t above = group / size;
    uint64_t last = (above + 1) * size < groups ? (above + 1) * size : groups;
    bool closes = args.combine == RED_CUDA_LAST
                      ? arrives_last(counters + above, static_cast<uint32_t>(last - above * size), scratch)
                      : group + 1 == last;
    if (!closes) return false;
    group = above;
    count = groups;
  }
}

/* ---- A kernel's frame ----------------------------------------------------------------------------------------------
 */

/* The block's first tile; no array has 2^32 of them. */
__device__ inline uint32_t begin(const red_cuda_reduce &args, CombineScratch &scratch) {
  if (args.tiles == 1) return 0;
  if (args.ordered) {
    if (threadIdx.x == 0) scratch.tile = atomicInc(&args.head->ticket, static_cast<uint32_t>(args.tiles - 1));
    __syncthreads();
    return static_cast<uint32_t>(scratch.tile);
  }
  return blockIdx.x;
}

/* The epoch of this execution, in thread 0: the next one begins only after every tile of this one was published. */
__device__ inline uint32_t read_epoch(const red_cuda_reduce &args) {
  return threadIdx.x == 0 ? load_relaxed(&args.head->epoch) : 0;
}

/*
 * The next epoch, worked out where it is needed: the compiler would add as soon as it can, and the first warp would
 * wait for the head before it asks for its elements.
 */
__device__ inline uint32_t epoch_after(uint32_t before) {
  uint32_t epoch;
  asm volatile("add.u32 %0, %1, 1;" : "=r"(epoch) : "r"(before));
  return epoch;
}

/*
 * The same without a register that must be kept: the epoch before this execution travels to shared memory meanwhile.
 * In thread 0.
 */
__device__ inline void ask_epoch(const red_cuda_reduce &args, CombineScratch &scratch) {
#if __CUDA_ARCH__ >= 800
  uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(&scratch.before));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&args.head->epoch) : "memory");
#endif
}
__device__ inline uint32_t take_epoch(const red_cuda_reduce &args, const CombineScratch &scratch) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
  return *static_cast<const volatile uint32_t *>(&scratch.before) + 1;
#else
  return load_relaxed(&args.head->epoch) + 1;
#endif
}

/* Words of a tile's slot, and whether they are whole sectors, all of which is written. */
template <class Policy> struct SlotOf {
  static constexpr bool fills_sectors = false;
  __device__ static unsigned words(const red_cuda_reduce &) { return Payload<typename Policy::Slots>::stride; }
};

template <class Policy> __device__ inline void prefetch_own(const red_cuda_reduce &args, uint64_t index) {
  if (!SlotOf<Policy>::fills_sectors && threadIdx.x == 0)
    prefetch_slot<uint32_t>(args.slots[0], index * SlotOf<Policy>::words(args));
}

/* The tile that all threads of the block work on, from where no register is needed for it. */
__device__ inline uint32_t tile_at_hand(const CombineScratch &scratch) {
  return static_cast<uint32_t>(*static_cast<const volatile uint64_t *>(&scratch.tile));
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
template <class Policy>
__device__ inline bool closes_groups(const red_cuda_reduce &args, uint64_t tile, uint32_t epoch, uint64_t &first,
                                     uint64_t &step, CombineScratch &scratch) {
  const uint64_t size = GroupOf<Policy>::tiles(args);
  if (args.combine == RED_CUDA_COOP) {
    grid_barrier(args.head, epoch);
    first = blockIdx.x;
    step = gridDim.x;
    return true;
  }
  first = tile / size;
  step = args.tiles; /* only this one */
  uint64_t end = (first + 1) * size < args.tiles ? (first + 1) * size : args.tiles;
  if (args.combine == RED_CUDA_LAST)
    return arrives_last(args.counters + first, static_cast<uint32_t>(end - first * size), scratch);
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
    uint64_t group, step, groups = groups_of<Policy>(args, args.tiles);
    if (!closes_groups<Policy>(args, index, epoch, group, step, scratch)) return;
    for (; group < groups; group += step) whole = close_groups(args, policy, group, args.tiles, state, scratch);
  }
  if (whole) finish_all(args, policy, state, epoch);
}

/*
 * Out of line: for statistics it needs more registers than tiles do, once for some hundreds of them. The policy is a
 * copy: a reference would keep it in local memory, which every block would write.
 */
template <class Policy>
__device__ __noinline__ void combine_apart(const red_cuda_reduce &args, const Policy policy, uint64_t index,
                                           typename Policy::State state, CombineScratch &scratch) {
  uint32_t epoch = args.tiles > 1 && threadIdx.x == 0 ? take_epoch(args, scratch) : 0;
  combine(args, policy, index, epoch, state, scratch);
}

/*
 * tile(t) gives the state of a tile in thread 0. Blocks take one tile each, and more only in a cooperative launch,
 * whose grid is no larger than the device; policies that ask the input know polling and arrivals alone, for without a
 * loop nothing is carried round the tile in registers.
 */
template <class Policy, class Tile>
__device__ inline void reduce_tiles(const red_cuda_reduce &args, const Policy &policy, Tile tile,
                                    CombineScratch &scratch) {
#if __CUDA_ARCH__ >= 900
  if (args.combine == RED_CUDA_PDL) asm volatile("griddepcontrol.launch_dependents;");
#endif
  constexpr bool apart = Policy::asks_input;
  bool several = args.tiles > 1;
  uint32_t before = 0; /* not waited for until it is needed */
  if (several && !apart) before = read_epoch(args);
  if (several && apart && threadIdx.x == 0) ask_epoch(args, scratch);
  uint32_t index, next = begin(args, scratch);
  typename Policy::State state;
  if (several) prefetch_own<Policy>(args, next);
  for (;;) {
    if (apart && threadIdx.x == 0 && !(several && args.ordered)) scratch.tile = next; /* tile() has a barrier */
    state = tile(next);
    index = apart ? tile_at_hand(scratch) : next;
    if (several && args.combine != RED_CUDA_ATOMIC && threadIdx.x == 0)
      policy.publish(args, 0, index, state, apart ? take_epoch(args, scratch) : epoch_after(before));
    next = index + gridDim.x;
    if (apart || args.combine != RED_CUDA_COOP || next >= args.tiles) break;
    __syncthreads(); /* the tile's scratch is free again */
  }
  /* Most blocks have nothing to fold. */
  const uint64_t size = GroupOf<Policy>::tiles(args);
  if (several && args.combine == RED_CUDA_POLL && index + 1 != args.tiles && (index + 1) % size != 0) return;
  if (args.combine == RED_CUDA_TWO || args.combine == RED_CUDA_PDL)
    if (several) return;
  if constexpr (apart)
    combine_apart(args, policy, index, state, scratch);
  else
    combine(args, policy, index, epoch_after(before), state, scratch);
}

/*
 * The same for the default way, polling without tickets, in as little code as can be, arrays being so small that
 * instruction fetches are a good part of their time; and for the first of two launches.
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
    if (args.combine == RED_CUDA_TWO) return;
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
