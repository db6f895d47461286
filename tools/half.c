/* SPDX-License-Identifier: BSD-2-Clause */
#include "half.h"

#include <math.h>

/* A 16-bit format: sign, exponent field, `fraction` bits. */
typedef struct layout {
  int fraction;
  int least; /* exponent of the smallest subnormal number */
  unsigned infinity;
} layout;

static const layout f16 = {10, -24, 0x7c00};
static const layout bf16 = {7, -133, 0x7f80};

static double decode(layout l, unsigned bits) {
  const unsigned magnitude = bits & 0x7fff;
  const unsigned field = magnitude >> l.fraction, fraction = magnitude & ((1u << l.fraction) - 1);
  double value;
  if (magnitude > l.infinity) return NAN;
  if (magnitude == l.infinity)
    value = INFINITY;
  else if (field == 0)
    value = ldexp(fraction, l.least);
  else
    value = ldexp((1u << l.fraction) + fraction, l.least + (int)field - 1);
  return bits >> 15 ? -value : value;
}

/* The numbers of a format are the integer multiples of each binade's unit, and their bits count up with them. */
static uint16_t encode(layout l, double value) {
  const unsigned sign = signbit(value) ? 0x8000 : 0;
  int exponent;
  if (isnan(value)) return (uint16_t)(l.infinity | 1u << (l.fraction - 1));
  if (isinf(value)) return (uint16_t)(sign | l.infinity);
  frexp(value, &exponent);
  int unit = exponent - 1 - l.fraction;
  if (unit < l.least || value == 0) unit = l.least;
  const double multiple = nearbyint(ldexp(fabs(value), -unit));
  const double bits = multiple + ldexp(unit - l.least, l.fraction);
  return (uint16_t)(sign | (bits > l.infinity ? l.infinity : (unsigned)bits));
}

double f16_to_double(uint16_t bits) {
  return decode(f16, bits);
}
double bf16_to_double(uint16_t bits) {
  return decode(bf16, bits);
}
uint16_t double_to_f16(double value) {
  return encode(f16, value);
}
uint16_t double_to_bf16(double value) {
  return encode(bf16, value);
}
