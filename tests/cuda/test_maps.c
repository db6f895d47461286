/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums and products, of elements and of what becomes of them, norms and means in device memory: each input at every
 * alignment, lengths at which vectors, chunks, tiles and groups of tiles begin, every way to combine, accumulators
 * wider than the elements, results that the device itself finishes.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static const red_op ops[] = {RED_SUM, RED_PROD, RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2, RED_MEAN};
enum {
  OPS = sizeof ops / sizeof *ops
};

/* Where tests are scaled down, the most of what would be tried one by one is not. */
static int left_out(random_state *random) {
  return random_below(random, 10) >= suite_repeat(10);
}

/* In one of two cases. */
static void widen(red_problem *problem, random_state *random) {
  if (problem->in >= RED_F16 && random_below(random, 2) == 0) problem->acc = RED_F64;
}

/* Two arrays of one dtype, and what they give. */
typedef struct pair {
  unsigned char *in, *in2;
} pair;

static pair pair_new(uint64_t bytes) {
  return (pair){malloc(bytes + 8), malloc(bytes + 8)};
}
static void pair_free(pair *arrays) {
  free(arrays->in);
  free(arrays->in2);
}
static const void *second_of(const red_problem *problem, const pair *arrays) {
  return takes_two(problem) ? arrays->in2 : NULL;
}

static void on_device(const red_problem *problem, const pair *arrays, device_run run, const char *how,
                      const void *expected, red_status want) {
  uint64_t actual = 0;
  char text[128] = "";
  run.in2 = second_of(problem, arrays);
  red_problem_print(problem, text, sizeof text);
  red_status got = run_on_device(&run, problem, arrays->in, &actual);
  if (may_refuse(problem, got)) return;
  ck_assert_msg(got == want, "%s, %s: status %d, expected %d: %s%s", text, how, got, want,
                got != RED_OK ? red_last_error() : "", suite_seed_text());
  if (got == RED_OK) compare_outputs(problem, how, expected, &actual);
}

/* ---- Alignments ---- */

/* A byte more than each array: a load beyond the end of one is beyond its allocation too. */
static void at_shifts(const red_problem *problem, random_state *random, const pair *arrays) {
  uint64_t shifts = 16 / red_dtype_bytes(problem->in), expected = 0;
  red_status want = red_reference2(problem, arrays->in, second_of(problem, arrays), &expected);
  for (uint64_t s = 0; s < shifts; s++) {
    device_run run = {.in_shift = s, .in2_shift = s, .host_result = (int)random_below(random, 2)};
    on_device(problem, arrays, run, "both inputs shifted", &expected, want);
    if (!takes_two(problem) || s == 0) continue;
    run.in2_shift = (s + 1 + random_below(random, shifts - 1)) % shifts;
    on_device(problem, arrays, run, "inputs apart", &expected, want);
    run.in2_shift = 0;
    on_device(problem, arrays, run, "the first input shifted", &expected, want);
    run = (device_run){.in2_shift = s};
    on_device(problem, arrays, run, "the second input shifted", &expected, want);
  }
}

START_TEST(alignments) {
  static const uint64_t lengths[] = {0, 1, 2, 15, 17, 2047, 4097, 8191, 16383, 16385, 33000};
  random_state random = random_start(201);
  pair arrays = pair_new(33000 * 8);
  for (size_t o = 0; o < OPS; o++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++)
      for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i += 1 + random_below(&random, 2)) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[o], (red_dtype)in, lengths[i]);
        if (!possible(&problem) || left_out(&random)) continue;
        random_elements(&random, problem.in, arrays.in, problem.n);
        random_elements(&random, problem.in, arrays.in2, problem.n);
        at_shifts(&problem, &random, &arrays);
        problem.acc = RED_F64;
        if (problem.in >= RED_F16 && problem.in != RED_F64) at_shifts(&problem, &random, &arrays);
      }
  pair_free(&arrays);
}
END_TEST

/* ---- Lengths ---- */

/* Random numbers, repeated with a prime period: enough to tell places apart, and quick to make. */
static void fill_large(random_state *random, red_dtype dtype, unsigned char *in, uint64_t n) {
  size_t size = red_dtype_bytes(dtype);
  uint64_t period = n < 1000003 ? n : 1000003 - 1000 * random_below(random, 30);
  random_numbers(random, dtype, in, period);
  for (uint64_t at = period; at < n; at += period)
    memcpy(in + at * size, in, (n - at < period ? n - at : period) * size);
}

