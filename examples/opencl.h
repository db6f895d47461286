/* SPDX-License-Identifier: BSD-2-Clause */
/* What an OpenCL application has already: a device, a context and a queue. No OpenCL: the reason, and exit status 77.
 */
#ifndef EXAMPLES_OPENCL_H
#define EXAMPLES_OPENCL_H

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct application {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
} application;

static inline void must(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "%s: error %d\n", what, error);
  exit(1);
}

static inline application application_start(void) {
  application app;
  cl_platform_id platform;
  cl_int error;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &app.device, NULL) != CL_SUCCESS) {
    printf("skipped: no OpenCL device\n");
    exit(77);
  }
  app.context = clCreateContext(NULL, 1, &app.device, NULL, NULL, &error);
  must(error, "clCreateContext");
  app.queue = clCreateCommandQueue(app.context, app.device, 0, &error);
  must(error, "clCreateCommandQueue");
  return app;
}

static inline void application_end(application *app) {
  clReleaseCommandQueue(app->queue);
  clReleaseContext(app->context);
}

#endif
