/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's share of a chunk, 32 rows of one lane, two or four, in registers: loading it, and what one thread makes of
 * it. `left` is how many elements the chunk has; those that are missing are copies of in[0].
 */
#ifndef RED_CUDA_STATS_ROWS_CUH
#define RED_CUDA_STATS_ROWS_CUH

#include "lanes.cuh"
#include "stats_element.cuh"

namespace red {

__device__ inline uint32_t warp_add(uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, x);
#else
  for (unsigned h = 16; h > 0; h /= 2) x += warp_xor(x, h);
  return x;
#endif
}

/* The lanes of a row of the tile's chunk `chunk`, stored one after the other, by halving. All lanes of the warp get it.
 */
template <class S, class T> __device__ inline T fold_row(const T *stored, unsigned chunk) {
  const T *lane = stored + chunk * S::lanes + threadIdx.x % 32;
  T sum = S::lanes == 128 ? (lane[0] + lane[64]) + (lane[32] + lane[96]) : lane[0] + lane[32];
#pragma unroll
  for (unsigned h = 16; h > 0; h /= 2) sum += warp_xor(sum, h);
  return sum;
}

/* ---- The codes of integers, added without loss ---------------------------------------------------------------------
 */

/* Four or two with a sign in a word. */
template <unsigned Bytes> __device__ inline int32_t add_codes(uint32_t codes, int32_t sum) {
  return Bytes == 1 ? __dp4a(static_cast<int32_t>(codes), 0x01010101, sum)
                    : __dp2a_lo(static_cast<int32_t>(codes), 0x0101, sum);
}

template <unsigned Bytes> struct CodeSum { /* 1 and 2 bytes */
  int32_t sum = 0;
  __device__ void take(uint32_t codes) { sum = add_codes<Bytes>(codes, sum); }
  __device__ int64_t of_warp() const { return static_cast<int32_t>(warp_add(static_cast<uint32_t>(sum))); }
};

template <> struct CodeSum<4> {
  uint64_t sum = 0; /* below 2^37 */
  __device__ void take(uint32_t code) { sum += code; }
  __device__ int64_t of_warp() const {
    uint64_t low = warp_add(static_cast<uint32_t>(sum) & 0x7ffffffu);
    uint64_t high = warp_add(static_cast<uint32_t>(sum >> 27));
    return static_cast<int64_t>(low + (high << 27));
  }
};

template <> struct CodeSum<8> {
  uint32_t low = 0, middle = 0, high = 0; /* below 2^69 */
  __device__ void take(uint64_t code) {
    asm("add.cc.u32 %0, %0, %3;\n\t"
        "addc.cc.u32 %1, %1, %4;\n\t"
        "addc.u32 %2, %2, 0;"
        : "+r"(low), "+r"(middle), "+r"(high)
        : "r"(static_cast<uint32_t>(code)), "r"(static_cast<uint32_t>(code >> 32)));
  }
  __device__ __int128 of_warp() const {
    uint64_t words = static_cast<uint64_t>(middle) << 32 | low;
    unsigned __int128 all = static_cast<unsigned __int128>(high) << 64 | words;
    unsigned __int128 sum = 0;
#pragma unroll
    for (unsigned shift = 0; shift < 81; shift += 27) {
      uint32_t digit = static_cast<uint32_t>(all >> shift) & 0x7ffffffu;
      sum += static_cast<unsigned __int128>(warp_add(digit)) << shift;
    }
    return static_cast<__int128>(sum);
  }
};

/* ---- The rows
 * --------------------------------------------------------------------------------------------------------
 */

