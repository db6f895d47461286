/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_DEPTH = 32
};

struct reader {
  const char *begin, *at;
  const char *fault; /* NULL so far */
  unsigned depth;
};

static bool read_value(struct reader *reader, struct json *value);

static bool fail(struct reader *reader, const char *fault) {
  if (!reader->fault) reader->fault = fault;
  return false;
}

static void skip_space(struct reader *reader) {
  reader->at += strspn(reader->at, " \t\r\n");
}

static bool accept(struct reader *reader, char c) {
  skip_space(reader);
  if (*reader->at != c) return false;
  reader->at++;
  return true;
}

/* ---- strings ---- */

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

static bool read_unit(struct reader *reader, unsigned *unit) {
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    const int digit = hex_digit(*reader->at);
    if (digit < 0) return fail(reader, "\\u takes four hexadecimal digits");
    *unit = *unit * 16 + (unsigned)digit;
    reader->at++;
  }
  return true;
}

static char *put_utf8(char *to, unsigned code) {
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  const unsigned bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (unsigned i = bytes; i > 1; i--, code >>= 6) to[i - 1] = (char)(0x80 | (code & 0x3f));
  to[0] = (char)(lead[bytes == 1 ? 0 : bytes] | code);
  return to + bytes;
}

/* After the backslash. A character beyond 16 bits is two surrogates; half of one is an error. */
static bool read_escape(struct reader *reader, char **to) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  const char c = *reader->at;
  const char *found = c ? strchr(letters, c) : NULL;
  if (!found && c != 'u') return fail(reader, "a backslash is followed by something unknown");
  reader->at++;
  if (found) {
    *(*to)++ = meanings[found - letters];
    return true;
  }
  unsigned code, low;
  if (!read_unit(reader, &code)) return false;
  if (code >= 0xd800 && code < 0xe000) {
    if (code >= 0xdc00 || strncmp(reader->at, "\\u", 2) != 0) return fail(reader, "half a surrogate pair");
    reader->at += 2;
    if (!read_unit(reader, &low)) return false;
    if (low < 0xdc00 || low >= 0xe000) return fail(reader, "half a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code == 0) return fail(reader, "a NUL within a string");
  *to = put_utf8(*to, code);
  return true;
}

/* An escape is never shorter than what it stands for, so the text's own length suffices. */
static bool read_string(struct reader *reader, char **text) {
  if (!accept(reader, '"')) return fail(reader, "a string was expected");
  size_t most = 0;
  for (const char *c = reader->at; *c && *c != '"'; c++, most++)
    if (*c == '\\' && c[1]) c++, most++;
  char *to = *text = malloc(most + 1);
  if (!to) return fail(reader, "out of memory");
  while (*reader->at != '"') {
    if ((unsigned char)*reader->at < 0x20) return fail(reader, "a string does not end");
    if (*reader->at != '\\')
      *to++ = *reader->at++;
    else if (reader->at++, !read_escape(reader, &to))
      return false;
    *to = 0;
  }
  *to = 0;
  reader->at++;
  return true;
}

/* ---- numbers and words ---- */

static size_t digits(const char *at) {
  return strspn(at, "0123456789");
}

/* As RFC 8259 has it: no leading zeros, no lonely point; strtod alone would take "0x1p3" and "nan". */
static bool read_number(struct reader *reader, double *number) {
  const char *at = reader->at;
  if (*at == '-') at++;
  const size_t whole = digits(at);
  if (whole == 0 || (*at == '0' && whole > 1)) return fail(reader, "a value was expected");
  at += whole;
  if (*at == '.') {
    if (digits(at + 1) == 0) return fail(reader, "a number ends with its point");
    at += 1 + digits(at + 1);
  }
  if (*at == 'e' || *at == 'E') {
    at++;
    if (*at == '+' || *at == '-') at++;
    if (digits(at) == 0) return fail(reader, "a number ends with its exponent's letter");
    at += digits(at);
  }
  *number = strtod(reader->at, NULL);
  reader->at = at;
  return true;
}

static bool read_word(struct reader *reader, const char *word) {
  const size_t length = strlen(word);
  if (strncmp(reader->at, word, length) != 0) return false;
  reader->at += length;
  return true;
}

/* ---- arrays and objects ---- */

static struct json *append(struct reader *reader, struct json *value) {
  if ((value->count & (value->count - 1)) == 0) { /* full at each power of two */
    const size_t capacity = value->count ? 2 * value->count : 1;
    struct json *items = realloc(value->items, capacity * sizeof *items);
    if (!items) {
      fail(reader, "out of memory");
      return NULL;
    }
    value->items = items;
  }
  struct json *item = &value->items[value->count++];
  memset(item, 0, sizeof *item);
  return item;
}

static bool read_items(struct reader *reader, struct json *value, char end) {
  if (accept(reader, end)) return true;
  do {
    struct json item = {.kind = JSON_NULL};
    bool good = true;
    if (value->kind == JSON_OBJECT) {
      good = read_string(reader, &item.name);
      if (good && !accept(reader, ':')) good = fail(reader, "a colon was expected");
    }
    if (good) good = read_value(reader, &item);
    struct json *place = append(reader, value);
    if (!place) {
      json_free(&item);
      return false;
    }
    *place = item;
    if (!good) return false;
  } while (accept(reader, ','));
  return accept(reader, end) || fail(reader, end == ']' ? "a comma or ] was expected" : "a comma or } was expected");
}

static bool read_nested(struct reader *reader, struct json *value, enum json_kind kind, char end) {
  value->kind = kind;
  reader->at++;
  if (++reader->depth > MOST_DEPTH) return fail(reader, "too deeply nested");
  const bool good = read_items(reader, value, end);
  reader->depth--;
  return good;
}

static bool read_value(struct reader *reader, struct json *value) {
  skip_space(reader);
  if (*reader->at == '{') return read_nested(reader, value, JSON_OBJECT, '}');
  if (*reader->at == '[') return read_nested(reader, value, JSON_ARRAY, ']');
  if (*reader->at == '"') {
    value->kind = JSON_STRING;
    return read_string(reader, &value->text);
  }
  value->kind = read_word(reader, "null")    ? JSON_NULL
                : read_word(reader, "true")  ? JSON_TRUE
                : read_word(reader, "false") ? JSON_FALSE
                                             : JSON_NUMBER;
  return value->kind != JSON_NUMBER || read_number(reader, &value->number);
}

const char *json_parse(const char *text, struct json *value, size_t *at) {
  struct reader reader = {.begin = text, .at = text};
  memset(value, 0, sizeof *value);
  if (read_value(&reader, value)) {
    skip_space(&reader);
    if (*reader.at) fail(&reader, "something follows the end");
  }
  *at = (size_t)(reader.at - reader.begin);
  return reader.fault;
}

void json_free(struct json *value) {
  for (size_t i = 0; i < value->count; i++) json_free(&value->items[i]);
  free(value->items);
  free(value->text);
  free(value->name);
  memset(value, 0, sizeof *value);
}

/* ---- looking things up ---- */

const struct json *json_member(const struct json *object, const char *name) {
  if (!object || object->kind != JSON_OBJECT) return NULL;
  for (size_t i = 0; i < object->count; i++)
    if (strcmp(object->items[i].name, name) == 0) return &object->items[i];
  return NULL;
}

const char *json_text(const struct json *object, const char *name) {
  const struct json *member = json_member(object, name);
  return member && member->kind == JSON_STRING ? member->text : NULL;
}

double json_number(const struct json *object, const char *name, double otherwise) {
  const struct json *member = json_member(object, name);
  return member && member->kind == JSON_NUMBER ? member->number : otherwise;
}
