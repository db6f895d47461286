/* SPDX-License-Identifier: BSD-2-Clause */
/* What is no buffer of the context, in the place of one: buffers of another context, images, addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum {
  N = 5000
};

/* As input, as output, as workspace, of a copy, and to be freed: a sentence with the word, and it is left alone. */
static void expect_no_buffer(void *memory, const char *word) {
  int32_t x[N] = {0};
  cl_mem in = filled(x, sizeof x, 0), out = filled(NULL, sizeof x, 0);
  red_plan *plan = device_plan(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, N);
  red_args args = {.size = sizeof args, .in = memory, .out = out};
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, word);
  args.in = in;
  args.out = memory;
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, word);
  args.out = out;
  args.workspace = memory;
  args.workspace_bytes = 1 << 20;
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, word);
  ck_red_fails(red_upload(context, NULL, memory, 0, x, 4), RED_ERR_INVALID, word);
  ck_red_fails(red_download(context, NULL, x, memory, 0, 4), RED_ERR_INVALID, word);
  red_free(context, memory);
  ck_assert_msg(strstr(red_last_error(), word) != NULL, "'%s' does not name %s", red_last_error(), word);
  red_plan_destroy(plan);
  red_free(context, in);
  red_free(context, out);
}

START_TEST(buffer_of_another_context) {
  cl_int error;
  cl_context other = red_cl.CreateContext(NULL, 1, &native_device, NULL, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  cl_mem memory = red_cl.CreateBuffer(other, CL_MEM_READ_WRITE, 1 << 20, NULL, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  expect_no_buffer(memory, "another OpenCL context");
  ck_assert_int_eq(red_cl.ReleaseMemObject(memory), CL_SUCCESS);
  red_cl.ReleaseContext(other);
}
END_TEST

typedef cl_mem (*create_image)(cl_context, cl_mem_flags, const cl_image_format *, const cl_image_desc *, void *,
                               cl_int *);

START_TEST(image) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 512, .image_height = 512};
  create_image create;
  cl_int error;
  *(void **)&create = function("clCreateImage");
  cl_mem memory = create(native, CL_MEM_READ_WRITE, &format, &shape, NULL, &error);
  if (error != CL_SUCCESS) {
    printf("no images\n");
    return;
  }
  expect_no_buffer(memory, "CL_MEM_TYPE");
  ck_assert_int_eq(red_cl.ReleaseMemObject(memory), CL_SUCCESS);
}
END_TEST

START_TEST(address) {
  void *memory = calloc(1, 1 << 20);
  expect_no_buffer(memory, "is no cl_mem");
  free(memory);
}
END_TEST

typedef void *(*svm_alloc)(cl_context, cl_bitfield, size_t, cl_uint);
typedef void (*svm_free)(cl_context, void *);
#ifndef CL_DEVICE_SVM_CAPABILITIES
#define CL_DEVICE_SVM_CAPABILITIES 0x1053
#endif

START_TEST(shared_virtual_memory) {
  cl_bitfield abilities = 0;
  svm_alloc allocate;
  svm_free release;
  *(void **)&allocate = function("clSVMAlloc");
  *(void **)&release = function("clSVMFree");
  cl_int error = red_cl.GetDeviceInfo(native_device, CL_DEVICE_SVM_CAPABILITIES, sizeof abilities, &abilities, NULL);
  if (allocate == NULL || error != CL_SUCCESS || abilities == 0) {
    printf("no shared virtual memory\n");
    return;
  }
  cl_mem filler = filled(NULL, N * sizeof(int32_t), 0), out = filled(NULL, sizeof(int64_t), 0);
  int32_t *shared = allocate(native, CL_MEM_READ_WRITE, N * sizeof *shared, 0);
  ck_assert_ptr_nonnull(shared);
  int32_t x[N];
  int64_t sum = 0, result = 0;
  for (int i = 0; i < N; i++) sum += x[i] = i * 3 - 4000;
  red_plan *plan = device_plan(RED_REDUCE, RED_SUM, RED_I32, RED_I64, N);
  red_args args = {.size = sizeof args, .in = shared, .out = out};
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "clSVMAlloc");
  args.in = filler;
  args.out = shared;
  ck_red_fails(red_plan_execute_args(plan, NULL, &args), RED_ERR_INVALID, "out is no cl_mem");
  ck_red_fails(red_upload(context, NULL, shared, 0, x, sizeof x), RED_ERR_INVALID, "the destination is no cl_mem");
  /* What the sentence advises. */
  cl_mem wrapped =
      red_cl.CreateBuffer(native, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, N * sizeof *shared, shared, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  ck_red(red_upload(context, NULL, wrapped, 0, x, sizeof x));
  args.in = wrapped;
  args.out = out;
  ck_red(red_plan_execute_args(plan, NULL, &args));
  ck_red(red_download(context, NULL, &result, out, 0, sizeof result));
  ck_assert_int_eq(result, sum);
  red_plan_destroy(plan);
  red_cl.ReleaseMemObject(wrapped);
  release(native, shared);
  red_free(context, filler);
  red_free(context, out);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, open_native, close_native);
  tcase_add_test(tests, buffer_of_another_context);
  tcase_add_test(tests, image);
  tcase_add_test(tests, address);
  tcase_add_test(tests, shared_virtual_memory);
}

int main(void) {
  return suite_run("opencl handles", fill);
}
