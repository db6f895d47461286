/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums, mod 2^64, of what becomes of integers: products of two inputs, squares, magnitudes of signed elements. By the
 * element's width; whether it has a sign is known at run time. Elements that pad the input are zeros, which add
 * nothing.
 */
#include <red/device/cuda/block.cuh>

#include "vector.cuh"

namespace red {

/* ---- What a thread adds of its vectors -----------------------------------------------------------------------------
 */

struct Words {
  uint32_t word[4];
  __device__ explicit Words(const uint4 &x) : word{x.x, x.y, x.z, x.w} {}
  __device__ uint64_t wide(unsigned i) const { return static_cast<uint64_t>(word[2 * i + 1]) << 32 | word[2 * i]; }
  __device__ int32_t half(unsigned i) const { return static_cast<int16_t>(word[i / 2] >> (i % 2 * 16)); }
  __device__ uint32_t positive_half(unsigned i) const { return word[i / 2] >> (i % 2 * 16) & 0xffff; }
};

template <unsigned Bytes, bool Signed> struct Products {
  uint64_t sum = 0;
  uint32_t narrow = 0; /* 128 products of bytes do not overflow it */
  __device__ void add(const uint4 &left, const uint4 &right) {
    const Words x(left), y(right);
    if constexpr (Bytes == 8) {
      sum += x.wide(0) * y.wide(0) + x.wide(1) * y.wide(1);
    } else if constexpr (Bytes == 2) {
#pragma unroll
      for (unsigned i = 0; i < 8; i++)
        sum += Signed ? static_cast<uint64_t>(static_cast<int64_t>(x.half(i) * y.half(i)))
                      : x.positive_half(i) * y.positive_half(i);
    } else {
#pragma unroll
      for (unsigned i = 0; i < 4; i++) add(x.word[i], y.word[i]);
    }
  }
  __device__ uint64_t total() const {
    return sum + (Signed ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(narrow))) : narrow);
  }

private:
  __device__ void add(uint32_t x, uint32_t y) {
    int32_t a = static_cast<int32_t>(x), b = static_cast<int32_t>(y);
    if (Bytes == 1)
      narrow = Signed ? static_cast<uint32_t>(__dp4a(a, b, static_cast<int32_t>(narrow))) : __dp4a(x, y, narrow);
    else
      sum += Signed ? static_cast<uint64_t>(static_cast<int64_t>(a) * b) : static_cast<uint64_t>(x) * y;
  }
};

template <unsigned Bytes> struct Magnitudes {
  uint64_t sum = 0;
  uint32_t narrow = 0; /* 128 bytes or 64 halves do not overflow it */
  __device__ void add(const uint4 &vector) {
    const Words x(vector);
    if constexpr (Bytes == 8) {
      sum += magnitude(x.wide(0)) + magnitude(x.wide(1));
    } else {
#pragma unroll
      for (unsigned i = 0; i < 4; i++) add(x.word[i]);
    }
  }
  __device__ uint64_t total() const {
    return sum + narrow;
  }

private:
  /* Complements of the negative elements, plus one: nothing is carried out of an element. */
  __device__ void add(uint32_t x) {
    constexpr uint32_t ones = Bytes == 1 ? 0x01010101u : Bytes == 2 ? 0x00010001u : 1u;
    constexpr uint32_t all = Bytes == 1 ? 0xffu : Bytes == 2 ? 0xffffu : ~0u;
    uint32_t negative = x >> (8 * Bytes - 1) & ones;
    uint32_t magnitudes = (x ^ negative * all) + negative;
    if (Bytes == 1) narrow = __dp4a(magnitudes, 0x01010101u, narrow);
    if (Bytes == 2) narrow = __dp2a_lo(magnitudes, 0x01010101u, narrow);
    if (Bytes == 4) sum += magnitudes;
  }
  __device__ static uint64_t magnitude(uint64_t x) {
    return x >> 63 != 0 ? 0 - x : x;
  }
};

