/* SPDX-License-Identifier: BSD-2-Clause */
#include "npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

enum {
  DESCR_BYTES = 32
};

/* The header is a Python dictionary literal with three keys; the scanner walks over it once. */
typedef struct scanner {
  const char *at, *end;
  char *reason;
} scanner;

static bool big_endian_machine(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

static bool __attribute__((format(printf, 2, 3))) refuse(char *reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, NPY_REASON_BYTES, format, arguments);
  va_end(arguments);
  return false;
}

bool npy_is_magic(const void *prefix, size_t bytes) {
  return bytes >= sizeof magic && memcmp(prefix, magic, sizeof magic) == 0;
}

bool npy_measure(const void *prefix, size_t *header_bytes, char reason[NPY_REASON_BYTES]) {
  const unsigned char *p = prefix;
  const unsigned major = p[6], minor = p[7];
  if (major < 1 || major > 3 || minor != 0)
    return refuse(reason, "the .npy version is %u.%u, known are 1.0, 2.0 and 3.0", major, minor);
  size_t text = (size_t)p[8] | (size_t)p[9] << 8, preamble = 10;
  if (major > 1) {
    text |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    preamble = 12;
  }
  if (text > NPY_MOST_BYTES)
    return refuse(reason, "the .npy header claims %zu bytes, more than the limit of %d", text, NPY_MOST_BYTES);
  if (preamble + text < NPY_PREFIX_BYTES) return refuse(reason, "the .npy header is empty");
  *header_bytes = preamble + text;
  return true;
}

static void skip_space(scanner *s) {
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) s->at++;
}

static bool accept(scanner *s, char c) {
  skip_space(s);
  if (s->at == s->end || *s->at != c) return false;
  s->at++;
  return true;
}

static bool expect(scanner *s, char c, const char *where) {
  return accept(s, c) || refuse(s->reason, "malformed .npy header: no '%c' %s", c, where);
}

/* A quoted string without escapes: no key and no simple descr needs them. */
static bool read_string(scanner *s, char *text, size_t bytes, const char *what) {
  skip_space(s);
  const char quote = s->at < s->end ? *s->at : 0;
  if (quote != '\'' && quote != '"') return refuse(s->reason, "malformed .npy header: %s is no string", what);
  const char *begin = ++s->at;
  while (s->at < s->end && *s->at != quote) s->at++;
  const size_t length = (size_t)(s->at - begin);
  if (s->at == s->end) return refuse(s->reason, "malformed .npy header: %s has no closing quote", what);
  if (length >= bytes) return refuse(s->reason, "malformed .npy header: %s is %zu characters long", what, length);
  for (size_t i = 0; i < length; i++) {
    if (begin[i] < ' ' || begin[i] > '~') return refuse(s->reason, "malformed .npy header: %s is no plain text", what);
  }
  memcpy(text, begin, length);
  text[length] = 0;
  s->at++;
  return true;
}

static bool read_word(scanner *s, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return false;
  s->at += length;
  return true;
}

static bool read_boolean(scanner *s, bool *value) {
  skip_space(s);
  if (read_word(s, "True"))
    *value = true;
  else if (read_word(s, "False"))
    *value = false;
  else
    return refuse(s->reason, "malformed .npy header: fortran_order is neither True nor False");
  return true;
}

static bool read_extent(scanner *s, uint64_t *extent) {
  skip_space(s);
  if (s->at < s->end && *s->at == '-') return refuse(s->reason, "the .npy header has a negative extent in its shape");
  if (s->at == s->end || *s->at < '0' || *s->at > '9')
    return refuse(s->reason, "malformed .npy header: an extent of the shape is no integer");
  uint64_t value = 0;
  for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
    const unsigned digit = (unsigned)(*s->at - '0');
    if (value > ((uint64_t)INT64_MAX - digit) / 10)
      return refuse(s->reason, "an extent in the .npy header exceeds 2^63 - 1");
    value = value * 10 + digit;
  }
  if (s->at < s->end && *s->at == 'L') s->at++; /* Python 2 wrote long integers so */
  *extent = value;
  return true;
}

