/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call of every function of the driver fails once, in each way to compute: somebody is told, with the driver's
 * word for it, results are left alone, no object is lost, and the next execution works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native.h"
#include "shim.h"

enum {
  N = 30001,
  MOST_BYTES = (N + 2) * 8
};

typedef struct trial {
  const char *settings; /* of the environment, while the context opens */
  red_kind kind;
  red_op op;
  red_dtype in;
  red_memory in_memory, out_memory;
  int exact;
  enum {
    NO_QUEUE,
    OWN_QUEUE,
    OUT_OF_ORDER,
    OWN_WORKSPACE
  } how;
  size_t shift; /* of host arrays: one that is not aligned is copied */
} trial;

/* clang-format off */
static const trial trials[] = {
    {"", RED_REDUCE, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE, 0},
    {"", RED_REDUCE, RED_SUM, RED_F32, RED_DEVICE, RED_HOST, 0, NO_QUEUE, 0},
    {"", RED_REDUCE, RED_DOT, RED_F32, RED_DEVICE, RED_DEVICE, 0, OUT_OF_ORDER, 0},
    {"", RED_REDUCE, RED_NRM2, RED_F32, RED_DEVICE, RED_DEVICE, 0, OWN_WORKSPACE, 0},
    {"", RED_REDUCE, RED_ARGMAX, RED_F32, RED_HOST, RED_DEVICE, 0, OWN_QUEUE, 0},
    {"", RED_REDUCE, RED_DOT, RED_F32, RED_HOST, RED_HOST, 0, NO_QUEUE, 1},
    {"", RED_REDUCE, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 1, OUT_OF_ORDER, 0},
    {"", RED_REDUCE, RED_SUM, RED_F32, RED_HOST, RED_HOST, 1, NO_QUEUE, 1},
    {"", RED_STATS, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 0, OWN_WORKSPACE, 0},
    {"", RED_STATS, RED_SUM, RED_F32, RED_HOST, RED_HOST, 0, OUT_OF_ORDER, 0},
    {"", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 0, OUT_OF_ORDER, 0},
    {"", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_HOST, RED_HOST, 0, NO_QUEUE, 0},
    {"", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, RED_HOST, RED_HOST, 0, NO_QUEUE, 1},
    {"RED_OPENCL_SHAPE=wide RED_OPENCL_SCAN=windows", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE, 0},
    {"RED_OPENCL_SHAPE=local", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 0, OWN_WORKSPACE, 0},
    {"RED_OPENCL_SHAPE=local", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_HOST, RED_HOST, 0, OWN_QUEUE, 0},
    {"RED_OPENCL_SHAPE=local RED_OPENCL_REDUCE=launch", RED_REDUCE, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE, 0},
    {"RED_OPENCL_SHAPE=local RED_OPENCL_REDUCE=launch", RED_REDUCE, RED_SUM, RED_F32, RED_DEVICE, RED_HOST, 0, OUT_OF_ORDER, 0},
    {"RED_OPENCL_SHAPE=local RED_OPENCL_REDUCE=stages", RED_REDUCE, RED_SUM, RED_F32, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE, 0},
};
/* clang-format on */

static _Alignas(64) unsigned char in[MOST_BYTES], expected[MOST_BYTES], actual[MOST_BYTES];
static cl_command_queue out_of_order;
static char folder[64];

/* ---- One execution, and all that it needs ---- */

static red_problem problem_of(const trial *t) {
  red_problem problem = RED_PROBLEM_INIT(t->kind, t->op, t->in, N);
  problem.exact = t->exact;
  problem.in_memory = t->in_memory;
  problem.out_memory = t->out_memory;
  return problem;
}

typedef struct things {
  red_plan *plan;
  red_queue *queue;
  void *in, *out, *workspace;
} things;

