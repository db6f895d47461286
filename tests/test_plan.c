/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans, queues, workspaces and device memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum {
  N = 50000,
  THREADS = 5
};

static red_context *context;
static unsigned char *elements; /* N of any dtype */

static red_plan *plan_for(const red_problem *problem) {
  red_plan *plan;
  ck_red(red_plan_create(context, problem, &plan));
  return plan;
}

/* ---- Shared plans ---- */

typedef struct worker {
  pthread_t thread;
  red_plan *plan;
  const void *in;
  const void *expected;
  size_t bytes;
  unsigned runs, wrong;
} worker;

/* Check's assertions belong to the main thread: count here, judge there. */
static void *work(void *argument) {
  worker *w = argument;
  unsigned char *out = malloc(w->bytes);
  for (unsigned i = 0; i < w->runs; i++) {
    memset(out, 0, w->bytes);
    if (red_plan_execute(w->plan, NULL, w->in, out) != RED_OK || memcmp(out, w->expected, w->bytes) != 0) w->wrong++;
  }
  free(out);
  return NULL;
}

static void share_plan(const red_problem *problem) {
  size_t bytes = output_bytes(problem);
  worker workers[THREADS];
  void *expected = malloc(bytes);
  ck_red(red_reference(problem, elements, expected));
  red_plan *plan = plan_for(problem);
  for (unsigned i = 0; i < THREADS; i++) {
    workers[i] = (worker){.plan = plan, .in = elements, .expected = expected, .bytes = bytes, .runs = suite_repeat(20)};
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  unsigned wrong = 0;
  for (unsigned i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    wrong += workers[i].wrong;
  }
  ck_assert_msg(wrong == 0, "%u executions of a shared plan gave other bits%s", wrong, suite_seed_text());
  red_plan_destroy(plan);
  free(expected);
}

START_TEST(shared_between_threads) {
  random_state random = random_start(1);
  red_problem problems[] = {RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N),
                            RED_PROBLEM_INIT(RED_REDUCE, RED_ARGMIN, RED_I16, N),
                            RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N),
                            RED_PROBLEM_INIT(RED_EXCLUSIVE_SCAN, RED_MAX, RED_I8, N)};
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    random_elements(&random, problems[i].in, elements, N);
    share_plan(&problems[i]);
  }
}
END_TEST

START_TEST(reused) {
  random_state random = random_start(2);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  red_plan *plan = plan_for(&problem);
  for (unsigned repeat = suite_repeat(20); repeat > 0; repeat--) {
    float expected, actual;
    random_elements(&random, RED_F32, elements, N);
    ck_red(red_reference(&problem, elements, &expected));
    ck_red(red_plan_execute(plan, NULL, elements, &actual));
    compare_outputs(&problem, "a plan used again", &expected, &actual);
  }
  red_plan_destroy(plan);
}
END_TEST

/* ---- Device memory ---- */

static void *upload(const void *from, size_t bytes) {
  void *memory;
  ck_red(red_alloc(context, bytes, &memory));
  ck_red(red_upload(context, NULL, memory, 0, from, bytes));
  return memory;
}

