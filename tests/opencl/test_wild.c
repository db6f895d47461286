/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices as they are found: older, smaller, without a compiler, with other arithmetic than they say, of the same name.
 * What the driver of this machine answers is changed on its way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "native.h"

static red_cl_api real;
static char folder[64];

static void begin(void) {
  snprintf(folder, sizeof folder, "/tmp/libred-wild-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("RED_CACHE_DIR", folder, 1);
  open_native();
  setenv("RED_OPENCL_PROBE", "0", 1); /* another process would ask the driver itself */
  real = red_cl;
}

static void end(void) {
  char command[128];
  red_cl = real;
  close_native();
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

static void again(void) {
  red_cl = real;
}

static red_status open_device(red_context **made) {
  return context_under("RED_OPENCL_SHAPE=", made); /* as the device is, whatever kernels the suites are run with */
}

static void expect_failure(red_status wanted, const char *words) {
  red_context *none = NULL;
  ck_red_fails(open_device(&none), wanted, words);
  ck_assert_ptr_null(none);
}

/* ---- Other answers ---- */

static struct answer {
  cl_device_info what;
  const void *value;
  size_t bytes;
} answers[2];

static cl_int CL_API_CALL device_info(cl_device_id of, cl_device_info what, size_t room, void *to, size_t *needed) {
  for (unsigned i = 0; i < 2; i++) {
    const struct answer *a = &answers[i];
    if (a->value == NULL || a->what != what) continue;
    if (needed != NULL) *needed = a->bytes;
    if (to != NULL && room < a->bytes) return CL_INVALID_VALUE;
    if (to != NULL) memcpy(to, a->value, a->bytes);
    return CL_SUCCESS;
  }
  return real.GetDeviceInfo(of, what, room, to, needed);
}

static void answer(unsigned i, cl_device_info what, const void *value, size_t bytes) {
  answers[i].what = what;
  answers[i].value = value;
  answers[i].bytes = bytes;
  red_cl.GetDeviceInfo = device_info;
}

static const cl_bool no = CL_FALSE;
static const cl_ulong nothing = 0;
static const char old[] = "OpenCL 1.1 x", odd[] = "who knows", embedded[] = "EMBEDDED_PROFILE", few[] = "cl_khr_icd";
static const cl_device_fp_config flushing = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN,
                                 chopping = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_ZERO;

START_TEST(refused) {
  static const struct {
    struct answer first, second;
    const char *words;
  } devices[] = {
      {{CL_DEVICE_VERSION, old, sizeof old}, {0, NULL, 0}, "older than OpenCL 1.2"},
      {{CL_DEVICE_VERSION, odd, sizeof odd}, {0, NULL, 0}, "older than OpenCL 1.2"},
      {{CL_DEVICE_COMPILER_AVAILABLE, &no, sizeof no}, {0, NULL, 0}, "no compiler"},
      {{CL_DEVICE_AVAILABLE, &no, sizeof no}, {0, NULL, 0}, "not available"},
      {{CL_DEVICE_ENDIAN_LITTLE, &no, sizeof no}, {0, NULL, 0}, "big endian"},
      {{CL_DEVICE_SINGLE_FP_CONFIG, &flushing, sizeof flushing}, {0, NULL, 0}, "flushes subnormal floats"},
      {{CL_DEVICE_SINGLE_FP_CONFIG, &chopping, sizeof chopping}, {0, NULL, 0}, "round to nearest"},
      {{CL_DEVICE_MAX_MEM_ALLOC_SIZE, &nothing, sizeof nothing}, {0, NULL, 0}, "how large a buffer"},
      {{CL_DEVICE_PROFILE, embedded, sizeof embedded}, {CL_DEVICE_EXTENSIONS, few, sizeof few}, "64-bit integers"},
  };
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    answer(0, devices[i].first.what, devices[i].first.value, devices[i].first.bytes);
    answer(1, devices[i].second.what, devices[i].second.value, devices[i].second.bytes);
    expect_failure(RED_ERR_NO_DEVICE, devices[i].words);
  }
}
END_TEST

static red_status sum_of_f64(red_context *of, int exact) {
  double x[1000], result = 0;
  for (int i = 0; i < 1000; i++) x[i] = i;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F64, 1000);
  problem.exact = exact;
  red_status status = red_run(of, &problem, x, &result);
  ck_assert(status != RED_OK || result == 499500);
  return status;
}

