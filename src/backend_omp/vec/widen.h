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

#ifndef HAVE_F64_FROM_NARROW
/* The lower two lanes. */
#ifndef HAVE_F64_FROM_LOW_I32
INLINE v_f64 v_f64_from_low_i32(v_i32 x) {
  return (v_f64){(double)x[0], (double)x[1]};
}
#endif

/* VB / 8 integers at p; here VB is 16. */
INLINE v_i32 load_low_i32(const void *p) {
  return (v_i32)(v_u64){*(const u64_unaligned *)p};
}
INLINE v_f64 v_f64_from_i32(const void *p) {
  return v_f64_from_low_i32(load_low_i32(p));
}
INLINE v_f64 v_f64_from_u32(const void *p) { /* signed by a bias */
  return v_f64_from_low_i32(load_low_i32(p) ^ INT32_MIN) + 0x1p31;
}
#define FROM_NARROW(name)                                                                                              \
  INLINE v_f64 v_f64_from_##name(const void *p) {                                                                      \
    const name##_unaligned *x = p;                                                                                     \
    return v_f64_from_low_i32((v_i32){x[0], x[1]});                                                                    \
  }
FROM_NARROW(i8)
FROM_NARROW(u8)
FROM_NARROW(i16)
FROM_NARROW(u16)
#undef FROM_NARROW
#endif

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
    return v_f64_from_i8(p);
  case RED_U8:
    return v_f64_from_u8(p);
  case RED_I16:
    return v_f64_from_i16(p);
  case RED_U16:
    return v_f64_from_u16(p);
  case RED_I32:
    return v_f64_from_i32(p);
  case RED_U32:
    return v_f64_from_u32(p);
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
