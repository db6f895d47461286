/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics: merging partial ones and the finishing step. */
#include "state.h"

#include <string.h>

#include "half.h"
#include "status.h"

red_stats_state red_stats_identity(const red_lowered *lowered) {
  red_lowered part;
  red_stats_state none = {.sum_high = 0};
  red_lower_part(lowered, RED_MIN, &part);
  none.least = none.greatest = red_state_identity(&part);
  red_lower_part(lowered, RED_ARGMIN, &part);
  none.argmin = none.argmax = red_state_identity(&part);
  return none;
}

void red_stats_merge(const red_lowered *lowered, red_stats_state *into, const red_stats_state *next) {
  into->least = red_state_least(into->least, next->least);
  into->greatest = red_state_least(into->greatest, next->greatest);
  into->argmin = red_state_least_first(into->argmin, next->argmin);
  into->argmax = red_state_least_first(into->argmax, next->argmax);
  into->nan_count += next->nan_count;
  if (lowered->in_float) return;
  uint64_t low = into->sum.u64 + next->sum.u64;
  uint64_t carry = low < next->sum.u64;
  into->sum_high = (int64_t)((uint64_t)into->sum_high + (uint64_t)next->sum_high + carry);
  into->sum.u64 = low;
}

/*
 * The double nearest to sum / count, for a sum of 128 bits: the integer quotient with 64 significant bits or more, its
 * last bit sticky for the remainder, is converted once.
 */
static double integer_mean(__int128 sum, uint64_t count) {
  bool negative = sum < 0;
  unsigned __int128 magnitude = negative ? -(unsigned __int128)sum : (unsigned __int128)sum;
  if (magnitude == 0) return 0.0;
  int scale = 0;
  /* Sums of at most 2^64 integers of 64 bits leave the top bit free; shifting up makes the quotient long enough. */
  while ((magnitude >> 126) == 0) {
    magnitude <<= 1;
    scale++;
  }
  unsigned __int128 quotient = magnitude / count;
  if (magnitude % count != 0) quotient |= 1;
  /* Two doubles cannot be added without a second rounding: round to 53 bits here. */
  int drop = 0;
  unsigned __int128 kept = quotient;
  while ((kept >> 53) != 0) {
    kept >>= 1;
    drop++;
  }
  unsigned __int128 rest = quotient - (kept << drop);
  unsigned __int128 half = drop > 0 ? (unsigned __int128)1 << (drop - 1) : 0;
  if (drop > 0 && (rest > half || (rest == half && (kept & 1)))) kept++;
  double value = (double)(uint64_t)kept;
  for (int e = drop - scale; e > 0; e--) value *= 2.0;
  for (int e = drop - scale; e < 0; e++) value *= 0.5;
  return negative ? -value : value;
}

static double mean_of(const red_lowered *lowered, const red_stats_state *state, uint64_t count) {
  if (!lowered->in_float) {
    __int128 sum = (__int128)((unsigned __int128)(uint64_t)state->sum_high << 64 | state->sum.u64);
    return integer_mean(sum, count);
  }
  double sum = lowered->acc_bytes == 8 ? state->sum.f64 : (double)state->sum.f32;
  return red_canonical_f64(sum / (double)count);
}

/* n - 1 = 0 has no sample variance: 0 / 0 is NaN. */
static void finish_moments(const red_moments *moments, uint64_t count, red_stats_result *result) {
  result->squared_deviations = red_canonical_f64(moments->squares);
  result->variance = red_canonical_f64(moments->squares / (double)count);
  result->sample_variance = red_canonical_f64(moments->squares / (double)(count - 1));
}

static void finish_part(const red_lowered *lowered, red_op op, red_state state, uint64_t count, red_scalar *out) {
  red_lowered part;
  red_lower_part(lowered, op, &part);
  red_state_store(&part, state, count, out);
}

void red_stats_finish(const red_lowered *lowered, const red_stats_state *state, uint64_t count,
                      red_stats_result *result) {
  const unsigned wanted = lowered->stats;
  memset(result, 0, sizeof *result);
  result->size = sizeof *result;
  if ((wanted & RED_STAT_COUNT) != 0) result->count = count;
  if (red_stats_need_nan_count(lowered)) result->nan_count = state->nan_count;
  if ((wanted & RED_STAT_MEAN) != 0) result->mean = mean_of(lowered, state, count);
  if ((wanted & RED_STAT_VARIANCE) != 0) finish_moments(&state->moments, count, result);
  if ((wanted & RED_STAT_SUM) != 0) finish_part(lowered, RED_SUM, state->sum, count, &result->sum);
  if ((wanted & RED_STAT_MIN) != 0) finish_part(lowered, RED_MIN, state->least, count, &result->min);
  if ((wanted & RED_STAT_MAX) != 0) finish_part(lowered, RED_MAX, state->greatest, count, &result->max);
  if ((wanted & RED_STAT_ARGMIN) != 0) result->argmin = state->argmin.index;
  if ((wanted & RED_STAT_ARGMAX) != 0) result->argmax = state->argmax.index;
}

red_status red_stats_check_size(const void *out) {
  size_t size;
  memcpy(&size, out, sizeof size);
  if (size == sizeof(red_stats_result)) return RED_OK;
  return red_fail(RED_ERR_INVALID, "out->size is %zu, this library expects %zu: set it to sizeof(red_stats_result)",
                  size, sizeof(red_stats_result));
}
