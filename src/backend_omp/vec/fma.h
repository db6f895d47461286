/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fused multiply-add, a * b + c rounded once, for instruction sets without one, two or four lanes at a time. An
 * error-free transformation leaves the exact value as a sum of a few numbers; all but one of the additions that bring
 * these together round to odd, so that the last one, to nearest, is the only rounding that shows (Boldo and Melquiond,
 * "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
 */
#include <math.h>

/* a + b and what the addition lost, exactly (Knuth's TwoSum). */
INLINE v_f64 two_sum(v_f64 a, v_f64 b, v_f64 *error) {
  v_f64 sum = a + b, of_b = sum - a;
  *error = (a - (sum - of_b)) + (b - of_b);
  return sum;
}

/* a + b rounded to odd: cut off towards zero, and the last bit set if that was not exact. */
INLINE v_f64 add_to_odd(v_f64 a, v_f64 b) {
  v_f64 error, sum = two_sum(a, b, &error);
  v_u64 inexact = (v_u64)(error > 0) | (v_u64)(error < 0); /* not where the error is a NaN beside an infinity */
  v_u64 away = ((v_u64)sum ^ (v_u64)error) >> 63;
  v_u64 odd = ((v_u64)sum - away) | 1;
  return (v_f64)v_select((v_u8)inexact, (v_u8)odd, (v_u8)sum);
}

/* The product of two f32 is an f64; f64 has more than the 24 + 2 bits that rounding to odd asks for. */
INLINE v_f32 v_fma_f32(v_f32 a, v_f32 b, v_f32 c) {
  v_f64 low = add_to_odd(v_widen_low(a) * v_widen_low(b), v_widen_low(c));
  v_f64 high = add_to_odd(v_widen_high(a) * v_widen_high(b), v_widen_high(c));
  return v_narrow(low, high);
}

/* What a * b lost, exactly (Dekker's product on Veltkamp's halves). */
INLINE v_f64 product_error(v_f64 a, v_f64 b, v_f64 product) {
  v_f64 big_a = a * 0x1.0000002p27, big_b = b * 0x1.0000002p27;
  v_f64 high_a = big_a - (big_a - a), high_b = big_b - (big_b - b);
  v_f64 low_a = a - high_a, low_b = b - high_b;
  return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
}

/* Lanes whose product keeps all its 106 bits above the smallest subnormal, and whose sum stays far from overflow. */
INLINE v_u8 is_moderate(v_f64 a, v_f64 b, v_f64 c) {
  const v_u64 magnitude = v_splat_u64(UINT64_MAX >> 1);
  v_f64 x = (v_f64)((v_u64)a & magnitude), y = (v_f64)((v_u64)b & magnitude), z = (v_f64)((v_u64)c & magnitude);
  v_u64 x_fits = ((v_u64)(x >= 0x1p-480) & (v_u64)(x <= 0x1p480)) | (v_u64)(x == 0);
  v_u64 y_fits = ((v_u64)(y >= 0x1p-480) & (v_u64)(y <= 0x1p480)) | (v_u64)(y == 0);
  return (v_u8)(x_fits & y_fits & (v_u64)(z <= 0x1p1000));
}

INLINE v_f64 v_fma_f64(v_f64 a, v_f64 b, v_f64 c) {
  v_f64 product = a * b, lost = product_error(a, b, product);
  v_f64 low_error, high_error;
  v_f64 low = two_sum(c, lost, &low_error), high = two_sum(product, low, &high_error);
  v_f64 sum = high + add_to_odd(low_error, high_error);
  /* An exact zero has the sign that an addition gives it. */
  v_u8 zero = (v_u8)(sum == 0), moderate = is_moderate(a, b, c);
  sum = (v_f64)v_select(zero, (v_u8)(product + c), (v_u8)sum);
  if (!v_any(~moderate)) return sum;
  for (unsigned i = 0; i < VB / 8; i++)
    if (((v_u64)moderate)[i] == 0) sum[i] = fma(a[i], b[i], c[i]);
  return sum;
}
