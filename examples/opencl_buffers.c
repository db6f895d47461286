/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffers, the context and the queue of an OpenCL application: libred works on them as they are. A running sum of
 * the second half of a buffer, between a write and a read of the application.
 */
#include <red/red.h>

#include "opencl.h"

enum {
  N = 100000
};

static void check(red_status status) {
  if (status == RED_OK) return;
  fprintf(stderr, "%s\n", red_last_error());
  exit(1);
}

int main(void) {
  static float data[2 * N], running[N], expected[N];
  for (int i = 0; i < 2 * N; i++) data[i] = 0.1f * (float)(i % 100);
  application app = application_start();
  cl_int error;
  cl_mem in = clCreateBuffer(app.context, CL_MEM_READ_ONLY, sizeof data, NULL, &error);
  must(error, "clCreateBuffer");
  cl_mem out = clCreateBuffer(app.context, CL_MEM_READ_WRITE, sizeof running, NULL, &error);
  must(error, "clCreateBuffer");

  red_context *context;
  red_context_options options = {
      .size = sizeof options, .backend = "opencl", .native_context = app.context, .native_device = app.device};
  check(red_context_create(&options, &context));
  red_queue *queue;
  check(red_queue_wrap(context, app.queue, &queue));

  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan;
  check(red_plan_create(context, &problem, &plan));

  must(clEnqueueWriteBuffer(app.queue, in, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL), "clEnqueueWriteBuffer");
  red_args args = {.size = sizeof args, .in = in, .in_offset = N * sizeof(float), .out = out};
  check(red_plan_execute_args(plan, queue, &args));
  must(clEnqueueReadBuffer(app.queue, out, CL_TRUE, 0, sizeof running, running, 0, NULL, NULL), "clEnqueueReadBuffer");

  /* The same bits as on the host. */
  check(red_inclusive_scan(NULL, RED_SUM, RED_F32, data + N, N, expected));
  int differ = 0;
  for (int i = 0; i < N; i++) differ += running[i] != expected[i];
  printf("%d sums, the last is %.9g, %d differ from the host's\n", N, running[N - 1], differ);

  red_plan_destroy(plan);
  red_queue_destroy(queue);
  red_context_destroy(context);
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  application_end(&app);
  return differ != 0;
}
