/* SPDX-License-Identifier: BSD-2-Clause */
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
