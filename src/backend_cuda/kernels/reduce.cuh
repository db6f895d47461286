/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the results of tiles to the result of all. A kernel computes the state of a tile in thread 0 of a block of 128
 * and calls combine(); in one block it returns true, with the state of everything in thread 0.
 *
 * Tiles form groups of 2048, groups form groups again. Within a group the tree of adjacent pairs is folded, a missing
 * operand being the exact identity: complete nodes of the canonical order.
 *
 * Polling needs no order of dispatch: a block that polls occupies one slot of a multiprocessor, there is one for each
 * group, and the host hands out tile indices by ticket where those could fill the device.
 */
#ifndef RED_CUDA_REDUCE_CUH
#define RED_CUDA_REDUCE_CUH

#include <red/device/cuda/warp.cuh>

#include "convert.cuh"
#include "memory.cuh"

namespace red {

constexpr unsigned block_threads = 128;
constexpr unsigned block_warps = block_threads / 32;
constexpr uint64_t group_tiles = 2048;

/* Shared memory of combine(). */
struct CombineScratch {
  uint64_t word[64];
  uint64_t tile;
  uint32_t epoch;
  uint32_t closing;
};

/* ---- Merging, by kind of state ------------------------------------------------------------------------------------ */

/*
 * States of one word whose order is free. The word that atomics work on starts at 0: `add_to` and `take_from` map
 * states so that 0 is the identity.
 */
struct MergeAdd {
  __device__ explicit MergeAdd(const red_cuda_element &) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
  __device__ void add_to(unsigned long long *word, uint64_t state) const { atomicAdd(word, state); }
  __device__ uint64_t take_from(uint64_t word) const { return word; }
};

struct MergeMul { /* there is no atomic product */
  __device__ explicit MergeMul(const red_cuda_element &) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a * b; }
  __device__ void add_to(unsigned long long *, uint64_t) const {}
  __device__ uint64_t take_from(uint64_t word) const { return word; }
};

struct MergeMin {
  __device__ explicit MergeMin(const red_cuda_element &) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const {
    return static_cast<int64_t>(b) < static_cast<int64_t>(a) ? b : a;
  }
  __device__ void add_to(unsigned long long *word, uint64_t state) const {
    atomicMax(word, static_cast<unsigned long long>(INT64_MAX) - state);
  }
  __device__ uint64_t take_from(uint64_t word) const { return static_cast<uint64_t>(INT64_MAX) - word; }
};

/* AND is OR of the complements, complemented. */
struct MergeBits {
  bool exclusive;
  uint64_t complement;
  __device__ explicit MergeBits(const red_cuda_element &e)
      : exclusive(e.family == RED_FAMILY_XOR), complement(e.family == RED_FAMILY_AND ? low_bits(e.in_bytes) : 0) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const {
    return exclusive ? a ^ b : ((a ^ complement) | (b ^ complement)) ^ complement;
  }
  __device__ void add_to(unsigned long long *word, uint64_t state) const {
    if (exclusive)
      atomicXor(word, state);
    else
      atomicOr(word, state ^ complement);
  }
  __device__ uint64_t take_from(uint64_t word) const { return word ^ complement; }
};

struct MergeFloats {
  bool multiply;
  __device__ explicit MergeFloats(const red_cuda_element &e) : multiply(e.family == RED_FAMILY_MUL) {}
  template <class T> __device__ T operator()(T a, T b) const { return multiply ? a * b : a + b; }
  __device__ float identity() const { return multiply ? 1.0f : -0.0f; }
};

struct AddFloats {
  __device__ explicit AddFloats(const red_cuda_element &) {}
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
  __device__ float identity() const { return -0.0f; }
};

/* ---- Folding a group: all threads call, the result is in thread 0 ------------------------------------------------- */

/*
 * Rows of 32 values in each warp, a row in each of `Rows` registers, become one value a row: lanes exchange halves of
 * their rows, so that 16 rows take 16 shuffles and not 80. Afterwards lane l holds row_of_lane(l).
 */
template <int Rows, class T, class Merge> __device__ inline T transpose_fold(T (&value)[Rows], Merge merge) {
  unsigned lane = lane_index();
  int rows = Rows;
#pragma unroll
  for (unsigned h = 1; h < 32; h *= 2) {
    if (rows > 1) {
      rows /= 2;
      bool upper = lane & h;
#pragma unroll
      for (int i = 0; i < Rows / 2; i++) {
        if (i >= rows) break;
        T mine = upper ? value[i + rows] : value[i];
        T theirs = warp_xor(upper ? value[i] : value[i + rows], h);
        value[i] = merge(mine, theirs);
      }
    } else {
      value[0] = merge(value[0], warp_xor(value[0], h));
    }
  }
  return value[0];
}

