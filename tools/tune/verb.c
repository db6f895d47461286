/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool tune: the rows that steer the CPU backend's speed, measured here, into the file that contexts read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/machine.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "tune/measure.h"

enum {
  DEFAULT_SAMPLES = 9,
  PATH_BYTES = 4096,
  FILE_BYTES = 4096
};

static const double default_seconds = 60;
static const uint64_t cache_if_unknown = (uint64_t)8 << 20;

/* ---- the file ---- */

/* Where contexts look by themselves; its folder is made. */
static int default_path(char path[PATH_BYTES]) {
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  const bool has_config = config && config[0] == '/';
  if (!has_config && !(home && home[0] == '/'))
    return usage_error("tune: neither XDG_CONFIG_HOME nor HOME says where the file belongs; use -o OUT");
  const int length = has_config ? snprintf(path, PATH_BYTES, "%s/libred/tune", config)
                                : snprintf(path, PATH_BYTES, "%s/.config/libred/tune", home);
  if (length >= PATH_BYTES) return usage_error("tune: the path of the default file is too long; use -o OUT");
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    const int failed = mkdir(path, 0700) != 0 && errno != EEXIST ? errno : 0;
    if (failed) return io_error("%s: %s", path, strerror(failed));
    *at = '/';
  }
  return EXIT_OK;
}

static size_t print_file(const struct tuning *tuning, const struct tune_row *rows, const struct tune_result *results,
                         char text[FILE_BYTES]) {
  int length = tune_header(tuning, text, FILE_BYTES);
  for (int i = 0; i < TUNE_ROWS; i++)
    if (results[i].best)
      length += snprintf(text + length, (size_t)(FILE_BYTES - length), "%s = %" PRIu64 " # %.3f times as fast\n",
                         rows[i].name, results[i].best, results[i].gain);
  return (size_t)length;
}

/* ---- the table ---- */

static void print_result(const struct tune_row *row, const struct tune_result *result) {
  printf("%-26s ", row->name);
  if (!result->measured)
    printf("%20s  %6s", "one thread", "");
  else if (result->best)
    printf("%20" PRIu64 "  %6.3f", result->best, result->gain);
  else
    printf("%20s  %6.3f", "default", result->gain);
  printf("  %s\n", row->what);
}

static void print_table(const struct tuning *tuning, const struct tune_row *rows, const struct tune_result *results,
                        const char *path) {
  printf("%s\n\n%-26s %20s  %6s\n", tuning->section, "row", "value", "gain");
  for (int i = 0; i < TUNE_ROWS; i++) print_result(&rows[i], &results[i]);
  printf("\nwritten to %s\n", path);
}

/* ---- the whole ---- */

static size_t count_sizes(const struct tune_row *rows) {
  size_t count = 0;
  for (int i = 0; i < TUNE_ROWS; i++)
    for (size_t k = 0; rows[i].sizes[k]; k++) count++;
  return count;
}

/* The largest arrays, of which there are two at a time. */
static int check_memory(const struct tune_row *rows) {
  const uint64_t allowed = machine_free_memory() / 2;
  for (int i = 0; i < TUNE_ROWS; i++)
    for (size_t k = 0; rows[i].sizes[k]; k++)
      if (2 * rows[i].sizes[k] > allowed) {
        complain("tune: %s takes %.1f GiB of memory, and no more than half of what is free is used: %.1f GiB",
                 rows[i].name, 2 * (double)rows[i].sizes[k] / 1073741824.0, (double)allowed / 1073741824.0);
        return EXIT_LIBRARY;
      }
  return EXIT_OK;
}

static int measure_rows(const struct tuning *tuning, const struct tune_row *rows, struct tune_result *results) {
  int code = EXIT_OK;
  progress_begin(TUNE_ROWS);
  for (int i = 0; i < TUNE_ROWS && !code; i++) {
    progress_step((uint64_t)i, rows[i].name);
    if (rows[i].needs_team && tuning->threads < 2) continue;
    code = tune_measure(tuning, &rows[i], &results[i]);
  }
  progress_clear();
  return code;
}

static int write_file(struct output *out, const struct tuning *tuning, const struct tune_row *rows,
                      const struct tune_result *results) {
  char text[FILE_BYTES];
  const size_t length = print_file(tuning, rows, results, text);
  const int code = output_write(out, text, length);
  return code ? code : output_commit(out);
}

static int tune_into(struct output *out, const options *chosen) {
  struct tuning tuning = {.threads = 0};
  struct tune_row rows[TUNE_ROWS];
  struct tune_result results[TUNE_ROWS] = {{.measured = false}};
  const uint64_t cache = machine_cache(3) ? machine_cache(3) : machine_cache(2);
  int code = tune_describe(&tuning, chosen->threads);
  if (code) return code;
  tune_rows(rows, cache ? cache : cache_if_unknown, tuning.threads);
  tuning.sampling =
      (struct sampling){chosen->samples ? chosen->samples : DEFAULT_SAMPLES,
                        (chosen->seconds > 0 ? chosen->seconds : default_seconds) / (double)count_sizes(rows)};
  code = check_memory(rows);
  if (!code) code = measure_rows(&tuning, rows, results);
  if (!code) code = write_file(out, &tuning, rows, results);
  if (!code && !out->standard) print_table(&tuning, rows, results, out->name);
  return code;
}

static int run_tune(const options *chosen) {
  struct output out = {.fd = -1};
  char path[PATH_BYTES];
  int code = chosen->output ? EXIT_OK : default_path(path);
  if (!code) code = output_open(&out, chosen->output ? chosen->output : path, chosen->force);
  if (!code) code = tune_into(&out, chosen);
  output_close(&out);
  return code;
}

const struct verb verb_tune = {
    .name = "tune",
    .synopsis = "[OPTION]...",
    .summary = "Measure the numbers that steer the speed of the CPU backend, and keep them.",
    .details =
        "Each row is tried with several values on sums or scans of several sizes; one that is at least 3 % faster\n"
        "than the default goes into OUT, by default libred/tune in $XDG_CONFIG_HOME or ~/.config, which contexts\n"
        "read by themselves. RED_TUNE_FILE names another file; set but empty, none. No row changes a result.\n",
    .examples = "  redtool tune\n"
                "  redtool tune -o here.tune && RED_TUNE_FILE=here.tune redtool bench\n",
    .accepts = OPTION_BIT(THREADS) | OPTION_BIT(OUTPUT) | OPTION_BIT(FORCE) | OPTION_BIT(SAMPLES) | OPTION_BIT(SECONDS),
    .run = run_tune,
};
