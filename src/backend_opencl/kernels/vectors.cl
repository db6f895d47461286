/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of elements whose order is free, on GPUs: vectors of 16 bytes from the first boundary on, RED_VECTORS of each lane in
 * flight; what lies before and behind them is taken one by one. What a lane has taken of vectors is a bag (bags.cl).
 */
#if defined(RED_ARGMIN) && RED_IN_BITS == 64
#define RED_VECTORS 16
#else
#define RED_VECTORS 8
#endif
#define RED_TILE (RED_VECTORS * RED_GROUP)

static red_node red_take_element(red_node node, global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong i,
                                 red_rules rules) {
#if defined(RED_ARGMIN)
  red_node one = {red_lift(x[i], rules), i};
#else
  red_node one = red_node_of(red_step((RED_VALUE)RED_IDENTITY, x[i], y[i], rules));
#endif
  return red_merge(node, one);
}

/*
 * `depth` vectors of this lane, in flight together, from x and y on; `count` are left, its first element is `first` of the
 * array.
 */
static red_node red_take_vectors(red_node node, global const uint4 *x, global const uint4 *y, uint depth, uint count,
                                 ulong first, red_rules rules) {
  uint4 one[RED_VECTORS], other[RED_VECTORS];
#pragma unroll
  for (uint r = 0; r < RED_VECTORS; r++) {
    /* Instead of one that is not there the first again, and for nothing: PoCL 6 aborts on loads under a condition. */
    uint at = r < depth && r * RED_GROUP < count ? r * RED_GROUP : 0;
    one[r] = x[at];
    other[r] = RED_MAP == 1 ? y[at] : one[r];
  }
  RED_HOLD();
  red_bag bag = red_empty_bag();
#pragma unroll
  for (uint r = 0; r < RED_VECTORS; r++)
    if (r < depth && r * RED_GROUP < count) red_take_vector(&bag, one[r], other[r], r, rules);
  return red_merge(node, red_node_of_bag(&bag, first, rules));
}

/* The elements [at, end) of the array, those of them that this lane takes; y is the second input, or x. */
static red_node red_run_node(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong at, ulong end, uint lane,
                             red_rules rules) {
  const ulong size = sizeof(RED_ELEMENT);
  red_node node = red_identity();
  ulong begin = min(at + (-(ulong)(x + at) & 15) / size, end);
  if (RED_MAP == 1 && (((ulong)x ^ (ulong)y) & 15)) begin = end; /* their vectors do not lie side by side */
  uint vectors = (uint)((end - begin) / RED_PER_VECTOR), v = lane;
  global const uint4 *from = (global const uint4 *)(x + begin), *from2 = (global const uint4 *)(y + begin);
  for (; vectors - (v - lane) >= RED_TILE; v += RED_TILE)
    node = red_take_vectors(node, from + v, from2 + v, RED_VECTORS, RED_TILE, begin + (ulong)v * RED_PER_VECTOR, rules);
#pragma unroll 1
  for (; v < vectors; v += 2 * RED_GROUP) /* two at a time: more of them would be too many instructions */
    node = red_take_vectors(node, from + v, from2 + v, 2, vectors - v, begin + (ulong)v * RED_PER_VECTOR, rules);
#if RED_MAP == 1
#pragma unroll 8
#else
#pragma unroll 1
#endif
  for (ulong i = at + lane; i < begin; i += RED_GROUP) node = red_take_element(node, x, y, i, rules);
#pragma unroll 1
  for (ulong i = begin + (ulong)vectors * RED_PER_VECTOR + lane; i < end; i += RED_GROUP)
    node = red_take_element(node, x, y, i, rules);
  return node;
}
