/* SPDX-License-Identifier: BSD-2-Clause */
#include "against_exact.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "half.h"
#include "input.h"
#include "naive.h"
#include "progress.h"
#include "report.h"

enum {
  ROWS = NAIVE_METHODS + 2 /* the canonical sum and the exact one, rounded */
};

struct row {
  const char *name;
  double sum, error;
};

/* f16 and bf16 are widened to f32, in which they accumulate anyway: `dtype` is f32 or f64. */
struct comparison {
  struct input input;
  red_dtype dtype;
  red_context *context;
  red_device_info device;
  red_accumulator *canonical;       /* with its bound */
  red_accumulator *exact, *nearest; /* rounded to f64, for errors, and to the dtype */
  struct naive naive;
  void *widened;
  double exact_sum, bound;
  struct row rows[ROWS];
};

/* ---- reading ---- */

static red_status make_accumulator(struct comparison *c, bool exact, red_dtype out, red_accumulator **made) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, c->dtype, 0);
  problem.exact = exact;
  problem.bound = !exact;
  problem.out = out;
  return red_accumulator_create(c->context, &problem, made);
}

static int prepare(struct comparison *c, const options *chosen) {
  const red_context_options wish = {.size = sizeof wish, .backend = chosen->backend, .threads = chosen->threads};
  int code = input_open(&c->input, chosen->against_exact, chosen->dtype);
  if (code) return code;
  if (c->input.dtype < RED_F16) {
    complain("%s holds %s: only sums of floats are rounded", c->input.name, red_dtype_name(c->input.dtype));
    return EXIT_LIBRARY;
  }
  c->dtype = c->input.dtype == RED_F64 ? RED_F64 : RED_F32;
  c->device.size = sizeof c->device;
  naive_begin(&c->naive, c->dtype == RED_F32);
  red_status status = red_context_create(&wish, &c->context);
  if (!status) status = red_context_device(c->context, RED_HOST, &c->device);
  if (!status) status = make_accumulator(c, false, c->dtype, &c->canonical);
  if (!status) status = make_accumulator(c, true, RED_F64, &c->exact);
  if (!status) status = make_accumulator(c, true, c->dtype, &c->nearest);
  if (status) return library_error(status);
  if (c->input.width == 2) c->widened = malloc(INPUT_BUFFER * sizeof(float));
  if (c->input.width > 2 || c->widened) return EXIT_OK;
  complain("out of memory");
  return EXIT_LIBRARY;
}

static const void *widen(struct comparison *c, const void *piece, uint64_t count) {
  float *wide = c->widened;
  if (!wide) return piece;
  for (uint64_t i = 0; i < count; i++) {
    uint16_t bits;
    memcpy(&bits, (const char *)piece + 2 * i, sizeof bits);
    wide[i] = (float)(c->input.dtype == RED_F16 ? f16_to_double(bits) : bf16_to_double(bits));
  }
  return wide;
}

static void add_naively(struct comparison *c, const void *piece, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    red_scalar x;
    memcpy(&x, (const char *)piece + i * red_dtype_bytes(c->dtype), red_dtype_bytes(c->dtype));
    naive_add(&c->naive, c->dtype == RED_F64 ? x.f64 : (double)x.f32);
  }
}

static int consume(struct comparison *c) {
  for (;;) {
    const void *piece;
    uint64_t count;
    progress_update(c->input.done * c->input.width);
    const int code = input_next(&c->input, INPUT_BUFFER, &piece, &count);
    if (code || count == 0) return code;
    piece = widen(c, piece, count);
    red_status status = red_accumulator_add(c->canonical, piece, count);
    if (!status) status = red_accumulator_add(c->exact, piece, count);
    if (!status) status = red_accumulator_add(c->nearest, piece, count);
    if (status) return library_error(status);
    add_naively(c, piece, count);
  }
}

/* ---- comparing ---- */

static double value_of(const struct comparison *c, const red_scalar *value) {
  return c->dtype == RED_F64 ? value->f64 : (double)value->f32;
}

static red_status add_exactly(struct comparison *c, double x) {
  red_scalar element = {.u64 = 0};
  if (c->dtype == RED_F64)
    element.f64 = x;
  else
    element.f32 = (float)x;
  return red_accumulator_add(c->exact, &element, 1);
}

