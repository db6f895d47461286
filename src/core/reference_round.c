/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers for the oracle: floats as doubles, and quotients and square roots by integers, digit by digit, rounded once
 * to the dtype that is asked for.
 */
#include <math.h>
#include <string.h>

#include "half.h"
#include "reference.h"

double red_reference_real(red_dtype dtype, const void *element) {
  red_scalar x;
  memcpy(&x, element, red_dtype_bytes(dtype));
  switch (dtype) {
  case RED_F16:
    return (double)red_f16_to_f32(x.f16);
  case RED_BF16:
    return (double)red_bf16_to_f32(x.bf16);
  case RED_F32:
    return (double)x.f32;
  default:
    return x.f64;
  }
}

typedef struct format {
  int precision; /* significant bits */
  int least;     /* exponent of the smallest subnormal */
  int overflow;  /* exponent of the first power of two beyond the greatest number */
} format;

static format format_of(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return (format){11, -24, 16};
  case RED_BF16:
    return (format){8, -133, 128};
  case RED_F32:
    return (format){24, -149, 128};
  default:
    return (format){53, -1074, 1024};
  }
}

/* whole * 2^exponent, or a little more, to nearest even; whole >= 2^55, so that it has more bits than any format. */
static double round_once(red_dtype dtype, unsigned __int128 whole, int exponent, bool more) {
  format f = format_of(dtype);
  int length = 0;
  while (length < 128 && whole >> length != 0) length++;
  int unit = exponent + length - f.precision;
  if (unit < f.least) unit = f.least;
  int drop = unit - exponent; /* > 0 */
  if (drop > length + 1) return 0;
  unsigned __int128 kept = drop < 128 ? whole >> drop : 0, rest = drop < 128 ? whole - (kept << drop) : whole;
  unsigned __int128 half = (unsigned __int128)1 << (drop - 1);
  bool up = rest > half || (rest == half && (more || (kept & 1) != 0));
  double value = ldexp((double)(uint64_t)(kept + up), unit);
  return value >= ldexp(1, f.overflow - 1) * 2 ? (double)INFINITY : value;
}

/* x > 0 as an integer of 53 bits and an exponent. */
static uint64_t integer_of(double x, int *exponent) {
  double fraction = frexp(x, exponent);
  *exponent -= 53;
  return (uint64_t)ldexp(fraction, 53);
}

double red_reference_quotient(red_dtype dtype, double x, uint64_t n) {
  if (isnan(x) || isinf(x) || x == 0) return x;
  int exponent;
  unsigned __int128 dividend = (unsigned __int128)integer_of(fabs(x), &exponent) << 70;
  double value = round_once(dtype, dividend / n, exponent - 70, dividend % n != 0);
  return signbit(x) ? -value : value;
}

double red_reference_root(red_dtype dtype, double x) {
  if (isnan(x) || isinf(x) || x == 0) return x;
  int exponent;
  unsigned __int128 rest = (unsigned __int128)integer_of(x, &exponent) << 70, root = 0;
  if (exponent % 2 != 0) {
    rest <<= 1;
    exponent--;
  }
  for (int bit = 63; bit >= 0; bit--) { /* the greatest root with root^2 <= rest */
    unsigned __int128 next = root | (unsigned __int128)1 << bit;
    if (next * next <= rest) root = next;
  }
  return round_once(dtype, root, (exponent - 70) / 2, root * root != rest);
}
