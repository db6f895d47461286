/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only an OpenCL device has: the application's own context and queues, in order or not, cl_mem with offsets of any
 * alignment, results and statistics that stay on the device, refusals with a sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native.h"

enum {
  N = 40000
};

static void every_operator(red_queue *queue, unsigned salt) {
  random_state random = random_start(salt);
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, (red_op)op, (red_dtype)in, 1 + random_below(&random, N));
      red_problem resolved = problem;
      if (red_problem_resolve(&resolved) != RED_OK) continue;
      compare_on_device(&problem, queue, &random);
    }
}

static red_queue *wrapped(cl_command_queue_properties properties, cl_command_queue *queue) {
  cl_int error;
  red_queue *wrapper;
  *queue = red_cl.CreateCommandQueue(native, native_device, properties, &error);
  if (error == CL_INVALID_QUEUE_PROPERTIES) return NULL; /* no such queue on this device */
  ck_assert_int_eq(error, CL_SUCCESS);
  ck_red(red_queue_wrap(context, *queue, &wrapper));
  return wrapper;
}

static void unwrap(red_queue *wrapper, cl_command_queue queue) {
  red_queue_destroy(wrapper);
  ck_assert_int_eq(red_cl.Finish(queue), CL_SUCCESS); /* it is still the application's */
  ck_assert_int_eq(red_cl.ReleaseCommandQueue(queue), CL_SUCCESS);
}

START_TEST(application_queue) {
  cl_command_queue queue;
  red_queue *wrapper = wrapped(0, &queue);
  every_operator(wrapper, 1);
  unwrap(wrapper, queue);
}
END_TEST

START_TEST(out_of_order_queue) {
  cl_command_queue queue;
  red_queue *wrapper = wrapped(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &queue);
  if (wrapper == NULL) return;
  random_state random = random_start(2);
  for (unsigned i = 0; i < suite_repeat(30); i++) {
    red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 1 + random_below(&random, N));
    red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 1 + random_below(&random, 10 * N));
    compare_on_device(&scan, wrapper, &random);
    compare_on_device(&sum, wrapper, &random);
  }
  unwrap(wrapper, queue);
}
END_TEST

/* Two executions and a reader in a queue, nothing awaited in between: a scan in place, then its maximum. */
START_TEST(chained) {
  random_state random = random_start(3);
  int32_t *in = malloc(N * sizeof *in), *scanned = malloc(N * sizeof *scanned);
  red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, N);
  scan.out = RED_I32;
  red_problem most = RED_PROBLEM_INIT(RED_REDUCE, RED_MAX, RED_I32, N);
  int32_t expected, result;
  random_elements(&random, RED_I32, in, N);
  ck_red(red_reference(&scan, in, scanned));
  ck_red(red_reference(&most, scanned, &expected));
  red_plan *plans[2];
  red_queue *queue;
  cl_mem memory = filled(in, N * sizeof *in, 0), out = filled(NULL, sizeof result, 0);
  scan.in_memory = scan.out_memory = most.in_memory = most.out_memory = RED_DEVICE;
  ck_red(red_queue_create(context, &queue));
  ck_red(red_plan_create(context, &scan, &plans[0]));
  ck_red(red_plan_create(context, &most, &plans[1]));
  ck_red(red_plan_execute(plans[0], queue, memory, memory));
  ck_red(red_plan_execute(plans[1], queue, memory, out));
  ck_red(red_download(context, queue, &result, out, 0, sizeof result));
  ck_assert_int_eq(result, expected);
  red_plan_destroy(plans[0]);
  red_plan_destroy(plans[1]);
  red_queue_destroy(queue);
  red_free(context, memory);
  red_free(context, out);
  free(in);
  free(scanned);
}
END_TEST

