/* SPDX-License-Identifier: BSD-2-Clause */
/* A warp whose elements are positive in some lanes. */
#include <red/device/cuda/warp.cuh>
#include <stdio.h>

/* BLOCK */

__global__ void of_a_warp(const float *in, float *out) {
  out[threadIdx.x] = sum_of_positive(in[threadIdx.x]);
}

int main(void) {
  float *in, *out, sum = 0;
  cudaMallocManaged(&in, 32 * sizeof *in);
  cudaMallocManaged(&out, 32 * sizeof *out);
  for (int i = 0; i < 32; i++) {
    in[i] = i % 5 == 3 ? (float)i : -1.0f;
    if (i % 5 == 3) sum += (float)i;
  }
  of_a_warp<<<1, 32>>>(in, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  printf("%g\n", out[3]);
  return out[3] != sum || out[0] != 0;
}
