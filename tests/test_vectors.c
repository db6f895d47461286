/* SPDX-License-Identifier: BSD-2-Clause */
/* The known answers of vectors/: by the reference, by the backend on host memory, and on device memory. */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "vectors/vector.h"

enum {
  LEAST_FILES = 10,
  LEAST_VECTORS = 5000
}; /* so that an empty folder is no success */

typedef red_status (*runner)(red_context *context, const red_problem *problem, const void *in, const void *in2,
                             void *out);

static red_status by_reference(red_context *context, const red_problem *problem, const void *in, const void *in2,
                               void *out) {
  (void)context;
  return red_reference2(problem, in, in2, out);
}

/*
 * Drivers compile for every sort of problem, which takes some a minute: with RED_TEST_SCALE below 1 a device gets those
 * of every third dtype, others with another seed.
 */
static bool is_left_out(const red_problem *problem) {
  if (suite_threads() > 1 || suite_repeat(100) >= 100) return false;
  return ((unsigned)problem->in + suite_seed()) % 3 != 0;
}

static void run_vector(red_context *context, const char *line, runner run, unsigned *count) {
  red_vector vector;
  red_vector_why why;
  int parsed = red_vector_parse(line, &vector, &why);
  if (parsed == 0) return;
  ck_assert_msg(parsed == 1, "%s", why.text);
  ++*count;
  if (run != by_reference && is_left_out(&vector.problem)) return;
  void *in = red_vector_input(&vector, &why);
  ck_assert_msg(in != NULL, "%s", why.text);
  void *out = red_vector_output(&vector);
  red_status status = run(context, &vector.problem, in, red_vector_second(&vector, in), out);
  if (!may_refuse(&vector.problem, status))
    ck_assert_msg(red_vector_matches(&vector, status, out, &why), "%s%s", why.text, suite_seed_text());
  free(in);
  free(out);
}

static void run_file(red_context *context, const char *path, runner run, unsigned *count) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t capacity = 0;
  ck_assert_msg(file != NULL, "%s cannot be read", path);
  while (getline(&line, &capacity, file) > 0) run_vector(context, line, run, count);
  free(line);
  fclose(file);
}

static void run_all(runner run) {
  glob_t files;
  unsigned count = 0;
  red_context *context = suite_context(0);
  ck_assert_int_eq(glob(VECTOR_FOLDER "/*.txt", 0, NULL, &files), 0);
  ck_assert_uint_ge(files.gl_pathc, LEAST_FILES);
  for (size_t i = 0; i < files.gl_pathc; i++) run_file(context, files.gl_pathv[i], run, &count);
  ck_assert_uint_ge(count, LEAST_VECTORS);
  globfree(&files);
  red_context_destroy(context);
}

START_TEST(reference) {
  run_all(by_reference);
}
END_TEST

START_TEST(host_memory) {
  run_all(red_run2);
}
END_TEST

/* A result that stays on the device cannot be an error: an arg operator that found nothing leaves UINT64_MAX there. */
static int found_nothing(const red_problem *problem, const void *out) {
  uint64_t index;
  if (problem->kind != RED_REDUCE || problem->op < RED_ARGMIN || problem->op > RED_ARGMAXNUM) return 0;
  if (output_bytes(problem) < sizeof index) return 0;
  memcpy(&index, out, sizeof index);
  return index == UINT64_MAX;
}

static red_status in_device_memory(red_context *context, const red_problem *problem, const void *in, const void *in2,
                                   void *out) {
  red_problem on_device = *problem;
  red_plan *plan;
  red_queue *queue;
  void *device_in, *device_in2 = NULL, *device_out;
  size_t in_bytes = problem->n * red_dtype_bytes(problem->in), out_bytes = output_bytes(problem);
  on_device.in_memory = on_device.out_memory = RED_DEVICE;
  red_status status = red_plan_create(context, &on_device, &plan);
  if (status != RED_OK) return status;
  ck_red(red_queue_create(context, &queue));
  ck_red(red_alloc(context, in_bytes + 1, &device_in));
  ck_red(red_alloc(context, out_bytes + 1, &device_out));
  ck_red(red_upload(context, queue, device_in, 0, in, in_bytes));
  if (in2 != NULL) {
    ck_red(red_alloc(context, in_bytes + 1, &device_in2));
    ck_red(red_upload(context, queue, device_in2, 0, in2, in_bytes));
  }
  red_args args = {.size = sizeof args, .in = device_in, .out = device_out, .in2 = device_in2};
  status = red_plan_execute_args(plan, queue, &args);
  if (status == RED_OK) ck_red(red_download(context, queue, out, device_out, 0, out_bytes));
  if (status == RED_OK && found_nothing(problem, out)) status = RED_ERR_EMPTY;
  red_free(context, device_in);
  red_free(context, device_in2);
  red_free(context, device_out);
  red_queue_destroy(queue);
  red_plan_destroy(plan);
  return status;
}

START_TEST(device_memory) {
  run_all(in_device_memory);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_test(tests, reference);
  tcase_add_test(tests, host_memory);
  tcase_add_test(tests, device_memory);
}

int main(void) {
  return suite_run("vectors", fill);
}