START_TEST(without_f64) {
  red_context *of;
  answer(0, CL_DEVICE_DOUBLE_FP_CONFIG, &nothing, sizeof nothing);
  answer(1, CL_DEVICE_EXTENSIONS, few, sizeof few);
  ck_red(open_device(&of));
  ck_red_fails(sum_of_f64(of, 0), RED_ERR_UNSUPPORTED, "f64");
  ck_red(sum_of_f64(of, 1));
  red_context_destroy(of);
}
END_TEST

/* A GPU, as far as it says, with next to nothing for a work-group. */
static void small_gpu(cl_device_info what, const void *value, size_t bytes) {
  static const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
  red_context *of;
  answer(0, CL_DEVICE_TYPE, &gpu, sizeof gpu);
  answer(1, what, value, bytes);
  ck_red(open_device(&of)); /* it has passed its self-test */
  red_context_destroy(of);
}

START_TEST(work_groups_of_one) {
  static const size_t one = 1, two = 2;
  small_gpu(CL_DEVICE_MAX_WORK_GROUP_SIZE, &one, sizeof one);
  small_gpu(CL_DEVICE_MAX_WORK_GROUP_SIZE, &two, sizeof two);
}
END_TEST

START_TEST(tiny_local_memory) {
  static const cl_ulong little = 512;
  small_gpu(CL_DEVICE_LOCAL_MEM_SIZE, &nothing, sizeof nothing);
  small_gpu(CL_DEVICE_LOCAL_MEM_SIZE, &little, sizeof little);
}
END_TEST

/* ---- Other arithmetic than they say ---- */

static cl_int CL_API_CALL flush(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                void(CL_CALLBACK *tell)(cl_program, void *), void *data) {
  char more[1024];
  snprintf(more, sizeof more, "%s -cl-denorms-are-zero", options);
  return real.BuildProgram(program, count, devices, more, tell, data);
}

/* A driver may take that option for a hint. */
START_TEST(flushes) {
  red_context *of = NULL;
  red_cl.BuildProgram = flush;
  red_status status = open_device(&of);
  if (status == RED_OK) {
    float tiny[3] = {0x1p-140f, 0x1p-140f, 0x1p-140f}, sum = 0;
    ck_red(red_reduce(of, RED_SUM, RED_F32, tiny, 3, &sum));
    ck_assert(sum == 3 * 0x1p-140f);
    printf("flushes: this driver keeps subnormal floats whatever the option\n");
    red_context_destroy(of);
    return;
  }
  ck_red_fails(status, RED_ERR_MISMATCH, "self-test: reduce:sum:f32");
}
END_TEST

static cl_kernel idle_kernel;
static const char *idle_name;

static cl_kernel CL_API_CALL find_idle(cl_program program, const char *name, cl_int *error) {
  cl_kernel made = real.CreateKernel(program, name, error);
  if (strcmp(name, idle_name) == 0) idle_kernel = made;
  return made;
}

static cl_int CL_API_CALL all_but_idle(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                       const cl_event *events, cl_event *event) {
  if (kernel == idle_kernel) return CL_SUCCESS;
  return real.EnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, events, event);
}

static void play_idle(const char *name) {
  idle_name = name;
  idle_kernel = NULL;
  red_cl.CreateKernel = find_idle;
  red_cl.EnqueueNDRangeKernel = all_but_idle;
}

START_TEST(does_nothing) {
  play_idle("red_reduce_chunks");
  expect_failure(RED_ERR_MISMATCH, "self-test: reduce:sum:f32");
}
END_TEST

/* Of exact reductions alone: they are refused, and the rest is done. */
START_TEST(does_nothing_exactly) {
  red_context *of;
  double x[2] = {1, 2}, sum = 0;
  play_idle("red_exact_bins");
  ck_red(open_device(&of));
  for (int i = 0; i < 2; i++) ck_red_fails(sum_of_f64(of, 1), RED_ERR_MISMATCH, "exact");
  ck_red(red_reduce(of, RED_MAX, RED_F64, x, 2, &sum));
  red_context_destroy(of);
  again();
  ck_red(open_device(&of));
  ck_red(sum_of_f64(of, 1));
  red_context_destroy(of);
}
END_TEST

/* Host arrays of a CPU are not copied: what is large was on the device. */
static cl_int CL_API_CALL spoil(cl_command_queue queue, cl_mem from, cl_bool wait, size_t offset, size_t bytes,
                                void *to, cl_uint waits, const cl_event *events, cl_event *event) {
  cl_int code = real.EnqueueReadBuffer(queue, from, wait, offset, bytes, to, waits, events, event);
  if (bytes > 4096) ((unsigned char *)to)[bytes - 1] ^= 1;
  return code;
}

