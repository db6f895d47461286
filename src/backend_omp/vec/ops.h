/* SPDX-License-Identifier: BSD-2-Clause */
/* How lanes combine: one switch, resolved at compile time wherever a kernel names its operation. */
#ifndef RED_VEC_OPS_H
#define RED_VEC_OPS_H

#include "kernels.h"
#include "vector.h"

INLINE unsigned op_bytes(red_lane_op op) {
  switch (op) {
  case RED_MIN_I8:
  case RED_AND_U8:
  case RED_OR_U8:
  case RED_XOR_U8:
    return 1;
  case RED_MIN_I16:
  case RED_MIN_F16:
  case RED_AND_U16:
  case RED_OR_U16:
  case RED_XOR_U16:
    return 2;
  case RED_ADD_F64:
  case RED_MUL_F64:
  case RED_ADD_U64:
  case RED_MUL_U64:
  case RED_MIN_I64:
  case RED_MIN_F64:
  case RED_AND_U64:
  case RED_OR_U64:
  case RED_XOR_U64:
    return 8;
  default:
    return 4;
  }
}

INLINE v_u8 v_op(red_lane_op op, v_u8 a, v_u8 b) {
  switch (op) {
  case RED_ADD_F32:
    return (v_u8)((v_f32)a + (v_f32)b);
  case RED_ADD_F64:
    return (v_u8)((v_f64)a + (v_f64)b);
  case RED_MUL_F32:
    return (v_u8)((v_f32)a * (v_f32)b);
  case RED_MUL_F64:
    return (v_u8)((v_f64)a * (v_f64)b);
  case RED_ADD_U32:
    return (v_u8)((v_u32)a + (v_u32)b);
  case RED_ADD_U64:
    return (v_u8)((v_u64)a + (v_u64)b);
  case RED_MUL_U32:
    return (v_u8)((v_u32)a * (v_u32)b);
  case RED_MUL_U64:
    return (v_u8)((v_u64)a * (v_u64)b);
  case RED_MIN_I8:
    return v_min_i8(a, b);
  case RED_MIN_I16:
  case RED_MIN_F16:
    return v_min_i16(a, b);
  case RED_MIN_I32:
  case RED_MIN_F32:
    return v_min_i32(a, b);
  case RED_MIN_I64:
  case RED_MIN_F64:
    return v_min_i64(a, b);
  case RED_AND_U8:
  case RED_AND_U16:
  case RED_AND_U32:
  case RED_AND_U64:
    return a & b;
  case RED_OR_U8:
  case RED_OR_U16:
  case RED_OR_U32:
  case RED_OR_U64:
    return a | b;
  case RED_XOR_U8:
  case RED_XOR_U16:
  case RED_XOR_U32:
  case RED_XOR_U64:
    return a ^ b;
  default:
    __builtin_unreachable();
  }
}

/* The same, sums by the multipliers where those are other units. */
INLINE v_u8 v_spare_op(red_lane_op op, v_u8 a, v_u8 b) {
  if (op == RED_ADD_F32) return (v_u8)v_spare_add_f32((v_f32)a, (v_f32)b);
  if (op == RED_ADD_F64) return (v_u8)v_spare_add_f64((v_f64)a, (v_f64)b);
  return v_op(op, a, b);
}

/* a, but a op b in the upper group of every pair of groups of `bytes` bytes. */
INLINE v_u8 v_op_upper(red_lane_op op, v_u8 a, v_u8 b, unsigned bytes) {
  v_u8 both = v_op(op, a, b);
  switch (op) {
  case RED_ADD_F32:
  case RED_MUL_F32:
    return v_upper_f32(a, both, bytes);
  case RED_ADD_F64:
  case RED_MUL_F64:
    return v_upper_f64(a, both, bytes);
  default:
    return op_bytes(op) == 8 ? v_upper_u64(a, both, bytes) : v_upper_u32(a, both, bytes);
  }
}

/* The low `bytes` bytes of a state in every lane. */
INLINE v_u8 v_splat(red_state state, unsigned bytes) {
  switch (bytes) {
  case 1:
    return v_splat_u8((uint8_t)state.u64);
  case 2:
    return (v_u8)v_splat_u16((uint16_t)state.u64);
  case 4:
    return (v_u8)v_splat_u32((uint32_t)state.u64);
  default:
    return (v_u8)v_splat_u64(state.u64);
  }
}

/* The exact identity in every lane; of keys the greatest. */
INLINE v_u8 v_identity(red_lane_op op) {
  switch (op) {
  case RED_ADD_F32:
    return (v_u8)v_splat_u32(0x80000000);
  case RED_ADD_F64:
    return (v_u8)v_splat_u64(0x8000000000000000);
  case RED_MUL_F32:
    return (v_u8)v_splat_u32(0x3f800000);
  case RED_MUL_F64:
    return (v_u8)v_splat_u64(0x3ff0000000000000);
  case RED_MUL_U32:
    return (v_u8)v_splat_u32(1);
  case RED_MUL_U64:
    return (v_u8)v_splat_u64(1);
  case RED_MIN_I8:
    return v_splat_u8(0x7f);
  case RED_MIN_I16:
  case RED_MIN_F16:
    return (v_u8)v_splat_u16(0x7fff);
  case RED_MIN_I32:
  case RED_MIN_F32:
    return (v_u8)v_splat_u32(0x7fffffff);
  case RED_MIN_I64:
  case RED_MIN_F64:
    return (v_u8)v_splat_u64(0x7fffffffffffffff);
  case RED_AND_U8:
  case RED_AND_U16:
  case RED_AND_U32:
  case RED_AND_U64:
    return v_splat_u8(0xff);
  default:
    return (v_u8){0};
  }
}

/* Lane 0 as a state: sign-extended keys, zero-extended bits. */
INLINE red_state v_state(red_lane_op op, v_u8 x) {
  uint64_t bits = v_first_u64(x);
  unsigned shift = 64 - 8 * op_bytes(op);
  bool key = op >= RED_MIN_I8 && op <= RED_MIN_F64;
  red_state state = {.index = 0};
  if (key)
    state.key = (int64_t)(bits << shift) >> shift;
  else
    state.u64 = bits << shift >> shift;
  return state;
}

/* All lanes of x combined, in every lane: by halving, the order of sum-1. */
INLINE v_u8 v_fold(red_lane_op op, v_u8 x) {
#if VB >= 64
  x = v_op(op, x, v_swap(x, 32));
#endif
#if VB >= 32
  x = v_op(op, x, v_swap(x, 16));
#endif
  for (unsigned bytes = 8; bytes >= op_bytes(op); bytes /= 2) x = v_op(op, x, v_swap(x, bytes));
  return x;
}

#endif
