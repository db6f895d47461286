/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans of arrays that begin where the device's vectors do, of lengths around the seams of tiles and of groups of
 * tiles, one after the other in a queue, so that each finds what the ones before have left; in place too. Reductions
 * of several tiles a work-group.
 */
#include <stdlib.h>
#include <string.h>

#include "native.h"

static const uint64_t lengths[] = {1,
                                   3,
                                   1000,
                                   2047,
                                   2048,
                                   2049,
                                   4096,
                                   10001,
                                   (1 << 16) + 1,
                                   (1 << 18) - 1,
                                   1 << 18,
                                   (1 << 18) + 1,
                                   (1 << 18) + 2049,
                                   5,
                                   (1 << 19) - 4,
                                   1 << 20};
enum {
  LENGTHS = sizeof lengths / sizeof *lengths,
  FEW = 70000 /* elements, so that all cases take part */
};

static const struct {
  red_op op;
  red_dtype in, out;
} cases[] = {
    {RED_SUM, RED_F32, RED_DTYPE_DEFAULT},  {RED_SUM, RED_F64, RED_DTYPE_DEFAULT},
    {RED_SUM, RED_I32, RED_DTYPE_DEFAULT},  {RED_SUM, RED_I32, RED_I32},
    {RED_PROD, RED_F32, RED_DTYPE_DEFAULT}, {RED_MAX, RED_F32, RED_DTYPE_DEFAULT},
    {RED_MIN, RED_I64, RED_DTYPE_DEFAULT},  {RED_BXOR, RED_U64, RED_DTYPE_DEFAULT},
    {RED_ALL, RED_F32, RED_DTYPE_DEFAULT},  {RED_SUM, RED_I16, RED_DTYPE_DEFAULT},
};
enum {
  CASES = sizeof cases / sizeof *cases
};

static void scan_on_device(const red_problem *problem, const void *in, const void *expected, bool in_place,
                           red_queue *queue, void *out) {
  const size_t in_bytes = problem->n * red_dtype_bytes(problem->in);
  red_problem on_device = *problem;
  ck_red(red_problem_resolve(&on_device));
  const size_t out_bytes = problem->n * red_dtype_bytes(on_device.out);
  if (in_place && in_bytes != out_bytes) return;
  on_device.in_memory = on_device.out_memory = RED_DEVICE;
  cl_mem from = filled(in, in_bytes, 0), to = in_place ? from : filled(NULL, out_bytes, 0);
  red_plan *plan;
  ck_red(red_plan_create(context, &on_device, &plan));
  ck_red(red_plan_execute(plan, queue, from, to));
  ck_red(red_download(context, queue, out, to, 0, out_bytes));
  compare_outputs(problem, in_place ? "in place" : "on the device", expected, out);
  red_plan_destroy(plan);
  red_free(context, from);
  if (!in_place) red_free(context, to);
}

static void compare_case(unsigned c, red_kind kind, uint64_t n, red_queue *queue, random_state *random) {
  red_problem problem = RED_PROBLEM_INIT(kind, cases[c].op, cases[c].in, n);
  problem.out = cases[c].out;
  unsigned char *in = malloc(8 * n), *expected = malloc(8 * n), *out = malloc(8 * n);
  random_elements(random, problem.in, in, n);
  ck_red(red_reference(&problem, in, expected));
  scan_on_device(&problem, in, expected, false, queue, out);
  scan_on_device(&problem, in, expected, true, queue, out);
  free(in);
  free(expected);
  free(out);
}

START_TEST(seams) {
  random_state random = random_start(1);
  red_queue *queue;
  ck_red(red_queue_create(context, &queue));
  for (unsigned i = 0; i < LENGTHS; i++)
    for (unsigned c = 0; c < (lengths[i] <= FEW ? CASES : 3); c++)
      compare_case(c, (c + i) % 2 ? RED_INCLUSIVE_SCAN : RED_EXCLUSIVE_SCAN, lengths[i], queue, &random);
  red_queue_destroy(queue);
}
END_TEST

/* More tiles than a group of groups holds. */
START_TEST(many_tiles) {
  random_state random = random_start(2);
  red_queue *queue;
  ck_red(red_queue_create(context, &queue));
  compare_case(0, RED_INCLUSIVE_SCAN, ((uint64_t)1 << 23) + 2049, queue, &random);
  compare_case(1, RED_INCLUSIVE_SCAN, (uint64_t)1 << 22, queue, &random);
  compare_case(1, RED_EXCLUSIVE_SCAN, ((uint64_t)1 << 22) + 1, queue, &random);
  red_queue_destroy(queue);
}
END_TEST

/* Reductions so long that each work-group has several tiles of 16 KB, which begin and end anywhere. */
START_TEST(long_runs) {
  static const struct {
    red_op op;
    red_dtype in;
  } narrow[] = {{RED_SUM, RED_I8},         {RED_SUM, RED_U8},    {RED_DOT, RED_I8},    {RED_ASUM, RED_I8},
                {RED_MIN, RED_U8},         {RED_ARGMAX, RED_I8}, {RED_BAND, RED_U8},   {RED_COUNT_NONZERO, RED_I8},
                {RED_SUM, RED_I16},        {RED_MAX, RED_F16},   {RED_SUM, RED_F16},   {RED_DOT, RED_BF16},
                {RED_ARGMINNUM, RED_BF16}, {RED_NRM2, RED_F16},  {RED_PROD, RED_I32},  {RED_MINNUM, RED_F32},
                {RED_ARGMIN, RED_F32},     {RED_MEAN, RED_F32},  {RED_ARGMAX, RED_F64}};
  const uint64_t chunk = 4096, runs_of_a_unit = 16;
  random_state random = random_start(3);
  red_device_info info = {.size = sizeof info};
  ck_red(red_context_device(context, RED_DEVICE, &info));
  for (unsigned c = 0; c < sizeof narrow / sizeof *narrow; c++) {
    uint64_t chunks = 9 * info.units * runs_of_a_unit / red_dtype_bytes(narrow[c].in);
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, narrow[c].op, narrow[c].in, chunks * chunk + 4321 + c);
    compare_on_device(&problem, NULL, &random);
  }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, open_native, close_native);
  tcase_add_test(tests, seams);
  tcase_add_test(tests, many_tiles);
  tcase_add_test(tests, long_runs);
}

int main(void) {
  return suite_run("opencl seams", fill);
}
