/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool stats: count, sum, mean, variance, extrema and their places, in one pass over a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "report.h"
#include "task.h"

enum {
  MOST_ROWS = 11
};

/* One line of the answer; `exact` where bits say more than decimals. */
struct row {
  const char *name;
  unsigned part; /* RED_STAT_.. */
  red_dtype dtype;
  const void *value;
  bool exact;
};

/* The sum is that of `reduce --op sum`. */
static red_dtype sum_dtype(red_dtype in) {
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, in, 0);
  return red_problem_resolve(&sum) == RED_OK ? sum.out : in;
}

/* The rows that were asked for. */
static int fill_rows(const struct task *task, const red_stats_result *result, struct row rows[MOST_ROWS]) {
  const red_dtype in = task->problem.in, out = sum_dtype(in);
  const unsigned wanted = task->problem.stats ? task->problem.stats : RED_STAT_DEFAULT;
  const struct row all[MOST_ROWS] = {
      {"count", RED_STAT_COUNT, RED_U64, &result->count, false},
      {"nan_count", RED_STAT_NAN_COUNT, RED_U64, &result->nan_count, false},
      {"sum", RED_STAT_SUM, out, &result->sum, true},
      {"mean", RED_STAT_MEAN, RED_F64, &result->mean, true},
      {"variance", RED_STAT_VARIANCE, RED_F64, &result->variance, true},
      {"sample_variance", RED_STAT_VARIANCE, RED_F64, &result->sample_variance, true},
      {"squared_deviations", RED_STAT_VARIANCE, RED_F64, &result->squared_deviations, true},
      {"min", RED_STAT_MIN, in, &result->min, true},
      {"max", RED_STAT_MAX, in, &result->max, true},
      {"argmin", RED_STAT_ARGMIN, RED_U64, &result->argmin, false},
      {"argmax", RED_STAT_ARGMAX, RED_U64, &result->argmax, false},
  };
  int count = 0;
  for (int i = 0; i < MOST_ROWS; i++)
    if (wanted & all[i].part) rows[count++] = all[i];
  return count;
}

static void print_json(const struct task *task, const struct row *rows, int count) {
  char text[VALUE_TEXT_BYTES];
  printf("{");
  for (int i = 0; i < count; i++) printf("\"%s\": %s, ", rows[i].name, format_json(rows[i].dtype, rows[i].value, text));
  printf("\"bits\": {");
  for (int i = 0, printed = 0; i < count; i++)
    if (rows[i].exact)
      printf("%s\"%s\": \"%s\"", printed++ ? ", " : "", rows[i].name, format_hex(rows[i].dtype, rows[i].value, text));
  printf("}, \"dtype\": \"%s\", \"device\": ", red_dtype_name(task->problem.in));
  print_json_string(stdout, task->device.id);
  printf("}\n");
}

static void print_table(const struct row *rows, int count, bool hex) {
  char text[VALUE_TEXT_BYTES];
  int width = 6;
  for (int i = 0; i < count; i++)
    if ((int)strlen(rows[i].name) > width) width = (int)strlen(rows[i].name);
  for (int i = 0; i < count; i++) {
    const bool bits = hex && rows[i].exact;
    printf("%-*s %s\n", width, rows[i].name,
           bits ? format_hex(rows[i].dtype, rows[i].value, text) : format_value(rows[i].dtype, rows[i].value, text));
  }
}

static int print_result(const struct task *task, const options *chosen) {
  red_stats_result result = {.size = sizeof result};
  struct row rows[MOST_ROWS];
  const red_status status = red_accumulator_result(task->accumulator, &result);
  if (status) return library_error(status);
  const int count = fill_rows(task, &result, rows);
  if (chosen->json)
    print_json(task, rows, count);
  else
    print_table(rows, count, chosen->hex);
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
    .summary = "Count, sum, mean, variance, minimum, maximum and where these are, in one pass.",
    .details =
        "Prints one line each: count, sum, mean, min, max, argmin, argmax; or what --select names, among that also\n"
        "nan_count and variance (of the population, of a sample, and the sum of squared deviations). With --hex\n"
        "the sum, the mean (f64), variances, min and max are exact bits. Indices count from 0 in memory order.\n",
    .examples = "  redtool stats data.npy\n"
                "  redtool stats --select mean,variance data.npy\n"
                "  redtool stats --json --dtype i16 samples.raw\n",
    .accepts = OPTION_BIT(SELECT) | OPTION_BIT(DTYPE) | OPTION_BIT(BACKEND) | OPTION_BIT(THREADS) | OPTION_BIT(HEX) |
               OPTION_BIT(JSON),
    .takes_file = true,
    .run = run_stats,
};
