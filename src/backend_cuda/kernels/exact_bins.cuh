/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of bins for numbers of 24 significant bits: a thread has its own bins in shared memory, one beside the other
 * thread's, so that whatever the data there are neither bank conflicts nor atomics.
 *
 * A bin is a double that takes sixteen binades. Bin b holds multiples of its unit, 2^(16 b - 150), and a number of that
 * bin is less than 2^39 of them: a bin that began below 2^16 units is exact for 2^14 - 1 numbers, then settle() moves
 * what it can into the next bin. Bin 15 gets infinities and NaNs and keeps them. Every bin begins with -0, the
 * identity: it is -0 at the end if nothing but -0 was added.
 */
#ifndef RED_CUDA_EXACT_BINS_CUH
#define RED_CUDA_EXACT_BINS_CUH

#include "exact_column.cuh"

namespace red {

/* The kind of a double that is a sum, as flags. */
__device__ inline uint32_t flags_of_sum(double x) {
  uint64_t bits = static_cast<uint64_t>(__double_as_longlong(x));
  uint32_t flags = bits != 0x8000000000000000ull ? RED_EXACT_NOT_MINUS_ZERO : 0;
  if ((bits << 1) > 0xffe0000000000000ull) return flags | RED_EXACT_NAN;
  if ((bits << 1) == 0xffe0000000000000ull) flags |= x > 0 ? RED_EXACT_PLUS_INF : RED_EXACT_MINUS_INF;
  return flags;
}

__device__ inline bool is_finite(double x) {
  return (static_cast<uint32_t>(__double2hiint(x)) & 0x7ff00000u) != 0x7ff00000u;
}

__device__ inline double power_of_two(int exponent) {
  return __hiloint2double((1023 + exponent) << 20, 0);
}

class Bins {
public:
  using Value = float;
  static constexpr unsigned digits = 17; /* the last one only takes what the others overflow with */
  static constexpr unsigned step = 16;
  static constexpr unsigned lowest_bit = 2148 - 150;
  static constexpr unsigned first_digit = 62, groups = 1; /* of the long integer: f32 and 2^600 of them */
  static constexpr unsigned most = (1u << 14) - 1;
  __device__ static unsigned used(bool few) { return few ? digits - 1 : digits; } /* few: nothing overflows */
  uint32_t flags = 0;

  __device__ explicit Bins(char *shared) : column_(shared) {}

  __device__ void clear() {
#pragma unroll
    for (unsigned b = 0; b < digits; b++) column_.at<double>(b) = -0.0;
  }

  template <int Count> __device__ void add(const float (&x)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; i++) {
      double &bin = column_.at<double>(__float_as_uint(x[i]) >> 27 & 15);
      bin += static_cast<double>(x[i]);
    }
  }

  /* A multiple of 2^16 units, the next bin's unit, goes there: less than 2^38 of those, and bin 15 of 2^31 settlings
   * fits into the last one. */
  __device__ void settle() {
#pragma unroll 1
    for (unsigned b = 0; b + 1 < digits; b++) {
      double value = column_.at<double>(b), unit = power_of_two(static_cast<int>(step * b) - 150);
      if (!is_finite(value) || fabs(value) < 65536 * unit) continue;
      double magic = 1.5 * 0x1p68 * unit; /* one unit of its last place is 2^16 units */
      double upper = (value + magic) - magic;
      column_.at<double>(b + 1) += upper;
      column_.at<double>(b) = value - upper;
    }
  }

  __device__ void leave() {}

  /* The sum of a bin over the block's columns; called by a warp. Below 2^53 units in each column, 2^63 in all. */
  __device__ DigitSum sum_columns(unsigned b, bool few) {
    double scale = power_of_two(150 - static_cast<int>(step * b));
    int64_t units = 0;
    if (few) {
      double sum = -0.0;
#pragma unroll 8
      for (unsigned w = 0; w < column_.warps(); w++) sum += column_.other<double>(b, w);
      units = take(sum, scale);
    } else {
      for (unsigned w = 0; w < column_.warps(); w++) units += take(column_.other<double>(b, w), scale);
    }
    units = warp_sum(units);
    return {static_cast<uint32_t>(units), units >> 32};
  }

private:
  Column<digits> column_;

  __device__ int64_t take(double sum, double scale) {
    flags |= flags_of_sum(sum);
    return is_finite(sum) ? __double2ll_rn(sum * scale) : 0;
  }
};

/*
 * f16: all of its numbers are multiples of 2^-24 below 2^16, so that doubles in registers are exact for 2^13 of them.
 * The column's two digits of 32 bits take what they have summed up.
 */
class Halves {
public:
  using Value = float;
  static constexpr unsigned digits = 2;
  static constexpr unsigned step = 32;
  static constexpr unsigned lowest_bit = 2148 - 24;
  static constexpr unsigned first_digit = 62, groups = 1; /* an initial value is an f32 */
  static constexpr unsigned most = 1u << 13;
  __device__ static unsigned used(bool) { return digits; }
  uint32_t flags = 0;

  __device__ explicit Halves(char *shared) : column_(shared), even_(-0.0), odd_(-0.0) {}

  __device__ void clear() {
    column_.at<int64_t>(0) = 0;
    column_.at<int64_t>(1) = 0;
  }

  template <int Count> __device__ void add(const float (&x)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; i++) (i % 2 == 0 ? even_ : odd_) += static_cast<double>(x[i]);
  }

  __device__ void settle() {
    double sum = even_ + odd_;
    even_ = odd_ = -0.0;
    flags |= flags_of_sum(sum);
    if (!is_finite(sum)) return;
    int64_t units = __double2ll_rn(sum * 0x1p24);
    column_.at<int64_t>(0) += static_cast<uint32_t>(units);
    column_.at<int64_t>(1) += units >> 32;
  }

  __device__ void leave() {
    settle();
  }

  __device__ DigitSum sum_columns(unsigned digit, bool) {
    return sum_digits(column_, digit);
  }

private:
  Column<digits> column_;
  double even_, odd_;
};

} // namespace red

#endif
