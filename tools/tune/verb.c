/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool tune: the rows that steer the backends' speed, measured here, into the file that contexts read. */
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
#include "tune/arena.h"
#include "tune/measure.h"

enum {
  DEFAULT_SAMPLES = 9,
  PATH_BYTES = 4096,
  SECTION_BYTES = 4096
};

static const double default_seconds = 60;
static const uint64_t cache_if_unknown = (uint64_t)8 << 20;

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

/* ---- a device ---- */

/* What was asked of a device, and found. */
struct report {
  struct tuning tuning;
  struct tune_row rows[MOST_ROWS];
  struct tune_result results[MOST_ROWS];
  size_t count;
};

static uint64_t last_level_cache(void) {
  const uint64_t cache = machine_cache(3) ? machine_cache(3) : machine_cache(2);
  return cache ? cache : cache_if_unknown;
}

static size_t count_sizes(const struct report *report) {
  size_t count = 0;
  for (size_t i = 0; i < report->count; i++)
    for (size_t k = 0; report->rows[i].sizes[k]; k++) count++;
  return count;
}

static void begin_report(struct report *report, const struct bench_device *device, const options *chosen) {
  const red_device_info *info = &device->info;
  *report = (struct report){.tuning = {.device = device, .threads = chosen->threads}};
  snprintf(report->tuning.section, sizeof report->tuning.section, "%s: %s, %s", info->backend, info->name,
           info->detail);
  report->count = device->on_host ? tune_cpu_rows(report->rows, last_level_cache(), info->units)
                                  : tune_device_rows(report->rows, info->backend);
  report->tuning.sampling =
      (struct sampling){chosen->samples ? chosen->samples : DEFAULT_SAMPLES,
                        (chosen->seconds > 0 ? chosen->seconds : default_seconds) / (double)count_sizes(report)};
}

static int check_memory(const struct report *report) {
  const uint64_t on_host = machine_free_memory() / 2, on_device = report->tuning.device->info.memory / 2;
  for (size_t i = 0; i < report->count; i++) {
    const struct tune_row *row = &report->rows[i];
    const uint64_t host_bytes = arena_host_bytes(row), device_bytes = arena_device_bytes(report->tuning.device, row);
    if (host_bytes <= on_host && (device_bytes == 0 || device_bytes <= on_device)) continue;
    const bool host = host_bytes > on_host;
    complain("tune: %s takes %.1f GiB of %s memory, and no more than half of %s is used: %.1f GiB", row->name,
             (double)(host ? host_bytes : device_bytes) / 1073741824.0, host ? "host" : "the device's",
             host ? "what is free" : "it", (double)(host ? on_host : on_device) / 1073741824.0);
    return EXIT_LIBRARY;
  }
  return EXIT_OK;
}

static int measure_rows(struct report *report) {
  int code = EXIT_OK;
  progress_begin(report->count);
  for (size_t i = 0; i < report->count && !code; i++) {
    const struct tune_row *row = &report->rows[i];
    progress_step((uint64_t)i, row->name);
    if (!row->needs_team || report->tuning.device->info.units > 1)
      code = tune_measure(&report->tuning, row, &report->results[i]);
  }
  progress_clear();
  return code;
}

/* ---- all devices ---- */

struct reports {
  struct report *list;
  size_t count;
};

/* Devices of one description share a section: the first one is measured. */
static bool is_known(const struct reports *reports, const char *section) {
  for (size_t i = 0; i < reports->count; i++)
    if (strcmp(reports->list[i].tuning.section, section) == 0) return true;
  return false;
}

static int measure_devices(const struct bench_devices *devices, const options *chosen, struct reports *reports) {
  int code = EXIT_OK;
  for (size_t i = 0; i < devices->count && !code; i++) {
    struct report *report = &reports->list[reports->count];
    begin_report(report, &devices->list[i], chosen);
    if (is_known(reports, report->tuning.section)) continue;
    code = check_memory(report);
    reports->count++;
  }
  for (size_t i = 0; i < reports->count && !code; i++) code = measure_rows(&reports->list[i]);
  return code;
}

static void print_result(const struct tune_row *row, const struct tune_result *result) {
  static const char *const instead[] = {
      [TUNE_ONE_THREAD] = "one thread", [TUNE_UNUSED] = "not used", [TUNE_DEFAULT] = "default"};
  printf("%-26s ", row->name);
  if (result->verdict == TUNE_BETTER)
    printf("%20" PRIu64 "  %6.3f", result->best, result->gain);
  else if (result->verdict == TUNE_DEFAULT)
    printf("%20s  %6.3f", instead[result->verdict], result->gain);
  else
    printf("%20s  %6s", instead[result->verdict], "");
  printf("  %s\n", row->what);
}

static void print_table(const struct report *report) {
  printf("%s\n\n%-26s %20s  %6s\n", report->tuning.section, "row", "value", "gain");
  for (size_t i = 0; i < report->count; i++) print_result(&report->rows[i], &report->results[i]);
  printf("\n");
}

/* ---- the file ---- */

static int write_section(struct output *out, const struct report *report) {
  char text[SECTION_BYTES];
  int length = snprintf(text, sizeof text, "[%s]\n", report->tuning.section);
  for (size_t i = 0; i < report->count; i++)
    if (report->results[i].verdict == TUNE_BETTER)
      length += snprintf(text + length, sizeof text - (size_t)length, "%s = %" PRIu64 " # %.3f times as fast\n",
                         report->rows[i].name, report->results[i].best, report->results[i].gain);
  return output_write(out, text, (size_t)length);
}

static int write_file(struct output *out, const struct reports *reports) {
  int code = output_write(out, tune_file_begin, strlen(tune_file_begin));
  for (size_t i = 0; i < reports->count && !code; i++) code = write_section(out, &reports->list[i]);
  return code ? code : output_commit(out);
}

static int tune_into(struct output *out, const options *chosen) {
  struct bench_devices devices = {.count = 0};
  struct reports reports = {.count = 0};
  setenv("RED_TUNE_FILE", "", 1); /* the defaults are what candidates are measured against */
  int code = bench_devices_open(&devices, chosen->backend, chosen->threads);
  reports.list = calloc(devices.count + 1, sizeof *reports.list);
  if (!code && !reports.list) {
    complain("out of memory for %zu devices", devices.count);
    code = EXIT_LIBRARY;
  }
  if (!code) code = measure_devices(&devices, chosen, &reports);
  if (!code) code = write_file(out, &reports);
  if (!code && !out->standard) {
    for (size_t i = 0; i < reports.count; i++) print_table(&reports.list[i]);
    printf("written to %s\n", out->name);
  }
  free(reports.list);
  bench_devices_close(&devices);
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
    .summary = "Measure the numbers that steer the speed of the backends, and keep them.",
    .details =
        "On each device, or those that --backend names, each row is tried with several values on sums or scans of\n"
        "several sizes; one that is at least 3 % faster than the default goes into OUT, by default libred/tune in\n"
        "$XDG_CONFIG_HOME or ~/.config, which contexts read by themselves. RED_TUNE_FILE names another file; set\n"
        "but empty, none. No row changes a result.\n",
    .examples = "  redtool tune\n"
                "  redtool tune --backend cuda --seconds 20\n"
                "  redtool tune -o here.tune && RED_TUNE_FILE=here.tune redtool bench\n",
    .accepts = OPTION_BIT(BACKEND) | OPTION_BIT(THREADS) | OPTION_BIT(OUTPUT) | OPTION_BIT(FORCE) |
               OPTION_BIT(SAMPLES) | OPTION_BIT(SECONDS),
    .run = run_tune,
};
