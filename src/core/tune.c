/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tuning file is text: the line "libred tuning 1", then sections [device], each with rows `name = value`; # begins a
 * comment. The whole file is checked, also sections of other devices: damage should show where it was done.
 */
#include "tune.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINE_BYTES = 512,
  PATH_BYTES = 4096,
  FAULT_BYTES = 320,
  DEVICE_BYTES = 320
};

static const char first_line[] = "libred tuning 1";

typedef struct reading {
  const red_tuning_row *rows;
  size_t count;
  const char *device;
  bool in_section, ours; /* within any, within the device's */
  bool seen[RED_MOST_TUNING_ROWS];
  uint64_t values[RED_MOST_TUNING_ROWS];
  char fault[FAULT_BYTES];
} reading;

/* ---- Lines ---- */

static char *trim(char *text) {
  text += strspn(text, " \t");
  size_t length = strlen(text);
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) text[--length] = '\0';
  return text;
}

/* The text is quoted in a sentence or a log, which a terminal may show. */
static bool fault(reading *r, const char *what, const char *text) {
  snprintf(r->fault, sizeof r->fault, "%s '%.100s'", what, text);
  for (char *at = r->fault; *at != '\0'; at++)
    if (*at < ' ' || *at > '~') *at = '?';
  return false;
}

static bool parse_value(const char *text, uint64_t *value) {
  if (*text < '0' || *text > '9') return false;
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && *end == '\0';
}

static bool set_row(reading *r, size_t i, const char *text) {
  const red_tuning_row *row = &r->rows[i];
  uint64_t value;
  if (row->most < row->least) return fault(r, "a row that this device has no use for:", row->name);
  bool good = parse_value(text, &value) && value >= row->least && value <= row->most;
  if (good && row->power_of_two) good = (value & (value - 1)) == 0;
  if (!good) {
    char expected[160];
    snprintf(expected, sizeof expected, "%s: expected %s from %" PRIu64 " to %" PRIu64 ", not", row->name,
             row->power_of_two ? "a power of two" : "a number", row->least, row->most);
    return fault(r, expected, text);
  }
  if (r->seen[i]) return fault(r, "a second row", row->name);
  r->seen[i] = true;
  r->values[i] = value;
  return true;
}

/* Rows of other devices may be of other backends: only their form is checked. */
static bool read_row(reading *r, char *line) {
  char *equals = strchr(line, '=');
  if (equals == NULL) return fault(r, "neither a section nor a row:", line);
  *equals = '\0';
  const char *name = trim(line), *text = trim(equals + 1);
  uint64_t value;
  if (!r->in_section) return fault(r, "a row before any section:", name);
  if (!r->ours) return parse_value(text, &value) || fault(r, "not a number:", text);
  for (size_t i = 0; i < r->count; i++)
    if (strcmp(r->rows[i].name, name) == 0) return set_row(r, i, text);
  return fault(r, "an unknown row", name);
}

static bool read_line(reading *r, char *line) {
  size_t length = strlen(line);
  if (length > 0 && line[0] == '[') {
    if (line[length - 1] != ']') return fault(r, "a section without its end:", line);
    line[length - 1] = '\0';
    r->in_section = true;
    r->ours = strcmp(line + 1, r->device) == 0;
    return true;
  }
  return length == 0 || read_row(r, line);
}

/* The number of the line that is at fault, or 0. */
static unsigned read_file(reading *r, FILE *file) {
  char line[LINE_BYTES];
  unsigned number = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    number++;
    bool whole = strchr(line, '\n') != NULL || feof(file);
    line[strcspn(line, "#")] = '\0';
    char *text = trim(line);
    if (number == 1 && strcmp(text, first_line) != 0)
      fault(r, "no tuning file, it does not begin with", first_line);
    else if (!whole)
      fault(r, "longer than a line may be:", text);
    else if (number == 1 || read_line(r, text))
      continue;
    return number;
  }
  if (number > 0 && !ferror(file)) return 0;
  fault(r, "no tuning file:", ferror(file) ? strerror(errno) : "empty");
  return number + 1;
}

/* ---- Which file ---- */

/* False: none. */
static bool default_path(char *path, size_t bytes) {
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  int length = -1;
  if (config != NULL && config[0] == '/')
    length = snprintf(path, bytes, "%s/libred/tune", config);
  else if (home != NULL && home[0] == '/')
    length = snprintf(path, bytes, "%s/.config/libred/tune", home);
  return length > 0 && (size_t)length < bytes;
}

static red_status refuse(bool named, const char *path, const char *why) {
  if (named) return red_fail(RED_ERR_INVALID, "RED_TUNE_FILE=%s: %s", path, why);
  red_log("the tuning file %s is ignored: %s", path, why);
  return RED_OK;
}

red_status red_tune_load(const char *backend, const char *name, const char *detail, const red_tuning_row *rows,
                         size_t count) {
  char own[PATH_BYTES], why[FAULT_BYTES + 32], device[DEVICE_BYTES];
  const char *path = getenv("RED_TUNE_FILE");
  bool named = path != NULL;
  if (named ? path[0] == '\0' : !default_path(own, sizeof own)) return RED_OK;
  if (!named) path = own;
  FILE *file = fopen(path, "re");
  if (file == NULL) return !named && errno == ENOENT ? RED_OK : refuse(named, path, strerror(errno));
  snprintf(device, sizeof device, "%s: %s, %s", backend, name, detail);
  reading r = {.rows = rows, .count = count, .device = device};
  unsigned line = read_file(&r, file);
  fclose(file);
  if (line > 0) {
    snprintf(why, sizeof why, "line %u: %s", line, r.fault);
    return refuse(named, path, why);
  }
  unsigned used = 0;
  for (size_t i = 0; i < count; i++)
    if (r.seen[i]) *rows[i].value = r.values[i], used++;
  red_log("the tuning file %s has %u rows for %s", path, used, device);
  return RED_OK;
}
