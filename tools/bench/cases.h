/* SPDX-License-Identifier: BSD-2-Clause */
/* What `redtool bench` is asked to measure: problem strings and sweeps over n, as a flat list. */
#ifndef REDTOOL_BENCH_CASES_H
#define REDTOOL_BENCH_CASES_H

#include <stddef.h>

#include <red/red.h>

enum {
  CASE_TEXT_BYTES = 128
};

struct bench_case {
  red_problem problem;          /* resolved, in host memory */
  char text[CASE_TEXT_BYTES];   /* the problem string */
  char series[CASE_TEXT_BYTES]; /* the same without n: cases of one sweep agree in it */
  uint64_t bytes_in, bytes_out; /* of the arrays; a single result counts as nothing */
  uint64_t second;              /* bytes into the input where a second one begins (dot), or 0 */
};

struct cases {
  struct bench_case *list;
  size_t count;
};

/*
 * `operand` is a problem string whose n may be a range FIRST..LAST, optionally followed by :STEP, the factor from one n
 * to the next (4 if it is left out). A fault is a sentence and an exit status.
 */
int cases_add(struct cases *cases, const char *operand);

/* What is measured if no problem is named. */
int cases_add_default(struct cases *cases);

void cases_free(struct cases *cases);

#endif
