/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/profile.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- The report: ncu's own lines begin with "=="; a table with a row for each launch and metric ---- */

static const struct metric {
  const char *name;
  size_t into;
} metrics[] = {
    {"smsp__thread_inst_executed_pred_on.sum", offsetof(struct profile, thread_instructions)},
    {"smsp__inst_executed.sum", offsetof(struct profile, instructions)},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", offsetof(struct profile, conflicts)},
    {"dram__bytes_read.sum", offsetof(struct profile, read)},
    {"dram__bytes_write.sum", offsetof(struct profile, written)},
};
enum {
  METRICS = sizeof metrics / sizeof *metrics,
  FIELD_BYTES = 512,
  MOST_FIELDS = 64
};

struct columns {
  int kernel, metric, value; /* -1: the header has not come yet */
};

/* The next field of a line, cut to FIELD_BYTES; NULL at the line's end. */
static const char *next_field(const char *at, char field[FIELD_BYTES]) {
  size_t length = 0;
  if (*at == 0 || *at == '\n' || *at == '\r') return NULL;
  const bool quoted = *at == '"';
  if (quoted) at++;
  for (; *at && *at != '\n'; at++) {
    if (quoted && *at == '"') {
      if (at[1] != '"') break;
      at++;
    } else if (!quoted && (*at == ',' || *at == '\r')) {
      break;
    }
    if (length + 1 < FIELD_BYTES) field[length++] = *at;
  }
  field[length] = 0;
  if (quoted && *at == '"') at++;
  return *at == ',' ? at + 1 : at;
}

static void read_header(const char *line, struct columns *columns) {
  char field[FIELD_BYTES];
  for (int i = 0; i < MOST_FIELDS && (line = next_field(line, field)) != NULL; i++) {
    if (strcmp(field, "Kernel Name") == 0) columns->kernel = i;
    if (strcmp(field, "Metric Name") == 0) columns->metric = i;
    if (strcmp(field, "Metric Value") == 0) columns->value = i;
  }
}

/* "sum", of which ncu may also write "sum(const float *, int)" or "void sum<4>(...)", is found by its word. */
static bool is_kernel(const char *written, const char *name) {
  const char *const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const size_t head = strcspn(written, "(<"), length = strlen(name);
  for (size_t i = 0; i < head; i += strcspn(written + i, " :") + 1)
    if (strspn(written + i, word) == length && strncmp(written + i, name, length) == 0) return true;
  return false;
}

static const struct profile nothing = {NAN, NAN, NAN, NAN, NAN};

/* What an unlisted kernel was before a listed one, a test of the device say, is forgotten. */
static struct profile *find_profile(const char *kernel, const char *const *kernels, size_t count,
                                    struct profile *profiles) {
  struct profile *listed = NULL, *unlisted = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!kernels[i]) unlisted = &profiles[i];
    if (kernels[i] && is_kernel(kernel, kernels[i])) listed = &profiles[i];
  }
  if (listed && unlisted) *unlisted = nothing;
  return listed ? listed : unlisted;
}

/* Thousands may be separated by commas. */
static bool parse_number(char *text, double *number) {
  char *to = text, *end;
  for (const char *from = text; *from; from++)
    if (*from != ',') *to++ = *from;
  *to = 0;
  *number = strtod(text, &end);
  return end != text && *end == 0;
}

/* Whether the row counted. */
static bool read_row(const char *line, const struct columns *columns, const char *const *kernels, size_t count,
                     struct profile *profiles) {
  char field[FIELD_BYTES], kernel[FIELD_BYTES] = "", metric[FIELD_BYTES] = "", value[FIELD_BYTES] = "";
  double number;
  for (int i = 0; i < MOST_FIELDS && (line = next_field(line, field)) != NULL; i++) {
    if (i == columns->kernel) strcpy(kernel, field);
    if (i == columns->metric) strcpy(metric, field);
    if (i == columns->value) strcpy(value, field);
  }
  struct profile *profile = find_profile(kernel, kernels, count, profiles);
  for (int i = 0; i < METRICS && profile && parse_number(value, &number); i++)
    if (strcmp(metric, metrics[i].name) == 0) {
      double *sum = (double *)((char *)profile + metrics[i].into);
      *sum = isnan(*sum) ? number : *sum + number;
      return true;
    }
  return false;
}

