/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory: every kernel at every alignment against the reference, large arrays against the CPU backend. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static device_run random_run(random_state *random, const red_problem *problem, red_queue *queue) {
  device_run run = {.queue = random_below(random, 2) ? queue : NULL};
  run.in_shift = random_below(random, 3) ? 0 : random_below(random, 40);
  run.in2_shift = random_below(random, 3) ? 0 : random_below(random, 40);
  run.out_shift = random_below(random, 3) ? 0 : random_below(random, 40);
  run.own_workspace = random_below(random, 4) == 0;
  if (problem->kind == RED_REDUCE || problem->kind == RED_STATS)
    run.host_result = random_below(random, 2) == 0;
  else
    run.in_place = problem->n > 0 && random_below(random, 3) == 0 &&
                   output_bytes(problem) == problem->n * red_dtype_bytes(problem->in);
  return run;
}

/* An arg operator that found nothing has no way to tell on the device but by its value. */
static int found_nothing(const red_problem *problem, const device_run *run, red_status want, uint64_t actual) {
  int arg = problem->op == RED_ARGMINNUM || problem->op == RED_ARGMAXNUM;
  return arg && problem->kind == RED_REDUCE && !run->host_result && want == RED_ERR_EMPTY && actual == UINT64_MAX;
}

static void against_reference(const red_problem *problem, random_state *random, red_queue *queue) {
  size_t bytes = output_bytes(problem);
  unsigned char *in = malloc(problem->n * red_dtype_bytes(problem->in) + 1), *in2 = NULL;
  unsigned char *expected = calloc(1, bytes + 8), *actual = calloc(1, bytes + 8);
  random_elements(random, problem->in, in, problem->n);
  device_run run = random_run(random, problem, queue);
  if (takes_two(problem)) {
    in2 = malloc(problem->n * red_dtype_bytes(problem->in) + 1);
    random_elements(random, problem->in, in2, problem->n);
    run.in2 = in2;
  }
  prepare_output(problem, expected);
  prepare_output(problem, actual);
  red_status want = red_reference2(problem, in, in2, expected);
  red_status got = run_on_device(&run, problem, in, actual);
  uint64_t word;
  memcpy(&word, actual, 8);
  if (!found_nothing(problem, &run, want, word) && !may_refuse(problem, got)) {
    char text[128] = "";
    red_problem_print(problem, text, sizeof text);
    ck_assert_msg(got == want, "%s: status %d (%s), the reference has %d%s", text, got,
                  got != RED_OK ? red_last_error() : "", want, suite_seed_text());
    if (got == RED_OK) compare_outputs(problem, run.in_place ? "in place" : "in device memory", expected, actual);
  }
  free(in);
  free(in2);
  free(expected);
  free(actual);
}

static const red_kind kinds[] = {RED_REDUCE, RED_INCLUSIVE_SCAN, RED_EXCLUSIVE_SCAN};

/* Every operator and dtype, defaults. */
START_TEST(operators) {
  random_state random = random_start(101);
  red_queue *queue;
  ck_red(red_queue_create(context, &queue));
  for (unsigned repeat = suite_repeat(2); repeat > 0; repeat--)
    for (size_t k = 0; k < 3; k++)
      for (unsigned op = 1; op < RED_OP_COUNT; op++)
        for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
          red_problem problem = RED_PROBLEM_INIT(kinds[k], (red_op)op, (red_dtype)in, random_length(&random, 60000));
          if (possible(&problem)) against_reference(&problem, &random, queue);
        }
  red_queue_destroy(queue);
}
END_TEST

/* Random accumulators, outputs and initial values. */
START_TEST(accumulators_and_outputs) {
  random_state random = random_start(102);
  red_queue *queue;
  ck_red(red_queue_create(context, &queue));
  for (unsigned tried = 0, wanted = suite_repeat(1500); tried < wanted;) {
    red_problem problem =
        RED_PROBLEM_INIT(kinds[random_below(&random, 3)], (red_op)(1 + random_below(&random, RED_OP_COUNT - 1)),
                         (red_dtype)(1 + random_below(&random, RED_DTYPE_COUNT - 1)), random_length(&random, 20000));
    problem.acc = (red_dtype)random_below(&random, RED_DTYPE_COUNT);
    problem.out = (red_dtype)random_below(&random, RED_DTYPE_COUNT);
    red_problem resolved = problem;
    if (red_problem_resolve(&resolved) != RED_OK) continue;
    problem.has_init = takes_init(&problem) && random_below(&random, 2) == 0;
    if (problem.has_init) problem.init = random_scalar(&random, resolved.acc);
    against_reference(&problem, &random, queue);
    tried++;
  }
  red_queue_destroy(queue);
}
END_TEST

