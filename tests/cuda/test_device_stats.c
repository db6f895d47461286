/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics and places of extremes in device memory against the CPU backend: where tiles and groups of tiles begin,
 * ties, zeros of both signs, NaNs everywhere, odd addresses, every selection, arrays of a gigabyte.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"

static void against_cpu(const red_problem *problem, const void *in, const device_run *run) {
  size_t bytes = output_bytes(problem);
  unsigned char *expected = calloc(1, bytes + 8), *actual = calloc(1, bytes + 8);
  prepare_output(problem, expected);
  prepare_output(problem, actual);
  red_status want = red_run(cpu, problem, in, expected);
  red_status got = run != NULL ? run_on_device(run, problem, in, actual) : red_run(context, problem, in, actual);
  char text[128] = "";
  red_problem_print(problem, text, sizeof text);
  ck_assert_msg(got == want, "%s: status %d (%s), the CPU has %d%s", text, got, red_last_error(), want,
                suite_seed_text());
  if (got == RED_OK) compare_outputs(problem, run != NULL ? "on the device" : "in pieces", expected, actual);
  free(expected);
  free(actual);
}

/* ---- Data -------------------------------------------------------------------------------------------------------- */

enum {
  ANYTHING,
  EQUAL,
  ZEROS, /* floats: of both signs; integers: 0 and -1 */
  NANS,  /* floats: nothing else */
  LATE,  /* numbers; NaNs, infinities and the extremes among the last elements */
  KINDS
};

static uint64_t special(red_dtype dtype, int nan, int negative) {
  static const uint64_t inf[] = {0x7c00, 0x7f80, 0x7f800000, 0x7ff0000000000000};
  unsigned bits = 8 * (unsigned)red_dtype_bytes(dtype);
  uint64_t sign = (uint64_t)1 << (bits - 1);
  if (dtype < RED_F16) return negative ? sign : sign - 1;
  return (inf[dtype - RED_F16] | (nan ? inf[dtype - RED_F16] >> 2 | 1 : 0)) ^ (negative ? sign : 0);
}

static void put(red_dtype dtype, unsigned char *in, uint64_t i, uint64_t bits) {
  memcpy(in + i * red_dtype_bytes(dtype), &bits, red_dtype_bytes(dtype));
}

static void fill_kind(random_state *random, red_dtype dtype, unsigned kind, unsigned char *in, uint64_t n) {
  size_t size = red_dtype_bytes(dtype);
  uint64_t period = n < 1000003 ? n : 1000003;
  int is_float = dtype >= RED_F16;
  if (kind == ANYTHING)
    random_elements(random, dtype, in, period);
  else if (kind == LATE)
    random_numbers(random, dtype, in, period);
  else {
    uint64_t same = random_next(random) >> random_below(random, 60);
    for (uint64_t i = 0; i < period; i++) {
      uint64_t turn = random_next(random);
      uint64_t zero = is_float ? (turn & 1) << (8 * size - 1) : turn & 1 ? UINT64_MAX : 0;
      put(dtype, in, i, kind == EQUAL ? same : kind == ZEROS ? zero : special(dtype, 1, (int)(turn & 1)));
    }
  }
  for (uint64_t at = period; at < n; at += period)
    memcpy(in + at * size, in, (n - at < period ? n - at : period) * size);
  if (kind != LATE) return;
  for (unsigned k = 0; k < 4; k++)
    put(dtype, in, n - 1 - random_below(random, n < 5000 ? n : 5000),
        special(dtype, is_float && random_below(random, 2) == 0, (int)random_below(random, 2)));
}

static unsigned any_selection(random_state *random, unsigned turn) {
  if (turn % 3 == 0) return RED_STAT_ALL;
  if (turn % 3 == 2 && random_below(random, 2) == 0) return RED_STAT_MEAN | RED_STAT_VARIANCE;
  return turn % 3 == 1 ? 0 : 1 + (unsigned)random_below(random, RED_STAT_ALL);
}

static device_run any_run(random_state *random) {
  return (device_run){.in_shift = random_below(random, 3) != 0 ? 0 : random_below(random, 20),
                      .host_result = (int)random_below(random, 2),
                      .own_workspace = (int)random_below(random, 4) == 0};
}

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

/* Around multiples of rows, chunks and tiles of any dtype. */
START_TEST(short_arrays) {
  static const uint64_t units[] = {1, 32, 64, 128, 2048, 4096, 8192, 16384, 32768, 65536};
  random_state random = random_start(201);
  unsigned char *in = malloc(8 * 131072);
  for (unsigned repeat = suite_repeat(4); repeat > 0; repeat--)
    for (unsigned d = 1; d < RED_DTYPE_COUNT; d++)
      for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        uint64_t n = units[u] * (1 + random_below(&random, 2)) + random_below(&random, 3);
        red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)d, n > 1 && u > 0 ? n - 1 : n);
        device_run run = any_run(&random);
        problem.stats = any_selection(&random, (unsigned)random_below(&random, 3));
        fill_kind(&random, problem.in, (unsigned)random_below(&random, KINDS), in, problem.n);
        against_cpu(&problem, in, &run);
      }
  free(in);
}
END_TEST

