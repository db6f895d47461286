/* SPDX-License-Identifier: BSD-2-Clause */
/* Every device of a backend at once, a context and a thread for each: the bits of the reference on all of them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum {
  N = 300007,
  MAX_DEVICES = 64
};

static const red_problem problems[] = {
    RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N),
    RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N),
    RED_PROBLEM_INIT(RED_REDUCE, RED_ARGMIN, RED_F32, N),
    RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_I16, N),
    RED_PROBLEM_INIT(RED_EXCLUSIVE_SCAN, RED_MAX, RED_I32, N),
    RED_PROBLEM_INIT(RED_REDUCE, RED_NRM2, RED_F32, 4099),
};
enum {
  PROBLEMS = sizeof problems / sizeof problems[0]
};

static void *inputs[PROBLEMS], *expected[PROBLEMS];

typedef struct worker {
  pthread_t thread;
  char id[32];
  char failure[512]; /* Check's assertions belong to the main thread */
} worker;

static red_device_info devices[MAX_DEVICES];
static size_t device_count;

/* The available devices of the backend under test. */
static void find_devices(void) {
  size_t count, length = strcspn(suite_backend(), ":");
  devices[0].size = sizeof devices[0];
  ck_red(red_devices(devices, MAX_DEVICES, &count));
  for (size_t i = 0; i < count && i < MAX_DEVICES; i++)
    if (devices[i].available && strlen(devices[i].backend) == length &&
        memcmp(devices[i].backend, suite_backend(), length) == 0)
      devices[device_count++] = devices[i];
}

static uint64_t in_bytes(const red_problem *problem) {
  return problem->n * red_dtype_bytes(problem->in);
}

/* One problem from the device's memory into the device's memory. */
static red_status run_once(red_context *context, red_queue *queue, const red_problem *host, const void *in, void *out) {
  red_problem problem = *host;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  void *from = NULL, *to = NULL;
  red_plan *plan = NULL;
  red_status status = red_plan_create(context, &problem, &plan);
  if (status == RED_OK) status = red_alloc(context, in_bytes(host), &from);
  if (status == RED_OK) status = red_alloc(context, output_bytes(host), &to);
  if (status == RED_OK) status = red_upload(context, queue, from, 0, in, in_bytes(host));
  if (status == RED_OK) status = red_plan_execute(plan, queue, from, to);
  if (status == RED_OK) status = red_download(context, queue, out, to, 0, output_bytes(host));
  red_plan_destroy(plan);
  red_free(context, to);
  red_free(context, from);
  return status;
}

static void run_all(worker *w, red_context *context, red_queue *queue) {
  for (unsigned i = 0; i < PROBLEMS && w->failure[0] == '\0'; i++) {
    const size_t bytes = output_bytes(&problems[i]);
    void *out = malloc(bytes);
    const char *what = NULL;
    if (run_once(context, queue, &problems[i], inputs[i], out) != RED_OK)
      what = red_last_error();
    else if (memcmp(out, expected[i], bytes) != 0)
      what = "other bits than the reference";
    if (what != NULL) snprintf(w->failure, sizeof w->failure, "problem %u: %.400s", i, what);
    free(out);
  }
}

static void *work(void *argument) {
  worker *w = argument;
  red_context_options options = {.size = sizeof options, .backend = w->id};
  red_context *context = NULL;
  red_queue *queue = NULL;
  if (red_context_create(&options, &context) != RED_OK || red_queue_create(context, &queue) != RED_OK)
    snprintf(w->failure, sizeof w->failure, "%.400s", red_last_error());
  for (unsigned repeat = suite_repeat(10); repeat > 0 && w->failure[0] == '\0'; repeat--) run_all(w, context, queue);
  red_queue_destroy(queue);
  red_context_destroy(context);
  return NULL;
}

START_TEST(all_at_once) {
  worker workers[MAX_DEVICES];
  for (size_t i = 0; i < device_count; i++) {
    workers[i].failure[0] = '\0';
    memcpy(workers[i].id, devices[i].id, sizeof workers[i].id);
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (size_t i = 0; i < device_count; i++) pthread_join(workers[i].thread, NULL);
  for (size_t i = 0; i < device_count; i++)
    ck_assert_msg(workers[i].failure[0] == '\0', "%s: %s%s", workers[i].id, workers[i].failure, suite_seed_text());
}
END_TEST

/* One thread that goes from device to device, each of which keeps its context: whose turn it is must not matter. */
START_TEST(in_turns) {
  red_context *contexts[MAX_DEVICES];
  red_queue *queues[MAX_DEVICES];
  for (size_t i = 0; i < device_count; i++) {
    red_context_options options = {.size = sizeof options, .backend = devices[i].id};
    ck_red(red_context_create(&options, &contexts[i]));
    ck_red(red_queue_create(contexts[i], &queues[i]));
  }
  for (unsigned repeat = suite_repeat(3); repeat > 0; repeat--)
    for (size_t i = 0; i < device_count; i++) {
      worker w = {.failure = ""};
      run_all(&w, contexts[i], queues[i]);
      ck_assert_msg(w.failure[0] == '\0', "%s: %s%s", devices[i].id, w.failure, suite_seed_text());
    }
  for (size_t i = 0; i < device_count; i++) {
    red_queue_destroy(queues[i]);
    red_context_destroy(contexts[i]);
  }
}
END_TEST

static void prepare(void) {
  random_state random = random_start(1);
  for (unsigned i = 0; i < PROBLEMS; i++) {
    inputs[i] = malloc(in_bytes(&problems[i]));
    expected[i] = malloc(output_bytes(&problems[i]));
    random_elements(&random, problems[i].in, inputs[i], problems[i].n);
    ck_red(red_reference(&problems[i], inputs[i], expected[i]));
  }
}

static void clean_up(void) {
  for (unsigned i = 0; i < PROBLEMS; i++) {
    free(inputs[i]);
    free(expected[i]);
  }
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, prepare, clean_up);
  tcase_add_test(tests, all_at_once);
  tcase_add_test(tests, in_turns);
}

int main(void) {
  find_devices();
  if (device_count == 1) {
    printf("skipped: %s is the only device of its backend here\n", devices[0].id);
    return 77;
  }
  return suite_run("devices", fill); /* which says why, where there is none */
}
