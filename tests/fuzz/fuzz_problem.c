/* SPDX-License-Identifier: BSD-2-Clause */
/* libFuzzer target: a problem string that parses prints as one that parses to the same problem. Built by run.sh. */
#include <stdlib.h>
#include <string.h>

#include <red/red.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int same(const red_problem *a, const red_problem *b, red_dtype acc) {
  return a->kind == b->kind && a->op == b->op && a->in == b->in && a->n == b->n && a->bound == b->bound &&
         a->has_init == b->has_init && (!a->has_init || memcmp(&a->init, &b->init, red_dtype_bytes(acc)) == 0);
}

static void check_refusal(void) {
  const char *sentence = red_last_error();
  if (sentence == NULL || *sentence == '\0') abort();
}

static void check_round_trip(const red_problem *parsed) {
  red_problem resolved = *parsed, again, resolved_again;
  char text[128], printed[128];
  if (red_problem_resolve(&resolved) != RED_OK) abort();
  if (red_problem_print(parsed, text, sizeof text) != RED_OK) abort();
  if (red_problem_parse(text, &again) != RED_OK) abort();
  resolved_again = again;
  if (red_problem_resolve(&resolved_again) != RED_OK) abort();
  if (resolved.acc != resolved_again.acc || resolved.out != resolved_again.out) abort();
  if (!same(parsed, &again, resolved.acc) && strstr(text, "nan") == NULL) abort(); /* NaN payloads are not kept */
  if (red_problem_print(&again, printed, sizeof printed) != RED_OK || strcmp(text, printed) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  red_problem problem;
  if (text == NULL) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (red_problem_parse(text, &problem) == RED_OK)
    check_round_trip(&problem);
  else
    check_refusal();
  free(text);
  return 0;
}
