/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Beyond 2^32 elements, and scans whose tiles fill every level of their tree: arrays that are filled on the device,
 * such that the results are known. Where memory is short they are skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "driver.h"

#define FAR ((uint64_t)1 << 32)

enum {
  BEYOND = 5000,
  MARKS = 6,
  LOOK = 9000 /* outputs that are looked at in one place */
};

/* Elements that differ from the rest, which are 1. The least and the greatest value both come twice. */
static const struct {
  uint64_t at;
  int8_t value;
} marks[MARKS] = {
    {123456789, 0}, {FAR - 1, 100}, {FAR, 0}, {FAR + 17, -5}, {FAR + 4000, -5}, {FAR + BEYOND - 1, 100},
};

static const char *short_of_memory;

/* Device memory, or NULL where there is too little: then the test passes, and says so. */
static void *room_for(uint64_t bytes) {
  void *memory = NULL;
  red_status status = red_alloc(context, bytes, &memory);
  if (status == RED_OK) return memory;
  ck_assert_int_eq(status, RED_ERR_NO_MEMORY);
  short_of_memory = "too little device memory";
  printf("skipped: %s\n", red_last_error());
  return NULL;
}

static CUdeviceptr at(const void *memory, uint64_t bytes) {
  return (CUdeviceptr)(uintptr_t)memory + bytes;
}

static void reduce(red_op op, red_dtype out, const void *in, uint64_t n, void *result) {
  red_problem problem = RED_PROBLEM_INIT(op == 0 ? RED_STATS : RED_REDUCE, op, RED_I8, n);
  red_plan *plan;
  problem.out = out;
  problem.in_memory = RED_DEVICE;
  ck_red(red_plan_create(context, &problem, &plan));
  ck_red(red_plan_execute(plan, NULL, in, result));
  red_plan_destroy(plan);
}

static int64_t number(red_op op, red_dtype out, const void *in, uint64_t n) {
  red_scalar result = {.i64 = 0};
  reduce(op, out, in, n, &result);
  return result.i64;
}

/* The value of element i, and the sum of those up to it. */
static int8_t element(uint64_t i) {
  for (int m = 0; m < MARKS; m++)
    if (marks[m].at == i) return marks[m].value;
  return 1;
}

static int64_t sum_to(uint64_t i) {
  int64_t sum = (int64_t)(i + 1);
  for (int m = 0; m < MARKS; m++)
    if (marks[m].at <= i) sum += marks[m].value - 1;
  return sum;
}

static void check_reductions(const void *in, uint64_t n) {
  const int64_t sum = sum_to(n - 1);
  ck_assert_int_eq(number(RED_SUM, 0, in, n), sum);
  ck_assert_int_eq(number(RED_SUM, RED_I8, in, n), (int64_t)(uint8_t)sum);
  ck_assert_int_eq(number(RED_MIN, 0, in, n), (uint8_t)-5);
  ck_assert_int_eq(number(RED_MAX, 0, in, n), 100);
  ck_assert_int_eq(number(RED_ARGMIN, 0, in, n), (int64_t)FAR + 17);
  ck_assert_int_eq(number(RED_ARGMAX, 0, in, n), (int64_t)FAR - 1);
  ck_assert_int_eq(number(RED_COUNT_NONZERO, 0, in, n), (int64_t)n - 2);
  ck_assert_int_eq(number(RED_ALL, 0, in, n), 0);
}

static void check_stats(const void *in, uint64_t n) {
  red_stats_result stats = {.size = sizeof stats};
  reduce(0, 0, in, n, &stats);
  const int64_t sum = sum_to(n - 1);
  ck_assert_uint_eq(stats.count, n);
  ck_assert_int_eq(stats.sum.i64, sum);
  ck_assert(stats.mean == (double)sum / (double)n);
  ck_assert_int_eq(stats.min.i8, -5);
  ck_assert_int_eq(stats.max.i8, 100);
  ck_assert_uint_eq(stats.argmin, FAR + 17);
  ck_assert_uint_eq(stats.argmax, FAR - 1);
}

/* Outputs from `first` on, in a byte each. */
static void check_outputs(const void *out, uint64_t first, uint64_t count, int inclusive) {
  int8_t *outputs = malloc(count);
  ck_red(red_download(context, NULL, outputs, out, first, count));
  for (uint64_t k = 0; k < count; k++) {
    uint64_t i = first + k;
    int8_t want = (int8_t)(uint8_t)(sum_to(i) - (inclusive ? 0 : element(i)));
    ck_assert_msg(outputs[k] == want, "output %llu: %d instead of %d", (unsigned long long)i, outputs[k], want);
  }
  free(outputs);
}

