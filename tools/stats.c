/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool stats: count, sum, mean, extrema and their places, in one pass over a file. */
#include <inttypes.h>
#include <stdio.h>

#include "format.h"
#include "report.h"
#include "task.h"

enum {
  ROWS = 7
};

/* One line of the answer; `exact` where bits say more than decimals. */
struct row {
  const char *name;
  red_dtype dtype;
  const void *value;
  bool exact;
};

/* The sum is that of `reduce --op sum`. */
static red_dtype sum_dtype(red_dtype in) {
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, in, 0);
  return red_problem_resolve(&sum) == RED_OK ? sum.out : in;
}

static void fill_rows(const struct task *task, const red_stats_result *result, struct row rows[ROWS]) {
  const red_dtype in = task->problem.in, out = sum_dtype(in);
  const struct row filled[ROWS] = {
      {"count", RED_U64, &result->count, false},
      {"sum", out, &result->sum, true},
      {"mean", RED_F64, &result->mean, true},
      {"min", in, &result->min, true},
      {"max", in, &result->max, true},
      {"argmin", RED_U64, &result->argmin, false},
      {"argmax", RED_U64, &result->argmax, false},
  };
  for (int i = 0; i < ROWS; i++) rows[i] = filled[i];
}

static void print_json(const struct task *task, const struct row rows[ROWS]) {
  char text[VALUE_TEXT_BYTES];
  printf("{");
  for (int i = 0; i < ROWS; i++) printf("\"%s\": %s, ", rows[i].name, format_json(rows[i].dtype, rows[i].value, text));
  printf("\"bits\": {");
  for (int i = 0, printed = 0; i < ROWS; i++)
    if (rows[i].exact)
      printf("%s\"%s\": \"%s\"", printed++ ? ", " : "", rows[i].name, format_hex(rows[i].dtype, rows[i].value, text));
  printf("}, \"dtype\": \"%s\", \"device\": ", red_dtype_name(task->problem.in));
  print_json_string(stdout, task->device.id);
  printf("}\n");
}

static void print_table(const struct row rows[ROWS], bool hex) {
  char text[VALUE_TEXT_BYTES];
  for (int i = 0; i < ROWS; i++) {
    const bool bits = hex && rows[i].exact;
    printf("%-6s %s\n", rows[i].name,
           bits ? format_hex(rows[i].dtype, rows[i].value, text) : format_value(rows[i].dtype, rows[i].value, text));
  }
}

static int print_result(const struct task *task, const options *chosen) {
  red_stats_result result;
  struct row rows[ROWS];
  const red_status status = red_accumulator_result(task->accumulator, &result);
  if (status) return library_error(status);
  fill_rows(task, &result, rows);
  if (chosen->json)
    print_json(task, rows);
  else
    print_table(rows, chosen->hex);
  return EXIT_OK;
}

static int run_stats(const options *chosen) {
  struct task task;
  int code = task_open(&task, chosen, RED_STATS);
  if (!code) code = task_consume(&task);
  if (!code) code = print_result(&task, chosen);
  task_close(&task);
  return code;
}

const struct verb verb_stats = {
    .name = "stats",
    .synopsis = "[OPTION]... FILE",
    .summary = "Count, sum, mean, minimum, maximum and where these are, in one pass.",
    .details =
        "Prints one line each: count, sum, mean, min, max, argmin, argmax. With --hex the sum, the mean (f64), min\n"
        "and max are exact bits. Indices count from 0 in memory order.\n",
    .examples = "  redtool stats data.npy\n"
                "  redtool stats --json --dtype i16 samples.raw\n",
    .accepts = OPTION_BIT(DTYPE) | OPTION_BIT(BACKEND) | OPTION_BIT(THREADS) | OPTION_BIT(HEX) | OPTION_BIT(JSON),
    .takes_file = true,
    .run = run_stats,
};
