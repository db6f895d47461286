/* SPDX-License-Identifier: BSD-2-Clause */
/* The input language of the vector files: README.md has the grammar, inputs.py the same in Python. */
#include "expand.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGUMENTS 32

typedef struct expansion {
  const char *at, *end;
  red_dtype dtype;
  unsigned bytes;
  unsigned char *elements;
  uint64_t count, capacity;
  char *why;
  size_t why_bytes;
} expansion;

static uint64_t next_state(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state;
}

static int fail(expansion *e, const char *what) {
  snprintf(e->why, e->why_bytes, "%s at: %.*s", what, (int)(e->end - e->at > 40 ? 40 : e->end - e->at), e->at);
  return 0;
}

static int put(expansion *e, uint64_t bits) {
  if (e->count == e->capacity) return fail(e, "more than n elements");
  memcpy(e->elements + e->count++ * e->bytes, &bits, e->bytes); /* little endian: the low bytes */
  return 1;
}

static uint64_t get(const expansion *e, uint64_t i) {
  uint64_t bits = 0;
  memcpy(&bits, e->elements + i * e->bytes, e->bytes);
  return bits;
}

/* Bits of m * 2^(1 - precision), -2^(precision-1) <= m < 2^(precision-1): always a normal number or zero. */
static uint64_t scaled(int64_t m, unsigned width, unsigned precision) {
  uint64_t magnitude = (uint64_t)(m < 0 ? -m : m), hidden = (uint64_t)1 << (precision - 1);
  uint64_t sign = m < 0 ? (uint64_t)1 << (width - 1) : 0;
  uint64_t exponent = ((uint64_t)1 << (width - precision - 1)) - 1;
  if (magnitude == 0) return 0;
  for (; magnitude < hidden; magnitude <<= 1) exponent--;
  return sign | exponent << (precision - 1) | (magnitude - hidden);
}

static unsigned precision_of(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return 11;
  case RED_BF16:
    return 8;
  case RED_F32:
    return 24;
  case RED_F64:
    return 53;
  default:
    return 0;
  }
}

static uint64_t uniform_bits(const expansion *e, uint64_t state) {
  unsigned precision = precision_of(e->dtype);
  if (precision == 0) return state >> (64 - 8 * e->bytes);
  uint64_t top = state >> (64 - precision), sign = (uint64_t)1 << (precision - 1);
  return scaled((int64_t)(top ^ sign) - (int64_t)sign, 8 * e->bytes, precision);
}

static uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* 1 + u * u in f64; volatile, so that no compiler contracts it. */
static uint64_t square_bits(uint64_t bits) {
  double u;
  memcpy(&u, &bits, sizeof u);
  volatile double square = u * u;
  return bits_of_double(1.0 + square);
}

