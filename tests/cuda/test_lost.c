/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that is lost while it works: a kernel of the application stores to an address that is nobody's, which ends
 * the context for good. Every later call says so, none crashes, and everything can be destroyed. A process of its own.
 */
#include <stdio.h>
#include <string.h>

#include "../compare.h"
#include "driver.h"

static const char faulting_kernel[] = ".version 6.3\n"
                                      ".target sm_75\n"
                                      ".address_size 64\n"
                                      ".visible .entry fault() {\n"
                                      "  .reg .b64 %at;\n"
                                      "  .reg .b32 %value;\n"
                                      "  mov.u64 %at, 8;\n"
                                      "  mov.u32 %value, 1;\n"
                                      "  st.global.u32 [%at], %value;\n"
                                      "  ret;\n"
                                      "}\n";

enum {
  N = 200000,
  PLANS = 7
};

static const struct {
  red_kind kind;
  int exact;
  red_memory in_memory, out_memory;
} rows[PLANS] = {
    {RED_REDUCE, 0, RED_DEVICE, RED_HOST},           {RED_REDUCE, 0, RED_DEVICE, RED_DEVICE},
    {RED_REDUCE, 1, RED_DEVICE, RED_HOST},           {RED_STATS, 0, RED_DEVICE, RED_HOST},
    {RED_INCLUSIVE_SCAN, 0, RED_DEVICE, RED_DEVICE}, {RED_REDUCE, 0, RED_HOST, RED_HOST},
    {RED_INCLUSIVE_SCAN, 0, RED_HOST, RED_HOST},
};

static float data[N], outputs[N];

/* The call failed, and names what happened to the device. */
static void lost(const char *what, red_status status) {
  const char *sentence = status != RED_OK ? red_last_error() : "";
  ck_assert_msg(status == RED_ERR_DRIVER, "%s: status %d on a lost device", what, status);
  ck_assert_msg(strstr(sentence, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL && strstr(sentence, "context is lost") != NULL,
                "%s: '%s' does not name the failure", what, sentence);
}

static red_status run(const red_plan *plan, red_queue *queue, int row, void *in, void *out) {
  red_stats_result stats = {.size = sizeof stats};
  void *result = rows[row].kind == RED_STATS ? (void *)&stats : outputs;
  return red_plan_execute(plan, queue, rows[row].in_memory == RED_DEVICE ? in : data,
                          rows[row].out_memory == RED_DEVICE ? out : result);
}

START_TEST(lost_device) {
  red_context *context = suite_context(0), *second = NULL;
  red_plan *plans[PLANS];
  red_queue *own, *wrapped, *new_queue = NULL;
  red_accumulator *accumulator;
  CUstream stream;
  CUmodule module;
  CUfunction fault;
  void *in, *out, *more = NULL;
  driver_open();
  ck_cuda(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ck_cuda(cuda.ModuleLoadData(&module, faulting_kernel));
  ck_cuda(cuda.ModuleGetFunction(&fault, module, "fault"));
  for (unsigned i = 0; i < N; i++) data[i] = (float)i;
  ck_red(red_queue_create(context, &own));
  ck_red(red_queue_wrap(context, stream, &wrapped));
  ck_red(red_alloc(context, sizeof data, &in));
  ck_red(red_alloc(context, sizeof data, &out));
  ck_red(red_upload(context, own, in, 0, data, sizeof data));
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0);
  ck_red(red_accumulator_create(context, &problem, &accumulator));
  ck_red(red_accumulator_add(accumulator, data, N));
  problem.n = N;
  for (int i = 0; i < PLANS; i++) {
    problem.kind = rows[i].kind;
    problem.exact = rows[i].exact;
    problem.in_memory = rows[i].in_memory;
    problem.out_memory = rows[i].out_memory;
    ck_red(red_plan_create(context, &problem, &plans[i]));
    ck_red(run(plans[i], own, i, in, out));
    ck_red(run(plans[i], wrapped, i, in, out));
    ck_red(run(plans[i], NULL, i, in, out));
  }

  ck_cuda(cuda.LaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  lost("waiting for a result", run(plans[0], wrapped, 0, in, out));
  for (int i = 0; i < PLANS; i++) {
    char what[64];
    snprintf(what, sizeof what, "plan %d", i);
    lost(what, run(plans[i], wrapped, i, in, out));
    lost(what, run(plans[i], own, i, in, out));
    lost(what, run(plans[i], NULL, i, in, out));
  }
  lost("red_queue_finish", red_queue_finish(wrapped));
  lost("red_upload", red_upload(context, own, in, 0, data, sizeof data));
  lost("red_upload without a queue", red_upload(context, NULL, in, 0, data, sizeof data));
  lost("red_download", red_download(context, wrapped, data, in, 0, sizeof data));
  lost("red_alloc", red_alloc(context, 1000, &more));
  lost("red_queue_create", red_queue_create(context, &new_queue));
  lost("red_reduce", red_reduce(context, RED_PROD, RED_I8, data, N, outputs)); /* of kernels that are not loaded */
  lost("red_accumulator_add", red_accumulator_add(accumulator, data, N));

  /* A new context of the process is on the same device: it may be had, and then works as little. */
  red_context_options options = {.size = sizeof options, .backend = suite_backend()};
  red_status status = red_context_create(&options, &second);
  if (status == RED_OK) lost("a second context", red_reduce(second, RED_SUM, RED_F32, data, N, outputs));
  red_context_destroy(second);

  red_accumulator_destroy(accumulator);
  for (int i = 0; i < PLANS; i++) red_plan_destroy(plans[i]);
  red_free(context, in);
  red_free(context, out);
  red_queue_destroy(own);
  red_queue_destroy(wrapped);
  red_context_destroy(context);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_test(tests, lost_device);
}

int main(void) {
  return suite_run("lost", fill);
}
