/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics without the variance: one kernel for each width of integers and for each float dtype. */
#include "stats_kernel.cuh"

RED_STATS_KERNEL(stats_f16, red::F16, false, 8)
RED_STATS_KERNEL(stats_bf16, red::BF16, false, 7)
RED_STATS_KERNEL(stats_f32, red::F32, false, 6)
RED_STATS_KERNEL(stats_f64, red::F64, false, 5)
RED_STATS_KERNEL(stats_1, red::Integer<1>, false, 8)
RED_STATS_KERNEL(stats_2, red::Integer<2>, false, 8)
RED_STATS_KERNEL(stats_4, red::Integer<4>, false, 6)
RED_STATS_KERNEL(stats_8, red::Integer<8>, false, 5)
