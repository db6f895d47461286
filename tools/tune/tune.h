/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `redtool tune` measures: rows of the tuning file, candidates for each, and the problems that show their effect.
 */
#ifndef REDTOOL_TUNE_H
#define REDTOOL_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <red/red.h>

enum {
  MOST_ROWS = 8,
  MOST_CANDIDATES = 12,
  MOST_SIZES = 8
};

struct tune_row {
  const char *name, *what;
  red_kind kind;
  red_op op;
  red_dtype dtype;
  bool in_place;
  bool in_host_memory;                  /* also where the device has memory of its own */
  bool needs_team;                      /* makes no difference to one thread */
  uint64_t candidates[MOST_CANDIDATES]; /* 0 at the end */
  uint64_t sizes[MOST_SIZES];           /* bytes of input, and of output; 0 at the end */
};

/* The rows of the CPU backend for a machine with this last-level cache and so many threads; how many. */
size_t tune_cpu_rows(struct tune_row rows[MOST_ROWS], uint64_t last_level, unsigned threads);
/* Those of another backend. Some may be of no use to a device of it. */
size_t tune_device_rows(struct tune_row rows[MOST_ROWS], const char *backend);

enum tune_verdict {
  TUNE_ONE_THREAD, /* not measured, for there is no team */
  TUNE_UNUSED,     /* nor these: the device takes no value of the row */
  TUNE_DEFAULT,    /* which no candidate beat clearly */
  TUNE_BETTER
};

/* What was found about a row. */
struct tune_result {
  enum tune_verdict verdict;
  uint64_t best;
  double gain; /* the default's time over the best's, over all sizes */
};

#endif
