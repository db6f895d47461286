/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scan on GPUs, in the order of `scan-1`, as reduce-then-scan: no work-group waits for another. A tile is a work-group's,
 * sixteen neighbours a lane; local memory turns coalesced rows into the lanes' runs. The tiles' totals are scanned by the
 * same kernels, level upon level, until one tile holds them all.
 */
/* Read a tile in rows, keep this lane's run; past n lies the identity. */
static __attribute__((always_inline)) void red_read_elements(global const RED_ELEMENT *x, ulong first, ulong n,
                                                             uint lane, red_rules rules, local RED_VALUE *tile,
                                                             RED_VALUE *run) {
  RED_ELEMENT row[RED_RUN];
  x += first + lane;
  if (first + RED_TILE <= n) {
#pragma unroll
    for (uint r = 0; r < RED_RUN; r++) row[r] = x[r * RED_GROUP];
    RED_HOLD();
#pragma unroll
    for (uint r = 0; r < RED_RUN; r++) tile[RED_AT(r * RED_GROUP + lane)] = red_lift(row[r], rules);
  } else {
#pragma unroll
    for (uint r = 0; r < RED_RUN; r++) {
      uint i = r * RED_GROUP + lane;
      tile[RED_AT(i)] = first + i < n ? red_lift(x[r * RED_GROUP], rules) : (RED_VALUE)RED_IDENTITY;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint j = 0; j < RED_RUN; j++) run[j] = tile[RED_AT(lane * RED_RUN + j)];
  barrier(CLK_LOCAL_MEM_FENCE);
}

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
#pragma unroll
  for (uint j = 0; j < RED_RUN; j++) {
    RED_VALUE here = p[j], next = p[j + 1];
    tile[RED_AT(lane * RED_RUN + j)] = inclusive ? next : here;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint r = 0; r < RED_RUN; r++) {
    uint i = r * RED_GROUP + lane;
    if (first + i < n) red_write(out, first + i, tile[RED_AT(i)], base + first + i + inclusive, rules, last);
  }
  if (begins && get_group_id(0) == 0 && lane == 0 && n > 0) red_store_bits(out, last.out_bytes, beginning);
}
