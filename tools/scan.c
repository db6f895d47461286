/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool scan: running sums and the like, from a file to a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "output.h"
#include "report.h"
#include "task.h"

/* Pieces are small enough that their outputs stay a modest buffer. */
#define SCAN_PIECE INPUT_BUFFER

static bool ends_in_npy(const char *path) {
  const size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* A file's format follows its name; standard output has the input's. */
static bool wants_npy(const struct task *task, const options *chosen) {
  return strcmp(chosen->output, "-") == 0 ? task->input.npy : ends_in_npy(chosen->output);
}

/* How long a raw stream is shows only at its end, and then the header is written over. */
static int write_header(const struct task *task, struct output *out) {
  char header[NPY_WRITTEN_BYTES];
  const bool known = task->input.n != INPUT_UNKNOWN;
  if (!known && !output_rewindable(out))
    return usage_error("%s: a .npy header says how long the array is, which is not known yet; write to a regular file",
                       out->name);
  npy_write(header, task->problem.out, known ? task->input.n : 0);
  return output_write(out, header, sizeof header);
}

static int finish_header(const struct task *task, struct output *out) {
  char header[NPY_WRITTEN_BYTES];
  npy_write(header, task->problem.out, task->input.done);
  return output_rewrite(out, header, sizeof header);
}

static int scan_pieces(struct task *task, struct output *out) {
  const size_t width = red_dtype_bytes(task->problem.out);
  void *results = malloc(SCAN_PIECE * width);
  int code = EXIT_OK;
  if (!results) {
    complain("out of memory for a buffer of %zu bytes", (size_t)SCAN_PIECE * width);
    return EXIT_LIBRARY;
  }
  while (!code) {
    const void *piece;
    uint64_t count;
    code = task_next(task, SCAN_PIECE, &piece, &count);
    if (code || count == 0) break;
    const red_status status = red_accumulator_scan(task->accumulator, piece, count, results);
    code = status ? library_error(status) : output_write(out, results, count * width);
  }
  free(results);
  return code;
}

static int scan_to(struct task *task, struct output *out, bool npy) {
  const bool known = task->input.n != INPUT_UNKNOWN;
  int code = npy ? write_header(task, out) : EXIT_OK;
  if (!code) code = scan_pieces(task, out);
  if (!code && npy && !known) code = finish_header(task, out);
  if (!code) code = output_commit(out);
  return code;
}

static int run_scan(const options *chosen) {
  struct task task;
  struct output out = {.fd = -1};
  int code = task_open(&task, chosen, chosen->exclusive ? RED_EXCLUSIVE_SCAN : RED_INCLUSIVE_SCAN);
  if (!code) code = output_open(&out, chosen->output, chosen->force);
  if (!code) code = scan_to(&task, &out, wants_npy(&task, chosen));
  output_close(&out);
  task_close(&task);
  return code;
}

const struct verb verb_scan = {
    .name = "scan",
    .synopsis = "--op OP [OPTION]... FILE -o OUT",
    .summary = "Write the running result (prefix sums and the like) for every element.",
    .details =
        "OUT is a 1-d .npy array if its name ends in .npy, else raw elements; - (standard output) has the format\n"
        "of the input. OUT appears when it is complete, under a temporary name until then; an existing file\n"
        "needs --force.\n",
    .examples = "  redtool scan --op sum data.npy -o sums.npy\n"
                "  redtool scan --op sum --exclusive --init 100 data.npy -o offsets.npy\n"
                "  redtool scan --op max --dtype f64 - -o - <samples.raw >peaks.raw\n",
    .accepts = OPTION_BIT(OP) | OPTION_BIT(EXCLUSIVE) | OPTION_BIT(INIT) | OPTION_BIT(DTYPE) | OPTION_BIT(ACC) |
               OPTION_BIT(OUT_DTYPE) | OPTION_BIT(OUTPUT) | OPTION_BIT(FORCE) | OPTION_BIT(BACKEND) |
               OPTION_BIT(THREADS),
    .requires = OPTION_BIT(OP) | OPTION_BIT(OUTPUT),
    .takes_file = true,
    .run = run_scan,
};
