/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns for bf16, given as f32: bins of 32 bits, one for each of eight binades. The access to shared memory decides
 * the speed, and these are half as wide as those of f32.
 *
 * Bin b counts units of 2^(8 b - 134), and a number of that bin is less than 2^15 of them, a whole number as it has no
 * more than 8 significant bits. How many is read off the last places of its sum with a large number, to which it is
 * scaled.
 */
#ifndef RED_CUDA_EXACT_NARROW_CUH
#define RED_CUDA_EXACT_NARROW_CUH

#include "exact_column.cuh"

namespace red {

class NarrowBins {
public:
  using Value = float;
  static constexpr unsigned bins = 34; /* the last two only take what the others overflow with */
  static constexpr unsigned digits = (bins + 3) / 4;
  static constexpr unsigned step = 32;
  static constexpr unsigned lowest_bit = 2148 - 134;
  static constexpr unsigned first_digit = 62, groups = 1; /* of the long integer: f32, as initial values are */
  static constexpr unsigned most = 1u << 15;
  __device__ static unsigned used(bool) { return digits; }
  uint32_t flags = 0;

  __device__ explicit NarrowBins(char *shared) : column_(shared) {}

  __device__ void clear() {
#pragma unroll 8
    for (unsigned b = 0; b < bins; b++) column_.at<int32_t>(b) = 0;
  }

  template <int Count> __device__ void add(const float (&x)[Count]) {
    witness_.see(x, flags);
#pragma unroll
    for (int i = 0; i < Count; i++) {
      /* The exponent's upper bits, complemented: 2^(126 - 8 b), and the row of bin b as rows are laid out. */
      uint32_t scale = (~__float_as_uint(x[i]) & 0x7c000000u) | 0x02800000u;
      float sum = __fmaf_rn(x[i], __uint_as_float(scale), large);
      int32_t &bin = column_.beyond<int32_t>((scale >> 19) - (0x02800000u >> 19));
      bin += __float_as_int(sum) - __float_as_int(large);
    }
  }

  /* Leave eight bits in each bin but the last. */
  __device__ void settle() {
#pragma unroll 1
    for (unsigned b = 0; b + 1 < bins; b++) {
      int32_t &bin = column_.at<int32_t>(row_of(b));
      column_.at<int32_t>(row_of(b + 1)) += bin >> 8;
      bin &= 255;
    }
  }

  __device__ void leave() {
    flags |= witness_.flags();
  }

  /* Four bins are a digit. */
  __device__ DigitSum sum_columns(unsigned digit, bool) {
    int64_t low = 0, high = 0;
    for (unsigned w = 0; w < column_.warps(); w++) {
      int64_t value = 0;
#pragma unroll
      for (unsigned b = 0; b < 4; b++)
        if (4 * digit + b < bins)
          value += static_cast<int64_t>(column_.other<int32_t>(row_of(4 * digit + b), w)) * (1 << 8 * b);
      low += static_cast<uint32_t>(value);
      high += value >> 32;
    }
    low = warp_sum_short(low);
    high = warp_sum_short(high);
    if (high != 0 || low != 0) flags |= RED_EXACT_NOT_MINUS_ZERO; /* as DigitColumn has it */
    return {static_cast<uint64_t>(low), high};
  }

private:
  Column<bins, 4> column_;
  Witness<float> witness_;
  static constexpr float large = 1.5f * (1u << 15); /* a unit, scaled, is one of its last place */

  __device__ static unsigned row_of(unsigned bin) {
    return bin < 32 ? 31 - bin : bin;
  }
};

} // namespace red

#endif
