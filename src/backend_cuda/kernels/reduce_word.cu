/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Integer sums and products mod 2^64, bitwise operators and counts of nonzero elements, by the element's width. Signed
 * elements are added as unsigned ones, bits ^ sign, and `sign` is taken off once for each of them.
 */
#include <type_traits>

#include <red/device/cuda/block.cuh>

#include "vector.cuh"

namespace red {

template <unsigned Bytes> __device__ inline uint64_t element_of(const uint32_t (&word)[4], unsigned i) {
  if (Bytes == 8) return static_cast<uint64_t>(word[2 * i + 1]) << 32 | word[2 * i];
  unsigned bit = i * Bytes * 8;
  uint32_t bits = word[bit / 32] >> (bit % 32);
  return Bytes == 4 ? bits : bits & ((1u << (Bytes * 8 % 32)) - 1);
}

template <unsigned Bytes> struct Add {
  using Merge = MergeAdd;
  uint32_t flip;
  uint64_t sign;
  __device__ explicit Add(const red_cuda_element &e) : flip(replicate<Bytes>(e.sign)), sign(Bytes == 8 ? 0 : e.sign) {}
  __device__ uint64_t operator()(const uint4 (&x)[tile_vectors]) const {
    uint64_t sum = 0;
    uint32_t narrow = 0; /* 128 bytes or 64 halves do not overflow it */
#pragma unroll
    for (unsigned v = 0; v < tile_vectors; v++) {
      const uint32_t word[4] = {x[v].x, x[v].y, x[v].z, x[v].w};
#pragma unroll
      for (unsigned i = 0; i < 4; i++) {
        if (Bytes == 1) narrow = __dp4a(word[i] ^ flip, 0x01010101u, narrow);
        if (Bytes == 2) narrow = __dp2a_lo(word[i] ^ flip, 0x01010101u, narrow);
        if (Bytes == 4) sum += word[i] ^ flip;
        if (Bytes == 8 && i < 2) sum += element_of<8>(word, i);
      }
    }
    return sum + narrow - sign * (tile_vectors * VectorShape<Bytes>::elements);
  }
};

__device__ inline uint32_t permute(uint32_t word, uint32_t selector) {
  uint32_t value;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(value) : "r"(word), "r"(selector));
  return value;
}

/* Of 1 and 2 bytes: first those of a word, whose product 32 bits hold. */
template <unsigned Bytes> struct NarrowMul {
  using Merge = MergeMul;
  uint32_t first,
      step;      /* bytes that make an element of a word: its own, then its sign or zeros; from one to the next */
  uint32_t sign; /* all ones if there is one */
  __device__ explicit NarrowMul(const red_cuda_element &e) : sign(e.sign != 0 ? ~0u : 0u) {
    first = Bytes == 1 ? (sign & 0x8880u) | (~sign & 0x4440u) : (sign & 0x9910u) | (~sign & 0x4410u);
    step = Bytes == 1 ? (sign & 0x1111u) | (~sign & 0x0001u) : (sign & 0x2222u) | (~sign & 0x0022u);
  }
  __device__ uint64_t operator()(const uint4 (&x)[tile_vectors]) const {
    uint64_t product = 1;
#pragma unroll
    for (unsigned v = 0; v < tile_vectors; v++) {
      const uint32_t word[4] = {x[v].x, x[v].y, x[v].z, x[v].w};
#pragma unroll
      for (unsigned i = 0; i < 4; i++) {
        uint32_t low = permute(word[i], first);
#pragma unroll
        for (unsigned e = 1; e < 4 / Bytes; e++) low *= permute(word[i], first + e * step);
        const uint32_t high = static_cast<uint32_t>(static_cast<int32_t>(low) >> 31) & sign;
        product *= static_cast<uint64_t>(high) << 32 | low;
      }
    }
    return product;
  }
};

template <unsigned Bytes> struct WordMul {
  using Merge = MergeMul;
  uint64_t sign;
  __device__ explicit WordMul(const red_cuda_element &e) : sign(e.sign) {}
  __device__ uint64_t operator()(const uint4 (&x)[tile_vectors]) const {
    uint64_t product = 1;
#pragma unroll
    for (unsigned v = 0; v < tile_vectors; v++) {
      const uint32_t word[4] = {x[v].x, x[v].y, x[v].z, x[v].w};
#pragma unroll
      for (unsigned i = 0; i < VectorShape<Bytes>::elements; i++) product *= (element_of<Bytes>(word, i) ^ sign) - sign;
    }
    return product;
  }
};

template <unsigned Bytes> using Mul = std::conditional_t<(Bytes <= 2), NarrowMul<Bytes>, WordMul<Bytes>>;

