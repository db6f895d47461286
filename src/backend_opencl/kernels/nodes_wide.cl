/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of nodes on CPU devices: a work-item each. */

/* Work-item i: the node of the nodes [i << level, (i + 1) << level), as far as there are any. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_reduce_nodes(global ulong *nodes, ulong from_at, ulong count, uint level, ulong to_at) {
  red_node waiting[64];
  ulong first = get_global_id(0) << level;
  ulong end = min(count, (get_global_id(0) + 1) << level);
  if (first >= end) return;
  uint height = 0;
  for (ulong i = first; i < end; i++) {
    red_node node = red_get(nodes + from_at, i);
    for (ulong k = i - first; k & 1; k >>= 1) node = red_merge(waiting[--height], node);
    waiting[height++] = node;
  }
  red_node node = waiting[--height];
  while (height > 0) node = red_merge(waiting[--height], node);
  red_put(nodes + to_at, get_global_id(0), node);
}
