/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of nodes on GPUs: a work-group each. */

/* Pairs of neighbours among the first `count` lanes until one is left: the binary tree, in lane 0. */
static red_node red_group_pairs(red_node node, uint count, uint lane, local red_node *scratch) {
  scratch[lane] = node;
  barrier(CLK_LOCAL_MEM_FENCE);
  while (count > 1) {
    uint pairs = (count + 1) / 2;
    if (lane < pairs) {
      node = scratch[2 * lane];
      if (2 * lane + 1 < count) node = red_merge(node, scratch[2 * lane + 1]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < pairs) scratch[lane] = node;
    barrier(CLK_LOCAL_MEM_FENCE);
    count = pairs;
  }
  return scratch[0];
}

/* Work-group g: the node of the nodes [g << level, (g + 1) << level), each lane an aligned run of them. */
kernel __attribute__((reqd_work_group_size(RED_GROUP, 1, 1))) void
red_reduce_nodes(global ulong *nodes, ulong from_at, ulong count, uint level, ulong to_at) {
  local red_node scratch[RED_GROUP];
  uint lane = get_local_id(0);
  ulong first = get_group_id(0) << level;
  uint present = (uint)(min(count, (get_group_id(0) + 1) << level) - first);
  uint run = (1u << level) / RED_GROUP;
  red_node waiting[32];
  uint height = 0;
  for (uint i = lane * run; i < min((lane + 1) * run, present); i++) {
    red_node node = red_get(nodes + from_at, first + i);
    for (uint k = i - lane * run; k & 1; k >>= 1) node = red_merge(waiting[--height], node);
    waiting[height++] = node;
  }
  red_node node = height > 0 ? waiting[--height] : red_identity();
  while (height > 0) node = red_merge(waiting[--height], node);
  node = red_group_pairs(node, (present + run - 1) / run, lane, scratch);
  if (lane == 0) red_put(nodes + to_at, get_group_id(0), node);
}
