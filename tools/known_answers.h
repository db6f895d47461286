/* SPDX-License-Identifier: BSD-2-Clause */
/* The known answers of tests/vectors, built into the tool by embed_vectors.py. */
#ifndef REDTOOL_KNOWN_ANSWERS_H
#define REDTOOL_KNOWN_ANSWERS_H

#include <stddef.h>

struct vector_file {
  const char *name; /* what its lines are about */
  const char *const *lines;
  size_t count;
};

enum {
  MOST_VECTOR_FILES = 28 /* asserted where they are defined */
};

extern const struct vector_file vector_files[];
extern const size_t vector_file_count;

#endif
