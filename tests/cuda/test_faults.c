/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The n-th call of the driver fails, for every n: each failure comes back as a status with a sentence, nothing leaks,
 * and what is done afterwards is right. The table of driver functions is replaced by one that counts.
 */
#include <stdlib.h>
#include <string.h>

#include "../compare.h"
#include "api.h"

/* ---- The table that fails
 * --------------------------------------------------------------------------------------------- */

static red_cuda_api real;
static unsigned countdown; /* 0: no call fails */
static const char *failed_call;
static int leaving_open; /* entering the device's context does not fail */
static int balance;      /* of what was made and not yet unmade */

/* A function that unmakes something does it and then fails: otherwise the test would leak. */
static int unmakes(const char *symbol) {
  return strstr(symbol, "Free") != NULL || strstr(symbol, "Destroy") != NULL || strstr(symbol, "Unload") != NULL ||
         strstr(symbol, "Release") != NULL || strstr(symbol, "Pop") != NULL || strstr(symbol, "Exchange") != NULL;
}

static int makes(const char *symbol) {
  return strstr(symbol, "MemAlloc") != NULL || strstr(symbol, "HostAlloc") != NULL ||
         strstr(symbol, "StreamCreate") != NULL || strstr(symbol, "EventCreate") != NULL ||
         strstr(symbol, "ModuleLoad") != NULL || strstr(symbol, "Retain") != NULL || strstr(symbol, "Push") != NULL;
}

static int is_text(const char *symbol) {
  return strstr(symbol, "cuGetError") != NULL;
}

/* Without these nothing can be given back: a leak would be the test's own. */
static int enters(const char *symbol) {
  return strstr(symbol, "Push") != NULL || strstr(symbol, "Exchange") != NULL;
}

static int fails_now(const char *symbol) {
  if (is_text(symbol) || (leaving_open && enters(symbol)) || countdown == 0 || --countdown > 0) return 0;
  failed_call = symbol;
  return 1;
}

static CUresult account(const char *symbol, CUresult error) {
  if (error == CUDA_SUCCESS && makes(symbol)) balance++;
  if (unmakes(symbol) && strstr(symbol, "Exchange") == NULL) balance--;
  return error;
}

#define X(member, symbol, parameters, arguments)                                                                       \
  static CUresult counting_##member parameters {                                                                       \
    int fails = fails_now(symbol);                                                                                     \
    if (fails && !unmakes(symbol)) return CUDA_ERROR_OUT_OF_MEMORY;                                                    \
    CUresult result = account(symbol, real.member arguments);                                                          \
    return fails ? CUDA_ERROR_UNKNOWN : result;                                                                        \
  }
RED_CUDA_API(X)
RED_CUDA_API_OPTIONAL(X)
#undef X

static void count_calls(void) {
  real = red_cu;
#define X(member, symbol, parameters, arguments)                                                                       \
  if (real.member != NULL) red_cu.member = counting_##member;
  RED_CUDA_API(X)
  RED_CUDA_API_OPTIONAL(X)
#undef X
}

/* ---- What is tried
 * ------------------------------------------------------------------------------------------------------ */

enum {
  N = 300000,
  LARGE = 9000000 /* more than two pieces of 16 MB */
};

static float *data, *expected, *actual;
static float sum;
static red_stats_result stats = {.size = sizeof stats};

static red_status check(int right) {
  return right ? RED_OK : RED_ERR_MISMATCH;
}

/* One problem with everything around it: plan, queue, memory, execution. Statuses are passed on, results compared. */
static red_status on_device(red_context *context, red_kind kind, red_memory out_memory) {
  red_problem problem = RED_PROBLEM_INIT(kind, RED_SUM, RED_F32, N);
  red_plan *plan = NULL;
  red_queue *queue = NULL;
  void *in = NULL, *out = NULL;
  size_t bytes = output_bytes(&problem);
  problem.in_memory = RED_DEVICE;
  problem.out_memory = out_memory;
  red_status status = red_plan_create(context, &problem, &plan);
  if (status == RED_OK) status = red_queue_create(context, &queue);
  if (status == RED_OK) status = red_alloc(context, N * sizeof(float), &in);
  if (status == RED_OK) status = red_alloc(context, bytes, &out);
  if (status == RED_OK) status = red_upload(context, queue, in, 0, data, N * sizeof(float));
  prepare_output(&problem, actual);
  if (status == RED_OK) status = red_plan_execute(plan, queue, in, out_memory == RED_HOST ? actual : out);
  if (status == RED_OK && out_memory == RED_DEVICE) status = red_download(context, queue, actual, out, 0, bytes);
  if (status == RED_OK) {
    const void *right = kind == RED_REDUCE ? (void *)&sum : kind == RED_STATS ? (void *)&stats : (void *)expected;
    status = check(memcmp(actual, right, bytes) == 0);
  }
  red_free(context, in);
  red_free(context, out);
  red_queue_destroy(queue);
  red_plan_destroy(plan);
  return status;
}

