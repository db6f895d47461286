/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The n-th call of the driver fails, for every n: each failure comes back as a status with a sentence, every object
 * that was made is unmade with the context, and what is done afterwards is right.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compare.h"
#include "driver.h"
#include "shim.h"

/* ---- What is tried ----------------------------------------------------------------------------------------------- */

enum {
  N = 100003,
  SMALL = 3001,
  PIPED = 1100000, /* beyond 4 MB, where scans take the pipeline */
  LARGE = 9000000, /* more than two pieces of 16 MB */
  TWO_PIECES = 4200000
};

typedef struct trial {
  const char *combine; /* RED_CUDA_COMBINE */
  red_kind kind;
  red_op op;
  red_dtype in, out;
  uint64_t n;
  red_memory in_memory, out_memory;
  int exact;
  enum {
    OWN_QUEUE,
    NO_QUEUE,
    OWN_WORKSPACE,
    CAPTURED
  } how;
} trial;

/* clang-format off */
static const trial on_device[] = {
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_HOST, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_DOT, RED_F32, 0, N, RED_DEVICE, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_ARGMAX, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_WORKSPACE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 1, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F64, 0, N, RED_DEVICE, RED_HOST, 1, OWN_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_HOST, 0, OWN_QUEUE},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, PIPED, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"last", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"two", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"two", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"pdl", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"coop", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"atomic", RED_REDUCE, RED_SUM, RED_I32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, CAPTURED},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, CAPTURED},
};

static const trial of_the_host[] = {
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 1, NO_QUEUE},
    {"poll", RED_REDUCE, RED_DOT, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, OWN_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, NO_QUEUE},
    /* a result in device memory, from host memory or of nothing */
    {"poll", RED_REDUCE, RED_MAX, RED_I8, 0, SMALL, RED_HOST, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F16, RED_F16, SMALL, RED_HOST, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_DEVICE, 1, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F16, RED_F16, 0, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F64, 0, 0, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, 0, RED_DEVICE, RED_DEVICE, 1, OWN_QUEUE},
};

static const trial in_pieces[] = {
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, LARGE, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_DOT, RED_F32, 0, TWO_PIECES, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, TWO_PIECES, RED_HOST, RED_HOST, 1, NO_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, TWO_PIECES, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, LARGE, RED_HOST, RED_HOST, 0, NO_QUEUE},
};
/* clang-format on */

/* ---- One trial --------------------------------------------------------------------------------------------------- */

static unsigned char *data, *expected, *actual;
static void *native; /* the context that the library is to use; NULL: the primary one */
static CUstream stream;

static red_problem problem_of(const trial *t) {
  red_problem problem = RED_PROBLEM_INIT(t->kind, t->op, t->in, t->n);
  problem.out = t->out;
  problem.exact = t->exact;
  problem.in_memory = t->in_memory;
  problem.out_memory = t->out_memory;
  return problem;
}

/* The second input of dot is the first one from its second element on. */
static const void *second(const red_problem *problem, const void *in) {
  return takes_two(problem) ? (const char *)in + red_dtype_bytes(problem->in) : NULL;
}

static void give_back(red_context *context, void *memory) {
  shim_begin_giving();
  red_free(context, memory);
  shim_end_giving();
}

typedef struct things {
  red_plan *plan;
  red_queue *queue;
  void *in, *out, *workspace;
} things;

static red_status make(red_context *context, const trial *t, const red_problem *problem, things *all) {
  size_t bytes = (problem->n + 1) * red_dtype_bytes(problem->in);
  red_status status = red_plan_create(context, problem, &all->plan);
  if (status == RED_OK && t->how == CAPTURED) status = red_queue_wrap(context, stream, &all->queue);
  if (status == RED_OK && (t->how == OWN_QUEUE || t->how == OWN_WORKSPACE))
    status = red_queue_create(context, &all->queue);
  if (status == RED_OK && problem->in_memory == RED_DEVICE) {
    status = red_alloc(context, bytes, &all->in);
    if (status == RED_OK) status = red_upload(context, all->queue, all->in, 0, data, bytes);
  }
  if (status == RED_OK && problem->out_memory == RED_DEVICE)
    status = red_alloc(context, output_bytes(problem), &all->out);
  if (status == RED_OK && t->how == OWN_WORKSPACE)
    status = red_alloc(context, red_plan_workspace(all->plan), &all->workspace);
  return status;
}

static void unmake(red_context *context, things *all) {
  give_back(context, all->in);
  give_back(context, all->out);
  give_back(context, all->workspace);
  shim_begin_giving();
  red_queue_destroy(all->queue);
  shim_end_giving();
  shim_begin_giving();
  red_plan_destroy(all->plan);
  shim_end_giving();
}

