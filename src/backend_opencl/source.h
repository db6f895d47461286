/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a program and the options that it is built with. */
#ifndef RED_BACKEND_OPENCL_SOURCE_H
#define RED_BACKEND_OPENCL_SOURCE_H

#include "device.h"

#define RED_CL_MOST_OPTIONS 896
#define RED_CL_MOST_TEXTS   32

typedef struct red_cl_source {
  char options[RED_CL_MOST_OPTIONS]; /* tells all programs of a device apart */
  const char *texts[RED_CL_MOST_TEXTS];
  cl_uint count;
} red_cl_source;

/*
 * Does a scan write what it would by default, or integers as wide as its inputs? Then its outputs go in vectors; all
 * other dtypes share a program.
 */
bool red_cl_has_default_output(const red_lowered *lowered);

void red_cl_source_of(const red_cl_device *device, const red_lowered *lowered, red_cl_part part, red_cl_source *source);

#endif
