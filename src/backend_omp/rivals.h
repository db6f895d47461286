/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether threads that scan help each other or are in each other's way. Where one core can use up all that its complex
 * may write, two of them take longer than one past the caches; where they share no cache, in the caches. No description
 * of a processor tells, and a virtual machine's cores move: so such calls are timed, and once in a while one is done
 * the other way to know.
 */
#ifndef RED_OMP_RIVALS_H
#define RED_OMP_RIVALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "red/red.h"

enum {
  RED_RIVALS_ALONE = 1,
  RED_RIVALS_TEAM
};

/* What is known of calls of one kind and size; all zeros to begin with. Any number of threads may use it. */
typedef struct red_rivals {
  atomic_uint_fast64_t calls;       /* since some were done the other way */
  atomic_uint_fast64_t alone, team; /* bytes in a microsecond; 0: not yet tried */
  atomic_uint last;                 /* way that a call went, or 0 */
} red_rivals;

/* Should the next call, which deserves a team for so many bytes, use one thread only? */
bool red_rivals_prefer_one(red_rivals *rivals, uint64_t bytes);

/* That call, or another one like it, took so long. */
void red_rivals_learn(red_rivals *rivals, bool alone, uint64_t bytes, uint64_t ns);

/*
 * Those of all scans: by red_lane_op, which has the accumulator, by input and output, by whether it is in place, and by
 * log2 of their bytes.
 */
enum {
  RED_RIVALS_LEAST_LOG2 = 20,
  RED_RIVALS_LEAST = 1 << RED_RIVALS_LEAST_LOG2, /* smaller ones are not worth it */
  RED_RIVALS_SIZES = 16                          /* larger than the largest are together */
};
typedef red_rivals red_scan_rivals[RED_DTYPE_COUNT][RED_DTYPE_COUNT][2][RED_RIVALS_SIZES];

static inline unsigned red_rivals_size(uint64_t bytes) {
  const unsigned size = 63 - (unsigned)__builtin_clzll(bytes | RED_RIVALS_LEAST) - RED_RIVALS_LEAST_LOG2;
  return size < RED_RIVALS_SIZES ? size : RED_RIVALS_SIZES - 1;
}

#endif
