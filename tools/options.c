/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "suggest.h"

enum {
  FIRST_KEY = 256,
  SUGGESTION_BYTES = 64
};

/* In the order of option_id. */
static const struct {
  const char *name;
  char letter;
  const char *argument; /* NULL: none */
  const char *help;
} rows[OPTION_COUNT] = {
    {"op", 0, "OP",
     "operator: sum prod min max minnum maxnum argmin argmax\nargminnum argmaxnum band bor bxor all any "
     "count_nonzero\ndot (of two files) asum sumsq nrm2 mean"},
    {"exclusive", 0, NULL, "output i combines the elements before i only"},
    {"init", 0, "V", "initial value, the leftmost operand"},
    {"select", 0, "NAMES",
     "what to compute, comma-separated: count nan_count mean variance\nsum min max argmin argmax all default"},
    {"bound", 0, NULL, "also print the proven bound of the error"},
    {"exact", 0, NULL, "the true result, rounded once, whatever the order (sum dot\nasum sumsq nrm2 mean)"},
    {"against-exact", 0, "FILE", "compare sums of FILE's floats with the exact sum instead"},
    {"dtype", 0, "TYPE",
     "the input is raw elements of TYPE: i8 i16 i32 i64 u8 u16\nu32 u64 f16 bf16 f32 f64 (a .npy header must agree)"},
    {"acc", 0, "TYPE", "accumulate in TYPE"},
    {"out-dtype", 0, "TYPE", "write the result as TYPE"},
    {"output", 'o', "OUT", "file to write; - is standard output"},
    {"force", 'f', NULL, "replace an existing OUT"},
    {"backend", 0, "LIST", "devices in order of preference, as in RED_BACKEND"},
    {"threads", 0, "N", "start at most N threads on a CPU"},
    {"hex", 0, NULL, "print exact bits, 0x and two digits a byte"},
    {"json", 0, NULL, "print one JSON object"},
    {"csv", 0, NULL, "print comma-separated values"},
    {"cache", 0, "STATE",
     "warm: as the call before left it; cold: other data was read\nin between; both (the default)"},
    {"samples", 0, "N", "take at most N samples of each row (default 15)"},
    {"seconds", 0, "S", "spend about S seconds in all (default 60), if three samples\nof each row allow it"},
    {"compare", 0, "OLD", "also print how fast each row is relative to OLD, a file that\n--json wrote"},
    {"fail-below", 0, "R", "with --compare: exit with 1 if a row is below R, as in 0.9"},
    {"plot", 0, "OUT", "draw bandwidth over n as an SVG picture"},
    {"peer", 0, "COMMAND",
     "also measure a program that computes the same by another\nlibrary, as those in bench/; may be given several "
     "times"},
    {"once", 0, NULL, "ladder: run each step once and print nothing, for profilers"},
    {"help", 'h', NULL, "this text"},
};

const char options_exit_status[] = "Exit status:\n"
                                   "  0  success\n"
                                   "  1  verify found a result that differs, bench a row below --fail-below\n"
                                   "  2  the command line is wrong\n"
                                   "  3  a file is missing, malformed or cannot be read or written\n"
                                   "  4  the library refused: impossible combination, empty input, no such device,\n"
                                   "     out of memory\n";

/* ---- parsing single arguments ---- */

static int parse_op(const char *text, red_op *op) {
  char hint[SUGGESTION_BYTES];
  suggestion nearest;
  *op = red_op_from_name(text);
  if (*op) return EXIT_OK;
  suggest_begin(&nearest, text);
  for (int i = 1; i < RED_OP_COUNT; i++) suggest_consider(&nearest, red_op_name((red_op)i));
  return usage_error("unknown operator '%s'%s", text, suggest_text(&nearest, "", hint, sizeof hint));
}

static int parse_dtype(const char *text, red_dtype *dtype) {
  char hint[SUGGESTION_BYTES];
  suggestion nearest;
  *dtype = red_dtype_from_name(text);
  if (*dtype) return EXIT_OK;
  suggest_begin(&nearest, text);
  for (int i = 1; i < RED_DTYPE_COUNT; i++) suggest_consider(&nearest, red_dtype_name((red_dtype)i));
  return usage_error("unknown dtype '%s'%s", text, suggest_text(&nearest, "", hint, sizeof hint));
}

static int parse_threads(const char *text, unsigned *threads) {
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < 1 || value > 65536)
    return usage_error("--threads is '%s', it takes a number from 1 to 65536", text);
  *threads = (unsigned)value;
  return EXIT_OK;
}

