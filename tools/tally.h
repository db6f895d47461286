/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome of one subject of verification on one device. */
#ifndef REDTOOL_TALLY_H
#define REDTOOL_TALLY_H

#include <red/red.h>

struct tally {
  const char *device, *subject, *route; /* for messages */
  uint64_t step;                        /* of the whole verification, for the progress line */
  uint64_t passed, failed, skipped;
  char reason[256]; /* why the first skipped case was skipped */
};

void tally_pass(struct tally *tally);

/* `what` is the case, `how` what went wrong. The first failures of a subject are printed. */
void tally_fail(struct tally *tally, const char *what, const char *how);

/* `reason` is copied. */
void tally_skip(struct tally *tally, const char *reason);

#endif
