/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool reduce: one value from a file, or from two. */
#include <inttypes.h>
#include <stdio.h>

#include "format.h"
#include "report.h"
#include "task.h"

static void print_json(const struct task *task, const red_scalar *value, const double *bound) {
  const red_problem *p = &task->problem;
  char text[VALUE_TEXT_BYTES], bits[VALUE_TEXT_BYTES];
  printf("{\"op\": \"%s\", \"n\": %" PRIu64 ", \"in\": \"%s\", \"acc\": \"%s\", \"out\": \"%s\", ", red_op_name(p->op),
         red_accumulator_count(task->accumulator), red_dtype_name(p->in), red_dtype_name(p->acc),
         red_dtype_name(p->out));
  printf("\"value\": %s, \"bits\": \"%s\", ", format_json(p->out, value, text), format_hex(p->out, value, bits));
  if (bound) printf("\"bound\": %s, ", format_json(RED_F64, bound, text));
  printf("\"device\": ");
  print_json_string(stdout, task->device.id);
  printf("}\n");
}

static int print_result(const struct task *task, const options *chosen) {
  red_bounded result = {.value = {0}}; /* without --bound only a value is written, to its place */
  const red_scalar *value = &result.value;
  const double *bound = chosen->bound ? &result.bound : NULL;
  char text[VALUE_TEXT_BYTES];
  const red_status status = red_accumulator_result(task->accumulator, &result);
  if (status) return library_error(status);
  if (chosen->json) {
    print_json(task, value, bound);
    return EXIT_OK;
  }
  puts(chosen->hex ? format_hex(task->problem.out, value, text) : format_value(task->problem.out, value, text));
  if (bound) puts(chosen->hex ? format_hex(RED_F64, bound, text) : format_value(RED_F64, bound, text));
  return EXIT_OK;
}

static int run_reduce(const options *chosen) {
  struct task task;
  int code = task_open(&task, chosen, RED_REDUCE);
  if (!code) code = task_consume(&task);
  if (!code) code = print_result(&task, chosen);
  task_close(&task);
  return code;
}

const struct verb verb_reduce = {
    .name = "reduce",
    .synopsis = "--op OP [OPTION]... FILE [FILE2]",
    .summary = "Combine all elements of FILE into one value.",
    .details =
        "Prints exactly one line: the value with as many digits as read back to the same bits, or the index for\n"
        "argmin and argmax. Elements count in memory order, whatever the shape. --json prints an object with\n"
        "op, n, in, acc, out, value, bits and device; nan, inf and -inf are strings there.\n"
        "dot multiplies the elements of two files of the same type and length; one of them may be -.\n"
        "--bound prints a second line for sums and what is made of them (sum, dot, asum, sumsq, nrm2, mean), of\n"
        "floats: how far the value may be from the exact one.\n",
    .examples = "  redtool reduce --op sum data.npy\n"
                "  redtool reduce --op dot x.npy y.npy\n"
                "  redtool reduce --op sum --bound data.npy\n"
                "  redtool reduce --op sum --exact data.npy\n"
                "  redtool reduce --op sum --acc f64 --out-dtype f64 --hex data.npy\n"
                "  zcat data.f32.gz | redtool reduce --op max --dtype f32 -\n",
    .accepts = OPTION_BIT(OP) | OPTION_BIT(INIT) | OPTION_BIT(BOUND) | OPTION_BIT(EXACT) | OPTION_BIT(DTYPE) |
               OPTION_BIT(ACC) | OPTION_BIT(OUT_DTYPE) | OPTION_BIT(BACKEND) | OPTION_BIT(THREADS) | OPTION_BIT(HEX) |
               OPTION_BIT(JSON),
    .requires = OPTION_BIT(OP),
    .takes_file = true,
    .takes_pair = true,
    .run = run_reduce,
};
