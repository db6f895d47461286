/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums and products of floats in the canonical order. */
#include "ends.h"
#include "rows.h"

#include "kernels.def"

#define KERNEL(name, op, in, family, wide) ROWS_KERNEL(name, op, in, RED_MAP_NONE, NULL, const void *data)
RED_REDUCE_FLOAT(KERNEL)

/* ---- Sum and extrema of a whole chunk in one sweep, where there are registers for both ---- */

#if VB == 64
red_extrema_fn ISA(extrema_f32), ISA(extrema_f64);

/* The adders look for the extrema, so the multipliers add. */
INLINE red_state chunk_stats(red_lane_op op, const red_lowered *lowered, const uint8_t *p, int64_t keys[2]) {
  const red_dtype in = op == RED_ADD_F32 ? RED_F32 : RED_F64;
  v_u8 acc[ROW_VECTORS];
  ends seen[2];
  for (unsigned j = 0; j < ROW_VECTORS; j++) acc[j] = v_load(p + j * VB);
  seen[0] = ends_of(acc[0]);
  seen[1] = ends_of(acc[1]);
  for (unsigned j = 2; j < ROW_VECTORS; j++) seen[j % 2] = merge_ends(in, seen[j % 2], ends_of(acc[j]));
  for (unsigned r = 1; r < ROWS; r++) {
    p += ROW_BYTES;
    for (unsigned j = 0; j < ROW_VECTORS; j++) {
      v_u8 x = v_load(p + j * VB);
      STAY_IN_REGISTER(x); /* GCC would load it three times */
      acc[j] = v_spare_op(op, acc[j], x);
      seen[j % 2] = merge_ends(in, seen[j % 2], ends_of(x));
    }
  }
  keys_of_ends(in, lowered, merge_ends(in, seen[0], seen[1]), keys);
  return fold_row(op, acc);
}

red_state ISA(stats_f32)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  const red_state sum = chunk_stats(RED_ADD_F32, lowered, data, keys);
  if (sum.f32 != sum.f32) ISA(extrema_f32)(lowered, data, ROWS * ROW_BYTES / 4, keys);
  return sum;
}

red_state ISA(stats_f64)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  const red_state sum = chunk_stats(RED_ADD_F64, lowered, data, keys);
  if (sum.f64 != sum.f64) ISA(extrema_f64)(lowered, data, ROWS * ROW_BYTES / 8, keys);
  return sum;
}
#endif
