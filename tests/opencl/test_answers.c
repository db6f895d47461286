/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What drivers may answer, and this one does not: other abilities, long build logs, binaries that turn out to be of no
 * use. The answers are put into the table of functions.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "native.h"

static red_cl_api real;
static char folder[64];

static void begin(void) {
  snprintf(folder, sizeof folder, "/tmp/libred-answers-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("RED_CACHE_DIR", folder, 1);
  setenv("RED_OPENCL_PROBE", probe_that_passes(), 1);
  open_native();
  real = red_cl;
}

static void end(void) {
  char command[128];
  red_cl = real;
  close_native();
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

/* ---- Abilities ---- */

/* NULL and 0: as the device has it. */
static const char *version, *extensions;
static cl_uint subgroups;
static size_t first_size, subgroup_sizes[4];

static cl_int give(const void *value, size_t bytes, size_t room, void *to, size_t *needed) {
  if (needed != NULL) *needed = bytes;
  if (to == NULL) return CL_SUCCESS;
  if (room < bytes) return CL_INVALID_VALUE;
  memcpy(to, value, bytes);
  return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *needed) {
  const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
  const size_t sizes[3] = {first_size, 8, 8};
  if (what == CL_DEVICE_TYPE) return give(&gpu, sizeof gpu, room, to, needed);
  if (what == CL_DEVICE_VERSION && version != NULL) return give(version, strlen(version) + 1, room, to, needed);
  if (what == CL_DEVICE_EXTENSIONS && extensions != NULL)
    return give(extensions, strlen(extensions) + 1, room, to, needed);
  if (what == CL_DEVICE_MAX_NUM_SUB_GROUPS) return give(&subgroups, sizeof subgroups, room, to, needed);
  if (what == CL_DEVICE_SUB_GROUP_SIZES_INTEL && subgroup_sizes[0] > 0)
    return give(subgroup_sizes, sizeof subgroup_sizes, room, to, needed);
  if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES && first_size > 0) return give(sizes, sizeof sizes, room, to, needed);
  return real.GetDeviceInfo(device, what, room, to, needed);
}

static red_cl_traits inspect(void) {
  red_cl_traits traits;
  cl_platform_id platform;
  ck_assert_int_eq(real.GetDeviceInfo(native_device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), CL_SUCCESS);
  red_cl.GetDeviceInfo = device_info;
  red_cl_inspect(platform, native_device, 0, 0, &traits);
  red_cl = real;
  return traits;
}

/* Sub-groups are for OpenCL C 2.0 and later; 3.0 has them as a feature; shuffles are an extension always. */
START_TEST(subgroup_kernels) {
  static const struct {
    const char *version, *extensions;
    cl_uint subgroups;
    bool offered;
  } devices[] = {
      {"OpenCL 1.2 x", "cl_khr_fp64 cl_intel_subgroups", 0, false},
      {"OpenCL 2.0 x", "cl_khr_fp64 cl_intel_subgroups", 0, true},
      {"OpenCL 3.0 x", "cl_khr_fp64 cl_intel_subgroups", 8, true},
      {"OpenCL 2.0 x", "cl_khr_subgroups cl_khr_subgroup_shuffle", 0, true},
      {"OpenCL 2.0 x", "cl_khr_subgroups", 0, false},
      {"OpenCL 2.0 x", "cl_khr_subgroup_shuffle", 8, false},
      {"OpenCL 3.0 x", "cl_khr_subgroup_shuffle", 8, true},
      {"OpenCL 3.0 x", "cl_khr_subgroup_shuffle_relative", 1, true},
      {"OpenCL 3.0 x", "cl_khr_subgroup_shuffle", 0, false},
      {"OpenCL 3.0 x", "cl_khr_fp64", 8, false},
  };
  for (unsigned i = 0; i < sizeof devices / sizeof *devices; i++) {
    version = devices[i].version;
    extensions = devices[i].extensions;
    subgroups = devices[i].subgroups;
    setenv("RED_OPENCL_SHAPE", "subgroup", 1);
    red_cl_traits traits = inspect();
    unsetenv("RED_OPENCL_SHAPE");
    ck_assert_msg((traits.reason[0] == '\0') == devices[i].offered, "%s with %s: %s", version, extensions,
                  traits.reason);
    traits = inspect();
    ck_assert_str_eq(traits.reason, ""); /* without them it has other kernels */
    if (!devices[i].offered) ck_assert_int_ne(traits.shape, RED_CL_SUBGROUP);
  }
  version = extensions = NULL;
}
END_TEST

static red_cl_traits inspect_under(const char *shape) {
  setenv("RED_OPENCL_SHAPE", shape, 1);
  red_cl_traits traits = inspect();
  unsetenv("RED_OPENCL_SHAPE");
  return traits;
}

static void expect_size(const char *shape, uint32_t size) {
  red_cl_traits traits = inspect_under(shape);
  ck_assert_str_eq(traits.reason, "");
  ck_assert_int_eq(traits.shape, RED_CL_SUBGROUP);
  ck_assert_uint_eq(traits.subgroup_size, size);
}

/* The sentence has the variable, its value, and a word of what is wrong with it. */
static void expect_no_shape(const char *shape, const char *word) {
  char beginning[64];
  red_cl_traits traits = inspect_under(shape);
  snprintf(beginning, sizeof beginning, "RED_OPENCL_SHAPE=%s: ", shape);
  ck_assert_msg(strstr(traits.reason, beginning) == traits.reason, "%s: '%s'", shape, traits.reason);
  ck_assert_msg(strstr(traits.reason, word) != NULL, "%s: '%s'", shape, traits.reason);
}

/* What a test may demand: any size that the device offers. By itself the library takes the driver's. */
START_TEST(subgroups_of_a_size) {
  static const char *const malformed[] = {"subgroup:",     "subgroup:x",   "subgroup:0",          "subgroup:-16",
                                          "subgroup:+16",  "subgroup: 16", "subgroup:16 ",        "subgroup:16x",
                                          "subgroup:0x10", "subgroup:8:",  "subgroup:4294967312", "local:16"};
  version = "OpenCL 3.0 x";
  extensions = "cl_khr_fp64 cl_intel_subgroups";
  expect_size("subgroup", 0);
  expect_no_shape("subgroup:16", "cannot do that");
  extensions = "cl_khr_fp64 cl_intel_subgroups cl_intel_required_subgroup_size";
  memcpy(subgroup_sizes, (size_t[4]){3, 16, 64}, sizeof subgroup_sizes); /* and none: the driver may leave room */
  expect_size("subgroup:16", 16);
  expect_size("subgroup:64", 64);
  expect_size("subgroup:3", 3);
  expect_no_shape("subgroup:4", "cannot do that");
  expect_no_shape("subgroup:1", "cannot do that");
  for (unsigned i = 0; i < sizeof malformed / sizeof *malformed; i++) expect_no_shape(malformed[i], "expected one of");
  ck_assert_uint_eq(inspect().subgroup_size, 0);
  version = extensions = NULL;
  subgroup_sizes[0] = 0;
}
END_TEST

/* A work-group has no more work-items than its first dimension may have. */
START_TEST(short_dimensions) {
  const size_t most = inspect().most_group;
  first_size = 32;
  ck_assert_uint_eq(inspect().most_group, most < 32 ? most : 32);
  first_size = (size_t)1 << 20;
  ck_assert_uint_eq(inspect().most_group, most);
  first_size = 0;
}
END_TEST

static cl_int CL_API_CALL no_units(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *needed) {
  const cl_uint none = 0;
  if (what == CL_DEVICE_MAX_COMPUTE_UNITS) return give(&none, sizeof none, room, to, needed);
  return real.GetDeviceInfo(device, what, room, to, needed);
}

/* A driver that does not say how many units a device has: it works on, by whatever kernels. */
START_TEST(units_untold) {
  static const char *const ways[] = {"RED_OPENCL_SHAPE= RED_OPENCL_SCAN=windows",
                                     "RED_OPENCL_SHAPE=local RED_OPENCL_REDUCE=launch",
                                     "RED_OPENCL_SHAPE=local RED_OPENCL_REDUCE=stages"};
  static int32_t x[30000], scanned[30000];
  for (int i = 0; i < 30000; i++) x[i] = 1;
  for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
    red_context *of;
    int64_t sum = 0;
    red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, 30000);
    scan.out = RED_I32;
    red_cl.GetDeviceInfo = no_units;
    ck_red(context_under(ways[w], &of));
    ck_red(red_reduce(of, RED_SUM, RED_I32, x, 30000, &sum));
    ck_assert_int_eq(sum, 30000);
    ck_red(red_run(of, &scan, x, scanned));
    ck_assert_int_eq(scanned[29999], 30000);
    red_context_destroy(of);
    red_cl = real;
  }
}
END_TEST

