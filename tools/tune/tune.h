/* SPDX-License-Identifier: BSD-2-Clause */
/* What `redtool tune` measures: rows of the tuning file, candidates for each, and the problems that show their effect.
 */
#ifndef REDTOOL_TUNE_H
#define REDTOOL_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <red/red.h>

enum {
  MOST_CANDIDATES = 12,
  MOST_SIZES = 6
};

struct tune_row {
  const char *name, *what;
  red_kind kind;
  bool in_place;
  bool needs_team;                      /* makes no difference to one thread */
  uint64_t candidates[MOST_CANDIDATES]; /* 0 at the end */
  uint64_t sizes[MOST_SIZES];           /* bytes of input, and of output; 0 at the end */
};

/* The rows for a machine with this last-level cache and so many threads; returns how many. */
enum {
  TUNE_ROWS = 6
};
void tune_rows(struct tune_row rows[TUNE_ROWS], uint64_t last_level, unsigned threads);

/* What was found about a row. */
struct tune_result {
  bool measured;
  uint64_t best; /* 0: the default, which no candidate beat clearly */
  double gain;   /* the default's time over the best's, over all sizes */
};

#endif
