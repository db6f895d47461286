/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machines without a driver or a device, or with a driver that is too old: each is a reason in a sentence. This
 * program's dlopen and dlsym take the place of the system's. A driver is opened once in a process: each test runs in
 * one of its own.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "api.h"

static int there;             /* a libcuda.so.1 can be opened */
static const char *lacking;   /* the symbol that it lacks */
static CUresult init, others; /* what cuInit gives, and everything else */
static int devices;
static int unnamed; /* errors have no text */

static CUresult answer(const char *symbol, ...) {
  return strcmp(symbol, "cuInit") == 0 ? init : others;
}

#define ARGUMENTS(...) __VA_ARGS__
#define X(member, symbol, parameters, arguments)                                                                       \
  static CUresult fake_##member parameters {                                                                           \
    return answer(symbol, ARGUMENTS arguments);                                                                        \
  }
RED_CUDA_API(X)
RED_CUDA_API_OPTIONAL(X)
#undef X

static CUresult count_devices(int *count) {
  *count = devices;
  return others;
}

static CUresult text_of(CUresult error, const char **text) {
  (void)error;
  if (!unnamed) *text = "the text of the error";
  return unnamed ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static const struct {
  const char *symbol;
  void *into;
} table[] = {
#define X(member, symbol, parameters, arguments) {symbol, &red_cu.member},
    RED_CUDA_API(X) RED_CUDA_API_OPTIONAL(X)
#undef X
};

enum {
#define X(member, symbol, parameters, arguments) +1
  OPTIONAL = RED_CUDA_API_OPTIONAL(X),
  SYMBOLS = RED_CUDA_API(X) + OPTIONAL
#undef X
};

static red_cuda_api fakes = {
#define X(member, symbol, parameters, arguments) .member = fake_##member,
    RED_CUDA_API(X) RED_CUDA_API_OPTIONAL(X)
#undef X
};

void *dlopen(const char *name, int mode) {
  (void)mode;
  return there && name != NULL && strcmp(name, "libcuda.so.1") == 0 ? &fakes : NULL;
}

char *dlerror(void) {
  return (char *)"libcuda.so.1: no such file";
}

void *dlsym(void *restrict library, const char *restrict symbol) {
  if (library != &fakes || (lacking != NULL && strcmp(lacking, symbol) == 0)) return NULL;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].symbol, symbol) == 0)
      return *(void **)((char *)&fakes + ((char *)table[i].into - (char *)&red_cu));
  return NULL;
}

/* The list of devices and a context both give the reason. */
static void expect_reason(const char *word) {
  static red_device_info list[64];
  size_t count = 0, found = 0;
  list[0].size = sizeof list[0];
  ck_red(red_devices(list, 64, &count));
  for (size_t i = 0; i < count && i < 64; i++) {
    if (strncmp(list[i].id, "cuda", 4) != 0) continue;
    ck_assert(!list[i].available);
    ck_assert_msg(strstr(list[i].reason, word) != NULL, "'%s' is not in '%s'", word, list[i].reason);
    found++;
  }
  ck_assert_uint_ge(found, 1);
  red_context_options options = {.size = sizeof options, .backend = "cuda"};
  red_context *context = NULL;
  ck_red_fails(red_context_create(&options, &context), RED_ERR_NO_DEVICE, word);
}

START_TEST(no_driver) {
  there = 0;
  expect_reason("no driver: libcuda.so.1: no such file");
}
END_TEST

START_TEST(old_driver) {
  lacking = table[_i].symbol;
  init = CUDA_ERROR_NO_DEVICE;
  expect_reason(_i < SYMBOLS - OPTIONAL ? lacking : "no device");
}
END_TEST

START_TEST(init_fails) {
  init = CUDA_ERROR_SYSTEM_NOT_READY;
  expect_reason("cuInit: the text of the error");
}
END_TEST

START_TEST(init_fails_without_a_text) {
  init = CUDA_ERROR_SYSTEM_NOT_READY;
  unnamed = 1;
  expect_reason("cuInit: unknown error");
}
END_TEST

START_TEST(init_finds_no_device) {
  init = CUDA_ERROR_NO_DEVICE;
  expect_reason("no device: cuInit");
}
END_TEST

START_TEST(no_device) {
  devices = 0;
  expect_reason("no device");
}
END_TEST

START_TEST(devices_cannot_be_counted) {
  others = CUDA_ERROR_UNKNOWN;
  devices = 1;
  expect_reason("cuDeviceGetCount: the text of the error");
}
END_TEST

static void begin(void) {
  there = 1;
  fakes.DeviceGetCount = count_devices;
  fakes.GetErrorString = text_of;
}

int main(void) {
  Suite *suite = suite_create("absence");
  TCase *tests = tcase_create("cuda");
  tcase_add_checked_fixture(tests, begin, NULL);
  tcase_add_test(tests, no_driver);
  tcase_add_loop_test(tests, old_driver, 0, SYMBOLS);
  tcase_add_test(tests, init_fails);
  tcase_add_test(tests, init_fails_without_a_text);
  tcase_add_test(tests, init_finds_no_device);
  tcase_add_test(tests, no_device);
  tcase_add_test(tests, devices_cannot_be_counted);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_fork_status(runner, CK_FORK);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