/* Multiply the shape out. An extent of 0 makes the array empty, however large the others are. */
static bool read_shape(scanner *s, npy_header *parsed) {
  bool empty = false, overflow = false, comma = true;
  uint64_t product = 1;
  if (!expect(s, '(', "where the shape begins")) return false;
  for (parsed->dimensions = 0; !accept(s, ')'); parsed->dimensions++) {
    uint64_t extent = 0;
    if (!comma) return refuse(s->reason, "malformed .npy header: no ',' between the extents of the shape");
    if (!read_extent(s, &extent)) return false;
    if (extent == 0)
      empty = true;
    else if (product > INT64_MAX / extent)
      overflow = true;
    else
      product *= extent;
    comma = accept(s, ',');
  }
  if (parsed->dimensions == 1 && !comma)
    return refuse(s->reason, "malformed .npy header: the shape is an integer, not a tuple");
  if (overflow && !empty) return refuse(s->reason, "the shape in the .npy header has more than 2^63 - 1 elements");
  parsed->n = empty ? 0 : product;
  return true;
}

static bool read_descr(scanner *s, char descr[DESCR_BYTES]) {
  skip_space(s);
  if (s->at < s->end && (*s->at == '[' || *s->at == '('))
    return refuse(s->reason, "the array has a structured dtype; elements must be single numbers");
  return read_string(s, descr, DESCR_BYTES, "descr");
}

enum {
  SEEN_DESCR = 1,
  SEEN_ORDER = 2,
  SEEN_SHAPE = 4,
  SEEN_ALL = 7
};

static bool read_entry(scanner *s, npy_header *parsed, char descr[DESCR_BYTES], unsigned *seen) {
  char key[DESCR_BYTES];
  unsigned bit = 0;
  if (!read_string(s, key, sizeof key, "a key") || !expect(s, ':', "after a key")) return false;
  if (strcmp(key, "descr") == 0) bit = SEEN_DESCR;
  if (strcmp(key, "fortran_order") == 0) bit = SEEN_ORDER;
  if (strcmp(key, "shape") == 0) bit = SEEN_SHAPE;
  if (bit == 0) return refuse(s->reason, "malformed .npy header: unknown key '%s'", key);
  if (*seen & bit) return refuse(s->reason, "malformed .npy header: the key '%s' occurs twice", key);
  *seen |= bit;
  if (bit == SEEN_DESCR) return read_descr(s, descr);
  return bit == SEEN_ORDER ? read_boolean(s, &parsed->fortran_order) : read_shape(s, parsed);
}

static bool read_dictionary(scanner *s, npy_header *parsed, char descr[DESCR_BYTES]) {
  unsigned seen = 0;
  bool comma = true;
  if (!expect(s, '{', "at the start")) return false;
  while (!accept(s, '}')) {
    if (!comma) return refuse(s->reason, "malformed .npy header: no ',' between two entries");
    if (!read_entry(s, parsed, descr, &seen)) return false;
    comma = accept(s, ',');
  }
  skip_space(s);
  if (s->at != s->end) return refuse(s->reason, "malformed .npy header: text after the closing brace");
  if (!(seen & SEEN_DESCR)) return refuse(s->reason, "malformed .npy header: no key 'descr'");
  if (!(seen & SEEN_ORDER)) return refuse(s->reason, "malformed .npy header: no key 'fortran_order'");
  if (!(seen & SEEN_SHAPE)) return refuse(s->reason, "malformed .npy header: no key 'shape'");
  return true;
}

/* ---- dtypes ---- */

/* NumPy's kind and size for each dtype; b1 has u8's values. */
static const struct {
  char code[3];
  red_dtype dtype;
} codes[] = {
    {"i1", RED_I8},  {"i2", RED_I16},  {"i4", RED_I32}, {"i8", RED_I64}, {"u1", RED_U8},
    {"u2", RED_U16}, {"u4", RED_U32},  {"u8", RED_U64}, {"f2", RED_F16}, {"f4", RED_F32},
    {"f8", RED_F64}, {"V2", RED_BF16}, {"b1", RED_U8},
};
enum {
  CODES = sizeof codes / sizeof *codes
};