template <unsigned Bytes, bool Signed>
__device__ inline uint64_t products(const uint4 (&x)[tile_vectors], const uint4 (&y)[tile_vectors]) {
  Products<Bytes, Signed> sum;
#pragma unroll
  for (unsigned v = 0; v < tile_vectors; v++) sum.add(x[v], y[v]);
  return sum.total();
}

template <unsigned Bytes>
__device__ inline uint64_t products(const red_cuda_element &e, const uint4 (&x)[tile_vectors],
                                    const uint4 (&y)[tile_vectors]) {
  return Bytes < 8 && e.sign != 0 ? products<Bytes, true>(x, y) : products<Bytes, false>(x, y);
}

template <unsigned Bytes> __device__ inline uint64_t magnitudes(const uint4 (&x)[tile_vectors]) {
  Magnitudes<Bytes> sum;
#pragma unroll
  for (unsigned v = 0; v < tile_vectors; v++) sum.add(x[v]);
  return sum.total();
}

/* ---- The second input ----------------------------------------------------------------------------------------------
 */

/*
 * Its vectors begin at 16-byte boundaries too, which need not be those of the first: a vector beside one of the first
 * lies in one vector of the second, or in two, `shift` bytes after the beginning of the first of them.
 */
template <unsigned Bytes> struct Second {
  static constexpr unsigned elements = VectorShape<Bytes>::elements, vectors = VectorShape<Bytes>::tile / elements;
  const uint4 *grid;   /* the 16-byte boundary at or before in2 */
  uint64_t begin, end; /* elements, counted from there */
  uint64_t before;     /* how many vectors earlier than in the first input's grid */
  unsigned shift;

  __device__ explicit Second(const red_cuda_reduce &args) {
    unsigned head = static_cast<unsigned>(reinterpret_cast<uintptr_t>(args.in2) % 16 / Bytes);
    grid = reinterpret_cast<const uint4 *>(static_cast<const char *>(args.in2) - head * Bytes);
    begin = head;
    end = head + args.n;
    before = head < args.head_elements;
    shift = (head - args.head_elements) % elements * Bytes;
  }

  __device__ bool inside(uint64_t vector) const {
    return vector * elements >= begin && vector < end / elements; /* also of the one before the grid */
  }
  __device__ uint4 cut(uint64_t vector) const {
    return load_edge<Bytes>(reinterpret_cast<const char *>(grid), vector * elements, begin, end, 0);
  }

  /* 16 bytes of two vectors, from `shift` on. */
  __device__ uint4 join(uint4 low, uint4 high) const {
    uint32_t w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    if (shift & 8) {
#pragma unroll
      for (unsigned i = 0; i < 6; i++) w[i] = w[i + 2];
    }
    if (shift & 4) {
#pragma unroll
      for (unsigned i = 0; i < 5; i++) w[i] = w[i + 1];
    }
    unsigned bits = shift % 4 * 8;
    return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                      __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
  }
};

__device__ inline uint4 operator|(uint4 a, uint4 b) {
  return make_uint4(a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w);
}

/* A tile of which every vector is wholly inside. */
template <unsigned Bytes, bool Streaming>
__device__ inline void load_inner(const Second<Bytes> &second, const uint4 *at, uint4 (&y)[tile_vectors]) {
#pragma unroll
  for (unsigned i = 0; i < tile_vectors; i++) y[i] = load_input<Streaming>(at + i * block_threads);
  if (second.shift == 0) return;
  uint4 next[tile_vectors];
#pragma unroll
  for (unsigned i = 0; i < tile_vectors; i++) next[i] = __ldg(at + i * block_threads + 1);
#pragma unroll
  for (unsigned i = 0; i < tile_vectors; i++) y[i] = second.join(y[i], next[i]);
}

