/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers that catch stray accesses, and the comparison of a backend with the reference, bit for bit. */
#ifndef RED_TESTS_COMPARE_H
#define RED_TESTS_COMPARE_H

#include "random.h"
#include "suite.h"

/* What bytes hold that nobody has written. */
enum {
  MARK = 0xa5
};

/* Bytes up to `shift` before an inaccessible page; bytes around them are watched. */
typedef struct buffer {
  unsigned char *data;
  size_t bytes;
  void *map;
  size_t map_bytes;
} buffer;

buffer buffer_new(size_t bytes, size_t shift);
/* Fails if a byte beside the data has been written. */
void buffer_check(const buffer *b, const char *what);
void buffer_free(buffer *b);

/* Bytes that the problem's output takes. */
size_t output_bytes(const red_problem *problem);

/* Whether the operator reads two arrays, and whether it takes an initial value. */
int takes_two(const red_problem *problem);
int takes_init(const red_problem *problem);
/* What the caller sets in an output before it is written: the size of statistics. */
void prepare_output(const red_problem *problem, void *out);

/* Fail, naming the problem, unless the outputs are the same. */
void compare_outputs(const red_problem *problem, const char *how, const void *expected, const void *actual);

/* Whether the device refused the problem and may: an OpenCL device where an f64 is involved. Fails if another did. */
int may_refuse(const red_problem *problem, red_status status);

/* Whether the output may be the input. */
int may_be_in_place(const red_problem *problem);

/* Fail unless an output that was filled with marks, beside what the caller sets, has been left alone. */
void check_untouched(const red_problem *problem, const buffer *out);

/* Random data for the problem, misaligned, in place where possible now and then: the same status and bits. */
void compare_with_reference(red_context *context, const red_problem *problem, random_state *random);

#endif
