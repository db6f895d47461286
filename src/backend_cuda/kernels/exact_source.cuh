/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What exact reductions add: elements, magnitudes, squares or products, loaded in vectors of 16 bytes, a batch of them
 * in flight in each thread. Squares and products of narrow types are exact in the type that the accumulator takes.
 */
#ifndef RED_CUDA_EXACT_SOURCE_CUH
#define RED_CUDA_EXACT_SOURCE_CUH

#include "args.h"
#include "convert.cuh"
#include "exact_bins.cuh"
#include "exact_digits.cuh"
#include "exact_narrow.cuh"
#include "exact_products.cuh"

namespace red {

/* ---- Loads: evicted first from the cache where the array is small enough for that to pay */

__device__ inline uint64_t make_policy(bool streaming) {
  uint64_t policy = 0;
#if __CUDA_ARCH__ >= 800
  if (streaming)
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  else
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
#else
  policy = streaming;
#endif
  return policy;
}

__device__ inline uint4 load_vector(const uint4 *at, uint64_t policy) {
#if __CUDA_ARCH__ >= 800
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at), "l"(policy));
  return v;
#else
  return policy != 0 ? __ldcs(at) : __ldg(at);
#endif
}

/* ---- Elements */

template <unsigned In> struct ExactElement {
  static constexpr unsigned bytes = 2;
  using Number = float;
  using Word = uint16_t;
  __device__ static float number(uint16_t x) { return In == RED_F16 ? f16_to_f32(x) : bf16_to_f32(x); }
  __device__ static float get(const uint32_t (&v)[4], int i) {
    return number(static_cast<uint16_t>(v[i / 2] >> (16 * (i % 2))));
  }
};
template <> struct ExactElement<RED_F32> {
  static constexpr unsigned bytes = 4;
  using Number = float;
  using Word = uint32_t;
  __device__ static float number(uint32_t x) { return __uint_as_float(x); }
  __device__ static float get(const uint32_t (&v)[4], int i) { return __uint_as_float(v[i]); }
};
template <> struct ExactElement<RED_F64> {
  static constexpr unsigned bytes = 8;
  using Number = double;
  using Word = uint64_t;
  __device__ static double number(uint64_t x) { return __longlong_as_double(static_cast<long long>(x)); }
  __device__ static double get(const uint32_t (&v)[4], int i) {
    return __hiloint2double(static_cast<int>(v[2 * i + 1]), static_cast<int>(v[2 * i]));
  }
};

/* ---- What becomes of them, and who adds that up */

template <class A, class B> struct Same { static constexpr bool value = false; };
template <class A> struct Same<A, A> { static constexpr bool value = true; };
template <bool Condition, class A, class B> struct Either { using Type = A; };
template <class A, class B> struct Either<false, A, B> { using Type = B; };

template <unsigned In, unsigned Map> struct ExactMap {
  static constexpr bool multiplies = Map == RED_MAP_PRODUCT || Map == RED_MAP_SQUARE;
  static constexpr bool wide = In == RED_F64;
  using Narrow = typename Either<In == RED_F16, Halves, NarrowBins>::Type;
  using Single = typename Either<wide, Digits, typename Either<In == RED_F32, Bins, Narrow>::Type>::Type;
  using Product = typename Either<wide, Products, typename Either<In == RED_F16, Bins, FloatProducts>::Type>::Type;
  using Accumulator = typename Either<multiplies, Product, Single>::Type;
  using Value = typename Accumulator::Value;
  using Number = typename ExactElement<In>::Number;

  __device__ static Value value(Number x, Number y) {
    if constexpr (Same<Value, Factors>::value)
      return Factors{x, y};
    else if constexpr (Same<Value, FloatFactors>::value)
      return FloatFactors{x, y};
    else if constexpr (multiplies)
      return static_cast<Value>(x) * static_cast<Value>(y);
    else if constexpr (Map == RED_MAP_ABS)
      return wide ? static_cast<Value>(fabs(static_cast<double>(x))) : static_cast<Value>(fabsf(static_cast<float>(x)));
    else
      return x;
  }
};

/* ---- Batches of vectors */

