/* SPDX-License-Identifier: BSD-2-Clause */
/* One end of the order, lane by lane: what extrema and the places of extrema have in common. */
#ifndef RED_VEC_END_H
#define RED_VEC_END_H

#include "patterns.h"

enum {
  CHAINS = 4
};

/* X(suffix, lane operation): keys of integers and of floats differ */
#define RED_KEY_KINDS(X)                                                                                               \
  X(i8, RED_MIN_I8)                                                                                                    \
  X(i16, RED_MIN_I16)                                                                                                  \
  X(i32, RED_MIN_I32)                                                                                                  \
  X(i64, RED_MIN_I64)                                                                                                  \
  X(f16, RED_MIN_F16)                                                                                                  \
  X(f32, RED_MIN_F32)                                                                                                  \
  X(f64, RED_MIN_F64)

/* The first elements of n > 0; where they do not fill a vector the first one is repeated, which no minimum minds. */
INLINE v_u8 load_first(const uint8_t *p, size_t n, unsigned bytes) {
  if (n >= VB / bytes) return v_load(p);
  red_state first = {.u64 = 0};
  memcpy(&first.u64, p, bytes);
  return v_load_partial(p, n, bytes, v_splat(first, bytes));
}

/* The last elements of n that fill a vector: no minimum minds to see some again. */
INLINE v_u8 load_last(const uint8_t *p, size_t n, unsigned bytes) {
  return v_load(p + n * bytes - VB);
}

/* Of n > 0 elements. */
INLINE end_patterns sweep_end(const red_lowered *lowered, const uint8_t *p, size_t n, bool maxima, unsigned bytes) {
  const size_t lanes = VB / bytes;
  const v_u8 shift = v_splat((red_state){.u64 = end_shift(lowered, maxima, bytes)}, bytes);
  const v_u8 first = load_first(p, n, bytes);
  end_patterns all[2];
  all[0] = all[1] = (end_patterns){first, lanes_minus(first, shift, bytes)};
  size_t i = n < lanes ? n : lanes;
  for (; n - i >= 2 * lanes; i += 2 * lanes)
    for (unsigned j = 0; j < 2; j++) all[j] = merge_end(all[j], v_load(p + i * bytes + j * VB), shift, maxima, bytes);
  if (n - i > lanes) all[0] = merge_end(all[0], v_load(p + i * bytes), shift, maxima, bytes);
  if (n > i) all[1] = merge_end(all[1], load_last(p, n, bytes), shift, maxima, bytes);
  all[0].far = maxima ? max_signed(all[0].far, all[1].far, bytes) : max_unsigned(all[0].far, all[1].far, bytes);
  all[0].near = min_unsigned(all[0].near, all[1].near, bytes);
  return all[0];
}

/* Of n > 0 elements, by keys. */
INLINE v_u8 least_keys(const red_lowered *lowered, uint64_t flip, const uint8_t *p, size_t n, red_lane_op op) {
  const unsigned bytes = op_bytes(op);
  const size_t lanes = VB / bytes;
  const key_constants keys = key_constants_of(lowered, flip, op);
  v_u8 acc[CHAINS];
  for (unsigned j = 0; j < CHAINS; j++) acc[j] = v_key(&keys, load_first(p, n, bytes), op);
  size_t i = n < lanes ? n : lanes;
  for (; n - i >= CHAINS * lanes; i += CHAINS * lanes)
    for (unsigned j = 0; j < CHAINS; j++) acc[j] = v_op(op, acc[j], v_key(&keys, v_load(p + i * bytes + j * VB), op));
  for (; n - i > lanes; i += lanes) acc[0] = v_op(op, acc[0], v_key(&keys, v_load(p + i * bytes), op));
  if (n > i) acc[1] = v_op(op, acc[1], v_key(&keys, load_last(p, n, bytes), op));
  return v_op(op, v_op(op, acc[0], acc[1]), v_op(op, acc[2], acc[3]));
}

#endif