START_TEST(statistics) {
  random_state random = random_start(103);
  for (unsigned repeat = suite_repeat(8); repeat > 0; repeat--)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, 1 + random_length(&random, 60000));
      against_reference(&problem, &random, NULL);
    }
}
END_TEST

/* ---- Large arrays
 * -------------------------------------------------------------------------------------------------------- */

static void against_cpu(const red_problem *problem, const void *in, const device_run *run) {
  size_t bytes = output_bytes(problem);
  unsigned char *expected = calloc(1, bytes + 8), *actual = calloc(1, bytes + 8);
  prepare_output(problem, expected);
  prepare_output(problem, actual);
  ck_red(red_run(cpu, problem, in, expected));
  red_status status = run != NULL ? run_on_device(run, problem, in, actual) : red_run(context, problem, in, actual);
  ck_assert_msg(status == RED_OK, "status %d: %s%s", status, red_last_error(), suite_seed_text());
  compare_outputs(problem, run != NULL ? "large, on the device" : "large, in pieces", expected, actual);
  free(expected);
  free(actual);
}

static const struct {
  red_op op;
  red_dtype in, out;
} large[] = {
    {RED_SUM, RED_F32, 0},       {RED_SUM, RED_F64, 0},
    {RED_SUM, RED_F16, 0},       {RED_SUM, RED_BF16, 0},
    {RED_SUM, RED_I8, RED_I8},   {RED_SUM, RED_I8, 0},
    {RED_SUM, RED_I32, RED_I32}, {RED_SUM, RED_I32, 0},
    {RED_SUM, RED_U32, 0},       {RED_SUM, RED_I64, 0},
    {RED_MAX, RED_F32, 0},       {RED_PROD, RED_F32, 0},
    {RED_MIN, RED_U8, 0},        {RED_ARGMIN, RED_F32, 0},
    {RED_ARGMAX, RED_I8, 0},     {RED_COUNT_NONZERO, RED_F16, 0},
    {RED_BXOR, RED_U16, 0},      {RED_ALL, RED_F32, 0},
    {RED_PROD, RED_I16, 0},      {RED_MAXNUM, RED_F64, 0},
    {RED_SUM, RED_I8, RED_I32},  {RED_SUM, RED_U8, RED_U32},
    {RED_SUM, RED_U8, 0},        {RED_SUM, RED_I16, RED_I16},
    {RED_SUM, RED_I16, 0},       {RED_SUM, RED_U16, 0},
    {RED_SUM, RED_I16, RED_I32}, {RED_SUM, RED_U16, RED_U32},
};

/* Random numbers, repeated with a prime period: enough to tell places apart, and quick to make. */
static void fill_large(random_state *random, red_dtype dtype, unsigned char *in, uint64_t n) {
  size_t size = red_dtype_bytes(dtype);
  uint64_t period = n < 1000003 ? n : 1000003;
  random_numbers(random, dtype, in, period);
  for (uint64_t at = period; at < n; at += period)
    memcpy(in + at * size, in, (n - at < period ? n - at : period) * size);
}

START_TEST(large_arrays) {
  random_state random = random_start(104);
  uint64_t most = (uint64_t)36 << 20; /* bytes: three pieces */
  unsigned char *in = malloc(most + 64);
  for (unsigned repeat = suite_repeat(1); repeat > 0; repeat--)
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
      red_problem widest = RED_PROBLEM_INIT(RED_REDUCE, large[i].op, large[i].in, 1);
      widest.out = large[i].out;
      size_t size = red_dtype_bytes(large[i].in), out_size = output_bytes(&widest);
      uint64_t n = most / (size > out_size ? size : out_size) - random_below(&random, 100000);
      fill_large(&random, large[i].in, in, n);
      for (size_t k = 0; k < 3; k++) {
        red_problem problem = RED_PROBLEM_INIT(kinds[k], large[i].op, large[i].in, n);
        problem.out = large[i].out;
        if (!possible(&problem)) continue;
        device_run run = random_run(&random, &problem, NULL);
        if (random_below(&random, 2)) run.in_shift = run.out_shift = 0;
        against_cpu(&problem, in, &run);
        if (k != 2) against_cpu(&problem, in, NULL);
      }
    }
  free(in);
}
END_TEST

