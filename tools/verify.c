/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool verify: known answers and random data on every device, by every route, and a table of what passed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "against_exact.h"
#include "devices.h"
#include "format.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "verify.h"

enum {
  RANDOM_SUBJECTS = 4,
  MOST_SUBJECTS = MOST_VECTOR_FILES + RANDOM_SUBJECTS,
  CELL_BYTES = 64
};

/* Rows of the table: the vector files, then random problems of these kinds. */
static const struct {
  const char *name;
  red_kind kind;
} random_subjects[RANDOM_SUBJECTS] = {
    {"random reduce", RED_REDUCE},
    {"random scan", RED_INCLUSIVE_SCAN},
    {"random exscan", RED_EXCLUSIVE_SCAN},
    {"random stats", RED_STATS},
};

static const struct {
  const char *name;
  route_fn run;
} routes[] = {{"in one call", route_whole}, {"in pieces", route_pieces}, {"in device memory", route_device}};
enum {
  ROUTES = sizeof routes / sizeof *routes
};

/* A column of the table. */
struct column {
  red_device_info device;
  red_status status; /* whether it could be opened */
  char reason[512];  /* why not */
  struct tally tallies[MOST_SUBJECTS];
};

struct table {
  struct column *columns;
  size_t count;
};

/* ---- running ---- */

static size_t subject_count(void) {
  return vector_file_count + RANDOM_SUBJECTS;
}

static const char *subject_name(size_t subject) {
  return subject < vector_file_count ? vector_files[subject].name : random_subjects[subject - vector_file_count].name;
}

static void run_subject(struct tally *tally, red_context *context, size_t subject, route_fn run) {
  if (subject < vector_file_count)
    verify_vectors(tally, context, run, &vector_files[subject]);
  else
    verify_random(tally, context, run, random_subjects[subject - vector_file_count].kind);
}

static void run_subjects(struct column *column, red_context *context, uint64_t step) {
  for (size_t subject = 0; subject < subject_count(); subject++) {
    struct tally *tally = &column->tallies[subject];
    tally->device = column->device.id;
    tally->subject = subject_name(subject);
    for (int i = 0; i < ROUTES; i++) {
      tally->route = routes[i].name;
      tally->step = step++;
      run_subject(tally, context, subject, routes[i].run);
    }
  }
}

static void run_column(struct column *column, const options *chosen, uint64_t step) {
  red_context *context = NULL;
  red_device_info opened = {.size = sizeof opened};
  const red_context_options wish = {.size = sizeof wish, .backend = column->device.id, .threads = chosen->threads};
  column->status = red_context_create(&wish, &context);
  if (!column->status) column->status = red_context_device(context, RED_HOST, &opened);
  if (column->status)
    snprintf(column->reason, sizeof column->reason, "%s", red_last_error());
  else
    run_subjects(column, context, step);
  red_context_destroy(context);
}

static void run_columns(struct table *table, const options *chosen) {
  const uint64_t steps = subject_count() * ROUTES; /* of a column */
  uint64_t available = 0, step = 0;
  for (size_t i = 0; i < table->count; i++)
    if (table->columns[i].device.available) available++;
  progress_begin(available * steps);
  for (size_t i = 0; i < table->count; i++) {
    if (!table->columns[i].device.available) continue;
    run_column(&table->columns[i], chosen, step);
    step += steps;
  }
  progress_clear();
}

/* ---- which devices ---- */

static int no_memory(void) {
  complain("out of memory for the table");
  return EXIT_LIBRARY;
}

static int table_of_all(struct table *table) {
  struct devices devices;
  const int code = devices_list(&devices);
  if (code) return code;
  table->count = devices.count;
  table->columns = calloc(devices.count + 1, sizeof *table->columns);
  for (size_t i = 0; table->columns && i < devices.count; i++) table->columns[i].device = devices.list[i];
  devices_free(&devices);
  return table->columns ? EXIT_OK : no_memory();
}

static int table_of_chosen(struct table *table, const options *chosen) {
  red_context *context = NULL;
  const red_context_options wish = {.size = sizeof wish, .backend = chosen->backend, .threads = chosen->threads};
  table->count = 1;
  table->columns = calloc(1, sizeof *table->columns);
  if (!table->columns) return no_memory();
  table->columns->device.size = sizeof table->columns->device;
  red_status status = red_context_create(&wish, &context);
  if (!status) status = red_context_device(context, RED_HOST, &table->columns->device);
  red_context_destroy(context);
  return status ? library_error(status) : EXIT_OK;
}

/* ---- printing ---- */

static const char *device_name(const struct column *column) {
  return column->device.id[0] ? column->device.id : column->device.backend;
}

static const char *column_reason(const struct column *column) {
  return column->device.available ? column->reason : column->device.reason;
}

static bool was_run(const struct column *column) {
  return column->device.available && column->status == RED_OK;
}

static const char *cell(const struct tally *tally, char text[CELL_BYTES]) {
  const uint64_t run = tally->passed + tally->failed;
  if (tally->failed)
    snprintf(text, CELL_BYTES, "%" PRIu64 " of %" PRIu64 " FAIL", tally->failed, run);
  else if (run == 0)
    snprintf(text, CELL_BYTES, "skipped");
  else if (tally->skipped)
    snprintf(text, CELL_BYTES, "%" PRIu64 " pass, %" PRIu64 " skipped", run, tally->skipped);
  else
    snprintf(text, CELL_BYTES, "%" PRIu64 " pass", run);
  return text;
}

