/* SPDX-License-Identifier: BSD-2-Clause */
/* Executions captured into CUDA graphs: replays on new data give the right bits, what cannot be captured is refused. */
#include <stdlib.h>
#include <string.h>

#include "../compare.h"
#include "driver.h"

enum {
  N = 1500007,
  REPLAYS = 5
};

static red_context *context;
static red_queue *queue;
static CUstream stream;
static float *data;
static void *in, *out, *result;

static void open_all(void) {
  driver_open();
  context = suite_context(0);
  ck_cuda(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ck_red(red_queue_wrap(context, stream, &queue));
  ck_red(red_alloc(context, N * sizeof(float), &in));
  ck_red(red_alloc(context, N * sizeof(float), &out));
  ck_red(red_alloc(context, 256, &result));
  data = malloc(N * sizeof *data);
}

static void close_all(void) {
  red_free(context, in);
  red_free(context, out);
  red_free(context, result);
  red_queue_destroy(queue);
  ck_cuda(cuda.StreamDestroy(stream));
  red_context_destroy(context);
  free(data);
  driver_close();
}

static red_plan *exact_or_not(red_kind kind, red_op op, uint64_t n, int exact) {
  red_problem problem = RED_PROBLEM_INIT(kind, op, RED_F32, n);
  red_plan *plan;
  problem.exact = exact;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  ck_red(red_plan_create(context, &problem, &plan));
  return plan;
}

static red_plan *device_plan(red_kind kind, red_op op, uint64_t n) {
  return exact_or_not(kind, op, n, 0);
}

static CUgraphExec end_capture(void) {
  CUgraph graph;
  CUgraphExec exec;
  ck_cuda(cuda.StreamEndCapture(stream, &graph));
  ck_cuda(cuda.GraphInstantiate(&exec, graph, 0));
  ck_cuda(cuda.GraphDestroy(graph));
  return exec;
}

static void upload_new(random_state *random, uint64_t n) {
  random_numbers(random, RED_F32, data, n);
  ck_red(red_upload(context, queue, in, 0, data, n * sizeof(float)));
}

/* A scan, the sum of its outputs, its inputs' exact sum, the scan again in place: two executions are of one plan. */
static void replay(uint64_t n, random_state *random) {
  red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, n);
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, n);
  red_problem exact = sum;
  exact.exact = 1;
  red_plan *scan_plan = device_plan(scan.kind, scan.op, n), *sum_plan = device_plan(sum.kind, sum.op, n);
  red_plan *exact_plan = exact_or_not(sum.kind, sum.op, n, 1);
  float *expected = malloc(n * sizeof *expected), *actual = malloc(n * sizeof *actual), want, got;
  char *exact_result = (char *)result + 64;
  ck_cuda(cuda.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ck_red(red_plan_execute(scan_plan, queue, in, out));
  ck_red(red_plan_execute(sum_plan, queue, out, result));
  ck_red(red_plan_execute(exact_plan, queue, in, exact_result));
  ck_red(red_plan_execute(scan_plan, queue, out, out));
  CUgraphExec exec = end_capture();
  for (unsigned i = 0; i < REPLAYS; i++) {
    upload_new(random, n);
    ck_cuda(cuda.GraphLaunch(exec, stream));
    ck_red(red_download(context, queue, &got, result, 0, sizeof got));
    ck_red(red_download(context, queue, actual, out, 0, n * sizeof(float)));
    ck_red(red_reference(&exact, data, &want));
    float exactly;
    ck_red(red_download(context, queue, &exactly, exact_result, 0, sizeof exactly));
    compare_outputs(&exact, "replayed", &want, &exactly);
    ck_red(red_reference(&scan, data, expected));
    ck_red(red_reference(&sum, expected, &want));
    ck_red(red_reference(&scan, expected, expected));
    compare_outputs(&sum, "replayed", &want, &got);
    compare_outputs(&scan, "replayed", expected, actual);
    /* the same plans beside the graph, in the same stream */
    ck_red(red_plan_execute(sum_plan, queue, out, result));
    ck_red(red_reference(&sum, expected, &want));
    ck_red(red_download(context, queue, &got, result, 0, sizeof got));
    compare_outputs(&sum, "after a replay", &want, &got);
  }
  ck_cuda(cuda.GraphExecDestroy(exec));
  red_plan_destroy(scan_plan);
  red_plan_destroy(sum_plan);
  red_plan_destroy(exact_plan);
  free(expected);
  free(actual);
}

