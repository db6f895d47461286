/* SPDX-License-Identifier: BSD-2-Clause */
#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum {
  LONGEST_WORD = 31
};

static unsigned least(unsigned a, unsigned b, unsigned c) {
  const unsigned m = a < b ? a : b;
  return m < c ? m : c;
}

/* Levenshtein's distance, one row at a time. */
static unsigned distance(const char *a, const char *b) {
  const size_t na = strlen(a), nb = strlen(b);
  unsigned row[LONGEST_WORD + 1];
  if (na > LONGEST_WORD || nb > LONGEST_WORD) return LONGEST_WORD;
  for (unsigned j = 0; j <= nb; j++) row[j] = j;
  for (unsigned i = 1; i <= na; i++) {
    unsigned diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      const unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = least(row[j] + 1, row[j - 1] + 1, replaced);
    }
  }
  return row[nb];
}

void suggest_begin(suggestion *nearest, const char *typed) {
  nearest->typed = typed;
  nearest->best = NULL;
  nearest->distance = (unsigned)strlen(typed) / 2 + 1;
  if (nearest->distance > 4) nearest->distance = 4;
}

void suggest_consider(suggestion *nearest, const char *word) {
  const unsigned d = distance(nearest->typed, word);
  if (d >= nearest->distance) return;
  nearest->best = word;
  nearest->distance = d;
}

const char *suggest_text(const suggestion *nearest, const char *prefix, char *text, size_t bytes) {
  if (nearest->best)
    snprintf(text, bytes, "; did you mean '%s%s'?", prefix, nearest->best);
  else
    text[0] = 0;
  return text;
}
