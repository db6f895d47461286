/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory and order as applications have them: parts of buffers at any origin, parts that overlap, commands of the
 * application's before and after ours, local memory that is dirty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum {
  N = 5000
};

/* ---- Parts of buffers ---- */

typedef cl_mem (*create_sub_buffer)(cl_mem, cl_mem_flags, cl_buffer_create_type, const void *, cl_int *);

static cl_mem part_of(cl_mem whole, size_t origin, size_t bytes, cl_int *error) {
  create_sub_buffer create;
  *(void **)&create = function("clCreateSubBuffer");
  ck_assert(create != NULL);
  cl_buffer_region region = {origin, bytes};
  return create(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, error);
}

/* Every element a part may begin at: right, or refused by the driver and then by a sentence, never other elements. */
START_TEST(unaligned_parts) {
  enum {
    ORIGINS = 300
  };
  int32_t *x = malloc((N + ORIGINS) * sizeof *x);
  unsigned made = 0;
  for (int i = 0; i < N + ORIGINS; i++) x[i] = i * i % 1009 - 500;
  cl_mem whole = filled(x, (N + ORIGINS) * sizeof *x, 0), out = filled(NULL, sizeof(int64_t), 0);
  red_plan *plan = device_plan(RED_REDUCE, RED_SUM, RED_I32, RED_I64, N);
  for (size_t first = 0; first < ORIGINS; first += first < 70 ? 1 : 29) {
    cl_int error;
    cl_mem part = part_of(whole, first * sizeof *x, N * sizeof *x, &error);
    if (error == CL_MISALIGNED_SUB_BUFFER_OFFSET) continue;
    ck_assert_int_eq(error, CL_SUCCESS);
    int64_t sum = 0, result = -1;
    for (size_t i = 0; i < N; i++) sum += x[first + i];
    red_status status = red_plan_execute(plan, NULL, part, out);
    if (status == RED_OK) {
      ck_red(red_download(context, NULL, &result, out, 0, sizeof result));
      ck_assert_msg(result == sum, "from element %zu: %lld, expected %lld", first, (long long)result, (long long)sum);
      made++;
    } else {
      ck_red_fails(status, RED_ERR_DRIVER, "CL_MISALIGNED_SUB_BUFFER_OFFSET");
    }
    ck_assert_int_eq(red_cl.ReleaseMemObject(part), CL_SUCCESS);
  }
  ck_assert_uint_gt(made, 0); /* origin 0 is aligned */
  red_plan_destroy(plan);
  red_free(context, whole);
  red_free(context, out);
  free(x);
}
END_TEST

static size_t base_alignment(void) {
  cl_uint bits = 0;
  ck_assert_int_eq(red_cl.GetDeviceInfo(native_device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL),
                   CL_SUCCESS);
  return bits / 8 < 64 ? 64 : bits / 8;
}

/* An offset counts from the part's own origin, and the part ends where it ends. */
START_TEST(parts_with_offsets) {
  size_t origin = base_alignment();
  int32_t x[1024], scanned[8];
  cl_int error;
  for (int i = 0; i < 1024; i++) x[i] = i;
  cl_mem whole = filled(x, sizeof x, 0), part = part_of(whole, origin, 64, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  red_plan *plan = device_plan(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, 8);
  cl_mem out = filled(NULL, sizeof scanned, 12);
  red_args args = {.size = sizeof args, .in = part, .in_offset = 32, .out = out, .out_offset = 12};
  ck_red(red_plan_execute_args(plan, NULL, &args));
  ck_red(red_download(context, NULL, scanned, out, 12, sizeof scanned));
  int32_t sum = 0;
  for (int i = 0; i < 8; i++) {
    sum += x[origin / 4 + 8 + (size_t)i];
    ck_assert_int_eq(scanned[i], sum);
  }
  args.in_offset = 36;
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "exceed");
  red_plan_destroy(plan);
  red_cl.ReleaseMemObject(part);
  red_free(context, whole);
  red_free(context, out);
}
END_TEST

