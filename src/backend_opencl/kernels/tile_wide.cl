/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tile of a scan on CPU devices, in the order of `scan-1`: 2^level elements are one work-item's, and fall into blocks of
 * sixteen runs. A prefix is its index's binary expansion, so that within a vector
 *   P(i) = ((start + node of i's bit 3) + node of bit 2) + ..
 * where a bit that is not set adds the identity.
 */
/*
 * Pairing neighbours halves the work from level to level, upwards and downwards. A group is four vectors that become one
 * vector of nodes; a block is a group, or sixteen vectors in two storeys where registers hold as many. Everything is
 * spelled out, not looped over: a driver's compiler keeps arrays in memory.
 */
#if RED_VALUE_BITS == 64
#define RED_BLOCK 64
#else
#define RED_BLOCK 256
#endif
#define RED_RUN (RED_BLOCK / 16) /* elements under each node of a block's last vector */

static RED_VALUE red_tree16(RED_VALUE16 v) {
  RED_JOIN(RED_VALUE, 8) v8 = RED_OP(v.even, v.odd);
  RED_JOIN(RED_VALUE, 4) v4 = RED_OP(v8.even, v8.odd);
  RED_JOIN(RED_VALUE, 2) v2 = RED_OP(v4.even, v4.odd);
  return RED_OP(v2.even, v2.odd);
}

static RED_VALUE16 red_even(RED_VALUE16 a, RED_VALUE16 b) {
  return (RED_VALUE16)(a.even, b.even);
}

static RED_VALUE16 red_odd(RED_VALUE16 a, RED_VALUE16 b) {
  return (RED_VALUE16)(a.odd, b.odd);
}

static RED_VALUE16 red_zip_low(RED_VALUE16 a, RED_VALUE16 b) {
  return (RED_VALUE16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7);
}

static RED_VALUE16 red_zip_high(RED_VALUE16 a, RED_VALUE16 b) {
  return (RED_VALUE16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf);
}

/* v moved down by one place, `after` coming in. */
static RED_VALUE16 red_next(RED_VALUE16 v, RED_VALUE after) {
  return (RED_VALUE16)(v.s12345678, v.s9abc, v.sde, v.sf, after);
}

/* The nodes of a group's sixteen quadruples, and the left operands that the way down needs. */
typedef struct red_group {
  RED_VALUE16 left0, left1, upper, nodes;
} red_group;

static red_group red_up(RED_VALUE16 a, RED_VALUE16 b, RED_VALUE16 c, RED_VALUE16 d) {
  red_group g;
  g.left0 = red_even(a, b);
  g.left1 = red_even(c, d);
  RED_VALUE16 pairs0 = red_op16(g.left0, red_odd(a, b)), pairs1 = red_op16(g.left1, red_odd(c, d));
  g.upper = red_even(pairs0, pairs1);
  g.nodes = red_op16(g.upper, red_odd(pairs0, pairs1));
  return g;
}

/* P at the even places of a group's two halves, from P at its quadruples. */
static void red_down(const red_group *g, RED_VALUE16 p, RED_VALUE16 *even0, RED_VALUE16 *even1) {
  RED_VALUE16 second = red_op16(p, g->upper);
  *even0 = red_zip_low(p, second);
  *even1 = red_zip_high(p, second);
}

static red_group red_read_group(global const RED_ELEMENT *x, red_rules rules) {
  return red_up(red_lift16(vload16(0, x), rules), red_lift16(vload16(1, x), rules), red_lift16(vload16(2, x), rules),
                red_lift16(vload16(3, x), rules));
}

typedef struct red_block {
#if RED_BLOCK == 256
  red_group part0, part1, part2, part3;
#endif
  red_group top;
} red_block;

static __attribute__((always_inline)) red_block red_read_block(global const RED_ELEMENT *x, red_rules rules) {
  red_block b;
#if RED_BLOCK == 256
  b.part0 = red_read_group(x, rules);
  b.part1 = red_read_group(x + 64, rules);
  b.part2 = red_read_group(x + 128, rules);
  b.part3 = red_read_group(x + 192, rules);
  b.top = red_up(b.part0.nodes, b.part1.nodes, b.part2.nodes, b.part3.nodes);
#else
  b.top = red_read_group(x, rules);
#endif
  return b;
}

/* The nodes of a block at the array's edge: small code rather than fast. */
static RED_VALUE16 red_edge_nodes(global const RED_ELEMENT *x, ulong at, ulong n, red_rules rules) {
  RED_VALUE node[16];
  for (uint j = 0; j < 16; j++) {
    node[j] = (RED_VALUE)RED_IDENTITY;
    RED_VALUE values[RED_RUN];
    for (uint i = 0; i < RED_RUN; i++) {
      ulong place = at + j * RED_RUN + i;
      values[i] = place < n ? red_lift(x[place], rules) : (RED_VALUE)RED_IDENTITY;
    }
    for (uint count = RED_RUN / 2; count > 0; count /= 2)
      for (uint i = 0; i < count; i++) values[i] = RED_OP(values[2 * i], values[2 * i + 1]);
    node[j] = values[0];
  }
  return vload16(0, node);
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

/* The node of elements [first, end), a tile or what there is of one; what lies past n is the identity. */
static RED_VALUE red_tile_node(global const RED_ELEMENT *x, ulong first, ulong end, ulong n, red_rules rules) {
  RED_VALUE waiting[32];
  uint height = 0, block = 0;
  for (ulong at = first; at < end; at += RED_BLOCK, block++) {
    RED_VALUE16 nodes = at + RED_BLOCK <= n ? red_read_block(x + at, rules).top.nodes : red_edge_nodes(x, at, n, rules);
    RED_VALUE node = red_tree16(nodes);
    for (uint k = block; k & 1; k >>= 1) node = RED_OP(waiting[--height], node);
    waiting[height++] = node;
  }
  RED_VALUE node = waiting[--height];
  while (height > 0) node = RED_OP(waiting[--height], node);
  return node;
}

/* The outputs of a group from P of its quadruples; `after` is P of its end, `count` what the first output covers. */
static void red_write_group(global uchar *out, ulong at, const red_group *g, RED_VALUE16 p, RED_VALUE after, ulong count,
                            uint inclusive, uint stream, red_rules rules, red_last last) {
  RED_VALUE16 even0, even1;
  red_down(g, p, &even0, &even1);
  RED_VALUE16 odd0 = red_op16(even0, g->left0), odd1 = red_op16(even1, g->left1);
  RED_VALUE16 a = even0, b = odd0, c = even1, d = odd1;
  if (inclusive) { /* P(i + 1): what is odd comes first, then the next even one */
    a = odd0;
    b = red_next(even0, even1.s0);
    c = odd1;
    d = red_next(even1, after);
  }
  red_write16(out, at, red_zip_low(a, b), count, stream, rules, last);
  red_write16(out, at + 16, red_zip_high(a, b), count + 16, stream, rules, last);
  red_write16(out, at + 32, red_zip_low(c, d), count + 32, stream, rules, last);
  red_write16(out, at + 48, red_zip_high(c, d), count + 48, stream, rules, last);
}

/* The outputs of a block; `next` is P of its end. */
static void red_write_block(global uchar *out, ulong at, const red_block *b, RED_VALUE16 starts, RED_VALUE next,
                            ulong count, uint inclusive, uint stream, red_rules rules, red_last last) {
#if RED_BLOCK == 256
  RED_VALUE16 even0, even1;
  red_down(&b->top, starts, &even0, &even1);
  RED_VALUE16 odd0 = red_op16(even0, b->top.left0), odd1 = red_op16(even1, b->top.left1);
  RED_VALUE16 p1 = red_zip_high(even0, odd0), p2 = red_zip_low(even1, odd1), p3 = red_zip_high(even1, odd1);
  red_write_group(out, at, &b->part0, red_zip_low(even0, odd0), p1.s0, count, inclusive, stream, rules, last);
  red_write_group(out, at + 64, &b->part1, p1, p2.s0, count + 64, inclusive, stream, rules, last);
  red_write_group(out, at + 128, &b->part2, p2, p3.s0, count + 128, inclusive, stream, rules, last);
  red_write_group(out, at + 192, &b->part3, p3, next, count + 192, inclusive, stream, rules, last);
#else
  red_write_group(out, at, &b->top, starts, next, count, inclusive, stream, rules, last);
#endif
}

/* The same at the array's edge, one output after the other. */
static void red_write_edge(global const RED_ELEMENT *x, global uchar *out, ulong at, ulong n, RED_VALUE start, ulong base,
                           uint inclusive, red_rules rules, red_last last) {
  red_expansion e;
  red_begin(&e, start);
  for (ulong i = at; i < n; i++) {
    RED_VALUE element = red_lift(x[i], rules);
    if (!inclusive) red_write(out, i, e.before[e.height], base + i, rules, last);
    red_advance(&e, element);
    if (inclusive) red_write(out, i, e.before[e.height], base + i + 1, rules, last);
  }
}

/*
 * The outputs of a tile, elements [first, end), which begins with P(first) = `start`; P of a whole tile's end is
 * rippled above the tile, and known as `tile_end`. `base` elements came before the array.
 */
static void red_write_tile(global const RED_ELEMENT *x, global uchar *out, ulong first, ulong end, uint level,
                           RED_VALUE start, RED_VALUE tile_end, ulong base, uint inclusive, uint large, red_rules rules,
                           red_last last) {
  uint stream = large && (ulong)out % RED_OUT_VECTOR_BYTES == 0;
  ulong whole_end = first + ((ulong)1 << level), at = first;
  red_expansion e;
  red_begin(&e, start);
  for (; at + RED_BLOCK <= end; at += RED_BLOCK) {
    red_block b = red_read_block(x + at, rules);
    RED_VALUE16 starts = red_prefixes16(e.before[e.height], b.top.nodes);
    red_advance(&e, red_tree16(b.top.nodes));
    RED_VALUE next = at + RED_BLOCK == whole_end ? tile_end : e.before[e.height];
    red_write_block(out, at, &b, starts, next, base + at + inclusive, inclusive, stream, rules, last);
  }
  if (at < end) red_write_edge(x, out, at, end, e.before[e.height], base, inclusive, rules, last);
}
