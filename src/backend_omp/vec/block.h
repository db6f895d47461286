/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scan's block in registers: the way up, which finds the block's node, and the way down, which finds P at every
 * element. The lowest levels are done by even/odd shuffles, which halve the work from level to level: 4 vectors of
 * 32-bit lanes, or 2 of 64-bit ones, become one, and with AVX-512 two such groups. In the single vector that is left,
 * neighbouring parts are exchanged: both partners compute their node, and on the way down the right partner adds the
 * left one's. Lanes of 8 and 16 bits, whose operations need no order, do all of it in that way.
 */
#ifndef RED_VEC_BLOCK_H
#define RED_VEC_BLOCK_H

#include "ops.h"

/* With 32 registers two groups fit a block; one more level of shuffles is then cheaper than of exchanges. */
#if VB == 64
#define GROUPS 2
#else
#define GROUPS 1
#endif
enum {
  MAX_LEVELS = 6
};

INLINE bool shuffles(red_lane_op op) {
  return op_bytes(op) >= 4;
}

/* Vectors that become one by shuffles within lanes, and such groups that become one by shuffles of lanes. */
INLINE unsigned group_vectors(red_lane_op op) {
  return shuffles(op) ? 16 / op_bytes(op) : 1;
}
INLINE unsigned groups(red_lane_op op) {
  return shuffles(op) ? GROUPS : 1;
}
INLINE unsigned group_bytes(red_lane_op op) {
  return group_vectors(op) * VB;
}
INLINE unsigned block_bytes(red_lane_op op) {
  return group_bytes(op) * groups(op);
}

/* A group's vectors. Spelled out, not looped over, so that every compiler keeps them in registers. */
typedef struct group {
  v_u8 x[4];
} group;

/* What the way up leaves for the way down: left operands of each level. */
typedef struct block {
  v_u8 left[GROUPS][3];     /* of the levels within lanes */
  v_u8 left_lanes;          /* of the level between lanes */
  v_u8 partner[MAX_LEVELS]; /* the other part's node at each level of the last vector */
} block;

INLINE v_u8 up_group(red_lane_op op, v_u8 *left, group g) {
  if (op_bytes(op) == 4) {
    left[0] = v_even_32(g.x[0], g.x[1]);
    left[1] = v_even_32(g.x[2], g.x[3]);
    v_u8 pairs0 = v_spare_op(op, left[0], v_odd_32(g.x[0], g.x[1])),
         pairs1 = v_spare_op(op, left[1], v_odd_32(g.x[2], g.x[3]));
    left[2] = v_even_32(pairs0, pairs1);
    return v_spare_op(op, left[2], v_odd_32(pairs0, pairs1));
  }
  if (op_bytes(op) == 8) {
    left[0] = v_low_64(g.x[0], g.x[1]);
    return v_spare_op(op, left[0], v_high_64(g.x[0], g.x[1]));
  }
  return left[0] = g.x[0];
}

/* The size of the parts that a level of the last vector exchanges; VB if there is no such level. */
INLINE unsigned level_bytes(red_lane_op op, unsigned level) {
  const unsigned bytes = op_bytes(op), element_levels = bytes == 4 ? 2 : 1;
  if (!shuffles(op)) return bytes << level < VB ? bytes << level : VB;
  /* Elements of a group are ordered by position within the lane, then by lane: lanes are the lower levels. */
  const unsigned lane_levels = VB == 16 ? 0 : 1;
  if (level < lane_levels) return 16;
  if (level < lane_levels + element_levels) return bytes << (level - lane_levels);
  return VB == 64 && level == lane_levels + element_levels ? 32 : VB;
}

/* One level of the last vector, by exchange. */
INLINE v_u8 up_level(red_lane_op op, v_u8 *partner, v_u8 node, unsigned level) {
  const unsigned bytes = level_bytes(op, level);
  if (bytes >= VB) return node;
  partner[level] = v_swap(node, bytes);
  return v_op(op, node, partner[level]);
}

/* The node of the whole block, in every lane, from the nodes of its groups. */
INLINE v_u8 up_block(red_lane_op op, block *b, const v_u8 *nodes) {
  v_u8 node = nodes[0];
#if GROUPS == 2
  if (shuffles(op)) {
    b->left_lanes = v_even_lanes(nodes[0], nodes[1]);
    node = v_op(op, b->left_lanes, v_odd_lanes(nodes[0], nodes[1]));
  }
#endif
  node = up_level(op, b->partner, node, 0);
  node = up_level(op, b->partner, node, 1);
  node = up_level(op, b->partner, node, 2);
  node = up_level(op, b->partner, node, 3);
  node = up_level(op, b->partner, node, 4);
  return up_level(op, b->partner, node, 5);
}

INLINE v_u8 down_level(red_lane_op op, const v_u8 *partner, v_u8 p, unsigned level) {
  const unsigned bytes = level_bytes(op, level);
  return bytes < VB ? v_op_upper(op, p, partner[level], bytes) : p;
}

/* P at the elements of each group's node vector; p[] has one place for each group. */
INLINE void down_block(red_lane_op op, const block *b, v_u8 before, v_u8 *p) {
  before = down_level(op, b->partner, before, 5);
  before = down_level(op, b->partner, before, 4);
  before = down_level(op, b->partner, before, 3);
  before = down_level(op, b->partner, before, 2);
  before = down_level(op, b->partner, before, 1);
  before = down_level(op, b->partner, before, 0);
  p[0] = before;
#if GROUPS == 2
  if (!shuffles(op)) return;
  v_u8 odd = v_op(op, before, b->left_lanes);
  p[0] = v_low_lanes(before, odd);
  p[1] = v_high_lanes(before, odd);
#endif
}

/* Outputs of a group: P(i), or P(i + 1) for inclusive scans, whose last is the first element of `after`. */
INLINE group down_group(red_lane_op op, const v_u8 *left, v_u8 p, v_u8 after, bool exclusive) {
  group g;
  if (op_bytes(op) == 4) {
    v_u8 q = v_spare_op(op, p, left[2]);
    v_u8 low = v_low_32(p, q), high = v_high_32(p, q);
    v_u8 low_odd = v_spare_op(op, low, left[0]), high_odd = v_spare_op(op, high, left[1]);
    if (exclusive) {
      g.x[0] = v_low_32(low, low_odd);
      g.x[1] = v_high_32(low, low_odd);
      g.x[2] = v_low_32(high, high_odd);
      g.x[3] = v_high_32(high, high_odd);
    } else {
      v_u8 r = v_next_32(p, after);
      v_u8 low_next = v_low_32(q, r), high_next = v_high_32(q, r);
      g.x[0] = v_low_32(low_odd, low_next);
      g.x[1] = v_high_32(low_odd, low_next);
      g.x[2] = v_low_32(high_odd, high_next);
      g.x[3] = v_high_32(high_odd, high_next);
    }
  } else if (op_bytes(op) == 8) {
    v_u8 odd = v_spare_op(op, p, left[0]);
    v_u8 next = exclusive ? odd : v_next_64(p, after);
    g.x[0] = v_low_64(exclusive ? p : odd, next);
    g.x[1] = v_high_64(exclusive ? p : odd, next);
  } else {
    g.x[0] = exclusive ? p : v_op(op, p, left[0]); /* no order to keep */
  }
  return g;
}

#endif