template <int Rows> __device__ inline unsigned row_of_lane(unsigned lane) {
  unsigned row = 0;
#pragma unroll
  for (unsigned half = Rows / 2, bit = 1; half > 0; half /= 2, bit *= 2)
    if (lane & bit) row += half;
  return row;
}

/* Adjacent values, one (or two) in each lane of a warp, in order. */
template <class T, class Merge> __device__ inline T pair_fold(T value, Merge merge) {
#pragma unroll
  for (unsigned h = 1; h < 32; h *= 2) value = merge(value, warp_xor(value, h));
  return value;
}

/* Slots of one word: two in each request, 8 rows of 256; of two words: 16 rows of 128. All are asked for at once. */
template <class T> struct GroupRows {
  static constexpr int pair = Payload<T>::words == 1 ? 2 : 1;
  static constexpr int rows = 16 / pair;
};

template <class T> struct SlotPair {
  uint64_t word[2]; /* two slots of one word, or one of two */

  __device__ void read(const uint64_t *slots, unsigned index) {
    load_relaxed_pair(slots + index * Payload<T>::stride, word[0], word[1]);
  }
  /* The second of two slots may lie beyond the last one. */
  __device__ bool valid(unsigned index, unsigned count, uint32_t epoch) const {
    bool second = GroupRows<T>::pair == 1 || index + 1 < count;
    return is_valid(word[0], epoch) && (!second || is_valid(word[1], epoch));
  }
  template <class Merge> __device__ T value(unsigned index, unsigned count, T identity, Merge merge) const {
    uint32_t payload[2] = {static_cast<uint32_t>(word[0]), static_cast<uint32_t>(word[1])};
    T value[GroupRows<T>::pair];
    __builtin_memcpy(value, payload, sizeof payload);
    if (index >= count) return identity;
    if (GroupRows<T>::pair == 1 || index + 1 >= count) return value[0];
    return merge(value[0], value[GroupRows<T>::pair - 1]);
  }
};

template <class T, class Merge>
__device__ inline T fold_tree(const uint64_t *slots, unsigned count, uint32_t epoch, T identity, Merge merge,
                              CombineScratch &scratch) {
  constexpr int rows = GroupRows<T>::rows;
  constexpr unsigned pair = GroupRows<T>::pair;
  SlotPair<T> slot[rows];
  bool waiting;
  do {
#pragma unroll
    for (int r = 0; r < rows; r++) {
      unsigned index = (r * block_threads + threadIdx.x) * pair;
      if (r * block_threads * pair < count) slot[r].read(slots, index < count ? index : 0);
    }
    waiting = false;
#pragma unroll
    for (int r = 0; r < rows; r++) {
      unsigned index = (r * block_threads + threadIdx.x) * pair;
      waiting |= index < count && !slot[r].valid(index, count, epoch);
    }
  } while (waiting);
  T value[rows];
#pragma unroll
  for (int r = 0; r < rows; r++) value[r] = slot[r].value((r * block_threads + threadIdx.x) * pair, count, identity, merge);
  T mine = transpose_fold(value, merge);
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T *part = reinterpret_cast<T *>(scratch.word);
  if (lane < rows) part[row_of_lane<rows>(lane) * block_warps + warp] = mine;
  __syncthreads();
  constexpr int each = rows * block_warps / 32;
  T whole = part[lane * each];
  if (each == 2) whole = merge(whole, part[lane * each + each - 1]);
  __syncthreads(); /* the scratch is free again */
  return pair_fold(whole, merge);
}

/* In any order. */
template <class T, class Merge>
__device__ inline T fold_any(const uint64_t *slots, unsigned count, uint32_t epoch, T identity, Merge merge,
                             CombineScratch &scratch) {
  constexpr int batch = Payload<T>::words <= 4 ? 4 : 2; /* slots in flight in each thread */
  T state = identity;
  for (unsigned base = 0; base < count; base += batch * block_threads) {
    Slot<T> slot[batch];
    bool waiting;
    do {
#pragma unroll
      for (int i = 0; i < batch; i++) {
        unsigned index = base + i * block_threads + threadIdx.x;
        slot[i].read(slots, index < count ? index : base);
      }
      waiting = false;
#pragma unroll
      for (int i = 0; i < batch; i++)
        waiting |= base + i * block_threads + threadIdx.x < count && !slot[i].valid(epoch);
    } while (waiting);
#pragma unroll
    for (int i = 0; i < batch; i++)
      if (base + i * block_threads + threadIdx.x < count) state = merge(state, slot[i].value());
  }
  state = pair_fold(state, merge);
  static_assert(sizeof(T) * block_warps <= sizeof(scratch.word), "the scratch is too small");
  T *part = reinterpret_cast<T *>(scratch.word);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = state;
  __syncthreads();
  state = merge(merge(part[0], part[1]), merge(part[2], part[3]));
  __syncthreads();
  return state;
}