static cl_int CL_API_CALL small_groups(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t room, void *to, size_t *needed) {
  const size_t most = 2;
  if (what == CL_KERNEL_WORK_GROUP_SIZE) return give(&most, sizeof most, room, to, needed);
  return real.GetKernelWorkGroupInfo(kernel, device, what, room, to, needed);
}

static red_status make_plan(red_context *of) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_PROD, RED_I32, 1000);
  red_plan *plan = NULL;
  red_status status = red_plan_create(of, &problem, &plan);
  red_plan_destroy(plan);
  return status;
}

static void expect_refusal(red_status status, red_status wanted, const char *word) {
  ck_assert_int_eq(status, wanted);
  ck_assert_msg(strstr(red_last_error(), word) != NULL, "'%s' does not name %s", red_last_error(), word);
}

/* A compiler that spends so much on a kernel that fewer work-items fit than the device has. */
START_TEST(kernel_of_few_items) {
  red_context *local;
  ck_red(context_under("RED_OPENCL_SHAPE=local RED_OPENCL_GROUP=16", &local));
  red_cl.GetKernelWorkGroupInfo = small_groups;
  expect_refusal(make_plan(local), RED_ERR_UNSUPPORTED, "work-groups of 2 at most, it needs 16");
  red_cl = real;
  ck_red(make_plan(local));
  red_context_destroy(local);
}
END_TEST