template <unsigned In, unsigned Map> struct ExactSource {
  using Element = ExactElement<In>;
  using Mapping = ExactMap<In, Map>;
  using Accumulator = typename Mapping::Accumulator;
  static constexpr bool two = Map == RED_MAP_PRODUCT;
  static constexpr int per_vector = 16 / Element::bytes;
  static constexpr int vectors = RED_CUDA_EXACT_BATCH(two); /* in flight */
  static constexpr int elements = vectors * per_vector;

  const red_cuda_exact &args;
  const uint4 *x, *y;
  uint64_t policy;

  __device__ explicit ExactSource(const red_cuda_exact &a)
      : args(a), x(reinterpret_cast<const uint4 *>(static_cast<const char *>(a.in) + a.head * Element::bytes)),
        y(reinterpret_cast<const uint4 *>(static_cast<const char *>(a.in2) + a.head * Element::bytes)),
        policy(make_policy(a.streaming)) {}

  struct Batch {
    uint4 x[vectors], y[two ? vectors : 1];
  };

  /*
   * Where this thread's first vector lies in what a block takes at a time, and how far apart are the others. A warp's
   * lie together, which the memory likes better (0.977 instead of 0.968 of CUB's sum), but not with two inputs.
   */
  __device__ static unsigned place() { return two ? threadIdx.x : threadIdx.x / 32 * 32 * vectors + threadIdx.x % 32; }
  __device__ static unsigned spacing() { return two ? blockDim.x : 32; }

  /* Vectors first, first + spacing, ... */
  __device__ void load(Batch &batch, uint64_t first) const {
#pragma unroll
    for (int k = 0; k < vectors; k++) batch.x[k] = load_vector(x + first + k * spacing(), policy);
    if constexpr (two) {
#pragma unroll
      for (int k = 0; k < vectors; k++) batch.y[k] = load_second(first + k * spacing());
    }
    __syncwarp(); /* so that the compiler leaves the loads before what follows */
  }
  /* Only those before `end`. */
  __device__ void load_some(Batch &batch, uint64_t first, uint64_t end) const {
#pragma unroll
    for (int k = 0; k < vectors; k++)
      if (first + k * spacing() < end) batch.x[k] = load_vector(x + first + k * spacing(), policy);
    if constexpr (two) {
#pragma unroll
      for (int k = 0; k < vectors; k++)
        if (first + k * spacing() < end) batch.y[k] = load_second(first + k * spacing());
    }
    __syncwarp(); /* likewise */
  }

  /* Eight elements at a time. */
  __device__ void add(Accumulator &to, const Batch &batch) const {
    constexpr int part = per_vector < 8 && vectors * per_vector >= 8 ? 8 / per_vector : vectors;
    constexpr int step = per_vector == 8 ? 1 : part;
#pragma unroll
    for (int k = 0; k < vectors; k += step) {
      typename Mapping::Value value[step * per_vector];
#pragma unroll
      for (int i = 0; i < step * per_vector; i++) value[i] = get(batch, k + i / per_vector, i % per_vector);
      to.add(value);
    }
  }
  __device__ void add_some(Accumulator &to, const Batch &batch, uint64_t first, uint64_t end) const {
#pragma unroll
    for (int k = 0; k < vectors; k++) {
      if (first + k * spacing() >= end) break;
      typename Mapping::Value value[per_vector];
#pragma unroll
      for (int i = 0; i < per_vector; i++) value[i] = get(batch, k, i);
      to.add(value);
    }
  }
  /* Elements before the first vector and after the last one. */
  __device__ void add_edges(Accumulator &to) const {
    uint64_t after = args.head + args.vectors * per_vector, edges = args.n - args.vectors * per_vector;
    if (threadIdx.x >= edges) return;
    uint64_t i = threadIdx.x < args.head ? threadIdx.x : after + (threadIdx.x - args.head);
    typename Mapping::Value value[1] = {Mapping::value(element(args.in, i), element(two ? args.in2 : args.in, i))};
    to.add(value);
  }

private:
  __device__ static typename Element::Number element(const void *in, uint64_t i) {
    return Element::number(static_cast<const typename Element::Word *>(in)[i]);
  }
  __device__ uint4 load_second(uint64_t i) const {
    if (args.aligned2) return load_vector(y + i, policy);
    const typename Element::Word *at = reinterpret_cast<const typename Element::Word *>(y) + i * per_vector;
    typename Element::Word part[per_vector];
    uint4 v;
#pragma unroll
    for (int k = 0; k < per_vector; k++) part[k] = __ldg(at + k);
    __builtin_memcpy(&v, part, sizeof v);
    return v;
  }
  __device__ static typename Mapping::Value get(const Batch &batch, int k, int i) {
    const uint32_t xs[4] = {batch.x[k].x, batch.x[k].y, batch.x[k].z, batch.x[k].w};
    typename Element::Number a = Element::get(xs, i), b = a;
    if constexpr (two) {
      const uint32_t ys[4] = {batch.y[k].x, batch.y[k].y, batch.y[k].z, batch.y[k].w};
      b = Element::get(ys, i);
    }
    return Mapping::value(a, b);
  }
};

} // namespace red

#endif
