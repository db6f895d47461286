/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a chunk: what a thread loads of one, what becomes of an element, and how a column is added from the top
 * down.
 */
#ifndef RED_CUDA_ROWS_CUH
#define RED_CUDA_ROWS_CUH

#include "lanes.cuh"

namespace red {

/* ---- Elements: what a thread loads in a row, and the `lanes` values in it ------------------------------------------
 */

struct LoadF32 {
  using Word = float;
  static constexpr unsigned lanes = 1;
  template <class T> __device__ void widen(Word word, T (&x)[1]) const { x[0] = static_cast<T>(word); }
  __device__ float one(const void *in, uint64_t i) const { return static_cast<const float *>(in)[i]; }
};

struct LoadF64 {
  using Word = double;
  static constexpr unsigned lanes = 1;
  __device__ void widen(Word word, double (&x)[1]) const { x[0] = word; }
  __device__ double one(const void *in, uint64_t i) const { return static_cast<const double *>(in)[i]; }
};

struct LoadF16 {
  using Word = uint2;
  static constexpr unsigned lanes = 4;
  __device__ void widen(Word word, float (&x)[4]) const {
    x[0] = f16_to_f32(static_cast<uint16_t>(word.x));
    x[1] = f16_to_f32(static_cast<uint16_t>(word.x >> 16));
    x[2] = f16_to_f32(static_cast<uint16_t>(word.y));
    x[3] = f16_to_f32(static_cast<uint16_t>(word.y >> 16));
  }
  __device__ float one(const void *in, uint64_t i) const { return f16_to_f32(static_cast<const uint16_t *>(in)[i]); }
};

struct LoadBF16 {
  using Word = uint2;
  static constexpr unsigned lanes = 4;
  __device__ void widen(Word word, float (&x)[4]) const {
    x[0] = __uint_as_float(word.x << 16);
    x[1] = __uint_as_float(word.x & 0xffff0000u);
    x[2] = __uint_as_float(word.y << 16);
    x[3] = __uint_as_float(word.y & 0xffff0000u);
  }
  __device__ float one(const void *in, uint64_t i) const { return bf16_to_f32(static_cast<const uint16_t *>(in)[i]); }
};

/* Two halves in each thread: the rows of an f64 accumulator are half as long. */
struct LoadF16Pair {
  using Word = uint32_t;
  static constexpr unsigned lanes = 2;
  __device__ void widen(Word word, double (&x)[2]) const {
    x[0] = f16_to_f64(static_cast<uint16_t>(word));
    x[1] = f16_to_f64(static_cast<uint16_t>(word >> 16));
  }
  __device__ float one(const void *in, uint64_t i) const { return f16_to_f32(static_cast<const uint16_t *>(in)[i]); }
};

struct LoadBF16Pair {
  using Word = uint32_t;
  static constexpr unsigned lanes = 2;
  __device__ void widen(Word word, double (&x)[2]) const {
    x[0] = bf16_to_f64(static_cast<uint16_t>(word));
    x[1] = bf16_to_f64(static_cast<uint16_t>(word >> 16));
  }
  __device__ float one(const void *in, uint64_t i) const { return bf16_to_f32(static_cast<const uint16_t *>(in)[i]); }
};

/* One element of a dtype known at compile time, as T. */
template <class T, unsigned Dtype> struct LoadOne {
  static constexpr unsigned lanes = 1;
  __device__ T one(const void *in, uint64_t i) const {
    if (Dtype == RED_F16) return static_cast<T>(f16_to_f32(__ldg(static_cast<const uint16_t *>(in) + i)));
    if (Dtype == RED_BF16) return static_cast<T>(bf16_to_f32(__ldg(static_cast<const uint16_t *>(in) + i)));
    if (Dtype == RED_F32) return static_cast<T>(__ldg(static_cast<const float *>(in) + i));
    return static_cast<T>(__ldg(static_cast<const double *>(in) + i));
  }
};

/* ---- Maps: what a row adds of an element x, and of its partner y in the second input ------------------------------
 */

__device__ inline float fused(float x, float y, float a) {
  return __fmaf_rn(x, y, a);
}
__device__ inline double fused(double x, double y, double a) {
  return __fma_rn(x, y, a);
}

struct Itself {
  static constexpr unsigned inputs = 1;
  template <class T> __device__ static T first(T x, T) { return x; }
  template <class T> __device__ static T next(T a, T x, T) { return a + x; }
};

struct Factor {
  static constexpr unsigned inputs = 1;
  template <class T> __device__ static T first(T x, T) { return x; }
  template <class T> __device__ static T next(T a, T x, T) { return a * x; }
};

struct Magnitude {
  static constexpr unsigned inputs = 1;
  template <class T> __device__ static T first(T x, T) { return fabs(x); }
  template <class T> __device__ static T next(T a, T x, T) { return a + fabs(x); }
};

struct Square {
  static constexpr unsigned inputs = 1;
  template <class T> __device__ static T first(T x, T) { return next(static_cast<T>(-0.0), x, x); }
  template <class T> __device__ static T next(T a, T x, T) { return fused(x, x, a); }
};

struct Product {
  static constexpr unsigned inputs = 2;
  template <class T> __device__ static T first(T x, T y) { return next(static_cast<T>(-0.0), x, y); }
  template <class T> __device__ static T next(T a, T x, T y) { return fused(x, y, a); }
};

/* ---- Columns ------------------------------------------------------------------------------------------------------
 */

/*
 * A full chunk: all rows are in flight before the first is taken. take(r, v, x, y) gets the element of lane v in row r
 * and its partner, which is itself where there is one input.
 */
template <class T, class Load, unsigned Inputs, bool Streaming, class Take>
__device__ inline void take_chunk(const Load &load, const void *in, const void *in2, Take take) {
  using Word = typename Load::Word;
  constexpr unsigned stride = 512 / sizeof(T) / Load::lanes;
  Word word[rows], second[Inputs == 2 ? rows : 1];
#pragma unroll
  for (unsigned r = 0; r < rows; r++) {
    word[r] = load_input<Streaming>(static_cast<const Word *>(in) + r * stride);
    if constexpr (Inputs == 2) second[r] = load_input<Streaming>(static_cast<const Word *>(in2) + r * stride);
  }
#pragma unroll
  for (unsigned r = 0; r < rows; r++) {
    T x[Load::lanes], y[Load::lanes];
    load.widen(word[r], x);
    if constexpr (Inputs == 2) load.widen(second[r], y);
#pragma unroll
    for (unsigned v = 0; v < Load::lanes; v++) take(r, v, x[v], Inputs == 2 ? y[v] : x[v]);
  }
}

template <class T, class Load, class Map, bool Streaming>
__device__ inline void add_chunk(const Load &load, const void *in, const void *in2, T (&a)[Load::lanes]) {
  take_chunk<T, Load, Map::inputs, Streaming>(load, in, in2, [&](unsigned r, unsigned v, T x, T y) {
    a[v] = r == 0 ? Map::first(x, y) : Map::next(a[v], x, y);
  });
}

/* A chunk that need not be full: some rows at a time, whatever is missing being the identity. */
template <int Batch, class T, class Load, class Merge>
__device__ inline void add_partial(const Load &load, const void *in, unsigned left, unsigned lane, T identity,
                                   Merge merge, T (&a)[Load::lanes]) {
  constexpr unsigned row_lanes = 512 / sizeof(T), batch = Batch;
#pragma unroll 1
  for (unsigned r = 0; r * row_lanes < left; r += batch) {
    T x[batch][Load::lanes];
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) {
        unsigned at = (r + i) * row_lanes + lane + v;
        x[i][v] = at < left ? load.one(in, at) : identity;
      }
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) a[v] = merge(a[v], x[i][v]);
  }
}

