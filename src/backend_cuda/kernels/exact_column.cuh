/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread's column of digits in shared memory, their sums over a block's columns, and what elements are like. */
#ifndef RED_CUDA_EXACT_COLUMN_CUH
#define RED_CUDA_EXACT_COLUMN_CUH

#include <red/device/cuda/warp.cuh>

#include "exact_round.h"

namespace red {

/*
 * Digit i of a warp's lanes is a row of 32 digits of 4 or 8 bytes, and a warp has its rows one after the other:
 * whatever digits its lanes need, they find them in different banks, and the next digit is at a constant distance.
 */
template <unsigned Digits, unsigned Bytes = 8> class Column {
public:
  static constexpr unsigned row = 32 * Bytes, bytes = Digits * row; /* of a warp */
  __device__ explicit Column(char *shared)
      : shared_(shared), own_(shared + threadIdx.x / 32 * bytes + threadIdx.x % 32 * Bytes) {}
  /* A digit by its distance from the first one, a multiple of `row`. */
  template <class T> __device__ T &beyond(unsigned distance) const { return *reinterpret_cast<T *>(own_ + distance); }
  template <class T> __device__ T &at(unsigned digit) const { return *reinterpret_cast<T *>(own_ + digit * row); }
  /* The same lane's digit in another warp. */
  template <class T> __device__ T other(unsigned digit, unsigned warp) const {
    return *reinterpret_cast<const T *>(shared_ + warp * bytes + threadIdx.x % 32 * Bytes + digit * row);
  }
  __device__ unsigned warps() const { return blockDim.x / 32; }

private:
  char *shared_, *own_;
};

/*
 * The sum of a digit over the columns: low + 2^32 high, in every lane. Few instructions find it: short sums end with
 * them, and each of those that have not been fetched takes longer than its execution.
 */
struct DigitSum {
  uint64_t low; /* below 2^43 */
  int64_t high; /* below 2^42, either way */
};

__device__ inline uint32_t warp_or(uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(0xffffffffu, x);
#else
#pragma unroll
  for (unsigned h = 16; h > 0; h /= 2) x |= warp_xor(x, h);
  return x;
#endif
}

__device__ inline int64_t warp_sum(int64_t x) {
#if __CUDA_ARCH__ >= 800 /* in three parts of which 32 bits hold the sums */
  constexpr uint32_t mask = (1u << 27) - 1;
  uint64_t bits = static_cast<uint64_t>(x);
  uint64_t low = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(bits) & mask);
  uint64_t middle = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(bits >> 27) & mask);
  uint64_t high = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(bits >> 54));
  return static_cast<int64_t>(low + (middle << 27) + (high << 54));
#else
#pragma unroll
  for (unsigned h = 16; h > 0; h /= 2) x += warp_xor(x, h);
  return x;
#endif
}

/* Numbers of 37 bits and a sign, or fewer. */
__device__ inline int64_t warp_sum_short(int64_t x) {
#if __CUDA_ARCH__ >= 800
  uint32_t low = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(x) & ((1u << 27) - 1));
  uint32_t high = __reduce_add_sync(0xffffffffu, static_cast<uint32_t>(x >> 27));
  return static_cast<int64_t>(static_cast<int32_t>(high)) * (1 << 27) + low;
#else
  return warp_sum(x);
#endif
}

/* Columns of any int64: at most 2^10 of them. */
template <unsigned Digits> __device__ inline DigitSum sum_digits(const Column<Digits> &column, unsigned digit) {
  int64_t low = 0, high = 0;
#pragma unroll 5
  for (unsigned w = 0; w < column.warps(); w++) {
    int64_t value = column.template other<int64_t>(digit, w);
    low += static_cast<uint32_t>(value);
    high += value >> 32;
  }
  return {static_cast<uint64_t>(warp_sum_short(low)), warp_sum_short(high)};
}

/* ---- What elements are like ---- */

__device__ inline bool is_special(double x) {
  return (static_cast<uint32_t>(__double2hiint(x)) & 0x7ff00000u) == 0x7ff00000u;
}
__device__ inline bool is_special(float x) {
  return (__float_as_uint(x) & 0x7f800000u) == 0x7f800000u;
}

template <class T> __device__ inline uint32_t flags_of_special(T x) {
  return RED_EXACT_NOT_MINUS_ZERO | (x != x ? RED_EXACT_NAN : x > 0 ? RED_EXACT_PLUS_INF : RED_EXACT_MINUS_INF);
}

__device__ inline double with_zero(double x, double sum) {
  return __fma_rn(x, 0.0, sum);
}
__device__ inline float with_zero(float x, float sum) {
  return __fmaf_rn(x, 0.0f, sum);
}

/*
 * An infinity or a NaN is found by multiplying with 0: one fused operation a number, which also says whether all
 * numbers were -0. That is not so for negative numbers, but then the digits are not zero, or a positive number came,
 * too. Infinities and NaNs become flags; that something is added to the digits for them does not matter then.
 */
template <class T> class Witness {
public:
  template <int Count> __device__ void see(const T (&x)[Count], uint32_t &flags) {
    T zero = static_cast<T>(-0.0);
#pragma unroll
    for (int i = 0; i < Count; i++) zero = with_zero(x[i], zero);
    if (zero == 0) {
      zero_ += zero;
      return;
    }
#pragma unroll
    for (int i = 0; i < Count; i++)
      if (is_special(x[i])) flags |= flags_of_special(x[i]);
  }
  /* Zeros of the signs of numbers that are known to be finite. */
  __device__ void see_zero(T zero) {
    zero_ += zero;
  }
  __device__ uint32_t flags() const {
    return zero_ == 0 && signbit(zero_) ? 0 : RED_EXACT_NOT_MINUS_ZERO;
  }

private:
  T zero_ = static_cast<T>(-0.0);
};

} // namespace red

#endif
