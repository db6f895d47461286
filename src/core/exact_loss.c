/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums that lack a little: the result is monotone in the sum, so equal results at both ends are that of the true sum.
 */
#include <string.h>

#include "exact_round.h"

red_exact_loss red_exact_no_loss(const red_lowered *lowered) {
  return (red_exact_loss){.precision = red_exact_format_of(lowered->out).precision};
}

/* Losses of another unit: the smaller one is rounded up to the larger. */
void red_exact_lose(red_exact_loss *loss, uint64_t terms, int unit) {
  uint64_t fine = loss->terms, coarse = terms;
  int from = loss->unit, to = unit;
  if (terms == 0) return;
  if (fine > 0 && from > to) {
    fine = terms, coarse = loss->terms;
    from = unit, to = loss->unit;
  }
  if (fine > 0) coarse += to - from < 64 ? ((fine - 1) >> (to - from)) + 1 : 1;
  loss->terms = coarse;
  loss->unit = to;
}

bool red_exact_is_promising(const red_exact *sum, const red_exact_loss *loss) {
  enum {
    SPARE = 3 /* bits: the result is known seven times in eight at least */
  };
  red_exact_magnitude m;
  if (loss->terms == 0 || (sum->flags & (RED_EXACT_NAN | RED_EXACT_INFINITIES)) != 0) return true;
  red_exact_measure(sum, &m);
  if (m.last == 0) return false;
  const int top = (int)(32 * m.last - red_exact_zeros_above(m.digit[m.last - 1])) + RED_EXACT_UNIT;
  const int lost = loss->unit + 64 - __builtin_clzll(loss->terms); /* the loss is below 2^lost */
  return lost + (int)loss->precision + SPARE <= top;
}

static bool is_negative(const red_exact *sum) {
  red_exact_magnitude m;
  red_exact_measure(sum, &m);
  return m.negative;
}

/* The result where the sum is at one end; there is none where a sum of squares would be negative. */
static bool result_at(const red_lowered *lowered, const red_exact *sum, const red_exact_loss *loss, bool below,
                      uint64_t count, uint64_t *result) {
  red_exact end = *sum;
  red_exact_add_bits(&end, below, loss->terms, (unsigned)(loss->unit - RED_EXACT_UNIT));
  if (lowered->finish == RED_FINISH_ROOT && is_negative(&end)) return false;
  return red_exact_finish(lowered, &end, count, result) == RED_OK;
}

bool red_exact_is_settled(const red_lowered *lowered, const red_exact *sum, const red_exact_loss *loss,
                          uint64_t count) {
  uint64_t low = 0, high = 0;
  if (loss->terms == 0) return true;
  return result_at(lowered, sum, loss, true, count, &low) && result_at(lowered, sum, loss, false, count, &high) &&
         memcmp(&low, &high, lowered->out_bytes) == 0;
}
