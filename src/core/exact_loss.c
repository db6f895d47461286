/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums that lack a little: the result is monotone in the sum, so equal results at both ends are that of the true sum.
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

/* log2 of a power of two that is above the loss, if there is any. */
static int loss_top(const red_exact_loss *loss) {
  return loss->unit + 64 - __builtin_clzll(loss->terms);
}

/* The highest bit of a magnitude that is not zero, as a bit of the long integer. */
static int top_bit(const red_exact_magnitude *m) {
  return (int)(32 * m->last - 1 - red_exact_zeros_above(m->digit[m->last - 1]));
}

static bool is_special(const red_exact *sum) {
  return (sum->flags & (RED_EXACT_NAN | RED_EXACT_INFINITIES)) != 0;
}

bool red_exact_is_promising(const red_exact *sum, const red_exact_loss *loss) {
  enum {
    SPARE = 3 /* bits: the result is known seven times in eight at least */
  };
  red_exact_magnitude m;
  if (loss->terms == 0 || is_special(sum)) return true;
  red_exact_measure(sum, &m);
  return m.last > 0 && loss_top(loss) + (int)loss->precision + SPARE <= top_bit(&m) + 1 + RED_EXACT_UNIT;
}

/*
 * Most sums are far from a tie. What is lost is less than 2^lost of the sum, and of its root or quotient; so in the
 * highest 64 bits of that all possible results lie less than `error` below, or less than `error` above the next
 * integer. If those beyond the result's precision say that no tie is there, the result is known.
 */
static bool is_far_from_ties(const red_lowered *lowered, red_exact_magnitude *m, const red_exact_loss *loss,
                             uint64_t count) {
  const red_exact_format format = red_exact_format_of(lowered->out);
  const uint64_t tie = (uint64_t)1 << (63 - format.precision);
  const int lost = loss_top(loss) - (top_bit(m) + RED_EXACT_UNIT);
  if (lost > -(int)format.precision - 2) return false; /* below a power of two ties lie twice as close */
  const uint64_t error = lost > -64 ? (uint64_t)1 << (64 + lost) : 1;
  if (lowered->finish == RED_FINISH_MEAN) red_exact_divide(m, count);
  if (lowered->finish == RED_FINISH_ROOT) red_exact_take_root(m);
  if (m->last == 0 || top_bit(m) < (int)(format.least + format.precision)) return false; /* subnormal */
  const uint64_t beyond = red_exact_bits_from(m, (unsigned)top_bit(m) - 63) & (2 * tie - 1);
  return beyond + 1 + error < tie || beyond > tie + error;
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
  red_exact_magnitude m;
  uint64_t low = 0, high = 0;
  if (loss->terms == 0 || is_special(sum)) return true;
  if (!lowered->has_init) {
    red_exact_measure(sum, &m);
    if (m.last == 0) return false; /* the true sum may have either sign */
    if (is_far_from_ties(lowered, &m, loss, count)) return true;
  }
  return result_at(lowered, sum, loss, true, count, &low) && result_at(lowered, sum, loss, false, count, &high) &&
         memcmp(&low, &high, lowered->out_bytes) == 0;
}