/* Offsets in input, output and workspace, the caller's queue and the caller's workspace. */
static void with_everything(red_problem problem, random_state *random) {
  red_queue *queue;
  red_status status;
  size_t size = red_dtype_bytes(problem.in), bytes = output_bytes(&problem),
         unit = bytes / (problem.kind == RED_REDUCE ? 1 : problem.n);
  uint64_t in_offset = size * random_below(random, 40), out_offset = unit * random_below(random, 40);
  unsigned char *expected = malloc(bytes), *actual = malloc(bytes + out_offset);
  void *out, *workspace = NULL, *in2 = NULL;
  random_elements(random, problem.in, elements, N);
  problem.n -= 40;
  bytes = output_bytes(&problem);
  const unsigned char *second = takes_two(&problem) ? elements + size * random_below(random, 40) : NULL;
  red_status want = red_reference2(&problem, elements + in_offset, second, expected);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan;
  status = red_plan_create(context, &problem, &plan);
  if (may_refuse(&problem, status)) {
    free(expected);
    free(actual);
    return;
  }
  ck_assert_msg(status == RED_OK, "%s", red_last_error());
  void *in = upload(elements, N * size);
  if (second != NULL) in2 = upload(elements, N * size);
  uint64_t workspace_bytes = red_plan_workspace(plan);
  ck_red(red_queue_create(context, &queue));
  ck_red(red_alloc(context, bytes + out_offset, &out));
  if (workspace_bytes > 0) ck_red(red_alloc(context, workspace_bytes + 256, &workspace));
  red_args args = {.size = sizeof args,
                   .in = in,
                   .in_offset = in_offset,
                   .in2 = in2,
                   .in2_offset = second != NULL ? (uint64_t)(second - elements) : 0,
                   .out = out,
                   .out_offset = out_offset,
                   .workspace = workspace,
                   .workspace_offset = workspace ? 256 : 0,
                   .workspace_bytes = workspace_bytes};
  status = red_plan_execute_args(plan, queue, &args);
  ck_assert_msg(status == want, "status %d, expected %d: %s", status, want, red_last_error());
  ck_red(red_queue_finish(queue));
  ck_red(red_download(context, queue, actual, out, out_offset, bytes));
  if (want == RED_OK) compare_outputs(&problem, "in device memory", expected, actual);
  red_free(context, workspace);
  red_free(context, in);
  red_free(context, in2);
  red_free(context, out);
  red_queue_destroy(queue);
  red_plan_destroy(plan);
  free(expected);
  free(actual);
}

static int possible(const red_problem *problem) {
  red_problem resolved = *problem;
  return red_problem_resolve(&resolved) == RED_OK;
}

START_TEST(device_memory) {
  static const red_kind kinds[] = {RED_REDUCE, RED_INCLUSIVE_SCAN, RED_EXCLUSIVE_SCAN};
  static const red_op ops[] = {RED_SUM, RED_PROD, RED_MIN,   RED_MAXNUM, RED_ANY,
                               RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2,   RED_MEAN};
  static const red_dtype dtypes[] = {RED_F32, RED_F16, RED_I8, RED_U32};
  random_state random = random_start(3);
  for (unsigned repeat = suite_repeat(2); repeat > 0; repeat--)
    for (size_t k = 0; k < 3; k++)
      for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
          red_problem problem = RED_PROBLEM_INIT(kinds[k], ops[o], dtypes[d], N);
          if (possible(&problem)) with_everything(problem, &random);
        }
}
END_TEST

/* Work in a queue is done in order: scan, then sum of what the scan wrote, then the scan again in place. */
START_TEST(queue_is_in_order) {
  random_state random = random_start(4);
  red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N);
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  float *expected = malloc(N * sizeof *expected), expected_sum, actual_sum;
  red_queue *queue;
  void *out, *result;
  random_elements(&random, RED_F32, elements, N);
  ck_red(red_reference(&scan, elements, expected));
  ck_red(red_reference(&sum, expected, &expected_sum));
  ck_red(red_reference(&scan, expected, expected));
  scan.in_memory = scan.out_memory = sum.in_memory = sum.out_memory = RED_DEVICE;
  red_plan *scan_plan = plan_for(&scan), *sum_plan = plan_for(&sum);
  void *in = upload(elements, N * sizeof(float));
  ck_red(red_queue_create(context, &queue));
  ck_red(red_alloc(context, N * sizeof(float), &out));
  ck_red(red_alloc(context, sizeof(float), &result));
  ck_red(red_plan_execute(scan_plan, queue, in, out));
  ck_red(red_plan_execute(sum_plan, queue, out, result));
  ck_red(red_plan_execute(scan_plan, queue, out, out));
  ck_red(red_download(context, queue, &actual_sum, result, 0, sizeof actual_sum)); /* waits for the work before it */
  ck_red(red_download(context, queue, elements, out, 0, N * sizeof(float)));
  compare_outputs(&sum, "behind a scan in the queue", &expected_sum, &actual_sum);
  compare_outputs(&scan, "in place behind two others in the queue", expected, elements);
  red_free(context, in);
  red_free(context, out);
  red_free(context, result);
  red_queue_destroy(queue);
  red_plan_destroy(scan_plan);
  red_plan_destroy(sum_plan);
  free(expected);
}
END_TEST

