/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread's column of 64-bit digits in shared memory, and their sums over a block's columns. */
#ifndef RED_CUDA_EXACT_COLUMN_CUH
#define RED_CUDA_EXACT_COLUMN_CUH

#include <red/device/cuda/warp.cuh>

#include "exact_round.h"

namespace red {

/*
 * Digit i of a warp's lanes is a row of 256 bytes, and a warp has its rows one after the other: whatever digits its
 * lanes need, they find them in different banks, and the next digit is at a constant distance.
 */
template <unsigned Digits> class Column {
public:
  __device__ explicit Column(char *shared)
      : shared_(shared), own_(shared + threadIdx.x / 32 * bytes + threadIdx.x % 32 * 8) {}
  template <class T> __device__ T &at(unsigned digit) const { return *reinterpret_cast<T *>(own_ + digit * row); }
  /* The same lane's digit in another warp. */
  template <class T> __device__ T other(unsigned digit, unsigned warp) const {
    return *reinterpret_cast<const T *>(shared_ + warp * bytes + threadIdx.x % 32 * 8 + digit * row);
  }
  __device__ unsigned warps() const { return blockDim.x / 32; }

private:
  static constexpr unsigned row = 256, bytes = Digits * row;
  char *shared_, *own_;
};

/* The sum of a digit over the columns: low + 2^32 high, in every lane. */
struct DigitSum {
  uint64_t low; /* below 2^32 */
  int64_t high; /* below 2^42, either way */
};

__device__ inline int64_t warp_sum(int64_t x) {
#pragma unroll
  for (unsigned h = 16; h > 0; h /= 2) x += warp_xor(x, h);
  return x;
}

/* Columns of any int64: at most 2^10 of them. */
template <unsigned Digits> __device__ inline DigitSum sum_digits(const Column<Digits> &column, unsigned digit) {
  int64_t low = 0, high = 0;
#pragma unroll 7
  for (unsigned w = 0; w < column.warps(); w++) {
    int64_t value = column.template other<int64_t>(digit, w);
    low += static_cast<uint32_t>(value);
    high += value >> 32;
  }
  low = warp_sum(low);
  high = warp_sum(high) + (low >> 32);
  return {static_cast<uint32_t>(low), high};
}

} // namespace red

#endif