/* The graph is launched whether the execution became a whole part of it or not, and then forgotten. */
static red_status captured(const things *all, const red_args *args) {
  CUgraph graph = NULL;
  CUgraphExec exec;
  ck_cuda(cuda.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  red_status status = red_plan_execute_args(all->plan, all->queue, args);
  ck_cuda(cuda.StreamEndCapture(stream, &graph));
  ck_cuda(cuda.GraphInstantiate(&exec, graph, 0));
  if (status == RED_OK) ck_cuda(cuda.GraphLaunch(exec, stream));
  ck_cuda(cuda.StreamSynchronize(stream));
  ck_cuda(cuda.GraphExecDestroy(exec));
  ck_cuda(cuda.GraphDestroy(graph));
  return status;
}

static red_status execute(red_context *context, const trial *t, const red_problem *problem, const things *all) {
  red_args args = {.size = sizeof args,
                   .in = problem->in_memory == RED_DEVICE ? all->in : data,
                   .out = problem->out_memory == RED_DEVICE ? all->out : actual,
                   .workspace = all->workspace};
  args.in2 = second(problem, args.in);
  if (all->workspace != NULL) args.workspace_bytes = red_plan_workspace(all->plan);
  prepare_output(problem, actual);
  red_status status = t->how == CAPTURED ? captured(all, &args) : red_plan_execute_args(all->plan, all->queue, &args);
  if (status == RED_OK && problem->out_memory == RED_DEVICE)
    status = red_download(context, all->queue, actual, all->out, 0, output_bytes(problem));
  return status;
}

static red_status try(red_context *context, const trial *t) {
  red_problem problem = problem_of(t);
  things all = {.plan = NULL};
  red_status status = make(context, t, &problem, &all);
  if (status == RED_OK) status = execute(context, t, &problem, &all);
  if (status == RED_OK)
    compare_outputs(&problem, shim_failed() != NULL ? shim_failed() : "afterwards", expected, actual);
  unmake(context, &all);
  return status;
}

/* ---- Every call fails -------------------------------------------------------------------------------------------- */

static int texts; /* errors have no names */

/* Of a call that failed. One that makes no difference need not be reported. */
static void check_report(red_status status, unsigned n, int may_be_silent) {
  const char *call = shim_failed(), *sentence = red_last_error();
  ck_assert_msg(status != RED_OK || may_be_silent, "%s (call %u) failed, and nobody was told", call, n);
  if (status == RED_OK) return;
  int asks = strncmp(call, "cuDeviceGet", 11) == 0; /* a device that cannot be asked is not there: another sentence */
  const char *word = asks ? "" : texts ? "no name" : "CUDA_ERROR_";
  ck_assert_msg(strlen(sentence) > 10 && strstr(sentence, word) != NULL, "%s (call %u) failed: '%s'", call, n,
                sentence);
}

static void check_afterwards(red_context *context, const trial *t, unsigned n) {
  red_status status = try(context, t);
  ck_assert_msg(status == RED_OK, "after a failure of %s (call %u): %s", shim_failed(), n, red_last_error());
}

static red_status open_context(red_context **context) {
  char id[32]; /* this device, and no other in its place */
  snprintf(id, sizeof id, "cuda:%d", driver_ordinal());
  red_context_options options = {.size = sizeof options, .backend = id, .native_context = native};
  return red_context_create(&options, context);
}

static void close_context(red_context *context) {
  shim_begin_giving();
  red_context_destroy(context);
  shim_end_giving();
}

/* The library has left no trace but the objects that it could not unmake. */
static void check_end(const char *call, unsigned n, unsigned lost) {
  CUcontext current = NULL;
  ck_cuda(cuda.CtxGetCurrent(&current));
  ck_assert_ptr_eq(current, native != NULL ? (CUcontext)native : driver_primary);
  ck_assert_msg(shim_depth() == 0, "%s (call %u): %d contexts pushed and not popped", call, n, shim_depth());
  ck_assert_msg(shim_retained() == 0, "%s (call %u): the primary context is retained still", call, n);
  ck_assert_msg(shim_objects() == lost, "%s (call %u): %u objects left, %u could not be unmade", call, n,
                shim_objects(), lost);
  shim_reclaim(native != NULL ? native : driver_primary);
}

static void prepare(const trial *t) {
  red_problem problem = problem_of(t);
  problem.in_memory = problem.out_memory = RED_HOST;
  random_state random = random_start(301 + (uint64_t)t->in);
  random_numbers(&random, t->in, data, t->n + 1);
  prepare_output(&problem, expected);
  ck_red(red_reference2(&problem, data, second(&problem, data), expected));
  setenv("RED_CUDA_COMBINE", t->combine, 1);
}

/* In a context that is used again and again, and has the same objects after each failure. */
static void fail_each(const trial *t) {
  red_context *context;
  unsigned lost = 0, n = 1;
  prepare(t);
  shim_record(0);
  ck_red(open_context(&context));
  ck_red(try(context, t));
  const unsigned objects = shim_objects();
  shim_record(1);
  ck_red(try(context, t));
  for (;; n++) {
    shim_record(0);
    shim_fail(n, 0);
    red_status status = try(context, t);
    if (shim_failed() == NULL) break;
    check_report(status, n, shim_failed_silently());
    check_afterwards(context, t, n);
    lost += shim_lost();
    ck_assert_msg(shim_objects() == objects + lost, "%s (call %u): %u objects instead of %u, %u could not be unmade",
                  shim_failed(), n, shim_objects(), objects, lost);
  }
  shim_fail(0, 0);
  ck_assert_uint_gt(n, 5);
  close_context(context);
  check_end("nothing", n, lost);
  unsetenv("RED_CUDA_COMBINE");
}

/* A whole life of a context, in which the n-th call fails, or the n-th that makes an object; 0 if there was none. */
static int life(const trial *t, unsigned n, int makers) {
  red_context *context = NULL;
  shim_record(n == 0);
  shim_fail(n, makers);
  red_status status = open_context(&context);
  int while_opening = shim_failed() != NULL; /* then what describes the device may have failed */
  if (status == RED_OK) status = try(context, t);
  if (shim_failed() != NULL)
    check_report(status, n, while_opening || shim_failed_silently());
  else
    ck_assert_msg(status == RED_OK, "without a failure: %s", red_last_error());
  if (shim_failed() != NULL && context != NULL) check_afterwards(context, t, n);
  close_context(context); /* in the n-th call, perhaps */
  const char *call = shim_failed();
  shim_fail(0, 0);
  check_end(call != NULL ? call : "nothing", n, shim_lost());
  return call != NULL;
}

static void fail_each_in_a_life(const trial *t, int makers, unsigned most) {
  unsigned n = 0;
  prepare(t);
  life(t, n++, makers);
  while (n <= most && life(t, n, makers)) n++;
  ck_assert_uint_gt(n, 5);
  unsetenv("RED_CUDA_COMBINE");
}

START_TEST(device_memory) {
  fail_each(&on_device[_i]);
}
END_TEST

START_TEST(host_memory) {
  fail_each(&of_the_host[_i]);
}
END_TEST

START_TEST(pieces) {
  fail_each(&in_pieces[_i]);
}
END_TEST

/* Opening a context, with its self-test, using and closing it. */
START_TEST(lives) {
  fail_each_in_a_life(&on_device[0], 0, UINT_MAX);
}
END_TEST

START_TEST(lives_in_pieces) {
  fail_each_in_a_life(&in_pieces[0], 1, UINT_MAX);
}
END_TEST

START_TEST(errors_without_names) {
  texts = 1;
  shim_fail_texts(1);
  fail_each(&on_device[2]);
  shim_fail_texts(0);
  texts = 0;
}
END_TEST

/* A context of the application's own, which outlives the library's. The calls that make one are the first. */
START_TEST(native_context) {
  CUcontext made;
  ck_cuda(cuda.CtxCreate(&made, 0, driver_device)); /* and makes it current */
  native = made;
  fail_each(&on_device[0]);
  fail_each_in_a_life(&on_device[0], 0, 60);
  native = NULL;
  ck_cuda(cuda.CtxDestroy(made));
  ck_cuda(cuda.CtxSetCurrent(driver_primary));
}
END_TEST

START_TEST(every_function_failed) {
  shim_expect_all();
}
END_TEST

static void open_all(void) {
  driver_open();
  ck_cuda(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  data = malloc((LARGE + 1) * sizeof(double));
  expected = malloc(LARGE * sizeof(double));
  actual = malloc(LARGE * sizeof(double));
  shim_install();
}

static void close_all(void) {
  ck_cuda(cuda.StreamDestroy(stream));
  driver_close();
  free(data);
  free(expected);
  free(actual);
}

/* Whatever the test before has left behind. */
static void begin(void) {
  native = NULL;
  texts = 0;
  shim_reset();
  ck_cuda(cuda.CtxSetCurrent(driver_primary));
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_all, close_all);
  tcase_add_checked_fixture(tests, begin, NULL);
  tcase_add_loop_test(tests, device_memory, 0, sizeof on_device / sizeof *on_device);
  tcase_add_loop_test(tests, host_memory, 0, sizeof of_the_host / sizeof *of_the_host);
  tcase_add_loop_test(tests, pieces, 0, sizeof in_pieces / sizeof *in_pieces);
  tcase_add_test(tests, lives);
  tcase_add_test(tests, lives_in_pieces);
  tcase_add_test(tests, errors_without_names);
  tcase_add_test(tests, native_context);
  tcase_add_test(tests, every_function_failed); /* the last one */
}

int main(void) {
  return suite_run("faults", fill);
}
