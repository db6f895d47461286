/* SPDX-License-Identifier: BSD-2-Clause */
/* Moments: merging neighbours, and the forest of those that wait for theirs. */
#include "moments.h"

#include <stdbool.h>

red_moments red_moments_merge(red_moments a, red_moments b) {
  red_moments merged = {.count = a.count + b.count};
  double share = (double)b.count / (double)merged.count;
  double delta = (b.mean - a.mean) + (b.mean_low - a.mean_low);
  red_moments_set_mean(&merged, a.mean, a.mean_low + delta * share);
  merged.squares = (a.squares + b.squares) + (delta * delta) * ((double)a.count * share);
  return merged;
}

static bool siblings(const red_moments_node *left, const red_moments_node *right) {
  return left->level == right->level && (left->index & 1) == 0 && right->index == left->index + 1;
}

void red_moments_push(red_moments_forest *forest, unsigned level, uint64_t index, red_moments moments) {
  red_moments_node node = {index, level, moments};
  while (forest->count > 0 && siblings(&forest->nodes[forest->count - 1], &node)) {
    const red_moments_node *left = &forest->nodes[--forest->count];
    node = (red_moments_node){left->index / 2, left->level + 1, red_moments_merge(left->moments, node.moments)};
  }
  forest->nodes[forest->count++] = node;
}

void red_moments_append(red_moments_forest *forest, const red_moments_forest *next) {
  for (unsigned i = 0; i < next->count; i++)
    red_moments_push(forest, next->nodes[i].level, next->nodes[i].index, next->nodes[i].moments);
}

red_moments red_moments_root(const red_moments_forest *forest) {
  red_moments root = {.count = 0};
  for (unsigned i = forest->count; i-- > 0;)
    root = root.count == 0 ? forest->nodes[i].moments : red_moments_merge(forest->nodes[i].moments, root);
  return root;
}
