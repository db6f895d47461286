/* SPDX-License-Identifier: BSD-2-Clause */
/* From the bits of elements to states and from states to the bits of outputs: the device's half of core/state.c. */
#ifndef RED_CUDA_CONVERT_CUH
#define RED_CUDA_CONVERT_CUH

#include "lower.h"

#include "args.h"

namespace red {

__device__ inline uint64_t low_bits(unsigned bytes) {
  return ~0ull >> (64 - 8 * bytes);
}

__device__ inline int64_t sign_extend(uint64_t bits, unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  return static_cast<int64_t>(bits << shift) >> shift;
}

/* ---- Half precision ------------------------------------------------------------------------------------------------
 */

__device__ inline float f16_to_f32(uint16_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}

__device__ inline float bf16_to_f32(uint16_t half) {
  return __uint_as_float(static_cast<uint32_t>(half) << 16);
}

/* In one conversion, where there is one. */
__device__ inline double f16_to_f64(uint16_t half) {
#if __CUDA_ARCH__ >= 900
  double value;
  asm("cvt.f64.f16 %0, %1;" : "=d"(value) : "h"(half));
  return value;
#else
  return static_cast<double>(f16_to_f32(half));
#endif
}

__device__ inline double bf16_to_f64(uint16_t half) {
#if __CUDA_ARCH__ >= 900
  double value;
  asm("cvt.f64.bf16 %0, %1;" : "=d"(value) : "h"(half));
  return value;
#else
  return static_cast<double>(bf16_to_f32(half));
#endif
}

__device__ inline uint16_t f32_to_f16(float value) {
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return value != value ? static_cast<uint16_t>(0x7e00) : half;
}

/* To nearest, ties to even, in integers: sm_75 has no instruction for it. A carry moves into the exponent. */
__device__ inline uint16_t f32_to_bf16(float value) {
  uint32_t bits = __float_as_uint(value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return static_cast<uint16_t>(value != value ? 0x7fc0u : rounded);
}

/* Rounding to odd keeps what a second rounding to half the width needs to know. */
__device__ inline float round_to_odd(double value) {
  float cut = __double2float_rz(value);
  bool inexact = static_cast<double>(cut) != value;
  return value == value && inexact ? __uint_as_float(__float_as_uint(cut) | 1u) : cut;
}

__device__ inline uint16_t narrow_f16(float value) {
  return f32_to_f16(value);
}
__device__ inline uint16_t narrow_f16(double value) {
  return f32_to_f16(round_to_odd(value));
}
__device__ inline uint16_t narrow_bf16(float value) {
  return f32_to_bf16(value);
}
__device__ inline uint16_t narrow_bf16(double value) {
  return f32_to_bf16(round_to_odd(value));
}

__device__ inline uint32_t canonical_bits(float value) {
  return value != value ? 0x7fc00000u : __float_as_uint(value);
}
__device__ inline uint64_t canonical_bits(double value) {
  return value != value ? 0x7ff8000000000000ull : static_cast<uint64_t>(__double_as_longlong(value));
}

/* A float as the bits of any float dtype, rounded once. */
template <class T> __device__ inline uint64_t float_bits(unsigned out, T value) {
  switch (out) {
  case RED_F16:
    return narrow_f16(value);
  case RED_BF16:
    return narrow_bf16(value);
  case RED_F32:
    return canonical_bits(static_cast<float>(value));
  default:
    return canonical_bits(static_cast<double>(value));
  }
}

/* As in core/odd.h: `residual` has the sign of what is missing from `nearest`, or is zero. */
__device__ inline double round_to_odd(double nearest, double residual) {
  if (residual == 0 || !isfinite(nearest)) return nearest;
  uint64_t beyond = signbit(nearest) != signbit(residual); /* rounded away from zero */
  uint64_t bits = static_cast<uint64_t>(__double_as_longlong(nearest));
  return __longlong_as_double(static_cast<long long>((bits - beyond) | 1));
}

/* As core/state.c finishes them: where the output is narrower, its rounding is to be the only one. */
__device__ inline double mean(double sum, uint64_t count, bool narrower) {
  double n = __ull2double_rn(count), quotient = __ddiv_rn(sum, n);
  return narrower ? round_to_odd(quotient, __fma_rn(-quotient, n, sum)) : quotient;
}

__device__ inline double root(double sum, bool narrower) {
  double nearest = __dsqrt_rn(sum);
  return narrower ? round_to_odd(nearest, __fma_rn(-nearest, nearest, sum)) : nearest;
}

/* The bits of a float dtype as T, exactly (T is at least as wide). */
template <class T> __device__ inline T float_value(unsigned in, uint64_t bits) {
  switch (in) {
  case RED_F16:
    return static_cast<T>(f16_to_f32(static_cast<uint16_t>(bits)));
  case RED_BF16:
    return static_cast<T>(bf16_to_f32(static_cast<uint16_t>(bits)));
  case RED_F32:
    return static_cast<T>(__uint_as_float(static_cast<uint32_t>(bits)));
  default:
    return static_cast<T>(__longlong_as_double(static_cast<long long>(bits)));
  }
}

/* ---- Keys ----------------------------------------------------------------------------------------------------------
 */

/* Bits zero-extended; the same function as red_key. */
__device__ inline int64_t key_of(const red_cuda_element &e, uint64_t bits) {
  if (e.in_float) {
    uint64_t positive = low_bits(e.in_bytes) >> 1;
    uint64_t magnitude = bits & positive;
    if (magnitude > e.inf) return e.nan_key;
    if (e.merge_zeros && magnitude == 0) bits = 0;
    if (bits != magnitude) bits ^= positive;
  }
  return sign_extend(bits ^ e.key_xor, e.in_bytes);
}

__device__ inline uint64_t quiet_nan(uint64_t inf) {
  return inf | (inf & ~(inf << 1)) >> 1;
}

__device__ inline uint64_t bits_of_key(const red_cuda_element &e, int64_t key) {
  if (e.in_float && key == e.nan_key) return quiet_nan(e.inf);
  uint64_t all = low_bits(e.in_bytes);
  uint64_t bits = (static_cast<uint64_t>(key) & all) ^ e.key_xor;
  return e.in_float && (bits & ~(all >> 1)) != 0 ? bits ^ all >> 1 : bits;
}

/* ---- Outputs -------------------------------------------------------------------------------------------------------
 */

/* An integer as the accumulator's dtype holds it, extended to 64 bits. */
__device__ inline uint64_t integer_value(const red_cuda_element &e, uint64_t bits) {
  bits &= low_bits(e.acc_bytes);
  return e.acc_signed ? static_cast<uint64_t>(sign_extend(bits, e.acc_bytes)) : bits;
}

/* The output's bits of a state (as in core/state.h) of the families whose order is free; init is in it. */
__device__ inline uint64_t output_bits(const red_cuda_element &e, uint64_t state, uint64_t index, uint64_t count) {
  uint64_t bits = state;
  if (e.family == RED_FAMILY_MIN) {
    bits = bits_of_key(e, static_cast<int64_t>(state));
    if (e.in_float) return float_bits(e.out, float_value<double>(e.in, bits));
  } else if (e.family == RED_FAMILY_ARGMIN) {
    bool nothing = e.nan_skip && static_cast<int64_t>(state) == e.nan_key;
    return nothing ? ~0ull : index;
  } else if (e.finish == RED_FINISH_ALL) {
    bits = state == count;
  } else if (e.finish == RED_FINISH_ANY) {
    bits = state > 0;
  }
  return integer_value(e, bits);
}

__device__ inline void store_bits(void *at, uint64_t bits, unsigned bytes) {
  switch (bytes) {
  case 1:
    *static_cast<uint8_t *>(at) = static_cast<uint8_t>(bits);
    break;
  case 2:
    *static_cast<uint16_t *>(at) = static_cast<uint16_t>(bits);
    break;
  case 4:
    *static_cast<uint32_t *>(at) = static_cast<uint32_t>(bits);
    break;
  default:
    *static_cast<uint64_t *>(at) = bits;
    break;
  }
}

__device__ inline uint64_t load_bits(const void *at, unsigned bytes) {
  switch (bytes) {
  case 1:
    return *static_cast<const uint8_t *>(at);
  case 2:
    return *static_cast<const uint16_t *>(at);
  case 4:
    return *static_cast<const uint32_t *>(at);
  default:
    return *static_cast<const uint64_t *>(at);
  }
}

/* a op b for the states of the families whose order is free, ARGMIN apart. */
__device__ inline uint64_t merge_words(unsigned family, uint64_t a, uint64_t b) {
  switch (family) {
  case RED_FAMILY_MUL:
    return a * b;
  case RED_FAMILY_MIN:
    return static_cast<int64_t>(b) < static_cast<int64_t>(a) ? b : a;
  case RED_FAMILY_AND:
    return a & b;
  case RED_FAMILY_OR:
    return a | b;
  case RED_FAMILY_XOR:
    return a ^ b;
  default:
    return a + b;
  }
}

} // namespace red

#endif
