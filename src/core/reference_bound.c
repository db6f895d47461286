/* SPDX-License-Identifier: BSD-2-Clause */
/* The oracle of bounded reductions: the value, the sum of magnitudes by another pass, and what red_error_bound says. */
#include <math.h>
#include <string.h>

#include "reference.h"

red_status red_reference_bounded(const red_problem *problem, const red_lowered *lowered, const void *in,
                                 const void *in2, void *out) {
  red_bounded result = {.value = {.u64 = 0}, .bound = INFINITY};
  red_problem plain = *problem;
  plain.bound = 0;
  red_status status = red_reference_in_fpenv(&plain, in, in2, &result.value);
  if (status != RED_OK) return status;
  plain.acc = lowered->acc;
  plain.out = lowered->out;
  const bool own = lowered->exact || problem->op == RED_NRM2;
  const double magnitude =
      own ? fabs(red_reference_real(lowered->out, &result.value)) : red_reference_magnitudes(&plain, in, in2);
  if (!isnan(magnitude)) status = red_error_bound(problem, magnitude, &result.bound);
  if (status == RED_OK) memcpy(out, &result, sizeof result);
  return status;
}