/* Two handles, one memory. */
START_TEST(overlapping_parts) {
  size_t step = base_alignment(), count = 2 * step / 4;
  cl_int error, error2;
  cl_mem whole = filled(NULL, 8 * step, 0);
  cl_mem low = part_of(whole, 0, 4 * step, &error), high = part_of(whole, step, 4 * step, &error2);
  ck_assert_int_eq(error, CL_SUCCESS);
  ck_assert_int_eq(error2, CL_SUCCESS);
  red_plan *scan = device_plan(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, count);
  red_args args = {.size = sizeof args, .in = low, .out = high};
  ck_red_fails(red_plan_execute_args(scan, NULL, &args), RED_ERR_OVERLAP, "overlap");
  args.out = whole;
  args.out_offset = 4;
  ck_red_fails(red_plan_execute_args(scan, NULL, &args), RED_ERR_OVERLAP, "overlap");
  args.out_offset = 2 * step; /* behind the input */
  ck_red(red_plan_execute_args(scan, NULL, &args));
  args.in_offset = step; /* where `high` begins: in place */
  args.out = high;
  args.out_offset = 0;
  ck_red(red_plan_execute_args(scan, NULL, &args));
  red_plan_destroy(scan);
  red_cl.ReleaseMemObject(low);
  red_cl.ReleaseMemObject(high);
  red_free(context, whole);
}
END_TEST

