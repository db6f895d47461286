/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls from many threads at once, and from inside the application's own parallel regions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum {
  N = 1500000,
  SMALL = 5000,
  THREADS = 8
};

static float *elements;

/* One of the calls that a thread makes; wrong results are counted, Check's assertions belong to the main thread. */
typedef struct expectation {
  float sum, small_sum;
  uint64_t index;
  float *scan; /* of the first SMALL */
} expectation;

static expectation expected;

static unsigned wrong_answers(red_context *context, float *out) {
  float sum, small_sum;
  uint64_t index = 0;
  unsigned wrong = 0;
  wrong += red_reduce(context, RED_SUM, RED_F32, elements, N, &sum) != RED_OK || memcmp(&sum, &expected.sum, 4) != 0;
  wrong += red_reduce(context, RED_SUM, RED_F32, elements, SMALL, &small_sum) != RED_OK ||
           memcmp(&small_sum, &expected.small_sum, 4) != 0;
  wrong += red_reduce(context, RED_ARGMAX, RED_F32, elements, N, &index) != RED_OK || index != expected.index;
  wrong += red_inclusive_scan(context, RED_SUM, RED_F32, elements, SMALL, out) != RED_OK ||
           memcmp(out, expected.scan, SMALL * sizeof *out) != 0;
  return wrong;
}

typedef struct worker {
  pthread_t thread;
  red_context *context;
  unsigned runs, wrong;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  float *out = malloc(SMALL * sizeof *out);
  for (unsigned i = 0; i < w->runs; i++) w->wrong += wrong_answers(w->context, out);
  free(out);
  return NULL;
}

static void run_threads(red_context *context) {
  worker workers[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    workers[i] = (worker){.context = context, .runs = suite_repeat(10)};
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  unsigned wrong = 0;
  for (unsigned i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    wrong += workers[i].wrong;
  }
  ck_assert_msg(wrong == 0, "%u of the answers were wrong%s", wrong, suite_seed_text());
}

/* The default context is made by whichever thread comes first. */
START_TEST(default_context) {
  run_threads(NULL);
}
END_TEST

START_TEST(one_context) {
  red_context *context = suite_context(0);
  run_threads(context);
  red_context_destroy(context);
}
END_TEST

#ifdef _OPENMP
/* The application's region may hold more threads than the machine, and regions of its own. */
START_TEST(inside_a_parallel_region) {
  unsigned wrong = 0;
  for (unsigned repeat = suite_repeat(5); repeat > 0; repeat--) {
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
      float *out = malloc(SMALL * sizeof *out);
      wrong += wrong_answers(NULL, out);
      free(out);
    }
  }
  ck_assert_msg(wrong == 0, "%u of the answers were wrong%s", wrong, suite_seed_text());
}
END_TEST

START_TEST(inside_a_task) {
  unsigned wrong = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (unsigned i = 0; i < 6; i++) {
#pragma omp task shared(wrong)
    {
      float *out = malloc(SMALL * sizeof *out);
      unsigned here = wrong_answers(NULL, out);
      free(out);
#pragma omp atomic
      wrong += here;
    }
  }
  ck_assert_msg(wrong == 0, "%u of the answers were wrong%s", wrong, suite_seed_text());
}
END_TEST
#endif

/* An error sentence belongs to the thread that made the error. */
static void *make_error(void *argument) {
  (void)argument;
  red_reduce(NULL, (red_op)99, RED_F32, NULL, 0, NULL);
  return NULL;
}

START_TEST(error_sentences_are_per_thread) {
  pthread_t thread;
  char before[256];
  float sum;
  ck_assert_int_ne(red_reduce(NULL, RED_SUM, RED_F32, NULL, 5, &sum), RED_OK);
  strncpy(before, red_last_error(), sizeof before - 1);
  before[sizeof before - 1] = '\0';
  ck_assert_int_eq(pthread_create(&thread, NULL, make_error, NULL), 0);
  pthread_join(thread, NULL);
  ck_assert_str_eq(red_last_error(), before);
}
END_TEST

static void prepare(void) {
  random_state random = random_start(1);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  elements = malloc(N * sizeof *elements);
  expected.scan = malloc(SMALL * sizeof *expected.scan);
  random_elements(&random, RED_F32, elements, N);
  ck_red(red_reference(&problem, elements, &expected.sum));
  problem.op = RED_ARGMAX;
  ck_red(red_reference(&problem, elements, &expected.index));
  problem = (red_problem)RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, SMALL);
  ck_red(red_reference(&problem, elements, &expected.small_sum));
  problem.kind = RED_INCLUSIVE_SCAN;
  ck_red(red_reference(&problem, elements, expected.scan));
}

static void clean_up(void) {
  free(elements);
  free(expected.scan);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, prepare, clean_up);
  tcase_add_test(tests, default_context); /* first: nobody has made it yet */
  tcase_add_test(tests, one_context);
#ifdef _OPENMP
  tcase_add_test(tests, inside_a_parallel_region);
  tcase_add_test(tests, inside_a_task);
#endif
  tcase_add_test(tests, error_sentences_are_per_thread);
}

int main(void) {
  return suite_run("concurrency", fill);
}
