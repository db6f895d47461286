/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of any dtype as vectors of f64: exact, but for integers of 64 bits, which are rounded to nearest. */
#ifndef RED_VEC_WIDEN_H
#define RED_VEC_WIDEN_H

#include "key.h"

INLINE unsigned element_bytes(red_dtype in) {
  switch (in) {
  case RED_I8:
  case RED_U8:
    return 1;
  case RED_I16:
  case RED_U16:
  case RED_F16:
  case RED_BF16:
    return 2;
  case RED_I32:
  case RED_U32:
  case RED_F32:
    return 4;
  default:
    return 8;
  }
}

/* As many elements of a narrow type as a vector has lanes of 64 bits. */
#define NARROW_VECTOR(T, name, bytes)                                                                                  \
  typedef T few_##name __attribute__((vector_size(VB / 8 * bytes)));                                                   \
  INLINE few_##name load_few_##name(const void *p) {                                                                   \
    few_##name x;                                                                                                      \
    memcpy(&x, p, sizeof x);                                                                                           \
    return x;                                                                                                          \
  }
NARROW_VECTOR(int8_t, i8, 1)
NARROW_VECTOR(uint8_t, u8, 1)
NARROW_VECTOR(int16_t, i16, 2)
NARROW_VECTOR(uint16_t, u16, 2)
NARROW_VECTOR(int32_t, i32, 4)
#undef NARROW_VECTOR

INLINE v_f64 f64_from_few(few_i32 x) {
  return __builtin_convertvector(x, v_f64);
}

/* The upper half as a multiple of 2^32 and the lower one, each made exact by an exponent in front; one rounding. */
INLINE v_f64 f64_from_halves(v_u64 upper, v_u64 lower, double bias) {
  v_f64 high = (v_f64)(upper | 0x4530000000000000), low = (v_f64)(lower | 0x4330000000000000);
  return (high - bias) + low;
}

#ifndef HAVE_F64_FROM_64
INLINE v_f64 v_f64_from_u64(v_u64 x) {
  return f64_from_halves(x >> 32, x & 0xffffffff, 0x1.00000001p84);
}
INLINE v_f64 v_f64_from_i64(v_u64 x) {
  x ^= 0x8000000000000000;
  return f64_from_halves(x >> 32, x & 0xffffffff, 0x1.00000801p84);
}
#endif

/* VB / 8 elements at p. */
INLINE v_f64 load_f64(red_dtype in, const uint8_t *p) {
  switch (in) {
  case RED_I8:
    return f64_from_few(__builtin_convertvector(load_few_i8(p), few_i32));
  case RED_U8:
    return f64_from_few(__builtin_convertvector(load_few_u8(p), few_i32));
  case RED_I16:
    return f64_from_few(__builtin_convertvector(load_few_i16(p), few_i32));
  case RED_U16:
    return f64_from_few(__builtin_convertvector(load_few_u16(p), few_i32));
  case RED_I32:
    return f64_from_few(load_few_i32(p));
  case RED_U32: /* signed by a bias */
    return f64_from_few(load_few_i32(p) ^ INT32_MIN) + 0x1p31;
  case RED_I64:
    return v_f64_from_i64((v_u64)v_load(p));
  case RED_U64:
    return v_f64_from_u64((v_u64)v_load(p));
  case RED_F16:
    return v_f64_from_f16(p);
  case RED_BF16:
    return v_f64_from_bf16(p);
  case RED_F32:
    return v_f64_from_f32(p);
  default:
    return (v_f64)v_load(p);
  }
}

/* One element at p, by the same way. */
INLINE double element_f64(red_dtype in, const uint8_t *p) {
  uint8_t padded[VB] = {0};
  memcpy(padded, p, element_bytes(in));
  return load_f64(in, padded)[0];
}

#endif
