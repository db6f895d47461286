/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk on GPUs: each of the RED_GROUP lanes takes a column (or several) with all its loads in flight, then the lanes fold
 * by halving.
 */
#define RED_ROWS (RED_CHUNK / RED_LANES)
#define RED_COLUMNS (RED_LANES / RED_GROUP) /* of each lane */

/* What a lane accumulates. */
#if defined(RED_PAIRED)
typedef red_node red_column_value;

static red_node red_column_step(red_node node, RED_ELEMENT bits, RED_ELEMENT second, red_rules rules) {
  node.sum = red_step(node.sum, bits, second, red_signed(rules));
  node.size = red_step(node.size, bits, second, rules);
  return node;
}
#define RED_COLUMN_BEGIN red_identity()
#define RED_COLUMN_NODE(value) (value)
#else
typedef RED_VALUE red_column_value;
#define red_column_step red_step
#define RED_COLUMN_BEGIN ((RED_VALUE)RED_IDENTITY)
#define RED_COLUMN_NODE(value) red_node_of(value)
#endif

static red_node red_column(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong first, uint count, uint lane,
                           red_rules rules) {
  x += first + lane;
  y += first + lane;
  red_column_value value = RED_COLUMN_BEGIN;
  if (count == RED_CHUNK) {
    RED_ELEMENT row[RED_ROWS], second[RED_ROWS];
#pragma unroll
    for (uint r = 0; r < RED_ROWS; r++) {
      row[r] = x[r * RED_LANES];
      second[r] = RED_MAP == 1 ? y[r * RED_LANES] : row[r];
    }
    RED_HOLD();
#pragma unroll
    for (uint r = 0; r < RED_ROWS; r++) value = red_column_step(value, row[r], second[r], rules);
  } else {
    for (uint i = lane; i < count; i += RED_LANES, x += RED_LANES, y += RED_LANES)
      value = red_column_step(value, *x, *y, rules);
  }
  return RED_COLUMN_NODE(value);
}

/* All columns of one lane in a chunk, y being the second input, or x; its own columns fold without help. */
static red_node red_lane_node(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong first, uint count, uint lane,
                              red_rules rules) {
  red_node column[RED_COLUMNS];
  for (uint v = 0; v < RED_COLUMNS; v++) column[v] = red_column(x, y, first, count, lane + v * RED_GROUP, rules);
  for (uint half_count = RED_COLUMNS / 2; half_count > 0; half_count /= 2)
    for (uint v = 0; v < half_count; v++) column[v] = red_merge(column[v], column[v + half_count]);
  return column[0];
}

/* The node of the chunk at `at`, in lane 0. */
#define RED_SIDE 1
#define RED_SCRATCH RED_GROUP
static red_node red_tile_node(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong at, ulong end, uint lane,
                              red_rules rules, local red_node *scratch) {
  red_node node = red_lane_node(x, y, at, (uint)min(end - at, (ulong)RED_CHUNK), lane, rules);
  return red_group_fold(node, lane, scratch);
}
