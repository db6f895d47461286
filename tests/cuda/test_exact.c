/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact reductions of device memory: every kernel at every alignment against the reference, more numbers than a
 * thread's digits have room for without carrying, and executions beside each other.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static const red_op ops[] = {RED_SUM, RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2, RED_MEAN};
enum {
  OPS = sizeof ops / sizeof *ops
};

static void negate(red_dtype dtype, unsigned char *array, uint64_t n) {
  size_t bytes = red_dtype_bytes(dtype);
  for (uint64_t i = 0; i < n; i++) array[(i + 1) * bytes - 1] ^= 0x80;
}

/* ---- Data
 * -------------------------------------------------------------------------------------------------------------- */

/* Significands of all ones, alternating signs, in one binade; seldom a small odd number. */
static void fill_alternating(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  unsigned fraction = float_fraction(dtype);
  uint64_t ones = ((uint64_t)1 << fraction) - 1,
           exponent = 1 + random_below(random, (float_infinity(dtype) >> fraction) - 1);
  for (uint64_t i = 0; i < n; i++) put_float(dtype, array, i, exponent << fraction | ones, i % 2 != 0);
  for (uint64_t i = 0; i < n; i += 1 + random_below(random, 999))
    put_float(dtype, array, i, 1 + random_below(random, 9), false);
}

/* Nearly all -0; a +0 or something else decides. */
static void fill_zeros(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) put_float(dtype, array, i, 0, true);
  if (random_below(random, 2))
    put_float(dtype, array, random_below(random, n), random_below(random, 2), random_below(random, 2));
}

/* Infinities, perhaps of both signs, perhaps a NaN with a payload. */
static void fill_special(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  bool sign = random_below(random, 2) != 0;
  random_exponents(random, dtype, array, n);
  for (unsigned k = 0; k < 3; k++) put_float(dtype, array, random_below(random, n), float_infinity(dtype), sign);
  if (random_below(random, 3) == 0) put_float(dtype, array, random_below(random, n), float_infinity(dtype), !sign);
  if (random_below(random, 3) == 0) put_float(dtype, array, random_below(random, n), float_infinity(dtype) + 1, sign);
}

static void fill_elements(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  random_elements(random, dtype, array, n);
}

typedef void filler(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n);
static filler *const fillers[] = {random_exponents, random_cancelling, fill_alternating,
                                  fill_zeros,       fill_special,      fill_elements};
enum {
  FILLERS = sizeof fillers / sizeof *fillers
};

/* ---- Against the reference
 * --------------------------------------------------------------------------------------------- */

static device_run random_run(random_state *random, red_queue *queue) {
  device_run run = {.queue = random_below(random, 2) ? queue : NULL};
  run.in_shift = random_below(random, 2) ? 0 : random_below(random, 17);
  run.in2_shift = random_below(random, 2) ? run.in_shift : random_below(random, 17);
  run.out_shift = random_below(random, 17);
  run.own_workspace = random_below(random, 4) == 0;
  run.host_result = random_below(random, 2) == 0;
  return run;
}

static void check(const red_problem *problem, filler *fill, random_state *random, red_queue *queue) {
  size_t size = red_dtype_bytes(problem->in);
  unsigned char *in = malloc(problem->n * size + 1), *in2 = malloc(problem->n * size + 1);
  uint64_t expected = 0, actual = 0;
  device_run run = random_run(random, queue);
  if (problem->n > 0) {
    fill(random, problem->in, in, problem->n);
    fillers[random_below(random, FILLERS)](random, problem->in, in2, problem->n);
  }
  if (takes_two(problem)) run.in2 = in2;
  red_status want = red_reference2(problem, in, run.in2, &expected);
  red_status got = run_on_device(&run, problem, in, &actual);
  ck_assert_msg(got == want, "status %d: %s, expected %d%s", got, got != RED_OK ? red_last_error() : "", want,
                suite_seed_text());
  if (got == RED_OK) compare_outputs(problem, run.host_result ? "to the host" : "on the device", &expected, &actual);
  free(in);
  free(in2);
}