static red_status make(red_context *of, const trial *t, const red_problem *problem, things *all) {
  size_t bytes = (N + 1) * red_dtype_bytes(t->in);
  red_status status = red_plan_create(of, problem, &all->plan);
  if (status == RED_OK && t->how == OUT_OF_ORDER) status = red_queue_wrap(of, out_of_order, &all->queue);
  if (status == RED_OK && (t->how == OWN_QUEUE || t->how == OWN_WORKSPACE)) status = red_queue_create(of, &all->queue);
  if (status == RED_OK && t->in_memory == RED_DEVICE) {
    status = red_alloc(of, bytes, &all->in);
    if (status == RED_OK) status = red_upload(of, all->queue, all->in, 0, in + t->shift, bytes);
  }
  if (status == RED_OK && t->out_memory == RED_DEVICE) status = red_alloc(of, output_bytes(problem), &all->out);
  if (status == RED_OK && t->how == OWN_WORKSPACE && red_plan_workspace(all->plan) > 0)
    status = red_alloc(of, red_plan_workspace(all->plan), &all->workspace);
  return status;
}

static void unmake(red_context *of, things *all) {
  shim_giving(1);
  red_free(of, all->in);
  red_free(of, all->out);
  red_free(of, all->workspace);
  red_queue_destroy(all->queue);
  red_plan_destroy(all->plan);
  shim_giving(0);
}

/* Left alone, or right: the failure may have come later. Of a scan in host memory a part may be there already. */
static void check_result(const trial *t, const red_problem *problem) {
  static unsigned char before[MOST_BYTES];
  if (problem->kind == RED_INCLUSIVE_SCAN || problem->kind == RED_EXCLUSIVE_SCAN) return;
  memset(before, MARK, sizeof before);
  prepare_output(problem, before + t->shift);
  if (memcmp(before, actual, sizeof before) == 0) return;
  compare_outputs(problem, shim_failed(), expected, actual + t->shift);
}

static red_status execute(red_context *of, const trial *t, const red_problem *problem, const things *all) {
  red_args args = {.size = sizeof args,
                   .in = t->in_memory == RED_DEVICE ? all->in : in + t->shift,
                   .out = t->out_memory == RED_DEVICE ? all->out : (void *)(actual + t->shift),
                   .workspace = all->workspace};
  if (takes_two(problem)) {
    args.in2 = args.in;
    args.in2_offset = red_dtype_bytes(t->in);
  }
  if (all->workspace != NULL) args.workspace_bytes = red_plan_workspace(all->plan);
  red_status status = red_plan_execute_args(all->plan, all->queue, &args);
  if (status == RED_OK && t->out_memory == RED_DEVICE)
    status = red_download(of, all->queue, actual + t->shift, all->out, 0, output_bytes(problem));
  return status;
}

static red_status run(red_context *of, const trial *t) {
  red_problem problem = problem_of(t);
  things all = {.plan = NULL};
  memset(actual, MARK, sizeof actual);
  prepare_output(&problem, actual + t->shift);
  red_status status = make(of, t, &problem, &all);
  if (status == RED_OK) status = execute(of, t, &problem, &all);
  if (status == RED_OK)
    compare_outputs(&problem, shim_failed() != NULL ? shim_failed() : "afterwards", expected, actual + t->shift);
  else
    check_result(t, &problem);
  unmake(of, &all);
  return status;
}

static void prepare(const trial *t) {
  red_problem problem = problem_of(t);
  problem.in_memory = problem.out_memory = RED_HOST;
  random_state random = random_start(11);
  random_numbers(&random, t->in, in, N + 2);
  memmove(in + t->shift, in, (N + 1) * red_dtype_bytes(t->in));
  const char *second = (const char *)in + t->shift + red_dtype_bytes(t->in);
  prepare_output(&problem, expected);
  ck_red(red_reference2(&problem, in + t->shift, takes_two(&problem) ? second : NULL, expected));
}

/* ---- Every call fails -------------------------------------------------------------------------------------------- */