/* Input on the device, result on the host. */
START_TEST(result_on_host) {
  random_state random = random_start(5);
  static const red_op ops[] = {RED_SUM, RED_ARGMAX, RED_COUNT_NONZERO};
  random_elements(&random, RED_F32, elements, N);
  void *in = upload(elements, N * sizeof(float));
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[i], RED_F32, N);
    uint64_t expected = 0, actual = 0;
    ck_red(red_reference(&problem, elements, &expected));
    problem.in_memory = RED_DEVICE;
    red_plan *plan = plan_for(&problem);
    ck_red(red_plan_execute(plan, NULL, in, &actual));
    compare_outputs(&problem, "to the host", &expected, &actual);
    red_plan_destroy(plan);
  }
  red_free(context, in);
}
END_TEST

START_TEST(empty_on_device) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0);
  uint32_t actual = 0x5a5a5a5a;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  void *out = upload(&actual, sizeof actual);
  red_plan *plan = plan_for(&problem);
  ck_red(red_plan_execute(plan, NULL, NULL, out));
  ck_red(red_download(context, NULL, &actual, out, 0, sizeof actual));
  ck_assert_uint_eq(actual, 0);
  red_plan_destroy(plan);
  problem.op = RED_MIN;
  plan = plan_for(&problem);
  ck_assert_int_eq(red_plan_execute(plan, NULL, NULL, out), RED_ERR_EMPTY);
  red_plan_destroy(plan);
  red_free(context, out);
}
END_TEST

START_TEST(memory_is_aligned) {
  void *memory[8];
  for (size_t i = 0; i < 8; i++) ck_red(red_alloc(context, 1 + i * 33, &memory[i]));
  for (size_t i = 0; i < 8; i++) {
    if (strncmp(suite_backend(), "opencl", 6) != 0) ck_assert_uint_eq((uintptr_t)memory[i] % 256, 0); /* no handle */
    red_free(context, memory[i]);
  }
  red_free(context, NULL);
}
END_TEST

/* The CPU reads any address; a device would fail in its middle, and some would not work again. */
static int any_address_will_do(void) {
  return strncmp(suite_backend(), "omp", 3) == 0;
}

START_TEST(misaligned_on_device) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, RED_F32, 1000);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  void *in = upload(elements, 8192), *out = upload(elements, 256);
  float before, after;
  memcpy(&before, elements, sizeof before);
  red_plan *plan = plan_for(&problem);
  red_args args = {.size = sizeof args, .in = in, .in2 = in, .out = out, .in_offset = 2};
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "multiple of 4");
  args.in_offset = 4;
  args.in2_offset = 4097;
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "in2");
  args.in2_offset = 4;
  args.out_offset = 1;
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "out");
  ck_red(red_download(context, NULL, &after, out, 0, sizeof after));
  ck_assert_mem_eq(&before, &after, sizeof after);
  args.out_offset = 4;
  ck_red(red_plan_execute_args(plan, NULL, &args));
  red_plan_destroy(plan);
  problem = (red_problem)RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_I8, 1000);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  plan = plan_for(&problem);
  args = (red_args){.size = sizeof args, .in = in, .out = out, .in_offset = 3, .out_offset = 4};
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "out");
  args.out_offset = 8;
  ck_red(red_plan_execute_args(plan, NULL, &args));
  red_plan_destroy(plan);
  red_free(context, out);
  red_free(context, in);
}
END_TEST

