/* SPDX-License-Identifier: BSD-2-Clause */
/* From the long integer of `exact-1` to the result of a problem. */
#include <string.h>

#include "exact_round.h"
#include "status.h"

red_status red_exact_finish(const red_lowered *lowered, const red_exact *sum, uint64_t count, void *out) {
  red_exact total;
  red_exact_magnitude magnitude;
  if (count == 0 && lowered->empty_is_error)
    return red_fail(RED_ERR_EMPTY, "n = 0: op = %s has no result for empty input", red_op_name(lowered->op));
  if (lowered->has_init) {
    total = *sum;
    red_exact_add_f64(&total, lowered->acc == RED_F64 ? lowered->init.f64 : (double)lowered->init.f32);
    sum = &total;
    count++;
  }
  red_exact_measure(sum, &magnitude);
  uint64_t bits = red_exact_rounded(sum->flags, &magnitude, lowered->finish, count, lowered->out);
  memcpy(out, &bits, lowered->out_bytes);
  return RED_OK;
}