START_TEST(spoils_device_memory) {
  red_cl.EnqueueReadBuffer = spoil;
  expect_failure(RED_ERR_MISMATCH, "scan");
}
END_TEST

/* ---- None, and two ---- */

static cl_int platforms_code, devices_code;

static cl_int CL_API_CALL no_platforms(cl_uint most, cl_platform_id *list, cl_uint *count) {
  (void)most;
  (void)list;
  if (count != NULL) *count = 0;
  return platforms_code;
}

static cl_int CL_API_CALL no_devices(cl_platform_id of, cl_device_type type, cl_uint most, cl_device_id *list,
                                     cl_uint *count) {
  (void)of;
  (void)type;
  return devices_code == CL_SUCCESS ? no_platforms(most, (cl_platform_id *)list, count) : devices_code;
}

START_TEST(none) {
  red_cl.GetPlatformIDs = no_platforms;
  platforms_code = CL_PLATFORM_NOT_FOUND_KHR;
  expect_failure(RED_ERR_NO_DEVICE, "no OpenCL driver (ICD) is installed");
  platforms_code = CL_SUCCESS;
  expect_failure(RED_ERR_NO_DEVICE, "the OpenCL loader knows no platform");
  platforms_code = CL_OUT_OF_HOST_MEMORY;
  expect_failure(RED_ERR_NO_DEVICE, "CL_OUT_OF_HOST_MEMORY");
  again();
  platforms_code = CL_SUCCESS;
  red_cl.GetDeviceIDs = no_devices;
  devices_code = CL_DEVICE_NOT_FOUND;
  expect_failure(RED_ERR_NO_DEVICE, "have no device");
  devices_code = CL_SUCCESS;
  expect_failure(RED_ERR_NO_DEVICE, "have no device");
}
END_TEST

/* The same device twice, under two names; they are asked for their names in turn. */
static unsigned asked;

static cl_int CL_API_CALL two_devices(cl_platform_id of, cl_device_type type, cl_uint most, cl_device_id *list,
                                      cl_uint *count) {
  cl_uint found = 0;
  cl_platform_id home = NULL;
  real.GetDeviceInfo(native_device, CL_DEVICE_PLATFORM, sizeof home, &home, NULL);
  asked = 0;
  if (of != home) return real.GetDeviceIDs(of, type, most, list, count);
  for (; list != NULL && found < most && found < 2; found++) list[found] = native_device;
  if (count != NULL) *count = 2;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL two_names(cl_device_id of, cl_device_info what, size_t room, void *to, size_t *needed) {
  static const char *const names[] = {"Twin Arc One", "Twin Arc Two"};
  if (of != native_device || what != CL_DEVICE_NAME || to == NULL)
    return real.GetDeviceInfo(of, what, room, to, needed);
  snprintf(to, room, "%s", names[asked++ % 2]);
  return CL_SUCCESS;
}

static void expect_named(const char *list, const char *name) {
  red_context *of = NULL;
  red_device_info info = {.size = sizeof info};
  red_context_options options = {.size = sizeof options, .backend = list};
  red_status status = red_context_create(&options, &of);
  if (name == NULL) {
    ck_red_fails(status, RED_ERR_NO_DEVICE, list);
    return;
  }
  ck_red(status);
  ck_red(red_context_device(of, RED_DEVICE, &info));
  ck_assert_str_eq(info.name, name);
  red_context_destroy(of);
}

/* A part of a name, in any case; the first of several. */
START_TEST(names) {
  red_cl.GetDeviceIDs = two_devices;
  red_cl.GetDeviceInfo = two_names;
  expect_named("opencl:Twin", "Twin Arc One");
  expect_named("opencl:arc TWO", "Twin Arc Two");
  expect_named("-opencl:one,opencl:twin", "Twin Arc Two");
  expect_named("opencl:Twin Arc Three", NULL);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, begin, end);
  tcase_add_checked_fixture(tests, again, again);
  tcase_add_test(tests, refused);
  tcase_add_test(tests, without_f64);
  tcase_add_test(tests, work_groups_of_one);
  tcase_add_test(tests, tiny_local_memory);
  tcase_add_test(tests, flushes);
  tcase_add_test(tests, does_nothing);
  tcase_add_test(tests, does_nothing_exactly);
  tcase_add_test(tests, spoils_device_memory);
  tcase_add_test(tests, none);
  tcase_add_test(tests, names);
}

int main(void) {
  return suite_run("opencl wild", fill);
}
