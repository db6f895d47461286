/* SPDX-License-Identifier: BSD-2-Clause */
/* Choosing a device: the grammar of RED_BACKEND, forced and missing backends, precedence, automatic mode. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

enum {
  MOST_DEVICES = 64
};

static char name[64]; /* of the backend under test, without a device number */

static red_status create(const char *list, red_context **context) {
  red_context_options options = {.size = sizeof options, .backend = list};
  *context = NULL;
  return red_context_create(&options, context);
}

static void expect_error(const char *list, red_status want, const char *word) {
  red_context *context;
  red_status got = create(list, &context);
  ck_assert_msg(got == want, "'%s': status %d (%s), expected %d", list, got, red_last_error(), want);
  ck_assert_msg(strstr(red_last_error(), word) != NULL, "'%s': '%s' is not in '%s'", list, word, red_last_error());
  ck_assert_ptr_null(context);
}

/* The backend that works on data in `memory`. */
static const char *backend_of(red_context *context, red_memory memory) {
  static red_device_info info;
  info.size = sizeof info;
  ck_red(red_context_device(context, memory, &info));
  ck_assert(info.available);
  return info.backend;
}

static void expect_backend(const char *list, red_memory memory, const char *backend) {
  red_context *context;
  float one = 1, sum = 0;
  red_status status = create(list, &context);
  ck_assert_msg(status == RED_OK, "'%s': %s", list, red_last_error());
  ck_assert_str_eq(backend_of(context, memory), backend);
  ck_red(red_reduce(context, RED_SUM, RED_F32, &one, 1, &sum));
  ck_assert(sum == 1);
  red_context_destroy(context);
}

START_TEST(forced) {
  expect_backend(name, RED_HOST, name);
  expect_backend(name, RED_DEVICE, name);
}
END_TEST

START_TEST(lists) {
  static char list[256];
  snprintf(list, sizeof list, "%s:99,%s", name, name); /* the first that is there */
  expect_backend(list, RED_HOST, name);
  snprintf(list, sizeof list, "%s,auto", name);
  expect_backend(list, RED_HOST, name);
  snprintf(list, sizeof list, "%s,-opencl:77", name);
  expect_backend(list, RED_HOST, name);
}
END_TEST

START_TEST(unknown_names) {
  expect_error("omq", RED_ERR_INVALID, "omq");
  expect_error("omp,cuba", RED_ERR_INVALID, "cuba");
  expect_error("-vulkan", RED_ERR_INVALID, "vulkan");
  expect_error("OMP", RED_ERR_INVALID, "OMP");
  expect_error(" omp", RED_ERR_INVALID, " omp");
  expect_error("omp,", RED_ERR_INVALID, "comma");
  expect_error(",omp", RED_ERR_INVALID, "empty");
  expect_error("omp,,cuda", RED_ERR_INVALID, "empty");
  expect_error("auto,omp", RED_ERR_INVALID, "auto");
}
END_TEST

/* A named device never falls back to an unnamed one. */
START_TEST(no_such_device) {
  static char list[256];
  snprintf(list, sizeof list, "%s:99", name);
  expect_error(list, RED_ERR_NO_DEVICE, list);
  snprintf(list, sizeof list, "%s,-%s", name, name);
  expect_error(list, RED_ERR_NO_DEVICE, "excluded");
}
END_TEST

/* A backend that is not in this build, or has no driver here, says why. */
START_TEST(missing_backends) {
  static red_device_info devices[MOST_DEVICES];
  size_t count;
  devices[0].size = sizeof devices[0];
  ck_red(red_devices(devices, MOST_DEVICES, &count));
  ck_assert_uint_gt(count, 0);
  for (size_t i = 0; i < count && i < MOST_DEVICES; i++) {
    ck_assert_str_ne(devices[i].backend, "");
    if (devices[i].available) continue;
    ck_assert_str_ne(devices[i].reason, "");
    expect_error(devices[i].id, RED_ERR_NO_DEVICE, devices[i].reason);
    char list[128];
    snprintf(list, sizeof list, "%s,%s", devices[i].id, name);
    expect_backend(list, RED_HOST, name);
  }
}
END_TEST

START_TEST(devices) {
  static red_device_info list[MOST_DEVICES], first;
  size_t count, again, known = 0;
  list[0].size = first.size = sizeof first;
  ck_red(red_devices(NULL, 0, &count));
  ck_red(red_devices(&first, 1, &again)); /* how many there are, not how many fit */
  ck_assert_uint_eq(count, again);
  ck_red(red_devices(list, MOST_DEVICES, &again));
  ck_assert_uint_eq(count, again);
  for (size_t i = 0; i < count && i < MOST_DEVICES; i++) {
    ck_assert_uint_eq(list[i].size, sizeof first);
    if (list[i].available) expect_backend(list[i].id, RED_HOST, list[i].backend);
    known |= strcmp(list[i].backend, "omp") == 0 ? 1u : 0;
    known |= strcmp(list[i].backend, "cuda") == 0 ? 2u : 0;
    known |= strcmp(list[i].backend, "opencl") == 0 ? 4u : 0;
  }
  ck_assert_uint_eq(known, 7); /* each backend is listed, even if only with the reason why it is missing */
}
END_TEST

