/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool: reduce and scan files of numbers from the command line. Uses the public API only. */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "report.h"
#include "signals.h"
#include "suggest.h"

static const struct verb *const verbs[] = {&verb_info,   &verb_reduce, &verb_scan, &verb_stats,
                                           &verb_verify, &verb_bench,  &verb_tune};
enum {
  VERBS = sizeof verbs / sizeof *verbs
};

static void print_help(void) {
  printf("Usage: redtool VERB [OPTION]... [FILE]\n\n"
         "Reduce and scan arrays of numbers with the same bits on every device.\n\n"
         "Verbs:\n");
  for (int i = 0; i < VERBS; i++) printf("  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
  printf("\nA FILE is a .npy array, or raw elements with --dtype; - is standard input.\n"
         "'redtool VERB --help' tells more about a verb; 'redtool --version' prints the version.\n\n"
         "Examples:\n"
         "  redtool reduce --op sum data.npy\n"
         "  redtool scan --op sum data.npy -o sums.npy\n"
         "  redtool stats --json data.npy\n\n%s",
         options_exit_status);
}

static void print_version(void) {
  const int v = red_version();
  printf("redtool %s (library %d.%d.%d)\n", RED_VERSION_STRING, v / 10000, v / 100 % 100, v % 100);
}

static int unknown_verb(const char *name) {
  char hint[64];
  suggestion nearest;
  if (name[0] == '-') return usage_error("unknown option '%s'; see 'redtool --help'", name);
  suggest_begin(&nearest, name);
  for (int i = 0; i < VERBS; i++) suggest_consider(&nearest, verbs[i]->name);
  if (!nearest.best) return usage_error("unknown verb '%s'; see 'redtool --help'", name);
  return usage_error("unknown verb '%s'%s", name, suggest_text(&nearest, "", hint, sizeof hint));
}

static int run_verb(const struct verb *verb, int argc, char **argv) {
  options chosen;
  bool help;
  const int code = options_parse(verb, argc, argv, &chosen, &help);
  if (code) return code;
  if (!help) return verb->run(&chosen);
  options_help(verb);
  return EXIT_OK;
}

static int run(int argc, char **argv) {
  if (argc < 2) return usage_error("a verb is missing; see 'redtool --help'");
  const char *name = argv[1];
  for (int i = 0; i < VERBS; i++)
    if (strcmp(name, verbs[i]->name) == 0) return run_verb(verbs[i], argc - 1, argv + 1);
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
    print_help();
  else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
    print_version();
  else
    return unknown_verb(name);
  return EXIT_OK;
}

int main(int argc, char **argv) {
  int code = open_standard_streams();
  if (code) return code;
  signals_install();
  code = run(argc, argv);
  const int written = close_stdout();
  signals_leave();
  return code ? code : written;
}
