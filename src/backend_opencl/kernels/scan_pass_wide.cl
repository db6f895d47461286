/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scan on CPU devices in one pass: a work-item takes the next tile, computes its total, which brings the tile into its
 * core's cache, waits for the prefix before it, hands the next one on, and then writes its outputs. It only waits for
 * work-items that have begun, which is safe where a work-group, once begun, stays on a thread of the operating system until
 * it is done.
 */
/*
 * What a pass keeps in memory, in words: the next tile's number, then two slots for what is handed on. Two suffice: who
 * writes a slot has read the other, whose writer had read this one.
 */
#define RED_PASS_SLOT(tile) (8 + 88 * ((tile) & 1)) /* in it: how many tiles are done, nodes from 8, prefixes from 48 */

static void red_hand_on(volatile global ulong *slot, const red_expansion *e) {
  for (uint i = 0; i < e->height; i++) {
    slot[8 + i] = red_pack(e->node[i]);
    slot[48 + i] = red_pack(e->before[i + 1]);
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_xchg((volatile global uint *)slot, (uint)e->count);
}

/* The expansion of the first `tile` tiles; before[0] is there. */
static void red_take_over(volatile global ulong *slot, uint tile, red_expansion *e) {
  while (*(volatile global uint *)slot != tile) {
  }
  atomic_add((volatile global uint *)slot, 0); /* reads below see what was written before the number */
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  e->count = tile;
  e->height = (uint)popcount(tile);
  for (uint i = 0; i < e->height; i++) {
    e->node[i] = red_unpack(slot[8 + i]);
    e->before[i + 1] = red_unpack(slot[48 + i]);
  }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_scan_pass(global const uchar *in, ulong in_offset, ulong n, uint level, red_rules rules, volatile global ulong *nodes,
              ulong pass_at, ulong start, ulong base, uint inclusive, uint begins, ulong beginning, red_last last,
              global uchar *out, ulong out_offset, uint large) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset);
  volatile global ulong *pass = nodes + pass_at;
  uint tile = atomic_inc((volatile global uint *)pass);
  ulong first = (ulong)tile << level, end = min(n, first + ((ulong)1 << level));
  bool hands_on = end - first == (ulong)1 << level || tile == 0; /* else nothing follows */
  RED_VALUE total = hands_on ? red_tile_node(x, first, end, n, rules) : (RED_VALUE)RED_IDENTITY;
  red_expansion e;
  red_begin(&e, red_unpack(start));
  if (tile > 0) red_take_over(pass + RED_PASS_SLOT(tile), tile, &e);
  RED_VALUE tile_start = e.before[e.height];
  if (hands_on) {
    red_advance(&e, total);
    red_hand_on(pass + RED_PASS_SLOT(tile + 1), &e);
  }
  red_write_tile(x, out + out_offset, first, end, level, tile_start, e.before[e.height], base, inclusive, large, rules,
                 last);
  if (begins && tile == 0 && n > 0) red_store_bits(out + out_offset, last.out_bytes, beginning);
}
