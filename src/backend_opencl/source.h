/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a program and the options that it is built with. */
#ifndef RED_BACKEND_OPENCL_SOURCE_H
#define RED_BACKEND_OPENCL_SOURCE_H

#include "device.h"

#define RED_CL_MOST_OPTIONS 896
#define RED_CL_MOST_TEXTS   24

typedef struct red_cl_source {
  char options[RED_CL_MOST_OPTIONS]; /* tells all programs of a device apart */
  const char *texts[RED_CL_MOST_TEXTS];
  cl_uint count;
} red_cl_source;

void red_cl_source_of(const red_cl_device *device, const red_lowered *lowered, red_cl_part part, red_cl_source *source);

#endif
