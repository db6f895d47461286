/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chunks of 16-bit floats on GPUs: a lane takes RED_ADJACENT columns that lie side by side, in one load a row, so that a
 * work-group has RED_SIDE chunks at a time.
 */
#define RED_ROWS (RED_CHUNK / RED_LANES)
#define RED_TAKERS (RED_LANES / RED_ADJACENT) /* lanes of a chunk */
#define RED_SIDE (RED_GROUP / RED_TAKERS)
#define RED_SCRATCH (RED_SIDE * RED_LANES)
#define RED_BATCH 8 /* rows */

#if RED_ADJACENT == 4
#define RED_ROW uint2
#else
#define RED_ROW uint
#endif

static RED_ELEMENT red_element_of(RED_ROW row, uint v) {
#if RED_ADJACENT == 4
  return (RED_ELEMENT)((v < 2 ? row.x : row.y) >> v % 2 * 16);
#else
  return (RED_ELEMENT)(row >> v * 16);
#endif
}

/* Columns from `column` on of the chunk at x, of which there are `count` elements. */
static void red_columns(global const RED_ELEMENT *x, global const RED_ELEMENT *y, uint count, uint column, red_rules rules,
                        RED_VALUE *value) {
  x += column;
  y += column;
#pragma unroll
  for (uint v = 0; v < RED_ADJACENT; v++) value[v] = (RED_VALUE)RED_IDENTITY;
  if (count == RED_CHUNK && (((ulong)x | (ulong)y) & (sizeof(RED_ROW) - 1)) == 0) {
    RED_ROW first[RED_ROWS], second[RED_ROWS];
#pragma unroll
    for (uint r = 0; r < RED_ROWS; r++) {
      first[r] = *(global const RED_ROW *)(x + r * RED_LANES);
      second[r] = RED_MAP == 1 ? *(global const RED_ROW *)(y + r * RED_LANES) : first[r];
    }
    RED_HOLD();
#pragma unroll
    for (uint r = 0; r < RED_ROWS; r++)
#pragma unroll
      for (uint v = 0; v < RED_ADJACENT; v++)
        value[v] = red_step(value[v], red_element_of(first[r], v), red_element_of(second[r], v), rules);
  } else if (count == RED_CHUNK) { /* element by element, some rows in flight */
#pragma unroll 1
    for (uint r = 0; r < RED_ROWS; r += RED_BATCH) {
      RED_ELEMENT first[RED_BATCH * RED_ADJACENT], second[RED_BATCH * RED_ADJACENT];
#pragma unroll
      for (uint i = 0; i < RED_BATCH * RED_ADJACENT; i++) {
        uint place = (r + i / RED_ADJACENT) * RED_LANES + i % RED_ADJACENT;
        first[i] = x[place];
        second[i] = RED_MAP == 1 ? y[place] : x[place];
      }
      RED_HOLD();
#pragma unroll
      for (uint i = 0; i < RED_BATCH * RED_ADJACENT; i++)
        value[i % RED_ADJACENT] = red_step(value[i % RED_ADJACENT], first[i], second[i], rules);
    }
  } else {
    for (uint i = column; i < count; i += RED_LANES, x += RED_LANES, y += RED_LANES)
#pragma unroll
      for (uint v = 0; v < RED_ADJACENT; v++)
        if (i + v < count) value[v] = red_step(value[v], x[v], y[v], rules);
  }
}

/* The columns of each chunk in scratch, folded by halving: its node comes to lie in its first place. */
static void red_fold_columns(uint lane, local red_node *scratch) {
  uint team = min(red_team(), (uint)RED_TAKERS);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (team > 1) {
    local red_node *own = scratch + lane / RED_TAKERS * RED_LANES + lane % RED_TAKERS;
    const bool takes = lane % RED_TAKERS < team;
    red_node node = red_identity();
    if (takes) {
      for (uint half_count = RED_LANES / team / 2; half_count > 0; half_count /= 2)
        for (uint k = 0; k < half_count; k++) own[k * team] = red_merge(own[k * team], own[(k + half_count) * team]);
      node = own[0];
    }
    if (takes || !RED_SHUFFLES_APART)
      for (uint down = team / 2; down > 0; down /= 2) node = red_merge(node, red_shuffle_node(node, down));
    if (takes) own[0] = node; /* of the first one: what the others write is nothing */
    barrier(CLK_LOCAL_MEM_FENCE);
    return;
  }
  for (uint half_count = RED_LANES / 2; half_count > 0; half_count /= 2) {
    for (uint i = lane; i < RED_SIDE * half_count; i += RED_GROUP) {
      local red_node *at = scratch + i / half_count * RED_LANES + i % half_count;
      at[0] = red_merge(at[0], at[half_count]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* The node of the RED_SIDE chunks from `at` on, in lane 0; chunks that are not there change nothing. */
static red_node red_tile_node(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong at, ulong end, uint lane,
                              red_rules rules, local red_node *scratch) {
  RED_VALUE value[RED_ADJACENT];
  uint column = lane % RED_TAKERS * RED_ADJACENT;
  at += (ulong)(lane / RED_TAKERS) * RED_CHUNK;
  red_columns(x + at, y + at, at < end ? (uint)min(end - at, (ulong)RED_CHUNK) : 0, column, rules, value);
#pragma unroll
  for (uint v = 0; v < RED_ADJACENT; v++) scratch[lane / RED_TAKERS * RED_LANES + column + v] = value[v];
  red_fold_columns(lane, scratch);
  for (uint width = 1; width < RED_SIDE; width *= 2)
    if (lane == 0)
      for (uint c = 0; c < RED_SIDE; c += 2 * width)
        scratch[c * RED_LANES] = red_merge(scratch[c * RED_LANES], scratch[(c + width) * RED_LANES]);
  return scratch[0];
}
