/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nothing waits behind the application's back: executions in device memory return while the stream that they were put
 * into is held up, the first one in a queue as well. And a context of the application's own is used and left alone.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"
#include "driver.h"

enum {
  MOST = 3000000,
  PATIENCE = 10 /* seconds, after which the stream goes on */
};

/* ---- A stream that is held up ---- */

typedef struct hold {
  atomic_int released, patience_ended;
  pthread_mutex_t lock;
  pthread_cond_t change;
  int done;
  pthread_t watch;
} hold;

static void CUDA_CB wait_for_release(void *at) {
  hold *h = at;
  const struct timespec pause = {.tv_nsec = 1000000};
  while (!atomic_load(&h->released)) nanosleep(&pause, NULL);
}

/* If a call waits for the stream, the test is to fail, not to hang. */
static void *watch(void *at) {
  hold *h = at;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += PATIENCE;
  pthread_mutex_lock(&h->lock);
  while (!h->done && !atomic_load(&h->patience_ended))
    if (pthread_cond_timedwait(&h->change, &h->lock, &end) != 0 && !h->done) atomic_store(&h->patience_ended, 1);
  pthread_mutex_unlock(&h->lock);
  if (atomic_load(&h->patience_ended)) atomic_store(&h->released, 1);
  return NULL;
}

static void hold_up(hold *h, CUstream stream) {
  *h = (hold){.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
  ck_cuda(cuda.LaunchHostFunc(stream, wait_for_release, h));
  ck_assert_int_eq(pthread_create(&h->watch, NULL, watch, h), 0);
}

static void release(hold *h) {
  pthread_mutex_lock(&h->lock);
  h->done = 1;
  pthread_cond_signal(&h->change);
  pthread_mutex_unlock(&h->lock);
  pthread_join(h->watch, NULL);
  atomic_store(&h->released, 1);
}

/* ---- Executions in it ---- */

static const struct {
  const char *combine;
  red_kind kind;
  red_op op;
  red_dtype in;
  uint64_t n;
  int exact;
} rows[] = {
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 100, 0},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, MOST, 0},
    {"last", RED_REDUCE, RED_SUM, RED_F32, MOST, 0},
    {"two", RED_REDUCE, RED_SUM, RED_F32, MOST, 0},
    {"pdl", RED_REDUCE, RED_SUM, RED_F32, MOST, 0},
    {"coop", RED_REDUCE, RED_SUM, RED_F32, MOST, 0},
    {"atomic", RED_REDUCE, RED_SUM, RED_I32, MOST, 0},
    {"poll", RED_REDUCE, RED_ARGMAX, RED_F64, MOST / 2, 0},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, MOST, 1},
    {"poll", RED_REDUCE, RED_NRM2, RED_F32, MOST, 1},
    {"poll", RED_STATS, RED_SUM, RED_F32, MOST, 0},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 3000, 0},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, MOST / 4, 0},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, MOST, 0},
    {"two", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, MOST, 0},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, 0},
};

static unsigned char *data, *expected, *actual;

static void prepare(const red_problem *problem) {
  random_state random = random_start(401);
  red_problem on_host = *problem;
  on_host.in_memory = on_host.out_memory = RED_HOST;
  random_numbers(&random, problem->in, data, problem->n);
  prepare_output(problem, expected);
  prepare_output(problem, actual);
  ck_red(red_run(cpu, &on_host, data, expected));
}

/* Twice: what a queue makes at its first execution is made while the stream is held up. */
static void run_held_up(red_context *on, CUstream stream, const red_problem *problem) {
  red_plan *plan;
  red_queue *queue;
  void *in, *out;
  hold h;
  prepare(problem);
  ck_red(red_plan_create(on, problem, &plan));
  ck_red(red_queue_wrap(on, stream, &queue));
  ck_red(red_alloc(on, problem->n * red_dtype_bytes(problem->in) + 1, &in));
  ck_red(red_alloc(on, output_bytes(problem), &out));
  ck_red(red_upload(on, NULL, in, 0, data, problem->n * red_dtype_bytes(problem->in)));
  for (int time = 0; time < 2; time++) {
    char text[128] = "";
    red_problem_print(problem, text, sizeof text);
    hold_up(&h, stream);
    ck_red(red_plan_execute(plan, queue, in, out));
    CUresult state = cuda.StreamQuery(stream);
    release(&h);
    ck_assert_msg(!atomic_load(&h.patience_ended), "%s, execution %d waited for the stream", text, time + 1);
    ck_assert_int_eq(state, CUDA_ERROR_NOT_READY);
    ck_red(red_queue_finish(queue));
    ck_red(red_download(on, queue, actual, out, 0, output_bytes(problem)));
    compare_outputs(problem, "held up", expected, actual);
  }
  red_free(on, in);
  red_free(on, out);
  red_queue_destroy(queue);
  red_plan_destroy(plan);
}

