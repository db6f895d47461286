/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scan on CPU devices, in the order of `scan-1`. A tile of 2^level elements is one work-item's, and falls into blocks of
 * 256 = 16 x 16. Three launches: each tile's total (a node of the adjacent-pairs tree), each tile's start P(first
 * element), each tile's outputs. A prefix is its index's binary expansion, so that within a vector
 *   P(i) = ((start + node of i's bit 3) + node of bit 2) + ..
 * where a bit that is not set adds the identity.
 */
#define RED_BLOCK 256
#define RED_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1))) void

static RED_VALUE16 red_load16(global const RED_ELEMENT *x, ulong at, ulong n, red_rules rules) {
  if (at + 16 <= n) return red_lift16(vload16(0, x + at), rules);
  RED_VALUE values[16];
  for (uint i = 0; i < 16; i++) values[i] = at + i < n ? red_lift(x[at + i], rules) : (RED_VALUE)RED_IDENTITY;
  return vload16(0, values);
}

static RED_VALUE16 red_pairs(RED_VALUE16 a, RED_VALUE16 b) {
  return red_op16((RED_VALUE16)(a.even, b.even), (RED_VALUE16)(a.odd, b.odd));
}

static RED_VALUE red_tree16(RED_VALUE16 v) {
  RED_JOIN(RED_VALUE, 8) v8 = RED_OP(v.even, v.odd);
  RED_JOIN(RED_VALUE, 4) v4 = RED_OP(v8.even, v8.odd);
  RED_JOIN(RED_VALUE, 2) v2 = RED_OP(v4.even, v4.odd);
  return RED_OP(v2.even, v2.odd);
}

/* node(4, .) of the sixteen runs of sixteen elements. */
static RED_VALUE16 red_block_nodes(global const RED_ELEMENT *x, ulong at, ulong n, red_rules rules) {
  if (at + RED_BLOCK > n) { /* the array's edge: small code rather than fast */
    RED_VALUE node[16];
    for (uint j = 0; j < 16; j++) node[j] = red_tree16(red_load16(x, at + 16 * j, n, rules));
    return vload16(0, node);
  }
  RED_VALUE16 v[16];
#pragma unroll
  for (uint j = 0; j < 16; j++) v[j] = red_lift16(vload16(j, x + at), rules);
#pragma unroll
  for (uint count = 8; count > 0; count /= 2) {
#pragma unroll
    for (uint j = 0; j < count; j++) v[j] = red_pairs(v[2 * j], v[2 * j + 1]);
  }
  return v[0];
}

/* P of sixteen neighbours, the first of which is `start`. */
static RED_VALUE16 red_prefixes16(RED_VALUE start, RED_VALUE16 x) {
  const RED_VALUE16 none = (RED_VALUE16)(RED_IDENTITY);
  RED_VALUE16 n1 = red_op16(x, x.s1032547698badcfe);
  RED_VALUE16 n2 = red_op16(n1, n1.s23016745ab89efcd);
  RED_VALUE16 n3 = red_op16(n2, n2.s45670123cdef89ab);
  RED_VALUE16 bit3 = (RED_VALUE16)(none.lo, n3.lo);
  RED_VALUE16 bit2 = (RED_VALUE16)(none.s0123, n2.s0123, none.s0123, n2.s89ab);
  RED_VALUE16 bit1 = (RED_VALUE16)(none.s01, n1.s01, none.s01, n1.s45, none.s01, n1.s89, none.s01, n1.scd);
  RED_VALUE16 bit0 = (RED_VALUE16)(none.s0, x.s0, none.s0, x.s2, none.s0, x.s4, none.s0, x.s6, none.s0, x.s8, none.s0,
                                   x.sa, none.s0, x.sc, none.s0, x.se);
  return red_op16(red_op16(red_op16(red_op16((RED_VALUE16)(start), bit3), bit2), bit1), bit0);
}

/*
 * The nodes of k's binary expansion and the prefixes before each: P(k) is at hand when the k-th block begins, and one
 * merge or two a block keep it so.
 */
typedef struct red_expansion {
  ulong count;
  uint height;
  RED_VALUE node[40];
  RED_VALUE before[41]; /* before[height] is P(count) */
} red_expansion;

static void red_begin(red_expansion *e, RED_VALUE start) {
  e->count = 0;
  e->height = 0;
  e->before[0] = start;
}

static void red_advance(red_expansion *e, RED_VALUE node) {
  for (ulong k = e->count; k & 1; k >>= 1) node = RED_OP(e->node[--e->height], node);
  e->node[e->height] = node;
  e->before[e->height + 1] = RED_OP(e->before[e->height], node);
  e->height++;
  e->count++;
}

/* Work-item t: node (level, first + t) of the elements' tree; what lies past n is the identity. */
RED_KERNEL red_scan_totals(global const uchar *in, ulong in_offset, ulong n, uint level, ulong first_tile,
                            red_rules rules, global ulong *nodes, ulong totals_at) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset);
  ulong tile = first_tile + get_global_id(0);
  ulong first = tile << level, end = min(n, (tile + 1) << level);
  RED_VALUE waiting[32];
  uint height = 0, block = 0;
  for (ulong at = first; at < end; at += RED_BLOCK, block++) {
    RED_VALUE node = red_tree16(red_block_nodes(x, at, n, rules));
    for (uint k = block; k & 1; k >>= 1) node = RED_OP(waiting[--height], node);
    waiting[height++] = node;
  }
  RED_VALUE node = waiting[--height];
  while (height > 0) node = RED_OP(waiting[--height], node);
  red_put(nodes + totals_at, tile, node);
}

