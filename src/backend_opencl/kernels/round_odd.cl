/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roots and means where doubles have correctly rounded instructions: what round.cl does in integers, in a tenth of the
 * registers. What is missing from the nearest double rounds it to odd, as in src/core/odd.h, so that the output's rounding is
 * the only one.
 */
static double red_to_odd(double nearest, double missing) {
  if (missing == 0 || !isfinite(nearest)) return nearest;
  ulong beyond = signbit(nearest) != signbit(missing);
  return as_double((as_ulong(nearest) - beyond) | 1);
}

static double red_divided(double a, double b) {
  double quotient;
  __asm__("div.rn.f64 %0, %1, %2;" : "=d"(quotient) : "d"(a), "d"(b));
  return quotient;
}

static double red_root_of(double a) {
  double root;
  __asm__("sqrt.rn.f64 %0, %1;" : "=d"(root) : "d"(a));
  return root;
}

static ulong red_rounded(double sum, red_last last) {
  double count = convert_double(last.count);
  bool root = last.finish == 3;
  double nearest = root ? red_root_of(sum) : red_divided(sum, count);
  double odd = red_to_odd(nearest, fma(-nearest, root ? nearest : count, sum));
  if (last.out_type == RED_TYPE_F64) return isnan(nearest) ? 0x7ff8000000000000ul : as_ulong(nearest);
#if RED_CANONICAL == 64
  return red_float_as(last.out_type, as_ulong(odd));
#else
  float value = convert_float_rte(odd), cut = convert_float_rtz(odd);
  if (last.out_type != RED_TYPE_F32) value = as_float(as_uint(cut) | (convert_double(cut) != odd && !isnan(odd)));
  return red_float_as(last.out_type, as_uint(value));
#endif
}
