/* SPDX-License-Identifier: BSD-2-Clause */
/* f16 and bf16 on the host: exact widening, one rounding (nearest, ties to even) when narrowing, canonical NaN. */
#ifndef RED_CORE_HALF_H
#define RED_CORE_HALF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t red_f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float red_f32_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint64_t red_f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double red_f64_from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline float red_f16_to_f32(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return red_f32_from_bits(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return red_f32_from_bits(sign | ((exponent + 112) << 23) | (fraction << 13));
  float magnitude = (float)fraction * 0x1p-24f; /* subnormal: exact */
  return red_f32_from_bits(sign | red_f32_bits(magnitude));
}

static inline float red_bf16_to_f32(uint16_t half) {
  return red_f32_from_bits((uint32_t)half << 16);
}

/*
 * Round a double to a format of 16 bits with `fraction_bits` stored fraction bits and exponent bias `bias`. Going
 * through the bits of the double rounds once, whatever type the value came from.
 */
static inline uint16_t red_round_to_half(double value, int fraction_bits, int bias) {
  uint64_t bits = red_f64_bits(value);
  uint16_t sign = (uint16_t)((bits >> 48) & 0x8000u);
  uint16_t infinity = (uint16_t)(0x7fffu >> fraction_bits << fraction_bits);
  if (isnan(value)) return (uint16_t)(infinity | (1u << (fraction_bits - 1)));
  int exponent = (int)((bits >> 52) & 0x7ffu) - 1023 + bias; /* biased as in the target */
  uint64_t fraction = bits & 0xfffffffffffffu;
  if (((bits >> 52) & 0x7ffu) == 0x7ff) return (uint16_t)(sign | infinity);
  int shift = 52 - fraction_bits;
  uint64_t significand = fraction | ((uint64_t)1 << 52);
  if (((bits >> 52) & 0x7ffu) == 0) significand = fraction; /* far below either format's smallest subnormal */
  if (exponent <= 0) {                                      /* subnormal in the target */
    shift += 1 - exponent;
    if (shift > 63) return sign;
    exponent = 0;
  } else {
    significand &= 0xfffffffffffffu;
  }
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  uint64_t rounded = ((uint64_t)exponent << fraction_bits) + kept;
  if (rest > half || (rest == half && (kept & 1))) rounded += 1; /* a carry moves into the exponent, as it should */
  if (rounded >= infinity) return (uint16_t)(sign | infinity);
  return (uint16_t)(sign | rounded);
}

static inline uint16_t red_f64_to_f16(double value) {
  return red_round_to_half(value, 10, 15);
}
static inline uint16_t red_f64_to_bf16(double value) {
  return red_round_to_half(value, 7, 127);
}

static inline float red_canonical_f32(float value) {
  return isnan(value) ? red_f32_from_bits(0x7fc00000u) : value;
}
static inline double red_canonical_f64(double value) {
  return isnan(value) ? red_f64_from_bits(0x7ff8000000000000u) : value;
}

#endif
