/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans for minima, maxima and products, for large arrays on compute capability 9.0 and above. Minima are the least of
 * signed keys (core/lower.h), from which the element is made again.
 */
#include <type_traits>

#include "scan_pipe.cuh"

namespace red {

struct Lesser {
  template <class T> __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};

template <class Bits, bool Float> struct Least {
  using Element = Bits;
  using Output = Bits;
  using Signed = std::make_signed_t<Bits>;
  using T = std::conditional_t<sizeof(Bits) == 8, int64_t, int32_t>;
  using Op = Lesser;
  static constexpr int V = 16 / sizeof(Bits);
  static constexpr Bits positive = static_cast<Bits>(~0ull >> (65 - 8 * sizeof(Bits)));
  Bits flip, inf;
  Signed nan;
  __device__ explicit Least(const red_cuda_element &e)
      : flip(static_cast<Bits>(e.key_xor)), inf(static_cast<Bits>(e.inf)), nan(static_cast<Signed>(e.nan_key)) {}
  __device__ Op op() const { return Op(); }
  __device__ T identity() const { return static_cast<T>(positive); }
  __device__ T widen(Bits bits) const {
    if (!Float) return static_cast<Signed>(bits ^ flip);
    const Bits magnitude = bits & positive, key = (bits != magnitude ? bits ^ positive : bits) ^ flip;
    return magnitude > inf ? nan : static_cast<Signed>(key);
  }
  __device__ Bits narrow(T key) const {
    const Bits bits = static_cast<Bits>(key) ^ flip;
    if (!Float) return bits;
    if (key == nan) return static_cast<Bits>(quiet_nan(inf));
    return (bits & positive) != bits ? bits ^ positive : bits;
  }
};

template <class Sums> struct Products : Sums {
  using Sums::Sums;
  using Op = Prod;
  __device__ Op op() const { return Op(); }
  __device__ typename Sums::T identity() const { return 1; }
};

using LeastI8 = Least<uint8_t, false>;
using LeastI16 = Least<uint16_t, false>;
using LeastI32 = Least<uint32_t, false>;
using LeastI64 = Least<uint64_t, false>;
using LeastHalf = Least<uint16_t, true>;
using LeastF32 = Least<uint32_t, true>;
using LeastF64 = Least<uint64_t, true>;

} // namespace red

SCAN_PIPE(scan_pipe_min_i8, LeastI8)
SCAN_PIPE(scan_pipe_min_i16, LeastI16)
SCAN_PIPE(scan_pipe_min_i32, LeastI32)
SCAN_PIPE(scan_pipe_min_i64, LeastI64)
SCAN_PIPE(scan_pipe_min_half, LeastHalf)
SCAN_PIPE(scan_pipe_min_f32, LeastF32)
SCAN_PIPE(scan_pipe_min_f64, LeastF64)

SCAN_PIPE(scan_pipe_prod_f16, Products<red::SumF16>)
SCAN_PIPE(scan_pipe_prod_bf16, Products<red::SumBF16>)
SCAN_PIPE(scan_pipe_prod_f32, Products<red::SumF32>)
SCAN_PIPE(scan_pipe_prod_f64, Products<red::SumF64>)