/* A call that makes no difference need not be reported, and a device that cannot be asked is not there: other words. */
static void check_report(red_status status, unsigned n, int may_be_silent) {
  const char *call = shim_failed(), *sentence = red_last_error();
  ck_assert_msg(status != RED_OK || may_be_silent, "%s (call %u) failed, and nobody was told", call, n);
  if (status == RED_OK) return;
  int asks = strncmp(call, "clGetPlatform", 13) == 0 || strncmp(call, "clGetDevice", 11) == 0;
  ck_assert_msg(strlen(sentence) > 10 && strstr(sentence, asks ? "" : "CL_OUT_OF_RESOURCES") != NULL,
                "%s (call %u) failed: '%s'", call, n, sentence);
}

static void check_objects(unsigned wanted, unsigned n) {
  ck_assert_msg(shim_objects() == wanted, "%s (call %u): %u objects instead of %u",
                shim_failed() != NULL ? shim_failed() : "nothing", n, shim_objects(), wanted);
}

/* Did anything fail? */
static int check_failing(red_context *of, const trial *t, unsigned n, shim_calls calls) {
  shim_fail(n, calls);
  red_status status = run(of, t);
  const char *call = shim_failed();
  if (call != NULL) check_report(status, n, shim_failed_silently());
  if (call == NULL || calls == ALL_CALLS) shim_fail(0, ONE_CALL); /* the driver is back */
  status = run(of, t);
  ck_assert_msg(status == RED_OK, "after a failure of %s (call %u): %s", call, n, red_last_error());
  return call != NULL;
}

/* In a context that is used again and again, and has the same objects after each failure. */
START_TEST(executions) {
  const trial *t = &trials[_i];
  red_context *of;
  unsigned n = 1;
  red_status opened = context_under(t->settings, &of);
  if (opened != RED_OK && strstr(red_last_error(), "cannot do that") != NULL) return;
  ck_red(opened);
  prepare(t);
  ck_red(run(of, t));
  ck_red(run(of, t));
  const unsigned objects = shim_objects();
  for (int any = 1; any; n++) {
    any = check_failing(of, t, n, ALL_CALLS);
    check_objects(objects, n);
    any &= check_failing(of, t, n, ONE_CALL);
    check_objects(objects, n);
  }
  ck_assert_uint_gt(n, 5);
  red_context_destroy(of);
  check_objects(0, n);
}
END_TEST

/* The self-test, which runs in this process then, is hundreds of calls: some of them. */
static red_status open_with_test(red_context **made) {
  return context_under("RED_OPENCL_PROBE=0", made);
}

/* A whole life of a context, in which the n-th of these calls fails; 0 if there was none. */
static int life(const trial *t, red_status (*open)(red_context **), unsigned n, shim_calls calls) {
  red_context *of = NULL;
  shim_fail(n, calls);
  red_status status = open(&of);
  if (status == RED_OK) status = run(of, t);
  const char *failed = shim_failed();
  /* The self-test gives its memory back, and asks before whether it is memory: that cannot be told of either. */
  const int asked = open == open_with_test && failed != NULL && strcmp(failed, "clGetMemObjectInfo") == 0;
  if (failed != NULL)
    check_report(status, n, shim_failed_silently() || asked);
  else
    ck_assert_msg(status == RED_OK, "without a failure: %s", red_last_error());
  if (of != NULL && calls == ONE_CALL && shim_failed() != NULL) {
    status = run(of, t);
    ck_assert_msg(status == RED_OK, "after a failure of %s (call %u): %s", shim_failed(), n, red_last_error());
  }
  red_context_destroy(of);
  check_objects(0, n);
  return shim_failed() != NULL; /* maybe while closing */
}

static red_status open_in_native(red_context **made) {
  return context_under("RED_OPENCL_BINARIES=1", made);
}

/* Nothing has been built yet. */
static red_status open_fresh(red_context **made) {
  static unsigned count;
  char fresh[128];
  snprintf(fresh, sizeof fresh, "%s/%u", folder, count++);
  setenv("RED_CACHE_DIR", fresh, 1);
  return open_in_native(made);
}

