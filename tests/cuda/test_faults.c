/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The n-th call of the driver fails, for every n: each failure comes back as a status with a sentence, every object
 * that was made is unmade with the context, and what is done afterwards is right.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "shim.h"
#include "trial.h"

/* ---- What is tried ----------------------------------------------------------------------------------------------- */

enum {
  N = 100003,
  SMALL = 3001,
  PIPED = 1100000, /* beyond 4 MB, where scans take the pipeline */
  LARGE = 9000000, /* more than two pieces of 16 MB */
  TWO_PIECES = 4200000
};

/* clang-format off */
static const trial on_device[] = {
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_HOST, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_DOT, RED_F32, 0, N, RED_DEVICE, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_ARGMAX, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_WORKSPACE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 1, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F64, 0, N, RED_DEVICE, RED_HOST, 1, OWN_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_HOST, 0, OWN_QUEUE},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, PIPED, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"last", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"two", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"two", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"pdl", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"coop", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"atomic", RED_REDUCE, RED_SUM, RED_I32, 0, N, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, CAPTURED},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, N, RED_DEVICE, RED_DEVICE, 0, CAPTURED},
};

static const trial of_the_host[] = {
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 1, NO_QUEUE},
    {"poll", RED_REDUCE, RED_DOT, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, OWN_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_HOST, 0, NO_QUEUE},
    /* a result in device memory, from host memory or of nothing */
    {"poll", RED_REDUCE, RED_MAX, RED_I8, 0, SMALL, RED_HOST, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F16, RED_F16, SMALL, RED_HOST, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, SMALL, RED_HOST, RED_DEVICE, 1, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F16, RED_F16, 0, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F64, 0, 0, RED_DEVICE, RED_DEVICE, 0, OWN_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, 0, RED_DEVICE, RED_DEVICE, 1, OWN_QUEUE},
};

static const trial in_pieces[] = {
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, LARGE, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_DOT, RED_F32, 0, TWO_PIECES, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_REDUCE, RED_SUM, RED_F32, 0, TWO_PIECES, RED_HOST, RED_HOST, 1, NO_QUEUE},
    {"poll", RED_STATS, RED_SUM, RED_F32, 0, TWO_PIECES, RED_HOST, RED_HOST, 0, NO_QUEUE},
    {"poll", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, LARGE, RED_HOST, RED_HOST, 0, NO_QUEUE},
};
/* clang-format on */

/* ---- Every call fails -------------------------------------------------------------------------------------------- */

static int texts;    /* errors have no names */
static void *native; /* the context that the library is to use; NULL: the primary one */

/* Of a call that failed. One that makes no difference need not be reported. */
static void check_report(red_status status, unsigned n, int may_be_silent) {
  const char *call = shim_failed(), *sentence = red_last_error();
  ck_assert_msg(status != RED_OK || may_be_silent, "%s (call %u) failed, and nobody was told", call, n);
  if (status == RED_OK) return;
  int asks = strncmp(call, "cuDeviceGet", 11) == 0; /* a device that cannot be asked is not there: another sentence */
  const char *word = asks ? "" : texts ? "no name" : "CUDA_ERROR_";
  ck_assert_msg(strlen(sentence) > 10 && strstr(sentence, word) != NULL, "%s (call %u) failed: '%s'", call, n,
                sentence);
}

static void check_afterwards(red_context *context, const trial *t, unsigned n) {
  red_status status = trial_run(context, t);
  ck_assert_msg(status == RED_OK, "after a failure of %s (call %u): %s", shim_failed(), n, red_last_error());
}

static red_status open_context(red_context **context) {
  char id[32]; /* this device, and no other in its place */
  snprintf(id, sizeof id, "cuda:%d", driver_ordinal());
  red_context_options options = {.size = sizeof options, .backend = id, .native_context = native};
  return red_context_create(&options, context);
}

static void close_context(red_context *context) {
  shim_begin_giving();
  red_context_destroy(context);
  shim_end_giving();
}

/* The library has left no trace but the objects that it could not unmake. */
static void check_end(const char *call, unsigned n, unsigned lost) {
  CUcontext current = NULL;
  ck_cuda(cuda.CtxGetCurrent(&current));
  ck_assert_ptr_eq(current, native != NULL ? (CUcontext)native : driver_primary);
  ck_assert_msg(shim_depth() == 0, "%s (call %u): %d contexts pushed and not popped", call, n, shim_depth());
  ck_assert_msg(shim_retained() == 0, "%s (call %u): the primary context is retained still", call, n);
  ck_assert_msg(shim_objects() == lost, "%s (call %u): %u objects left, %u could not be unmade", call, n,
                shim_objects(), lost);
  shim_reclaim(native != NULL ? native : driver_primary);
}

/* In a context that is used again and again, and has the same objects after each failure. */
static void fail_each(const trial *t) {
  red_context *context;
  unsigned lost = 0, n = 1;
  trial_begin(t);
  shim_record(0);
  ck_red(open_context(&context));
  ck_red(trial_run(context, t));
  const unsigned objects = shim_objects();
  shim_record(1);
  ck_red(trial_run(context, t));
  for (;; n++) {
    shim_record(0);
    shim_fail(n, 0);
    red_status status = trial_run(context, t);
    if (shim_failed() == NULL) break;
    check_report(status, n, shim_failed_silently());
    check_afterwards(context, t, n);
    lost += shim_lost();
    ck_assert_msg(shim_objects() == objects + lost, "%s (call %u): %u objects instead of %u, %u could not be unmade",
                  shim_failed(), n, shim_objects(), objects, lost);
  }
  shim_fail(0, 0);
  ck_assert_uint_gt(n, 5);
  close_context(context);
  check_end("nothing", n, lost);
  trial_end();
}

