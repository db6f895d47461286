/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores whose ordering or caching matters, and words that carry their own validity. */
#ifndef RED_CUDA_MEMORY_CUH
#define RED_CUDA_MEMORY_CUH

#include <stdint.h>

namespace red {

__device__ inline uint32_t load_relaxed(const uint32_t *at) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

__device__ inline void load_relaxed(const uint64_t *at, uint64_t &value) {
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
}

/* Two words in one request; each is read as a whole, the pair need not be. */
__device__ inline void load_relaxed_pair(const uint64_t *at, uint64_t &a, uint64_t &b) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at) : "memory");
}

__device__ inline void store_relaxed(uint32_t *at, uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

__device__ inline void store_relaxed(uint64_t *at, uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

__device__ inline void store_relaxed_pair(uint64_t *at, uint64_t a, uint64_t b) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(a), "l"(b) : "memory");
}

/* Loads of input: through the non-coherent path only where nobody writes, so not in scans in place. */
template <bool Streaming, class T> __device__ inline T load_input(const T *at) {
  return Streaming ? __ldcs(at) : __ldg(at);
}

/* 16 bytes in one request, which the compiler would cut up to share its parts with other stores. */
__device__ inline void store_words(uint4 *at, const uint4 &v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

/*
 * A published word: 32 bits of payload and the epoch in which they are valid. A result of K words is valid when all
 * its words are; no larger access than 8 bytes has to be indivisible.
 */
__device__ inline uint64_t flagged(uint32_t payload, uint32_t epoch) {
  return static_cast<uint64_t>(epoch) << 32 | payload;
}
__device__ inline bool is_valid(uint64_t word, uint32_t epoch) {
  return static_cast<uint32_t>(word >> 32) == epoch;
}

/* How a type travels in published words. */
template <class T> struct Payload {
  static constexpr int words = (sizeof(T) + 3) / 4;
  static constexpr int stride = words <= 2 ? words : (words + 1) / 2 * 2; /* of a slot */
};

template <class T> __device__ inline void publish(uint64_t *slots, uint64_t index, T value, uint32_t epoch) {
  uint32_t word[Payload<T>::words];
  uint64_t *slot = slots + index * Payload<T>::stride;
  __builtin_memcpy(word, &value, sizeof(T));
  if (Payload<T>::words == 1) store_relaxed(slot, flagged(word[0], epoch));
#pragma unroll
  for (int i = 0; i + 1 < Payload<T>::words; i += 2)
    store_relaxed_pair(slot + i, flagged(word[i], epoch), flagged(word[i + 1], epoch));
  if (Payload<T>::words > 1 && Payload<T>::words % 2 == 1)
    store_relaxed(slot + Payload<T>::words - 1, flagged(word[Payload<T>::words - 1], epoch));
}

/*
 * Ask for a slot's sector long before it is published: a word written into a sector that is not in the L2 cache makes
 * its first reader wait for the memory, behind all the loads of input.
 */
template <class T> __device__ inline void prefetch_slot(const uint64_t *slots, uint64_t index) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(slots + index * Payload<T>::stride));
}
template <class T> struct Sector {
  static constexpr unsigned slots = Payload<T>::stride < 4 ? 4 / Payload<T>::stride : 1; /* of 32 bytes */
};

/*
 * A slot as it was read. Reading and looking are two steps: whoever needs several slots reads them all first, without a
 * branch in between, or each would be waited for before the next is asked for.
 */
template <class T> struct Slot {
  static constexpr int words = Payload<T>::words;
  uint64_t word[words];

  __device__ void read(const uint64_t *slots, uint64_t index) {
    const uint64_t *slot = slots + index * Payload<T>::stride;
    if (words == 1) load_relaxed(slot, word[0]);
#pragma unroll
    for (int i = 0; i + 1 < words; i += 2) load_relaxed_pair(slot + i, word[i], word[i + 1]);
    if (words > 1 && words % 2 == 1) load_relaxed(slot + words - 1, word[words - 1]);
  }
  __device__ bool valid(uint32_t epoch) const {
    bool all = true;
#pragma unroll
    for (int i = 0; i < words; i++) all = all && is_valid(word[i], epoch);
    return all;
  }
  __device__ T value() const {
    uint32_t payload[words];
#pragma unroll
    for (int i = 0; i < words; i++) payload[i] = static_cast<uint32_t>(word[i]);
    T value;
    __builtin_memcpy(&value, payload, sizeof(T));
    return value;
  }
};

} // namespace red

#endif