/* The line where ncu says what went wrong, without its mark. */
static void keep_error(const char *line, char reason[PROFILE_REASON_BYTES]) {
  static const char mark[] = "==ERROR== ";
  if (strncmp(line, mark, sizeof mark - 1) != 0 || reason[0]) return;
  line += sizeof mark - 1;
  snprintf(reason, PROFILE_REASON_BYTES, "ncu: %.*s", (int)strcspn(line, "\r\n"), line);
}

bool profile_read(const char *report, const char *const *kernels, size_t count, struct profile *profiles,
                  char reason[PROFILE_REASON_BYTES]) {
  struct columns columns = {-1, -1, -1};
  bool counted = false;
  reason[0] = 0;
  for (size_t i = 0; i < count; i++) profiles[i] = nothing;
  for (const char *line = report; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    keep_error(line, reason);
    if (columns.kernel >= 0 && columns.metric >= 0 && columns.value >= 0)
      counted |= read_row(line, &columns, kernels, count, profiles);
    else
      read_header(line, &columns);
  }
  if (!counted && !reason[0]) snprintf(reason, PROFILE_REASON_BYTES, "ncu reported none of the metrics");
  return counted && !reason[0];
}

double profile_lanes(const struct profile *profile) {
  return profile->instructions > 0 ? profile->thread_instructions / profile->instructions : NAN;
}

/* ---- running it ---- */

enum {
  MOST_WORDS = 32,
  METRICS_BYTES = 512
};

/* All that comes out of the pipe; NULL without memory. */
static char *read_pipe(int fd) {
  size_t held = 0, capacity = 1 << 16;
  char *text = malloc(capacity);
  ssize_t got = 1;
  while (text && got != 0) {
    if (held + 1 == capacity) {
      char *more = realloc(text, capacity *= 2);
      if (!more) free(text);
      text = more;
    }
    if (!text) break;
    got = read(fd, text + held, capacity - held - 1);
    if (got < 0 && errno != EINTR) break;
    if (got > 0) held += (size_t)got;
  }
  if (text) text[held] = 0;
  return text;
}

static void list_metrics(char list[METRICS_BYTES]) {
  size_t length = 0;
  for (int i = 0; i < METRICS; i++)
    length += (size_t)snprintf(list + length, METRICS_BYTES - length, "%s%s", i ? "," : "", metrics[i].name);
}

/* Clocks stay as they are, like in the measurement; numbers come in units of one. */
static int start(const char *const *command, int write_end, int read_end, pid_t *child) {
  char list[METRICS_BYTES];
  const char *words[MOST_WORDS] = {"ncu",           "--csv", "--clock-control", "none",
                                   "--print-units", "base",  "--metrics",       list};
  size_t count = 8;
  posix_spawn_file_actions_t actions;
  list_metrics(list);
  for (; *command && count + 1 < MOST_WORDS; command++) words[count++] = *command;
  words[count] = NULL;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  if (!failed) failed = posix_spawn_file_actions_addclose(&actions, read_end);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, write_end, STDERR_FILENO);
  if (!failed) failed = posix_spawnp(child, "ncu", &actions, NULL, (char **)(uintptr_t)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

bool profile_run(const char *const *command, const char *const *kernels, size_t count, struct profile *profiles,
                 char reason[PROFILE_REASON_BYTES]) {
  int ends[2], status = 0;
  pid_t child;
  if (pipe(ends)) {
    snprintf(reason, PROFILE_REASON_BYTES, "no pipe for ncu: %s", strerror(errno));
    return false;
  }
  const int failed = start(command, ends[1], ends[0], &child);
  close(ends[1]);
  char *report = failed ? NULL : read_pipe(ends[0]);
  close(ends[0]);
  if (failed == ENOENT)
    snprintf(reason, PROFILE_REASON_BYTES, "ncu, Nsight Compute's command, is not on PATH");
  else if (failed)
    snprintf(reason, PROFILE_REASON_BYTES, "ncu: %s", strerror(failed));
  else if (!report)
    snprintf(reason, PROFILE_REASON_BYTES, "out of memory for ncu's report");
  if (!failed)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  const bool read = report && profile_read(report, kernels, count, profiles, reason);
  free(report);
  return read;
}
