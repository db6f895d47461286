/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs and their options: one table drives parsing, --help and the suggestions for mistyped words. */
#ifndef REDTOOL_OPTIONS_H
#define REDTOOL_OPTIONS_H

#include <stdbool.h>

#include <red/red.h>

typedef enum option_id {
  OPTION_OP,
  OPTION_EXCLUSIVE,
  OPTION_INIT,
  OPTION_SELECT,
  OPTION_BOUND,
  OPTION_EXACT,
  OPTION_AGAINST_EXACT,
  OPTION_DTYPE,
  OPTION_ACC,
  OPTION_OUT_DTYPE,
  OPTION_OUTPUT,
  OPTION_FORCE,
  OPTION_BACKEND,
  OPTION_THREADS,
  OPTION_HEX,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_CACHE,
  OPTION_SAMPLES,
  OPTION_SECONDS,
  OPTION_COMPARE,
  OPTION_FAIL_BELOW,
  OPTION_PLOT,
  OPTION_PEER,
  OPTION_ONCE,
  OPTION_HELP,
  OPTION_COUNT
} option_id;

enum {
  OPTIONS_MOST_SAMPLES = 1000,
  OPTIONS_MOST_PEERS = 16
};

#define OPTION_BIT(NAME) (1u << OPTION_##NAME)

typedef enum cache_state {
  CACHE_BOTH,
  CACHE_WARM,
  CACHE_COLD
} cache_state;

/* What the command line asks for. Strings are the command line's own. */
typedef struct options {
  red_op op;
  red_dtype dtype, acc, out_dtype;
  const char *init, *select, *against_exact, *output, *backend, *operand;
  const char *operand2; /* of an operator of two arrays, else NULL */
  char **operands;      /* of a verb that takes any number of them */
  size_t operand_count;
  unsigned threads, samples;
  bool exclusive, exact, bound, force, hex, json, csv, once;
  cache_state cache;
  double seconds, fail_below; /* 0: not given */
  const char *compare, *plot;
  const char *peers[OPTIONS_MOST_PEERS]; /* commands */
  size_t peer_count;
} options;

struct verb {
  const char *name;
  const char *synopsis; /* what follows the name on a usage line */
  const char *summary;  /* one line, for the list of verbs */
  const char *details;  /* paragraphs of --help; NULL: none */
  const char *examples;
  unsigned accepts;  /* OPTION_BITs */
  unsigned requires; /* options that must be given */
  bool takes_file;   /* exactly one operand; else none, or */
  bool takes_pair;   /* two for an operator of two arrays */
  bool takes_list;   /* any number */
  int (*run)(const options *chosen);
};

extern const struct verb verb_bench, verb_info, verb_reduce, verb_scan, verb_stats, verb_tune, verb_verify;

/* Parse the arguments after the verb's name; argv[0] is that name. *help is set if the verb's help is asked for. */
int options_parse(const struct verb *verb, int argc, char **argv, options *chosen, bool *help);

/* The verb's --help on standard output. */
void options_help(const struct verb *verb);

/* The lines on exit status that every help ends with. */
extern const char options_exit_status[];

#endif
