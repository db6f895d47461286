/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums and products of floats in the canonical order. */
#include "patterns.h"
#include "rows.h"

#include "kernels.def"

#define KERNEL(name, op, in, family, wide) ROWS_KERNEL(name, op, in, RED_MAP_NONE, NULL, const void *data)
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
  return fold_row(op, acc);
}

red_state ISA(stats_f32)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return chunk_stats(RED_ADD_F32, lowered, data, keys);
}

red_state ISA(stats_f64)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return chunk_stats(RED_ADD_F64, lowered, data, keys);
}
#endif
