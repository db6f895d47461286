/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public device headers as a program of their own, at many work-group sizes, odd ones too, against the
 * orders that they state, computed here. All-negative data, dirty local memory, an operator that is not commutative:
 * the mistakes that group code makes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "api.h"

enum {
  MOST = 1024
};

static const char *const common =
    "#define RED_NAME add\n#define RED_TYPE float\n#define RED_OP(a, b) ((a) + (b))\n"
    "#include <red/device/opencl/workgroup.clh>\n"
    "#define RED_NAME most\n#define RED_TYPE int\n#define RED_OP(a, b) max((a), (b))\n"
    "#include <red/device/opencl/workgroup.clh>\n"
    /* (a, b) -> a + 31 b is neither commutative nor associative: it shows the tree. */
    "#define RED_NAME tree\n#define RED_TYPE uint\n#define RED_OP(a, b) ((a) + 31u * (b))\n"
    "#include <red/device/opencl/workgroup.clh>\n"
    "kernel void group(global const float *x, global const int *negative, global float *sums, global int *mosts,\n"
    "                  global uint *mixed, local float *f, local int *i, local uint *u) {\n"
    "  uint l = get_local_id(0), n = get_local_size(0);\n"
    "  f[l] = 1e30f; i[l] = 0x7fffffff; u[l] = 0xdeadbeef;\n" /* what another group may have left */
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  sums[l] = red_workgroup_reduce_add(x[l], f);\n"
    "  sums[n + l] = red_workgroup_inclusive_scan_add(x[l], f);\n"
    "  sums[2 * n + l] = red_workgroup_exclusive_scan_add(x[l], 0.0f, f);\n"
    "  mosts[l] = red_workgroup_reduce_most(negative[l], i);\n"
    "  mixed[l] = red_workgroup_reduce_tree(l + 1, u);\n"
    "  mixed[n + l] = red_workgroup_reduce_pairs_tree(l + 1, u);\n"
    "}\n";

static const char *const shuffling =
    "#define RED_NAME add\n#define RED_TYPE float\n#define RED_OP(a, b) ((a) + (b))\n"
    "#include <red/device/opencl/subgroup.clh>\n"
    "#define RED_NAME tree\n#define RED_TYPE uint\n#define RED_OP(a, b) ((a) + 31u * (b))\n"
    "#include <red/device/opencl/subgroup.clh>\n"
    "kernel void lanes(global const float *x, global float *sums, global uint *mixed, global uint *place) {\n"
    "  uint g = get_global_id(0), n = get_global_size(0), l = get_sub_group_local_id();\n"
    "  place[g] = l; place[n + g] = get_sub_group_size(); place[2 * n + g] = get_sub_group_id();\n"
    "  sums[g] = red_subgroup_reduce_add(x[g]);\n"
    "  sums[n + g] = red_subgroup_inclusive_scan_add(x[g]);\n"
    "  sums[2 * n + g] = red_subgroup_exclusive_scan_add(x[g], 0.0f);\n"
    "  mixed[g] = red_subgroup_reduce_tree(l + 1);\n"
    "  mixed[n + g] = red_subgroup_reduce_pairs_tree(l + 1);\n"
    "}\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static float x[MOST];
static cl_int negative[MOST];
static size_t most_lanes;

