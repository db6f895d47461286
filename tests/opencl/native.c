/* SPDX-License-Identifier: BSD-2-Clause */
#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

red_context *context;
cl_context native;
cl_device_id native_device;
char native_id[32];

void *function(const char *name) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(library);
  return dlsym(library, name);
}

/* opencl:P.D, if that is what the backend under test is. */
static void named_device(unsigned *platform, unsigned *device) {
  if (sscanf(suite_backend(), "opencl:%u.%u", platform, device) == 2) return;
  *platform = *device = 0;
}

void open_native(void) {
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint count = 0;
  unsigned p, d;
  named_device(&p, &d);
  ck_assert_ptr_null(red_cl_open_api());
  ck_assert_int_eq(red_cl.GetPlatformIDs(16, platforms, &count), CL_SUCCESS);
  ck_assert_uint_gt(count, p);
  ck_assert_int_eq(red_cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &count), CL_SUCCESS);
  ck_assert_uint_gt(count, d);
  native_device = devices[d];
  snprintf(native_id, sizeof native_id, "opencl:%u.%u", p, d);
  cl_int error;
  native = red_cl.CreateContext(NULL, 1, &native_device, NULL, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  ck_red(context_under("", &context));
}

/* A variable of the environment, and what it was before: NULL if it was not there. */
typedef struct variable {
  char name[40], *before;
} variable;

enum {
  MOST_VARIABLES = 8
};

static unsigned apply(const char *settings, variable *changed) {
  char copy[512], *rest = NULL;
  unsigned count = 0;
  snprintf(copy, sizeof copy, "%s", settings);
  for (char *name = strtok_r(copy, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest), count++) {
    char *value = strchr(name, '=');
    ck_assert_ptr_nonnull(value);
    ck_assert_uint_lt(count, MOST_VARIABLES);
    *value++ = '\0';
    snprintf(changed[count].name, sizeof changed[count].name, "%s", name);
    changed[count].before = getenv(name) != NULL ? strdup(getenv(name)) : NULL;
    setenv(name, value, 1);
  }
  return count;
}

static void undo(variable *changed, unsigned count) {
  while (count-- > 0) {
    if (changed[count].before != NULL)
      setenv(changed[count].name, changed[count].before, 1);
    else
      unsetenv(changed[count].name);
    free(changed[count].before);
  }
}

red_status context_under(const char *settings, red_context **made) {
  red_context_options options = {
      .size = sizeof options, .backend = native_id, .native_context = native, .native_device = native_device};
  variable changed[MOST_VARIABLES];
  unsigned count = apply(settings, changed);
  red_status status = red_context_create(&options, made);
  undo(changed, count);
  return status;
}

static char lie[64];

static void remove_lie(void) {
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", lie);
  if (system(command) != 0) printf("%s is left over\n", lie);
}

const char *probe_that_passes(void) {
  static char path[96];
  if (lie[0] != '\0') return path;
  snprintf(lie, sizeof lie, "/tmp/libred-native-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(lie));
  atexit(remove_lie);
  snprintf(path, sizeof path, "%s/passed.sh", lie);
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs("#!/bin/sh\necho passed\n", file);
  fclose(file);
  ck_assert_int_eq(chmod(path, 0700), 0);
  return path;
}

red_status untested_context_under(const char *settings, red_context **made) {
  char more[512];
  const char *probe = probe_that_passes();
  snprintf(more, sizeof more, "%s RED_OPENCL_PROBE=%s RED_CACHE_DIR=%s", settings, probe, lie);
  return context_under(more, made);
}

void close_native(void) {
  red_context_destroy(context);
  ck_assert_int_eq(red_cl.ReleaseContext(native), CL_SUCCESS);
}

cl_mem filled(const void *bytes, size_t count, size_t offset) {
  cl_int error;
  cl_mem memory = red_cl.CreateBuffer(native, CL_MEM_READ_WRITE, offset + count + 64, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  if (bytes != NULL) ck_red(red_upload(context, NULL, memory, offset, bytes, count));
  return memory;
}

red_plan *device_plan(red_kind kind, red_op op, red_dtype in, red_dtype out, uint64_t n) {
  red_problem problem = RED_PROBLEM_INIT(kind, op, in, n);
  red_plan *plan;
  problem.out = out;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  ck_red(red_plan_create(context, &problem, &plan));
  return plan;
}

void compare_data_on_device(const red_problem *problem, const void *in, const void *in2, red_queue *queue,
                            random_state *random) {
  size_t in_size = red_dtype_bytes(problem->in), bytes = output_bytes(problem);
  size_t out_size = problem->kind == RED_STATS ? 8 : bytes / (problem->kind == RED_REDUCE ? 1 : problem->n);
  unsigned char *expected = malloc(bytes), *out = malloc(bytes);
  red_args args = {.size = sizeof args};
  prepare_output(problem, expected);
  red_status status = red_reference2(problem, in, in2, expected);
  args.in_offset = in_size * random_below(random, 9);
  args.out_offset = out_size * random_below(random, 9);
  args.in = filled(in, problem->n * in_size, args.in_offset);
  args.out = filled(NULL, bytes, args.out_offset);
  if (in2 != NULL) {
    args.in2_offset = in_size * random_below(random, 9);
    args.in2 = filled(in2, problem->n * in_size, args.in2_offset);
  }
  red_problem on_device = *problem;
  on_device.in_memory = on_device.out_memory = RED_DEVICE;
  red_plan *plan = NULL;
  if (!may_refuse(problem, red_plan_create(context, &on_device, &plan))) {
    ck_assert_msg(plan != NULL, "%s", red_last_error());
    ck_red(red_plan_execute_args(plan, queue, &args));
    ck_red(red_download(context, queue, out, args.out, args.out_offset, bytes));
    if (status == RED_ERR_EMPTY) memset(expected, 0xff, bytes); /* the index of nothing */
    compare_outputs(problem, "on the device", expected, out);
  }
  red_plan_destroy(plan);
  red_free(context, (void *)args.in);
  red_free(context, (void *)args.in2);
  red_free(context, args.out);
  free(expected);
  free(out);
}

void compare_on_device(const red_problem *problem, red_queue *queue, random_state *random) {
  size_t bytes = problem->n * red_dtype_bytes(problem->in);
  unsigned char *in = malloc(bytes), *in2 = takes_two(problem) ? malloc(bytes) : NULL;
  random_elements(random, problem->in, in, problem->n);
  if (in2 != NULL) random_elements(random, problem->in, in2, problem->n);
  compare_data_on_device(problem, in, in2, queue, random);
  free(in);
  free(in2);
}
