/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs layer_norm.cl, a kernel that uses libred's work-group primitives, and checks it.
 * usage: layer_norm layer_norm.cl INCLUDE     INCLUDE is the folder that holds red/
 */
#include <math.h>
#include <string.h>

#include "opencl.h"

enum {
  ROWS = 200,
  COLUMNS = 777,
  LANES = 32
};

static char *read_text(const char *path) {
  static char text[65536];
  FILE *file = fopen(path, "r");
  if (file == NULL || fread(text, 1, sizeof text - 1, file) == 0) {
    perror(path);
    exit(1);
  }
  fclose(file);
  return text;
}

static cl_kernel build(const application *app, const char *path, const char *include) {
  const char *text = read_text(path);
  char flags[4096], log[16384] = "";
  cl_int error;
  snprintf(flags, sizeof flags, "-I %s", include);
  cl_program program = clCreateProgramWithSource(app->context, 1, &text, NULL, &error);
  must(error, "clCreateProgramWithSource");
  error = clBuildProgram(program, 1, &app->device, flags, NULL, NULL);
  clGetProgramBuildInfo(program, app->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  if (error != CL_SUCCESS) fprintf(stderr, "%s\n", log);
  must(error, "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "layer_norm", &error);
  must(error, "clCreateKernel");
  clReleaseProgram(program);
  return kernel;
}

static double worst_error(const float *in, const float *out) {
  double worst = 0;
  for (int r = 0; r < ROWS; r++, in += COLUMNS, out += COLUMNS) {
    double mean = 0, variance = 0;
    for (int c = 0; c < COLUMNS; c++) mean += in[c] / (double)COLUMNS;
    for (int c = 0; c < COLUMNS; c++) variance += (in[c] - mean) * (in[c] - mean) / COLUMNS;
    for (int c = 0; c < COLUMNS; c++) worst = fmax(worst, fabs(out[c] - (in[c] - mean) / sqrt(variance + 1e-5)));
  }
  return worst;
}

int main(int count, char **arguments) {
  static float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
  if (count != 3) return 2;
  for (int i = 0; i < ROWS * COLUMNS; i++) in[i] = 10 * sinf((float)i);
  application app = application_start();
  cl_kernel kernel = build(&app, arguments[1], arguments[2]);
  cl_int error;
  cl_mem from = clCreateBuffer(app.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
  must(error, "clCreateBuffer");
  cl_mem to = clCreateBuffer(app.context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &error);
  must(error, "clCreateBuffer");

  cl_uint columns = COLUMNS;
  size_t lanes = LANES, items = ROWS * LANES;
  must(clSetKernelArg(kernel, 0, sizeof from, &from), "clSetKernelArg");
  must(clSetKernelArg(kernel, 1, sizeof to, &to), "clSetKernelArg");
  must(clSetKernelArg(kernel, 2, sizeof columns, &columns), "clSetKernelArg");
  must(clSetKernelArg(kernel, 3, LANES * sizeof(float), NULL), "clSetKernelArg");
  must(clEnqueueNDRangeKernel(app.queue, kernel, 1, NULL, &items, &lanes, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  must(clEnqueueReadBuffer(app.queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL), "clEnqueueReadBuffer");

  double worst = worst_error(in, out);
  printf("layer norm of %d x %d: largest error %.2g\n", ROWS, COLUMNS, worst);
  clReleaseMemObject(from);
  clReleaseMemObject(to);
  clReleaseKernel(kernel);
  application_end(&app);
  return worst < 1e-5 ? 0 : 1;
}
