/* SPDX-License-Identifier: BSD-2-Clause */
#include "tally.h"

#include <stdio.h>

#include "progress.h"
#include "report.h"

enum {
  DOING_BYTES = 128,
  FAILURES_PRINTED = 5
};

static void show_progress(const struct tally *tally) {
  char doing[DOING_BYTES];
  snprintf(doing, sizeof doing, "%s: %s, %s", tally->device, tally->subject, tally->route);
  progress_step(tally->step, doing);
}

void tally_pass(struct tally *tally) {
  tally->passed++;
  show_progress(tally);
}

void tally_fail(struct tally *tally, const char *what, const char *how) {
  tally->failed++;
  if (tally->failed <= FAILURES_PRINTED)
    complain("%s: %s, %s: %s: %s", tally->device, tally->subject, tally->route, what, how);
  if (tally->failed == FAILURES_PRINTED + 1) complain("%s: %s: more failures follow", tally->device, tally->subject);
  show_progress(tally);
}

void tally_skip(struct tally *tally, const char *reason) {
  if (tally->skipped++ == 0) snprintf(tally->reason, sizeof tally->reason, "%s", reason);
  show_progress(tally);
}
