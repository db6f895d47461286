/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of whole vectors: signed integers whose least is the minimum (core/lower.h). Elements of 8 and 16 bits are
 * compared two at a time, as halves of a word. One byte: it is the upper byte of a half, and what lies below it only
 * decides between equals.
 */
#ifndef RED_CUDA_KEYS_CUH
#define RED_CUDA_KEYS_CUH

#include "vector.cuh"

namespace red {

/* The parameters of core/lower.h for words of one, two or four elements. */
template <unsigned Bytes> struct KeyRule {
  using Key = int32_t;
  uint32_t flip;      /* key_xor */
  uint32_t inf, nan;  /* +Inf, nan_key; floats */
  uint32_t above_inf; /* added to a magnitude, sets the top bit if it is above +Inf */
  __device__ explicit KeyRule(const red_cuda_element &e)
      : flip(replicate<Bytes>(e.key_xor)), inf(replicate<Bytes>(e.inf)),
        nan(replicate<Bytes>(static_cast<uint64_t>(e.nan_key))), above_inf(0x7fff7fffu - inf) {}
};

template <> struct KeyRule<8> {
  using Key = int64_t;
  uint64_t flip, inf;
  int64_t nan;
  __device__ explicit KeyRule(const red_cuda_element &e) : flip(e.key_xor), inf(e.inf), nan(e.nan_key) {}
};

/* The top bits of both halves, spread over them. */
__device__ inline uint32_t spread_top(uint32_t word, uint32_t times) {
  return (word >> 15 & 0x00010001u) * times;
}

/* Two elements of 16 bits. Zeros: -0 becomes +0, as the arg operators want it. */
template <bool Zeros> __device__ inline uint32_t float_keys(const KeyRule<2> &rule, uint32_t x) {
  uint32_t magnitude = x & 0x7fff7fffu;
  if (Zeros) x = magnitude | (x & (magnitude + 0x7fff7fffu) & 0x80008000u);
  uint32_t key = x ^ spread_top(x, 0x7fff) ^ rule.flip;
  uint32_t nan = spread_top(magnitude + rule.above_inf, 0xffff);
  return (key & ~nan) | (rule.nan & nan);
}

template <bool Zeros> __device__ inline int64_t float_key(const KeyRule<8> &rule, uint64_t x) {
  uint64_t magnitude = x & 0x7fffffffffffffffull;
  if (Zeros && magnitude == 0) x = 0;
  uint64_t key = x ^ (static_cast<uint64_t>(static_cast<int64_t>(x) >> 63) & 0x7fffffffffffffffull) ^ rule.flip;
  return magnitude > rule.inf ? rule.nan : static_cast<int64_t>(key);
}

/* Whether one of them is a NaN. */
__device__ inline bool are_unordered(float a, float b) {
  return !(a <= b || a > b);
}

/* ---- The least key of vectors --------------------------------------------------------------------------------------
 */

template <unsigned Bytes, bool Float, bool Zeros> struct LeastKey;

template <bool Float, bool Zeros> struct LeastKey<1, Float, Zeros> {
  uint32_t odd, even;
  __device__ LeastKey() : odd(0x7fff7fffu), even(0x7fff7fffu) {}
  __device__ void take(const KeyRule<1> &rule, uint32_t word) {
    word ^= rule.flip;
    odd = __vmins2(odd, word);
    even = __vmins2(even, word << 8);
  }
  __device__ void take(const KeyRule<1> &rule, const uint4 &x) {
    take(rule, x.x);
    take(rule, x.y);
    take(rule, x.z);
    take(rule, x.w);
  }
  __device__ int32_t key(const KeyRule<1> &) const {
    uint32_t both = __vmins2(odd, even);
    return min(static_cast<int32_t>(both) >> 24, static_cast<int32_t>(both << 16) >> 24);
  }
};

template <bool Float, bool Zeros> struct LeastKey<2, Float, Zeros> {
  uint32_t both;
  __device__ LeastKey() : both(0x7fff7fffu) {}
  __device__ void take(const KeyRule<2> &rule, uint32_t word) {
    both = __vmins2(both, Float ? float_keys<Zeros>(rule, word) : word ^ rule.flip);
  }
  __device__ void take(const KeyRule<2> &rule, const uint4 &x) {
    take(rule, x.x);
    take(rule, x.y);
    take(rule, x.z);
    take(rule, x.w);
  }
  __device__ int32_t key(const KeyRule<2> &) const {
    return min(static_cast<int32_t>(both) >> 16, static_cast<int32_t>(both << 16) >> 16);
  }
};

template <bool Zeros> struct LeastKey<4, false, Zeros> {
  int32_t least;
  __device__ LeastKey() : least(INT32_MAX) {}
  __device__ void take(const KeyRule<4> &rule, uint32_t x) { least = min(least, static_cast<int32_t>(x ^ rule.flip)); }
  __device__ void take(const KeyRule<4> &rule, const uint4 &x) {
    take(rule, x.x);
    take(rule, x.y);
    take(rule, x.z);
    take(rule, x.w);
  }
  __device__ int32_t key(const KeyRule<4> &) const { return least; }
};

/*
 * f32 has minima in hardware, with -0 below +0 and NaNs passed over; greatest values are least negated ones. A NaN that
 * wins is looked for apart, two elements at a time. The key is made once for many elements.
 */
template <bool Zeros> struct LeastKey<4, true, Zeros> {
  float least;
  bool nan;
  __device__ LeastKey() : least(__uint_as_float(0x7fffffffu)), nan(false) {}
  __device__ static float number(const KeyRule<4> &rule, uint32_t x) {
    return __uint_as_float(x ^ (rule.flip & 0x80000000u));
  }
  __device__ void take(const KeyRule<4> &rule, uint32_t x) {
    float value = number(rule, x);
    least = fminf(least, value);
    nan = nan || value != value;
  }
  __device__ void take(const KeyRule<4> &rule, const uint4 &x) {
    float a = number(rule, x.x), b = number(rule, x.y), c = number(rule, x.z), d = number(rule, x.w);
    least = fminf(least, fminf(fminf(a, b), fminf(c, d)));
    nan = nan || are_unordered(a, b) || are_unordered(c, d);
  }
  __device__ int32_t key(const KeyRule<4> &rule) const {
    constexpr int32_t winning = INT32_MIN;
    uint32_t bits = __float_as_uint(least);
    if (Zeros && least == 0) bits = rule.flip & 0x80000000u; /* what +0 is when it is negated, or not */
    int32_t key = static_cast<int32_t>(bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) & 0x7fffffffu));
    bool none = least != least; /* nothing but NaNs */
    return none || (nan && static_cast<int32_t>(rule.nan) == winning) ? static_cast<int32_t>(rule.nan) : key;
  }
};