static int parse_samples(const char *text, unsigned *samples) {
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < 1 || value > OPTIONS_MOST_SAMPLES)
    return usage_error("--samples is '%s', it takes a number from 1 to %d", text, OPTIONS_MOST_SAMPLES);
  *samples = (unsigned)value;
  return EXIT_OK;
}

static int parse_positive(const char *option, const char *text, double *number) {
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end || !(value > 0 && value <= 1e9))
    return usage_error("%s is '%s', it takes a number above 0", option, text);
  *number = value;
  return EXIT_OK;
}

static int parse_cache(const char *text, cache_state *cache) {
  static const char *const names[] = {"both", "warm", "cold"};
  for (int i = 0; i < 3; i++)
    if (strcmp(text, names[i]) == 0) {
      *cache = (cache_state)i;
      return EXIT_OK;
    }
  return usage_error("--cache is '%s', it takes warm, cold or both", text);
}

static int set_option(options *chosen, option_id id, const char *argument) {
  switch (id) {
  case OPTION_OP:
    return parse_op(argument, &chosen->op);
  case OPTION_DTYPE:
    return parse_dtype(argument, &chosen->dtype);
  case OPTION_ACC:
    return parse_dtype(argument, &chosen->acc);
  case OPTION_OUT_DTYPE:
    return parse_dtype(argument, &chosen->out_dtype);
  case OPTION_THREADS:
    return parse_threads(argument, &chosen->threads);
  case OPTION_SAMPLES:
    return parse_samples(argument, &chosen->samples);
  case OPTION_SECONDS:
    return parse_positive("--seconds", argument, &chosen->seconds);
  case OPTION_FAIL_BELOW:
    return parse_positive("--fail-below", argument, &chosen->fail_below);
  case OPTION_CACHE:
    return parse_cache(argument, &chosen->cache);
  case OPTION_COMPARE:
    chosen->compare = argument;
    break;
  case OPTION_PLOT:
    chosen->plot = argument;
    break;
  case OPTION_CSV:
    chosen->csv = true;
    break;
  case OPTION_INIT:
    chosen->init = argument;
    break;
  case OPTION_SELECT:
    chosen->select = argument;
    break;
  case OPTION_EXACT:
    chosen->exact = true;
    break;
  case OPTION_BOUND:
    chosen->bound = true;
    break;
  case OPTION_AGAINST_EXACT:
    chosen->against_exact = argument;
    break;
  case OPTION_OUTPUT:
    chosen->output = argument;
    break;
  case OPTION_BACKEND:
    chosen->backend = argument;
    break;
  case OPTION_EXCLUSIVE:
    chosen->exclusive = true;
    break;
  case OPTION_FORCE:
    chosen->force = true;
    break;
  case OPTION_HEX:
    chosen->hex = true;
    break;
  case OPTION_JSON:
    chosen->json = true;
    break;
  case OPTION_PEER:
    if (chosen->peer_count == OPTIONS_MOST_PEERS) return usage_error("more than %d peers", OPTIONS_MOST_PEERS);
    chosen->peers[chosen->peer_count++] = argument;
    break;
  case OPTION_ONCE:
    chosen->once = true;
    break;
  case OPTION_HELP:
  case OPTION_COUNT:
    break;
  }
  return EXIT_OK;
}

/* ---- getopt ---- */

typedef struct tables {
  struct option longs[OPTION_COUNT + 1];
  char shorts[2 * OPTION_COUNT + 2];
} tables;

static bool accepts(const struct verb *verb, int id) {
  return id == OPTION_HELP || (verb->accepts & (1u << id)) != 0;
}

static void fill_tables(const struct verb *verb, tables *t) {
  size_t nl = 0, ns = 0;
  memset(t, 0, sizeof *t);
  t->shorts[ns++] = ':';
  for (int id = 0; id < OPTION_COUNT; id++) {
    if (!accepts(verb, id)) continue;
    t->longs[nl].name = rows[id].name;
    t->longs[nl].has_arg = rows[id].argument ? required_argument : no_argument;
    t->longs[nl++].val = FIRST_KEY + id;
    if (!rows[id].letter) continue;
    t->shorts[ns++] = rows[id].letter;
    if (rows[id].argument) t->shorts[ns++] = ':';
  }
}

static int option_of_letter(int letter) {
  for (int id = 0; id < OPTION_COUNT; id++)
    if (rows[id].letter && rows[id].letter == letter) return id;
  return OPTION_COUNT;
}

