/* SPDX-License-Identifier: BSD-2-Clause */
/* Contestants that only read or only copy host memory. */
#ifndef REDTOOL_BENCH_ROOFLINE_H
#define REDTOOL_BENCH_ROOFLINE_H

#include "bench/arrays.h"
#include "bench/host.h"
#include "bench/sampling.h"

enum {
  MOST_ROOFS = 4
};

/* One way to move as many bytes as a case does. */
struct roof {
  enum host_way way;
  unsigned threads;
  const struct arrays *arrays;
  uint64_t bytes; /* read; a copy writes as many */
};

/*
 * The ways that may be fastest for `bytes` read, or (copies) read and as many written; returns how many. With `cold`
 * the caches are swept before each sample.
 */
size_t roofs_for(struct roof roofs[MOST_ROOFS], struct contestant contestants[MOST_ROOFS], const struct arrays *arrays,
                 bool copies, uint64_t bytes, bool cold);

/* The best of measured contestants: bytes moved a second, and what did it. */
double roofs_best(const struct roof *roofs, const struct contestant *contestants, size_t count, char *what,
                  size_t what_bytes);

#endif
