/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of digits of radix 2^52 for doubles, and for products of two of them: a thread's own long integer in shared
 * memory, in units of the smallest subnormal (products: of its square). A number's bits, shifted to their place, change
 * two digits, a product's three, by less than 2^53 at most; settle() carries before a digit can leave an int64.
 */
#ifndef RED_CUDA_EXACT_DIGITS_CUH
#define RED_CUDA_EXACT_DIGITS_CUH

#include "exact_column.cuh"

namespace red {

constexpr unsigned radix = 52;
constexpr int64_t digit_mask = (1ll << radix) - 1;

/* A finite double is significand * 2^bit of the smallest subnormal, below 0 if `sign` is -1. */
struct Parts {
  uint64_t significand;
  unsigned bit;
  int32_t sign;
  __device__ explicit Parts(double x) {
    uint32_t high = static_cast<uint32_t>(__double2hiint(x)), low = static_cast<uint32_t>(__double2loint(x));
    unsigned exponent = high >> 20 & 0x7ff, hidden;
    asm("min.u32 %0, %1, 1;" : "=r"(hidden) : "r"(exponent)); /* min() would become two selections */
    uint32_t upper = (high & 0xfffff) + hidden * 0x100000;
    significand = static_cast<uint64_t>(upper) << 32 | low;
    bit = exponent - hidden;
    sign = static_cast<int32_t>(high) >> 31;
  }
};

/* The sign in both words, so that it need not be extended. */
__device__ inline int64_t with_sign(uint64_t magnitude, int32_t sign) {
  uint64_t both = static_cast<uint64_t>(static_cast<uint32_t>(sign)) << 32 | static_cast<uint32_t>(sign);
  return static_cast<int64_t>((magnitude ^ both) - both);
}

/* bit / 52 for every bit up to 4090, by multiplication: 2^26 + 12 is a multiple of 52. */
__device__ inline unsigned digit_of(unsigned bit) {
  return __umulhi(bit, 82595525u);
}

template <unsigned Digits> class DigitColumn {
public:
  __device__ static unsigned used(bool) { return Digits; }
  uint32_t flags = 0;

  __device__ explicit DigitColumn(char *shared) : column_(shared) {}

  __device__ void clear() {
#pragma unroll 8
    for (unsigned d = 0; d < Digits; d++) column_.template at<int64_t>(d) = 0;
  }

  /* Let all digits but the highest lie in [0, 2^52). */
  __device__ void settle() {
    int64_t carry = 0;
#pragma unroll 4
    for (unsigned d = 0; d + 1 < Digits; d++) {
      int64_t digit = column_.template at<int64_t>(d) + carry;
      column_.template at<int64_t>(d) = digit & digit_mask;
      carry = digit >> radix;
    }
    column_.template at<int64_t>(Digits - 1) += carry;
  }

  __device__ void leave() {
    flags |= witness_.flags();
  }

  __device__ DigitSum sum_columns(unsigned digit, bool) {
    DigitSum sum = sum_digits(column_, digit);
    /* Columns that cancel each other have a positive number among them, which its thread has seen. */
    if (sum.low != 0 || sum.high != 0) flags |= RED_EXACT_NOT_MINUS_ZERO;
    return sum;
  }

protected:
  Column<Digits> column_;
  Witness<double> witness_;
};

/* Doubles: the highest bit is 2045 + 52, and 2^11 - 2 numbers may come between settlings. */
class Digits : public DigitColumn<41> {
public:
  using Value = double;
  static constexpr unsigned digits = 41;
  static constexpr unsigned step = radix;
  static constexpr unsigned lowest_bit = RED_EXACT_F64;
  static constexpr unsigned first_digit = 33, groups = 3;
  static constexpr unsigned most = (1u << 11) - 2;
  using DigitColumn<41>::DigitColumn;

  template <int Count> __device__ void add(const double (&x)[Count]) {
    witness_.see(x, flags);
#pragma unroll
    for (int i = 0; i < Count; i++) add_finite(x[i]);
  }

private:
  __device__ void add_finite(double x) {
    Parts p(x);
    unsigned d = digit_of(p.bit), shift = p.bit - radix * d;
    int64_t significand = with_sign(p.significand, p.sign);
    column_.at<int64_t>(d) += static_cast<int64_t>(static_cast<uint64_t>(significand) << shift) & digit_mask;
    column_.at<int64_t>(d + 1) += significand >> (radix - shift);
  }
};

struct Factors {
  double x, y;
};

/* Products of two doubles: 106 bits, cut at 52; a digit changes by at most 2^53, and bit 4090 is one of digit 78. */
class Products : public DigitColumn<82> {
public:
  using Value = Factors;
  static constexpr unsigned digits = 82;
  static constexpr unsigned step = radix;
  static constexpr unsigned lowest_bit = 0;
  static constexpr unsigned first_digit = 0, groups = 5;
  static constexpr unsigned most = (1u << 10) - 2;
  using DigitColumn<82>::DigitColumn;

  template <int Count> __device__ void add(const Factors (&v)[Count]) {
    double zero = -0.0;
#pragma unroll
    for (int i = 0; i < Count; i++) zero += (v[i].x * 0.0) * v[i].y; /* of the product's sign, or a NaN */
    if (zero == 0)
      witness_.see_zero(zero);
    else
      see_special(v);
#pragma unroll
    for (int i = 0; i < Count; i++) add_finite(v[i]);
  }

private:
  __device__ void add_finite(Factors v) {
    Parts x(v.x), y(v.y);
    const int32_t sign = x.sign ^ y.sign;
    uint64_t low = x.significand * y.significand; /* and above bit 52: */
    uint64_t high = __umul64hi(x.significand << (64 - radix) / 2, y.significand << (64 - radix) / 2);
    int64_t lower = with_sign(low & digit_mask, sign), upper = with_sign(high, sign);
    unsigned bit = x.bit + y.bit, d = digit_of(bit), shift = bit - radix * d;
    int64_t middle = lower >> (radix - shift);
    column_.at<int64_t>(d) += static_cast<int64_t>(static_cast<uint64_t>(lower) << shift) & digit_mask;
    column_.at<int64_t>(d + 1) += middle + (static_cast<int64_t>(static_cast<uint64_t>(upper) << shift) & digit_mask);
    column_.at<int64_t>(d + 2) += upper >> (radix - shift);
  }

  template <int Count> __device__ void see_special(const Factors (&v)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; i++)
      if (is_special(v[i].x) || is_special(v[i].y)) flags |= flags_of_special(v[i].x * v[i].y);
  }
};

} // namespace red

#endif
