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

#include "bench/arrays.h"
#include "report.h"

/* A candidate must be this much faster, or noise would choose it. */
static const double least_gain = 1.03;

/* ---- contexts ---- */

/* `file` NULL: none, the defaults. */
static int make_context(const char *file, unsigned threads, red_context **context) {
  const red_context_options wish = {.size = sizeof wish, .backend = "omp", .threads = threads};
  setenv("RED_TUNE_FILE", file ? file : "", 1);
  const red_status status = red_context_create(&wish, context);
  return status ? library_error(status) : EXIT_OK;
}

int tune_describe(struct tuning *tuning, unsigned threads) {
  red_context *context = NULL;
  red_device_info info = {.size = sizeof info};
  const int code = make_context(NULL, threads, &context);
  const red_status status = code ? RED_OK : red_context_device(context, RED_HOST, &info);
  red_context_destroy(context);
  if (code || status) return code ? code : library_error(status);
  tuning->threads = info.units;
  snprintf(tuning->section, sizeof tuning->section, "%s: %.100s, %.100s", info.backend, info.name, info.detail);
  return EXIT_OK;
}

int tune_header(const struct tuning *tuning, char *text, size_t bytes) {
  return snprintf(text, bytes, "libred tuning 1\n# written by redtool tune\n[%s]\n", tuning->section);
}

static int write_candidate(const struct tuning *tuning, const char *path, const char *row, uint64_t value) {
  char text[512];
  tune_header(tuning, text, sizeof text);
  FILE *file = fopen(path, "we");
  const bool written = file && fprintf(file, "%s%s = %" PRIu64 "\n", text, row, value) > 0;
  if (file && fclose(file) == 0 && written) return EXIT_OK;
  return io_error("%s: %s", path, strerror(errno));
}

static int context_of_candidate(const struct tuning *tuning, const struct tune_row *row, uint64_t value,
                                red_context **context) {
  const char *folder = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/redtool-tune.XXXXXX", folder && *folder ? folder : "/tmp");
  const int fd = mkstemp(path);
  if (fd < 0) return io_error("%s: %s", path, strerror(errno));
  close(fd);
  int code = write_candidate(tuning, path, row->name, value);
  if (!code) code = make_context(path, tuning->threads, context);
  unlink(path);
  return code;
}

/* ---- one size ---- */

enum {
  MOST_CONTEXTS = MOST_CANDIDATES + 1
};

struct attempt {
  const red_plan *plan;
  const struct arrays *arrays;
  bool in_place;
};

static int run_attempt(void *argument, unsigned calls) {
  const struct attempt *a = argument;
  red_status status = RED_OK;
  float sum;
  void *out = a->in_place ? a->arrays->in : a->arrays->out ? a->arrays->out : &sum;
  for (unsigned i = 0; i < calls && !status; i++) status = red_plan_execute(a->plan, NULL, a->arrays->in, out);
  return status ? library_error(status) : EXIT_OK;
}

/* Scans of zeros stay zeros, however often they replace themselves. */
static int make_arrays(const struct tune_row *row, uint64_t bytes, struct arrays *arrays) {
  const red_problem problem = RED_PROBLEM_INIT(row->kind, RED_SUM, RED_F32, bytes / sizeof(float));
  const bool has_output = row->kind != RED_REDUCE;
  const struct bench_case c = {
      .problem = problem, .text = "tuning", .bytes_in = bytes, .bytes_out = has_output ? bytes : 0};
  const int code = arrays_make(arrays, &c);
  if (!code && row->in_place) memset(arrays->in, 0, bytes);
  return code;
}

/* Seconds of each context's median. */
static int measure_size(const struct tuning *tuning, const struct tune_row *row, uint64_t bytes,
                        red_context *const *contexts, size_t count, double *seconds) {
  const red_problem problem = RED_PROBLEM_INIT(row->kind, RED_SUM, RED_F32, bytes / sizeof(float));
  red_plan *plans[MOST_CONTEXTS] = {NULL};
  struct attempt attempts[MOST_CONTEXTS];
  struct contestant contestants[MOST_CONTEXTS];
  struct arrays arrays = {.threads = tuning->threads};
  int code = make_arrays(row, bytes, &arrays);
  for (size_t i = 0; i < count && !code; i++) {
    const red_status status = red_plan_create(contexts[i], &problem, &plans[i]);
    if (status) code = library_error(status);
    attempts[i] = (struct attempt){plans[i], &arrays, row->in_place};
    contestants[i] = (struct contestant){.run = run_attempt, .argument = &attempts[i]};
  }
  if (!code) code = sampling_measure(contestants, count, &tuning->sampling);
  for (size_t i = 0; i < count; i++) {
    if (!code) seconds[i] = contestants[i].result.median;
    red_plan_destroy(plans[i]);
  }
  arrays_free(&arrays);
  return code;
}

/* ---- a row ---- */

/* Each context's sum of the logarithms of its times: each size counts alike, however long it takes. */
static int measure_sizes(const struct tuning *tuning, const struct tune_row *row, red_context *const *contexts,
                         size_t count, double *logs) {
  double seconds[MOST_CONTEXTS];
  int code = EXIT_OK;
  for (size_t i = 0; i < count; i++) logs[i] = 0;
  for (size_t size = 0; row->sizes[size] && !code; size++) {
    code = measure_size(tuning, row, row->sizes[size], contexts, count, seconds);
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
static int choose(const struct tuning *tuning, const struct tune_row *row, red_context **contexts, size_t count,
                  struct tune_result *result) {
  double logs[MOST_CONTEXTS];
  size_t best = 0;
  *result = (struct tune_result){.measured = true, .gain = 1};
  int code = measure_sizes(tuning, row, contexts, count, logs);
  for (size_t i = 1; i < count && !code; i++)
    if (logs[i] < logs[best]) best = i;
  if (code || best == 0 || mean_gain(row, logs[0], logs[best]) < least_gain) return code;
  red_context *const finalists[] = {contexts[0], contexts[best]};
  code = measure_sizes(tuning, row, finalists, 2, logs);
  const double gain = code ? 0 : mean_gain(row, logs[0], logs[1]);
  if (gain < least_gain) return code;
  result->best = row->candidates[best - 1];
  result->gain = gain;
  return EXIT_OK;
}

int tune_measure(const struct tuning *tuning, const struct tune_row *row, struct tune_result *result) {
  red_context *contexts[MOST_CONTEXTS] = {NULL};
  size_t count = 1;
  int code = make_context(NULL, tuning->threads, &contexts[0]);
  for (; row->candidates[count - 1] && !code; count++)
    code = context_of_candidate(tuning, row, row->candidates[count - 1], &contexts[count]);
  if (!code) code = choose(tuning, row, contexts, count, result);
  for (size_t i = 0; i < MOST_CONTEXTS; i++) red_context_destroy(contexts[i]);
  return code;
}
