/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every suite shares: a main function that skips where the backend has no device, and the knobs of the
 * environment:
 *   RED_BACKEND     the backend under test (tests/meson.build registers each suite once for each)
 *   RED_TEST_SEED   repeat the random cases of an earlier run; a failure names the seed
 *   RED_TEST_SCALE  a factor for the number of random cases, such as 0.1 under emulation or 10 for a night
 */
#ifndef RED_TESTS_SUITE_H
#define RED_TESTS_SUITE_H

#include <check.h>
#include <red/red.h>

/* Run the tests that `fill` adds; the exit status for main. */
int suite_run(const char *subject, void (*fill)(TCase *tests));

/* The backend under test, "omp" if none is set. */
const char *suite_backend(void);

/* Make a context on the backend under test; `threads` as in red_context_options. */
red_context *suite_context(unsigned threads);

/* The thread counts worth trying go from 1 to this: only a CPU backend has them. */
enum {
  SUITE_MOST_THREADS = 9
};
unsigned suite_threads(void);

/* The thread count to try after this one: each of them, or least, middle and most where tests are scaled down. */
unsigned suite_more_threads(unsigned count);

/* How often a loop of random cases runs: `count` times RED_TEST_SCALE, at least once. */
unsigned suite_repeat(unsigned count);

/* " (RED_TEST_SEED=...)" for messages. */
const char *suite_seed_text(void);
uint64_t suite_seed(void);

/* The last call must have failed with this status, and a sentence that has this word in it. */
void ck_red_fails(red_status got, red_status want, const char *word);

/* A call must succeed; a failure shows the sentence. */
#define ck_red(call)                                                                                                   \
  do {                                                                                                                 \
    red_status ck_red_status = (call);                                                                                 \
    if (ck_red_status != RED_OK) ck_abort_msg("%s: %s", #call, red_last_error());                                      \
  } while (0)

#endif
