/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics with the variance; integers of either sign share a kernel. Moments: of selections that need no more than
 * them and sums, which are worked out whether they are asked for or not.
 */
#include "stats_kernel.cuh"

RED_STATS_KERNEL(variance_f16, red::F16, true, 8)
RED_STATS_KERNEL(variance_bf16, red::BF16, true, 8)
RED_STATS_KERNEL(variance_f32, red::F32, true, 7)
RED_STATS_KERNEL(variance_f64, red::F64, true, 4)
RED_STATS_KERNEL(variance_1, red::Integer<1>, true, 7)
RED_STATS_KERNEL(variance_2, red::Integer<2>, true, 8)
RED_STATS_KERNEL(variance_4, red::Integer<4>, true, 7)
RED_STATS_KERNEL(variance_8, red::Integer<8>, true, 4)
RED_STATS_KERNEL_OF(moments_1, red::Integer<1>, true, red::sum_and_moments, 7)
RED_STATS_KERNEL_OF(moments_4, red::Integer<4>, true, red::sum_and_moments, 7)
RED_STATS_KERNEL_OF(moments_f32, red::F32, true, red::sum_and_moments, 7)