/* The exact sum of all elements and of -sum is the error, rounded once; adding sum again restores the accumulator. */
static red_status measure(struct comparison *c, struct row *row, const char *name, double sum) {
  double difference = NAN;
  row->name = name;
  row->sum = sum;
  red_status status = RED_OK;
  if (isfinite(sum) && isfinite(c->exact_sum)) {
    status = add_exactly(c, -sum);
    if (!status) status = red_accumulator_result(c->exact, &difference);
    if (!status) status = add_exactly(c, sum);
  } else if (isfinite(c->exact_sum)) {
    difference = INFINITY;
  }
  row->error = fabs(difference);
  return status;
}

static red_status compare(struct comparison *c) {
  red_bounded canonical;
  red_scalar nearest;
  red_status status = red_accumulator_result(c->canonical, &canonical);
  if (!status) status = red_accumulator_result(c->exact, &c->exact_sum);
  if (!status) status = red_accumulator_result(c->nearest, &nearest);
  if (status) return status;
  c->bound = canonical.bound;
  status = measure(c, &c->rows[0], "canonical", value_of(c, &canonical.value));
  for (int i = 0; i < NAIVE_METHODS && !status; i++) {
    const enum naive_method method = (enum naive_method)i;
    status = measure(c, &c->rows[1 + i], naive_name(method), naive_result(&c->naive, method));
  }
  if (!status) status = measure(c, &c->rows[ROWS - 1], "exact, rounded", value_of(c, &nearest));
  return status;
}

/* ---- printing ---- */

static void print_text(const struct comparison *c) {
  char text[VALUE_TEXT_BYTES];
  printf("n     %" PRIu64 "\n", c->naive.count);
  printf("exact %s\n", format_value(RED_F64, &c->exact_sum, text));
  printf("bound %s\n", format_value(RED_F64, &c->bound, text));
  printf("%-14s  %-24s  error\n", "method", "sum");
  for (int i = 0; i < ROWS; i++) {
    printf("%-14s  %-24s  ", c->rows[i].name, format_value(RED_F64, &c->rows[i].sum, text));
    printf("%s\n", format_value(RED_F64, &c->rows[i].error, text));
  }
}

static void print_json(const struct comparison *c, int code) {
  char text[VALUE_TEXT_BYTES];
  printf("{\"n\": %" PRIu64 ", \"dtype\": \"%s\", ", c->naive.count, red_dtype_name(c->input.dtype));
  printf("\"exact\": %s, ", format_json(RED_F64, &c->exact_sum, text));
  printf("\"bound\": %s, \"methods\": [", format_json(RED_F64, &c->bound, text));
  for (int i = 0; i < ROWS; i++) {
    printf("%s{\"name\": \"%s\", \"sum\": %s, ", i ? ", " : "", c->rows[i].name,
           format_json(RED_F64, &c->rows[i].sum, text));
    printf("\"error\": %s}", format_json(RED_F64, &c->rows[i].error, text));
  }
  printf("], \"device\": ");
  print_json_string(stdout, c->device.id);
  printf(", \"ok\": %s}\n", code == EXIT_OK ? "true" : "false");
}

static void release(struct comparison *c) {
  progress_clear();
  red_accumulator_destroy(c->canonical);
  red_accumulator_destroy(c->exact);
  red_accumulator_destroy(c->nearest);
  red_context_destroy(c->context);
  free(c->widened);
  input_close(&c->input);
}

int run_against_exact(const options *chosen) {
  struct comparison c;
  memset(&c, 0, sizeof c);
  c.input.fd = -1;
  int code = prepare(&c, chosen);
  if (!code) progress_begin(c.input.n == INPUT_UNKNOWN ? PROGRESS_UNKNOWN : c.input.n * c.input.width);
  if (!code) code = consume(&c);
  if (!code) {
    const red_status status = compare(&c);
    if (status) code = library_error(status);
  }
  if (!code) {
    code = c.rows[0].error > c.bound ? EXIT_MISMATCH : EXIT_OK;
    progress_clear();
    if (chosen->json)
      print_json(&c, code);
    else
      print_text(&c);
  }
  release(&c);
  return code;
}
