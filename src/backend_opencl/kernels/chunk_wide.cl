/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk on CPU devices: sixteen lanes to a vector, no barriers. What a compiler for CPUs makes of it is the loop that one
 * would write by hand.
 */
#define RED_VECTORS (RED_LANES / 16)

static RED_VALUE16 red_tail16(global const RED_ELEMENT *x, uint count, red_rules rules) {
  RED_VALUE values[16];
  for (uint i = 0; i < 16; i++) values[i] = i < count ? red_lift(x[i], rules) : (RED_VALUE)RED_IDENTITY;
  return vload16(0, values);
}

/* Add the rows of up to RED_CHUNK elements downwards, lane by lane. */
static RED_VALUE16 red_chunk16(global const RED_ELEMENT *x, uint count, red_rules rules) {
  RED_VALUE16 lane[RED_VECTORS];
#pragma unroll
  for (uint v = 0; v < RED_VECTORS; v++) lane[v] = (RED_VALUE16)(RED_IDENTITY);
  uint rows = count / RED_LANES, rest = count % RED_LANES;
  for (uint r = 0; r < rows; r++, x += RED_LANES) {
#pragma unroll
    for (uint v = 0; v < RED_VECTORS; v++) lane[v] = red_op16(lane[v], red_lift16(vload16(v, x), rules));
  }
  for (uint v = 0; 16 * v < rest; v++)
    lane[v] = red_op16(lane[v], red_tail16(x + 16 * v, min(rest - 16 * v, 16u), rules));
  /* Fold by halving; padding with the identity is skipping. */
#pragma unroll
  for (uint half_count = RED_VECTORS / 2; half_count > 0; half_count /= 2) {
#pragma unroll
    for (uint v = 0; v < half_count; v++) lane[v] = red_op16(lane[v], lane[v + half_count]);
  }
  return lane[0];
}

static RED_VALUE red_fold16(RED_VALUE16 v) {
  RED_JOIN(RED_VALUE, 8) v8 = RED_OP(v.lo, v.hi);
  RED_JOIN(RED_VALUE, 4) v4 = RED_OP(v8.lo, v8.hi);
  RED_JOIN(RED_VALUE, 2) v2 = RED_OP(v4.lo, v4.hi);
  return RED_OP(v2.lo, v2.hi);
}