static void against_cpu(const red_problem *problem, const pair *arrays, device_run run, const char *how) {
  uint64_t expected = 0;
  red_status want = red_run2(cpu, problem, arrays->in, second_of(problem, arrays), &expected);
  on_device(problem, arrays, run, how, &expected, want);
}

/* Of `unit` elements (chunks, tiles, groups of 2048 tiles): one fewer, as many, one more. */
static void beside(red_op op, red_dtype in, uint64_t unit, const pair *arrays, random_state *random) {
  for (int more = -1; more <= 1; more++) {
    int host_result = (int)random_below(random, 2);
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, unit + (uint64_t)(int64_t)more);
    widen(&problem, random);
    if (possible(&problem) && !left_out(random))
      against_cpu(&problem, arrays, (device_run){.host_result = host_result}, "at a boundary");
  }
}

START_TEST(boundaries) {
  static const red_dtype dtypes[] = {RED_F32, RED_F64, RED_F16, RED_BF16, RED_I8, RED_I32};
  static const uint64_t units[] = {2048, 4096, 8192, 16384, 31 * 4096, 256 * 4096, 257 * 16384};
  random_state random = random_start(202);
  pair arrays = pair_new((uint64_t)2049 * 16384 * 8);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    uint64_t group = (uint64_t)2048 * (red_dtype_bytes(dtypes[d]) <= 2 ? 16384 : 4096);
    fill_large(&random, dtypes[d], arrays.in, group + 1);
    fill_large(&random, dtypes[d], arrays.in2, group + 1);
    for (size_t o = 0; o < OPS; o++) {
      for (size_t u = 0; u < sizeof units / sizeof *units; u++) beside(ops[o], dtypes[d], units[u], &arrays, &random);
      beside(ops[o], dtypes[d], (uint64_t)2048 * 4096, &arrays, &random);
      if (ops[o] == RED_SUM || ops[o] == RED_DOT || ops[o] == RED_NRM2)
        beside(ops[o], dtypes[d], group, &arrays, &random);
    }
  }
  pair_free(&arrays);
}
END_TEST

/* More tiles than a group of groups has of f32, and a length that no power of two divides. */
START_TEST(large) {
  static const red_op largest[] = {RED_DOT, RED_ASUM, RED_NRM2, RED_MEAN};
  random_state random = random_start(203);
  uint64_t n = ((uint64_t)1 << 28) + 3;
  if (suite_repeat(10) < 10) return; /* too slow where tests are scaled down */
  pair arrays = pair_new(n * 4);
  fill_large(&random, RED_F32, arrays.in, n);
  fill_large(&random, RED_F32, arrays.in2, n);
  for (size_t o = 0; o < sizeof largest / sizeof *largest; o++) {
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, largest[o], RED_F32, n);
    against_cpu(&problem, &arrays, (device_run){.in_shift = 1}, "large");
  }
  pair_free(&arrays);
}
END_TEST

/* More than a group of tiles of 16-bit floats that are put together from two words, and every distance from one. */
START_TEST(shifted_groups) {
  static const red_op shifted[] = {RED_DOT, RED_ASUM, RED_SUMSQ, RED_SUM, RED_MEAN};
  random_state random = random_start(207);
  uint64_t n = (uint64_t)2048 * 16384 + 4097;
  pair arrays = pair_new(n * 2);
  for (unsigned in = RED_F16; in <= RED_BF16; in++) {
    fill_large(&random, (red_dtype)in, arrays.in, n);
    fill_large(&random, (red_dtype)in, arrays.in2, n);
    for (size_t o = 0; o < sizeof shifted / sizeof *shifted; o++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, shifted[o], (red_dtype)in, n - random_below(&random, 5000));
      device_run run = {.in_shift = random_below(&random, 8), .in2_shift = random_below(&random, 8)};
      widen(&problem, &random);
      if (!left_out(&random)) against_cpu(&problem, &arrays, run, "shifted");
    }
  }
  pair_free(&arrays);
}
END_TEST