/*
 * The same with a map that is known at run time: each of them adds x times a factor, x times 1 or -1 being |x|. For a
 * missing element the product is -0 times +0, which changes nothing.
 */
template <int Batch, class T, class Load>
__device__ inline void add_partial_mapped(const Load &load, unsigned map, const void *in, const void *in2,
                                          unsigned left, unsigned lane, T (&a)[Load::lanes]) {
  constexpr unsigned row_lanes = 512 / sizeof(T), batch = Batch;
  const T missing = static_cast<T>(-0.0), one = static_cast<T>(1);
#pragma unroll 1
  for (unsigned r = 0; r * row_lanes < left; r += batch) {
    T x[batch][Load::lanes], factor[batch][Load::lanes];
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) {
        unsigned at = (r + i) * row_lanes + lane + v;
        x[i][v] = at < left ? static_cast<T>(load.one(in, at)) : missing;
        factor[i][v] = at < left && map == RED_MAP_PRODUCT ? static_cast<T>(load.one(in2, at)) : -missing;
      }
#pragma unroll
    for (unsigned i = 0; i < batch; i++)
#pragma unroll
      for (unsigned v = 0; v < Load::lanes; v++) {
        unsigned at = (r + i) * row_lanes + lane + v;
        if (at < left && map != RED_MAP_PRODUCT)
          factor[i][v] = map == RED_MAP_SQUARE ? x[i][v] : map == RED_MAP_ABS ? copysign(one, x[i][v]) : one;
        a[v] = fused(x[i][v], factor[i][v], a[v]);
      }
  }
}

template <class T> struct Scratch {
  CombineScratch combine;
  FoldScratch<T> fold;
};

} // namespace red

#endif