START_TEST(any_data) {
  random_state random = random_start(301);
  red_queue *queue;
  ck_red(red_queue_create(context, &queue));
  for (unsigned repeat = suite_repeat(4); repeat > 0; repeat--)
    for (unsigned op = 0; op < OPS; op++)
      for (unsigned in = RED_F16; in <= RED_F64; in++)
        for (unsigned f = 0; f < FILLERS; f++) {
          uint64_t most = random_below(&random, 3) == 0 ? 150000 : 3000;
          red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[op], (red_dtype)in, 1 + random_length(&random, most));
          problem.exact = 1;
          if (random_below(&random, 2)) problem.out = (red_dtype)(RED_F16 + random_below(&random, 4));
          problem.has_init = takes_init(&problem) && random_below(&random, 4) == 0;
          if (problem.has_init) problem.init = random_scalar(&random, in == RED_F64 ? RED_F64 : RED_F32);
          check(&problem, fillers[f], &random, queue);
        }
  red_queue_destroy(queue);
}
END_TEST

/* A result of no elements, on the device and on the host. */
START_TEST(nothing) {
  random_state random = random_start(302);
  for (unsigned op = 0; op < OPS; op++)
    for (unsigned in = RED_F16; in <= RED_F64; in++)
      for (int init = 0; init < 2; init++) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[op], (red_dtype)in, 0);
        problem.exact = 1;
        problem.has_init = init && takes_init(&problem);
        if (problem.has_init) problem.init = random_scalar(&random, in == RED_F64 ? RED_F64 : RED_F32);
        check(&problem, fill_elements, &random, NULL);
      }
}
END_TEST

/* The same numbers in other orders, large enough for every block of the device. */
START_TEST(any_order) {
  random_state random = random_start(303);
  const uint64_t n = 1500007;
  unsigned char *in = malloc(n * 8);
  for (unsigned dtype = RED_F16; dtype <= RED_F64; dtype++) {
    size_t size = red_dtype_bytes((red_dtype)dtype);
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, (red_dtype)dtype, n);
    problem.exact = 1;
    problem.out = RED_F64;
    random_cancelling(&random, problem.in, in, n);
    uint64_t first = 0;
    ck_red(red_run(cpu, &problem, in, &first));
    for (unsigned order = 0; order < 3; order++) {
      uint64_t again = 0;
      device_run run = random_run(&random, NULL);
      ck_red(run_on_device(&run, &problem, in, &again));
      compare_outputs(&problem, order > 0 ? "shuffled" : "in order", &first, &again);
      for (uint64_t i = n - 1; i > 0; i--) {
        unsigned char kept[8], *a = in + i * size, *b = in + random_below(&random, i + 1) * size;
        memcpy(kept, a, size);
        memcpy(a, b, size);
        memcpy(b, kept, size);
      }
    }
  }
  free(in);
}
END_TEST

/* ---- Room
 * --------------------------------------------------------------------------------------------------------------- */

enum {
  PERIOD = 1 << 20,
  REST = 5
};

/* Both ends of a bin, or of a digit: ones that fill it, and odd numbers of its lowest bit. */
static void fill_room(random_state *random, red_dtype dtype, unsigned char *array) {
  unsigned fraction = float_fraction(dtype);
  uint64_t ones = ((uint64_t)1 << fraction) - 1;
  uint64_t high = dtype == RED_F64 ? 1092 : dtype == RED_F16 ? 30 : 159, low = dtype == RED_F64 ? 1041 : high - 15;
  for (uint64_t i = 0; i < PERIOD; i++)
    if (random_below(random, 7) != 0)
      put_float(dtype, array, i, high << fraction | ones, false);
    else
      put_float(dtype, array, i, low << fraction | 1, false);
}

/*
 * One number, all ones, everywhere, at the lower end of a digit (and its square is finite and not 0): as much as sums
 * over columns can come across.
 */
