/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of small integers into as many bits or more, for large arrays on compute capability 9.0 and above. */
#include "scan_pipe.cuh"

SCAN_PIPE(scan_pipe_i8, SumI8)
SCAN_PIPE(scan_pipe_i8_int, SumI8Int)
SCAN_PIPE(scan_pipe_i8_wide, SumI8Wide)
SCAN_PIPE(scan_pipe_i16, SumI16)
SCAN_PIPE(scan_pipe_i16_int, SumI16Int)
SCAN_PIPE(scan_pipe_i16_wide, SumI16Wide)
