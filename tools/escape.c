/* SPDX-License-Identifier: BSD-2-Clause */
#include "escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 character at `c`; 0 if there is none. Overlong forms and surrogates are let through. */
static size_t utf8_bytes(const unsigned char *c) {
  const size_t bytes = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < bytes; i++)
    if ((c[i] & 0xc0) != 0x80) return 0;
  return bytes;
}

/* Terminals obey U+0080 to U+009F as they do ESC and a letter. */
static bool is_control(const unsigned char *c) {
  return c[0] < ' ' || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
}

static size_t escape_byte(char *to, unsigned char c) {
  const char *letter = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
  return (size_t)(letter ? sprintf(to, "%s", letter) : sprintf(to, "\\x%02x", c));
}

void escape(char *to, const char *from) {
  const unsigned char *c = (const unsigned char *)from;
  while (*c) {
    const size_t bytes = utf8_bytes(c);
    if (bytes > 0 && !is_control(c)) {
      memcpy(to, c, bytes);
      to += bytes;
      c += bytes;
    } else
      to += escape_byte(to, *c++);
  }
  *to = 0;
}