START_TEST(large_statistics) {
  random_state random = random_start(105);
  uint64_t most = (uint64_t)36 << 20;
  unsigned char *in = malloc(most);
  for (unsigned d = 1; d < RED_DTYPE_COUNT; d++) {
    red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)d, most / red_dtype_bytes((red_dtype)d));
    fill_large(&random, problem.in, in, problem.n);
    device_run run = random_run(&random, &problem, NULL);
    against_cpu(&problem, in, &run);
    against_cpu(&problem, in, NULL);
  }
  free(in);
}
END_TEST

/* Lengths at which tiles, groups of tiles and digits of the scan tree begin. */
START_TEST(boundaries) {
  random_state random = random_start(106);
  static const uint64_t lengths[] = {4096,        8192,        16384,       31 * 4096,   32 * 4096,  33 * 4096,
                                     127 * 2048,  128 * 2048,  129 * 2048,  127 * 4096,  128 * 4096, 129 * 4096,
                                     1024 * 4096, 1056 * 4096, 2048 * 4096, 127 * 8192,  128 * 8192, 129 * 8192,
                                     255 * 8192,  256 * 8192,  257 * 8192,  4096 * 8192, 4224 * 8192};
  const uint64_t most = 4224 * 8192 + 1;
  float *in = malloc(most * sizeof *in);
  fill_large(&random, RED_F32, (unsigned char *)in, most);
  device_run run = {.queue = NULL};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (int beside = -1; beside <= 1; beside++)
      for (size_t k = 0; k < 3; k++) {
        red_problem problem = RED_PROBLEM_INIT(kinds[k], RED_SUM, RED_F32, lengths[i] + (uint64_t)(int64_t)beside);
        run.in_shift = run.out_shift = 0;
        against_cpu(&problem, in, &run);
        run.in_shift = run.out_shift = 1; /* the kernels for any alignment, whose tiles have 4096 elements */
        if (lengths[i] % 2048 == 0 && lengths[i] <= 129 * 8192) against_cpu(&problem, in, &run);
      }
  free(in);
}
END_TEST

/* ---- How blocks combine: all ways, one answer
 * ------------------------------------------------------------------------------ */

START_TEST(combinations) {
  static const char *const ways[] = {"poll", "last", "two", "pdl", "coop", "atomic"};
  static const struct {
    red_op op;
    red_dtype in;
  } ops[] = {{RED_SUM, RED_F32}, {RED_SUM, RED_F64},  {RED_SUM, RED_F16},   {RED_PROD, RED_F64}, {RED_SUM, RED_I32},
             {RED_MIN, RED_F32}, {RED_MAX, RED_U8},   {RED_BAND, RED_U64},  {RED_BOR, RED_I8},   {RED_BXOR, RED_U32},
             {RED_ANY, RED_F16}, {RED_PROD, RED_I32}, {RED_ARGMAX, RED_F32}};
  random_state random = random_start(107);
  uint64_t most = 9000000;
  unsigned char *in = malloc(most * 8);
  red_queue *queue;
  ck_red(red_queue_create(context, &queue));
  for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
    fill_large(&random, ops[o].in, in, most);
    for (unsigned length = 0; length < 3; length++) {
      uint64_t n = length == 0 ? random_length(&random, 5000) : length == 1 ? random_length(&random, 200000) : most;
      for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, ops[o].op, ops[o].in, n + 1 > most ? most : n + 1);
        device_run run = {.queue = w % 2 ? queue : NULL, .host_result = (int)(length % 2)};
        /* a scan in between: its slots must not lie on what a reduction counts with */
        red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 400000);
        device_run between = {.queue = run.queue};
        against_cpu(&scan, in, &between);
        setenv("RED_CUDA_COMBINE", ways[w], 1);
        against_cpu(&problem, in, &run);
        unsetenv("RED_CUDA_COMBINE");
      }
    }
  }
  setenv("RED_CUDA_COMBINE", "two", 1);
  for (size_t k = 1; k < 3; k++)
    for (uint64_t n = 1; n < most; n = n * 7 + 5) {
      red_problem problem = RED_PROBLEM_INIT(kinds[k], RED_SUM, RED_F32, n);
      device_run run = {.queue = queue};
      fill_large(&random, RED_F32, in, n);
      against_cpu(&problem, in, &run);
    }
  setenv("RED_CUDA_COMBINE", "nonsense", 1);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 10);
  red_plan *plan;
  ck_assert_int_eq(red_plan_create(context, &problem, &plan), RED_ERR_INVALID);
  unsetenv("RED_CUDA_COMBINE");
  red_queue_destroy(queue);
  free(in);
}
END_TEST