/* Factors around one, so that long products are neither zero nor infinite, and each of them counts. */
START_TEST(products) {
  static const struct {
    red_dtype dtype;
    uint64_t one, spread; /* bits */
  } rows[] = {{RED_F16, 0x3c00, 16},
              {RED_BF16, 0x3f80, 2},
              {RED_F32, 0x3f800000, 1 << 17},
              {RED_F64, 0x3ff0000000000000, (uint64_t)1 << 46}};
  random_state random = random_start(208);
  uint64_t most = 150000;
  pair arrays = pair_new(most * 8);
  for (unsigned repeat = suite_repeat(20); repeat > 0; repeat--)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_PROD, rows[i].dtype, 1 + random_below(&random, most));
      size_t bytes = red_dtype_bytes(problem.in);
      widen(&problem, &random);
      for (uint64_t e = 0; e < problem.n; e++) {
        uint64_t steps = random_below(&random, rows[i].spread + 1); /* below one they are half as long */
        uint64_t bits = random_below(&random, 2) == 0 ? rows[i].one + steps : rows[i].one - 2 * steps;
        memcpy(arrays.in + e * bytes, &bits, bytes);
      }
      problem.out = RED_F64;
      against_cpu(&problem, &arrays, (device_run){.in_shift = random_below(&random, 9)}, "factors around one");
    }
  pair_free(&arrays);
}
END_TEST

/* ---- Host memory: larger than what is staged at a time ---- */

/* Lock the pages of an array, as an application of the driver would, or unlock them (bytes 0). */
static void lock_pages(void *array, size_t bytes) {
  static void *library;
  CUcontext primary;
  if (library == NULL) library = dlopen("libcuda.so.1", RTLD_NOW);
  ck_assert(library != NULL);
  CUresult (*retain)(CUcontext *, CUdevice), (*release)(CUdevice), (*enter)(CUcontext);
  CUresult (*lock)(void *, size_t, unsigned), (*unlock)(void *);
  *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void **)&release = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
  *(void **)&enter = dlsym(library, "cuCtxSetCurrent");
  *(void **)&lock = dlsym(library, "cuMemHostRegister_v2");
  *(void **)&unlock = dlsym(library, "cuMemHostUnregister");
  ck_assert(retain != NULL && release != NULL && enter != NULL && lock != NULL && unlock != NULL);
  ck_assert_int_eq(retain(&primary, 0), CUDA_SUCCESS);
  ck_assert_int_eq(enter(primary), CUDA_SUCCESS);
  ck_assert_int_eq(bytes > 0 ? lock(array, bytes, 0) : unlock(array), CUDA_SUCCESS);
  ck_assert_int_eq(enter(NULL), CUDA_SUCCESS);
  ck_assert_int_eq(release(0), CUDA_SUCCESS);
}

static void in_pieces(const red_problem *problem, const pair *arrays) {
  uint64_t expected = 0, actual = 0;
  const void *in2 = second_of(problem, arrays);
  ck_red(red_run2(cpu, problem, arrays->in, in2, &expected));
  red_status status = red_run2(context, problem, arrays->in, in2, &actual);
  if (may_refuse(problem, status)) return;
  ck_assert_msg(status == RED_OK, "%s", red_last_error());
  compare_outputs(problem, "in pieces", &expected, &actual);
}

/* None of the inputs, one of them, or both are in memory that the copy engine reads itself. */
START_TEST(host_memory) {
  static const red_dtype dtypes[] = {RED_F32, RED_F64, RED_F16, RED_I8, RED_I32, RED_U64};
  random_state random = random_start(204);
  uint64_t most = (uint64_t)52 << 20; /* bytes: four pieces of one input, seven of two */
  pair arrays = pair_new(most);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    uint64_t n = most / red_dtype_bytes(dtypes[d]);
    fill_large(&random, dtypes[d], arrays.in, n);
    fill_large(&random, dtypes[d], arrays.in2, n);
    for (size_t o = 0; o < OPS; o++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[o], dtypes[d], n - random_below(&random, 100000));
      if (possible(&problem) && !left_out(&random)) in_pieces(&problem, &arrays);
    }
    red_problem dot = RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, dtypes[d], n);
    lock_pages(arrays.in2, most);
    in_pieces(&dot, &arrays);
    lock_pages(arrays.in, most);
    in_pieces(&dot, &arrays);
    lock_pages(arrays.in2, 0);
    in_pieces(&dot, &arrays);
    lock_pages(arrays.in, 0);
  }
  pair_free(&arrays);
}
END_TEST

