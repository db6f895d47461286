/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machines that lack something: no driver, no loader, no f64, a shape that the device cannot do. Each is a reason in a
 * sentence. A driver is opened once per process, so each case is a process of its own: this program again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"

static const char *self;
static char folder[64];

/* ---- In the child ---- */

static int no_device(const char *word) {
  static red_device_info list[64];
  size_t count = 0;
  list[0].size = sizeof list[0];
  if (red_devices(list, 64, &count) != RED_OK) return 2;
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].backend, "opencl") == 0) {
      printf("%s: %s\n", list[i].id, list[i].reason);
      if (list[i].available || strstr(list[i].reason, word) == NULL) return 3;
    }
  red_context *context = NULL;
  red_context_options options = {.size = sizeof options, .backend = "opencl"};
  red_status status = red_context_create(&options, &context);
  printf("%s\n", red_last_error());
  return status == RED_ERR_NO_DEVICE && strstr(red_last_error(), word) != NULL ? 0 : 4;
}

/* Everything but f64 accumulators, and a sentence for those. */
static int no_f64(void) {
  red_context *context;
  red_context_options options = {.size = sizeof options, .backend = "opencl"};
  if (red_context_create(&options, &context) != RED_OK) return 2;
  float x[1000];
  double wide[1000], result;
  for (int i = 0; i < 1000; i++) wide[i] = x[i] = (float)i;
  float sum;
  if (red_reduce(context, RED_SUM, RED_F32, x, 1000, &sum) != RED_OK || sum != 499500) return 3;
  if (red_reduce(context, RED_MAX, RED_F64, wide, 1000, &result) != RED_OK || result != 999) return 4;
  red_status status = red_reduce(context, RED_SUM, RED_F64, wide, 1000, &result);
  printf("%s\n", red_last_error());
  if (status != RED_ERR_UNSUPPORTED || strstr(red_last_error(), "f64") == NULL) return 5;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 1000);
  problem.out = RED_F64; /* widening needs no arithmetic */
  if (red_run(context, &problem, x, &result) != RED_OK || result != 499500) return 6;
  red_context_destroy(context);
  return 0;
}

static int run_case(const char *name) {
  if (strcmp(name, "no-f64") == 0) return no_f64();
  if (strcmp(name, "no-driver") == 0) return no_device("driver");
  if (strcmp(name, "no-loader") == 0) return no_device("loader");
  if (strcmp(name, "bad-shape") == 0) return no_device("RED_OPENCL_SHAPE");
  return 9;
}

/* ---- In the parent ---- */

static void expect_success(const char *environment, const char *name) {
  char command[512];
  setenv("SELF", self, 1); /* a path may hold what the shell would not leave as it is */
  snprintf(command, sizeof command, "env %s \"$SELF\" %s", environment, name);
  int status = system(command);
  ck_assert_msg(status == 0, "%s: status %d", command, status);
}

static void begin(void) {
  snprintf(folder, sizeof folder, "/tmp/libred-absence-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void end(void) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

/* OCL_ICD_VENDORS is ocl-icd's, OCL_ICD_FILENAMES the Khronos loader's. */
START_TEST(no_driver) {
  char environment[256];
  snprintf(environment, sizeof environment, "OCL_ICD_VENDORS=%s OCL_ICD_FILENAMES=", folder);
  expect_success(environment, "no-driver");
}
END_TEST

START_TEST(no_loader) {
  char path[128], environment[256];
  snprintf(path, sizeof path, "%s/libOpenCL.so.1", folder);
  FILE *file = fopen(path, "w");
  fputs("not a library\n", file);
  fclose(file);
  snprintf(environment, sizeof environment, "LD_LIBRARY_PATH=%s", folder);
  expect_success(environment, "no-loader");
}
END_TEST

START_TEST(without_f64) {
  expect_success("RED_OPENCL_F64=0", "no-f64");
}
END_TEST

START_TEST(bad_shape) {
  expect_success("RED_OPENCL_SHAPE=round", "bad-shape");
  expect_success("RED_OPENCL_SHAPE=local:16", "bad-shape");
  expect_success("RED_OPENCL_SHAPE=subgroup:16x", "bad-shape");
  expect_success("RED_OPENCL_SHAPE=subgroup:1000", "bad-shape");
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, begin, end);
  tcase_add_test(tests, no_driver);
  tcase_add_test(tests, no_loader);
  tcase_add_test(tests, without_f64);
  tcase_add_test(tests, bad_shape);
}

int main(int argc, char **argv) {
  self = argv[0];
  return argc == 2 ? run_case(argv[1]) : suite_run("opencl absence", fill);
}
