/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the manual's kernel row_sums from kernel.cl, runs it, and compares with sums that are exact in any order. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  ROWS = 50,
  COLUMNS = 777
};

static void must(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return;
  printf("%s: error %d\n", what, error);
  exit(1);
}

static const char *kernel_text(void) {
  static char text[65536];
  FILE *file = fopen("kernel.cl", "r");
  if (file == NULL || fread(text, 1, sizeof text - 1, file) == 0) exit(1);
  fclose(file);
  return text;
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    printf("skipped: no OpenCL device\n");
    return 77;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  must(error, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  must(error, "clCreateCommandQueue");
  const char *text = kernel_text();
  char flags[4096], log[16384] = "";
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
  must(error, "clCreateProgramWithSource");
  snprintf(flags, sizeof flags, "-I %s", getenv("RED_INCLUDE"));
  error = clBuildProgram(program, 1, &device, flags, NULL, NULL);
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  if (error != CL_SUCCESS) printf("%s\n", log);
  must(error, "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "row_sums", &error);
  must(error, "clCreateKernel");

  static float in[ROWS * COLUMNS], out[ROWS];
  for (unsigned i = 0; i < ROWS * COLUMNS; i++) in[i] = (float)(i * 37 % 101);
  cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
  must(error, "clCreateBuffer");
  cl_mem to = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &error);
  must(error, "clCreateBuffer");
  cl_uint columns = COLUMNS;
  size_t lanes = 20, items = ROWS * lanes;
  must(clSetKernelArg(kernel, 0, sizeof from, &from), "clSetKernelArg");
  must(clSetKernelArg(kernel, 1, sizeof to, &to), "clSetKernelArg");
  must(clSetKernelArg(kernel, 2, sizeof columns, &columns), "clSetKernelArg");
  must(clSetKernelArg(kernel, 3, lanes * sizeof(float), NULL), "clSetKernelArg");
  must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &lanes, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  must(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL), "clEnqueueReadBuffer");
  for (unsigned r = 0; r < ROWS; r++) {
    unsigned sum = 0;
    for (unsigned c = 0; c < COLUMNS; c++) sum += (r * COLUMNS + c) * 37 % 101;
    if (out[r] != (float)sum) return printf("row %u: %g, not %u\n", r, out[r], sum), 1;
  }
  return 0;
}
