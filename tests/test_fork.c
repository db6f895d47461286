/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU backend after fork: a child reduces and scans with the right bits and exits, the parent goes on. libgomp
 * hangs in a child that starts a team after its parent has had one, so a child must not. (GPU drivers cannot be used
 * there.)
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"

enum {
  N = 1 << 20,
  SECONDS = 30
};

static float *elements, *scanned, *out;
static float sum;

static int all_right(red_context *context) {
  float actual;
  if (red_reduce(context, RED_SUM, RED_F32, elements, N, &actual) != RED_OK || memcmp(&actual, &sum, 4) != 0) return 0;
  if (red_inclusive_scan(context, RED_SUM, RED_F32, elements, N, out) != RED_OK) return 0;
  return memcmp(out, scanned, N * sizeof *out) == 0;
}

/* A hang is a failure. Check has a handler of its own, which would kill the whole process group. */
static void set_alarm(void) {
  signal(SIGALRM, SIG_DFL);
  alarm(SECONDS);
}

static int in_child(red_context *context) {
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    set_alarm();
    _exit(all_right(context) ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(!WIFSIGNALED(status), "the child died of signal %d (%d: it hung)", WTERMSIG(status), SIGALRM);
  return WEXITSTATUS(status);
}

/* The parent's team was the application's, and this library had not been used: the child must not start one either. */
START_TEST(after_the_applications_own_team) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  ck_assert_int_ge(threads, 1);
  ck_assert_int_eq(in_child(NULL), EXIT_SUCCESS);
}
END_TEST

START_TEST(before_any_use) {
  ck_assert_int_eq(in_child(NULL), EXIT_SUCCESS);
  ck_assert(all_right(NULL));
}
END_TEST

START_TEST(after_use) {
  ck_assert(all_right(NULL));
  ck_assert_int_eq(in_child(NULL), EXIT_SUCCESS);
  ck_assert(all_right(NULL));
}
END_TEST

START_TEST(own_context) {
  red_context *context = suite_context(4);
  ck_assert(all_right(context));
  for (int i = 0; i < 3; i++) ck_assert_int_eq(in_child(context), EXIT_SUCCESS);
  ck_assert(all_right(context));
  red_context_destroy(context);
}
END_TEST

/* exit(), not _exit(): nothing that the library has registered may hang or crash. */
START_TEST(child_exits_normally) {
  ck_assert(all_right(NULL));
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    set_alarm();
    exit(all_right(NULL) ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), EXIT_SUCCESS);
}
END_TEST

START_TEST(grandchild) {
  ck_assert(all_right(NULL));
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    set_alarm();
    int status;
    pid_t second = all_right(NULL) ? fork() : -1;
    if (second == 0) {
      set_alarm();
      _exit(all_right(NULL) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (second < 0 || waitpid(second, &status, 0) != second) _exit(EXIT_FAILURE);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}
END_TEST

static void prepare(void) {
  random_state random = random_start(1);
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N);
  elements = malloc(N * sizeof *elements);
  scanned = malloc(N * sizeof *scanned);
  out = malloc(N * sizeof *out);
  random_elements(&random, RED_F32, elements, N);
  ck_red(red_reference(&problem, elements, &sum));
  problem.kind = RED_INCLUSIVE_SCAN;
  ck_red(red_reference(&problem, elements, scanned));
}

static void clean_up(void) {
  free(elements);
  free(scanned);
  free(out);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, prepare, clean_up);
  tcase_add_test(tests, after_the_applications_own_team); /* the first two before anything else, in this order */
  tcase_add_test(tests, before_any_use);
  tcase_add_test(tests, after_use);
  tcase_add_test(tests, own_context);
  tcase_add_test(tests, child_exits_normally);
  tcase_add_test(tests, grandchild);
}

int main(void) {
  return suite_run("fork", fill);
}
