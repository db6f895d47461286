/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device headers' primitives cost: each work-item reads four consecutive elements, passes them through one
 * primitive and writes four. Moves of lanes move each element; a reduction or a scan begins with the work-item's own
 * four. GROUP is the size of a work-group. Who gets no result writes its own elements.
 */
#define RED_NAME     sum_f32
#define RED_TYPE     float
#define RED_OP(a, b) ((a) + (b))
#include <red/device/opencl/workgroup.clh>

#define RED_NAME     max_f32
#define RED_TYPE     float
#define RED_OP(a, b) ((a) < (b) ? (b) : (a))
#include <red/device/opencl/workgroup.clh>

static float add_own(float4 x) {
  return x.x + x.y + x.z + x.w;
}

/* The running sums of a work-item's elements, after `before`. */
static float4 run_on(float before, float4 x) {
  x.x += before;
  x.y += x.x;
  x.z += x.y;
  x.w += x.z;
  return x;
}

__kernel void plain(__global const float4 *in, uint n, __global float4 *out) {
  out[get_global_id(0)] = in[get_global_id(0)];
}

__kernel void group_sum(__global const float4 *in, uint n, __global float4 *out) {
  __local float scratch[GROUP];
  float4 x = in[get_global_id(0)];
  const float sum = red_workgroup_reduce_sum_f32(add_own(x), scratch);
  if (get_local_id(0) == 0) x.x = sum;
  out[get_global_id(0)] = x;
}

__kernel void group_max(__global const float4 *in, uint n, __global float4 *out) {
  __local float scratch[GROUP];
  float4 x = in[get_global_id(0)];
  const float own = fmax(fmax(x.x, x.y), fmax(x.z, x.w)), most = red_workgroup_reduce_max_f32(own, scratch);
  if (get_local_id(0) == 0) x.x = most;
  out[get_global_id(0)] = x;
}

__kernel void group_inclusive(__global const float4 *in, uint n, __global float4 *out) {
  __local float scratch[GROUP];
  const float4 x = in[get_global_id(0)];
  out[get_global_id(0)] = run_on(red_workgroup_exclusive_scan_sum_f32(add_own(x), 0.0f, scratch), x);
}

__kernel void group_exclusive(__global const float4 *in, uint n, __global float4 *out) {
  __local float scratch[GROUP];
  const float4 x = in[get_global_id(0)];
  const float before = red_workgroup_exclusive_scan_sum_f32(add_own(x), 0.0f, scratch);
  out[get_global_id(0)] = run_on(before, (float4)(0.0f, x.x, x.y, x.z));
}

#if defined(SHUFFLES)
#define RED_NAME     sum_f32
#define RED_TYPE     float
#define RED_OP(a, b) ((a) + (b))
#include <red/device/opencl/subgroup.clh>

static float4 fetch(float4 x, uint lane) {
  return (float4)(RED_SUBGROUP_FETCH(x.x, lane), RED_SUBGROUP_FETCH(x.y, lane), RED_SUBGROUP_FETCH(x.z, lane),
                  RED_SUBGROUP_FETCH(x.w, lane));
}

/* How many lanes a sub-group has. */
__kernel void lanes(__global const float4 *in, uint n, __global float *out) {
  if (get_global_id(0) == 0) out[0] = (float)get_sub_group_size();
}

__kernel void lanes_broadcast(__global const float4 *in, uint n, __global float4 *out) {
  out[get_global_id(0)] = fetch(in[get_global_id(0)], 0);
}

__kernel void lanes_xor(__global const float4 *in, uint n, __global float4 *out) {
  out[get_global_id(0)] = fetch(in[get_global_id(0)], get_sub_group_local_id() ^ 1);
}

__kernel void lanes_up(__global const float4 *in, uint n, __global float4 *out) {
  const uint lane = get_sub_group_local_id();
  out[get_global_id(0)] = fetch(in[get_global_id(0)], lane > 0 ? lane - 1 : lane);
}

__kernel void lanes_down(__global const float4 *in, uint n, __global float4 *out) {
  const uint lane = get_sub_group_local_id();
  out[get_global_id(0)] = fetch(in[get_global_id(0)], lane + 1 < get_sub_group_size() ? lane + 1 : lane);
}

__kernel void lanes_sum(__global const float4 *in, uint n, __global float4 *out) {
  float4 x = in[get_global_id(0)];
  const float sum = red_subgroup_reduce_sum_f32(add_own(x));
  if (get_sub_group_local_id() == 0) x.x = sum;
  out[get_global_id(0)] = x;
}
#endif
