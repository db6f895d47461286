/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/cases.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "routes.h"

enum {
  MOST_CASES = 1000,
  DEFAULT_STEP = 4
};

static const char *const defaults[] = {"reduce:sum:f32:2^10..2^26", "scan:sum:f32:2^10..2^26"};

/* ---- one problem ---- */

static struct bench_case *append(struct cases *cases) {
  struct bench_case *list = realloc(cases->list, (cases->count + 1) * sizeof *list);
  if (!list) {
    complain("out of memory for a list of %zu problems", cases->count + 1);
    return NULL;
  }
  cases->list = list;
  memset(&list[cases->count], 0, sizeof *list);
  return &list[cases->count++];
}

/* Bytes of n elements; false if they cannot be counted in 64 bits. */
static bool count_bytes(uint64_t n, size_t width, uint64_t *bytes) {
  return !__builtin_mul_overflow(n, (uint64_t)width, bytes) && *bytes <= INT64_MAX;
}

static int measure_bytes(struct bench_case *c) {
  const red_problem *p = &c->problem;
  const size_t inputs = p->op == RED_DOT ? 2 : 1, out_width = is_scan(p) ? red_dtype_bytes(p->out) : 0;
  if (count_bytes(p->n, inputs * red_dtype_bytes(p->in), &c->bytes_in) && count_bytes(p->n, out_width, &c->bytes_out) &&
      c->bytes_in + c->bytes_out <= INT64_MAX) {
    if (inputs == 2) c->second = c->bytes_in / 2;
    return EXIT_OK;
  }
  return usage_error("%s: no memory holds that many elements", c->text);
}

/* Sweeps are told apart by what is left of the string when n is taken out. */
static void name_series(struct bench_case *c) {
  char n[24];
  const int digits = snprintf(n, sizeof n, ":%" PRIu64, c->problem.n);
  strcpy(c->series, c->text);
  for (char *at = strstr(c->series, n); at; at = strstr(at + 1, n)) {
    if (at[digits] && at[digits] != ':') continue;
    memmove(at, at + digits, strlen(at + digits) + 1);
    return;
  }
}

static int add_problem(struct cases *cases, const char *text) {
  red_problem problem;
  red_status status = red_problem_parse(text, &problem);
  if (status) {
    usage_error("%s", red_last_error());
    return EXIT_USAGE;
  }
  if (problem.n == 0) return usage_error("%s: n is 0, there is nothing to measure", text);
  if (cases->count == MOST_CASES) return usage_error("more than %d problems", MOST_CASES);
  struct bench_case *c = append(cases);
  if (!c) return EXIT_LIBRARY;
  status = red_problem_print(&problem, c->text, sizeof c->text);
  if (!status) status = red_problem_resolve(&problem);
  if (status) return library_error(status);
  c->problem = problem;
  name_series(c);
  return measure_bytes(c);
}

/* ---- sweeps ---- */

struct sweep {
  char before[CASE_TEXT_BYTES]; /* up to and with the colon before n */
  char after[CASE_TEXT_BYTES];  /* from the colon after n and the step, or empty */
  uint64_t first, last, step;
};

/* A number as problem strings have it: decimal or 2^k. The library reads n the same way. */
static bool parse_number(const char *text, size_t length, uint64_t *value) {
  char copy[32], *end;
  if (length == 0 || length >= sizeof copy) return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  const bool power = strncmp(copy, "2^", 2) == 0;
  const char *digits = power ? copy + 2 : copy;
  if (*digits < '0' || *digits > '9') return false;
  errno = 0;
  *value = strtoull(digits, &end, 10);
  if (errno || *end) return false;
  if (!power) return true;
  if (*value >= 64) return false;
  *value = (uint64_t)1 << *value;
  return true;
}

static bool copy_part(char to[CASE_TEXT_BYTES], const char *from, size_t length) {
  if (length >= CASE_TEXT_BYTES) return false;
  memcpy(to, from, length);
  to[length] = 0;
  return true;
}

static int bad_sweep(const char *operand, const char *expected) {
  return usage_error("'%s': %s, as in reduce:sum:f32:2^10..2^30 or ...:2^10..2^30:2", operand, expected);
}

/* `dots` points at the two dots in `operand`. */
static int parse_sweep(const char *operand, const char *dots, struct sweep *sweep) {
  const char *begin = dots;
  while (begin > operand && begin[-1] != ':') begin--;
  const char *last = dots + 2, *end = last + strcspn(last, ":");
  if (!parse_number(begin, (size_t)(dots - begin), &sweep->first) ||
      !parse_number(last, (size_t)(end - last), &sweep->last))
    return bad_sweep(operand, "a sweep goes from one number to another");
  if (sweep->first == 0 || sweep->first > sweep->last)
    return bad_sweep(operand, "a sweep begins at 1 or above and does not end before that");
  sweep->step = DEFAULT_STEP;
  if (end[0] == ':' && end[1] >= '0' && end[1] <= '9') {
    const char *step = end + 1;
    end = step + strcspn(step, ":");
    if (!parse_number(step, (size_t)(end - step), &sweep->step) || sweep->step < 2)
      return bad_sweep(operand, "the step of a sweep is a factor of 2 or more");
  }
  if (copy_part(sweep->before, operand, (size_t)(begin - operand)) && copy_part(sweep->after, end, strlen(end)))
    return EXIT_OK;
  return usage_error("a problem string of %zu characters is too long", strlen(operand));
}

static int add_sweep(struct cases *cases, const struct sweep *sweep) {
  int code = EXIT_OK;
  for (uint64_t n = sweep->first; n <= sweep->last && !code; n *= sweep->step) {
    char text[2 * CASE_TEXT_BYTES + 24];
    snprintf(text, sizeof text, "%s%" PRIu64 "%s", sweep->before, n, sweep->after);
    code = add_problem(cases, text);
    if (n > UINT64_MAX / sweep->step) break;
  }
  return code;
}

int cases_add(struct cases *cases, const char *operand) {
  struct sweep sweep;
  const char *dots = strstr(operand, "..");
  if (!dots) return add_problem(cases, operand);
  const int code = parse_sweep(operand, dots, &sweep);
  return code ? code : add_sweep(cases, &sweep);
}

int cases_add_default(struct cases *cases) {
  int code = EXIT_OK;
  for (size_t i = 0; i < sizeof defaults / sizeof *defaults && !code; i++) code = cases_add(cases, defaults[i]);
  return code;
}

void cases_free(struct cases *cases) {
  free(cases->list);
  cases->list = NULL;
  cases->count = 0;
}
