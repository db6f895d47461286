/* SPDX-License-Identifier: BSD-2-Clause */
#include "suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_SKIPPED 77 /* as Meson understands it */
#define MAX_DEVICES  64

const char *suite_backend(void) {
  const char *backend = getenv("RED_BACKEND");
  return backend != NULL && *backend != '\0' ? backend : "omp";
}

red_context *suite_context(unsigned threads) {
  red_context_options options = {.size = sizeof options, .backend = suite_backend(), .threads = threads};
  red_context *context;
  ck_red(red_context_create(&options, &context));
  return context;
}

unsigned suite_threads(void) {
  return strncmp(suite_backend(), "omp", 3) == 0 ? SUITE_MOST_THREADS : 1;
}

unsigned suite_repeat(unsigned count) {
  const char *text = getenv("RED_TEST_SCALE");
  double scaled = count * (text != NULL ? strtod(text, NULL) : 1.0);
  return scaled < 1 ? 1 : (unsigned)scaled;
}

unsigned suite_more_threads(unsigned count) {
  return count + (suite_repeat(2) < 2 ? SUITE_MOST_THREADS / 2 : 1);
}

uint64_t suite_seed(void) {
  static uint64_t seed;
  const char *text = getenv("RED_TEST_SEED");
  if (text != NULL) return strtoull(text, NULL, 0);
  if (seed == 0) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = (uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec + (uint64_t)getpid();
  }
  return seed;
}

const char *suite_seed_text(void) {
  static char text[64];
  snprintf(text, sizeof text, " (RED_TEST_SEED=%" PRIu64 ")", suite_seed());
  return text;
}

/* Other reasons why a device does not open, such as a failed self-test, are failures. */
static const char *missing_instruction_set(void) {
  red_context_options options = {.size = sizeof options, .backend = suite_backend()};
  red_context *context;
  if (getenv("RED_CPU") == NULL) return NULL;
  if (red_context_create(&options, &context) == RED_OK) {
    red_context_destroy(context);
    return NULL;
  }
  return strstr(red_last_error(), "does not have that instruction set") != NULL ? red_last_error() : NULL;
}

/* Why the backend under test has no device here; NULL if it has one. */
static const char *missing(void) {
  static red_device_info list[MAX_DEVICES];
  static char reason[512];
  size_t count, length = strcspn(suite_backend(), ":");
  list[0].size = sizeof list[0];
  if (red_devices(list, MAX_DEVICES, &count) != RED_OK) {
    fprintf(stderr, "red_devices: %s\n", red_last_error());
    exit(EXIT_FAILURE);
  }
  snprintf(reason, sizeof reason, "%s: no such backend", suite_backend());
  for (size_t i = 0; i < count && i < MAX_DEVICES; i++) {
    if (strlen(list[i].backend) != length || memcmp(list[i].backend, suite_backend(), length) != 0) continue;
    if (list[i].available) return missing_instruction_set();
    snprintf(reason, sizeof reason, "%s: %s", list[i].id, list[i].reason);
  }
  return reason;
}

int suite_run(const char *subject, void (*fill)(TCase *tests)) {
  const char *reason = missing();
  if (reason != NULL) {
    printf("skipped: %s\n", reason);
    return EXIT_SKIPPED;
  }
  Suite *suite = suite_create(subject);
  TCase *tests = tcase_create(suite_backend());
  tcase_set_timeout(tests, 0); /* Meson has one */
  fill(tests);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_fork_status(runner, CK_NOFORK); /* drivers fail in forked children */
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

void ck_red_fails(red_status got, red_status want, const char *word) {
  ck_assert_msg(got == want, "status %d (%s), expected %d (%s)", got, red_last_error(), want, red_strerror(want));
  ck_assert_msg(strstr(red_last_error(), word) != NULL, "'%s' is not in '%s'", word, red_last_error());
}