static void scan_bytes(const void *in, void *out, uint64_t n, int inclusive) {
  red_problem problem = RED_PROBLEM_INIT(inclusive ? RED_INCLUSIVE_SCAN : RED_EXCLUSIVE_SCAN, RED_SUM, RED_I8, n);
  red_plan *plan;
  problem.out = RED_I8;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  ck_cuda(cuda.MemsetD8(at(out, 0), 0x55, n));
  ck_red(red_plan_create(context, &problem, &plan));
  ck_red(red_plan_execute(plan, NULL, in, out));
  red_plan_destroy(plan);
  const uint64_t places[] = {0, 123400000, FAR / 2 - LOOK / 2, FAR - LOOK / 2, n - LOOK};
  for (size_t p = 0; p < sizeof places / sizeof *places; p++) check_outputs(out, places[p], LOOK, inclusive);
}

/* One element off a boundary: the kernels for any alignment, whose tiles are smaller and fill more levels. */
START_TEST(bytes) {
  const uint64_t n = FAR + BEYOND;
  unsigned char *in = room_for(n + 1), *out = in != NULL ? room_for(n + 1) : NULL;
  for (int shift = 0; shift < 2 && out != NULL; shift++) {
    ck_cuda(cuda.MemsetD8(at(in, 0), 1, n + 1));
    for (int m = 0; m < MARKS; m++) ck_cuda(cuda.MemcpyHtoD(at(in, (uint64_t)shift + marks[m].at), &marks[m].value, 1));
    check_reductions(in + shift, n);
    check_stats(in + shift, n);
    scan_bytes(in + shift, out + shift, n, 1);
    scan_bytes(in + shift, out + shift, n, 0);
  }
  red_free(context, in);
  red_free(context, out);
}
END_TEST

/* ---- Floats: a one in 128 elements, so that no sum is rounded ---- */

static void check_floats(const float *out, uint64_t first, uint64_t count) {
  float *outputs = malloc(count * sizeof *outputs);
  ck_red(red_download(context, NULL, outputs, out, first * sizeof(float), count * sizeof(float)));
  for (uint64_t k = 0; k < count; k++) {
    float want = (float)((first + k) / 128 + 1);
    ck_assert_msg(outputs[k] == want, "output %llu: %.9g instead of %.9g", (unsigned long long)(first + k), outputs[k],
                  want);
  }
  free(outputs);
}

/* Each place where a tile, a group of 128 of them, one of 32 groups, ... begins is looked at. */
static void scan_floats(uint64_t n, uint64_t shift) {
  float *in = room_for((n + shift) * sizeof(float)), *out = in != NULL ? room_for((n + shift) * sizeof(float)) : NULL;
  if (out != NULL) {
    red_problem problem = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, n), sum = problem;
    red_plan *plan;
    float total;
    sum.kind = RED_REDUCE;
    problem.in_memory = problem.out_memory = sum.in_memory = RED_DEVICE;
    ck_cuda(cuda.MemsetD8(at(in, 0), 0, (n + shift) * sizeof(float)));
    ck_cuda(cuda.MemsetD8(at(out, 0), 0x55, (n + shift) * sizeof(float)));
    ck_cuda(cuda.MemsetD2D32(at(in, shift * sizeof(float)), 512, 0x3f800000, 1, n / 128));
    ck_cuda(cuda.MemsetD2D32(at(in, (shift + n / 128 * 128) * sizeof(float)), 4, 0x3f800000, 1, 1));
    ck_red(red_plan_create(context, &problem, &plan));
    ck_red(red_plan_execute(plan, NULL, in + shift, out + shift));
    red_plan_destroy(plan);
    for (uint64_t unit = 4096; unit < n; unit *= 2)
      for (uint64_t times = 1; times < 4 && times * unit + 300 < n; times += 2)
        check_floats(out + shift, times * unit - 300, 600);
    check_floats(out + shift, n - LOOK, LOOK);
    ck_red(red_plan_create(context, &sum, &plan));
    ck_red(red_plan_execute(plan, NULL, in + shift, &total));
    red_plan_destroy(plan);
    ck_assert(total == (float)(n / 128 + 1));
  }
  red_free(context, in);
  red_free(context, out);
}

START_TEST(floats) {
  scan_floats(((uint64_t)1 << 30) + 5001, 0);
  scan_floats(((uint64_t)1 << 30) + 5001, 1);
}
END_TEST

static void open_all(void) {
  driver_open();
  open_contexts();
}

static void close_all(void) {
  close_contexts();
  driver_close();
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_all, close_all);
  tcase_add_test(tests, bytes);
  tcase_add_test(tests, floats);
}

int main(void) {
  int status = suite_run("far", fill);
  return status == 0 && short_of_memory != NULL ? 77 : status;
}