/* A workspace may lie beside the arrays in one buffer, by whichever handles, but share no byte with one. */
START_TEST(workspace_among_parts) {
  cl_int error, error2;
  size_t step = base_alignment() < 256 ? 256 : base_alignment(), room;
  red_plan *scan = device_plan(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, N);
  uint64_t bytes = red_plan_workspace(scan);
  ck_assert_uint_gt(bytes, 0);
  room = (N * sizeof(int32_t) + bytes) / step * step + step;
  int32_t x[N], sum = 0, last = 0;
  for (int i = 0; i < N; i++) sum += x[i] = i % 7 - 2;
  cl_mem whole = filled(NULL, 2 * room + bytes, 0);
  cl_mem in = part_of(whole, 0, room, &error), out = part_of(whole, room, room, &error2);
  ck_assert(error == CL_SUCCESS && error2 == CL_SUCCESS);
  cl_mem room_of_its_own = part_of(whole, 2 * room, bytes, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  ck_red(red_upload(context, NULL, in, 0, x, sizeof x));
  red_args args = {.size = sizeof args, .in = in, .out = out, .workspace = whole, .workspace_bytes = bytes};
  ck_red_fails(red_plan_execute_args(scan, NULL, &args), RED_ERR_WORKSPACE, "workspace overlaps in");
  args.workspace_offset = (N * sizeof(int32_t) - 1) / 256 * 256; /* the last element */
  ck_red_fails(red_plan_execute_args(scan, NULL, &args), RED_ERR_WORKSPACE, "workspace overlaps in");
  args.workspace_offset = room;
  ck_red_fails(red_plan_execute_args(scan, NULL, &args), RED_ERR_WORKSPACE, "workspace overlaps out");
  args.workspace = room_of_its_own; /* beside both */
  args.workspace_offset = 0;
  ck_red(red_plan_execute_args(scan, NULL, &args));
  ck_red(red_download(context, NULL, &last, out, (N - 1) * sizeof last, sizeof last));
  ck_assert_int_eq(last, sum);
  args.in = whole; /* the part is the workspace, the whole an array */
  args.workspace = in;
  args.workspace_offset = 0;
  ck_red_fails(red_plan_execute_args(scan, NULL, &args), RED_ERR_WORKSPACE, "workspace overlaps in");
  red_plan_destroy(scan);
  red_cl.ReleaseMemObject(in);
  red_cl.ReleaseMemObject(out);
  red_cl.ReleaseMemObject(room_of_its_own);
  red_free(context, whole);
}
END_TEST

/* ---- The application's commands in an out-of-order queue ---- */

START_TEST(commands_before_and_after) {
  cl_int error;
  cl_command_queue queue =
      red_cl.CreateCommandQueue(native, native_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
  if (error == CL_INVALID_QUEUE_PROPERTIES) {
    printf("no out-of-order queues\n");
    return;
  }
  ck_assert_int_eq(error, CL_SUCCESS);
  enum {
    LONG = 1 << 20,
    ROUNDS = 20
  };
  red_queue *wrapper;
  ck_red(red_queue_wrap(context, queue, &wrapper));
  cl_mem in = filled(NULL, LONG * sizeof(int32_t), 0), sums = filled(NULL, ROUNDS * sizeof(int64_t), 0);
  red_plan *plan = device_plan(RED_REDUCE, RED_SUM, RED_I32, RED_I64, LONG);
  int64_t results[ROUNDS];
  for (int32_t i = 0; i < ROUNDS; i++) { /* nothing awaited: each sum is over before the next filling */
    ck_assert_int_eq(red_cl.EnqueueFillBuffer(queue, in, &i, sizeof i, 0, LONG * sizeof(int32_t), 0, NULL, NULL),
                     CL_SUCCESS);
    red_args args = {.size = sizeof args, .in = in, .out = sums, .out_offset = (uint64_t)i * sizeof(int64_t)};
    ck_red(red_plan_execute_args(plan, wrapper, &args));
  }
  ck_assert_int_eq(red_cl.EnqueueReadBuffer(queue, sums, CL_TRUE, 0, sizeof results, results, 0, NULL, NULL),
                   CL_SUCCESS);
  for (int i = 0; i < ROUNDS; i++) ck_assert_int_eq(results[i], (int64_t)i * LONG);
  red_plan_destroy(plan);
  red_queue_destroy(wrapper);
  ck_assert_int_eq(red_cl.ReleaseCommandQueue(queue), CL_SUCCESS);
  red_free(context, in);
  red_free(context, sums);
}
END_TEST

/* ---- Local memory full of NaNs and ones ---- */

static const char soiling[] = "kernel void soil(local ulong *all, uint count, global ulong *out) {\n"
                              "  for (uint i = get_local_id(0); i < count; i += get_local_size(0)) all[i] = ~0ul;\n"
                              "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                              "  if (get_local_id(0) == 0) out[get_group_id(0)] = all[count - 1];\n"
                              "}\n";

static void soil(cl_command_queue queue, cl_kernel kernel, cl_mem out, size_t bytes) {
  enum {
    GROUPS = 64
  };
  cl_uint count = (cl_uint)(bytes / 8);
  size_t local = 1, global = GROUPS;
  ck_assert_int_eq(red_cl.SetKernelArg(kernel, 0, bytes, NULL), CL_SUCCESS);
  ck_assert_int_eq(red_cl.SetKernelArg(kernel, 1, sizeof count, &count), CL_SUCCESS);
  ck_assert_int_eq(red_cl.SetKernelArg(kernel, 2, sizeof out, &out), CL_SUCCESS);
  ck_assert_int_eq(red_cl.EnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
  ck_assert_int_eq(red_cl.Finish(queue), CL_SUCCESS);
}

START_TEST(dirty_local_memory) {
  cl_int error;
  cl_ulong bytes = 0;
  const char *text = soiling;
  red_context *usual = context;
  random_state random = random_start(1);
  ck_red(context_under("RED_OPENCL_SHAPE=local", &context));
  cl_command_queue queue = red_cl.CreateCommandQueue(native, native_device, 0, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  cl_program program = red_cl.CreateProgramWithSource(native, 1, &text, NULL, &error);
  ck_assert_int_eq(red_cl.BuildProgram(program, 1, &native_device, "", NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = red_cl.CreateKernel(program, "soil", &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  ck_assert_int_eq(red_cl.GetDeviceInfo(native_device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL),
                   CL_SUCCESS);
  if (bytes > 65536) bytes = 65536;
  bytes = bytes / 8 * 8 - 64;
  cl_mem out = filled(NULL, 64 * 8, 0);
  const red_problem problems[] = {
      RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N),
      RED_PROBLEM_INIT(RED_REDUCE, RED_MIN, RED_I32, N),
      RED_PROBLEM_INIT(RED_REDUCE, RED_MAX, RED_F32, 37),
      RED_PROBLEM_INIT(RED_REDUCE, RED_ARGMAX, RED_F32, N),
      RED_PROBLEM_INIT(RED_REDUCE, RED_BAND, RED_U32, 3),
      RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N),
      RED_PROBLEM_INIT(RED_EXCLUSIVE_SCAN, RED_MIN, RED_I32, N),
      RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_F32, N),
      RED_PROBLEM_INIT(RED_REDUCE, RED_NRM2, RED_F64, N),
  };
  for (unsigned p = 0; p < sizeof problems / sizeof *problems; p++)
    for (unsigned i = 0; i < 4; i++) {
      red_problem problem = problems[p];
      problem.n = i < 2 ? problem.n : 1 + random_below(&random, N);
      soil(queue, kernel, out, (size_t)bytes);
      compare_on_device(&problem, NULL, &random);
    }
  red_cl.ReleaseKernel(kernel);
  red_cl.ReleaseProgram(program);
  red_cl.ReleaseCommandQueue(queue);
  red_free(context, out);
  red_context_destroy(context);
  context = usual;
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, open_native, close_native);
  tcase_add_test(tests, unaligned_parts);
  tcase_add_test(tests, parts_with_offsets);
  tcase_add_test(tests, overlapping_parts);
  tcase_add_test(tests, workspace_among_parts);
  tcase_add_test(tests, commands_before_and_after);
  tcase_add_test(tests, dirty_local_memory);
}

int main(void) {
  return suite_run("opencl buffers", fill);
}