static red_status on_host(red_context *context, uint64_t n) {
  red_status status = red_inclusive_scan(context, RED_SUM, RED_F32, data, n, actual);
  return status == RED_OK ? check(memcmp(actual, expected, n * sizeof(float)) == 0) : status;
}

static red_status everything(red_context *context) {
  red_status status = on_device(context, RED_REDUCE, RED_DEVICE);
  if (status == RED_OK) status = on_device(context, RED_REDUCE, RED_HOST);
  if (status == RED_OK) status = on_device(context, RED_STATS, RED_DEVICE);
  if (status == RED_OK) status = on_device(context, RED_INCLUSIVE_SCAN, RED_DEVICE);
  if (status == RED_OK) status = on_host(context, 10000);
  return status;
}

static red_status with_a_new_context(red_context *unused) {
  red_context_options options = {.size = sizeof options, .backend = "cuda"};
  red_context *context = NULL;
  (void)unused;
  red_status status = red_context_create(&options, &context);
  if (status == RED_OK) status = on_host(context, 10000);
  red_context_destroy(context);
  return status;
}

static red_status in_pieces(red_context *context) {
  return on_host(context, LARGE);
}

/* ---- Every call
 * --------------------------------------------------------------------------------------------------------- */

static red_context *context;

/* Fails the calls one after the other until the scenario no longer reaches the next one. */
static void fail_each(red_status (*scenario)(red_context *), unsigned stride) {
  unsigned tried = 0, reported = 0;
  ck_red(scenario(context)); /* what is made once is there */
  for (unsigned n = 1;; n += stride) {
    int before = balance;
    failed_call = NULL;
    countdown = n;
    red_status status = scenario(context);
    countdown = 0;
    if (failed_call == NULL) {
      ck_assert_msg(status == RED_OK, "without a failure: %s", red_last_error());
      break;
    }
    tried++;
    ck_assert_msg(status != RED_ERR_MISMATCH, "%s (call %u) failed, and the result was wrong", failed_call, n);
    if (status != RED_OK) {
      reported++;
      ck_assert_msg(strlen(red_last_error()) > 10, "%s (call %u) failed: no sentence", failed_call, n);
    }
    const char *call = failed_call;
    red_status again = scenario(context);
    ck_assert_msg(again == RED_OK, "after a failure of %s (call %u): %s: %s", call, n, red_strerror(again),
                  red_last_error());
    /* Pools may have grown; a leak would grow them without end. */
    ck_assert_msg(balance - before <= 24, "%s (call %u): %d objects more than before", call, n, balance - before);
  }
  ck_assert_uint_gt(tried, 20);
  ck_assert_uint_gt(reported, tried / 3); /* the rest unmakes something, or only asks */
}

START_TEST(executions) {
  fail_each(everything, 1);
}
END_TEST

START_TEST(contexts) {
  fail_each(with_a_new_context, 1);
}
END_TEST

START_TEST(pieces) {
  fail_each(in_pieces, 1);
}
END_TEST

START_TEST(two_launches) {
  setenv("RED_CUDA_COMBINE", "two", 1);
  fail_each(everything, 1);
  unsetenv("RED_CUDA_COMBINE");
}
END_TEST

/* Everything that was made is unmade when the context goes. */
START_TEST(nothing_leaks) {
  int before = balance;
  red_context *made = suite_context(0);
  ck_red(everything(made));
  ck_red(in_pieces(made));
  leaving_open = 1;
  for (unsigned n = 1; n < 400; n += 13) {
    countdown = n;
    everything(made);
  }
  leaving_open = 0;
  countdown = 0;
  red_context_destroy(made);
  ck_assert_int_eq(balance, before);
}
END_TEST

static void open_all(void) {
  random_state random = random_start(301);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  data = malloc(LARGE * sizeof *data);
  expected = malloc(LARGE * sizeof *expected);
  actual = malloc(LARGE * sizeof *actual);
  random_numbers(&random, RED_F32, data, LARGE);
  ck_red(red_reference(&problem, data, &sum));
  problem.kind = RED_STATS;
  ck_red(red_reference(&problem, data, &stats));
  problem.kind = RED_INCLUSIVE_SCAN;
  problem.n = LARGE;
  ck_red(red_reference(&problem, data, expected));
  ck_assert_ptr_null(red_cuda_load());
  count_calls();
  context = suite_context(0);
}

static void close_all(void) {
  red_context_destroy(context);
  free(data);
  free(expected);
  free(actual);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_all, close_all);
  tcase_add_test(tests, executions);
  tcase_add_test(tests, pieces);
  tcase_add_test(tests, two_launches);
  tcase_add_test(tests, contexts);
  tcase_add_test(tests, nothing_leaks);
}

int main(void) {
  return suite_run("faults", fill);
}
