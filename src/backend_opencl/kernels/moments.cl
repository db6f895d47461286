/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments, the nodes of the variance (`stats-1` of docs/numerics.md): src/core/moments.h in OpenCL C. A row of a chunk has
 * RED_ROW lanes.
 */
typedef struct red_moments {
  ulong count;
  double mean, mean_low, squares;
} red_moments;

/* The sum of two doubles without error. */
static red_moments red_with_mean(red_moments m, double shift, double offset) {
  m.mean = shift + offset;
  double part = m.mean - shift;
  m.mean_low = (shift - (m.mean - part)) + (offset - part);
  return m;
}

static red_moments red_moments_of_sums(ulong count, double shift, double sum, double squares) {
  red_moments m;
  double offset = sum / (double)count;
  m.count = count;
  m.squares = squares - sum * offset;
  if (m.squares < 0) m.squares = 0;
  return red_with_mean(m, shift, offset);
}

static red_moments red_merge_moments(red_moments a, red_moments b) {
  red_moments m;
  m.count = a.count + b.count;
  double share = (double)b.count / (double)m.count;
  double delta = (b.mean - a.mean) + (b.mean_low - a.mean_low);
  m.squares = (a.squares + b.squares) + (delta * delta) * ((double)a.count * share);
  return red_with_mean(m, a.mean, a.mean_low + delta * share);
}

/* Nodes that wait for their right siblings: leaves 0, 1, .. of a run of at most 2^32. */
typedef struct red_moments_stack {
  red_moments waiting[33];
  uint height;
} red_moments_stack;

static void red_moments_push(red_moments_stack *stack, ulong leaf, red_moments m) {
  for (; leaf & 1; leaf >>= 1) m = red_merge_moments(stack->waiting[--stack->height], m);
  stack->waiting[stack->height++] = m;
}

static red_moments red_moments_pop(red_moments_stack *stack) {
  red_moments m = stack->waiting[--stack->height];
  while (stack->height > 0) m = red_merge_moments(stack->waiting[--stack->height], m);
  return m;
}

/* In a node's memory they come after the summary's words (stats.cl). */
#define RED_MOMENTS_AT 9

static red_moments red_get_moments(global const ulong *nodes, ulong at) {
  nodes += at * RED_STATS_WORDS + RED_MOMENTS_AT;
  red_moments m = {nodes[0], as_double(nodes[1]), as_double(nodes[2]), as_double(nodes[3])};
  return m;
}

static void red_put_moments(global ulong *nodes, ulong at, red_moments m) {
  nodes += at * RED_STATS_WORDS + RED_MOMENTS_AT;
  nodes[0] = m.count;
  nodes[1] = as_ulong(m.mean);
  nodes[2] = as_ulong(m.mean_low);
  nodes[3] = as_ulong(m.squares);
}

static ulong red_canonical_double(double value) {
  return value != value ? 0x7ff8000000000000ul : as_ulong(value);
}
