/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tiles of 16 KB for families whose order is free: 8 loads of 16 bytes in each of 128 threads. The grid of vectors
 * begins at the 16-byte boundary at or before `in`, so that every address of an element is served alike; elements
 * outside the input are replaced by ones that change nothing.
 */
#ifndef RED_CUDA_VECTOR_CUH
#define RED_CUDA_VECTOR_CUH

#include "combine.cuh"
#include "policy.cuh"

namespace red {

constexpr unsigned tile_vectors = 8;

template <unsigned Bytes> struct VectorShape {
  static constexpr unsigned elements = 16 / Bytes; /* of a vector */
  static constexpr unsigned tile = tile_vectors * block_threads * elements;
};

/* The same element in all places of a 32-bit word. */
template <unsigned Bytes> __device__ inline uint32_t replicate(uint64_t bits) {
  uint32_t word = static_cast<uint32_t>(bits);
  if (Bytes == 1) return (word & 0xff) * 0x01010101u;
  if (Bytes == 2) return (word & 0xffff) * 0x00010001u;
  return word;
}

/* A vector that is not wholly inside: element by element. `first` counts from the boundary. */
template <unsigned Bytes>
__device__ inline uint4 load_edge(const char *base, uint64_t first, uint64_t begin, uint64_t end, uint64_t pad) {
  uint64_t half[2] = {0, 0};
#pragma unroll 1
  for (unsigned i = 0; i < 16 / Bytes; i++) {
    uint64_t at = first + i;
    uint64_t bits = at >= begin && at < end ? load_bits(base + at * Bytes, Bytes) : pad;
    unsigned shift = i * Bytes * 8;
    half[0] |= shift < 64 ? bits << shift : 0;
    half[1] |= shift >= 64 ? bits << (shift - 64) : 0;
  }
  return make_uint4(static_cast<uint32_t>(half[0]), static_cast<uint32_t>(half[0] >> 32),
                    static_cast<uint32_t>(half[1]), static_cast<uint32_t>(half[1] >> 32));
}

template <unsigned Bytes>
__device__ inline void load_tile(const red_cuda_reduce &args, uint64_t t, uint4 (&x)[tile_vectors]) {
  constexpr unsigned elements = VectorShape<Bytes>::elements, tile = VectorShape<Bytes>::tile;
  uint64_t begin = args.head_elements, end = begin + args.n;
  const char *base = static_cast<const char *>(args.in) - begin * Bytes;
  uint64_t first = t * tile + threadIdx.x * elements;
  const uint4 *at = reinterpret_cast<const uint4 *>(base + first * Bytes);
  if (t * tile >= begin && (t + 1) * tile <= end) {
    if (args.streaming) {
#pragma unroll
      for (unsigned i = 0; i < tile_vectors; i++) x[i] = __ldcs(at + i * block_threads);
    } else {
#pragma unroll
      for (unsigned i = 0; i < tile_vectors; i++) x[i] = __ldg(at + i * block_threads);
    }
    return;
  }
  uint64_t pad = args.pad_is_first ? load_bits(args.in, Bytes) : args.pad;
  uint32_t word = replicate<Bytes>(pad), high = Bytes == 8 ? static_cast<uint32_t>(pad >> 32) : word;
#pragma unroll
  for (unsigned i = 0; i < tile_vectors; i++) {
    uint64_t from = first + i * block_threads * elements;
    x[i] = make_uint4(word, high, word, high);
    if (from >= begin && from + elements <= end) x[i] = __ldg(at + i * block_threads);
  }
  /* At most two vectors of the input are cut: where it begins and where it ends. */
#pragma unroll 1
  for (unsigned side = 0; side < 2; side++) {
    uint64_t from = (side == 0 ? begin : end) / elements * elements;
    if (from >= begin && from + elements <= end) continue;
    uint64_t vector = from / elements - t * (tile / elements); /* beyond the tile if it lies before it */
    if (from >= end || vector >= tile / elements || vector % block_threads != threadIdx.x) continue;
    uint4 cut = load_edge<Bytes>(base, from, begin, end, pad);
#pragma unroll
    for (unsigned i = 0; i < tile_vectors; i++)
      if (vector / block_threads == i) x[i] = cut;
  }
}

} // namespace red

#endif
