/* SPDX-License-Identifier: BSD-2-Clause */
/* The levels above the elements' tiles, on GPUs: the same of nodes. */

static void red_read_nodes(global const ulong *nodes, ulong first, ulong n, uint lane, local RED_VALUE *tile,
                           RED_VALUE *run) {
  for (uint r = 0; r < RED_RUN; r++) {
    uint i = r * RED_GROUP + lane;
    tile[RED_AT(i)] = first + i < n ? red_get(nodes, first + i) : (RED_VALUE)RED_IDENTITY;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint j = 0; j < RED_RUN; j++) run[j] = tile[RED_AT(lane * RED_RUN + j)];
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* The same of `n` nodes, for the next level. */
RED_KERNEL red_scan_node_totals(ulong n, global ulong *nodes, ulong from_at, ulong totals_at) {
  local RED_VALUE tile[RED_AT(RED_TILE)], heap[2 * RED_GROUP];
  uint lane = get_local_id(0);
  RED_VALUE run[RED_RUN];
  red_read_nodes(nodes + from_at, get_group_id(0) * (ulong)RED_TILE, n, lane, tile, run);
  red_fill_heap(heap, lane, red_run_node(run));
  if (lane == 0) red_put(nodes + totals_at, get_group_id(0), heap[1]);
}

/*
 * Work-group t: exclusive prefixes of tile t of `n` nodes, n + 1 of them in all. The tile's own start is `start` at the
 * uppermost level, else it is read from `starts_at`. The uppermost level also leaves its total, behind the prefixes.
 */
RED_KERNEL red_scan_node_tiles(ulong n, global ulong *nodes, ulong from_at, ulong start, uint uppermost, ulong starts_at,
                               ulong to_at) {
  local RED_VALUE tile[RED_AT(RED_TILE)], heap[2 * RED_GROUP];
  uint lane = get_local_id(0);
  ulong first = get_group_id(0) * (ulong)RED_TILE;
  RED_VALUE run[RED_RUN], p[RED_RUN];
  red_read_nodes(nodes + from_at, first, n, lane, tile, run);
  red_fill_heap(heap, lane, red_run_node(run));
  RED_VALUE begin = uppermost ? red_unpack(start) : red_get(nodes + starts_at, get_group_id(0));
  red_run_prefixes(run, red_descend(heap, lane, begin), p);
  for (uint j = 0; j < RED_RUN; j++)
    if (first + lane * RED_RUN + j <= n) red_put(nodes + to_at, first + lane * RED_RUN + j, p[j]);
  if (uppermost && lane == 0) red_put(nodes + to_at, n + 1, heap[1]);
}
