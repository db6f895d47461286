/* SPDX-License-Identifier: BSD-2-Clause */
/* Problem strings: kind:op:in[/acc[/out]]:n[:init=V][:exact][:bound][:select=NAMES]. */
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fpenv.h"
#include "half.h"
#include "lower.h"
#include "status.h"
#include "tables.h"

#include "stats.def"

static const char *const kind_names[RED_KIND_COUNT] = {
    [RED_REDUCE] = "reduce",
    [RED_INCLUSIVE_SCAN] = "scan",
    [RED_EXCLUSIVE_SCAN] = "exscan",
    [RED_STATS] = "stats",
};

#define MAX_TEXT   256
#define MAX_FIELDS 7

static red_kind kind_from_name(const char *name) {
  for (unsigned kind = 1; kind < RED_KIND_COUNT; kind++)
    if (strcmp(kind_names[kind], name) == 0) return (red_kind)kind;
  return (red_kind)0;
}

/* Cut `text` at every `separator`; 0 if there are more than `most` fields. */
static unsigned split(char *text, char separator, char **fields, unsigned most) {
  unsigned count = 0;
  for (char *at = text; at != NULL; count++) {
    if (count == most) return 0;
    fields[count] = at;
    at = strchr(at, separator);
    if (at != NULL) *at++ = '\0';
  }
  return count;
}

static red_status parse_length(const char *text, uint64_t *n) {
  if (strncmp(text, "2^", 2) == 0) {
    char *end;
    unsigned long k = strtoul(text + 2, &end, 10);
    if (text[2] >= '0' && text[2] <= '9' && *end == '\0' && k < 64) {
      *n = (uint64_t)1 << k;
      return RED_OK;
    }
  } else if (*text >= '0' && *text <= '9') {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end == '\0' && errno == 0) {
      *n = value;
      return RED_OK;
    }
  }
  return red_fail(RED_ERR_INVALID, "problem: n = '%s': expected a decimal number or 2^k below 2^64", text);
}

static red_status parse_dtypes(char *text, red_problem *problem) {
  char *names[3];
  red_dtype *into[3] = {&problem->in, &problem->acc, &problem->out};
  unsigned count = split(text, '/', names, 3);
  if (count == 0) return red_fail(RED_ERR_INVALID, "problem: more than three dtypes; expected in[/acc[/out]]");
  for (unsigned i = 0; i < count; i++) {
    *into[i] = red_dtype_from_name(names[i]);
    if (*into[i] == RED_DTYPE_DEFAULT) return red_fail(RED_ERR_INVALID, "problem: unknown dtype '%s'", names[i]);
  }
  return RED_OK;
}

/* strtod and printf follow the process's locale, rounding mode and traps; problem strings do not. */
typedef struct text_environment {
  locale_t c, saved;
  red_fpenv fpenv;
  int rounding; /* as <fenv.h> has it: strtod and printf also ask the x87 unit, which fpenv.h leaves alone */
} text_environment;

static text_environment enter_text_environment(void) {
  text_environment environment;
  environment.rounding = fegetround();
  environment.fpenv = red_fpenv_enter();
  fesetround(FE_TONEAREST);
  environment.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  environment.saved = uselocale(environment.c);
  return environment;
}

static void leave_text_environment(text_environment environment) {
  uselocale(environment.saved);
  if (environment.c != (locale_t)0) freelocale(environment.c);
  fesetround(environment.rounding);
  red_fpenv_leave(environment.fpenv);
}

/* A double from which every narrower type rounds as from the text: of the two neighbours of the text the odd one. */
static double strtod_to_odd(const char *text, char **end) {
  fesetround(FE_DOWNWARD);
  double below = strtod(text, end);
  fesetround(FE_UPWARD);
  double above = strtod(text, end);
  fesetround(FE_TONEAREST);
  return (red_f64_bits(below) & 1) != 0 ? below : above;
}

static void set_float(red_dtype dtype, double nearest, double odd, red_scalar *value) {
  switch (dtype) {
  case RED_F16:
    value->f16 = red_f64_to_f16(odd);
    break;
  case RED_BF16:
    value->bf16 = red_f64_to_bf16(odd);
    break;
  case RED_F32:
    value->f32 = red_canonical_f32((float)odd);
    break;
  default:
    value->f64 = red_canonical_f64(nearest);
    break;
  }
}

static bool parse_float(const char *text, red_dtype dtype, red_scalar *value) {
  if (*text == '\0' || isspace((unsigned char)*text)) return false;
  char *end;
  text_environment environment = enter_text_environment();
  double odd = strtod_to_odd(text, &end);
  set_float(dtype, strtod(text, NULL), odd, value);
  leave_text_environment(environment);
  return *end == '\0' && end != text;
}

/* Decimal, or hexadecimal after 0x: a leading zero means nothing. */
static int base_of(const char *digits) {
  return strncmp(digits, "0x", 2) == 0 ? 16 : 10;
}