/* Of a backend that is excluded not even the devices are known: its driver is not started to find them. */
static void expect_all_excluded(red_memory memory) {
  static red_device_info list[MOST_DEVICES];
  size_t count;
  red_context *context;
  list[0].size = sizeof list[0];
  ck_red(red_devices(list, MOST_DEVICES, &count));
  ck_red(create("-omp,-cuda,-opencl", &context));
  ck_assert_int_eq(red_context_device(context, memory, &(red_device_info){.size = sizeof *list}), RED_ERR_NO_DEVICE);
  for (size_t i = 0; i < count && i < MOST_DEVICES; i++) {
    char reason[64];
    if (!list[i].available) continue;
    snprintf(reason, sizeof reason, "%s: excluded by the list", list[i].backend);
    ck_assert_msg(strstr(red_last_error(), reason) != NULL, "'%s' is not in '%s'", reason, red_last_error());
  }
  red_context_destroy(context);
}

/* Host data is worked on by the CPU, and what is excluded is not taken. */
START_TEST(automatic) {
  expect_backend("auto", RED_HOST, "omp");
  expect_backend("", RED_HOST, "omp");
  expect_backend("-cuda", RED_HOST, "omp");
  expect_backend("-cuda,-opencl,auto", RED_HOST, "omp");
  expect_backend("-cuda,-opencl", RED_DEVICE, "omp");
  expect_all_excluded(RED_HOST);
  expect_all_excluded(RED_DEVICE);
}
END_TEST

/* The options go before the environment, the environment before the automatic choice. */
START_TEST(precedence) {
  char *saved = getenv("RED_BACKEND") ? strdup(getenv("RED_BACKEND")) : NULL;
  red_context *context;
  setenv("RED_BACKEND", "nonsense", 1);
  expect_backend(name, RED_HOST, name);
  expect_error(NULL, RED_ERR_INVALID, "nonsense");
  ck_assert_int_eq(red_context_create(NULL, &context), RED_ERR_INVALID);
  ck_assert_ptr_nonnull(strstr(red_last_error(), "nonsense"));
  setenv("RED_BACKEND", name, 1);
  ck_red(red_context_create(NULL, &context));
  ck_assert_str_eq(backend_of(context, RED_HOST), name);
  red_context_destroy(context);
  unsetenv("RED_BACKEND");
  ck_red(red_context_create(NULL, &context));
  ck_assert_str_eq(backend_of(context, RED_HOST), "omp");
  red_context_destroy(context);
  if (saved != NULL) setenv("RED_BACKEND", saved, 1);
  free(saved);
}
END_TEST

/* The caller's string need not outlive the call. */
START_TEST(options_are_copied) {
  char list[64];
  red_context *context;
  strcpy(list, name);
  ck_red(create(list, &context));
  memset(list, 'x', sizeof list - 1);
  ck_assert_str_eq(backend_of(context, RED_HOST), name);
  ck_assert_str_eq(backend_of(context, RED_DEVICE), name);
  red_context_destroy(context);
}
END_TEST

START_TEST(self_test) {
  red_context *context = suite_context(0);
  ck_red(red_self_test(context, RED_HOST));
  ck_red(red_self_test(context, RED_DEVICE));
  ck_assert_int_eq(red_self_test(context, (red_memory)7), RED_ERR_INVALID);
  red_context_destroy(context);
}
END_TEST

START_TEST(many_contexts) {
  for (unsigned i = suite_repeat(20); i > 0; i--) {
    red_context *context = suite_context(i % 4);
    float pair[2] = {1, 2}, sum;
    ck_red(red_reduce(context, RED_SUM, RED_F32, pair, 2, &sum));
    ck_assert(sum == 3);
    red_context_destroy(context);
  }
}
END_TEST

/* What a context and a reduction write to standard error. */
static const char *logged(const char *verbose) {
  static char text[16384];
  float pair[2] = {1, 2}, sum;
  FILE *file = tmpfile();
  int saved = dup(STDERR_FILENO);
  ck_assert(file != NULL && saved >= 0);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  if (verbose != NULL) setenv("RED_VERBOSE", verbose, 1);
  red_context_options options = {.size = sizeof options, .backend = name};
  red_context *context = NULL;
  red_status status = red_context_create(&options, &context);
  if (status == RED_OK) status = red_reduce(context, RED_SUM, RED_F32, pair, 2, &sum);
  red_context_destroy(context);
  unsetenv("RED_VERBOSE");
  dup2(saved, STDERR_FILENO);
  close(saved);
  ck_assert_int_eq(status, RED_OK);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

/* The library is silent unless it is asked; then the reason of the choice is one line. */
START_TEST(verbose) {
  ck_assert_str_eq(logged(NULL), "");
  ck_assert_str_eq(logged("0"), "");
  const char *text = logged("1");
  ck_assert_msg(strncmp(text, "libred: ", 8) == 0, "'%s'", text);
  ck_assert_msg(strstr(text, name) != NULL && strstr(text, "taken") != NULL, "'%s'", text);
  ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

static void find_name(void) {
  strncpy(name, suite_backend(), sizeof name - 1);
  name[strcspn(name, ":,")] = '\0';
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, find_name, NULL);
  tcase_add_test(tests, forced);
  tcase_add_test(tests, lists);
  tcase_add_test(tests, unknown_names);
  tcase_add_test(tests, no_such_device);
  tcase_add_test(tests, missing_backends);
  tcase_add_test(tests, devices);
  tcase_add_test(tests, automatic);
  tcase_add_test(tests, precedence);
  tcase_add_test(tests, options_are_copied);
  tcase_add_test(tests, self_test);
  tcase_add_test(tests, many_contexts);
  tcase_add_test(tests, verbose);
}

int main(void) {
  return suite_run("selection", fill);
}