START_TEST(replays) {
  random_state random = random_start(201);
  static const uint64_t lengths[] = {1, 3000, 40000, 1000000, N};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) replay(lengths[i], &random);
}
END_TEST

START_TEST(statistics) {
  random_state random = random_start(202);
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_F32, N);
  red_plan *plan = device_plan(RED_STATS, RED_SUM, N);
  red_stats_result want = {.size = sizeof want}, got;
  ck_cuda(cuda.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ck_red(red_plan_execute(plan, queue, in, result));
  CUgraphExec exec = end_capture();
  for (unsigned i = 0; i < REPLAYS; i++) {
    upload_new(&random, N);
    ck_cuda(cuda.GraphLaunch(exec, stream));
    ck_red(red_download(context, queue, &got, result, 0, sizeof got));
    ck_red(red_reference(&problem, data, &want));
    compare_outputs(&problem, "replayed", &want, &got);
  }
  ck_cuda(cuda.GraphExecDestroy(exec));
  red_plan_destroy(plan);
}
END_TEST

/* What needs the host is refused, and the capture goes on. */
START_TEST(refusals) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  red_plan *on_host, *to_host, *plan = device_plan(RED_REDUCE, RED_SUM, N);
  float value = 5;
  ck_red(red_plan_create(context, &problem, &on_host));
  problem.in_memory = RED_DEVICE;
  ck_red(red_plan_create(context, &problem, &to_host));
  ck_cuda(cuda.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ck_assert_int_eq(red_plan_execute(to_host, queue, in, &value), RED_ERR_UNSUPPORTED);
  ck_assert_int_eq(red_plan_execute(on_host, queue, data, &value), RED_ERR_UNSUPPORTED);
  ck_assert_int_eq(red_upload(context, queue, in, 0, data, 4), RED_ERR_UNSUPPORTED);
  ck_assert_int_eq(red_queue_finish(queue), RED_ERR_UNSUPPORTED);
  ck_assert(value == 5);
  ck_red(red_plan_execute(plan, queue, in, result));
  ck_cuda(cuda.GraphExecDestroy(end_capture()));
  red_plan_destroy(on_host);
  red_plan_destroy(to_host);
  red_plan_destroy(plan);
}
END_TEST

/* Calls on other queues work while a stream is captured in global mode. */
START_TEST(beside_a_capture) {
  random_state random = random_start(203);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  float want, got;
  random_numbers(&random, RED_F32, data, N);
  ck_red(red_reference(&problem, data, &want));
  ck_cuda(cuda.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ck_red(red_run(context, &problem, data, &got));
  CUgraph graph;
  ck_cuda(cuda.StreamEndCapture(stream, &graph));
  ck_cuda(cuda.GraphDestroy(graph));
  compare_outputs(&problem, "beside a capture", &want, &got);
}
END_TEST

/* The application's current context is as it was. */
START_TEST(context_is_left_alone) {
  CUcontext current = NULL;
  float value;
  ck_cuda(cuda.CtxSetCurrent(NULL));
  ck_red(red_reduce(context, RED_SUM, RED_F32, data, 100, &value));
  ck_cuda(cuda.CtxGetCurrent(&current));
  ck_assert_ptr_null(current);
  ck_cuda(cuda.CtxSetCurrent(driver_primary));
  ck_red(red_reduce(context, RED_SUM, RED_F32, data, 100, &value));
  ck_cuda(cuda.CtxGetCurrent(&current));
  ck_assert_ptr_eq(current, driver_primary);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_all, close_all);
  tcase_add_test(tests, replays);
  tcase_add_test(tests, statistics);
  tcase_add_test(tests, refusals);
  tcase_add_test(tests, beside_a_capture);
  tcase_add_test(tests, context_is_left_alone);
}

int main(void) {
  return suite_run("graph", fill);
}
