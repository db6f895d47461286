/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Floats in the canonical order `sum-1`: rows of 512 accumulator bytes are combined downwards, lanes are folded by
 * halving, chunks by the binary tree (docs/numerics.md). What a row adds is the elements, or a map of them.
 */
#ifndef RED_VEC_ROWS_H
#define RED_VEC_ROWS_H

#include "ops.h"

enum {
  ROW_BYTES = 512,
  ROWS = 32,
  ROW_VECTORS = ROW_BYTES / VB,
  /*
   * Accumulators held in registers at a time; narrower vectors go over a row's columns in passes, the chunk being in
   * L1. For AVX2 a fused row lacks a register or two; two passes instead read memory at three quarters of the speed.
   */
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

/* `count` elements at p, at most a vector's, and beyond them elements of these bits. */
INLINE v_u8 load_padded(red_lane_op op, red_dtype in, const uint8_t *p, size_t count, uint64_t pad) {
  const unsigned bytes = float_bytes(in);
  if (count == VB / op_bytes(op)) return load(op, in, p);
  const v_u8 padded = v_load_partial(p, count, bytes, v_splat((red_state){.u64 = pad}, bytes));
  return bytes == op_bytes(op) ? padded : load(op, in, (const uint8_t *)&padded);
}

INLINE v_u8 times(red_lane_op op, v_u8 x, v_u8 y) {
  return op_bytes(op) == 8 ? (v_u8)((v_f64)x * (v_f64)y) : (v_u8)((v_f32)x * (v_f32)y);
}

/* Products of narrower inputs are exact (but those of bf16 may underflow in f32): fused or not, the bits are the same.
 */
INLINE bool product_is_exact(red_lane_op op, red_dtype in) {
  return float_bytes(in) < op_bytes(op) && !(in == RED_BF16 && op_bytes(op) == 4);
}

INLINE v_u8 fused(red_lane_op op, red_dtype in, v_u8 x, v_u8 y, v_u8 a) {
  if (!FAST_FMA && product_is_exact(op, in)) return v_op(op, a, times(op, x, y));
  return op_bytes(op) == 8 ? (v_u8)v_fma_f64((v_f64)x, (v_f64)y, (v_f64)a)
                           : (v_u8)v_fma_f32((v_f32)x, (v_f32)y, (v_f32)a);
}

INLINE v_u8 without_sign(red_lane_op op, v_u8 x) {
  return x & ~v_splat((red_state){.u64 = op_bytes(op) == 8 ? (uint64_t)1 << 63 : (uint64_t)1 << 31}, op_bytes(op));
}

/* Widening leaves too few units for the sums: the multipliers help, where there is a register for their one. */
INLINE v_u8 plus(red_lane_op op, red_dtype in, v_u8 a, v_u8 x) {
  return VB == 64 && float_bytes(in) < op_bytes(op) ? v_spare_op(op, a, x) : v_op(op, a, x);
}

INLINE bool has_two(red_map map) {
  return map == RED_MAP_PRODUCT || map == RED_MAP_ABS_PRODUCT;
}

/* a and the vector of a row at x (y: of the second input). A pad of -0.0 in x and y changes no sum of `map`. */
INLINE v_u8 next_row(red_lane_op op, red_dtype in, red_map map, v_u8 a, v_u8 x, v_u8 y) {
  switch (map) {
  case RED_MAP_PRODUCT:
    return fused(op, in, x, y, a);
  case RED_MAP_ABS_PRODUCT:
    return fused(op, in, without_sign(op, x), without_sign(op, y), a);
  case RED_MAP_SQUARE:
    return fused(op, in, x, x, a);
  case RED_MAP_ABS:
    return plus(op, in, a, without_sign(op, x));
  default:
    return plus(op, in, a, x);
  }
}

/* The first row: what is added to -0.0. A fused addition to that is a multiplication. */
INLINE v_u8 first_row(red_lane_op op, red_map map, v_u8 x, v_u8 y) {
  switch (map) {
  case RED_MAP_PRODUCT:
    return times(op, x, y);
  case RED_MAP_ABS_PRODUCT:
    return times(op, without_sign(op, x), without_sign(op, y));
  case RED_MAP_SQUARE:
    return times(op, x, x);
  case RED_MAP_ABS:
    return without_sign(op, x);
  default:
    return x;
  }
}

#if defined(HAVE_MASKS)
/* An incomplete row, the first one or added; always all vectors: no branch, and the accumulators stay in registers. */
INLINE void masked_row(red_lane_op op, red_dtype in, red_map map, v_u8 *acc, const uint8_t *p, const uint8_t *q,
                       size_t count, bool first) {
  const size_t lanes = VB / op_bytes(op);
  const v_u8 pads = v_splat((red_state){.u64 = pad_bits(op, in)}, op_bytes(op));
  const uint64_t all = ~(uint64_t)0,
                 masks[2] = {count < 64 ? ~(all << count) : all, count > 64 ? ~(all << (count - 64)) : 0};
  UNROLLED
  for (unsigned j = 0; j < ROW_VECTORS; j++) {
    uint64_t mask = masks[j * lanes / 64] >> j * lanes % 64;
    v_u8 x = v_load_masked(p + j * VB, mask, op_bytes(op), pads);
    v_u8 y = has_two(map) ? v_load_masked(q + j * VB, mask, op_bytes(op), (v_u8){0}) : x;
    acc[j] = first ? first_row(op, map, x, y) : next_row(op, in, map, acc[j], x, y);
  }
}
#endif

/* Add an incomplete row of `count` elements. Beyond them -0.0 is added, to a sum of magnitudes or squares +0.0. */
INLINE void add_partial_row(red_lane_op op, red_dtype in, red_map map, v_u8 *acc, const uint8_t *p, const uint8_t *q,
                            size_t count) {
  const size_t lanes = VB / op_bytes(op);
#if defined(HAVE_MASKS)
  if (float_bytes(in) == op_bytes(op)) {
    masked_row(op, in, map, acc, p, q, count, false);
    return;
  }
#endif
  for (unsigned j = 0; j < ROW_VECTORS && count > 0; j++) {
    size_t here = count < lanes ? count : lanes, step = here * float_bytes(in);
    v_u8 x = load_padded(op, in, p, here, pad_bits(op, in));
    v_u8 y = has_two(map) ? load_padded(op, in, q, here, 0) : x;
    acc[j] = next_row(op, in, map, acc[j], x, y);
    p += step;
    if (has_two(map)) q += step;
    count -= here;
  }
}

INLINE void halve(red_lane_op op, v_u8 *acc, unsigned half) {
  UNROLLED
  for (unsigned j = 0; j < half; j++) acc[j] = v_op(op, acc[j], acc[j + half]);
}

INLINE red_state fold_row(red_lane_op op, v_u8 *acc) {
  if (ROW_VECTORS > 16) halve(op, acc, 16);
  if (ROW_VECTORS > 8) halve(op, acc, 8);
  halve(op, acc, 4);
  halve(op, acc, 2);
  halve(op, acc, 1);
  return v_state(op, v_fold(op, acc[0]));
}

#if defined(HAVE_MASKS)
/* Less than a chunk, where a whole row has registers: the first row is added to the identity, which changes nothing. */
INLINE red_state short_chunk(red_lane_op op, red_dtype in, red_map map, const uint8_t *p, const uint8_t *q, size_t n) {
  const size_t lanes = ROW_BYTES / op_bytes(op), step = VB / op_bytes(op) * float_bytes(in);
  v_u8 acc[ROW_VECTORS];
  if (n < lanes) {
    masked_row(op, in, map, acc, p, q, n, true);
    return fold_row(op, acc);
  }
  UNROLLED
  for (unsigned j = 0; j < ROW_VECTORS; j++) acc[j] = v_identity(op);
  for (; n >= lanes; n -= lanes, p += ROW_VECTORS * step) {
    for (unsigned j = 0; j < ROW_VECTORS; j++) {
      v_u8 x = load(op, in, p + j * step), y = has_two(map) ? load(op, in, q + j * step) : x;
      acc[j] = next_row(op, in, map, acc[j], x, y);
    }
    if (has_two(map)) q += ROW_VECTORS * step;
  }
  add_partial_row(op, in, map, acc, p, q, n);
  return fold_row(op, acc);
}
#endif

/* The sums of `rows` > 0 whole rows. */
INLINE void sum_rows(red_lane_op op, red_dtype in, red_map map, const uint8_t *p, const uint8_t *q, size_t rows,
                     v_u8 *acc) {
  const size_t step = VB / op_bytes(op) * float_bytes(in), row_bytes = ROW_VECTORS * step;
  for (unsigned first = 0; first < ROW_VECTORS; first += PASS) {
    const uint8_t *x = p + first * step, *y = has_two(map) ? q + first * step : x;
    v_u8 a[PASS];
    UNROLLED
    for (unsigned j = 0; j < PASS; j++)
      a[j] = first_row(op, map, load(op, in, x + j * step), load(op, in, y + j * step));
    for (size_t r = 1; r < rows; r++) {
      x += row_bytes;
      y = has_two(map) ? y + row_bytes : x;
      UNROLLED
      for (unsigned j = 0; j < PASS; j++)
        a[j] = next_row(op, in, map, a[j], load(op, in, x + j * step), load(op, in, y + j * step));
      UNROLLED
      for (unsigned j = 0; j < PASS; j++) STAY_IN_REGISTER(a[j]);
    }
    UNROLLED
    for (unsigned j = 0; j < PASS; j++) acc[first + j] = a[j];
  }
}

/* A vector of bf16 as two of f32: the even elements and the odd ones, by an operation each. */
INLINE v_u8 even_bf16(v_u8 x) {
  return (v_u8)((v_u32)x << 16);
}
INLINE v_u8 odd_bf16(v_u8 x) {
  return (v_u8)((v_u32)x & 0xffff0000);
}

/*
 * A whole chunk of bf16 in accumulators of even and of odd elements. An element is in another lane than elsewhere, but
 * still meets the same ones: the fold's last step, which adds neighbours, is that of the two sorts. (A pass of sixteen
 * accumulators leaves AVX2 no registers for the parts.)
 */
INLINE red_state whole_chunk_bf16(red_lane_op op, red_map map, const uint8_t *p, const uint8_t *q) {
  v_u8 acc[ROW_VECTORS];
  for (unsigned first = 0; first < ROW_VECTORS; first += PASS) {
    const uint8_t *x = p + first / 2 * VB, *y = has_two(map) ? q + first / 2 * VB : x;
    v_u8 a[PASS];
    UNROLLED
    for (unsigned j = 0; j < PASS; j += 2) {
      v_u8 xs = v_load(x + j / 2 * VB), ys = v_load(y + j / 2 * VB);
      a[j] = first_row(op, map, even_bf16(xs), even_bf16(ys));
      a[j + 1] = first_row(op, map, odd_bf16(xs), odd_bf16(ys));
    }
    for (size_t r = 1; r < ROWS; r++) {
      x += ROW_BYTES / 2;
      y = has_two(map) ? y + ROW_BYTES / 2 : x;
      UNROLLED
      for (unsigned j = 0; j < PASS; j += 2) {
        v_u8 xs = v_load(x + j / 2 * VB), ys = v_load(y + j / 2 * VB);
        a[j] = next_row(op, RED_BF16, map, a[j], even_bf16(xs), even_bf16(ys));
        a[j + 1] = next_row(op, RED_BF16, map, a[j + 1], odd_bf16(xs), odd_bf16(ys));
      }
      UNROLLED
      for (unsigned j = 0; j < PASS; j++) STAY_IN_REGISTER(a[j]);
    }
    UNROLLED
    for (unsigned j = 0; j < PASS; j++) acc[first + j] = a[j];
  }
  if (ROW_VECTORS > 16) halve(op, acc, 16);
  if (ROW_VECTORS > 8) halve(op, acc, 8);
  halve(op, acc, 4);
  halve(op, acc, 2);
  return v_state(op, v_op(op, v_fold(op, acc[0]), v_fold(op, acc[1])));
}

INLINE red_state whole_chunk(red_lane_op op, red_dtype in, red_map map, const uint8_t *p, const uint8_t *q) {
  if (in == RED_BF16 && op_bytes(op) == 4 && PASS < 16) return whole_chunk_bf16(op, map, p, q);
  v_u8 acc[ROW_VECTORS];
  sum_rows(op, in, map, p, q, ROWS, acc);
  return fold_row(op, acc);
}

/* node(0, .): n > 0 elements, less than a chunk. */
INLINE red_state part_of_chunk(red_lane_op op, red_dtype in, red_map map, const uint8_t *p, const uint8_t *q,
                               size_t n) {
  const size_t lanes = ROW_BYTES / op_bytes(op), rows = n / lanes, done = rows * lanes * float_bytes(in);
#if defined(HAVE_MASKS)
  if (float_bytes(in) == op_bytes(op)) return short_chunk(op, in, map, p, q, n);
#endif
  v_u8 acc[ROW_VECTORS];
  if (rows > 0) {
    sum_rows(op, in, map, p, q, rows, acc);
  } else {
    for (unsigned j = 0; j < ROW_VECTORS; j++) acc[j] = v_identity(op);
  }
  add_partial_row(op, in, map, acc, p + done, has_two(map) ? q + done : p + done, n - rows * lanes);
  return fold_row(op, acc);
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

INLINE size_t chunk_elements(red_lane_op op) {
  return ROWS * ROW_BYTES / op_bytes(op);
}

/* The node above a chunk of elements or more, at most a block. data2: the second input of PRODUCT. */
INLINE red_state reduce_rows(red_lane_op op, red_dtype in, red_map map, const void *data, const void *data2, size_t n) {
  const size_t size = chunk_elements(op), bytes = size * float_bytes(in);
  const uint8_t *p = data, *q = data2;
  red_state node[RED_BLOCK_CHUNKS];
  size_t count = 0;
  for (; n >= size; n -= size, p += bytes) {
    node[count++] = whole_chunk(op, in, map, p, q);
    if (has_two(map)) q += bytes;
  }
  if (n > 0) node[count++] = part_of_chunk(op, in, map, p, q, n);
  for (; count > 1; count = (count + 1) / 2) {
    for (size_t i = 0; i < count / 2; i++) node[i] = merge(op, node[2 * i], node[2 * i + 1]);
    if (count & 1) node[count / 2] = node[count - 1]; /* a missing right child: the left one, unchanged */
  }
  return node[0];
}

/* The kernel `name`(lowered, parameters): less than a chunk needs no place for nodes, and is soon done. */
#define ROWS_KERNEL(name, op, in, map, data2, ...)                                                                     \
  __attribute__((noinline)) static red_state chunks_##name(const void *x, const void *y, size_t n) {                   \
    return reduce_rows(op, in, map, x, y, n);                                                                          \
  }                                                                                                                    \
  red_state ISA(name)(const red_lowered *lowered, __VA_ARGS__, size_t n) {                                             \
    (void)lowered;                                                                                                     \
    return n < chunk_elements(op) ? part_of_chunk(op, in, map, data, data2, n) : chunks_##name(data, data2, n);        \
  }

#endif