/*
 * One work-item: the starts of `tiles` tiles from the `first` one on, and of the one after them, whose start the next
 * call begins with. The expansion lives in memory between calls: count, height, nodes, prefixes.
 */
RED_KERNEL red_scan_starts(ulong first, ulong tiles, ulong start, global ulong *nodes, ulong totals_at, ulong starts_at,
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

static void red_store16(global RED_OUT_ELEMENT *y, ulong at, ulong n, RED_VALUE16 v, ulong count, red_rules rules) {
  const ulong16 steps = (ulong16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  if (at + 16 <= n) {
    vstore16(red_out16(v, count + steps, rules), 0, y + at);
    return;
  }
  RED_VALUE values[16];
  vstore16(v, 0, values);
  for (uint i = 0; at + i < n; i++) y[at + i] = red_out(values[i], count + i, rules);
}

/* Outputs of one block; `next` is P of the block's end. */
static void red_block_outputs(global const RED_ELEMENT *x, global RED_OUT_ELEMENT *y, ulong at, ulong n,
                              RED_VALUE16 starts, RED_VALUE next, ulong base, uint inclusive, red_rules rules) {
  RED_VALUE start[17];
  vstore16(starts, 0, start);
  start[16] = next;
  for (uint j = 0; j < 16 && at + 16 * j < n; j++) {
    RED_VALUE16 p = red_prefixes16(start[j], red_load16(x, at + 16 * j, n, rules));
    if (inclusive) p = (RED_VALUE16)(p.s12345678, p.s9abc, p.sde, p.sf, start[j + 1]);
    red_store16(y, at + 16 * j, n, p, base + at + 16 * j + inclusive, rules);
  }
}

/*
 * Work-item t: the outputs of tile first + t. `base` elements came before this array. An exclusive scan without init
 * begins with the operator's identity, which is not the one that changes nothing.
 */
RED_KERNEL red_scan_tiles(global const uchar *in, ulong in_offset, ulong n, uint level, ulong first_tile,
                           red_rules rules, global const ulong *nodes, ulong starts_at, ulong base, uint inclusive,
                           uint begins, ulong beginning, global uchar *out, ulong out_offset) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset);
  global RED_OUT_ELEMENT *y = (global RED_OUT_ELEMENT *)(out + out_offset);
  ulong tile = first_tile + get_global_id(0);
  ulong first = tile << level, end = min(n, (tile + 1) << level);
  red_expansion e;
  red_begin(&e, red_get(nodes + starts_at, tile));
  RED_VALUE tile_end = red_get(nodes + starts_at, tile + 1);
  for (ulong at = first; at < end; at += RED_BLOCK) {
    RED_VALUE16 sixteens = red_block_nodes(x, at, n, rules);
    RED_VALUE16 starts = red_prefixes16(e.before[e.height], sixteens);
    red_advance(&e, red_tree16(sixteens));
    /* The tile's end is rippled above the tile: what the starts say. */
    RED_VALUE next = at + RED_BLOCK == (tile + 1) << level ? tile_end : e.before[e.height];
    red_block_outputs(x, y, at, n, starts, next, base, inclusive, rules);
  }
  if (begins && tile == 0 && n > 0) y[0] = (RED_OUT_ELEMENT)beginning;
}
