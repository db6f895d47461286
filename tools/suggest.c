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

/* The optimal string alignment distance: insertions, deletions, replacements, swapped neighbours. */
static unsigned distance(const char *a, const char *b) {
  const size_t na = strlen(a), nb = strlen(b);
  unsigned d[LONGEST_WORD + 1][LONGEST_WORD + 1];
  if (na > LONGEST_WORD || nb > LONGEST_WORD) return LONGEST_WORD;
  for (unsigned i = 0; i <= na; i++) d[i][0] = i;
  for (unsigned j = 0; j <= nb; j++) d[0][j] = j;
  for (size_t i = 1; i <= na; i++) {
    for (size_t j = 1; j <= nb; j++) {
      d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
      const int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && d[i - 2][j - 2] + 1 < d[i][j]) d[i][j] = d[i - 2][j - 2] + 1;
    }
  }
  return d[na][nb];
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
