/* SPDX-License-Identifier: BSD-2-Clause */
/* Layer normalisation: each row gets mean 0 and variance 1. A work-group a row, with libred's work-group primitives. */
#define RED_NAME sum_f32
#define RED_TYPE float
#define RED_OP(a, b) ((a) + (b))
#include <red/device/opencl/workgroup.clh>

kernel void layer_norm(global const float *in, global float *out, uint columns, local float *scratch) {
  size_t lane = get_local_id(0), lanes = get_local_size(0), row = get_group_id(0) * columns;
  float sum = 0, squares = 0;
  for (size_t i = lane; i < columns; i += lanes) sum += in[row + i];
  float mean = red_workgroup_reduce_sum_f32(sum, scratch) / columns;
  for (size_t i = lane; i < columns; i += lanes) {
    float off = in[row + i] - mean;
    squares += off * off;
  }
  float scale = rsqrt(red_workgroup_reduce_sum_f32(squares, scratch) / columns + 1e-5f);
  for (size_t i = lane; i < columns; i += lanes) out[row + i] = (in[row + i] - mean) * scale;
}
