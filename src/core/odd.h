/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Round to odd: of the two doubles around an inexact result the one whose last bit is odd. Every narrower format then
 * rounds it as it would the exact value, ties included (Boldo and Melquiond, "Emulation of FMA and correctly rounded
 * sums: proved algorithms using rounding to odd", 2008).
 */
#ifndef RED_CORE_ODD_H
#define RED_CORE_ODD_H

#include "half.h"

/* `nearest` is the exact result rounded to nearest; `residual` has the sign of what is missing, or is zero. */
static inline double red_round_to_odd(double nearest, double residual) {
  if (residual == 0 || !isfinite(nearest)) return nearest;
  uint64_t beyond = signbit(nearest) != signbit(residual); /* rounded away from zero */
  return red_f64_from_bits((red_f64_bits(nearest) - beyond) | 1);
}

#endif
