/* SPDX-License-Identifier: BSD-2-Clause */
#include "task.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "progress.h"
#include "report.h"

static const char *kind_name(red_kind kind) {
  return kind == RED_REDUCE ? "reduce" : kind == RED_INCLUSIVE_SCAN ? "scan" : "exscan";
}

/* The library reads the initial value, as the last field of a problem string, in the accumulator's dtype. */
static int read_init(const char *text, red_problem *problem) {
  char string[256];
  const int length =
      snprintf(string, sizeof string, "%s:%s:%s/%s/%s:0:init=%s", kind_name(problem->kind), red_op_name(problem->op),
               red_dtype_name(problem->in), red_dtype_name(problem->acc), red_dtype_name(problem->out), text);
  red_problem parsed = RED_PROBLEM_INIT(problem->kind, problem->op, problem->in, 0);
  if (length >= (int)sizeof string || strchr(text, ':') || red_problem_parse(string, &parsed) != RED_OK)
    return usage_error("--init is '%s', which is not a value of %s", text, red_dtype_name(problem->acc));
  problem->init = parsed.init;
  return EXIT_OK;
}

/* Likewise the names of what statistics are to consist of. */
static int read_selection(const char *text, red_problem *problem) {
  char string[256];
  const int length = snprintf(string, sizeof string, "stats:%s:0:select=%s", red_dtype_name(problem->in), text);
  red_problem parsed = RED_PROBLEM_INIT(RED_STATS, RED_SUM, problem->in, 0);
  if (length >= (int)sizeof string || strchr(text, ':') || red_problem_parse(string, &parsed) != RED_OK)
    return usage_error("--select is '%s': expected names of count, nan_count, mean, variance, sum, min, max, argmin, "
                       "argmax, all, default, separated by commas",
                       text);
  problem->stats = parsed.stats;
  return EXIT_OK;
}

static int make_problem(struct task *task, const options *chosen, red_kind kind) {
  const red_op op = kind == RED_STATS ? RED_SUM : chosen->op;
  task->problem = (red_problem)RED_PROBLEM_INIT(kind, op, task->input.dtype, 0); /* pieces have no n */
  task->problem.acc = chosen->acc;
  task->problem.exact = chosen->exact;
  task->problem.bound = chosen->bound;
  task->problem.out = chosen->out_dtype;
  task->problem.has_init = chosen->init != NULL; /* some operators take none, whatever its value */
  const int code = chosen->select ? read_selection(chosen->select, &task->problem) : EXIT_OK;
  if (code) return code;
  const red_status status = red_problem_resolve(&task->problem);
  if (status) return library_error(status);
  return chosen->init ? read_init(chosen->init, &task->problem) : EXIT_OK;
}

static int make_context(struct task *task, const options *chosen) {
  red_context_options wish = {.size = sizeof wish, .backend = chosen->backend, .threads = chosen->threads};
  red_status status = red_context_create(&wish, &task->context);
  task->device.size = sizeof task->device;
  if (!status) status = red_context_device(task->context, RED_HOST, &task->device);
  if (!status) status = red_accumulator_create(task->context, &task->problem, &task->accumulator);
  return status ? library_error(status) : EXIT_OK;
}

/* Both inputs of an operator of two arrays. */
static int open_second(struct task *task, const options *chosen) {
  if (strcmp(chosen->operand, "-") == 0 && strcmp(chosen->operand2, "-") == 0)
    return usage_error("reduce: standard input cannot be both arrays");
  const int code = input_open(&task->second, chosen->operand2, chosen->dtype);
  if (code) return code;
  if (task->input.dtype == task->second.dtype) return EXIT_OK;
  return io_error("%s holds %s and %s %s; --op dot multiplies elements of the same type", task->input.name,
                  red_dtype_name(task->input.dtype), task->second.name, red_dtype_name(task->second.dtype));
}

int task_open(struct task *task, const options *chosen, red_kind kind) {
  memset(task, 0, sizeof *task);
  task->second.fd = -1;
  int code = input_open(&task->input, chosen->operand, chosen->dtype);
  if (!code && chosen->operand2) code = open_second(task, chosen);
  if (!code) code = make_problem(task, chosen, kind);
  if (!code) code = make_context(task, chosen);
  const uint64_t n = task->input.n;
  progress_begin(n == INPUT_UNKNOWN ? PROGRESS_UNKNOWN : n * task->input.width);
  return code;
}

void task_close(struct task *task) {
  progress_clear();
  red_accumulator_destroy(task->accumulator);
  red_context_destroy(task->context);
  input_close(&task->input);
  input_close(&task->second);
}

int task_next(struct task *task, uint64_t most, const void **piece, uint64_t *count) {
  progress_update(task->input.done * task->input.width);
  return input_next(&task->input, most, piece, count);
}

static int lengths_differ(const struct task *task, const char *longer, const char *shorter) {
  return io_error("%s has more than the %" PRIu64 " elements of %s; --op dot needs as many of each", longer,
                  red_accumulator_count(task->accumulator), shorter);
}

/* The longest pieces that both kinds of input have. */
static int consume_pairs(struct task *task) {
  for (;;) {
    const void *piece, *piece2;
    uint64_t count, count2;
    int code = task_next(task, INPUT_BUFFER, &piece, &count);
    if (!code) code = input_next(&task->second, INPUT_BUFFER, &piece2, &count2);
    if (code) return code;
    const uint64_t pairs = count < count2 ? count : count2;
    const red_status status = red_accumulator_add2(task->accumulator, piece, piece2, pairs);
    if (status) return library_error(status);
    if (count > count2) return lengths_differ(task, task->input.name, task->second.name);
    if (count < count2) return lengths_differ(task, task->second.name, task->input.name);
    if (count == 0) return EXIT_OK;
  }
}

int task_consume(struct task *task) {
  if (task->second.name) return consume_pairs(task);
  for (;;) {
    const void *piece;
    uint64_t count;
    const int code = task_next(task, INPUT_MOST, &piece, &count);
    if (code || count == 0) return code;
    const red_status status = red_accumulator_add(task->accumulator, piece, count);
    if (status) return library_error(status);
  }
}