template <class Element> struct Rows {
  using Row = typename Element::Row;
  using Bits = typename Element::Bits;
  using Key = typename Element::Key;
  using S = Shape<typename Element::Lane, Element::lanes>;
  static constexpr unsigned lanes = Element::lanes;
  Row x[rows];

  /* The place in the chunk of this thread's element (r, v). */
  __device__ static unsigned place(unsigned r, unsigned v) {
    return r * S::lanes + threadIdx.x % S::threads * lanes + v;
  }

  template <bool Streaming> __device__ void load_whole(const void *chunk) {
    const Row *at = static_cast<const Row *>(chunk) + threadIdx.x % S::threads;
#pragma unroll
    for (unsigned r = 0; r < rows; r++) x[r] = load_input<Streaming>(at + r * S::threads);
  }

  /* Element by element: chunks that are not full, narrow elements that do not lie as rows are loaded. */
  __device__ void load_partial(const void *in, const void *chunk, unsigned left) {
    Bits pad = left < S::chunk ? element(in, 0) : 0;
#pragma unroll
    for (unsigned r = 0; r < rows; r++)
#pragma unroll
      for (unsigned v = 0; v < lanes; v++) {
        unsigned at = place(r, v);
        Element::insert(x[r], v, at < left ? element(chunk, at) : pad);
      }
  }

  __device__ static Bits element(const void *in, unsigned i) {
    switch (Element::bytes) {
    case 1:
      return __ldg(static_cast<const uint8_t *>(in) + i);
    case 2:
      return __ldg(static_cast<const uint16_t *>(in) + i);
    case 4:
      return __ldg(static_cast<const uint32_t *>(in) + i);
    default:
      return static_cast<Bits>(__ldg(static_cast<const unsigned long long *>(in) + i));
    }
  }

  /* The first element, asked for here and now. */
  __device__ static Bits ask(const void *in) {
    Bits bits;
    if constexpr (Element::bytes == 8) {
      asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(bits) : "l"(in));
    } else if constexpr (Element::bytes == 4) {
      asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(bits) : "l"(in));
    } else if constexpr (Element::bytes == 2) {
      uint16_t half;
      asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(half) : "l"(in));
      bits = half;
    } else {
      asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(bits) : "l"(in));
    }
    return bits;
  }

  /* Floats: the lanes' sums in the order of the law. */
  template <bool Whole, class Number> __device__ void sum(unsigned left, Number (&a)[lanes]) const {
#pragma unroll
    for (unsigned r = 0; r < rows; r++)
#pragma unroll
      for (unsigned v = 0; v < lanes; v++) {
        Number number = Element::number(x[r], v);
        if (!Whole && place(r, v) >= left) number = static_cast<Number>(-0.0);
        a[v] = r == 0 ? number : a[v] + number;
      }
  }

  /* Integers: codes, also those of missing elements. */
  __device__ CodeSum<Element::bytes> sum_codes(const Element &element) const {
    CodeSum<Element::bytes> sum;
#pragma unroll
    for (unsigned r = 0; r < rows; r++) sum.take(element.codes(x[r]));
    return sum;
  }

  /* Least keys of RED_MIN and of RED_MAX, if there is no NaN. */
  __device__ void extremes(const Element &element, Key &least, Key &greatest) const {
    typename Element::Range range(element, x[0]);
#pragma unroll
    for (unsigned r = 1; r < rows; r++) range.take(element, x[r]);
    least = range.least_key();
    greatest = ~range.most_key();
  }

  template <bool Whole> __device__ uint32_t count_nans(const Element &element, unsigned left) const {
    uint32_t count = 0;
#pragma unroll
    for (unsigned r = 0; r < rows; r++)
#pragma unroll
      for (unsigned v = 0; v < lanes; v++)
        count += element.is_nan(Element::bits(x[r], v)) && (Whole || place(r, v) < left) ? 1 : 0;
    return count;
  }

  /* The first place with this key of RED_MIN, zeros of either sign being equal; UINT32_MAX if none has it. */
  __device__ uint32_t find(const Element &element, Key key) const {
    const auto wanted = element.with_key(key);
    uint32_t first = UINT32_MAX;
#pragma unroll
    for (int r = rows - 1; r >= 0; r--)
#pragma unroll
      for (int v = lanes - 1; v >= 0; v--)
        if (wanted.has(Element::bits(x[r], v))) first = place(r, v);
    return first;
  }
};

} // namespace red

#endif
