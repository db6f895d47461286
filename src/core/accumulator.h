/* SPDX-License-Identifier: BSD-2-Clause */
/* What an accumulator holds, for the files that append to it, merge it and save it. */
#ifndef RED_CORE_ACCUMULATOR_H
#define RED_CORE_ACCUMULATOR_H

#include "order.h"
#include "plan.h"

/* What has come together; in a forest complete nodes, or one running state where any order will do. */
typedef struct gathered {
  red_forest forest;
  red_forest sizes;           /* bounded: the same of magnitudes */
  red_moments_forest moments; /* statistics: the same of moments */
  red_stats_state stats;      /* statistics: everything else */
} gathered;

struct red_accumulator {
  red_context *context;
  red_lowered lowered; /* what was asked for */
  red_lowered piece;   /* what is executed: no init, the raw accumulator comes out */
  uint64_t first;      /* where in the whole it begins; canonical: a multiple of the chunk */
  uint64_t count;      /* elements appended */
  bool failed;         /* a device failed in the middle of a piece */
  gathered got;
  red_exact exact;
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

/* Do elements belong to chunks, and parts begin at one? */
static inline bool red_accumulator_is_ordered(const red_accumulator *acc) {
  return acc->lowered.canonical || acc->lowered.kind == RED_STATS;
}

/* accumulator.c: execute on one piece. */
red_status red_accumulator_run_piece(const red_accumulator *acc, const red_lowered *piece, const red_args *args,
                                     const red_raw *raw);
/* The largest power of two (as an exponent) that divides `index` and is not above `most`. */
unsigned red_accumulator_block_level(uint64_t index, uint64_t most);
/* Can n elements from `in` on be appended? */
red_status red_accumulator_check_piece(const red_accumulator *acc, const void *in, uint64_t n);

/* RED_ERR_UNSUPPORTED for scans, RED_ERR_INVALID after a failure. */
red_status red_accumulator_check_partial(const red_accumulator *acc, const char *argument);

#endif
