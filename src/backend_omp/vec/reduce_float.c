/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums and products of floats in the canonical order `sum-1`: rows of 512 accumulator bytes are added downwards, lanes
 * are folded by halving, chunks by the binary tree (docs/numerics.md).
 */
#include "patterns.h"

#include "kernels.def"

enum {
  ROW_BYTES = 512,
  ROWS = 32,
  ROW_VECTORS = ROW_BYTES / VB
};

/* Accumulators held in registers at a time; narrower vectors go over a row's columns in passes, the chunk being in L1.
 */
enum {
  PASS = VB == 32 ? 16 : 8
};

INLINE unsigned float_bytes(red_dtype in) {
  return in == RED_F64 ? 8 : in == RED_F32 ? 4 : 2;
}

/* A vector of accumulators from the elements at p. */
INLINE v_u8 load(red_lane_op op, red_dtype in, const uint8_t *p) {
  bool wide = op_bytes(op) == 8;
  if (float_bytes(in) == op_bytes(op)) return v_load(p);
  if (in == RED_F32) return (v_u8)v_f64_from_f32(p);
  if (!wide) return (v_u8)(in == RED_F16 ? v_f32_from_f16(p) : v_f32_from_bf16(p));
  return (v_u8)(in == RED_F16 ? v_f64_from_f16(p) : v_f64_from_bf16(p));
}

/* Bits of the identity in the input's dtype. */
INLINE uint64_t pad_bits(red_lane_op op, red_dtype in) {
  bool add = op == RED_ADD_F32 || op == RED_ADD_F64;
  switch (in) {
  case RED_F16:
    return add ? 0x8000 : 0x3c00;
  case RED_BF16:
    return add ? 0x8000 : 0x3f80;
  case RED_F32:
    return add ? 0x80000000 : 0x3f800000;
  default:
    return add ? 0x8000000000000000 : 0x3ff0000000000000;
  }
}

/* Add an incomplete row of `count` elements. */
INLINE void add_partial_row(red_lane_op op, red_dtype in, v_u8 *acc, const uint8_t *p, size_t count) {
  const unsigned bytes = float_bytes(in);
  const size_t lanes = VB / op_bytes(op);
  for (unsigned j = 0; j < ROW_VECTORS && count > 0; j++) {
    size_t here = count < lanes ? count : lanes;
    v_u8 x;
    if (here == lanes) {
      x = load(op, in, p);
    } else if (bytes == op_bytes(op)) {
      x = v_load_partial(p, here, bytes, v_identity(op));
    } else {
      v_u8 padded = v_splat((red_state){.u64 = pad_bits(op, in)}, bytes);
      memcpy(&padded, p, here * bytes);
      x = load(op, in, (const uint8_t *)&padded);
    }
    acc[j] = v_op(op, acc[j], x);
    p += here * bytes;
    count -= here;
  }
}

/* node(0, .): n > 0 elements, at most a chunk. */
INLINE red_state chunk(red_lane_op op, red_dtype in, const uint8_t *p, size_t n) {
  const size_t bytes = float_bytes(in), lanes = ROW_BYTES / op_bytes(op), step = VB / op_bytes(op) * bytes;
  const size_t rows = n / lanes;
  v_u8 acc[ROW_VECTORS];
  if (rows == 0)
    for (unsigned j = 0; j < ROW_VECTORS; j++) acc[j] = v_identity(op);
  else
    for (unsigned first = 0; first < ROW_VECTORS; first += PASS) {
      const uint8_t *row = p + first * step;
      v_u8 a[PASS];
      for (unsigned j = 0; j < PASS; j++) a[j] = load(op, in, row + j * step);
      for (size_t r = 1; r < rows; r++) {
        row += lanes * bytes;
        for (unsigned j = 0; j < PASS; j++) a[j] = v_op(op, a[j], load(op, in, row + j * step));
      }
      for (unsigned j = 0; j < PASS; j++) acc[first + j] = a[j];
    }
  if (rows < ROWS) add_partial_row(op, in, acc, p + rows * lanes * bytes, n - rows * lanes);
  for (unsigned half = ROW_VECTORS / 2; half > 0; half /= 2)
    for (unsigned j = 0; j < half; j++) acc[j] = v_op(op, acc[j], acc[j + half]);
  return v_state(op, v_fold(op, acc[0]));
}

INLINE red_state merge(red_lane_op op, red_state a, red_state b) {
  switch (op) {
  case RED_ADD_F32:
    a.f32 += b.f32;
    break;
  case RED_MUL_F32:
    a.f32 *= b.f32;
    break;
  case RED_ADD_F64:
    a.f64 += b.f64;
    break;
  default:
    a.f64 *= b.f64;
    break;
  }
  return a;
}

INLINE red_state reduce(red_lane_op op, red_dtype in, const void *data, size_t n) {
  const size_t size = ROWS * ROW_BYTES / op_bytes(op);
  const uint8_t *p = data;
  red_state node[RED_BLOCK_CHUNKS];
  size_t count = 0;
  if (n < size) return chunk(op, in, p, n);
  for (; n >= size; n -= size, p += size * float_bytes(in)) node[count++] = chunk(op, in, p, size);
  if (n > 0) node[count++] = chunk(op, in, p, n);
  for (; count > 1; count = (count + 1) / 2) {
    for (size_t i = 0; i < count / 2; i++) node[i] = merge(op, node[2 * i], node[2 * i + 1]);
    if (count & 1) node[count / 2] = node[count - 1]; /* a missing right child: the left one, unchanged */
  }
  return node[0];
}

#define KERNEL(name, op, in, family, wide)                                                                             \
  red_state ISA(name)(const red_lowered *lowered, const void *data, size_t n) {                                        \
    (void)lowered;                                                                                                     \
    return reduce(op, in, data, n);                                                                                    \
  }
RED_REDUCE_FLOAT(KERNEL)

/* ---- Sum and extrema of a whole chunk in one sweep, where there are registers for both ---- */

#if VB == 64
INLINE red_state chunk_stats(red_lane_op op, const red_lowered *lowered, const uint8_t *p, int64_t keys[2]) {
  const unsigned bytes = op_bytes(op);
  v_u8 acc[ROW_VECTORS];
  patterns seen[2];
  for (unsigned j = 0; j < ROW_VECTORS; j++) acc[j] = v_load(p + j * VB);
  seen[0] = patterns_of(acc[0]);
  seen[1] = patterns_of(acc[1]);
  for (unsigned j = 2; j < ROW_VECTORS; j++) seen[j % 2] = merge_patterns(seen[j % 2], patterns_of(acc[j]), bytes);
  for (unsigned r = 1; r < ROWS; r++) {
    p += ROW_BYTES;
    for (unsigned j = 0; j < ROW_VECTORS; j++) {
      v_u8 x = v_load(p + j * VB);
      acc[j] = v_op(op, acc[j], x);
      seen[j % 2] = merge_patterns(seen[j % 2], patterns_of(x), bytes);
    }
  }
  keys_of_patterns(lowered, merge_patterns(seen[0], seen[1], bytes), bytes, keys);
  for (unsigned half = ROW_VECTORS / 2; half > 0; half /= 2)
    for (unsigned j = 0; j < half; j++) acc[j] = v_op(op, acc[j], acc[j + half]);
  return v_state(op, v_fold(op, acc[0]));
}

red_state ISA(stats_f32)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return chunk_stats(RED_ADD_F32, lowered, data, keys);
}

red_state ISA(stats_f64)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return chunk_stats(RED_ADD_F64, lowered, data, keys);
}
#endif
