/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partial results on the host. A state is what a family accumulates, before init, finishing and conversion:
 *   ADD, MUL   canonical: acc_bytes 4 -> f32, 8 -> f64; integers: u64
 *   MIN        key, sign-extended;  ARGMIN: key and index
 *   AND OR XOR u64, zero-extended;  COUNT: u64
 */
#ifndef RED_CORE_STATE_H
#define RED_CORE_STATE_H

#include "lower.h"
#include "moments.h"

typedef struct red_state {
  union {
    float f32;
    double f64;
    uint64_t u64;
    int64_t key;
  };
  uint64_t index; /* ARGMIN only */
} red_state;

/* The exact identity: merging it changes nothing (canonical sum: -0.0, product: 1; keys: the greatest). */
red_state red_state_identity(const red_lowered *lowered);

/* a op b, a being the left operand. NaNs keep whatever payload the machine gives until red_state_finish. */
red_state red_state_merge(const red_lowered *lowered, red_state a, red_state b);

/* The merges of MIN and of ARGMIN. */
static inline red_state red_state_least(red_state a, red_state b) {
  return b.key < a.key ? b : a;
}
static inline red_state red_state_least_first(red_state a, red_state b) {
  return b.key < a.key || (b.key == a.key && b.index < a.index) ? b : a;
}

/* Key of one element at `element` (any alignment). */
int64_t red_key(const red_lowered *lowered, const void *element);

/* The double that equals a float of any dtype, at any alignment. */
double red_float_value(red_dtype dtype, const void *value);

/* The state of one value in the accumulator's dtype (the inverse of finishing without init into acc). */
red_state red_state_from_acc(const red_lowered *lowered, const red_scalar *value);

/*
 * init op state, the operator's last step, conversion to the output dtype, canonical NaN; writes out_bytes.
 * `count` is how many elements the state covers. RED_ERR_EMPTY where there is no result.
 */
red_status red_state_finish(const red_lowered *lowered, red_state state, uint64_t count, void *out);

/* One scan output, P(k) over `count` elements: as above, but `state` already has init in it. */
void red_state_store(const red_lowered *lowered, red_state state, uint64_t count, void *out);

/* What a bounded reduction accumulates: also the sum of magnitudes, which of asum, sumsq and nrm2 is the sum. */
typedef struct red_pair {
  red_state sum, size;
} red_pair;

/*
 * What RED_STATS accumulates. argmin and argmax are ARGMIN states (zeros merged), least and greatest MIN states of
 * RED_MIN and RED_MAX; integer sums have 128 bits, for the mean.
 * Whoever fills one begins with the identity and leaves there what the selection does not need.
 */
typedef struct red_stats_state {
  red_state sum;
  int64_t sum_high; /* integers: bits 64..127 of the sum */
  red_state least, greatest;
  red_state argmin, argmax;
  red_moments moments;
  uint64_t nan_count;
} red_stats_state;

/* What a selection makes it necessary to accumulate. */
static inline bool red_stats_need_sum(const red_lowered *lowered) {
  return (lowered->stats & (RED_STAT_SUM | RED_STAT_MEAN)) != 0;
}
static inline bool red_stats_need_extrema(const red_lowered *lowered) {
  return (lowered->stats & (RED_STAT_MIN | RED_STAT_MAX | RED_STAT_ARGMIN | RED_STAT_ARGMAX)) != 0;
}
static inline bool red_stats_need_moments(const red_lowered *lowered) {
  return (lowered->stats & RED_STAT_VARIANCE) != 0;
}
static inline bool red_stats_need_nan_count(const red_lowered *lowered) {
  return (lowered->stats & RED_STAT_NAN_COUNT) != 0 && lowered->in_float;
}

/* What merging changes nothing: no elements. */
red_stats_state red_stats_identity(const red_lowered *lowered);

/* Everything but float sums and moments, whose order the caller's forests decide. */
void red_stats_merge(const red_lowered *lowered, red_stats_state *into, const red_stats_state *next);

/* `count` > 0 elements; writes *result. */
void red_stats_finish(const red_lowered *lowered, const red_stats_state *state, uint64_t count,
                      red_stats_result *result);

/* RED_ERR_INVALID unless the caller has set the size of the result at `out` (any alignment) to this library's. */
red_status red_stats_check_size(const void *out);

#endif
