/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folding published results: the tree of adjacent pairs over a group of up to 2048, a missing operand being the exact
 * identity, so that complete nodes of the canonical order come out; or any order where any will do.
 */
#ifndef RED_CUDA_FOLD_CUH
#define RED_CUDA_FOLD_CUH

#include <red/device/cuda/warp.cuh>

#include "memory.cuh"

namespace red {

constexpr unsigned block_threads = 128;
constexpr unsigned block_warps = block_threads / 32;
constexpr uint64_t group_tiles = 2048;

/* Shared memory of combine(). */
struct CombineScratch {
  uint64_t word[64];
  uint64_t tile;
  uint32_t epoch, before;
  uint32_t closing;
};

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
  for (int r = 0; r < rows; r++)
    value[r] = slot[r].value((r * block_threads + threadIdx.x) * pair, count, identity, merge);
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

} // namespace red

#endif
