/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the vector files and their answers: README.md has the format. */
#include "vector.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expand.h"

static void explain(red_vector_why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void explain(red_vector_why *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, sizeof why->text, format, arguments);
  va_end(arguments);
}

typedef struct field {
  const char *at;
  size_t length;
} field;

static void trim(field *f) {
  while (f->length > 0 && f->at[0] == ' ') f->at++, f->length--;
  while (f->length > 0 && f->at[f->length - 1] == ' ') f->length--;
}

static int split(const char *line, field fields[4]) {
  const char *end = line + strcspn(line, "\n");
  for (int i = 0; i < 4; i++) {
    const char *bar = memchr(line, '|', (size_t)(end - line));
    if ((bar == NULL) != (i == 3)) return 0;
    fields[i] = (field){line, (size_t)((bar ? bar : end) - line)};
    trim(&fields[i]);
    if (bar) line = bar + 1;
  }
  return 1;
}

int red_vector_parse(const char *line, red_vector *vector, red_vector_why *why) {
  field fields[4];
  char text[128];
  if (*line == '#' || *line == '\n' || *line == '\0') return 0;
  if (!split(line, fields) || fields[0].length >= sizeof vector->id || fields[1].length >= sizeof text) {
    explain(why, "malformed line: %.80s", line);
    return -1;
  }
  memcpy(vector->id, fields[0].at, fields[0].length);
  vector->id[fields[0].length] = '\0';
  memcpy(text, fields[1].at, fields[1].length);
  text[fields[1].length] = '\0';
  vector->input = fields[2].at;
  vector->input_length = fields[2].length;
  vector->expected = fields[3].at;
  vector->expected_length = fields[3].length;
  if (red_problem_parse(text, &vector->problem) != RED_OK) {
    explain(why, "%s: %s", vector->id, red_last_error());
    return -1;
  }
  red_problem resolved = vector->problem;
  if (red_problem_resolve(&resolved) != RED_OK) {
    explain(why, "%s: %s", vector->id, red_last_error());
    return -1;
  }
  vector->out = resolved.out;
  if (resolved.kind == RED_STATS) vector->out = resolved.in >= RED_F16 ? resolved.in : RED_I64; /* the sum's */
  return 1;
}

static int inputs_of(const red_vector *vector) {
  return vector->problem.kind == RED_REDUCE && vector->problem.op == RED_DOT ? 2 : 1;
}

const void *red_vector_second(const red_vector *vector, const void *input) {
  size_t bytes = vector->problem.n * red_dtype_bytes(vector->problem.in);
  return inputs_of(vector) == 2 ? (const unsigned char *)input + bytes : NULL;
}

void *red_vector_input(const red_vector *vector, red_vector_why *why) {
  char reason[128];
  uint64_t count = (uint64_t)inputs_of(vector) * vector->problem.n;
  void *elements = malloc(count * red_dtype_bytes(vector->problem.in) + 1);
  if (elements == NULL) {
    explain(why, "%s: out of memory", vector->id);
    return NULL;
  }
  if (red_expand(vector->problem.in, vector->input, vector->input_length, elements, count, reason, sizeof reason))
    return elements;
  explain(why, "%s: %s", vector->id, reason);
  free(elements);
  return NULL;
}

static size_t output_bytes(const red_vector *vector, uint64_t *count) {
  red_kind kind = vector->problem.kind;
  *count = kind == RED_INCLUSIVE_SCAN || kind == RED_EXCLUSIVE_SCAN ? vector->problem.n : 1;
  return kind == RED_STATS ? sizeof(red_stats_result) : red_dtype_bytes(vector->out);
}

void *red_vector_output(const red_vector *vector) {
  uint64_t count;
  size_t bytes = output_bytes(vector, &count) * count;
  void *out = calloc(1, bytes > 0 ? bytes : 1);
  if (out != NULL && vector->problem.kind == RED_STATS) ((red_stats_result *)out)->size = sizeof(red_stats_result);
  return out;
}

