/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts of tiles from their totals, on CPU devices. */

/*
 * One work-item: the starts of `tiles` tiles from the `first` one on, and of the one after them, whose start the next
 * call begins with. The expansion lives in memory between calls: count, height, nodes, prefixes.
 */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_scan_starts(ulong first, ulong tiles, ulong start, global ulong *nodes, ulong totals_at, ulong starts_at,
                            ulong expansion_at) {
  global ulong *kept = nodes + expansion_at;
  red_expansion e;
  red_begin(&e, red_unpack(start));
  if (first > 0) {
    e.count = first;
    e.height = (uint)popcount(first);
    for (uint i = 0; i < e.height; i++) {
      e.node[i] = red_unpack(kept[i]);
      e.before[i + 1] = red_unpack(kept[40 + i]);
    }
  }
  for (ulong t = first; t < first + tiles; t++) {
    red_put(nodes + starts_at, t, e.before[e.height]);
    red_advance(&e, red_get(nodes + totals_at, t));
  }
  red_put(nodes + starts_at, first + tiles, e.before[e.height]);
  for (uint i = 0; i < e.height; i++) {
    kept[i] = red_pack(e.node[i]);
    kept[40 + i] = red_pack(e.before[i + 1]);
  }
}