static bool refuse_kind(const char *descr, char *reason) {
  switch (descr[1]) {
  case 'O':
    return refuse(reason, "the array has object dtype (Python pickles); elements must be numbers");
  case 'c':
    return refuse(reason, "the array is complex ('%s'); elements must be real numbers", descr);
  case 'S':
  case 'a':
  case 'U':
    return refuse(reason, "the array holds strings ('%s'); elements must be numbers", descr);
  case 'M':
  case 'm':
    return refuse(reason, "the array holds dates or time spans ('%s'); view it as i8 to use the counts", descr);
  case 'V':
    return refuse(reason, "the array has a structured or opaque dtype ('%s'); elements must be single numbers", descr);
  default:
    return refuse(reason, "the array's dtype '%s' is not supported", descr);
  }
}

static bool read_byte_order(const char *descr, npy_header *parsed, char *reason) {
  const bool one_byte = red_dtype_bytes(parsed->dtype) == 1;
  if (descr[0] == '<' || descr[0] == '>') {
    parsed->swapped = !one_byte && big_endian_machine() != (descr[0] == '>');
    return true;
  }
  parsed->swapped = false;
  if (descr[0] == '=' || (descr[0] == '|' && (one_byte || descr[1] == 'V'))) return true;
  return refuse(reason, "the array's dtype '%s' has no byte order", descr);
}

static bool settle_dtype(const char *descr, red_dtype wanted, npy_header *parsed, char *reason) {
  if (strlen(descr) < 2 || !strchr("<>=|", descr[0])) return refuse(reason, "the array's dtype '%s' is unknown", descr);
  parsed->dtype = RED_DTYPE_DEFAULT;
  for (int i = 0; i < CODES; i++)
    if (strcmp(descr + 1, codes[i].code) == 0) parsed->dtype = codes[i].dtype;
  if (parsed->dtype == RED_DTYPE_DEFAULT) return refuse_kind(descr, reason);
  if (wanted == RED_BF16 && parsed->dtype == RED_U16) parsed->dtype = RED_BF16;
  if (wanted == RED_DTYPE_DEFAULT && parsed->dtype == RED_BF16)
    return refuse(reason, "the elements are 2 opaque bytes ('%s'); if they are bfloat16, say --dtype bf16", descr);
  if (wanted != RED_DTYPE_DEFAULT && wanted != parsed->dtype)
    return refuse(reason, "the .npy header says '%s', but --dtype says %s", descr, red_dtype_name(wanted));
  return read_byte_order(descr, parsed, reason);
}

bool npy_parse(const void *header, size_t header_bytes, red_dtype wanted, npy_header *parsed,
               char reason[NPY_REASON_BYTES]) {
  char descr[DESCR_BYTES];
  size_t measured;
  npy_header result = {0};
  if (header_bytes < NPY_PREFIX_BYTES || !npy_is_magic(header, header_bytes)) return refuse(reason, "no .npy header");
  if (!npy_measure(header, &measured, reason)) return false;
  if (measured != header_bytes) return refuse(reason, "the .npy header is truncated");
  const unsigned char *bytes = header;
  const char *text = (const char *)header + (bytes[6] > 1 ? 12 : 10);
  scanner s = {.at = text, .end = (const char *)header + header_bytes, .reason = reason};
  if (!read_dictionary(&s, &result, descr) || !settle_dtype(descr, wanted, &result, reason)) return false;
  if (result.n > INT64_MAX / red_dtype_bytes(result.dtype))
    return refuse(reason, "the array in the .npy header has %" PRIu64 " elements, more than 2^63 - 1 bytes", result.n);
  result.data_offset = header_bytes;
  *parsed = result;
  return true;
}

void npy_write(char header[NPY_WRITTEN_BYTES], red_dtype dtype, uint64_t n) {
  const char *code = "";
  for (int i = CODES; i-- > 0;)
    if (codes[i].dtype == dtype) code = codes[i].code;
  const char order = red_dtype_bytes(dtype) == 1 ? '|' : big_endian_machine() ? '>' : '<';
  const int preamble = 10, text = NPY_WRITTEN_BYTES - preamble;
  memcpy(header, magic, sizeof magic);
  header[6] = 1;
  header[7] = 0;
  header[8] = (char)text;
  header[9] = 0;
  memset(header + preamble, ' ', (size_t)text);
  const int length = snprintf(header + preamble, (size_t)text,
                              "{'descr': '%c%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", order, code, n);
  header[preamble + length] = ' '; /* snprintf's NUL */
  header[NPY_WRITTEN_BYTES - 1] = '\n';
}
