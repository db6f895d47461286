/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums and products by way of a wider float, for large arrays on compute capability 9.0 and above. */
#include "scan_pipe.cuh"

SCAN_PIPE(scan_pipe_f32_wide, SumF32Wide)
SCAN_PIPE(scan_pipe_f16_wide, SumF16Wide)
SCAN_PIPE(scan_pipe_bf16_wide, SumBF16Wide)

SCAN_PIPE(scan_pipe_prod_f16_wide, Products<red::SumF16Wide>)
SCAN_PIPE(scan_pipe_prod_bf16_wide, Products<red::SumBF16Wide>)
SCAN_PIPE(scan_pipe_prod_f32_wide, Products<red::SumF32Wide>)