/* ---- How blocks combine ---- */

START_TEST(combinations) {
  static const char *const ways[] = {"poll", "last", "two", "pdl", "coop", "atomic"};
  static const red_dtype dtypes[] = {RED_F32, RED_F64, RED_F16, RED_BF16, RED_I8, RED_U16, RED_I32, RED_I64};
  random_state random = random_start(205);
  uint64_t most = 9000000;
  pair arrays = pair_new(most * 8);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    fill_large(&random, dtypes[d], arrays.in, most);
    fill_large(&random, dtypes[d], arrays.in2, most);
    for (size_t o = 0; o < OPS; o++)
      for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        uint64_t n = w % 2 ? most : 1 + random_length(&random, 200000);
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[o], dtypes[d], n);
        if (!possible(&problem) || left_out(&random)) continue;
        widen(&problem, &random);
        setenv("RED_CUDA_COMBINE", ways[w], 1);
        against_cpu(&problem, &arrays, (device_run){.in2_shift = 1}, ways[w]);
        unsetenv("RED_CUDA_COMBINE");
      }
  }
  pair_free(&arrays);
}
END_TEST

/* ---- Results that the device finishes: one rounding, whatever the output ---- */

/* A mean is the first element divided by n, a norm the root of few squares: ties and results between two numbers. */
static void few_terms(random_state *random, const red_problem *problem, unsigned char *in) {
  size_t size = red_dtype_bytes(problem->in);
  random_elements(random, problem->in, in, problem->n);
  uint64_t kept = problem->op == RED_MEAN ? 1 : 2;
  if (random_below(random, 2) == 0 && problem->n > kept) memset(in + kept * size, 0, (problem->n - kept) * size);
}

static void finish_on_device(red_problem problem, random_state *random) {
  enum {
    RUNS = 25
  };
  unsigned char data[64 * 8];
  void *in, *out;
  red_plan *plan;
  size_t bytes = problem.n * red_dtype_bytes(problem.in), out_bytes = output_bytes(&problem);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  if (may_refuse(&problem, red_plan_create(context, &problem, &plan))) return;
  ck_red(red_alloc(context, bytes, &in));
  ck_red(red_alloc(context, out_bytes, &out));
  for (unsigned i = suite_repeat(RUNS); i > 0; i--) {
    uint64_t expected = 0, actual = 0;
    few_terms(random, &problem, data);
    red_problem host = problem;
    host.in_memory = host.out_memory = RED_HOST;
    ck_red(red_reference(&host, data, &expected));
    ck_red(red_upload(context, NULL, in, 0, data, bytes));
    ck_red(red_plan_execute(plan, NULL, in, out));
    ck_red(red_download(context, NULL, &actual, out, 0, out_bytes));
    compare_outputs(&host, "finished on the device", &expected, &actual);
  }
  red_plan_destroy(plan);
  red_free(context, in);
  red_free(context, out);
}

START_TEST(finished_on_the_device) {
  random_state random = random_start(206);
  static const red_op finished[] = {RED_MEAN, RED_NRM2};
  for (unsigned repeat = suite_repeat(8); repeat > 0; repeat--)
    for (unsigned o = 0; o < 2; o++)
      for (unsigned in = RED_F16; in <= RED_F64; in++)
        for (unsigned acc = RED_F32; acc <= RED_F64; acc++)
          for (unsigned out = RED_F16; out <= RED_F64; out++) {
            red_problem problem =
                RED_PROBLEM_INIT(RED_REDUCE, finished[o], (red_dtype)in, 1 + random_below(&random, 63));
            problem.acc = (red_dtype)acc;
            problem.out = (red_dtype)out;
            if (possible(&problem)) finish_on_device(problem, &random);
          }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_contexts, close_contexts);
  tcase_add_test(tests, alignments);
  tcase_add_test(tests, boundaries);
  tcase_add_test(tests, large);
  tcase_add_test(tests, shifted_groups);
  tcase_add_test(tests, products);
  tcase_add_test(tests, host_memory);
  tcase_add_test(tests, combinations);
  tcase_add_test(tests, finished_on_the_device);
}

int main(void) {
  return suite_run("maps", fill);
}
