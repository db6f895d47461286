/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tile of a scan on GPUs: a work-group's, sixteen neighbours a lane. The nodes over the lanes' runs form a heap in local
 * memory.
 */
#define RED_RUN  16
#define RED_TILE (RED_GROUP * RED_RUN)
#define RED_AT(i) ((i) + (i) / RED_RUN) /* padded against bank conflicts */

/*
 * The nodes over a lane's run, and P within it. Loops whose bounds are known, one for each level: compilers keep the
 * arrays in registers then.
 */
static RED_VALUE red_run_node(const RED_VALUE *x) {
  RED_VALUE n1[8], n2[4];
#pragma unroll
  for (uint i = 0; i < 8; i++) n1[i] = RED_OP(x[2 * i], x[2 * i + 1]);
#pragma unroll
  for (uint i = 0; i < 4; i++) n2[i] = RED_OP(n1[2 * i], n1[2 * i + 1]);
  RED_VALUE left = RED_OP(n2[0], n2[1]), right = RED_OP(n2[2], n2[3]);
  return RED_OP(left, right);
}

static void red_run_prefixes(const RED_VALUE *x, RED_VALUE start, RED_VALUE *p) {
  RED_VALUE n1[8], n2[4];
#pragma unroll
  for (uint i = 0; i < 8; i++) n1[i] = RED_OP(x[2 * i], x[2 * i + 1]);
#pragma unroll
  for (uint i = 0; i < 4; i++) n2[i] = RED_OP(n1[2 * i], n1[2 * i + 1]);
  p[0] = start;
  p[8] = RED_OP(start, RED_OP(n2[0], n2[1]));
  p[4] = RED_OP(p[0], n2[0]);
  p[12] = RED_OP(p[8], n2[2]);
#pragma unroll
  for (uint i = 0; i < 4; i++) p[4 * i + 2] = RED_OP(p[4 * i], n1[2 * i]);
#pragma unroll
  for (uint i = 0; i < 8; i++) p[2 * i + 1] = RED_OP(p[2 * i], x[2 * i]);
}

/* Fill the heap: heap[w + i] is node i of the level with w nodes; the lanes' own lie at RED_GROUP + lane. */
static void red_fill_heap(local RED_VALUE *heap, uint lane, RED_VALUE node) {
  heap[RED_GROUP + lane] = node;
  for (uint width = RED_GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < width) heap[width + lane] = RED_OP(heap[2 * (width + lane)], heap[2 * (width + lane) + 1]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* P of the lane's run: from the root down, the left sibling wherever the lane turns right. */
static RED_VALUE red_descend(local const RED_VALUE *heap, uint lane, RED_VALUE start) {
  for (uint width = 2; width <= RED_GROUP; width *= 2) {
    uint place = width + lane / (RED_GROUP / width);
    if (place & 1) start = RED_OP(start, heap[place - 1]);
  }
  return start;
}

#define RED_KERNEL kernel __attribute__((reqd_work_group_size(RED_GROUP, 1, 1))) void
