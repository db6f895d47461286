/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk on GPUs: each of the RED_GROUP lanes takes a column (or several) with all its loads in flight, then the lanes fold
 * by halving.
 */
#define RED_ROWS (RED_CHUNK / RED_LANES)
#define RED_COLUMNS (RED_LANES / RED_GROUP) /* of each lane */

static red_node red_shuffle_node(red_node node, uint down) {
#if defined(RED_ARGMIN)
  node.key = (RED_KEY)red_shuffle((ulong)(long)node.key, down);
  node.index = red_shuffle(node.index, down);
  return node;
#elif defined(RED_PAIRED)
  node.sum = RED_STATE_OF(red_shuffle(RED_BITS(node.sum), down));
  node.size = RED_STATE_OF(red_shuffle(RED_BITS(node.size), down));
  return node;
#else
  return red_unpack(red_shuffle(red_pack(node), down));
#endif
}

/* The lanes' nodes folded by halving: lane 0 gets the result. */
static red_node red_group_fold(red_node node, uint lane, local red_node *scratch) {
  uint team = red_team();
  scratch[lane] = node;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (team == 1) {
    for (uint half_count = RED_GROUP / 2; half_count > 0; half_count /= 2) {
      if (lane < half_count) scratch[lane] = red_merge(scratch[lane], scratch[lane + half_count]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    return scratch[0];
  }
  if (lane < team) {
    for (uint half_count = RED_GROUP / team / 2; half_count > 0; half_count /= 2)
      for (uint k = 0; k < half_count; k++)
        scratch[lane + k * team] = red_merge(scratch[lane + k * team], scratch[lane + (k + half_count) * team]);
    node = scratch[lane];
    for (uint down = team / 2; down > 0; down /= 2) node = red_merge(node, red_shuffle_node(node, down));
  }
  return node;
}

#if defined(RED_ARGMIN)

static void red_take(red_node *node, RED_KEY key, ulong index) {
  if (key >= node->key && node->index != (ulong)-1) return;
  node->key = key;
  node->index = index;
}

static red_node red_column(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong first, uint count, uint lane,
                           red_rules rules) {
  red_node node = red_identity();
  if (count == RED_CHUNK) {
    RED_ELEMENT row[RED_ROWS];
#pragma unroll
    for (uint r = 0; r < RED_ROWS; r++) row[r] = x[first + lane + r * RED_LANES];
    RED_HOLD();
#pragma unroll
    for (uint r = 0; r < RED_ROWS; r++) red_take(&node, red_lift(row[r], rules), first + lane + r * RED_LANES);
  } else {
    for (uint i = lane; i < count; i += RED_LANES) red_take(&node, red_lift(x[first + i], rules), first + i);
  }
  return node;
}

#else

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

#endif

/* All columns of one lane in a chunk, y being the second input, or x; its own columns fold without help. */
static red_node red_lane_node(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong first, uint count, uint lane,
                              red_rules rules) {
  red_node column[RED_COLUMNS];
  for (uint v = 0; v < RED_COLUMNS; v++) column[v] = red_column(x, y, first, count, lane + v * RED_GROUP, rules);
  for (uint half_count = RED_COLUMNS / 2; half_count > 0; half_count /= 2)
    for (uint v = 0; v < half_count; v++) column[v] = red_merge(column[v], column[v + half_count]);
  return column[0];
}
