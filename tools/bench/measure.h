/* SPDX-License-Identifier: BSD-2-Clause */
/* Measuring one case: every device, by each route, beside what the same memory gives to a plain read or copy. */
#ifndef REDTOOL_BENCH_MEASURE_H
#define REDTOOL_BENCH_MEASURE_H

#include "bench/arrays.h"
#include "bench/rows.h"

struct bench {
  struct bench_devices devices;
  struct peers peers;
  struct cases cases;
  struct table table;
  struct arrays arrays;
  unsigned threads; /* of the CPU */
  unsigned samples;
  double seconds; /* for each case and state of the caches */
};

/* Append the rows of a case, with cold or with warm caches. */
int measure_case(struct bench *bench, const struct bench_case *c, bool cold);

/* Append the rooflines of the levels of the CPU's memory, and of each device's. In arrays that no cache holds. */
int measure_rooflines(struct bench *bench);

#endif