static int unknown_option(const struct verb *verb, const char *argument) {
  char hint[SUGGESTION_BYTES], name[SUGGESTION_BYTES];
  suggestion nearest;
  if (strncmp(argument, "--", 2) != 0 || optopt != 0) {
    if (optopt >= FIRST_KEY)
      return usage_error("%s: --%s takes no argument", verb->name, rows[optopt - FIRST_KEY].name);
    return usage_error("%s: unknown option '-%c'; see 'redtool %s --help'", verb->name, optopt, verb->name);
  }
  snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
  suggest_begin(&nearest, name);
  for (int id = 0; id < OPTION_COUNT; id++) {
    if (accepts(verb, id))
      suggest_consider(&nearest, rows[id].name);
    else if (strcmp(rows[id].name, name) == 0)
      return usage_error("%s takes no option '--%s'", verb->name, name);
  }
  if (!nearest.best)
    return usage_error("%s: unknown option '%s'; see 'redtool %s --help'", verb->name, argument, verb->name);
  return usage_error("%s: unknown option '%s'%s", verb->name, argument,
                     suggest_text(&nearest, "--", hint, sizeof hint));
}

static int missing_argument(const struct verb *verb) {
  const int id = optopt >= FIRST_KEY ? optopt - FIRST_KEY : option_of_letter(optopt);
  return usage_error("%s: option '--%s' needs an argument: %s", verb->name, rows[id].name, rows[id].argument);
}

static int check_complete(const struct verb *verb, unsigned seen, int wanted, int operands, char **operand) {
  for (int id = 0; id < OPTION_COUNT; id++)
    if ((verb->requires & ~seen) & (1u << id))
      return usage_error("%s needs --%s %s; see 'redtool %s --help'", verb->name, rows[id].name, rows[id].argument,
                         verb->name);
  if (verb->takes_list) return EXIT_OK;
  if (operands > wanted) return usage_error("%s: unexpected argument '%s'", verb->name, operand[wanted]);
  if (operands == 1 && wanted == 2)
    return usage_error("%s: --op dot needs two files, or - and a file; see 'redtool %s --help'", verb->name,
                       verb->name);
  if (operands < wanted)
    return usage_error("%s needs a file, or - for standard input; see 'redtool %s --help'", verb->name, verb->name);
  return EXIT_OK;
}

int options_parse(const struct verb *verb, int argc, char **argv, options *chosen, bool *help) {
  tables t;
  unsigned seen = 0;
  fill_tables(verb, &t);
  memset(chosen, 0, sizeof *chosen);
  *help = false;
  opterr = 0;
  optind = 1;
  for (;;) {
    optopt = 0;
    const int first = optind;
    const int key = getopt_long(argc, argv, t.shorts, t.longs, NULL);
    if (key == -1) break;
    if (key == ':') return missing_argument(verb);
    if (key == '?') return unknown_option(verb, argv[optind > first ? optind - 1 : first]);
    const int id = key >= FIRST_KEY ? key - FIRST_KEY : option_of_letter(key);
    const int code = set_option(chosen, (option_id)id, optarg);
    if (code) return code;
    seen |= 1u << id;
    if (id == OPTION_HELP) *help = true;
  }
  if (*help) return EXIT_OK;
  chosen->operand = argv[optind];
  chosen->operands = argv + optind;
  chosen->operand_count = (size_t)(argc - optind);
  const bool two = verb->takes_pair && chosen->op == RED_DOT;
  if (two && argc - optind == 2) chosen->operand2 = argv[optind + 1];
  return check_complete(verb, seen, two ? 2 : verb->takes_file ? 1 : 0, argc - optind, argv + optind);
}

/* ---- help ---- */

static void print_option(int id) {
  char left[40], letter[8] = "    ";
  if (rows[id].letter) snprintf(letter, sizeof letter, "-%c, ", rows[id].letter);
  snprintf(left, sizeof left, "%s--%s%s%s", letter, rows[id].name, rows[id].argument ? " " : "",
           rows[id].argument ? rows[id].argument : "");
  printf("  %-23s", left);
  if (strlen(left) > 22) printf("\n%25s", "");
  for (const char *c = rows[id].help; *c; c++) {
    putchar(*c);
    if (*c == '\n') printf("%25s", "");
  }
  putchar('\n');
}

void options_help(const struct verb *verb) {
  printf("Usage: redtool %s %s\n\n%s\n", verb->name, verb->synopsis, verb->summary);
  if (verb->details) printf("\n%s", verb->details);
  printf("\nOptions:\n");
  for (int id = 0; id < OPTION_COUNT; id++)
    if (accepts(verb, id)) print_option(id);
  printf("\nExamples:\n%s\n%s", verb->examples, options_exit_status);
}
