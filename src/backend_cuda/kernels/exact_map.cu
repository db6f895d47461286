/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact sums of squares and of products. */
#include "exact.cuh"

#define KERNEL(name, in, map, threads, blocks)                                                                         \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                                        \
      exact_##name(const __grid_constant__ red_cuda_exact args) {                                                      \
    red::exact_reduce<in, map>(args);                                                                                  \
  }

KERNEL(square_f16, RED_F16, RED_MAP_SQUARE, 512, 2)
KERNEL(square_bf16, RED_BF16, RED_MAP_SQUARE, 640, 1)
KERNEL(square_f32, RED_F32, RED_MAP_SQUARE, 640, 1)
KERNEL(square_f64, RED_F64, RED_MAP_SQUARE, 320, 1)
KERNEL(dot_f16, RED_F16, RED_MAP_PRODUCT, 512, 2)
KERNEL(dot_bf16, RED_BF16, RED_MAP_PRODUCT, 640, 1)
KERNEL(dot_f32, RED_F32, RED_MAP_PRODUCT, 640, 1)
KERNEL(dot_f64, RED_F64, RED_MAP_PRODUCT, 320, 1)