static bool parse_integer(const char *text, red_dtype dtype, red_scalar *value) {
  const char *digits = text + (*text == '-');
  if (!isxdigit((unsigned char)*digits)) return false;
  unsigned bits = 8 * (unsigned)red_dtype_bytes(dtype);
  char *end;
  errno = 0;
  if (red_dtype_is_signed(dtype)) {
    long long whole = strtoll(text, &end, base_of(digits));
    long long greatest = (long long)(UINT64_MAX >> 1 >> (64 - bits));
    if (errno != 0 || whole > greatest || whole < -greatest - 1) return false;
    value->i64 = whole;
  } else {
    unsigned long long whole = strtoull(text, &end, base_of(digits));
    if (errno != 0 || *text == '-' || whole > UINT64_MAX >> (64 - bits)) return false;
    value->u64 = whole;
  }
  return end != text && *end == '\0';
}

/* The initial value in the accumulator's dtype; the public tools read theirs the same way. */
static red_status parse_init(const char *text, red_problem *problem) {
  if (problem->kind == RED_STATS) return red_fail(RED_ERR_UNSUPPORTED, "problem: stats takes no initial value");
  red_problem resolved = *problem;
  red_status status = red_problem_resolve(&resolved);
  if (status != RED_OK) return status;
  bool is_float = red_dtype_is_float(resolved.acc);
  bool good =
      is_float ? parse_float(text, resolved.acc, &problem->init) : parse_integer(text, resolved.acc, &problem->init);
  if (!good)
    return red_fail(RED_ERR_INVALID, "problem: init = '%s' is not a value of %s", text, red_dtype_name(resolved.acc));
  problem->has_init = 1;
  return RED_OK;
}

/* ---- Selections of statistics ---- */

typedef struct stat_row {
  const char *name;
  unsigned bit;
} stat_row;

static const stat_row stat_rows[] = {
#define X(ID, name) {#name, RED_STAT_##ID},
    RED_STAT_NAMES(X)
#undef X
};
enum {
  STAT_ROWS = sizeof stat_rows / sizeof stat_rows[0]
};

static unsigned stat_from_name(const char *name) {
  for (unsigned i = 0; i < STAT_ROWS; i++)
    if (strcmp(stat_rows[i].name, name) == 0) return stat_rows[i].bit;
  if (strcmp(name, "all") == 0) return RED_STAT_ALL;
  return strcmp(name, "default") == 0 ? RED_STAT_DEFAULT : 0;
}

static red_status parse_selection(char *text, red_problem *problem) {
  char *names[STAT_ROWS + 2];
  if (problem->kind != RED_STATS) return red_fail(RED_ERR_INVALID, "problem: select goes with stats only");
  unsigned count = split(text, ',', names, STAT_ROWS + 2);
  if (count == 0) return red_fail(RED_ERR_INVALID, "problem: select has more names than there are");
  for (unsigned i = 0; i < count; i++) {
    unsigned bit = stat_from_name(names[i]);
    if (bit == 0)
      return red_fail(RED_ERR_INVALID,
                      "problem: select = '%s': expected count, nan_count, mean, variance, sum, min, max, argmin, "
                      "argmax, all or default",
                      names[i]);
    problem->stats |= bit;
  }
  return RED_OK;
}

/* ":select=..", or nothing for a problem that selects nothing. */
static void print_selection(unsigned stats, char *text, size_t bytes) {
  *text = '\0';
  if (stats == 0) return;
  bool whole = stats == RED_STAT_ALL || stats == RED_STAT_DEFAULT;
  int length = snprintf(text, bytes, ":select=%s", stats == RED_STAT_ALL ? "all" : whole ? "default" : "");
  for (unsigned i = 0; i < STAT_ROWS && !whole; i++)
    if ((stats & stat_rows[i].bit) != 0)
      length += snprintf(text + length, bytes - (size_t)length, "%s%s", text[length - 1] == '=' ? "" : ",",
                         stat_rows[i].name);
}

/* One of the optional fields at the end, each at most once. */
static red_status parse_option(char *field, red_problem *problem) {
  if (strncmp(field, "init=", 5) == 0 && !problem->has_init) return parse_init(field + 5, problem);
  if (strcmp(field, "exact") == 0 && !problem->exact) {
    problem->exact = 1;
    return RED_OK;
  }
  if (strcmp(field, "bound") == 0 && !problem->bound) {
    problem->bound = 1;
    return RED_OK;
  }
  if (strncmp(field, "select=", 7) == 0 && problem->stats == 0) return parse_selection(field + 7, problem);
  return red_fail(RED_ERR_INVALID, "problem: unexpected '%s'; expected init=V, exact, bound or select=NAMES, each once",
                  field);
}