/* ---- The parts of combine() --------------------------------------------------------------------------------------- */

__device__ inline uint64_t groups_of(uint64_t count) { return (count + group_tiles - 1) / group_tiles; }

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

/* ---- A kernel's frame ---------------------------------------------------------------------------------------------- */

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

/*
 * tile(t) gives the state of a tile in thread 0. Blocks take one tile each, and more only in a cooperative launch,
 * whose grid is no larger than the device. Every part is expanded once: instruction fetches are what small n waits for.
 */
template <class Policy, class Tile>
__device__ inline void reduce_tiles(const red_cuda_reduce &args, const Policy &policy, Tile tile,
                                    CombineScratch &scratch) {
#if __CUDA_ARCH__ >= 900
  if (args.combine == RED_CUDA_PDL) asm volatile("griddepcontrol.launch_dependents;");
#endif
  bool whole = args.tiles == 1;
  uint32_t before = whole ? 0 : read_epoch(args); /* not waited for until it is needed */
  uint64_t index, next = begin(args, scratch);
  typename Policy::State state;
  if (!whole) prefetch_own<Policy>(args, next);
  for (;;) {
    index = next;
    state = tile(index);
    if (!whole && args.combine != RED_CUDA_ATOMIC && threadIdx.x == 0)
      policy.publish(args, 0, index, state, before + 1);
    next = index + gridDim.x;
    if (args.combine != RED_CUDA_COOP || next >= args.tiles) break;
    __syncthreads(); /* the tile's scratch is free again */
  }
  if (!whole && args.combine == RED_CUDA_ATOMIC) {
    if (threadIdx.x == 0) policy.merge_atomically(args, state);
    whole = arrives_last(&args.head->arrived, gridDim.x, scratch);
    if (whole && threadIdx.x == 0) policy.take_atomically(args, state);
  } else if (!whole) {
    if (threadIdx.x == 0) scratch.epoch = before + 1;
    uint64_t group, step, groups = groups_of(args.tiles);
    if (!closes_groups(args, index, before + 1, group, step, scratch)) return;
    for (; group < groups; group += step) whole = close_groups(args, policy, group, args.tiles, state, scratch);
  }
  if (whole) finish_all(args, policy, state, before + 1);
}

/*
 * The same for the default way alone, polling without tickets, in as little code as can be: arrays so small that
 * instruction fetches are a good part of their time.
 */