static int column_width(const struct column *column) {
  char text[CELL_BYTES];
  size_t width = strlen(device_name(column));
  for (size_t i = 0; i < subject_count(); i++) {
    const size_t length = strlen(cell(&column->tallies[i], text));
    if (length > width) width = length;
  }
  return (int)width;
}

static void print_row(const struct table *table, size_t subject) {
  char text[CELL_BYTES];
  printf("%-16s", subject_name(subject));
  for (size_t i = 0; i < table->count; i++) {
    const struct column *column = &table->columns[i];
    if (was_run(column)) printf("  %-*s", column_width(column), cell(&column->tallies[subject], text));
  }
  printf("\n");
}

static void print_notes(const struct column *column) {
  if (!was_run(column))
    printf("%s: %s: %s\n", device_name(column), column->device.available ? "FAIL" : "skipped", column_reason(column));
  for (size_t i = 0; i < subject_count(); i++)
    if (column->tallies[i].skipped)
      printf("%s: %s: %" PRIu64 " skipped: %s\n", device_name(column), subject_name(i), column->tallies[i].skipped,
             column->tallies[i].reason);
}

static void print_text(const struct table *table) {
  printf("%-16s", "subject");
  for (size_t i = 0; i < table->count; i++)
    if (was_run(&table->columns[i]))
      printf("  %-*s", column_width(&table->columns[i]), device_name(&table->columns[i]));
  printf("\n");
  for (size_t subject = 0; subject < subject_count(); subject++) print_row(table, subject);
  for (size_t i = 0; i < table->count; i++) print_notes(&table->columns[i]);
}

static void print_json_column(const struct column *column) {
  printf("{\"device\": ");
  print_json_string(stdout, device_name(column));
  printf(", \"run\": %s, \"reason\": ", was_run(column) ? "true" : "false");
  print_json_string(stdout, column_reason(column));
  printf(", \"subjects\": [");
  for (size_t i = 0; i < subject_count() && was_run(column); i++) {
    const struct tally *t = &column->tallies[i];
    printf("%s{\"name\": \"%s\", \"passed\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"skipped\": %" PRIu64
           ", \"reason\": ",
           i ? ", " : "", subject_name(i), t->passed, t->failed, t->skipped);
    print_json_string(stdout, t->reason);
    printf("}");
  }
  printf("]}");
}

static void print_json(const struct table *table, int code) {
  printf("{\"devices\": [");
  for (size_t i = 0; i < table->count; i++) {
    if (i) printf(", ");
    print_json_column(&table->columns[i]);
  }
  printf("], \"ok\": %s}\n", code == EXIT_OK ? "true" : "false");
}

/* ---- the verdict ---- */

static uint64_t column_failures(const struct column *column) {
  uint64_t failed = 0;
  for (size_t i = 0; i < subject_count(); i++) failed += column->tallies[i].failed;
  return failed;
}

/* A mismatch outweighs a device that cannot be opened; a device whose self-test fails is a mismatch too. */
static int verdict(const struct table *table) {
  bool mismatch = false, broken = false, any = false;
  for (size_t i = 0; i < table->count; i++) {
    const struct column *column = &table->columns[i];
    if (column_failures(column) || column->status == RED_ERR_MISMATCH)
      mismatch = true;
    else if (column->status)
      broken = true;
    if (was_run(column)) any = true;
  }
  if (mismatch) return EXIT_MISMATCH;
  return broken || !any ? EXIT_LIBRARY : EXIT_OK;
}

static int run_verify(const options *chosen) {
  struct table table = {NULL, 0};
  if (chosen->against_exact) return run_against_exact(chosen);
  if (chosen->dtype) return usage_error("verify: --dtype goes with --against-exact");
  int code = chosen->backend ? table_of_chosen(&table, chosen) : table_of_all(&table);
  if (!code) {
    run_columns(&table, chosen);
    code = verdict(&table);
    if (chosen->json)
      print_json(&table, code);
    else
      print_text(&table);
  }
  free(table.columns);
  return code;
}

const struct verb verb_verify = {
    .name = "verify",
    .synopsis = "[OPTION]...",
    .summary = "Compare every device with known answers and with the reference.",
    .details =
        "Runs the built-in known answers and random problems of every operator and dtype, exact ones among them,\n"
        "on each available device: in one call, in pieces and in device memory. Prints a table of devices and\n"
        "subjects, and why anything was skipped. --backend LIST takes only the device that LIST chooses.\n\n"
        "--against-exact FILE compares sums of a file of floats with the exact sum: the canonical one and its\n"
        "proven bound, and those by serial, pairwise, Kahan's and Neumaier's summation.\n",
    .examples = "  redtool verify\n"
                "  redtool verify --backend cuda --json\n"
                "  redtool verify --against-exact data.npy\n",
    .accepts =
        OPTION_BIT(AGAINST_EXACT) | OPTION_BIT(DTYPE) | OPTION_BIT(BACKEND) | OPTION_BIT(THREADS) | OPTION_BIT(JSON),
    .run = run_verify,
};
