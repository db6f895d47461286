/* SPDX-License-Identifier: BSD-2-Clause */
/* One device computing one case by one route: setting it up, running it, driving its data out of the caches. */
#ifndef REDTOOL_BENCH_ENTRY_H
#define REDTOOL_BENCH_ENTRY_H

#include "bench/arrays.h"
#include "bench/rows.h"

enum {
  RESULT_BYTES = 4096 /* of one result, of any kind */
};

struct entry {
  struct bench_device *device;
  const struct bench_case *c;
  const struct arrays *arrays;
  enum bench_route route;
  red_plan *plan;
  void *in, *out; /* as the plan takes them */
  bool owns_in, owns_out;
  _Alignas(64) char result[RESULT_BYTES];
  red_status status;
  char reason[256];
};

/*
 * Allocate, plan and upload. A device that lacks the memory or the operator is no failure: then `status` and `reason`
 * are set. entry_release in any case.
 */
int entry_prepare(struct entry *e);
void entry_release(struct entry *e);

/* How it takes its turns, with cold or with warm caches. */
struct contestant entry_contestant(struct entry *e, bool cold);

/* What must come before a turn of the entry, or of a roof that works on its data; NULL: nothing. */
int (*entry_before(const struct entry *e, bool cold))(void *entry);

#endif
