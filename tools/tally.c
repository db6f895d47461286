/* SPDX-License-Identifier: BSD-2-Clause */
#include "tally.h"

#include <stdio.h>

#include "report.h"

enum {
  FAILURES_PRINTED = 5
};

void tally_pass(struct tally *tally) {
  tally->passed++;
}

void tally_fail(struct tally *tally, const char *what, const char *how) {
  tally->failed++;
  if (tally->failed <= FAILURES_PRINTED)
    complain("%s: %s, %s: %s: %s", tally->device, tally->subject, tally->route, what, how);
  if (tally->failed == FAILURES_PRINTED + 1) complain("%s: %s: more failures follow", tally->device, tally->subject);
}

void tally_skip(struct tally *tally, const char *reason) {
  if (tally->skipped++ == 0) snprintf(tally->reason, sizeof tally->reason, "%s", reason);
}