template <unsigned Bytes> struct Count {
  using Merge = MergeAdd;
  uint64_t mask;
  __device__ explicit Count(const red_cuda_element &e) : mask(e.nonzero_mask) {}
  __device__ uint64_t operator()(const uint4 (&x)[tile_vectors]) const {
    uint32_t count = 0, low = replicate<Bytes>(mask);
    constexpr uint32_t top = Bytes == 1 ? 0x80808080u : 0x80008000u;
#pragma unroll
    for (unsigned v = 0; v < tile_vectors; v++) {
      const uint32_t word[4] = {x[v].x, x[v].y, x[v].z, x[v].w};
#pragma unroll
      for (unsigned i = 0; i < 4; i++) {
        uint32_t bits = word[i] & low;
        /* a carry into the top bit of each element that has any of the others */
        if (Bytes <= 2) count += __popc((((bits & ~top) + ~top) | bits) & top);
        if (Bytes == 4) count += bits != 0;
        if (Bytes == 8 && i < 2) count += (element_of<8>(word, i) & mask) != 0;
      }
    }
    return count;
  }
};

struct Bits {
  uint32_t complement;
  bool exclusive;
  unsigned bytes;
  __device__ explicit Bits(const red_cuda_element &e)
      : complement(e.family == RED_FAMILY_AND ? ~0u : 0u), exclusive(e.family == RED_FAMILY_XOR), bytes(e.in_bytes) {}
  __device__ uint32_t merge(uint32_t a, uint32_t b) const { return exclusive ? a ^ b : a | b; }
  __device__ uint64_t operator()(const uint4 (&x)[tile_vectors]) const {
    uint32_t all[4] = {0, 0, 0, 0};
#pragma unroll
    for (unsigned v = 0; v < tile_vectors; v++) {
      all[0] = merge(all[0], x[v].x ^ complement);
      all[1] = merge(all[1], x[v].y ^ complement);
      all[2] = merge(all[2], x[v].z ^ complement);
      all[3] = merge(all[3], x[v].w ^ complement);
    }
    uint32_t low = merge(all[0], all[2]), high = merge(all[1], all[3]);
    if (bytes <= 4) {
      low = merge(low, high);
      high = 0;
    }
    if (bytes <= 2) low = merge(low, low >> 16);
    if (bytes == 1) low = merge(low, low >> 8);
    uint64_t bits = static_cast<uint64_t>(high ^ complement) << 32 | (low ^ complement);
    return bits & low_bits(bytes);
  }
};

struct WordScratch {
  CombineScratch combine;
  BlockScratch<uint64_t> block;
};

template <unsigned Bytes, class Family> __device__ inline void reduce_words(const red_cuda_reduce &args) {
  __shared__ WordScratch scratch;
  const WordPolicy<typename Family::Merge> policy(args.element);
  const Family family(args.element);
  auto tile = [&](uint64_t t) {
    uint4 x[tile_vectors];
    load_tile<Bytes>(args, t, x);
    return block_reduce<block_threads>(family(x), policy.merge, scratch.block);
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

/* The widths differ only in where the edges of the input lie. */
__device__ inline void load_tile_of(const red_cuda_reduce &args, uint64_t t, uint4 (&x)[tile_vectors]) {
  switch (args.element.in_bytes) {
  case 1:
    return load_tile<1>(args, t, x);
  case 2:
    return load_tile<2>(args, t, x);
  case 4:
    return load_tile<4>(args, t, x);
  default:
    return load_tile<8>(args, t, x);
  }
}

__device__ inline void reduce_bits(const red_cuda_reduce &args) {
  __shared__ WordScratch scratch;
  const WordPolicy<MergeBits> policy(args.element);
  const Bits bits(args.element);
  auto tile = [&](uint64_t t) {
    uint4 x[tile_vectors];
    load_tile_of(args, t, x);
    return block_reduce<block_threads>(bits(x), policy.merge, scratch.block);
  };
  reduce_tiles(args, policy, tile, scratch.combine);
}

} // namespace red

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(red::block_threads, 7) name

#define WIDTHS(name, family)                                                                                           \
  KERNEL(name##_1)(const __grid_constant__ red_cuda_reduce args) {                                                     \
    red::reduce_words<1, red::family<1>>(args);                                                                        \
  }                                                                                                                    \
  KERNEL(name##_2)(const __grid_constant__ red_cuda_reduce args) {                                                     \
    red::reduce_words<2, red::family<2>>(args);                                                                        \
  }                                                                                                                    \
  KERNEL(name##_4)(const __grid_constant__ red_cuda_reduce args) {                                                     \
    red::reduce_words<4, red::family<4>>(args);                                                                        \
  }                                                                                                                    \
  KERNEL(name##_8)(const __grid_constant__ red_cuda_reduce args) {                                                     \
    red::reduce_words<8, red::family<8>>(args);                                                                        \
  }

WIDTHS(reduce_add, Add)
WIDTHS(reduce_mul, Mul)
WIDTHS(reduce_count, Count)
KERNEL(reduce_bits)(const __grid_constant__ red_cuda_reduce args) {
  red::reduce_bits(args);
}

#define GROUPS(name, merge)                                                                                            \
  KERNEL(name)(const __grid_constant__ red_cuda_reduce args) {                                                         \
    __shared__ red::CombineScratch scratch;                                                                            \
    red::reduce_groups(args, red::WordPolicy<red::merge>(args.element), scratch);                                      \
  }

GROUPS(reduce_groups_add, MergeAdd)
GROUPS(reduce_groups_mul, MergeMul)
GROUPS(reduce_groups_bits, MergeBits)
