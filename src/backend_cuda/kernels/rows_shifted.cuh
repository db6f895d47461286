/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of 16-bit floats at any address: words of 8 bytes are loaded where they are aligned, and a thread puts its four
 * lanes together from two of them, its own and the next thread's.
 */
#ifndef RED_CUDA_ROWS_SHIFTED_CUH
#define RED_CUDA_ROWS_SHIFTED_CUH

#include "rows.cuh"

namespace red {

constexpr unsigned shifted_batch = 16; /* rows in flight */

/* A warp's column of one input, `in` being where its first row begins. */
struct ShiftedColumn {
  const uint2 *own; /* this thread's aligned word of row 0 */
  unsigned bytes;   /* from there to its lanes */
  uint2 word[shifted_batch + 1];

  __device__ explicit ShiftedColumn(const char *in)
      : own(reinterpret_cast<const uint2 *>(in - reinterpret_cast<uintptr_t>(in) % 8) + threadIdx.x % 32),
        bytes(static_cast<unsigned>(reinterpret_cast<uintptr_t>(in) % 8)) {}

  /* The last thread's next word is the first one of the row after. */
  __device__ void load(unsigned first) {
#pragma unroll
    for (unsigned r = 0; r < shifted_batch; r++) word[r] = __ldg(own + (first + r) * 32);
    if (bytes != 0 && threadIdx.x % 32 == 0) word[shifted_batch] = __ldg(own + (first + shifted_batch) * 32);
  }

  __device__ uint2 row(unsigned r) const {
    const unsigned thread = threadIdx.x % 32, next = (thread + 1) % 32;
    const uint2 given = thread == 0 ? word[r + 1] : word[r];
    const uint2 after = {__shfl_sync(0xffffffffu, given.x, next), __shfl_sync(0xffffffffu, given.y, next)};
    const bool half = bytes >= 4;
    const uint32_t a = half ? word[r].y : word[r].x, b = half ? after.x : word[r].y, c = half ? after.y : after.x;
    return {__funnelshift_r(a, b, bytes % 4 * 8), __funnelshift_r(b, c, bytes % 4 * 8)};
  }
};

/* A full chunk that has at least as many elements behind it as a word. A chunk is one warp's. */
template <class Load, class Map>
__device__ inline void add_shifted(const Load &load, const char *in, const char *in2, float (&a)[Load::lanes]) {
  static_assert(Load::lanes == 4 && sizeof(typename Load::Word) == sizeof(uint2), "four lanes a thread");
  ShiftedColumn first(in), second(in2);
#pragma unroll
  for (unsigned v = 0; v < Load::lanes; v++) a[v] = -0.0f;
#pragma unroll 1
  for (unsigned r = 0; r < rows; r += shifted_batch) {
    first.load(r);
    if constexpr (Map::inputs == 2) second.load(r);
#pragma unroll
    for (unsigned i = 0; i < shifted_batch; i++) {
      float x[Load::lanes], y[Load::lanes];
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
