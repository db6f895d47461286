/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reductions in one launch (RED_ONCE): the work-group that arrives last at a counter finds all nodes in memory, merges them
 * and leaves the result. Nobody waits. The counter goes on from launch to launch; the host knows where it stood before.
 */
#if RED_ONCE
#define RED_ONCE_PARAMETERS                                                                                            \
  , volatile global uint *counter, uint counted, ulong root_at, uint stays, red_last last, global uchar *out,          \
      ulong out_offset

#if defined(RED_SHAPE_PTX)
#define RED_FENCE() __asm__ volatile("membar.gl;" ::: "memory")
#else
#define RED_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* Has every other work-group arrived, and does this one see what lane 0 of each wrote before? */
static bool red_is_last(volatile global uint *counter, uint counted, uint lane, local uint *arrived) {
  if (get_num_groups(0) == 1) return true; /* nor does the host count it */
  if (lane == 0) {
    RED_FENCE();
    *arrived = atomic_inc(counter) - counted + 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (*arrived != get_num_groups(0)) return false;
  RED_FENCE();
  return true;
}

/* Sixteen neighbours at a time in flight; what is missing changes nothing. */
#define RED_FLIGHT 16
static red_node red_merge_flight(global const ulong *nodes, uint first, uint end) {
  red_node n0[16], n1[8], n2[4];
#pragma unroll
  for (uint i = 0; i < 16; i++) n0[i] = first + i < end ? red_get(nodes, first + i) : red_identity();
#pragma unroll
  for (uint i = 0; i < 8; i++) n1[i] = red_merge(n0[2 * i], n0[2 * i + 1]);
#pragma unroll
  for (uint i = 0; i < 4; i++) n2[i] = red_merge(n1[2 * i], n1[2 * i + 1]);
  return red_merge(red_merge(n2[0], n2[1]), red_merge(n2[2], n2[3]));
}

/* A lane's part of the binary tree: nodes [first, first + run), run being a power of two, of which there are `count`. */
static red_node red_merge_run(global const ulong *nodes, uint first, uint run, uint count) {
  red_node waiting[28];
  uint height = 0, end = min(first + run, count);
  for (uint at = 0; at < run; at += RED_FLIGHT) {
    red_node node = red_merge_flight(nodes, first + at, end);
    for (uint k = at / RED_FLIGHT; k & 1; k >>= 1) node = red_merge(waiting[--height], node);
    waiting[height++] = node;
  }
  return waiting[0]; /* one is left */
}

/* The root of all nodes, in lane 0. */
static red_node red_merge_all(global const ulong *nodes, uint count, uint lane, local red_node *scratch) {
  uint run = 1;
  while (run * RED_GROUP < count) run *= 2;
  scratch[lane] = red_merge_run(nodes, lane * run, run, count);
  for (uint width = RED_GROUP / 2; width > 0; width /= 2) {
    red_node node;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < width) node = red_merge(scratch[2 * lane], scratch[2 * lane + 1]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < width) scratch[lane] = node;
  }
  return scratch[0];
}

#else
#define RED_ONCE_PARAMETERS
#endif
