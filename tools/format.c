/* SPDX-License-Identifier: BSD-2-Clause */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

double format_double(red_dtype dtype, const red_scalar *value) {
  switch (dtype) {
  case RED_F16:
    return f16_to_double(value->f16);
  case RED_BF16:
    return bf16_to_double(value->bf16);
  case RED_F32:
    return (double)value->f32;
  default:
    return value->f64;
  }
}

/* Whether the text reads back, in the value's own type, to the same number. */
static int reads_back(red_dtype dtype, const red_scalar *value, const char *text) {
  switch (dtype) {
  case RED_F16:
    return double_to_f16(strtod(text, NULL)) == value->f16;
  case RED_BF16:
    return double_to_bf16(strtod(text, NULL)) == value->bf16;
  case RED_F32:
    return strtof(text, NULL) == value->f32;
  default:
    return strtod(text, NULL) == value->f64;
  }
}

static void format_float(red_dtype dtype, const red_scalar *value, char text[VALUE_TEXT_BYTES]) {
  const double number = format_double(dtype, value);
  if (isnan(number))
    strcpy(text, "nan");
  else if (isinf(number))
    strcpy(text, number < 0 ? "-inf" : "inf");
  else {
    int digits = 0;
    do snprintf(text, VALUE_TEXT_BYTES, "%.*g", ++digits, number);
    while (digits < 17 && !reads_back(dtype, value, text));
  }
}

const char *format_value(red_dtype dtype, const void *value, char text[VALUE_TEXT_BYTES]) {
  red_scalar s = {0};
  memcpy(&s, value, red_dtype_bytes(dtype));
  switch (dtype) {
  case RED_I8:
    snprintf(text, VALUE_TEXT_BYTES, "%" PRId8, s.i8);
    break;
  case RED_I16:
    snprintf(text, VALUE_TEXT_BYTES, "%" PRId16, s.i16);
    break;
  case RED_I32:
    snprintf(text, VALUE_TEXT_BYTES, "%" PRId32, s.i32);
    break;
  case RED_I64:
    snprintf(text, VALUE_TEXT_BYTES, "%" PRId64, s.i64);
    break;
  case RED_U8:
  case RED_U16:
  case RED_U32:
  case RED_U64:
    snprintf(text, VALUE_TEXT_BYTES, "%" PRIu64, format_bits(dtype, value));
    break;
  default:
    format_float(dtype, &s, text);
  }
  return text;
}

const char *format_json(red_dtype dtype, const void *value, char text[VALUE_TEXT_BYTES]) {
  char plain[VALUE_TEXT_BYTES];
  format_value(dtype, value, plain);
  const char *quote = strchr(plain, 'n') ? "\"" : ""; /* only nan and inf have an n */
  snprintf(text, VALUE_TEXT_BYTES, "%s%.36s%s", quote, plain, quote);
  return text;
}

uint64_t format_bits(red_dtype dtype, const void *value) {
  red_scalar s = {0};
  memcpy(&s, value, red_dtype_bytes(dtype));
  switch (red_dtype_bytes(dtype)) {
  case 1:
    return s.u8;
  case 2:
    return s.u16;
  case 4:
    return s.u32;
  default:
    return s.u64;
  }
}

const char *format_hex(red_dtype dtype, const void *value, char text[VALUE_TEXT_BYTES]) {
  snprintf(text, VALUE_TEXT_BYTES, "0x%0*" PRIx64, (int)(2 * red_dtype_bytes(dtype)), format_bits(dtype, value));
  return text;
}

void print_json_string(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fputc('"', file);
}
