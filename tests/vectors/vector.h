/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the vector files (README.md): a line, its input, its answer compared with an output. Needs the public API only,
 * so that tests and redtool share it. On failure `why` gets one sentence.
 */
#ifndef RED_TESTS_VECTOR_H
#define RED_TESTS_VECTOR_H

#include <red/red.h>

typedef struct red_vector {
  char id[64];
  red_problem problem; /* host memory */
  red_dtype out;       /* resolved */
  const char *input;   /* into the line, which must outlive the vector */
  size_t input_length;
  const char *expected;
  size_t expected_length;
} red_vector;

typedef struct red_vector_why {
  char text[256];
} red_vector_why;

/* One line, up to a newline or NUL. 1: a vector; 0: a blank line or a comment; -1: malformed. */
int red_vector_parse(const char *line, red_vector *vector, red_vector_why *why);

/* The n elements, dot: n of the first input and n of the second; to be freed; NULL if the input is malformed. */
void *red_vector_input(const red_vector *vector, red_vector_why *why);

/* Where in these the second input begins; NULL if the operator takes one. */
const void *red_vector_second(const red_vector *vector, const void *input);

/* Room for the output, zero but for the size of statistics, to be freed by the caller; NULL: out of memory. */
void *red_vector_output(const red_vector *vector);

/* Whether status and output are the expected ones. */
int red_vector_matches(const red_vector *vector, red_status status, const void *out, red_vector_why *why);

#endif