/* ---- Builds ---- */

/* A dozen mistakes that say 600 characters each. */
static cl_program CL_API_CALL bad_source(cl_context in, cl_uint count, const char **texts, const size_t *lengths,
                                         cl_int *error) {
  static char mistakes[12 * 700];
  const char *all[64] = {mistakes};
  size_t used = 0;
  for (int i = 0; i < 12; i++)
    used += (size_t)snprintf(mistakes + used, sizeof mistakes - used, "#error mistake%d %0600d\n", i, i);
  ck_assert(lengths == NULL && count < 64);
  memcpy(all + 1, texts, count * sizeof *texts);
  return real.CreateProgramWithSource(in, count + 1, all, NULL, error);
}

START_TEST(long_build_log) {
  red_cl.CreateProgramWithSource = bad_source;
  expect_refusal(make_plan(context), RED_ERR_DRIVER, "mistake0 0000");
  red_cl = real;
  ck_red(make_plan(context)); /* nothing is left of it */
}
END_TEST

static unsigned built, loaded;
static cl_program useless;

static cl_program CL_API_CALL counted_source(cl_context in, cl_uint count, const char **texts, const size_t *lengths,
                                             cl_int *error) {
  built++;
  useless = NULL; /* its handle may be the next program's */
  return real.CreateProgramWithSource(in, count, texts, lengths, error);
}

static cl_program CL_API_CALL useless_binary(cl_context in, cl_uint count, const cl_device_id *devices,
                                             const size_t *lengths, const unsigned char **binaries, cl_int *verdicts,
                                             cl_int *error) {
  loaded++;
  return useless = real.CreateProgramWithBinary(in, count, devices, lengths, binaries, verdicts, error);
}

static cl_kernel CL_API_CALL no_kernel(cl_program program, const char *name, cl_int *error) {
  if (program != useless) return real.CreateKernel(program, name, error);
  *error = CL_INVALID_KERNEL_DEFINITION;
  return NULL;
}

static void run_with_binaries(void) {
  red_context *fresh;
  int32_t x[3] = {3, 5, 7};
  int64_t product = 0;
  ck_red(context_under("RED_OPENCL_BINARIES=1", &fresh));
  ck_red(red_reduce(fresh, RED_PROD, RED_I32, x, 3, &product));
  ck_assert_int_eq(product, 105);
  red_context_destroy(fresh);
}

/* Of the right text and driver, whole, accepted and linked, and yet without kernels. */
START_TEST(useless_binaries) {
  run_with_binaries();
  red_cl.CreateProgramWithSource = counted_source;
  red_cl.CreateProgramWithBinary = useless_binary;
  run_with_binaries();
  ck_assert(loaded > 0 && built == 0);
  red_cl.CreateKernel = no_kernel;
  loaded = 0;
  run_with_binaries();
  ck_assert(loaded > 0 && built == loaded);
}
END_TEST

/* ---- Parts of a device ---- */

START_TEST(sub_device) {
  typedef cl_int CL_API_CALL divide(cl_device_id, const cl_device_partition_property *, cl_uint, cl_device_id *,
                                    cl_uint *);
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_device_id parts[64];
  cl_uint count = 0;
  divide *create;
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  ck_assert_ptr_nonnull(library);
  *(void **)&create = dlsym(library, "clCreateSubDevices");
  if (create == NULL || create(native_device, equally, 64, parts, &count) != CL_SUCCESS || count == 0) {
    printf("sub_device: skipped, this device cannot be divided\n");
    return;
  }
  cl_int error;
  cl_context other = red_cl.CreateContext(NULL, 1, parts, NULL, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  red_context_options options = {
      .size = sizeof options, .backend = "opencl", .native_context = other, .native_device = parts[0]};
  red_context *none = NULL;
  expect_refusal(red_context_create(&options, &none), RED_ERR_NO_DEVICE, "sub-device");
  ck_assert_ptr_null(none);
  red_cl.ReleaseContext(other);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, begin, end);
  tcase_add_test(tests, subgroup_kernels);
  tcase_add_test(tests, subgroups_of_a_size);
  tcase_add_test(tests, short_dimensions);
  tcase_add_test(tests, units_untold);
  tcase_add_test(tests, kernel_of_few_items);
  tcase_add_test(tests, long_build_log);
  tcase_add_test(tests, useless_binaries);
  tcase_add_test(tests, sub_device);
}

int main(void) {
  return suite_run("opencl answers", fill);
}
