/* SPDX-License-Identifier: BSD-2-Clause */
/* Reduce on GPUs: a work-group of RED_GROUP lanes takes a run of chunks, one at a time. */

#if RED_CANONICAL
/* A chunk's node joins those that wait for their right neighbours, as a binary counter counts: how many wait now. */
static uint red_join_waiting(local red_node *waiting, uint height, uint chunk, red_node node) {
  for (; chunk & 1; chunk >>= 1) node = red_merge(waiting[--height], node);
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
kernel __attribute__((reqd_work_group_size(RED_GROUP, 1, 1))) void
red_reduce_chunks(global const uchar *in, ulong in_offset, ulong n, uint level, red_rules rules, global ulong *nodes,
                  ulong nodes_at RED_SECOND_PARAMETERS RED_ONCE_PARAMETERS) {
  local red_node scratch[2 * RED_GROUP]; /* two, so that one barrier a chunk is enough */
  local red_node waiting[32];
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset), *y = RED_SECOND_INPUT(x);
  uint lane = red_lane(), height = 0, chunk = 0;
  ulong first = get_group_id(0) * ((ulong)RED_CHUNK << level);
  ulong end = min(n, first + ((ulong)RED_CHUNK << level));
#if RED_CANONICAL
  for (ulong at = first; at < end; at += RED_CHUNK, chunk++) {
    red_node node = red_lane_node(x, y, at, (uint)min(end - at, (ulong)RED_CHUNK), lane, rules);
    node = red_group_fold(node, lane, scratch + (chunk & 1) * RED_GROUP);
    if (lane == 0) height = red_join_waiting(waiting, height, chunk, node);
  }
  red_node node = lane == 0 ? red_root_of_waiting(waiting, height) : red_identity();
#else
  red_node node = red_identity(); /* any order: the lanes meet only once */
  for (ulong at = first; at < end; at += RED_CHUNK)
    node = red_merge(node, red_lane_node(x, y, at, (uint)min(end - at, (ulong)RED_CHUNK), lane, rules));
  node = red_group_fold(node, lane, scratch);
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
