/* SPDX-License-Identifier: BSD-2-Clause */
/* The input language of the vector files (README.md). */
#ifndef RED_TESTS_EXPAND_H
#define RED_TESTS_EXPAND_H

#include <red/red.h>

/* Write the n elements that `text` describes. 0, and a sentence in `why`, if it is malformed or not of n elements. */
int red_expand(red_dtype dtype, const char *text, size_t length, void *elements, uint64_t n, char *why,
               size_t why_bytes);

#endif