/* The mean is divided on the device, in integers: every dtype against the host's division. */
START_TEST(statistics) {
  random_state random = random_start(4);
  for (unsigned in = 1; in < RED_DTYPE_COUNT; in++)
    for (unsigned i = 0; i < suite_repeat(10); i++) {
      red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, 1 + random_below(&random, N));
      problem.stats = (unsigned)random_below(&random, 2) * RED_STAT_ALL;
      compare_on_device(&problem, NULL, &random);
    }
}
END_TEST

START_TEST(chosen_outputs) {
  random_state random = random_start(5);
  for (unsigned i = 0; i < suite_repeat(300); i++) {
    red_problem problem =
        RED_PROBLEM_INIT(RED_REDUCE, (red_op)(1 + random_below(&random, RED_OP_COUNT - 1)),
                         (red_dtype)(1 + random_below(&random, RED_DTYPE_COUNT - 1)), 1 + random_below(&random, 5000));
    problem.out = (red_dtype)random_below(&random, RED_DTYPE_COUNT);
    red_problem resolved = problem;
    if (red_problem_resolve(&resolved) != RED_OK) continue;
    problem.has_init = takes_init(&problem) && random_below(&random, 2) == 0;
    if (problem.has_init) problem.init = random_scalar(&random, resolved.acc);
    compare_on_device(&problem, NULL, &random);
  }
}
END_TEST

/* The other ways to compute the same, each with few problems: their programs are compiled anew. */
static void other_way(const char *settings) {
  red_context *usual = context;
  random_state random = random_start(6);
  red_status status = untested_context_under(settings, &context);
  if (status == RED_ERR_NO_DEVICE && strstr(red_last_error(), "cannot do that") != NULL) {
    printf("%s\n", red_last_error());
    context = usual;
    return;
  }
  ck_red(status);
  for (unsigned i = 0; i < suite_repeat(12); i++) {
    uint64_t n = 1 + random_below(&random, i % 3 == 0 ? 300 : i % 3 == 1 ? N : 40 * N);
    red_problem problems[] = {
        RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, n),
        RED_PROBLEM_INIT(RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, n),
        RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_MAX, RED_I16, n),
        RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, n),
        RED_PROBLEM_INIT(RED_REDUCE, RED_ARGMAX, RED_I16, n),
    };
    for (unsigned p = 0; p < sizeof problems / sizeof *problems; p++) compare_on_device(&problems[p], NULL, &random);
  }
  red_context_destroy(context);
  context = usual;
}

START_TEST(other_ways) {
  other_way("RED_OPENCL_SCAN=pass");
  other_way("RED_OPENCL_SCAN=windows");
  other_way("RED_OPENCL_SHAPE=wide");
  other_way("RED_OPENCL_SHAPE=local");
  other_way("RED_OPENCL_SHAPE=local RED_OPENCL_REDUCE=launch");
  other_way("RED_OPENCL_SHAPE=local RED_OPENCL_REDUCE=launch RED_OPENCL_GROUP=4"); /* two tiers of nodes */
  other_way("RED_OPENCL_SHAPE=subgroup");
  other_way("RED_OPENCL_SHAPE=ptx RED_OPENCL_REDUCE=stages");
}
END_TEST

static void expect_refusal(red_status status, red_status wanted, const char *word) {
  ck_assert_int_eq(status, wanted);
  ck_assert_msg(strstr(red_last_error(), word) != NULL, "'%s' does not name %s", red_last_error(), word);
}

START_TEST(refusals) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 1000);
  problem.in_memory = RED_DEVICE;
  cl_mem memory = filled(NULL, 1000, 0);
  red_plan *plan;
  float result = 7;
  ck_red(red_plan_create(context, &problem, &plan));
  red_args args = {.size = sizeof args, .in = memory, .out = &result};
  expect_refusal(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "exceed");
  args.in_offset = 2;
  expect_refusal(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "in_offset");
  ck_assert(result == 7);
  expect_refusal(red_upload(context, NULL, memory, 1000, &result, 100), RED_ERR_INVALID, "offset");
  void *vast;
  expect_refusal(red_alloc(context, UINT64_MAX / 2, &vast), RED_ERR_NO_MEMORY, "bytes");
  red_plan_destroy(plan);
  red_free(context, memory);
}
END_TEST