/* Where a group of tiles ends and the next one begins. */
START_TEST(groups) {
  random_state random = random_start(202);
  unsigned char *in = malloc((uint64_t)96 << 20);
  for (unsigned d = 1; d < RED_DTYPE_COUNT; d++)
    for (unsigned i = 0; i < 6; i++) {
      size_t size = red_dtype_bytes((red_dtype)d);
      uint64_t tile = size == 8 ? 4096 : 16384 / size;
      uint64_t tiles = i < 3 ? 512 : 1 + random_below(&random, 1500);
      red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)d, tile * tiles + i % 3 - 1);
      device_run run = any_run(&random);
      problem.stats = any_selection(&random, i / 3 + i % 3);
      fill_kind(&random, problem.in, (i + d) % KINDS, in, problem.n);
      against_cpu(&problem, in, &run);
    }
  free(in);
}
END_TEST

/* Host memory, three pieces and the beginning of a fourth. */
START_TEST(pieces) {
  random_state random = random_start(203);
  uint64_t bytes = ((uint64_t)48 << 20) + 800;
  unsigned char *in = malloc(bytes);
  for (unsigned d = 1; d < RED_DTYPE_COUNT; d++) {
    red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)d, bytes / red_dtype_bytes((red_dtype)d));
    fill_kind(&random, problem.in, d % 2 != 0 ? LATE : ANYTHING, in, problem.n);
    for (unsigned turn = 0; turn < 3; turn++) {
      problem.stats = any_selection(&random, turn);
      against_cpu(&problem, in, NULL);
    }
  }
  free(in);
}
END_TEST

START_TEST(combinations) {
  static const char *const ways[] = {"poll", "last", "two", "pdl", "coop", "atomic"};
  random_state random = random_start(204);
  uint64_t most = 6000000;
  unsigned char *in = malloc(most * 8);
  for (unsigned d = 1; d < RED_DTYPE_COUNT; d++)
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      red_problem problem =
          RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)d, 1 + random_below(&random, w % 2 != 0 ? most : 300000));
      device_run run = any_run(&random);
      problem.stats = any_selection(&random, (unsigned)w);
      fill_kind(&random, problem.in, (unsigned)random_below(&random, KINDS), in, problem.n);
      setenv("RED_CUDA_COMBINE", ways[w], 1);
      against_cpu(&problem, in, &run);
      unsetenv("RED_CUDA_COMBINE");
    }
  free(in);
}
END_TEST

/* ---- Large arrays ------------------------------------------------------------------------------------------------ */

START_TEST(a_gigabyte) {
  random_state random = random_start(205);
  uint64_t n = ((uint64_t)1 << 28) + 3;
  unsigned char *in = malloc(n * 4);
  device_run run = {.in_shift = 1};
  for (unsigned kind = 0; kind < 2; kind++) {
    red_dtype dtype = kind == 0 ? RED_F32 : RED_I32;
    red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, dtype, n);
    fill_kind(&random, dtype, LATE, in, n);
    problem.stats = RED_STAT_ALL;
    against_cpu(&problem, in, &run);
    problem.stats = 0;
    against_cpu(&problem, in, &run);
  }
  free(in);
}
END_TEST

/* Places that are looked for at the end: arrays of more than 128 MB. */
START_TEST(places) {
  static const red_dtype dtypes[] = {RED_I8, RED_U16, RED_F16, RED_U32, RED_F32, RED_I64, RED_U64, RED_F64};
  static const char *const ways[] = {"poll", "coop", "last", "two"};
  random_state random = random_start(206);
  uint64_t bytes = ((uint64_t)132 << 20) + 40;
  unsigned char *in = malloc(bytes);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (unsigned turn = 0; turn < 3; turn++) {
      uint64_t n = bytes / red_dtype_bytes(dtypes[d]) - random_below(&random, 5);
      fill_kind(&random, dtypes[d],
                turn == 0   ? LATE
                : turn == 1 ? ANYTHING
                            : 1 + (unsigned)random_below(&random, 3),
                in, n);
      for (red_op op = RED_ARGMIN; op <= RED_ARGMAXNUM; op++) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, dtypes[d], n), resolved = problem;
        if (red_problem_resolve(&resolved) != RED_OK) continue;
        device_run run = any_run(&random);
        run.host_result = 1;
        setenv("RED_CUDA_COMBINE", ways[random_below(&random, 4)], 1);
        against_cpu(&problem, in, &run);
        unsetenv("RED_CUDA_COMBINE");
      }
    }
  free(in);
}
END_TEST

/* Minima and maxima of f64 by comparisons: zeros of both signs, NaNs. */
START_TEST(extremes) {
  random_state random = random_start(207);
  static double in[70000];
  for (unsigned repeat = suite_repeat(20); repeat > 0; repeat--)
    for (red_op op = RED_MIN; op <= RED_ARGMAXNUM; op++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, RED_F64, random_length(&random, 69000) + 1),
                  resolved = problem;
      if (red_problem_resolve(&resolved) != RED_OK) continue;
      device_run run = any_run(&random);
      run.host_result = 1;
      fill_kind(&random, RED_F64, (unsigned)random_below(&random, KINDS), (unsigned char *)in, problem.n);
      against_cpu(&problem, in, &run);
    }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_contexts, close_contexts);
  tcase_add_test(tests, short_arrays);
  tcase_add_test(tests, groups);
  tcase_add_test(tests, pieces);
  tcase_add_test(tests, combinations);
  tcase_add_test(tests, extremes);
  tcase_add_test(tests, places);
  tcase_add_test(tests, a_gigabyte);
}

int main(void) {
  return suite_run("device statistics", fill);
}