START_TEST(one_number_everywhere) {
  static const red_op full[] = {RED_SUM, RED_SUMSQ};
  random_state random = random_start(306);
  const uint64_t most = 9000000, ones = ((uint64_t)1 << 52) - 1;
  unsigned char *in = malloc(most * 8);
  for (unsigned repeat = suite_repeat(6); repeat > 0; repeat--) {
    uint64_t n = most - random_below(&random, most * 7 / 8), digit = 11 + random_below(&random, 18);
    bool negative = random_below(&random, 2) != 0;
    for (uint64_t i = 0; i < n; i++) put_float(RED_F64, in, i, (52 * digit + 1) << 52 | ones, negative);
    for (size_t o = 0; o < sizeof full / sizeof *full; o++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, full[o], RED_F64, n);
      device_run run = {.host_result = random_below(&random, 2) == 0};
      uint64_t expected = 0, actual = 0;
      problem.exact = 1;
      ck_red(red_run(cpu, &problem, in, &expected));
      ck_red(run_on_device(&run, &problem, in, &actual));
      compare_outputs(&problem, "one number everywhere", &expected, &actual);
    }
  }
  free(in);
}
END_TEST

/* Device memory of 2 * `periods` periods of the pattern and a rest, the second half negative if it is to cancel. */
static void *upload_room(red_dtype dtype, unsigned char *pattern, uint64_t periods, bool cancels,
                         const unsigned char *rest) {
  size_t size = red_dtype_bytes(dtype);
  void *memory;
  ck_red(red_alloc(context, (2 * periods * PERIOD + REST) * size, &memory));
  for (uint64_t p = 0; p < 2 * periods; p++) {
    if (p == periods && cancels) negate(dtype, pattern, PERIOD);
    ck_red(red_upload(context, NULL, memory, p * PERIOD * size, pattern, PERIOD * size));
  }
  if (cancels) negate(dtype, pattern, PERIOD);
  ck_red(red_upload(context, NULL, memory, 2 * periods * PERIOD * size, rest, REST * size));
  return memory;
}

/* What is left of numbers that fill every digit and then cancel: without a carry in time it would be something else. */
static void check_room(random_state *random, red_op op, red_dtype dtype, uint64_t periods) {
  size_t size = red_dtype_bytes(dtype);
  unsigned char *pattern = malloc(PERIOD * size), rest[REST * 8], ones[REST * 8];
  uint64_t expected = 0, actual = 0;
  red_problem few = RED_PROBLEM_INIT(RED_REDUCE, op, dtype, REST), many = few;
  few.exact = many.exact = 1;
  fill_room(random, dtype, pattern);
  random_numbers(random, dtype, rest, REST);
  random_numbers(random, dtype, ones, REST);
  void *in = upload_room(dtype, pattern, periods, true, rest);
  void *in2 = op == RED_DOT ? upload_room(dtype, pattern, periods, false, ones) : NULL;
  ck_red(red_reference2(&few, rest, in2 != NULL ? ones : NULL, &expected));
  many.n = 2 * periods * PERIOD + REST;
  many.in_memory = RED_DEVICE;
  red_plan *plan;
  red_args args = {.size = sizeof args, .in = in, .in2 = in2, .out = &actual};
  ck_red(red_plan_create(context, &many, &plan));
  ck_red(red_plan_execute_args(plan, NULL, &args));
  compare_outputs(&many, "cancelled after the digits were full", &expected, &actual);
  red_plan_destroy(plan);
  red_free(context, in);
  red_free(context, in2);
  free(pattern);
}

/*
 * The periods make each of the 2 * 10^5 threads of a large device take more than its digits have room for; where no
 * memory holds so many, sums of bf16 take more than may come between two carries, products of f32 and bf16 what there
 * is.
 */
START_TEST(more_than_there_is_room_for) {
  static const struct {
    red_op op;
    red_dtype dtype;
    unsigned periods;
  } cases[] = {{RED_SUM, RED_F64, 256},  {RED_DOT, RED_F64, 64},   {RED_DOT, RED_F32, 256},   {RED_DOT, RED_BF16, 256},
               {RED_SUM, RED_F16, 2048}, {RED_DOT, RED_F16, 2560}, {RED_SUM, RED_BF16, 2560}, {RED_SUM, RED_F32, 2560}};
  random_state random = random_start(304);
  red_device_info info = {.size = sizeof info};
  ck_red(red_context_device(context, RED_DEVICE, &info));
  for (size_t i = 0; i < sizeof cases / sizeof *cases && i < suite_repeat(sizeof cases / sizeof *cases); i++) {
    uint64_t arrays = cases[i].op == RED_DOT ? 2 : 1;
    uint64_t bytes = arrays * cases[i].periods * 2 * PERIOD * red_dtype_bytes(cases[i].dtype);
    if (bytes < info.memory / 2) check_room(&random, cases[i].op, cases[i].dtype, cases[i].periods);
  }
}
END_TEST

