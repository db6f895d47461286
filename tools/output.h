/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that appears whole or not at all: bytes go to a temporary file in the same directory, which gets its name when
 * everything has reached the disk. Standard output and special files (pipes, devices) are written directly.
 */
#ifndef REDTOOL_OUTPUT_H
#define REDTOOL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output {
  const char *name; /* for messages */
  int fd;
  bool force;
  bool standard;   /* standard output, which stays open */
  char *target;    /* the path to appear; NULL when writing directly */
  char *temporary; /* NULL when writing directly */
};

/* Open `path` (- is standard output). An existing file is refused without `force`. */
int output_open(struct output *out, const char *path, bool force);

/* Whether output_rewrite is possible. */
bool output_rewindable(const struct output *out);

int output_write(struct output *out, const void *data, size_t bytes);

/* Replace the first bytes of what has been written. */
int output_rewrite(struct output *out, const void *data, size_t bytes);

/* Bring everything to the disk and give the file its name. */
int output_commit(struct output *out);

/* Forget what is not committed, and free; to be called in any case. */
void output_close(struct output *out);

#endif
