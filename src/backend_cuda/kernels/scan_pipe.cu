/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of the most frequent pairs, for large arrays on compute capability 9.0 and above. */
#include "scan_pipe.cuh"

SCAN_PIPE(scan_pipe_f32, SumF32)
SCAN_PIPE(scan_pipe_f64, SumF64)
SCAN_PIPE(scan_pipe_f16, SumF16)
SCAN_PIPE(scan_pipe_bf16, SumBF16)
SCAN_PIPE(scan_pipe_i32, SumI32)
SCAN_PIPE(scan_pipe_i32_wide, SumI32Wide)
SCAN_PIPE(scan_pipe_i64, SumI64)