/* Vectors that are inside, then what the at most two have that are cut, where in2 begins and where it ends. */
template <unsigned Bytes>
__device__ inline void load_outer(const Second<Bytes> &second, uint64_t tile_first, uint4 (&y)[tile_vectors]) {
  const uint4 none = make_uint4(0, 0, 0, 0);
#pragma unroll
  for (unsigned i = 0; i < tile_vectors; i++) {
    uint64_t vector = tile_first + i * block_threads + threadIdx.x;
    uint4 low = none, high = none;
    if (second.inside(vector)) low = __ldg(second.grid + vector);
    if (second.shift != 0 && second.inside(vector + 1)) high = __ldg(second.grid + vector + 1);
    y[i] = second.join(low, high);
  }
#pragma unroll 1
  for (unsigned k = 0; k < 4; k++) {
    bool is_low = k % 2 == 0; /* in the vector of a pair that comes first */
    uint64_t vector = (k < 2 ? second.begin : second.end) / Second<Bytes>::elements;
    if (second.inside(vector) || (!is_low && second.shift == 0)) continue;
    uint64_t place = vector - (is_low ? 0 : 1) - tile_first; /* beyond the tile if it lies before it */
    if (place >= Second<Bytes>::vectors || place % block_threads != threadIdx.x) continue;
    uint4 cut = second.cut(vector);
    uint4 part = is_low ? second.join(cut, none) : second.join(none, cut);
#pragma unroll
    for (unsigned i = 0; i < tile_vectors; i++)
      if (place / block_threads == i) y[i] = y[i] | part;
  }
}

template <unsigned Bytes>
__device__ inline void load_second(const red_cuda_reduce &args, uint64_t t, uint4 (&y)[tile_vectors]) {
  const Second<Bytes> second(args);
  uint64_t first = t * Second<Bytes>::vectors - second.before; /* wraps if it lies before the grid */
  uint64_t last = first + Second<Bytes>::vectors - (second.shift == 0);
  const uint4 *at = second.grid + first + threadIdx.x;
  if (t >= second.before && second.inside(first) && second.inside(last)) {
    if (args.streaming)
      load_inner<Bytes, true>(second, at, y);
    else
      load_inner<Bytes, false>(second, at, y);
  } else {
    load_outer(second, first, y);
  }
}

/* ---- Tiles ---------------------------------------------------------------------------------------------------------
 */

struct WordScratch {
  CombineScratch combine;
  BlockScratch<uint64_t> block;
};

template <unsigned Bytes> __device__ inline void reduce_dot(const red_cuda_reduce &args) {
  __shared__ WordScratch scratch;
  const WordPolicy<MergeAdd> policy(args.element);
  auto tile = [&](uint64_t t) {
    uint4 x[tile_vectors], y[tile_vectors];
    load_tile<Bytes>(args, t, x);
    load_second<Bytes>(args, t, y);
    return block_reduce<block_threads>(products<Bytes>(args.element, x, y), policy.merge, scratch.block);
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

/* Squares or magnitudes. */
template <unsigned Bytes> __device__ inline void reduce_mapped(const red_cuda_reduce &args) {
  __shared__ WordScratch scratch;
  const WordPolicy<MergeAdd> policy(args.element);
  auto tile = [&](uint64_t t) {
    uint4 x[tile_vectors];
    load_tile<Bytes>(args, t, x);
    uint64_t sum = args.element.map == RED_MAP_SQUARE ? products<Bytes>(args.element, x, x) : magnitudes<Bytes>(x);
    return block_reduce<block_threads>(sum, policy.merge, scratch.block);
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

} // namespace red

#define KERNEL(name, resident, call)                                                                                   \
  extern "C" __global__ void __launch_bounds__(red::block_threads, resident)                                           \
      name(const __grid_constant__ red_cuda_reduce args) {                                                             \
    red::call(args);                                                                                                   \
  }

KERNEL(reduce_dot_1, 4, reduce_dot<1>)
KERNEL(reduce_dot_2, 4, reduce_dot<2>)
KERNEL(reduce_dot_4, 4, reduce_dot<4>)
KERNEL(reduce_dot_8, 4, reduce_dot<8>)
KERNEL(reduce_map_1, 7, reduce_mapped<1>)
KERNEL(reduce_map_2, 7, reduce_mapped<2>)
KERNEL(reduce_map_4, 7, reduce_mapped<4>)
KERNEL(reduce_map_8, 7, reduce_mapped<8>)
