/* SPDX-License-Identifier: BSD-2-Clause */
/* libOpenCL.so.1, opened at run time: red_cl.CreateBuffer(...) is clCreateBuffer. */
#ifndef RED_BACKEND_OPENCL_API_H
#define RED_BACKEND_OPENCL_API_H

#define CL_TARGET_OPENCL_VERSION          300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* command queues as OpenCL 1.2 makes them */
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdbool.h>

#include "status.h"

#include "api.def"

typedef struct red_cl_api {
#define X(name) __typeof__(&cl##name) name;
  RED_OPENCL_API(X)
#undef X
} red_cl_api;

extern red_cl_api red_cl;

/* environment.c: for a program that is to see the loader as this process does. The list is to be freed, its words not.
 */
void red_cl_keep_environment(void);
char **red_cl_helper_environment(void);

/* Open the loader, once per process; NULL, or why there is none. A forked child is told so. */
const char *red_cl_open_api(void);

/* Is this a forked child of the process that opened it? Asked at every call: a flag, not a system call. */
bool red_cl_is_forked(void);

/* "CL_OUT_OF_RESOURCES"; "an unknown error" for what no header names. */
const char *red_cl_error_name(cl_int error);

/* RED_ERR_NO_MEMORY or RED_ERR_DRIVER with the sentence "clCall failed: CL_... (-5)"; RED_OK for CL_SUCCESS. */
red_status red_cl_check(cl_int error, const char *call);

#endif
