/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCL benchmark: what its contestants share. */
#ifndef RED_BENCH_OPENCL_H
#define RED_BENCH_OPENCL_H

#define CL_TARGET_OPENCL_VERSION          120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* Boost.Compute asks for more, and gets it */
#include <CL/cl.h>

#include "cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The device, and the case's arrays in its memory. */
typedef struct bench_cl {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_mem in, out;
} bench_cl;
extern bench_cl cl;

void bench_check(red_status status);
void bench_check_cl(cl_int error, const char *call);

/* opencl_boost.cpp, opencl_clblast.c: where they are installed */
int bench_can_boost(const bench_case *c);
void bench_run_boost(const bench_case *c);
int bench_can_clblast(const bench_case *c);
void bench_run_clblast(const bench_case *c);

#ifdef __cplusplus
}
#endif

#endif
