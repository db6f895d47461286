/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scan on CPU devices in windows, by three launches each: every tile's total (a node of the adjacent-pairs tree), every
 * tile's start P(first element), every tile's outputs. No work-item waits for another. Elsewhere one pass: scan_pass_wide.cl.
 */
#define RED_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1))) void

/* Work-item t: node (level, first + t) of the elements' tree. */
RED_KERNEL red_scan_totals(global const uchar *in, ulong in_offset, ulong n, uint level, ulong first_tile,
                            red_rules rules, global ulong *nodes, ulong totals_at) {
  ulong tile = first_tile + get_global_id(0), first = tile << level, end = min(n, (tile + 1) << level);
  red_put(nodes + totals_at, tile, red_tile_node((global const RED_ELEMENT *)(in + in_offset), first, end, n, rules));
}

/*
 * Work-item t: the outputs of tile first + t. An exclusive scan without init begins with the operator's identity, which is
 * not the one that changes nothing.
 */
RED_KERNEL red_scan_tiles(global const uchar *in, ulong in_offset, ulong n, uint level, ulong first_tile,
                           red_rules rules, global const ulong *nodes, ulong starts_at, ulong base, uint inclusive,
                           uint begins, ulong beginning, red_last last, global uchar *out, ulong out_offset,
                           uint large) {
  ulong tile = first_tile + get_global_id(0), first = tile << level, end = min(n, (tile + 1) << level);
  red_write_tile((global const RED_ELEMENT *)(in + in_offset), out + out_offset, first, end, level,
                 red_get(nodes + starts_at, tile), red_get(nodes + starts_at, tile + 1), base, inclusive, large, rules,
                 last);
  if (begins && tile == 0 && n > 0) red_store_bits(out + out_offset, last.out_bytes, beginning);
}
