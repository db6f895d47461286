/* SPDX-License-Identifier: BSD-2-Clause */
/* The nearest known word to a mistyped one. */
#ifndef REDTOOL_SUGGEST_H
#define REDTOOL_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
  const char *typed;
  const char *best; /* NULL if nothing is near */
  unsigned distance;
} suggestion;

void suggest_begin(suggestion *nearest, const char *typed);
void suggest_consider(suggestion *nearest, const char *word);

/* "; did you mean 'WORD'?" with `prefix` before the word, or an empty string. Returns `text`. */
const char *suggest_text(const suggestion *nearest, const char *prefix, char *text, size_t bytes);

#endif
