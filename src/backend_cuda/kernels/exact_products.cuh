/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns for products of two f32: bins of 96 bits, one for each 32 bits of the long integer. A product has 48 bits and
 * lies in one of them, shifted by less than 32: fewer accesses than to two digits of 64 bits, and one address.
 */
#ifndef RED_CUDA_EXACT_PRODUCTS_CUH
#define RED_CUDA_EXACT_PRODUCTS_CUH

#include "exact_column.cuh"

namespace red {

struct FloatFactors {
  float x, y;
};

/* A bin's lower 64 bits and its upper 32 lie apart. */
struct Bits96 {
  uint64_t low;
  uint32_t high;

  __device__ void add(uint64_t other_low, uint32_t other_high) {
    uint32_t a = static_cast<uint32_t>(low), b = static_cast<uint32_t>(low >> 32);
    asm("add.cc.u32 %0, %0, %3;\n\taddc.cc.u32 %1, %1, %4;\n\taddc.u32 %2, %2, %5;"
        : "+r"(a), "+r"(b), "+r"(high)
        : "r"(static_cast<uint32_t>(other_low)), "r"(static_cast<uint32_t>(other_low >> 32)), "r"(other_high));
    low = static_cast<uint64_t>(b) << 32 | a;
  }
};

/* A finite float is significand * 2^bit of the smallest subnormal. */
struct FloatParts {
  uint32_t significand, bit;
  __device__ explicit FloatParts(float x) {
    uint32_t bits = __float_as_uint(x), exponent = bits >> 23 & 0xff, hidden;
    asm("min.u32 %0, %1, 1;" : "=r"(hidden) : "r"(exponent)); /* as in Parts */
    significand = (bits & 0x7fffff) + hidden * 0x800000;
    bit = exponent - hidden;
  }
};

class FloatProducts {
public:
  using Value = FloatFactors;
  static constexpr unsigned digits = 18; /* the last two only take what the others overflow with */
  static constexpr unsigned step = 32;
  static constexpr unsigned lowest_bit = 2148 - 2 * 149;
  static constexpr unsigned first_digit = 57, groups = 1;
  static constexpr unsigned most = 1u << 15; /* each changes a bin by less than 2^79 */
  __device__ static unsigned used(bool) { return digits; }
  uint32_t flags = 0;

  __device__ explicit FloatProducts(char *shared) : low_(shared), high_(shared + blockDim.x / 32 * LowColumn::bytes) {}

  __device__ void clear() {
#pragma unroll
    for (unsigned d = 0; d < digits; d++) put(d, {0, 0});
  }

  template <int Count> __device__ void add(const FloatFactors (&v)[Count]) {
    float zero = -0.0f;
#pragma unroll
    for (int i = 0; i < Count; i++) zero += (v[i].x * 0.0f) * v[i].y; /* of the product's sign, or a NaN */
    if (zero == 0)
      witness_.see_zero(zero);
    else
      see_special(v);
#pragma unroll
    for (int i = 0; i < Count; i++) add_finite(v[i]);
  }

  /* Leave 32 bits in each bin but the last. */
  __device__ void settle() {
    int64_t carry = 0;
#pragma unroll 1
    for (unsigned d = 0; d + 1 < digits; d++) {
      Bits96 bin = get(d);
      bin.add(static_cast<uint64_t>(carry), carry < 0 ? 0xffffffffu : 0);
      carry = static_cast<int64_t>(static_cast<uint64_t>(bin.high) << 32 | bin.low >> 32);
      put(d, {static_cast<uint32_t>(bin.low), 0});
    }
    Bits96 last = get(digits - 1);
    last.low += static_cast<uint64_t>(carry);
    put(digits - 1, last);
  }

  __device__ void leave() {
    flags |= witness_.flags();
    settle();
  }

  /* Of settled columns: 32 bits without a sign, of the last one fewer than 2^50 either way. */
  __device__ DigitSum sum_columns(unsigned digit, bool) {
    int64_t sum = 0;
    for (unsigned w = 0; w < low_.warps(); w++) sum += low_.other<int64_t>(digit, w);
    sum = warp_sum(sum);
    if (sum != 0) flags |= RED_EXACT_NOT_MINUS_ZERO; /* as DigitColumn has it */
    return {static_cast<uint32_t>(sum), sum >> 32};
  }

private:
  using LowColumn = Column<digits, 8>;
  LowColumn low_;
  Column<digits, 4> high_;
  Witness<float> witness_;

  __device__ Bits96 get(unsigned d) const {
    return {low_.at<uint64_t>(d), high_.at<uint32_t>(d)};
  }
  __device__ void put(unsigned d, Bits96 bin) {
    low_.at<uint64_t>(d) = bin.low;
    high_.at<uint32_t>(d) = bin.high;
  }

  __device__ void add_finite(FloatFactors v) {
    FloatParts x(v.x), y(v.y);
    int32_t sign = (__float_as_int(v.x) ^ __float_as_int(v.y)) >> 31;
    int64_t product = static_cast<int64_t>(static_cast<int32_t>(x.significand)) *
                      ((static_cast<int32_t>(y.significand) ^ sign) - sign);
    uint32_t bit = x.bit + y.bit, low = static_cast<uint32_t>(product), high = static_cast<uint32_t>(product >> 32);
    uint32_t above = static_cast<uint32_t>(static_cast<int32_t>(high) >> 31);
    uint32_t word[3] = {low << bit % 32, __funnelshift_l(low, high, bit), __funnelshift_l(high, above, bit)};
    uint64_t &low_part = low_.beyond<uint64_t>(bit / 32 * 256);
    uint32_t &high_part = high_.beyond<uint32_t>(bit / 32 * 128);
    Bits96 bin = {low_part, high_part};
    bin.add(static_cast<uint64_t>(word[1]) << 32 | word[0], word[2]);
    low_part = bin.low;
    high_part = bin.high;
  }

  template <int Count> __device__ void see_special(const FloatFactors (&v)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; i++)
      if (is_special(v[i].x) || is_special(v[i].y)) flags |= flags_of_special(v[i].x * v[i].y);
  }
};

} // namespace red

#endif