static uint64_t load(const void *at, size_t bytes) {
  uint64_t bits = 0;
  memcpy(&bits, at, bytes);
  return bits;
}

static uint64_t fnv(const unsigned char *at, size_t bytes) {
  uint64_t digest = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) digest = (digest ^ at[i]) * 0x100000001b3u;
  return digest;
}

/* The part of a statistics result that a label names; its size, 0 for an unknown one. */
static size_t stats_part(const red_vector *vector, const char *label, size_t length, size_t *offset) {
  size_t in = red_dtype_bytes(vector->problem.in);
  const struct {
    const char *label;
    size_t offset, bytes;
  } parts[] = {{"sum", offsetof(red_stats_result, sum), red_dtype_bytes(vector->out)},
               {"min", offsetof(red_stats_result, min), in},
               {"max", offsetof(red_stats_result, max), in},
               {"argmin", offsetof(red_stats_result, argmin), 8},
               {"argmax", offsetof(red_stats_result, argmax), 8},
               {"mean", offsetof(red_stats_result, mean), 8},
               {"nan_count", offsetof(red_stats_result, nan_count), 8},
               {"variance", offsetof(red_stats_result, variance), 8},
               {"sample_variance", offsetof(red_stats_result, sample_variance), 8},
               {"squared_deviations", offsetof(red_stats_result, squared_deviations), 8}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strlen(parts[i].label) == length && memcmp(parts[i].label, label, length) == 0) {
      *offset = parts[i].offset;
      return parts[i].bytes;
    }
  return 0;
}

/* One word of the answer: BITS of a result, @INDEX:BITS or fnv:BITS of a scan, PART:BITS of statistics. */
static int word_matches(const red_vector *vector, const char *word, size_t length, const unsigned char *out,
                        red_vector_why *why) {
  uint64_t count, actual;
  size_t bytes = output_bytes(vector, &count), label = 0;
  const char *colon = memchr(word, ':', length);
  if (colon != NULL) label = (size_t)(colon - word);
  uint64_t expected = strtoull(colon ? colon + 1 : word, NULL, 16);
  if (colon == NULL) {
    actual = load(out, bytes);
  } else if (word[0] == '@') {
    uint64_t index = strtoull(word + 1, NULL, 10);
    actual = index < count ? load(out + index * bytes, bytes) : ~expected;
  } else if (label == 3 && memcmp(word, "fnv", 3) == 0) {
    actual = fnv(out, count * bytes);
  } else {
    size_t offset = 0, part = stats_part(vector, word, label, &offset);
    actual = part > 0 ? load(out + offset, part) : ~expected;
  }
  if (actual != expected)
    explain(why, "%s: expected %.*s, got %llx", vector->id, (int)length, word, (unsigned long long)actual);
  return actual == expected;
}

int red_vector_matches(const red_vector *vector, red_status status, const void *out, red_vector_why *why) {
  const char *at = vector->expected, *end = at + vector->expected_length;
  int empty = vector->expected_length == 13 && memcmp(at, "RED_ERR_EMPTY", 13) == 0;
  if (status != (empty ? RED_ERR_EMPTY : RED_OK)) {
    explain(why, "%s: %s (%s)", vector->id, red_strerror(status),
            status == RED_OK ? "expected RED_ERR_EMPTY" : red_last_error());
    return 0;
  }
  if (empty) return 1;
  if (at == end) {
    explain(why, "%s: no answer", vector->id);
    return 0;
  }
  while (at < end) {
    const char *space = memchr(at, ' ', (size_t)(end - at));
    size_t length = (size_t)((space ? space : end) - at);
    if (!word_matches(vector, at, length, out, why)) return 0;
    at += length + 1;
  }
  bool counted = vector->problem.stats == 0 || (vector->problem.stats & RED_STAT_COUNT) != 0;
  uint64_t count = counted ? vector->problem.n : 0;
  if (vector->problem.kind == RED_STATS && ((const red_stats_result *)out)->count != count) {
    explain(why, "%s: count is not n", vector->id);
    return 0;
  }
  return 1;
}
