/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are pinned to one CPU: a team of theirs would run on that CPU, so they work alone, unless a number of
 * threads was asked for; what a context may use is up to the process, not to the thread that opens it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setaffinity_np */
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "compare.h"

#if defined(__linux__) && defined(_OPENMP)

enum {
  N = 1 << 22
};

static float *elements, *scanned;
static float sum;

static void pin(void) {
  cpu_set_t set, one;
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof set, &set);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &set)) CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/* The threads of this process; 0 if that cannot be told. */
static unsigned threads_here(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  unsigned threads = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL && sscanf(line, "Threads: %u", &threads) != 1) continue;
  if (file != NULL) fclose(file);
  return threads;
}

/* Threads of a team go by and by after the one that started it: until there are only the main thread and this one. */
static unsigned threads_left(void) {
  for (unsigned i = 0; i < 500 && threads_here() > 2; i++) usleep(1000);
  return threads_here();
}

static unsigned units_of(red_context *context) {
  red_device_info info = {.size = sizeof info};
  return red_context_device(context, RED_HOST, &info) == RED_OK ? info.units : 0;
}

/* A thread of its own, which has no team yet; Check's assertions belong to the main thread. */
typedef struct visit {
  red_context *context; /* NULL: one of its own */
  unsigned wrong, started, threads, units, processors;
} visit;

static void *visit_pinned(void *argument) {
  visit *v = argument;
  pin();
  red_context_options options = {.size = sizeof options, .backend = suite_backend()};
  red_context *own = NULL;
  if (v->context == NULL) v->wrong += red_context_create(&options, &own) != RED_OK;
  red_context *context = own != NULL ? own : v->context;
  float *out = malloc(N * sizeof *out);
  const unsigned before = threads_left();
  for (unsigned i = 0; i < 5; i++) {
    float actual;
    v->wrong += red_reduce(context, RED_SUM, RED_F32, elements, N, &actual) != RED_OK || memcmp(&actual, &sum, 4) != 0;
    v->wrong += red_inclusive_scan(context, RED_SUM, RED_F32, elements, N, out) != RED_OK ||
                memcmp(out, scanned, N * sizeof *out) != 0;
  }
  v->threads = threads_here();
  v->started = v->threads - before; /* a team stays as long as the thread that started it */
  v->units = units_of(context);
  v->processors = (unsigned)omp_get_num_procs();
  free(out);
  red_context_destroy(own);
  return NULL;
}

static visit pinned(red_context *context) {
  visit v = {.context = context};
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, visit_pinned, &v), 0);
  pthread_join(thread, NULL);
  ck_assert_msg(v.wrong == 0, "%u of the answers were wrong%s", v.wrong, suite_seed_text());
  return v;
}

/* Unless OpenMP has places (OMP_PROC_BIND), to which it binds the others. */
START_TEST(a_pinned_caller_works_alone) {
  red_context *context = suite_context(0);
  const visit v = pinned(context);
  ck_assert_uint_lt(v.started, v.processors);
  red_context_destroy(context);
}
END_TEST

START_TEST(a_number_is_obeyed) {
  red_context *context = suite_context(2);
  const visit v = pinned(context);
  /* The main thread, the caller and its team; LLVM's run-time library keeps the team of a thread that is gone. */
  if (units_of(context) == 2 && threads_here() > 0) ck_assert_uint_ge(v.threads, 3);
  red_context_destroy(context);
}
END_TEST

START_TEST(a_pinned_opener_limits_nobody) {
  red_context *context = suite_context(0);
  ck_assert_uint_eq(pinned(NULL).units, units_of(context));
  red_context_destroy(context);
}
END_TEST

/*
 * The last one: it pins the main thread. Where OpenMP has bound that itself (OMP_PROC_BIND), its places count. They
 * are no more than a thread of any mask may use.
 */
START_TEST(a_pinned_process) {
  cpu_set_t all;
  memset(&all, 0xff, sizeof all);
  ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
  red_context *context = suite_context(0);
  const unsigned most = units_of(context);
  red_context_destroy(context);
  pin();
  context = suite_context(0);
  const unsigned places = (unsigned)omp_get_num_procs();
  ck_assert_uint_eq(units_of(context), places < most ? places : most);
  red_context_destroy(context);
}
END_TEST

static void prepare(void) {
  random_state random = random_start(1);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  elements = malloc(N * sizeof *elements);
  scanned = malloc(N * sizeof *scanned);
  random_elements(&random, RED_F32, elements, N);
  ck_red(red_reference(&problem, elements, &sum));
  problem.kind = RED_INCLUSIVE_SCAN;
  ck_red(red_reference(&problem, elements, scanned));
}

static void clean_up(void) {
  free(elements);
  free(scanned);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, prepare, clean_up);
  tcase_add_test(tests, a_pinned_caller_works_alone);
  tcase_add_test(tests, a_number_is_obeyed);
  tcase_add_test(tests, a_pinned_opener_limits_nobody);
  tcase_add_test(tests, a_pinned_process);
}

#else

static void fill(TCase *tests) {
  (void)tests;
}

#endif

int main(void) {
  return suite_run("affinity", fill);
}
