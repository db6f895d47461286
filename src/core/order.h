/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The canonical order above the chunk: complete nodes (level, index) of the binary tree and how neighbours merge.
 * A forest holds the nodes of a contiguous range in order; whoever owns a range fills one, and forests of adjacent
 * ranges append. The same structure serves the reduce tree (leaves are chunks) and the scan tree (leaves are tiles).
 */
#ifndef RED_CORE_ORDER_H
#define RED_CORE_ORDER_H

#include "state.h"

typedef struct red_node {
  uint64_t index;
  unsigned level;
  red_state state;
} red_node;

/* A range of up to 2^64 leaves decomposes into at most two runs of 64 complete nodes. */
typedef struct red_forest {
  unsigned count;
  red_node nodes[129];
} red_forest;

static inline void red_forest_clear(red_forest *forest) {
  forest->count = 0;
}

/* Append the node that follows the last one, merging complete siblings. */
void red_forest_push(red_forest *forest, const red_lowered *lowered, unsigned level, uint64_t index, red_state state);

/* Append the nodes of the next adjacent range. */
void red_forest_append(red_forest *forest, const red_lowered *lowered, const red_forest *next);

/* The root of a range that begins at leaf 0 (`sum-1`): a missing right child leaves the left one unchanged. */
red_state red_forest_root(const red_forest *forest, const red_lowered *lowered);

/* P(k) of a range that begins at leaf 0 (`scan-1`): the nodes from left to right, `init` first if there is one. */
red_state red_forest_prefix(const red_forest *forest, const red_lowered *lowered, const red_state *init);

#endif
