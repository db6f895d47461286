/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device headers' primitives cost: each kernel reads an element, passes it through one primitive and writes
 * one. GROUP is the size of a work-group, and divides n. Who gets no result writes its own element.
 */
#define RED_NAME sum_f32
#define RED_TYPE float
#define RED_OP(a, b) ((a) + (b))
#include <red/device/opencl/workgroup.clh>

#define RED_NAME max_f32
#define RED_TYPE float
#define RED_OP(a, b) ((a) < (b) ? (b) : (a))
#include <red/device/opencl/workgroup.clh>

__kernel void plain(__global const float *in, uint n, __global float *out) {
  out[get_global_id(0)] = in[get_global_id(0)];
}

__kernel void group_sum(__global const float *in, uint n, __global float *out) {
  __local float scratch[GROUP];
  const float x = in[get_global_id(0)], sum = red_workgroup_reduce_sum_f32(x, scratch);
  out[get_global_id(0)] = get_local_id(0) == 0 ? sum : x;
}

__kernel void group_max(__global const float *in, uint n, __global float *out) {
  __local float scratch[GROUP];
  const float x = in[get_global_id(0)], most = red_workgroup_reduce_max_f32(x, scratch);
  out[get_global_id(0)] = get_local_id(0) == 0 ? most : x;
}

__kernel void group_inclusive(__global const float *in, uint n, __global float *out) {
  __local float scratch[GROUP];
  out[get_global_id(0)] = red_workgroup_inclusive_scan_sum_f32(in[get_global_id(0)], scratch);
}

__kernel void group_exclusive(__global const float *in, uint n, __global float *out) {
  __local float scratch[GROUP];
  out[get_global_id(0)] = red_workgroup_exclusive_scan_sum_f32(in[get_global_id(0)], 0.0f, scratch);
}

#if defined(SHUFFLES)
#define RED_NAME sum_f32
#define RED_TYPE float
#define RED_OP(a, b) ((a) + (b))
#include <red/device/opencl/subgroup.clh>

/* How many lanes a sub-group has. */
__kernel void lanes(__global const float *in, uint n, __global float *out) {
  if (get_global_id(0) == 0) out[0] = (float)get_sub_group_size();
}

__kernel void lanes_broadcast(__global const float *in, uint n, __global float *out) {
  out[get_global_id(0)] = RED_SUBGROUP_FETCH(in[get_global_id(0)], 0);
}

__kernel void lanes_xor(__global const float *in, uint n, __global float *out) {
  out[get_global_id(0)] = RED_SUBGROUP_FETCH(in[get_global_id(0)], get_sub_group_local_id() ^ 1);
}

__kernel void lanes_up(__global const float *in, uint n, __global float *out) {
  const uint lane = get_sub_group_local_id();
  out[get_global_id(0)] = RED_SUBGROUP_FETCH(in[get_global_id(0)], lane > 0 ? lane - 1 : lane);
}

__kernel void lanes_down(__global const float *in, uint n, __global float *out) {
  const uint lane = get_sub_group_local_id();
  out[get_global_id(0)] = RED_SUBGROUP_FETCH(in[get_global_id(0)], lane + 1 < get_sub_group_size() ? lane + 1 : lane);
}

__kernel void lanes_sum(__global const float *in, uint n, __global float *out) {
  const float x = in[get_global_id(0)], sum = red_subgroup_reduce_sum_f32(x);
  out[get_global_id(0)] = get_sub_group_local_id() == 0 ? sum : x;
}
#endif