static void begin(void) {
  cl_platform_id platform;
  cl_int error;
  ck_assert_ptr_null(red_cl_open_api());
  ck_assert_int_eq(red_cl.GetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
  ck_assert_int_eq(red_cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
  context = red_cl.CreateContext(NULL, 1, &device, NULL, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  queue = red_cl.CreateCommandQueue(context, device, 0, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  red_cl.GetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most_lanes, &most_lanes, NULL);
  for (int i = 0; i < MOST; i++) {
    x[i] = (float)(i * 7919 % 1009) * 0.37f - 100;
    negative[i] = -1 - i * 31 % 977;
  }
}

static void end(void) {
  red_cl.ReleaseCommandQueue(queue);
  red_cl.ReleaseContext(context);
}

static cl_kernel build(const char *source, const char *standard, const char *name, cl_program *program) {
  char options[1024], log[4096] = "";
  cl_int error;
  snprintf(options, sizeof options, "%s -I %s", standard, getenv("RED_INCLUDE"));
  *program = red_cl.CreateProgramWithSource(context, 1, &source, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  error = red_cl.BuildProgram(*program, 1, &device, options, NULL, NULL);
  red_cl.GetProgramBuildInfo(*program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  ck_assert_msg(error == CL_SUCCESS, "%d: %s", error, log);
  cl_kernel kernel = red_cl.CreateKernel(*program, name, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  return kernel;
}

static cl_mem memory_of(const void *bytes, size_t count) {
  cl_int error;
  cl_mem memory = red_cl.CreateBuffer(context, bytes != NULL ? CL_MEM_COPY_HOST_PTR : 0, count, (void *)bytes, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  return memory;
}

static void run(cl_kernel kernel, const cl_mem *memories, cl_uint count, cl_uint locals, size_t global, size_t local) {
  for (cl_uint i = 0; i < count; i++)
    ck_assert_int_eq(red_cl.SetKernelArg(kernel, i, sizeof memories[i], &memories[i]), CL_SUCCESS);
  for (cl_uint i = count; i < count + locals; i++)
    ck_assert_int_eq(red_cl.SetKernelArg(kernel, i, 4 * local, NULL), CL_SUCCESS);
  ck_assert_int_eq(red_cl.EnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
}

static void fetch(cl_mem memory, void *to, size_t bytes) {
  ck_assert_int_eq(red_cl.EnqueueReadBuffer(queue, memory, CL_TRUE, 0, bytes, to, 0, NULL, NULL), CL_SUCCESS);
}

/* ---- The stated orders ---- */

static size_t first_half(size_t n) {
  size_t h = 1;
  while (2 * h < n) h *= 2;
  return h;
}

static float reduced(const float *values, size_t n) {
  float a[MOST];
  memcpy(a, values, n * sizeof *a);
  for (size_t h = first_half(n); h > 0; h /= 2)
    for (size_t l = 0; l < h && l + h < n; l++) a[l] += a[l + h];
  return a[0];
}

static cl_uint mixed_by_halves(size_t n) {
  cl_uint a[MOST];
  for (size_t l = 0; l < n; l++) a[l] = (cl_uint)l + 1;
  for (size_t h = first_half(n); h > 0; h /= 2)
    for (size_t l = 0; l < h && l + h < n; l++) a[l] += 31u * a[l + h];
  return a[0];
}

static cl_uint mixed_by_pairs(size_t n) {
  cl_uint a[MOST];
  for (size_t l = 0; l < n; l++) a[l] = (cl_uint)l + 1;
  for (size_t h = 1; h < n; h *= 2)
    for (size_t l = 0; l + h < n; l += 2 * h) a[l] += 31u * a[l + h];
  return a[0];
}

static void scanned(const float *values, size_t n, float *to) {
  memcpy(to, values, n * sizeof *to);
  for (size_t d = 1; d < n; d *= 2)
    for (size_t l = n; l-- > d;) to[l] = to[l - d] + to[l];
}

static void expect_scans(const float *values, size_t n, const float *inclusive, const float *exclusive) {
  float want[MOST];
  scanned(values, n, want);
  ck_assert_msg(memcmp(want, inclusive, n * sizeof *want) == 0, "inclusive scan of %zu", n);
  ck_assert_msg(exclusive[0] == 0 && memcmp(want, exclusive + 1, (n - 1) * sizeof *want) == 0, "exclusive scan of %zu",
                n);
}

/* ---- Tests ---- */

static void check_group(cl_kernel kernel, size_t n) {
  float sums[3 * MOST];
  cl_int mosts[MOST], most = negative[0];
  cl_uint mixed[2 * MOST];
  cl_mem memories[5] = {memory_of(x, n * 4), memory_of(negative, n * 4), memory_of(NULL, 12 * n),
                        memory_of(NULL, 4 * n), memory_of(NULL, 8 * n)};
  run(kernel, memories, 5, 3, n, n);
  fetch(memories[2], sums, 12 * n);
  fetch(memories[3], mosts, 4 * n);
  fetch(memories[4], mixed, 8 * n);
  for (size_t l = 1; l < n; l++) most = negative[l] > most ? negative[l] : most;
  float sum = reduced(x, n);
  for (size_t l = 0; l < n; l++) {
    ck_assert_msg(sums[l] == sum, "sum of %zu at %zu: %g, not %g", n, l, (double)sums[l], (double)sum);
    ck_assert_msg(mosts[l] == most, "maximum of %zu at %zu: %d, not %d", n, l, mosts[l], most);
    ck_assert_msg(mixed[l] == mixed_by_halves(n), "halves of %zu at %zu", n, l);
    ck_assert_msg(mixed[n + l] == mixed_by_pairs(n), "pairs of %zu at %zu", n, l);
  }
  expect_scans(x, n, sums + n, sums + 2 * n);
  for (int i = 0; i < 5; i++) red_cl.ReleaseMemObject(memories[i]);
}

START_TEST(workgroup) {
  /* Some drivers compile anew, for seconds, for each size: those next to powers of two are the ones that go wrong. */
  static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 12, 17, 31, 64, 100, 255, 256};
  cl_program program;
  cl_kernel kernel = build(common, "-cl-std=CL1.2", "group", &program);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i] <= most_lanes) check_group(kernel, sizes[i]);
  red_cl.ReleaseKernel(kernel);
  red_cl.ReleaseProgram(program);
}
END_TEST

static int has_shuffles(void) {
  char extensions[16384] = "";
  red_cl.GetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL);
  return strstr(extensions, "cl_intel_subgroups") != NULL ||
         (strstr(extensions, "cl_khr_subgroups") != NULL && strstr(extensions, "cl_khr_subgroup_shuffle ") != NULL);
}

/*
 * The least work-group whose kernel with shuffles the driver can load. PoCL 5 and 6 build it and abort at its first
 * start,
 * __pocl_work_group_alloca being undefined: PoCL 5 at any size; PoCL 6 where it replicates the kernel for each
 * work-item instead of looping, which are groups of one and two (its POCL_FULL_REPLICATION_THRESHOLD).
 */
static size_t least_group_with_shuffles(const char *version) {
  char driver[64] = "";
  red_cl.GetDeviceInfo(device, CL_DRIVER_VERSION, sizeof driver - 1, driver, NULL);
  if (strstr(version, "PoCL") == NULL) return 1;
  if (strncmp(driver, "5.", 2) == 0) return SIZE_MAX;
  return strncmp(driver, "6.", 2) == 0 ? 3 : 1;
}

/* What the sub-group of work-item `at` holds, lane by lane. */
static size_t gather(const cl_uint *place, size_t n, size_t at, const float *from, float *to) {
  for (size_t g = 0; g < n; g++)
    if (place[2 * n + g] == place[2 * n + at]) to[place[g]] = from[g];
  return place[n + at];
}

static void check_lanes(cl_kernel kernel, size_t n) {
  float sums[3 * MOST], values[MOST], inclusive[MOST], exclusive[MOST];
  cl_uint mixed[2 * MOST], place[3 * MOST];
  cl_mem memories[4] = {memory_of(x, n * 4), memory_of(NULL, 12 * n), memory_of(NULL, 8 * n), memory_of(NULL, 12 * n)};
  run(kernel, memories, 4, 0, n, n);
  fetch(memories[1], sums, 12 * n);
  fetch(memories[2], mixed, 8 * n);
  fetch(memories[3], place, 12 * n);
  for (size_t g = 0; g < n; g++) {
    if (place[g] != 0) continue;
    size_t size = gather(place, n, g, x, values);
    ck_assert_msg(sums[g] == reduced(values, size), "sub-group of %zu in %zu: sum", size, n);
    ck_assert_msg(mixed[g] == mixed_by_halves(size), "sub-group of %zu in %zu: halves", size, n);
    ck_assert_msg(mixed[n + g] == mixed_by_pairs(size), "sub-group of %zu in %zu: pairs", size, n);
    gather(place, n, g, sums + n, inclusive);
    gather(place, n, g, sums + 2 * n, exclusive);
    expect_scans(values, size, inclusive, exclusive);
  }
  for (int i = 0; i < 4; i++) red_cl.ReleaseMemObject(memories[i]);
}

START_TEST(subgroup) {
  if (!has_shuffles()) {
    printf("no sub-group shuffles on this device\n");
    return;
  }
  char version[256] = "";
  red_cl.GetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
  size_t least = least_group_with_shuffles(version);
  if (least > most_lanes) {
    printf("PoCL 5 cannot load kernels with sub-group shuffles\n");
    return;
  }
  cl_program program;
  cl_kernel kernel =
      build(shuffling, strncmp(version, "OpenCL 3", 8) == 0 ? "-cl-std=CL3.0" : "-cl-std=CL2.0", "lanes", &program);
  static const size_t sizes[] = {1, 2, 3, 5, 16, 31, 32, 48, 64, 96, 256};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i] >= least && sizes[i] <= most_lanes) check_lanes(kernel, sizes[i]);
  red_cl.ReleaseKernel(kernel);
  red_cl.ReleaseProgram(program);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, begin, end);
  tcase_add_test(tests, workgroup);
  tcase_add_test(tests, subgroup);
}

int main(void) {
  return suite_run("opencl primitives", fill);
}
