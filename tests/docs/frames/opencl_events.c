/* SPDX-License-Identifier: BSD-2-Clause */
/* Two queues of the application, ordered by an event; afterwards the result must be there. */
#include <CL/cl.h>
#include <red/red.h>
#include <stdio.h>

enum {
  N = 100000
};

static float data[N];
static cl_command_queue uploads, commands;
static cl_mem buffer, result;
static red_plan *plan;
static red_queue *queue;

static int example(void) {
  /* BLOCK */
  clReleaseEvent(ready);
  clReleaseEvent(done);
  return 0;
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
    printf("skipped: no OpenCL device\n");
    return 77;
  }
  cl_context native = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  uploads = clCreateCommandQueue(native, device, 0, NULL);
  commands = clCreateCommandQueue(native, device, 0, NULL);
  buffer = clCreateBuffer(native, CL_MEM_READ_ONLY, sizeof data, NULL, NULL);
  result = clCreateBuffer(native, CL_MEM_READ_WRITE, sizeof(float), NULL, NULL);
  for (int i = 0; i < N; i++) data[i] = 0.5f;
  red_context *context;
  red_context_options options = {
      .size = sizeof options, .backend = "opencl", .native_context = native, .native_device = device};
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  if (red_context_create(&options, &context) || red_queue_wrap(context, commands, &queue) ||
      red_plan_create(context, &problem, &plan) || example()) {
    printf("%s\n", red_last_error());
    return 1;
  }
  float sum = 0;
  if (clEnqueueReadBuffer(commands, result, CL_TRUE, 0, sizeof sum, &sum, 0, NULL, NULL) != CL_SUCCESS) return 1;
  red_plan_destroy(plan);
  red_queue_destroy(queue);
  red_context_destroy(context);
  return sum != N / 2;
}