template <bool Float, bool Zeros> struct LeastKey<8, Float, Zeros> {
  int64_t least;
  __device__ LeastKey() : least(INT64_MAX) {}
  __device__ void take(const KeyRule<8> &rule, uint32_t low, uint32_t high) {
    uint64_t x = static_cast<uint64_t>(high) << 32 | low;
    int64_t key = Float ? float_key<Zeros>(rule, x) : static_cast<int64_t>(x ^ rule.flip);
    least = key < least ? key : least;
  }
  __device__ void take(const KeyRule<8> &rule, const uint4 &x) {
    take(rule, x.x, x.y);
    take(rule, x.z, x.w);
  }
  __device__ int64_t key(const KeyRule<8> &) const { return least; }
};

/*
 * f64 without NaNs, by comparisons of numbers, which are fewer instructions than keys; greatest values are least
 * negated ones. Comparisons take zeros for equal: the signs are collected beside them.
 */
struct LeastDouble {
  double least;
  uint32_t signs;
  bool nan;
  __device__ LeastDouble() : least(__longlong_as_double(0x7ff0000000000000ll)), signs(0), nan(false) {}
  __device__ void take(const KeyRule<8> &rule, const uint4 &x) {
    const uint32_t sign = static_cast<uint32_t>(rule.flip >> 32) & 0x80000000u;
    const uint32_t a_high = x.y ^ sign, b_high = x.w ^ sign;
    double a = __hiloint2double(static_cast<int>(a_high), static_cast<int>(x.x));
    double b = __hiloint2double(static_cast<int>(b_high), static_cast<int>(x.z));
    least = a < least ? a : least;
    least = b < least ? b : least;
    signs |= a_high | b_high;
    nan |= (a != a) | (b != b);
  }
  template <bool Zeros> __device__ int64_t key(const KeyRule<8> &rule) const {
    uint64_t bits = static_cast<uint64_t>(__double_as_longlong(least));
    if (least == 0) bits = (Zeros ? rule.flip >> 63 : signs >> 31) != 0 ? 1ull << 63 : 0; /* +0, negated or not */
    return static_cast<int64_t>(bits) ^ (static_cast<int64_t>(bits) >> 63 & INT64_MAX);
  }
};

/*
 * 16-bit floats without NaNs, by their bits alone: the least is the greatest of the negative ones as unsigned numbers,
 * or the least where there is none. NaNs are among the greatest, signed or not. Greatest values are least negated ones.
 */