typedef enum calls {
  ALL,
  THAT_MAKE, /* objects */
  OF_CLOSING /* the context */
} calls;

/* Of the device's context. */
static int keeps_out(const char *call) {
  return strncmp(call, "cuCtxPush", 9) == 0 || strncmp(call, "cuThreadExchange", 16) == 0;
}

/* A whole life of a context, in which the n-th of these calls fails; 0 if there was none. */
static int life(const trial *t, unsigned n, calls which) {
  red_context *context = NULL;
  shim_record(n == 0);
  shim_fail(which == OF_CLOSING ? 0 : n, which == THAT_MAKE);
  red_status status = open_context(&context);
  int while_opening = shim_failed() != NULL; /* then what describes the device may have failed */
  if (status == RED_OK) status = trial_run(context, t);
  if (shim_failed() != NULL)
    check_report(status, n, while_opening || shim_failed_silently());
  else
    ck_assert_msg(status == RED_OK, "without a failure: %s", red_last_error());
  if (shim_failed() != NULL && context != NULL) check_afterwards(context, t, n);
  if (which == OF_CLOSING) shim_fail(n, 0);
  close_context(context);
  const char *call = shim_failed();
  unsigned lost = shim_lost();
  /* The self-test gives back two arrays while the device opens: one of them may be kept. */
  if (while_opening && lost == 0 && keeps_out(call) && shim_objects() == 1) lost = 1;
  shim_fail(0, 0);
  check_end(call != NULL ? call : "nothing", n, lost);
  return call != NULL;
}

static void fail_each_in_a_life(const trial *t, calls which, unsigned most) {
  unsigned n = 0;
  trial_begin(t);
  life(t, n++, which);
  while (n <= most && life(t, n, which)) n++;
  ck_assert_uint_gt(n, 5);
  trial_end();
}

START_TEST(device_memory) {
  fail_each(&on_device[_i]);
}
END_TEST

START_TEST(host_memory) {
  fail_each(&of_the_host[_i]);
}
END_TEST

START_TEST(pieces) {
  fail_each(&in_pieces[_i]);
}
END_TEST

/* Opening a context, with its self-test, using and closing it. */
START_TEST(lives) {
  fail_each_in_a_life(&on_device[0], ALL, UINT_MAX);
  fail_each_in_a_life(&on_device[0], OF_CLOSING, UINT_MAX);
}
END_TEST

START_TEST(lives_in_pieces) {
  fail_each_in_a_life(&in_pieces[0], THAT_MAKE, UINT_MAX);
}
END_TEST

/* Results that take so long that the library asks for them. */
START_TEST(questions) {
  const trial *t = &in_pieces[0];
  red_context *context;
  red_status status = RED_OK;
  trial_begin(t);
  ck_red(open_context(&context));
  ck_red(trial_run(context, t));
  const unsigned objects = shim_objects();
  shim_fail_questions(1);
  for (unsigned i = 0; i < 1000 && shim_failed() == NULL; i++) status = trial_run(context, t);
  ck_assert_ptr_nonnull(shim_failed());
  check_report(status, 1, 0);
  shim_fail_questions(0);
  check_afterwards(context, t, 1);
  ck_assert_uint_eq(shim_objects(), objects);
  shim_fail(0, 0);
  close_context(context);
  check_end("nothing", 0, 0);
  trial_end();
}
END_TEST

START_TEST(errors_without_names) {
  texts = 1;
  shim_fail_texts(1);
  fail_each(&on_device[2]);
  shim_fail_texts(0);
  texts = 0;
}
END_TEST

/* A context of the application's own, which outlives the library's. The calls that make one are the first. */
START_TEST(native_context) {
  CUcontext made;
  ck_cuda(cuda.CtxCreate(&made, 0, driver_device)); /* and makes it current */
  native = made;
  fail_each(&on_device[0]);
  fail_each_in_a_life(&on_device[0], ALL, 60);
  native = NULL;
  ck_cuda(cuda.CtxDestroy(made));
  ck_cuda(cuda.CtxSetCurrent(driver_primary));
}
END_TEST

START_TEST(every_function_failed) {
  shim_expect_all();
}
END_TEST

static void open_all(void) {
  driver_open();
  trial_open(LARGE);
  shim_install();
}

static void close_all(void) {
  trial_close();
  driver_close();
}

/* Whatever the test before has left behind. */
static void begin(void) {
  native = NULL;
  texts = 0;
  shim_reset();
  ck_cuda(cuda.CtxSetCurrent(driver_primary));
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_all, close_all);
  tcase_add_checked_fixture(tests, begin, NULL);
  tcase_add_loop_test(tests, device_memory, 0, sizeof on_device / sizeof *on_device);
  tcase_add_loop_test(tests, host_memory, 0, sizeof of_the_host / sizeof *of_the_host);
  tcase_add_loop_test(tests, pieces, 0, sizeof in_pieces / sizeof *in_pieces);
  tcase_add_test(tests, lives);
  tcase_add_test(tests, lives_in_pieces);
  tcase_add_test(tests, questions);
  tcase_add_test(tests, errors_without_names);
  tcase_add_test(tests, native_context);
  tcase_add_test(tests, every_function_failed); /* the last one */
}

int main(void) {
  return suite_run("faults", fill);
}
