/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading JSON (RFC 8259): the files that --json wrote before. Numbers are doubles, strings UTF-8. */
#ifndef REDTOOL_BENCH_JSON_H
#define REDTOOL_BENCH_JSON_H

#include <stddef.h>

enum json_kind {
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
};

struct json {
  enum json_kind kind;
  double number;
  char *text;         /* a string */
  char *name;         /* a member's, in an object; else NULL */
  struct json *items; /* of an array or an object */
  size_t count;
};

/*
 * Parse all of `text` into *value. NULL if it worked, else what is wrong, and *at gets where. Free the value in any
 * case.
 */
const char *json_parse(const char *text, struct json *value, size_t *at);
void json_free(struct json *value);

/* A member of an object; NULL if it has none of that name, or is no object. */
const struct json *json_member(const struct json *object, const char *name);

/* A member that is a string or a number; NULL, or `otherwise`, if it is not. */
const char *json_text(const struct json *object, const char *name);
double json_number(const struct json *object, const char *name, double otherwise);

#endif