START_TEST(nothing_waits) {
  CUstream stream;
  ck_cuda(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    red_problem problem = RED_PROBLEM_INIT(rows[i].kind, rows[i].op, rows[i].in, rows[i].n);
    problem.exact = rows[i].exact;
    problem.in_memory = problem.out_memory = RED_DEVICE;
    setenv("RED_CUDA_COMBINE", rows[i].combine, 1);
    run_held_up(context, stream, &problem);
    unsetenv("RED_CUDA_COMBINE");
  }
  ck_cuda(cuda.StreamDestroy(stream));
}
END_TEST

/* Other queues, and calls without one, go on beside it. */
START_TEST(others_go_on) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, MOST);
  CUstream stream;
  red_queue *queue;
  hold h;
  float result;
  ck_cuda(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  prepare(&problem);
  device_run run = {.host_result = 1};
  ck_red(red_queue_create(context, &queue));
  ck_red(run_on_device(&run, &problem, data, &result));
  ck_red(red_run(context, &problem, data, &result));
  run.queue = queue;
  ck_red(run_on_device(&run, &problem, data, &result)); /* what is made once is there */
  red_plan *plan;
  problem.in_memory = RED_DEVICE;
  ck_red(red_plan_create(context, &problem, &plan));
  void *in;
  ck_red(red_alloc(context, MOST * sizeof(float), &in));
  ck_red(red_upload(context, queue, in, 0, data, MOST * sizeof(float)));
  hold_up(&h, stream);
  ck_red(red_plan_execute(plan, queue, in, actual));
  compare_outputs(&problem, "in another queue", expected, actual);
  ck_red(red_plan_execute(plan, NULL, in, actual));
  compare_outputs(&problem, "without a queue", expected, actual);
  problem.in_memory = RED_HOST;
  ck_red(red_run(context, &problem, data, actual));
  compare_outputs(&problem, "of the host", expected, actual);
  release(&h);
  ck_assert(!atomic_load(&h.patience_ended));
  red_free(context, in);
  red_plan_destroy(plan);
  red_queue_destroy(queue);
  ck_cuda(cuda.StreamSynchronize(stream));
  ck_cuda(cuda.StreamDestroy(stream));
}
END_TEST

/* ---- A context of the application's own ---- */

START_TEST(native_context) {
  CUcontext made, current = NULL;
  CUdeviceptr memory;
  CUstream stream;
  float results[1] = {0};
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, MOST);
  problem.in_memory = RED_DEVICE;
  prepare(&problem);
  ck_cuda(cuda.CtxCreate(&made, 0, driver_device));
  ck_cuda(cuda.MemAlloc(&memory, MOST * sizeof(float)));
  ck_cuda(cuda.MemcpyHtoD(memory, data, MOST * sizeof(float)));
  ck_cuda(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ck_cuda(cuda.CtxSetCurrent(driver_primary)); /* another one is current in the thread */
  red_context_options options = {.size = sizeof options, .backend = suite_backend(), .native_context = made};
  red_context *on;
  red_plan *plan;
  red_queue *queue;
  ck_red(red_context_create(&options, &on));
  ck_red(red_plan_create(on, &problem, &plan));
  ck_red(red_queue_wrap(on, stream, &queue)); /* a stream of that context */
  ck_red(red_plan_execute(plan, queue, (void *)(uintptr_t)memory, results));
  compare_outputs(&problem, "in a context of the application", expected, results);
  ck_red(red_plan_execute(plan, NULL, (void *)(uintptr_t)memory, results));
  compare_outputs(&problem, "in a context of the application", expected, results);
  red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, MOST);
  scan.in_memory = scan.out_memory = RED_DEVICE;
  run_held_up(on, stream, &scan);
  ck_cuda(cuda.CtxGetCurrent(&current));
  ck_assert_ptr_eq(current, driver_primary);
  red_queue_destroy(queue);
  red_plan_destroy(plan);
  red_context_destroy(on);

  ck_cuda(cuda.CtxSetCurrent(made)); /* it still works, with what is in it */
  ck_cuda(cuda.MemcpyDtoH(actual, memory, MOST * sizeof(float)));
  ck_cuda(cuda.StreamSynchronize(stream));
  ck_cuda(cuda.StreamDestroy(stream));
  ck_cuda(cuda.MemFree(memory));
  ck_cuda(cuda.CtxDestroy(made));
  ck_cuda(cuda.CtxSetCurrent(driver_primary));
}
END_TEST

static void open_all(void) {
  driver_open();
  open_contexts();
  data = malloc(MOST * sizeof(double));
  expected = malloc(MOST * sizeof(double));
  actual = malloc(MOST * sizeof(double));
}

static void close_all(void) {
  free(data);
  free(expected);
  free(actual);
  close_contexts();
  driver_close();
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_all, close_all);
  tcase_add_test(tests, nothing_waits);
  tcase_add_test(tests, others_go_on);
  tcase_add_test(tests, native_context);
}

int main(void) {
  return suite_run("streams", fill);
}
