/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum {
  MOST_BYTES = 64 << 20,
  LONGEST_SECONDS = 1000000000
};

static const char benchmark[] = "redtool bench"; /* as rows.c writes it */

/* ---- the file ---- */

static int read_text(const char *path, char **text) {
  FILE *file = fopen(path, "re");
  if (!file) return io_error("%s: %s", path, strerror(errno));
  size_t held = 0, capacity = 1 << 16;
  char *all = malloc(capacity);
  while (all) {
    held += fread(all + held, 1, capacity - held - 1, file);
    if (held + 1 < capacity || capacity > MOST_BYTES) break;
    char *more = realloc(all, capacity *= 2);
    if (!more) free(all);
    all = more;
  }
  const int failed = ferror(file) ? errno : 0;
  fclose(file);
  *text = all;
  if (!all) return io_error("%s: out of memory", path);
  all[held] = 0;
  if (failed) return io_error("%s: %s", path, strerror(failed));
  if (strlen(all) != held) return io_error("%s: a NUL at byte %zu, this is no JSON", path, strlen(all));
  return held + 1 < capacity ? EXIT_OK : io_error("%s: longer than %d MiB", path, MOST_BYTES >> 20);
}

static bool is_ours(const struct json *old) {
  const char *name = json_text(old, "benchmark");
  const struct json *rows = json_member(old, "rows");
  return name && strcmp(name, benchmark) == 0 && rows && rows->kind == JSON_ARRAY;
}

int compare_open(const char *path, struct json *old) {
  char *text = NULL;
  size_t at;
  memset(old, 0, sizeof *old);
  int code = read_text(path, &text);
  if (!code) {
    const char *fault = json_parse(text, old, &at);
    if (fault)
      code = io_error("%s: byte %zu: %s", path, at, fault);
    else if (!is_ours(old))
      code = io_error("%s: this is not what 'redtool bench --json' writes", path);
    else if (json_number(old, "format", 0) != 1)
      code = io_error("%s: another version of redtool wrote this", path);
  }
  free(text);
  return code;
}

/* ---- rows ---- */

static bool says(const struct json *item, const char *name, const char *text) {
  const char *found = json_text(item, name);
  return found && strcmp(found, text) == 0;
}

/* The old median of a row, or 0. */
static double find_before(const struct row *row, const struct json *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    const struct json *item = &rows->items[i];
    if (says(item, "problem", row->c->text) && says(item, "device", row->device->id) &&
        says(item, "route", route_names[row->route]) && says(item, "cache", row->cold ? "cold" : "warm"))
      return json_number(item, "median", 0);
  }
  return 0;
}

int compare_rows(struct table *table, const char *path, const struct json *old) {
  size_t found = 0;
  table->compared = path;
  for (size_t i = 0; i < table->count; i++) {
    struct row *row = &table->rows[i];
    const double before = row->measured ? find_before(row, json_member(old, "rows")) : 0;
    if (!(before > 0 && before < LONGEST_SECONDS)) continue; /* nor an infinite one */
    row->before = before;
    found++;
  }
  return found ? EXIT_OK : io_error("%s: none of its rows is among those measured now", path);
}

int compare_judge(const struct table *table, double least) {
  const struct row *worst = NULL;
  double lowest = least;
  size_t below = 0, compared = 0;
  for (size_t i = 0; i < table->count; i++) {
    const struct row *row = &table->rows[i];
    if (!row->measured || row->before <= 0) continue;
    const double ratio = row->before / row->time.median;
    compared++;
    if (ratio >= least) continue;
    below++;
    if (ratio > lowest) continue;
    lowest = ratio;
    worst = row;
  }
  if (!worst) return EXIT_OK;
  complain("%zu of %zu rows are below %g: the worst is %s on %s, %s, %s, at %.3f", below, compared, least,
           worst->c->text, worst->device->id, route_names[worst->route], worst->cold ? "cold" : "warm", lowest);
  return EXIT_MISMATCH;
}
