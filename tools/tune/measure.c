/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public API has no setting for a row, and needs none: a context reads the tuning file when it is made, so each
 * candidate is a small file in a temporary folder.
 */
#include "tune/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "tune/arena.h"

/* A candidate must be this much faster, or noise would choose it. */
static const double least_gain = 1.03;

const char tune_file_begin[] = "libred tuning 1\n# written by redtool tune\n";

/* ---- contexts ---- */

enum {
  MOST_CONTEXTS = MOST_CANDIDATES + 1
};

/* All share the device's own context, and so its memory. */
struct setting {
  uint64_t value; /* of the row; 0: the default */
  red_context *context;
  red_queue *queue;
};

/* `file` NULL: none, the defaults. */
static red_status open_setting(const struct tuning *tuning, const char *file, struct setting *setting) {
  const struct bench_device *device = tuning->device;
  const red_context_options wish = {.size = sizeof wish,
                                    .backend = device->info.id,
                                    .threads = tuning->threads,
                                    .native_context = device->engine.native_context,
                                    .native_device = device->engine.native_device};
  setenv("RED_TUNE_FILE", file ? file : "", 1);
  red_status status = red_context_create(&wish, &setting->context);
  if (!status && !device->on_host)
    status = red_queue_wrap(setting->context, device->engine.native_queue, &setting->queue);
  return status;
}

static void close_setting(struct setting *setting) {
  red_queue_destroy(setting->queue);
  red_context_destroy(setting->context);
  *setting = (struct setting){.value = 0};
}

static int write_candidate(const struct tuning *tuning, const char *path, const char *row, uint64_t value) {
  FILE *file = fopen(path, "we");
  const bool written =
      file && fprintf(file, "%s[%s]\n%s = %" PRIu64 "\n", tune_file_begin, tuning->section, row, value) > 0;
  if (file && fclose(file) == 0 && written) return EXIT_OK;
  return io_error("%s: %s", path, strerror(errno));
}

/* A value that the device cannot do is no candidate: then the setting stays empty. */
static int open_candidate(const struct tuning *tuning, const struct tune_row *row, uint64_t value,
                          struct setting *setting) {
  const char *folder = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/redtool-tune.XXXXXX", folder && *folder ? folder : "/tmp");
  const int fd = mkstemp(path);
  if (fd < 0) return io_error("%s: %s", path, strerror(errno));
  close(fd);
  const int code = write_candidate(tuning, path, row->name, value);
  setting->value = value;
  if (!code && open_setting(tuning, path, setting)) close_setting(setting);
  unlink(path);
  return code;
}

/* The default first. */
static int open_settings(const struct tuning *tuning, const struct tune_row *row, struct setting *settings,
                         size_t *count) {
  const red_status status = open_setting(tuning, NULL, &settings[0]);
  int code = status ? library_error(status) : EXIT_OK;
  *count = 1;
  for (size_t i = 0; row->candidates[i] && !code; i++) {
    code = open_candidate(tuning, row, row->candidates[i], &settings[*count]);
    if (settings[*count].context) ++*count;
  }
  return code;
}

/* ---- one size ---- */

struct attempt {
  red_plan *plan;
  red_queue *queue;
  const struct arena *arena;
  unsigned turn;
};

static int run_attempt(void *argument, unsigned calls) {
  struct attempt *a = argument;
  red_status status = RED_OK;
  for (unsigned i = 0; i < calls && !status; i++) {
    const red_args args = arena_args(a->arena, a->turn++);
    status = red_plan_execute_args(a->plan, a->queue, &args);
  }
  if (!status && a->queue) status = red_queue_finish(a->queue);
  return status ? library_error(status) : EXIT_OK;
}

/* Seconds of each setting's median. */
static int measure_size(const struct tuning *tuning, const struct tune_row *row, uint64_t bytes,
                        const struct setting *settings, size_t count, double *seconds) {
  struct attempt attempts[MOST_CONTEXTS] = {{.plan = NULL}};
  struct contestant contestants[MOST_CONTEXTS];
  struct arena arena;
  int code = arena_make(&arena, tuning->device, row, bytes);
  const red_problem problem = arena_problem(&arena, row, bytes);
  for (size_t i = 0; i < count && !code; i++) {
    attempts[i] = (struct attempt){.queue = row->in_host_memory ? NULL : settings[i].queue, .arena = &arena};
    const red_status status = red_plan_create(settings[i].context, &problem, &attempts[i].plan);
    if (status) code = library_error(status);
    contestants[i] = (struct contestant){.run = run_attempt, .argument = &attempts[i]};
  }
  if (!code) code = sampling_measure(contestants, count, &tuning->sampling);
  for (size_t i = 0; i < count; i++) {
    if (!code) seconds[i] = contestants[i].result.median;
    red_plan_destroy(attempts[i].plan);
  }
  arena_free(&arena);
  return code;
}

/* ---- a row ---- */

/* Each setting's sum of the logarithms of its times: each size counts alike, however long it takes. */
static int measure_sizes(const struct tuning *tuning, const struct tune_row *row, const struct setting *settings,
                         size_t count, double *logs) {
  double seconds[MOST_CONTEXTS];
  int code = EXIT_OK;
  for (size_t i = 0; i < count; i++) logs[i] = 0;
  for (size_t size = 0; row->sizes[size] && !code; size++) {
    code = measure_size(tuning, row, row->sizes[size], settings, count, seconds);
    for (size_t i = 0; i < count && !code; i++) logs[i] += log(seconds[i]);
  }
  return code;
}

static double mean_gain(const struct tune_row *row, double logs_default, double logs_best) {
  size_t sizes = 0;
  while (row->sizes[sizes]) sizes++;
  return exp((logs_default - logs_best) / (double)sizes);
}

/* The best of many is in part the luckiest: it must beat the default once more, alone. */
static int choose(const struct tuning *tuning, const struct tune_row *row, const struct setting *settings, size_t count,
                  struct tune_result *result) {
  double logs[MOST_CONTEXTS];
  size_t best = 0;
  *result = (struct tune_result){.verdict = TUNE_DEFAULT, .gain = 1};
  int code = measure_sizes(tuning, row, settings, count, logs);
  for (size_t i = 1; i < count && !code; i++)
    if (logs[i] < logs[best]) best = i;
  if (code || best == 0 || mean_gain(row, logs[0], logs[best]) < least_gain) return code;
  const struct setting finalists[] = {settings[0], settings[best]};
  code = measure_sizes(tuning, row, finalists, 2, logs);
  const double gain = code ? 0 : mean_gain(row, logs[0], logs[1]);
  if (gain >= least_gain) *result = (struct tune_result){TUNE_BETTER, settings[best].value, gain};
  return code;
}

int tune_measure(const struct tuning *tuning, const struct tune_row *row, struct tune_result *result) {
  struct setting settings[MOST_CONTEXTS] = {{.value = 0}};
  size_t count;
  int code = open_settings(tuning, row, settings, &count);
  if (!code && count > 1) code = choose(tuning, row, settings, count, result);
  if (!code && count == 1) *result = (struct tune_result){.verdict = TUNE_UNUSED, .gain = 1};
  for (size_t i = 0; i < count; i++) close_setting(&settings[i]);
  return code;
}
