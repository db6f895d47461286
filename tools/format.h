/* SPDX-License-Identifier: BSD-2-Clause */
/* Values as text. */
#ifndef REDTOOL_FORMAT_H
#define REDTOOL_FORMAT_H

#include <stdint.h>
#include <stdio.h>

#include <red/red.h>

enum {
  VALUE_TEXT_BYTES = 40
};

/* Decimal, with as few digits as read back to the same bits; inf, -inf, nan. Returns `text`. */
const char *format_value(red_dtype dtype, const void *value, char text[VALUE_TEXT_BYTES]);

/* The same as a JSON value: "nan", "inf" and "-inf" are strings. */
const char *format_json(red_dtype dtype, const void *value, char text[VALUE_TEXT_BYTES]);

/* 0x and two digits a byte, the most significant first. */
const char *format_hex(red_dtype dtype, const void *value, char text[VALUE_TEXT_BYTES]);

/* The number that a float is. */
double format_double(red_dtype dtype, const red_scalar *value);

/* The bits of a value, zero-extended. */
uint64_t format_bits(red_dtype dtype, const void *value);

/* A quoted JSON string. */
void print_json_string(FILE *file, const char *text);

#endif
