/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chunk on CPU devices: sixteen lanes to a vector, no barriers. What a compiler for CPUs makes of it is the loop that one
 * would write by hand.
 */
#define RED_VECTORS (RED_LANES / 16)

#if RED_MAP
/* Some elements, and beyond them what adds -0: -0 times +0 (a sum of squares or magnitudes takes +0 as well). */
static RED_ELEMENT16 red_padded16(global const RED_ELEMENT *x, uint count, RED_ELEMENT pad) {
  RED_ELEMENT values[16];
  for (uint i = 0; i < 16; i++) values[i] = i < count ? x[i] : pad;
  return vload16(0, values);
}

static RED_VALUE16 red_add_tail16(RED_VALUE16 lane, global const RED_ELEMENT *x, global const RED_ELEMENT *y, uint count,
                                  red_rules rules) {
  const RED_ELEMENT pad = RED_IN_FLOAT ? (RED_ELEMENT)((RED_ELEMENT)1 << (RED_IN_BITS - 1)) : (RED_ELEMENT)0;
  return red_step16(lane, red_padded16(x, count, pad), red_padded16(y, count, 0), rules);
}
#else
static RED_VALUE16 red_tail16(global const RED_ELEMENT *x, uint count, red_rules rules) {
  RED_VALUE values[16];
  for (uint i = 0; i < 16; i++) values[i] = i < count ? red_lift(x[i], rules) : (RED_VALUE)RED_IDENTITY;
  return vload16(0, values);
}

static RED_VALUE16 red_add_tail16(RED_VALUE16 lane, global const RED_ELEMENT *x, global const RED_ELEMENT *y, uint count,
                                  red_rules rules) {
  return red_op16(lane, red_tail16(x, count, rules));
}
#endif

/* Add the rows of up to RED_CHUNK elements downwards, lane by lane. y: the second input, or x. */
static RED_VALUE16 red_chunk16(global const RED_ELEMENT *x, global const RED_ELEMENT *y, uint count, red_rules rules) {
  RED_VALUE16 lane[RED_VECTORS];
#pragma unroll
  for (uint v = 0; v < RED_VECTORS; v++) lane[v] = (RED_VALUE16)(RED_IDENTITY);
  uint rows = count / RED_LANES, rest = count % RED_LANES;
  for (uint r = 0; r < rows; r++, x += RED_LANES, y += RED_LANES) {
#pragma unroll
    for (uint v = 0; v < RED_VECTORS; v++) lane[v] = red_step16(lane[v], vload16(v, x), vload16(v, y), rules);
  }
  for (uint v = 0; 16 * v < rest; v++)
    lane[v] = red_add_tail16(lane[v], x + 16 * v, y + 16 * v, min(rest - 16 * v, 16u), rules);
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
