/* SPDX-License-Identifier: BSD-2-Clause */
/* Forests of complete nodes: see order.h. */
#include "order.h"

static bool siblings(const red_node *left, const red_node *right) {
  return left->level == right->level && (left->index & 1) == 0 && right->index == left->index + 1;
}

void red_forest_push(red_forest *forest, const red_lowered *lowered, unsigned level, uint64_t index, red_state state) {
  red_node node = {index, level, state};
  while (forest->count > 0 && siblings(&forest->nodes[forest->count - 1], &node)) {
    const red_node *left = &forest->nodes[--forest->count];
    node = (red_node){left->index / 2, left->level + 1, red_state_merge(lowered, left->state, node.state)};
  }
  forest->nodes[forest->count++] = node;
}

void red_forest_append(red_forest *forest, const red_lowered *lowered, const red_forest *next) {
  for (unsigned i = 0; i < next->count; i++) {
    const red_node *node = &next->nodes[i];
    red_forest_push(forest, lowered, node->level, node->index, node->state);
  }
}

red_state red_forest_root(const red_forest *forest, const red_lowered *lowered) {
  if (forest->count == 0) return red_state_identity(lowered);
  /* Of a range from leaf 0 the nodes descend in level: each pairs with the whole of what follows it. */
  red_state root = forest->nodes[forest->count - 1].state;
  for (unsigned i = forest->count - 1; i-- > 0;) root = red_state_merge(lowered, forest->nodes[i].state, root);
  return root;
}

red_state red_forest_prefix(const red_forest *forest, const red_lowered *lowered, const red_state *init) {
  unsigned first = 0;
  red_state prefix;
  if (init != NULL) {
    prefix = *init;
  } else if (forest->count > 0) {
    prefix = forest->nodes[first++].state;
  } else {
    return red_state_identity(lowered);
  }
  for (unsigned i = first; i < forest->count; i++) prefix = red_state_merge(lowered, prefix, forest->nodes[i].state);
  return prefix;
}