START_TEST(workspace_in_an_array) {
  red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan = plan_for(&problem);
  uint64_t room = red_plan_workspace(plan), bytes = (N * sizeof(float) + 255) / 256 * 256;
  void *memory = upload(elements, bytes), *other = NULL;
  ck_red(red_alloc(context, bytes + room + 256, &other));
  red_args args = {.size = sizeof args,
                   .in = memory,
                   .out = other,
                   .workspace = other,
                   .workspace_bytes = room,
                   .workspace_offset = 0};
  if (room > 0) ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_WORKSPACE, "out");
  args.workspace_offset = bytes - 256;
  if (room > 0) ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_WORKSPACE, "out");
  args.in = other;
  args.out = memory;
  if (room > 0) ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_WORKSPACE, "in");
  args.in = memory;
  args.out = other;
  args.workspace_offset = bytes;
  ck_red(red_plan_execute_args(plan, NULL, &args));
  float *expected = malloc(bytes), *actual = malloc(bytes);
  ck_red(red_reference(&problem, elements, expected));
  ck_red(red_download(context, NULL, actual, other, 0, N * sizeof(float)));
  compare_outputs(&problem, "the workspace behind the output", expected, actual);
  free(actual);
  free(expected);
  red_free(context, other);
  red_free(context, memory);
  red_plan_destroy(plan);
}
END_TEST

START_TEST(copies_with_offsets) {
  unsigned char there[1000], back[1000];
  random_state random = random_start(6);
  for (size_t i = 0; i < sizeof there; i++) there[i] = (unsigned char)random_next(&random);
  void *memory = upload(there, sizeof there);
  for (unsigned repeat = 0; repeat < 50; repeat++) {
    uint64_t at = random_below(&random, sizeof there), bytes = random_below(&random, sizeof there - at + 1);
    for (uint64_t i = 0; i < bytes; i++) there[at + i] ^= 0x5a;
    ck_red(red_upload(context, NULL, memory, at, there + at, bytes));
    at = random_below(&random, sizeof there);
    ck_red(red_download(context, NULL, back, memory, at, sizeof there - at));
    ck_assert_mem_eq(back, there + at, sizeof there - at);
  }
  red_free(context, memory);
}
END_TEST

/* A queue takes host memory too, which has been read when the call returns. */
START_TEST(host_memory_with_queue) {
  random_state random = random_start(7);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  red_queue *queue;
  float expected, actual;
  random_elements(&random, RED_F32, elements, N);
  ck_red(red_reference(&problem, elements, &expected));
  red_plan *plan = plan_for(&problem);
  ck_red(red_queue_create(context, &queue));
  ck_red(red_plan_execute(plan, queue, elements, &actual));
  memset(elements, 0xff, N * sizeof(float));
  ck_red(red_queue_finish(queue));
  compare_outputs(&problem, "host memory with a queue", &expected, &actual);
  red_queue_destroy(queue);
  red_plan_destroy(plan);
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
  elements = malloc(N * 8);
}

static void close_context(void) {
  red_context_destroy(context);
  free(elements);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  tcase_add_test(tests, shared_between_threads);
  tcase_add_test(tests, reused);
  tcase_add_test(tests, device_memory);
  tcase_add_test(tests, queue_is_in_order);
  tcase_add_test(tests, result_on_host);
  tcase_add_test(tests, empty_on_device);
  tcase_add_test(tests, memory_is_aligned);
  if (!any_address_will_do()) tcase_add_test(tests, misaligned_on_device);
  tcase_add_test(tests, workspace_in_an_array);
  tcase_add_test(tests, copies_with_offsets);
  tcase_add_test(tests, host_memory_with_queue);
}

int main(void) {
  return suite_run("plan", fill);
}