struct LeastHalf {
  uint32_t most, least, positive; /* two of each */
  __device__ LeastHalf() : most(0), least(~0u), positive(0x80008000u) {}
  __device__ void take(const KeyRule<2> &rule, uint32_t word) {
    word ^= rule.flip & 0x80008000u;
    most = __vmaxu2(most, word);
    least = __vminu2(least, word);
    positive = __vmaxs2(positive, word);
  }
  __device__ void take(const KeyRule<2> &rule, const uint4 &x) {
    take(rule, x.x);
    take(rule, x.y);
    take(rule, x.z);
    take(rule, x.w);
  }
  /* False where a NaN is among them. Zeros are equal. */
  __device__ bool find(const KeyRule<2> &rule, int32_t &key) const {
    const uint32_t inf = rule.inf & 0xffff, smallest = min(least & 0xffff, least >> 16);
    const uint32_t greatest = max(most & 0xffff, most >> 16);
    const int32_t upper = max(static_cast<int32_t>(positive) >> 16, static_cast<int32_t>(positive << 16) >> 16);
    uint32_t bits = greatest >= 0x8000 ? greatest : smallest;
    if ((bits & 0x7fff) == 0) bits = rule.flip & 0x8000; /* what +0 is when it is negated, or not */
    key = static_cast<int16_t>(bits ^ (bits >= 0x8000 ? 0x7fffu : 0));
    return greatest <= (0x8000 | inf) && upper <= static_cast<int32_t>(inf);
  }
};

/* The least key of a thread's vectors. */
template <unsigned Bytes, bool Float, bool Zeros, unsigned Count>
__device__ inline typename KeyRule<Bytes>::Key least_key(const KeyRule<Bytes> &rule, const uint4 (&x)[Count]) {
  if constexpr (Bytes == 8 && Float) {
    LeastDouble least;
#pragma unroll
    for (unsigned i = 0; i < Count; i++) least.take(rule, x[i]);
    if (!least.nan) return least.template key<Zeros>(rule);
  }
  if constexpr (Bytes == 2 && Float && Zeros) { /* minima alone are as fast without, and small ones faster */
    LeastHalf least;
    int32_t key;
#pragma unroll
    for (unsigned i = 0; i < Count; i++) least.take(rule, x[i]);
    if (least.find(rule, key)) return key;
  }
  LeastKey<Bytes, Float, Zeros> least;
#pragma unroll
  for (unsigned i = 0; i < Count; i++) least.take(rule, x[i]);
  return least.key(rule);
}

/* The first element of a vector whose key is `key`; there is one. */
template <unsigned Bytes, bool Float, bool Zeros>
__device__ inline unsigned find_key(const KeyRule<Bytes> &rule, const uint4 &x, typename KeyRule<Bytes>::Key key) {
  const uint32_t word[4] = {x.x, x.y, x.z, x.w};
  unsigned found = 0;
#pragma unroll
  for (int i = 16 / Bytes - 1; i >= 0; i--) {
    LeastKey<Bytes, Float, Zeros> one;
    if constexpr (Bytes == 8)
      one.take(rule, word[2 * i], word[2 * i + 1]);
    else /* the same element in all places */
      one.take(rule, replicate<Bytes>(word[i * Bytes / 4] >> (i * Bytes * 8 % 32)));
    if (one.key(rule) == key) found = i;
  }
  return found;
}

/* ---- Across lanes ---------------------------------------------------------------------------------------------------
 */

__device__ inline int32_t warp_least(int32_t key) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, key);
#else
  for (unsigned h = 16; h > 0; h /= 2) key = min(key, warp_xor(key, h));
  return key;
#endif
}

/* First the upper halves, then the lower ones of those that have the least. */
__device__ inline int64_t warp_least(int64_t key) {
#if __CUDA_ARCH__ >= 800
  int32_t high = static_cast<int32_t>(key >> 32), least = __reduce_min_sync(0xffffffffu, high);
  uint32_t low = __reduce_min_sync(0xffffffffu, high == least ? static_cast<uint32_t>(key) : UINT32_MAX);
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(least)) << 32 | low);
#else
#pragma unroll
  for (unsigned h = 16; h > 0; h /= 2) {
    int64_t other = warp_xor(key, h);
    key = other < key ? other : key;
  }
  return key;
#endif
}

__device__ inline uint32_t warp_first(uint32_t position) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, position);
#else
  for (unsigned h = 16; h > 0; h /= 2) position = min(position, warp_xor(position, h));
  return position;
#endif
}

} // namespace red

#endif