template <class Policy, class Tile>
__device__ inline void reduce_quickly(const red_cuda_reduce &args, const Policy &policy, Tile tile,
                                      CombineScratch &scratch) {
  using State = typename Policy::State;
  constexpr unsigned few = 32 * GroupRows<State>::pair;
  unsigned index = blockIdx.x, tiles = gridDim.x;
  bool whole = tiles == 1;
  uint32_t before = whole ? 0 : read_epoch(args);
  if (!whole) prefetch_own<Policy>(args, index);
  State state = tile(index);
  if (!whole) {
    if (threadIdx.x == 0) policy.publish(args, 0, index, state, before + 1);
    if (index + 1 != tiles && (index + 1) % group_tiles != 0) return;
    if (tiles <= few) { /* one warp can poll for them all */
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

/* Raw results for the host: words first, then the flag that makes them valid. */
__device__ inline void raise_flag(const red_cuda_reduce &args) {
  __threadfence_system();
  *static_cast<volatile uint32_t *>(&args.answer->flag) = args.answer_flag;
}

/* ---- Policies: what a state is, where it goes ---------------------------------------------------------------------- */

/* Canonical sums and products. */
template <class T, class Merge> struct FloatPolicy {
  using State = T;
  using Slots = T;
  static constexpr bool asks_input = false;
  Merge merge;
  __device__ explicit FloatPolicy(const red_cuda_element &e) : merge(e) {}
  __device__ T identity() const { return static_cast<T>(merge.identity()); }
  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, T state, uint32_t epoch) const {
    red::publish(args.slots[level], index, state, epoch);
  }
  __device__ T fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                    CombineScratch &scratch) const {
    const uint64_t *slots = args.slots[level] + first * Payload<T>::stride;
    return fold_tree(slots, count, scratch.epoch, identity(), merge, scratch);
  }
  /* At most one or two slots for each lane of a warp. */
  __device__ T fold_few(const red_cuda_reduce &args, unsigned count, uint32_t epoch) const {
    unsigned index = threadIdx.x * GroupRows<T>::pair;
    SlotPair<T> slot;
    do slot.read(args.slots[0], index < count ? index : 0);
    while (index < count && !slot.valid(index, count, epoch));
    __syncwarp();
    return pair_fold(slot.value(index, count, identity(), merge), merge);
  }
  __device__ void merge_atomically(const red_cuda_reduce &, T) const {}
  __device__ void take_atomically(const red_cuda_reduce &, T &) const {}
  __device__ void finish(const red_cuda_reduce &args, T state) const {
    if (args.answer != nullptr) {
      args.answer->word[0] = bits_of(state);
      raise_flag(args);
      return;
    }
    if (args.as_it_is)
      store_canonical(args.out, state);
    else
      convert(args, state);
  }

private:
  /* Out of the way: few results need it, and code that is not fetched costs nothing. */
  __device__ __noinline__ static void convert(const red_cuda_reduce &args, T state) {
    const red_cuda_element &e = args.element;
    Merge merge(e);
    if (e.has_init) state = merge(from_bits(e.init, state), state);
    store_bits(args.out, float_bits(e.out, state), e.out_bytes);
  }
  __device__ static void store_canonical(void *out, float x) { *static_cast<uint32_t *>(out) = canonical_bits(x); }
  __device__ static void store_canonical(void *out, double x) { *static_cast<uint64_t *>(out) = canonical_bits(x); }
  __device__ static uint64_t bits_of(float x) { return __float_as_uint(x); }
  __device__ static uint64_t bits_of(double x) { return static_cast<uint64_t>(__double_as_longlong(x)); }
  __device__ static float from_bits(uint64_t bits, float) { return __uint_as_float(static_cast<uint32_t>(bits)); }
  __device__ static double from_bits(uint64_t bits, double) {
    return __longlong_as_double(static_cast<long long>(bits));
  }
};

/* Everything whose state is one word and whose order is free. */
template <class Merge> struct WordPolicy {
  using State = uint64_t;
  using Slots = uint64_t;
  static constexpr bool asks_input = false;
  Merge merge;
  __device__ explicit WordPolicy(const red_cuda_element &e) : merge(e) {}
  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, uint64_t state,
                          uint32_t epoch) const {
    red::publish(args.slots[level], index, state, epoch);
  }
  __device__ uint64_t fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                           CombineScratch &scratch) const {
    const uint64_t *slots = args.slots[level] + first * Payload<uint64_t>::stride;
    return fold_any(slots, count, scratch.epoch, args.element.identity, merge, scratch);
  }
  __device__ void merge_atomically(const red_cuda_reduce &args, uint64_t state) const {
    merge.add_to(reinterpret_cast<unsigned long long *>(&args.head->atomic), state);
  }
  __device__ void take_atomically(const red_cuda_reduce &args, uint64_t &state) const {
    state = merge.take_from(atomicExch(reinterpret_cast<unsigned long long *>(&args.head->atomic), 0ull));
  }
  __device__ void finish(const red_cuda_reduce &args, uint64_t state) const {
    if (args.answer != nullptr) {
      args.answer->word[0] = state;
      raise_flag(args);
      return;
    }
    const red_cuda_element &e = args.element;
    if (e.has_init) state = merge(e.init, state);
    store_bits(args.out, output_bits(e, state, 0, args.n), e.out_bytes);
  }
};

struct KeyIndex {
  int64_t key;
  uint64_t index;
};

__device__ inline KeyIndex earlier_of(KeyIndex a, KeyIndex b) {
  return b.key < a.key || (b.key == a.key && b.index < a.index) ? b : a;
}

struct MergeKeyIndex {
  __device__ KeyIndex operator()(KeyIndex a, KeyIndex b) const { return earlier_of(a, b); }
};

struct ArgPolicy {
  using State = KeyIndex;
  using Slots = KeyIndex;
  static constexpr bool asks_input = false;
  __device__ explicit ArgPolicy(const red_cuda_element &) {}
  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, KeyIndex state,
                          uint32_t epoch) const {
    red::publish(args.slots[level], index, state, epoch);
  }
  __device__ KeyIndex fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                           CombineScratch &scratch) const {
    const uint64_t *slots = args.slots[level] + first * Payload<KeyIndex>::stride;
    return fold_any(slots, count, scratch.epoch, KeyIndex{INT64_MAX, UINT64_MAX}, MergeKeyIndex{}, scratch);
  }
  __device__ void merge_atomically(const red_cuda_reduce &, KeyIndex) const {}
  __device__ void take_atomically(const red_cuda_reduce &, KeyIndex &) const {}
  __device__ void finish(const red_cuda_reduce &args, KeyIndex state) const {
    if (args.answer != nullptr) {
      args.answer->word[0] = static_cast<uint64_t>(state.key);
      args.answer->word[1] = state.index;
      raise_flag(args);
      return;
    }
    const red_cuda_element &e = args.element;
    store_bits(args.out, output_bits(e, static_cast<uint64_t>(state.key), state.index, args.n), e.out_bytes);
  }
};

} // namespace red

#endif