red_status red_problem_parse(const char *text, red_problem *problem) {
  if (text == NULL) return red_fail(RED_ERR_INVALID, "text is NULL");
  if (problem == NULL) return red_fail(RED_ERR_INVALID, "problem is NULL");
  if (strlen(text) >= MAX_TEXT) return red_fail(RED_ERR_INVALID, "problem: longer than %d characters", MAX_TEXT - 1);
  char copy[MAX_TEXT];
  char *fields[MAX_FIELDS];
  strcpy(copy, text);
  unsigned count = split(copy, ':', fields, MAX_FIELDS);
  if (count == 0) return red_fail(RED_ERR_INVALID, "problem: '%s' has more than %d fields", text, MAX_FIELDS);
  red_kind kind = kind_from_name(fields[0]);
  if (kind == 0)
    return red_fail(RED_ERR_INVALID,
                    "problem: '%s': expected kind:op:dtypes:n, kind one of reduce, scan, exscan, stats", text);
  unsigned at = 1; /* the next field */
  red_problem parsed = RED_PROBLEM_INIT(kind, RED_SUM, RED_DTYPE_DEFAULT, 0);
  if (kind != RED_STATS && at < count) {
    parsed.op = red_op_from_name(fields[at]);
    if (parsed.op == 0) return red_fail(RED_ERR_INVALID, "problem: unknown operator '%s'", fields[at]);
    at++;
  }
  if (count < at + 2)
    return red_fail(RED_ERR_INVALID, "problem: '%s' is too short; expected %s", text,
                    kind == RED_STATS ? "stats:dtype:n" : "kind:op:dtypes:n");
  red_status status = parse_dtypes(fields[at++], &parsed);
  if (status == RED_OK) status = parse_length(fields[at++], &parsed.n);
  for (; status == RED_OK && at < count; at++) status = parse_option(fields[at], &parsed);
  red_problem resolved = parsed;
  if (status == RED_OK) status = red_problem_resolve(&resolved);
  if (status == RED_OK) *problem = parsed;
  return status;
}

/* Shortest of the usual precisions that round-trips for the type; NaN has one spelling. */
static void print_scalar(const red_scalar *value, red_dtype dtype, char *text, size_t bytes) {
  text_environment environment = enter_text_environment();
  switch (dtype) {
  case RED_I8:
    snprintf(text, bytes, "%d", value->i8);
    break;
  case RED_I16:
    snprintf(text, bytes, "%d", value->i16);
    break;
  case RED_I32:
    snprintf(text, bytes, "%" PRId32, value->i32);
    break;
  case RED_I64:
    snprintf(text, bytes, "%" PRId64, value->i64);
    break;
  case RED_U8:
    snprintf(text, bytes, "%u", value->u8);
    break;
  case RED_U16:
    snprintf(text, bytes, "%u", value->u16);
    break;
  case RED_U32:
    snprintf(text, bytes, "%" PRIu32, value->u32);
    break;
  case RED_U64:
    snprintf(text, bytes, "%" PRIu64, value->u64);
    break;
  case RED_F16:
    snprintf(text, bytes, "%.9g", (double)red_canonical_f32(red_f16_to_f32(value->f16)));
    break;
  case RED_BF16:
    snprintf(text, bytes, "%.9g", (double)red_canonical_f32(red_bf16_to_f32(value->bf16)));
    break;
  case RED_F32:
    snprintf(text, bytes, "%.9g", (double)red_canonical_f32(value->f32));
    break;
  default:
    snprintf(text, bytes, "%.17g", red_canonical_f64(value->f64));
    break;
  }
  leave_text_environment(environment);
}

red_status red_problem_print(const red_problem *problem, char *text, size_t bytes) {
  if (text == NULL) return red_fail(RED_ERR_INVALID, "text is NULL");
  red_lowered lowered;
  red_status status = red_lower(problem, &lowered);
  if (status != RED_OK) return status;
  char dtypes[24], init[48] = "", select[80], whole[128];
  bool stats = problem->kind == RED_STATS;
  snprintf(dtypes, sizeof dtypes, "%s", red_dtype_name(problem->in));
  if (problem->acc != RED_DTYPE_DEFAULT || problem->out != RED_DTYPE_DEFAULT)
    snprintf(dtypes, sizeof dtypes, problem->out != RED_DTYPE_DEFAULT ? "%s/%s/%s" : "%s/%s",
             red_dtype_name(problem->in), red_dtype_name(lowered.acc), red_dtype_name(lowered.out));
  if (problem->has_init) {
    memcpy(init, ":init=", 7);
    print_scalar(&problem->init, lowered.acc, init + 6, sizeof init - 6);
  }
  print_selection(problem->stats, select, sizeof select);
  snprintf(whole, sizeof whole, "%s%s%s:%s:%" PRIu64 "%s%s%s%s", kind_names[problem->kind], stats ? "" : ":",
           stats ? "" : red_op_name(problem->op), dtypes, problem->n, init, problem->exact != 0 ? ":exact" : "",
           problem->bound != 0 ? ":bound" : "", select);
  if (strlen(whole) >= bytes)
    return red_fail(RED_ERR_INVALID, "bytes = %zu: the problem string needs %zu", bytes, strlen(whole) + 1);
  strcpy(text, whole);
  return RED_OK;
}
