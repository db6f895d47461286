/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of 16-bit floats at any address: words of four or two of them are loaded where they are aligned, and a thread
 * puts its lanes together from two words, its own and the next thread's.
 */
#ifndef RED_CUDA_ROWS_SHIFTED_CUH
#define RED_CUDA_ROWS_SHIFTED_CUH

#include "rows.cuh"

namespace red {

/* Rows in flight: 128 bytes of each input in a thread. */
template <class Word> constexpr unsigned shifted_batch = 128 / sizeof(Word);

__device__ inline uint32_t next_thread(uint32_t word) {
  return __shfl_sync(0xffffffffu, word, (threadIdx.x + 1) % 32);
}
__device__ inline uint2 next_thread(uint2 word) {
  return {next_thread(word.x), next_thread(word.y)};
}

/* What begins so many bytes into a word and ends in the one behind it. */
__device__ inline uint32_t cut_out(uint32_t word, uint32_t after, unsigned bytes) {
  return __funnelshift_r(word, after, bytes * 8);
}
__device__ inline uint2 cut_out(uint2 word, uint2 after, unsigned bytes) {
  const bool half = bytes >= 4;
  const uint32_t a = half ? word.y : word.x, b = half ? after.x : word.y, c = half ? after.y : after.x;
  return {cut_out(a, b, bytes % 4), cut_out(b, c, bytes % 4)};
}

/* A warp's column of one input, `in` being where its first row begins. */
template <class Word> struct ShiftedColumn {
  const Word *own; /* this thread's aligned word of row 0 */
  unsigned bytes;  /* from there to its lanes */
  static constexpr unsigned batch = shifted_batch<Word>;
  Word word[batch + 1];

  __device__ explicit ShiftedColumn(const char *in) : bytes(reinterpret_cast<uintptr_t>(in) % sizeof(Word)) {
    own = reinterpret_cast<const Word *>(in - bytes) + threadIdx.x % 32;
  }

  /* The last thread's next word is the first one of the row after. */
  __device__ void load(unsigned first) {
#pragma unroll
    for (unsigned r = 0; r < batch; r++) word[r] = __ldg(own + (first + r) * 32);
    if (bytes != 0 && threadIdx.x % 32 == 0) word[batch] = __ldg(own + (first + batch) * 32);
  }

  __device__ Word row(unsigned r) const {
    return cut_out(word[r], next_thread(threadIdx.x % 32 == 0 ? word[r + 1] : word[r]), bytes);
  }
};

/* Adds to `a` a full chunk that has at least as many elements behind it as a word. A chunk is one warp's. */
template <class T, class Load, class Map>
__device__ inline void add_shifted(const Load &load, const char *in, const char *in2, T (&a)[Load::lanes]) {
  static_assert(Shape<T, Load::lanes>::threads == 32, "a warp loads a row");
  constexpr unsigned batch = shifted_batch<typename Load::Word>;
  ShiftedColumn<typename Load::Word> first(in), second(in2);
#pragma unroll 1
  for (unsigned r = 0; r < rows; r += batch) {
    first.load(r);
    if constexpr (Map::inputs == 2) second.load(r);
#pragma unroll
    for (unsigned i = 0; i < batch; i++) {
      T x[Load::lanes], y[Load::lanes];
      load.widen(first.row(i), x);
      if constexpr (Map::inputs == 2) load.widen(second.row(i), y);
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) {
        if constexpr (Map::inputs == 1) y[v] = x[v];
        a[v] = Map::next(a[v], x[v], y[v]);
      }
    }
  }
}

} // namespace red

#endif
