/* SPDX-License-Identifier: BSD-2-Clause */
/* What an accumulator holds, for the files that append to it, merge it and save it. */
#ifndef RED_CORE_ACCUMULATOR_H
#define RED_CORE_ACCUMULATOR_H

#include "order.h"
#include "plan.h"

/* Statistics so far; moments in their tree. */
typedef struct gathered {
  red_stats_state state;
  red_moments_forest moments;
} gathered;

struct red_accumulator {
  red_context *context;
  red_lowered lowered; /* what was asked for */
  red_lowered piece;   /* what is executed: no init, the raw accumulator comes out */
  uint64_t first;      /* where in the whole it begins; canonical: a multiple of the chunk */
  uint64_t count;      /* elements appended */
  bool failed;         /* a device failed in the middle of a piece */
  red_forest forest;   /* complete nodes; one running state where any order will do */
  red_exact exact;
  gathered stats;
  uint64_t chunk;         /* elements of a leaf; 1 for scans */
  uint64_t waiting;       /* elements in the buffer */
  unsigned char buffer[]; /* less than a chunk; dot: a chunk's room, then less than a chunk of the second input */
};

/* Where the next element goes. */
static inline uint64_t red_accumulator_end(const red_accumulator *acc) {
  return acc->first + acc->count;
}

/* Elements are limited, so that no sum of positions wraps. */
#define RED_ACCUMULATOR_MOST (UINT64_MAX / 2)

/* RED_ERR_UNSUPPORTED for scans and statistics, RED_ERR_INVALID after a failure. */
red_status red_accumulator_check_partial(const red_accumulator *acc, const char *argument);

#endif
