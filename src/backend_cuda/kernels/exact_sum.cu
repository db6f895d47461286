/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact sums of elements and of magnitudes. */
#include "exact.cuh"

#define KERNEL(name, in, map, threads, blocks)                                                                         \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                                        \
      exact_##name(const __grid_constant__ red_cuda_exact args) {                                                      \
    red::exact_reduce<in, map>(args);                                                                                  \
  }

KERNEL(sum_f16, RED_F16, RED_MAP_NONE, 512, 2)
KERNEL(sum_bf16, RED_BF16, RED_MAP_NONE, 512, 2)
KERNEL(sum_f32, RED_F32, RED_MAP_NONE, 512, 2)
KERNEL(sum_f64, RED_F64, RED_MAP_NONE, 640, 1)
KERNEL(abs_f16, RED_F16, RED_MAP_ABS, 512, 2)
KERNEL(abs_bf16, RED_BF16, RED_MAP_ABS, 512, 2)
KERNEL(abs_f32, RED_F32, RED_MAP_ABS, 512, 2)
KERNEL(abs_f64, RED_F64, RED_MAP_ABS, 640, 1)