static uint64_t harmonic_bits(red_dtype dtype, uint64_t i) {
  double term = (i % 2 ? -1.0 : 1.0) / (double)(i + 1);
  if (dtype == RED_F64) return bits_of_double(term);
  float narrow = (float)term;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

static int uniform(expansion *e, const uint64_t *a) {
  uint64_t state = a[0];
  for (uint64_t i = 0; i < a[1]; i++)
    if (!put(e, uniform_bits(e, next_state(&state)))) return 0;
  return 1;
}

static int random_bits(expansion *e, const uint64_t *a) {
  uint64_t state = a[0], lo = a[1], span = a[2];
  for (uint64_t i = 0; i < a[3]; i++) {
    uint64_t s = next_state(&state);
    if (!put(e, span == 0 ? s >> (64 - 8 * e->bytes) : lo + (s >> 11) % span)) return 0;
  }
  return 1;
}

static int ramp(expansion *e, const uint64_t *a) {
  for (uint64_t i = 0; i < a[2]; i++)
    if (!put(e, a[0] + i * a[1])) return 0;
  return 1;
}

static int pick(expansion *e, const uint64_t *a, size_t choices) {
  uint64_t state = a[0];
  for (uint64_t i = 0; i < a[1]; i++)
    if (!put(e, a[2 + (next_state(&state) >> 33) % choices])) return 0;
  return 1;
}

static int squares(expansion *e, const uint64_t *a) {
  uint64_t state = a[0];
  if (e->dtype != RED_F64) return fail(e, "squares is for f64");
  for (uint64_t i = 0; i < a[1]; i++)
    if (!put(e, square_bits(uniform_bits(e, next_state(&state))))) return 0;
  return 1;
}

static int harmonic(expansion *e, const uint64_t *a) {
  if (e->dtype != RED_F64 && e->dtype != RED_F32) return fail(e, "harmonic is for f32 and f64");
  for (uint64_t i = 0; i < a[0]; i++)
    if (!put(e, harmonic_bits(e->dtype, i))) return 0;
  return 1;
}

static void skip_spaces(expansion *e) {
  while (e->at < e->end && *e->at == ' ') e->at++;
}

static int take(expansion *e, char c) {
  skip_spaces(e);
  if (e->at == e->end || *e->at != c) return 0;
  e->at++;
  return 1;
}

/* Digits end at a bracket, comma, space, newline or NUL, all of which stop strtoull. */
static int number(expansion *e, int base, uint64_t *value) {
  char *after;
  skip_spaces(e);
  if (e->at == e->end || !isxdigit((unsigned char)*e->at)) return fail(e, "a number is expected");
  *value = strtoull(e->at, &after, base);
  if (after == e->at || after > e->end) return fail(e, "a number is expected");
  e->at = after;
  return 1;
}

static int arguments(expansion *e, uint64_t *values, size_t *count) {
  *count = 0;
  if (!take(e, '(')) return fail(e, "( is expected");
  do {
    if (*count == MAX_ARGUMENTS) return fail(e, "too many arguments");
    if (!number(e, 0, &values[(*count)++])) return 0;
  } while (take(e, ','));
  return take(e, ')') || fail(e, ") is expected");
}

static int generate(expansion *e, const char *name, size_t length) {
  static const struct {
    const char *name;
    size_t arguments;
    int (*run)(expansion *, const uint64_t *);
  } generators[] = {{"uniform", 2, uniform},
                    {"bits", 4, random_bits},
                    {"ramp", 3, ramp},
                    {"squares", 2, squares},
                    {"harmonic", 1, harmonic}};
  uint64_t values[MAX_ARGUMENTS];
  size_t count;
  if (!arguments(e, values, &count)) return 0;
  if (length == 4 && memcmp(name, "pick", 4) == 0)
    return count > 2 ? pick(e, values, count - 2) : fail(e, "no choices");
  for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
    if (strlen(generators[i].name) == length && memcmp(generators[i].name, name, length) == 0)
      return count == generators[i].arguments ? generators[i].run(e, values) : fail(e, "wrong number of arguments");
  return fail(e, "unknown generator");
}

static int items(expansion *e);

static int group(expansion *e) {
  if (!take(e, '(')) return fail(e, "( is expected");
  return items(e) && (take(e, ')') || fail(e, ") is expected"));
}

static int negated_group(expansion *e) {
  uint64_t first = e->count, sign = (uint64_t)1 << (8 * e->bytes - 1);
  if (!group(e)) return 0;
  uint64_t last = e->count;
  for (e->count = first; e->count < last;) put(e, get(e, e->count) ^ sign);
  return 1;
}

static int item(expansion *e) {
  skip_spaces(e);
  if (e->at < e->end && *e->at == '(') return group(e);
  const char *word = e->at;
  while (e->at < e->end && isalnum((unsigned char)*e->at)) e->at++;
  size_t length = (size_t)(e->at - word);
  if (e->at < e->end && *e->at == '(') {
    if (length == 3 && memcmp(word, "neg", 3) == 0) return negated_group(e);
    return generate(e, word, length);
  }
  e->at = word;
  if (length != 2 * e->bytes) return fail(e, "an element of the dtype's width is expected");
  uint64_t bits;
  return number(e, 16, &bits) && put(e, bits);
}

static int repeat(expansion *e, uint64_t first) {
  uint64_t times, length = e->count - first;
  if (!number(e, 10, &times)) return 0;
  if (times == 0) e->count = first;
  if (times > 1 && length > (e->capacity - e->count) / (times - 1)) return fail(e, "more than n elements");
  for (uint64_t i = 1; i < times; i++, e->count += length)
    memcpy(e->elements + e->count * e->bytes, e->elements + first * e->bytes, length * e->bytes);
  return 1;
}

static int items(expansion *e) {
  for (;;) {
    skip_spaces(e);
    if (e->at == e->end || *e->at == ')') return 1;
    uint64_t first = e->count;
    if (!item(e)) return 0;
    if (take(e, '*') && !repeat(e, first)) return 0;
  }
}

int red_expand(red_dtype dtype, const char *text, size_t length, void *elements, uint64_t n, char *why,
               size_t why_bytes) {
  expansion e = {.at = text,
                 .end = text + length,
                 .dtype = dtype,
                 .bytes = (unsigned)red_dtype_bytes(dtype),
                 .elements = elements,
                 .capacity = n,
                 .why = why,
                 .why_bytes = why_bytes};
  if (!items(&e)) return 0;
  if (e.at != e.end) return fail(&e, "unexpected )");
  return e.count == n || fail(&e, "fewer than n elements");
}
