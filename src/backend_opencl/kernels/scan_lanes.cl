/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scan on GPUs, in the order of `scan-1`, as reduce-then-scan: no work-group waits for another. A tile is a work-group's,
 * sixteen neighbours a lane; local memory turns coalesced rows into the lanes' runs. The tiles' totals are scanned by the
 * same kernels, level upon level, until one tile holds them all.
 */
#define RED_RUN  16
#define RED_TILE (RED_GROUP * RED_RUN)
#define RED_AT(i) ((i) + (i) / RED_RUN) /* padded against bank conflicts */

/* The nodes over a lane's run, and P within it. */
static RED_VALUE red_run_node(const RED_VALUE *x) {
  RED_VALUE node[RED_RUN / 2];
  for (uint i = 0; i < RED_RUN / 2; i++) node[i] = RED_OP(x[2 * i], x[2 * i + 1]);
  for (uint count = RED_RUN / 4; count > 0; count /= 2)
    for (uint i = 0; i < count; i++) node[i] = RED_OP(node[2 * i], node[2 * i + 1]);
  return node[0];
}

static void red_run_prefixes(const RED_VALUE *x, RED_VALUE start, RED_VALUE *p) {
  RED_VALUE n1[8], n2[4], n3[2];
  for (uint i = 0; i < 8; i++) n1[i] = RED_OP(x[2 * i], x[2 * i + 1]);
  for (uint i = 0; i < 4; i++) n2[i] = RED_OP(n1[2 * i], n1[2 * i + 1]);
  for (uint i = 0; i < 2; i++) n3[i] = RED_OP(n2[2 * i], n2[2 * i + 1]);
  p[0] = start;
  p[8] = RED_OP(p[0], n3[0]);
  p[4] = RED_OP(p[0], n2[0]);
  p[12] = RED_OP(p[8], n2[2]);
  for (uint i = 0; i < 4; i++) p[4 * i + 2] = RED_OP(p[4 * i], n1[2 * i]);
  for (uint i = 0; i < 8; i++) p[2 * i + 1] = RED_OP(p[2 * i], x[2 * i]);
}

/* Fill the heap: heap[w + i] is node i of the level with w nodes; the lanes' own lie at RED_GROUP + lane. */
static void red_fill_heap(local RED_VALUE *heap, uint lane, RED_VALUE node) {
  heap[RED_GROUP + lane] = node;
  for (uint width = RED_GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < width) heap[width + lane] = RED_OP(heap[2 * (width + lane)], heap[2 * (width + lane) + 1]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* P of the lane's run: from the root down, the left sibling wherever the lane turns right. */
static RED_VALUE red_descend(local const RED_VALUE *heap, uint lane, RED_VALUE start) {
  for (uint width = 2; width <= RED_GROUP; width *= 2) {
    uint place = width + lane / (RED_GROUP / width);
    if (place & 1) start = RED_OP(start, heap[place - 1]);
  }
  return start;
}

/* Read a tile in rows, keep this lane's run; past n lies the identity. */
static void red_read_elements(global const RED_ELEMENT *x, ulong first, ulong n, uint lane, red_rules rules,
                              local RED_VALUE *tile, RED_VALUE *run) {
  for (uint r = 0; r < RED_RUN; r++) {
    uint i = r * RED_GROUP + lane;
    tile[RED_AT(i)] = first + i < n ? red_lift(x[first + i], rules) : (RED_VALUE)RED_IDENTITY;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint j = 0; j < RED_RUN; j++) run[j] = tile[RED_AT(lane * RED_RUN + j)];
  barrier(CLK_LOCAL_MEM_FENCE);
}

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

#define RED_KERNEL kernel __attribute__((reqd_work_group_size(RED_GROUP, 1, 1))) void

/* Work-group t: the total of tile t of the elements. */
RED_KERNEL red_scan_totals(global const uchar *in, ulong in_offset, ulong n, red_rules rules, global ulong *nodes,
                           ulong totals_at) {
  local RED_VALUE tile[RED_AT(RED_TILE)], heap[2 * RED_GROUP];
  uint lane = get_local_id(0);
  RED_VALUE run[RED_RUN];
  red_read_elements((global const RED_ELEMENT *)(in + in_offset), get_group_id(0) * (ulong)RED_TILE, n, lane, rules, tile,
                    run);
  red_fill_heap(heap, lane, red_run_node(run));
  if (lane == 0) red_put(nodes + totals_at, get_group_id(0), heap[1]);
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

/*
 * Work-group t: the outputs of tile t. `base` elements came before this array. An exclusive scan without init begins with
 * the operator's identity, which is not the one that changes nothing.
 */
RED_KERNEL red_scan_tiles(global const uchar *in, ulong in_offset, ulong n, red_rules rules, global const ulong *nodes,
                          ulong starts_at, ulong base, uint inclusive, uint begins, ulong beginning, red_last last,
                          global uchar *out, ulong out_offset) {
  local RED_VALUE tile[RED_AT(RED_TILE)], heap[2 * RED_GROUP];
  out += out_offset;
  uint lane = get_local_id(0);
  ulong first = get_group_id(0) * (ulong)RED_TILE;
  RED_VALUE run[RED_RUN], p[RED_RUN + 1];
  red_read_elements((global const RED_ELEMENT *)(in + in_offset), first, n, lane, rules, tile, run);
  red_fill_heap(heap, lane, red_run_node(run));
  RED_VALUE start = red_descend(heap, lane, red_get(nodes + starts_at, get_group_id(0)));
  red_run_prefixes(run, start, p);
  /* P of the run's end is the next lane's start; the tile's end is rippled above the tile, as the next start says. */
  barrier(CLK_LOCAL_MEM_FENCE);
  heap[lane] = start;
  barrier(CLK_LOCAL_MEM_FENCE);
  p[RED_RUN] = lane + 1 < RED_GROUP ? heap[lane + 1] : red_get(nodes + starts_at, get_group_id(0) + 1);
  for (uint j = 0; j < RED_RUN; j++) tile[RED_AT(lane * RED_RUN + j)] = inclusive ? p[j + 1] : p[j];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < RED_RUN; r++) {
    uint i = r * RED_GROUP + lane;
    if (first + i < n) red_write(out, first + i, tile[RED_AT(i)], base + first + i + inclusive, rules, last);
  }
  if (begins && get_group_id(0) == 0 && lane == 0 && n > 0) red_store_bits(out, last.out_bytes, beginning);
}