/* ---- Many threads, each with a queue, on one context
 * ------------------------------------------------------------------------ */

typedef struct hammer {
  pthread_t thread;
  unsigned index;
  const float *in;
  uint64_t n;
  uint32_t sum, last;
  red_status status;
} hammer;

static void *hammer_away(void *at) {
  hammer *h = at;
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, h->n);
  red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, h->n);
  sum.in_memory = scan.in_memory = scan.out_memory = RED_DEVICE;
  red_plan *sum_plan = NULL, *scan_plan = NULL;
  red_queue *queue = NULL;
  void *in = NULL, *out = NULL;
  h->status = red_plan_create(context, &sum, &sum_plan);
  if (h->status == RED_OK) h->status = red_plan_create(context, &scan, &scan_plan);
  if (h->status == RED_OK && h->index % 3 != 0) h->status = red_queue_create(context, &queue);
  if (h->status == RED_OK) h->status = red_alloc(context, h->n * 4, &in);
  if (h->status == RED_OK) h->status = red_alloc(context, h->n * 4, &out);
  if (h->status == RED_OK) h->status = red_upload(context, queue, in, 0, h->in, h->n * 4);
  for (unsigned i = 0; i < 200 && h->status == RED_OK; i++) {
    uint32_t sum_bits, last;
    h->status = red_plan_execute(scan_plan, queue, in, out);
    if (h->status == RED_OK) h->status = red_plan_execute(sum_plan, queue, in, &sum_bits);
    if (h->status == RED_OK) h->status = red_download(context, queue, &last, out, (h->n - 1) * 4, 4);
    if (h->status == RED_OK && (sum_bits != h->sum || last != h->last)) h->status = RED_ERR_MISMATCH;
  }
  red_free(context, in);
  red_free(context, out);
  red_queue_destroy(queue);
  red_plan_destroy(sum_plan);
  red_plan_destroy(scan_plan);
  return NULL;
}

START_TEST(threads_and_queues) {
  enum {
    THREADS = 8
  };
  random_state random = random_start(108);
  hammer hammers[THREADS];
  float *in = malloc(3000000 * sizeof *in), *out = malloc(3000000 * sizeof *out);
  random_numbers(&random, RED_F32, in, 3000000);
  for (unsigned i = 0; i < THREADS; i++) {
    hammer *h = &hammers[i];
    *h = (hammer){.index = i, .in = in, .n = i % 2 ? 3000000 - i : 100000 + i};
    ck_red(red_reduce(cpu, RED_SUM, RED_F32, in, h->n, &h->sum));
    ck_red(red_inclusive_scan(cpu, RED_SUM, RED_F32, in, h->n, out));
    memcpy(&h->last, &out[h->n - 1], 4);
  }
  for (unsigned i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&hammers[i].thread, NULL, hammer_away, &hammers[i]), 0);
  for (unsigned i = 0; i < THREADS; i++) pthread_join(hammers[i].thread, NULL);
  for (unsigned i = 0; i < THREADS; i++)
    ck_assert_msg(hammers[i].status == RED_OK, "thread %u: %s%s", i, red_strerror(hammers[i].status),
                  suite_seed_text());
  free(in);
  free(out);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_contexts, close_contexts);
  tcase_add_test(tests, operators);
  tcase_add_test(tests, accumulators_and_outputs);
  tcase_add_test(tests, statistics);
  tcase_add_test(tests, boundaries);
  tcase_add_test(tests, combinations);
  tcase_add_test(tests, threads_and_queues);
  tcase_add_test(tests, large_arrays);
  tcase_add_test(tests, large_statistics);
}

int main(void) {
  return suite_run("device", fill);
}
