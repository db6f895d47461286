/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of lower.h by the vector, and back. */
#ifndef RED_VEC_KEY_H
#define RED_VEC_KEY_H

#include "ops.h"

typedef struct key_constants {
  v_u8 flip, magnitude, inf, nan_key, nan_bits;
  bool merge_zeros;
} key_constants;

/* `flip` is xored into key_xor: all ones give the other end of the order. */
INLINE key_constants key_constants_of(const red_lowered *lowered, uint64_t flip, red_lane_op op) {
  const unsigned bytes = op_bytes(op);
  uint64_t inf = lowered->inf;
  key_constants k;
  k.flip = v_splat((red_state){.u64 = lowered->key_xor ^ flip}, bytes);
  k.magnitude = v_splat((red_state){.u64 = UINT64_MAX >> (65 - 8 * bytes)}, bytes);
  k.inf = v_splat((red_state){.u64 = inf}, bytes);
  k.nan_key = v_splat((red_state){.key = lowered->nan_key}, bytes);
  k.nan_bits = v_splat((red_state){.u64 = inf | (inf & ~(inf << 1)) >> 1}, bytes);
  k.merge_zeros = lowered->merge_zeros;
  return k;
}

/* All bits of a lane where it is negative: by its sign where there are such shifts. */
INLINE v_u8 lanes_negative(v_u8 x, unsigned bytes) {
  switch (bytes) {
  case 1:
    return (v_u8)((v_i8)x < 0);
  case 2:
    return (v_u8)((v_i16)x >> 15);
  case 4:
    return (v_u8)((v_i32)x >> 31);
  default:
    return VB == 64 ? (v_u8)((v_i64)x >> 63) : v_greater_i64((v_u8){0}, x);
  }
}

INLINE v_u8 lanes_greater(v_u8 a, v_u8 b, unsigned bytes) {
  switch (bytes) {
  case 1:
    return (v_u8)((v_i8)a > (v_i8)b);
  case 2:
    return (v_u8)((v_i16)a > (v_i16)b);
  case 4:
    return (v_u8)((v_i32)a > (v_i32)b);
  default:
    return v_greater_i64(a, b);
  }
}

INLINE v_u8 lanes_equal(v_u8 a, v_u8 b, unsigned bytes) {
  switch (bytes) {
  case 1:
    return (v_u8)(a == b);
  case 2:
    return (v_u8)((v_u16)a == (v_u16)b);
  case 4:
    return (v_u8)((v_u32)a == (v_u32)b);
  default:
    return (v_u8)((v_u64)a == (v_u64)b);
  }
}

/* Where lanes are equal, where greater: all bits of such lanes, unless the instruction set has something better. */
#ifndef HAVE_FOUND
typedef v_u8 v_found;
INLINE v_found v_equal(v_u8 a, v_u8 b, unsigned bytes) {
  return lanes_equal(a, b, bytes);
}
INLINE v_found v_greater(v_u8 a, v_u8 b, unsigned bytes) {
  return lanes_greater(a, b, bytes);
}
INLINE bool v_found_any(v_found found) {
  return v_any(found);
}
/* The first such element; there is one. */
INLINE size_t v_found_first(v_found found, unsigned bytes) {
  return v_first_set(found) / bytes;
}
#endif

INLINE v_u8 lanes_minus(v_u8 a, v_u8 b, unsigned bytes) {
  switch (bytes) {
  case 1:
    return a - b;
  case 2:
    return (v_u8)((v_u16)a - (v_u16)b);
  case 4:
    return (v_u8)((v_u32)a - (v_u32)b);
  default:
    return (v_u8)((v_u64)a - (v_u64)b);
  }
}

INLINE v_u8 v_key(const key_constants *k, v_u8 x, red_lane_op op) {
  const unsigned bytes = op_bytes(op);
  if (op < RED_MIN_F16) return x ^ k->flip;
  v_u8 magnitude = x & k->magnitude;
  v_u8 nan = lanes_greater(magnitude, k->inf, bytes);
  if (k->merge_zeros) x &= ~lanes_equal(magnitude, (v_u8){0}, bytes);
  v_u8 key = x ^ (lanes_negative(x, bytes) & k->magnitude) ^ k->flip;
  return v_select(nan, k->nan_key, key);
}

INLINE v_u8 v_unkey(const key_constants *k, v_u8 key, red_lane_op op) {
  const unsigned bytes = op_bytes(op);
  v_u8 x = key ^ k->flip;
  if (op < RED_MIN_F16) return x;
  x ^= lanes_negative(x, bytes) & k->magnitude;
  return v_select(lanes_equal(key, k->nan_key, bytes), k->nan_bits, x);
}

/* The key of one number, not a NaN. */
INLINE int64_t key_of_bits(const red_lowered *lowered, uint64_t flip, uint64_t bits, unsigned bytes) {
  const unsigned shift = 64 - 8 * bytes;
  const uint64_t magnitude = UINT64_MAX >> (shift + 1);
  if (lowered->merge_zeros && (bits & magnitude) == 0) bits = 0;
  if ((bits & ~magnitude) != 0) bits ^= magnitude;
  return (int64_t)((bits ^ lowered->key_xor ^ flip) << shift) >> shift;
}

#endif
