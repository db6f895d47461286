/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversions of tiles in cache, as plain loops for the compiler to vectorise, of f16 by the instruction set's own
 * instructions where it has some. Widening is exact; floats are narrowed by one rounding and NaNs come out canonical.
 */
#include "vector.h"

#include "kernels.h"

#include "kernels.def"

INLINE uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

INLINE float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* ---- One element ---- */

INLINE uint32_t i8_to_u32(int8_t x) {
  return (uint32_t)x;
}
INLINE uint32_t i16_to_u32(int16_t x) {
  return (uint32_t)x;
}
INLINE uint32_t u8_to_u32(uint8_t x) {
  return x;
}
INLINE uint32_t u16_to_u32(uint16_t x) {
  return x;
}
INLINE uint64_t i8_to_u64(int8_t x) {
  return (uint64_t)x;
}
INLINE uint64_t i16_to_u64(int16_t x) {
  return (uint64_t)x;
}
INLINE uint64_t i32_to_u64(int32_t x) {
  return (uint64_t)x;
}
INLINE uint64_t u8_to_u64(uint8_t x) {
  return x;
}
INLINE uint64_t u16_to_u64(uint16_t x) {
  return x;
}
INLINE uint64_t u32_to_u64(uint32_t x) {
  return x;
}
INLINE uint8_t u32_to_u8(uint32_t x) {
  return (uint8_t)x;
}
INLINE uint16_t u32_to_u16(uint32_t x) {
  return (uint16_t)x;
}
INLINE uint8_t u64_to_u8(uint64_t x) {
  return (uint8_t)x;
}
INLINE uint16_t u64_to_u16(uint64_t x) {
  return (uint16_t)x;
}
INLINE uint32_t u64_to_u32(uint64_t x) {
  return (uint32_t)x;
}

/* See v_f32_from_f16 in portable.h. */
INLINE float f16_to_f32(uint16_t half) {
  uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
  uint32_t value = bits_of(float_of((uint32_t)(half & 0x7fff) << 13) * 0x1p112f);
  return float_of(value | special | (uint32_t)(half & 0x8000) << 16);
}

INLINE float bf16_to_f32(uint16_t half) {
  return float_of((uint32_t)half << 16);
}
INLINE double f16_to_f64(uint16_t half) {
  return (double)f16_to_f32(half);
}
INLINE double bf16_to_f64(uint16_t half) {
  return (double)bf16_to_f32(half);
}
INLINE double f32_to_f64(float x) {
  return (double)x;
}

/*
 * Normal results: rebias the exponent and round the bits, a carry running into the exponent as it should. Subnormal
 * ones: adding a power of two whose unit is the smallest subnormal lets the machine round.
 */
INLINE uint16_t f32_to_f16(float x) {
  const uint32_t magic = (127u - 15 + 23 - 10 + 1) << 23;
  uint32_t magnitude = bits_of(x) & 0x7fffffff, sign = bits_of(x) >> 16 & 0x8000;
  uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t subnormal = bits_of(float_of(magnitude) + float_of(magic)) - magic;
  uint32_t bits = magnitude < 113u << 23 ? subnormal : normal;
  bits = magnitude >= 143u << 23 ? 0x7c00 : bits;
  return (uint16_t)(magnitude > 0x7f800000 ? 0x7e00 : bits | sign);
}

INLINE uint16_t f32_to_bf16(float x) {
  uint32_t bits = bits_of(x);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

INLINE float f64_to_f32(double x) {
  return x != x ? float_of(0x7fc00000) : (float)x;
}

/* Round to odd: the neighbour with the odd last bit when inexact, so that a second, shorter rounding is the only one.
 */
INLINE float f64_to_f32_odd(double x) {
  float nearest = (float)x;
  double back = (double)nearest;
  uint32_t bits = bits_of(nearest);
  uint32_t beyond = (back < 0 ? -back : back) > (x < 0 ? -x : x);
  uint32_t odd = (bits - beyond) | 1;
  return float_of(back != x && x == x ? odd : bits);
}

INLINE uint16_t f64_to_f16(double x) {
  return f32_to_f16(f64_to_f32_odd(x));
}
INLINE uint16_t f64_to_bf16(double x) {
  return f32_to_bf16(f64_to_f32_odd(x));
}

/* ---- Arrays ---- */

typedef u16_unaligned f16_unaligned;
typedef u16_unaligned bf16_unaligned;

#define KERNEL(from, to)                                                                                               \
  void ISA(convert_##from##_##to)(const void *in, void *out, size_t n) {                                               \
    const from##_unaligned *restrict x = in;                                                                           \
    to##_unaligned *restrict y = out;                                                                                  \
    for (size_t i = 0; i < n; i++) y[i] = from##_to_##to(x[i]);                                                        \
  }
RED_CONVERSIONS(KERNEL)
#if !defined(HAVE_STORE_F16)
RED_F16_CONVERSIONS(KERNEL)
#endif
#undef KERNEL

#if defined(HAVE_STORE_F16)
INLINE void v_store_f32(uint8_t *p, v_f32 x) {
  v_store(p, (v_u8)x);
}
INLINE v_f32 v_f32_from_f32(const uint8_t *p) {
  return (v_f32)v_load(p);
}

#define KERNEL(from, to)                                                                                               \
  void ISA(convert_##from##_##to)(const void *in, void *out, size_t n) {                                               \
    const from##_unaligned *restrict x = in;                                                                           \
    to##_unaligned *restrict y = out;                                                                                  \
    const size_t lanes = VB / 4;                                                                                       \
    for (; n >= lanes; n -= lanes, x += lanes, y += lanes)                                                             \
      v_store_##to((uint8_t *)y, v_f32_from_##from((const uint8_t *)x));                                               \
    for (size_t i = 0; i < n; i++) y[i] = from##_to_##to(x[i]);                                                        \
  }
RED_F16_CONVERSIONS(KERNEL)
#undef KERNEL
#endif

#define KERNEL(suffix, bytes)                                                                                          \
  void ISA(flags_##suffix)(const void *in, uint8_t *out, size_t n, uint64_t mask_bits) {                               \
    const u##suffix##_unaligned *restrict x = in;                                                                      \
    const uint##suffix##_t mask = (uint##suffix##_t)mask_bits;                                                         \
    uint8_t *restrict y = out;                                                                                         \
    for (size_t i = 0; i < n; i++) y[i] = (x[i] & mask) != 0;                                                          \
  }
RED_WIDTHS(KERNEL)
