/* SPDX-License-Identifier: BSD-2-Clause */
/* The even and the odd elements of a vector of integers in lanes twice as wide. */
#ifndef RED_VEC_HALVES_H
#define RED_VEC_HALVES_H

#include "vector.h"

INLINE v_u16 even_bytes(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u16)((v_i16)((v_u16)x << 8) >> 8);
  return (v_u16)x & 0xff;
}
INLINE v_u16 odd_bytes(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u16)((v_i16)x >> 8);
  return (v_u16)x >> 8;
}
INLINE v_u32 even_halfwords(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u32)((v_i32)((v_u32)x << 16) >> 16);
  return (v_u32)x & 0xffff;
}
INLINE v_u32 odd_halfwords(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u32)((v_i32)x >> 16);
  return (v_u32)x >> 16;
}

#endif
