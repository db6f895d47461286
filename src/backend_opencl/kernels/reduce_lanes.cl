/* SPDX-License-Identifier: BSD-2-Clause */
/* Reduce on GPUs: a work-group of RED_GROUP lanes takes a run of chunks. */

#if RED_CANONICAL
/* A tile's node joins those that wait for their right neighbours, as a binary counter counts: how many wait now. */
static uint red_join_waiting(local red_node *waiting, uint height, uint tile, red_node node) {
  for (; tile & 1; tile >>= 1) node = red_merge(waiting[--height], node);
  waiting[height] = node;
  return height + 1;
}

static red_node red_root_of_waiting(local red_node *waiting, uint height) {
  red_node node = waiting[--height];
  while (height > 0) node = red_merge(waiting[--height], node);
  return node;
}
#endif

/* Work-group g: node (level, g) of the chunks' tree; with RED_ONCE the last one leaves the root of all. */
RED_KERNEL
red_reduce_chunks(global const uchar *in, ulong in_offset, ulong n, uint level, red_rules rules, global ulong *nodes,
                  ulong nodes_at RED_SECOND_PARAMETERS RED_ONCE_PARAMETERS) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset), *y = RED_SECOND_INPUT(x);
  uint lane = red_lane();
  ulong first = get_group_id(0) * ((ulong)RED_CHUNK << level);
  ulong end = min(n, first + ((ulong)RED_CHUNK << level));
#if RED_CANONICAL
  local red_node scratch[2 * RED_SCRATCH]; /* two, so that one barrier a tile is enough */
  local red_node waiting[32];
  uint height = 0, tile = 0;
  for (ulong at = first; at < end; at += RED_SIDE * RED_CHUNK, tile++) {
    red_node node = red_tile_node(x, y, at, end, lane, rules, scratch + (tile & 1) * RED_SCRATCH);
    if (lane == 0) height = red_join_waiting(waiting, height, tile, node);
  }
  red_node node = lane == 0 ? red_root_of_waiting(waiting, height) : red_identity();
#else
  local red_node scratch[RED_GROUP]; /* any order: the lanes meet only once */
  red_node node = red_group_fold(red_run_node(x, y, first, end, lane, rules), lane, scratch);
#if defined(RED_ARGMIN)
  if (lane == 0) node = red_found(node, x, end, rules);
#endif
#endif
#if RED_ONCE
  if (!red_await_all(board + board_at, epoch, lane, scratch, &node) || lane != 0) return;
  if (stays)
    red_store_bits(out + out_offset, last.out_bytes, red_finished(node, rules, last));
  else
    red_put(nodes + nodes_at, 0, node);
#else
  if (lane == 0) red_put(nodes + nodes_at, get_group_id(0), node);
#endif
}
