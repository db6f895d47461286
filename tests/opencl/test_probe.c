/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The self-test of an untried driver runs in a helper process: whatever becomes of that process, this one lives and
 * says so. Drivers that hang or abort are played by shell scripts in the helper's place, and by a loader in front of
 * the real one.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"

static char folder[64], script[96], helper[512];

static void begin(void) {
  const char *named = getenv("RED_OPENCL_PROBE");
  ck_assert_ptr_nonnull(named);
  snprintf(helper, sizeof helper, "%s", named);
  snprintf(folder, sizeof folder, "/tmp/libred-probe-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(script, sizeof script, "%s.sh", folder);
  setenv("RED_CACHE_DIR", folder, 1); /* nothing has passed here */
}

static void end(void) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf %s %s", folder, script);
  ck_assert_int_eq(system(command), 0);
  setenv("RED_OPENCL_PROBE", helper, 1);
  unsetenv("RED_OPENCL_PROBE_SECONDS");
}

static void play(const char *commands) {
  FILE *file = fopen(script, "w");
  ck_assert_ptr_nonnull(file);
  fprintf(file, "#!/bin/sh\n%s\n", commands);
  fclose(file);
  ck_assert_int_eq(chmod(script, 0700), 0);
  setenv("RED_OPENCL_PROBE", script, 1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static red_status open_and_close(void) {
  red_context *context = NULL;
  red_context_options options = {.size = sizeof options, .backend = suite_backend()};
  red_status status = red_context_create(&options, &context);
  if (status == RED_OK) {
    float x[3] = {1, 2, 3}, sum = 0;
    ck_red(red_reduce(context, RED_SUM, RED_F32, x, 3, &sum));
    ck_assert(sum == 6);
  }
  red_context_destroy(context);
  return status;
}

/* Named as those that loaders read, read by none. */
#define DRIVERS "OCL_ICD_LIBRED_TEST"

static void expect_failure(red_status wanted, const char *words) {
  red_status status = open_and_close();
  ck_assert_msg(status == wanted, "status %d: %s", (int)status, red_last_error());
  ck_assert_msg(strstr(red_last_error(), words) != NULL, "'%s' does not say '%s'", red_last_error(), words);
}

START_TEST(hangs) {
  play("sleep 300 >/dev/null");
  setenv("RED_OPENCL_PROBE_SECONDS", "1", 1);
  double start = now();
  expect_failure(RED_ERR_NO_DEVICE, "within 1 s");
  ck_assert(now() - start < 60);
}
END_TEST

/* What the helper has started ends with it: nothing of it is there to make the mark. */
START_TEST(hangs_with_children) {
  char commands[256], mark[128];
  struct stat found;
  snprintf(mark, sizeof mark, "%s/mark", folder);
  snprintf(commands, sizeof commands, "(sleep 3; touch %s) & wait", mark);
  play(commands);
  setenv("RED_OPENCL_PROBE_SECONDS", "1", 1);
  expect_failure(RED_ERR_NO_DEVICE, "within 1 s");
  sleep(4);
  ck_assert_int_ne(stat(mark, &found), 0);
}
END_TEST

/* A driver's own process may hold the pipe for as long as it likes: the answer is there. */
START_TEST(holds_the_pipe) {
  play("sleep 40 & echo passed");
  double start = now();
  ck_red(open_and_close());
  ck_assert(now() - start < 30);
}
END_TEST

/* Nothing can come any more, nor does it end. */
START_TEST(closes_the_pipe) {
  play("exec >&-; sleep 300");
  double start = now();
  expect_failure(RED_ERR_NO_DEVICE, "without an answer");
  ck_assert(now() - start < 60);
}
END_TEST

START_TEST(aborts) {
  play("kill -ABRT $$");
  expect_failure(RED_ERR_NO_DEVICE, "signal 6");
}
END_TEST

/* The helper finds another loader, and the driver behind it dies, stays in its compiler or has no exact kernels. */
static void play_build(const char *how) {
  char path[128];
  Dl_info real;
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(library);
  ck_assert_int_ne(dladdr(dlsym(library, "clGetPlatformIDs"), &real), 0);
  snprintf(path, sizeof path, "%s/libOpenCL.so.1", folder);
  ck_assert_ptr_nonnull(getenv("RED_TEST_FAKE_LOADER"));
  ck_assert_int_eq(symlink(getenv("RED_TEST_FAKE_LOADER"), path), 0);
  setenv("RED_TEST_LOADER", real.dli_fname, 1);
  setenv("RED_TEST_BUILD", how, 1);
  setenv("LD_LIBRARY_PATH", folder, 1);
}

static void end_build(void) {
  unsetenv("RED_TEST_LOADER");
  unsetenv("RED_TEST_BUILD");
  unsetenv("LD_LIBRARY_PATH");
}

START_TEST(aborts_in_a_build) {
  play_build("abort");
  expect_failure(RED_ERR_NO_DEVICE, "signal 6");
  end_build();
  ck_red(open_and_close());
}
END_TEST

START_TEST(hangs_in_a_build) {
  play_build("hang");
  setenv("RED_OPENCL_PROBE_SECONDS", "5", 1);
  expect_failure(RED_ERR_NO_DEVICE, "within 5 s");
  unsetenv("RED_OPENCL_PROBE_SECONDS");
  end_build();
  ck_red(open_and_close());
}
END_TEST

/* All else is done: an exact sum is tested before the first exact reduction, in this process. */
START_TEST(fails_exactly) {
  play_build("inexact");
  ck_red(open_and_close());
  end_build();
}
END_TEST

START_TEST(says_nothing) {
  play("exit 0");
  expect_failure(RED_ERR_NO_DEVICE, "without an answer");
}
END_TEST

START_TEST(gives_other_bits) {
  play("echo 'failed 9 self-test: reduce:sum:f32:127 gave 0x1'");
  expect_failure(RED_ERR_MISMATCH, "gave 0x1");
}
END_TEST

/* What failed is tried again, and a helper of another version, or none, is no failure. */
START_TEST(no_helper) {
  play("exit 0");
  expect_failure(RED_ERR_NO_DEVICE, "without an answer");
  play("echo 'other version'");
  ck_red(open_and_close());
  play("echo 'no such device'");
  ck_red(open_and_close());
  play("exit 127");
  ck_red(open_and_close());
  setenv("RED_OPENCL_PROBE", "/nonexistent/helper", 1);
  ck_red(open_and_close());
  setenv("RED_OPENCL_PROBE", "0", 1);
  ck_red(open_and_close());
}
END_TEST

/* Once passed, a driver is not tried again: not even started is a helper that would fail. */
START_TEST(remembered) {
  ck_red(open_and_close());
  play("kill -ABRT $$");
  double start = now();
  ck_red(open_and_close());
  printf("the second time a context opened in %.0f ms\n", 1e3 * (now() - start));
}
END_TEST

/* What passed says nothing of kernels that were not run. */
START_TEST(other_kernels) {
  setenv("RED_OPENCL_SHAPE", "local", 1);
  setenv("RED_OPENCL_REDUCE", "stages", 1);
  play("echo passed");
  ck_red(open_and_close());
  play("kill -ABRT $$");
  ck_red(open_and_close());
  setenv("RED_OPENCL_REDUCE", "launch", 1);
  expect_failure(RED_ERR_NO_DEVICE, "signal 6");
  unsetenv("RED_OPENCL_REDUCE");
  unsetenv("RED_OPENCL_SHAPE");
}
END_TEST

/* Then it is for this process to remember, whoever it is that cannot write there; /proc holds no files of anybody's. */
START_TEST(without_cache) {
  static const char *const folders[] = {"", "/proc/self"}, *const groups[] = {"64", "32"};
  for (int i = 0; i < 2; i++) {
    setenv("RED_CACHE_DIR", folders[i], 1);
    setenv("RED_OPENCL_GROUP", groups[i], 1); /* which has not passed here */
    play("kill -ABRT $$");
    expect_failure(RED_ERR_NO_DEVICE, "signal 6");
    play("echo passed");
    ck_red(open_and_close());
    play("kill -ABRT $$");
    ck_red(open_and_close());
  }
  unsetenv("RED_OPENCL_GROUP");
}
END_TEST

/* An application that leaves its dead children to the system cannot be told how they ended. */
START_TEST(children_ignored) {
  void (*before)(int) = signal(SIGCHLD, SIG_IGN);
  red_status status = open_and_close();
  ck_assert_msg(status == RED_OK, "%s", red_last_error());
  signal(SIGCHLD, before);
}
END_TEST

/* A loader may cut its list of drivers into words where it lies; the helper's must see all of them. */
START_TEST(uncut_lists) {
  setenv("RED_OPENCL_PROBE", "0", 1);
  ck_red(open_and_close());
  char *colon = strchr(getenv(DRIVERS), ':');
  if (colon != NULL) *colon = '\0';
  play("case $" DRIVERS " in first:second) echo passed;; *) echo \"failed 9 it has '$" DRIVERS "'\";; esac");
  red_status status = open_and_close();
  ck_assert_msg(status == RED_OK, "%s", red_last_error());
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, begin, end);
  tcase_add_test(tests, uncut_lists);
  tcase_add_test(tests, hangs);
  tcase_add_test(tests, hangs_with_children);
  tcase_add_test(tests, holds_the_pipe);
  tcase_add_test(tests, closes_the_pipe);
  tcase_add_test(tests, aborts);
  tcase_add_test(tests, aborts_in_a_build);
  tcase_add_test(tests, hangs_in_a_build);
  tcase_add_test(tests, fails_exactly);
  tcase_add_test(tests, says_nothing);
  tcase_add_test(tests, gives_other_bits);
  tcase_add_test(tests, no_helper);
  tcase_add_test(tests, remembered);
  tcase_add_test(tests, other_kernels);
  tcase_add_test(tests, children_ignored);
  tcase_add_test(tests, without_cache);
}

int main(void) {
  setenv(DRIVERS, "first:second", 1); /* before the loader is opened */
  return suite_run("opencl probe", fill);
}