static red_status open_alone(red_context **made) {
  red_context_options options = {.size = sizeof options, .backend = native_id};
  return red_context_create(&options, made);
}

/*
 * From the first call of `from` on (NULL: from the beginning) each step-th call is the one that fails, and now and then
 * all after it. What comes before `from` is the same in another kind of life.
 */
static void every_life(const trial *t, red_status (*open)(red_context **), const char *from, unsigned step,
                       unsigned least) {
  unsigned lives = 0;
  prepare(t);
  life(t, open, 0, ONE_CALL);
  const unsigned first = from != NULL ? shim_first(from) : 1;
  ck_assert_uint_gt(first, 0);
  for (unsigned n = first; life(t, open, n, ONE_CALL); n += step) lives++;
  for (unsigned n = first; life(t, open, n, ALL_CALLS); n += 7 * step) lives++;
  ck_assert_uint_gt(lives, least);
}

START_TEST(lives) {
  every_life(&trials[0], open_in_native, NULL, 1, 20);
  every_life(&trials[0], open_alone, "clCreateContext", 1, 20);
}
END_TEST

START_TEST(first_lives) {
  every_life(&trials[0], open_fresh, "clCreateProgramWithSource", 2, 10);
}
END_TEST

static cl_int CL_API_CALL no_build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                   void(CL_CALLBACK *tell)(cl_program, void *), void *data) {
  (void)program, (void)count, (void)devices, (void)options, (void)tell, (void)data;
  return CL_BUILD_PROGRAM_FAILURE;
}

/* A build fails, and then the questions why. */
START_TEST(no_log) {
  red_context *of;
  unsigned n = 1;
  ck_red(open_fresh(&of));
  const unsigned objects = shim_objects();
  void *shims = *(void **)&red_cl.BuildProgram;
  red_cl.BuildProgram = no_build;
  do {
    shim_fail(n, ONE_CALL);
    ck_assert_int_eq(run(of, &trials[0]), RED_ERR_DRIVER);
    const char *sentence = red_last_error();
    ck_assert_msg(strstr(sentence, "CL_BUILD_PROGRAM_FAILURE") || strstr(sentence, "CL_OUT_OF_RESOURCES"), "%s",
                  sentence);
    check_objects(objects, n++);
  } while (shim_failed() != NULL);
  shim_fail(0, ONE_CALL);
  *(void **)&red_cl.BuildProgram = shims;
  ck_assert_uint_gt(n, 4);
  prepare(&trials[0]);
  ck_red(run(of, &trials[0]));
  red_context_destroy(of);
  check_objects(0, n);
}
END_TEST

START_TEST(self_tests) {
  every_life(&trials[0], open_with_test, NULL, 149, 5);
}
END_TEST

START_TEST(every_function_failed) {
  shim_expect_all();
}
END_TEST

/* The self-test is said to have been passed. */
static void begin(void) {
  setenv("RED_CACHE_DIR", folder, 1);
  setenv("RED_OPENCL_PROBE", probe_that_passes(), 1);
  shim_reset();
}

static void open_all(void) {
  cl_int error;
  snprintf(folder, sizeof folder, "/tmp/libred-faults-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  begin();
  open_native();
  out_of_order = red_cl.CreateCommandQueue(native, native_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  shim_install();
}

static void close_all(void) {
  char command[128];
  shim_remove();
  red_cl.ReleaseCommandQueue(out_of_order);
  close_native();
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_all, close_all);
  tcase_add_checked_fixture(tests, begin, NULL);
  tcase_add_loop_test(tests, executions, 0, sizeof trials / sizeof *trials);
  tcase_add_test(tests, lives);
  tcase_add_test(tests, first_lives);
  tcase_add_test(tests, no_log);
  tcase_add_test(tests, self_tests);
  tcase_add_test(tests, every_function_failed); /* the last one */
}

int main(void) {
  return suite_run("opencl faults", fill);
}