/* ---- Beside each other
 * -------------------------------------------------------------------------------------------------- */

typedef struct worker {
  pthread_t thread;
  unsigned index;
  red_dtype dtype;
  const unsigned char *in;
  uint64_t n, exact, canonical;
  red_status status;
} worker;

/* Exact and canonical executions in turn: they share the workspace of a queue. */
static void *work(void *at) {
  worker *w = at;
  red_problem exact = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, w->dtype, w->n), canonical = exact;
  exact.exact = 1;
  exact.in_memory = exact.out_memory = canonical.in_memory = RED_DEVICE;
  red_plan *exact_plan = NULL, *canonical_plan = NULL;
  red_queue *queue = NULL;
  void *in = NULL, *out = NULL;
  size_t size = red_dtype_bytes(w->dtype);
  w->status = red_plan_create(context, &exact, &exact_plan);
  if (w->status == RED_OK) w->status = red_plan_create(context, &canonical, &canonical_plan);
  if (w->status == RED_OK && w->index % 3 != 0) w->status = red_queue_create(context, &queue);
  if (w->status == RED_OK) w->status = red_alloc(context, w->n * size, &in);
  if (w->status == RED_OK) w->status = red_alloc(context, 8, &out);
  if (w->status == RED_OK) w->status = red_upload(context, queue, in, 0, w->in, w->n * size);
  for (unsigned i = 0; i < 200 && w->status == RED_OK; i++) {
    uint64_t canonical_bits = 0, exact_bits = 0;
    w->status = red_plan_execute(exact_plan, queue, in, out);
    if (w->status == RED_OK) w->status = red_plan_execute(canonical_plan, queue, in, &canonical_bits);
    if (w->status == RED_OK) w->status = red_download(context, queue, &exact_bits, out, 0, size);
    if (w->status == RED_OK && (exact_bits != w->exact || canonical_bits != w->canonical)) w->status = RED_ERR_MISMATCH;
  }
  red_free(context, in);
  red_free(context, out);
  red_queue_destroy(queue);
  red_plan_destroy(exact_plan);
  red_plan_destroy(canonical_plan);
  return NULL;
}

START_TEST(threads_and_queues) {
  enum {
    THREADS = 8,
    N = 700001
  };
  random_state random = random_start(305);
  worker workers[THREADS];
  unsigned char *in[2] = {malloc(N * 4), malloc(N * 8)};
  random_cancelling(&random, RED_F32, in[0], N);
  random_cancelling(&random, RED_F64, in[1], N);
  for (unsigned i = 0; i < THREADS; i++) {
    worker *w = &workers[i];
    *w = (worker){.index = i, .dtype = i % 2 ? RED_F64 : RED_F32, .in = in[i % 2], .n = i < 4 ? N - i : 20000 + i};
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, w->dtype, w->n);
    ck_red(red_run(cpu, &problem, w->in, &w->canonical));
    problem.exact = 1;
    ck_red(red_run(cpu, &problem, w->in, &w->exact));
  }
  for (unsigned i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  for (unsigned i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  for (unsigned i = 0; i < THREADS; i++)
    ck_assert_msg(workers[i].status == RED_OK, "thread %u: %s%s", i, red_strerror(workers[i].status),
                  suite_seed_text());
  free(in[0]);
  free(in[1]);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_contexts, close_contexts);
  tcase_add_test(tests, any_data);
  tcase_add_test(tests, nothing);
  tcase_add_test(tests, any_order);
  tcase_add_test(tests, threads_and_queues);
  tcase_add_test(tests, one_number_everywhere);
  tcase_add_test(tests, more_than_there_is_room_for);
}

int main(void) {
  return suite_run("exact on the device", fill);
}