/* A queue of a context that the library does not work in. */
START_TEST(foreign_queue) {
  cl_int error;
  cl_context other = red_cl.CreateContext(NULL, 1, &native_device, NULL, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  cl_command_queue queue = red_cl.CreateCommandQueue(other, native_device, 0, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  red_queue *wrapper;
  expect_refusal(red_queue_wrap(context, queue, &wrapper), RED_ERR_INVALID, "context");
  red_cl.ReleaseCommandQueue(queue);
  red_cl.ReleaseContext(other);
}
END_TEST

static bool child_is_told(void) {
  red_device_info list[32] = {{.size = sizeof *list}};
  float x = 1, result;
  size_t count = 0;
  red_context *another = NULL;
  red_status status = red_reduce(context, RED_SUM, RED_F32, &x, 1, &result);
  if (status != RED_ERR_UNSUPPORTED || strstr(red_last_error(), "fork") == NULL) return false;
  status = context_under("", &another);
  if (status != RED_ERR_NO_DEVICE || strstr(red_last_error(), "fork") == NULL) return false;
  if (red_devices(list, 32, &count) != RED_OK) return false;
  for (size_t i = 0; i < count && i < 32; i++)
    if (strcmp(list[i].backend, "opencl") == 0 && (list[i].available || strstr(list[i].reason, "fork") == NULL))
      return false;
  return true;
}

/* Drivers hang in a forked child; the library says so instead, of old contexts and of new ones. */
START_TEST(forked_child) {
  float x = 1, result;
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    alarm(60);
    _exit(child_is_told() ? 0 : 1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ck_red(red_reduce(context, RED_SUM, RED_F32, &x, 1, &result));
}
END_TEST

/* A loader with as many platforms as a test wants, all of them the one of the device under test. */
static red_cl_api loader;
static cl_platform_id platform;
static cl_uint platforms_listed;
static unsigned platforms_asked;

static cl_int list_platforms(cl_uint room, cl_platform_id *list, cl_uint *count) {
  for (cl_uint i = 0; list != NULL && i < room && i < platforms_listed; i++) list[i] = platform;
  if (count != NULL) *count = platforms_listed;
  return CL_SUCCESS;
}

static cl_int ask_platform(cl_platform_id asked, cl_device_type type, cl_uint room, cl_device_id *list,
                           cl_uint *count) {
  platforms_asked++;
  return loader.GetDeviceIDs(asked, type, room, list, count);
}

static red_status open_named(const char *id, cl_uint platforms, red_device_info *info) {
  red_context *named = NULL;
  red_context_options options = {.size = sizeof options, .backend = id};
  platforms_listed = platforms;
  platforms_asked = 0;
  red_status status = red_context_create(&options, &named);
  if (status == RED_OK) ck_red(red_context_device(named, RED_DEVICE, info));
  red_context_destroy(named);
  return status;
}

/* Drivers take their time to start: one that the list does not name is left alone. */
START_TEST(other_platforms) {
  red_device_info info = {.size = sizeof info};
  ck_assert_int_eq(red_cl.GetDeviceInfo(native_device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL),
                   CL_SUCCESS);
  loader = red_cl;
  red_cl.GetPlatformIDs = list_platforms;
  red_cl.GetDeviceIDs = ask_platform;
  ck_red(open_named("opencl:0.0", 1, &info));
  unsigned alone = platforms_asked;
  ck_assert_uint_gt(alone, 0);
  ck_red(open_named("opencl:2.0", 3, &info));
  ck_assert_str_eq(info.id, "opencl:2.0");
  ck_assert_uint_eq(platforms_asked, alone);
  ck_red_fails(open_named("opencl:3.0", 3, &info), RED_ERR_NO_DEVICE, "no such device");
  ck_assert_uint_eq(platforms_asked, 0);
  ck_red(open_named("opencl", 3, &info));
  ck_assert_uint_gt(platforms_asked, alone);
  red_cl = loader;
}
END_TEST

/*
 * Two platforms: another one, whose only device nothing but questions reach, and that of the device under test. What is
 * asked of them is asked of the latter.
 */
static char elsewhere, far;
#define ELSEWHERE ((cl_platform_id)(void *)&elsewhere)
#define FAR       ((cl_device_id)(void *)&far)

static cl_int two_platforms(cl_uint room, cl_platform_id *list, cl_uint *count) {
  if (room > 0) list[0] = ELSEWHERE;
  if (room > 1) list[1] = platform;
  if (count != NULL) *count = 2;
  return CL_SUCCESS;
}

static cl_int one_device_each(cl_platform_id asked, cl_device_type type, cl_uint room, cl_device_id *list,
                              cl_uint *count) {
  (void)type;
  if (room > 0) list[0] = asked == ELSEWHERE ? FAR : native_device;
  if (count != NULL) *count = 1;
  return CL_SUCCESS;
}

static cl_int describe_platform(cl_platform_id asked, cl_platform_info what, size_t room, void *to, size_t *needed) {
  return loader.GetPlatformInfo(asked == ELSEWHERE ? platform : asked, what, room, to, needed);
}

static cl_int describe_device(cl_device_id asked, cl_device_info what, size_t room, void *to, size_t *needed) {
  if (asked != FAR) return loader.GetDeviceInfo(asked, what, room, to, needed);
  if (what != CL_DEVICE_NAME || to == NULL) return loader.GetDeviceInfo(native_device, what, room, to, needed);
  snprintf(to, room, "Faraway");
  return CL_SUCCESS;
}

/* The list and the application's device must agree: `reason` is told if they do not, NULL if they do. */
static void open_native_of(const char *list, const char *reason) {
  red_context *named = NULL;
  red_device_info info = {.size = sizeof info};
  red_context_options options = {
      .size = sizeof options, .backend = list, .native_context = native, .native_device = native_device};
  red_status status = red_context_create(&options, &named);
  if (reason != NULL) {
    ck_red_fails(status, RED_ERR_NO_DEVICE, reason);
    ck_assert_ptr_null(named);
    return;
  }
  ck_red(status);
  ck_red(red_context_device(named, RED_DEVICE, &info));
  ck_assert_str_eq(info.id, "opencl:1.0");
  red_context_destroy(named);
}

START_TEST(named_and_native) {
  ck_assert_int_eq(red_cl.GetDeviceInfo(native_device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL),
                   CL_SUCCESS);
  loader = red_cl;
  red_cl.GetPlatformIDs = two_platforms;
  red_cl.GetPlatformInfo = describe_platform;
  red_cl.GetDeviceIDs = one_device_each;
  red_cl.GetDeviceInfo = describe_device;
  open_native_of("opencl:1.0", NULL);
  open_native_of("opencl", NULL);
  open_native_of("opencl:0.0,opencl:1.0", NULL);
  open_native_of("-opencl:0.0,opencl", NULL);
  open_native_of("opencl:0.0", "opencl:1.0 (");             /* the application's */
  open_native_of("opencl:0.0", "not opencl:0.0 (Faraway)"); /* the list's */
  open_native_of("opencl:faraway", "not opencl:0.0 (Faraway)");
  open_native_of("-opencl:1.0,opencl", "not opencl:0.0 (Faraway)");
  red_cl = loader;
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, open_native, close_native);
  tcase_add_test(tests, application_queue);
  tcase_add_test(tests, out_of_order_queue);
  tcase_add_test(tests, chained);
  tcase_add_test(tests, statistics);
  tcase_add_test(tests, chosen_outputs);
  tcase_add_test(tests, other_ways);
  tcase_add_test(tests, refusals);
  tcase_add_test(tests, foreign_queue);
  tcase_add_test(tests, forked_child);
  tcase_add_test(tests, other_platforms);
  tcase_add_test(tests, named_and_native);
}

int main(void) {
  return suite_run("opencl device", fill);
}
