/* SPDX-License-Identifier: BSD-2-Clause */
#include "random.h"

#include <stdbool.h>
#include <string.h>

#include "suite.h"

/* splitmix64 (Steele, Lea and Flood 2014) */
uint64_t random_next(random_state *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

random_state random_start(uint64_t salt) {
  random_state random = {suite_seed() ^ salt << 48};
  random_next(&random);
  return random;
}

uint64_t random_below(random_state *random, uint64_t below) {
  return random_next(random) % below;
}

uint64_t random_length(random_state *random, uint64_t most) {
  static const uint64_t units[] = {1, 8, 16, 32, 64, 128, 256, 1024, 2048, 4096, 8192, 65536};
  uint64_t unit = units[random_below(random, sizeof units / sizeof *units)];
  if (unit > most) unit = 1;
  if (random_below(random, 3) == 0) return random_below(random, most + 1);
  uint64_t n = unit * (1 + random_below(random, most / unit)) + random_below(random, 3);
  return n > 0 ? n - 1 : 0;
}

static unsigned fraction_bits(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return 10;
  case RED_BF16:
    return 7;
  case RED_F32:
    return 23;
  case RED_F64:
    return 52;
  default:
    return 0;
  }
}

/* Bits of 1, 2, -1 ...: a float in +-[2^-k, 2^k), k small; integers: any bits. */
static uint64_t moderate(red_dtype dtype, uint64_t bits) {
  unsigned width = 8 * (unsigned)red_dtype_bytes(dtype), fraction = fraction_bits(dtype);
  if (fraction == 0) return bits;
  uint64_t bias = ((uint64_t)1 << (width - fraction - 2)) - 1;
  uint64_t exponent = bias - 3 + (bits >> 58) % 7;
  uint64_t sign = bits >> 57 & 1;
  return sign << (width - 1) | exponent << fraction | (bits & (((uint64_t)1 << fraction) - 1));
}

static uint64_t special(red_dtype dtype, uint64_t choice) {
  unsigned width = 8 * (unsigned)red_dtype_bytes(dtype), fraction = fraction_bits(dtype);
  uint64_t sign = (choice >> 4 & 1) << (width - 1);
  if (fraction == 0) { /* the ends of the range, zero and their neighbours */
    uint64_t top = (uint64_t)1 << (width - 1);
    return (choice & 1 ? top : 0) + (choice >> 1) % 5 - 2;
  }
  uint64_t inf = (((uint64_t)1 << (width - 1 - fraction)) - 1) << fraction;
  uint64_t one = (inf >> 1) & ~(((uint64_t)1 << fraction) - 1);
  const uint64_t values[] = {0, 0, 1, one, one, one + 1, inf - 1, inf, inf + 1, inf | inf >> 1};
  return sign | values[(choice & 15) % (sizeof values / sizeof *values)];
}

/* Zeros, of both signs where there are two, and ones of one sign: an extremum that occurs often. */
static uint64_t tied(red_dtype dtype, uint64_t next, bool negative) {
  uint64_t sign = (uint64_t)1 << (8 * red_dtype_bytes(dtype) - 1);
  if (fraction_bits(dtype) == 0) return next % 2 == 0 ? 0 : negative ? UINT64_MAX : 1;
  const uint64_t values[] = {0, sign, special(dtype, 3) | (negative ? sign : 0)};
  return values[next % 3];
}

enum style {
  MODERATE,
  ANY_BITS,
  SPECIAL,
  RARELY_SPECIAL,
  NEGATIVE_ZEROS,
  TIED,
  STYLES
};

static void fill(random_state *random, enum style style, red_dtype dtype, unsigned char *elements, uint64_t n) {
  size_t bytes = red_dtype_bytes(dtype);
  bool negative = random_below(random, 2) == 0;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t next = random_next(random), bits = moderate(dtype, next);
    if (style == ANY_BITS) bits = next;
    if (style == SPECIAL || (style == RARELY_SPECIAL && next % 509 == 0)) bits = special(dtype, next >> 32);
    if (style == NEGATIVE_ZEROS) bits = (uint64_t)1 << (8 * bytes - 1);
    if (style == TIED) bits = tied(dtype, next >> 16, negative);
    memcpy(elements + i * bytes, &bits, bytes); /* little endian */
  }
}

void random_elements(random_state *random, red_dtype dtype, void *elements, uint64_t n) {
  uint64_t style = random_below(random, STYLES + 2); /* moderate more often */
  fill(random, style < STYLES ? (enum style)style : MODERATE, dtype, elements, n);
}

void random_numbers(random_state *random, red_dtype dtype, void *elements, uint64_t n) {
  fill(random, MODERATE, dtype, elements, n);
}

void random_exponents(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    put_float(dtype, array, i, random_below(random, float_infinity(dtype)), random_below(random, 2) != 0);
}

void random_cancelling(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n) {
  size_t bytes = red_dtype_bytes(dtype);
  random_exponents(random, dtype, array, n);
  for (uint64_t i = 0; i < n / 2; i++) {
    memcpy(array + (n - 1 - i) * bytes, array + i * bytes, bytes);
    array[(n - i) * bytes - 1] ^= 0x80;
  }
  put_float(dtype, array, n / 2, 1 + random_below(random, 3), random_below(random, 2) != 0);
}

red_scalar random_scalar(random_state *random, red_dtype dtype) {
  red_scalar scalar = {.u64 = 0};
  uint64_t next = random_next(random);
  scalar.u64 = next % 4 == 0 ? special(dtype, next >> 32) : moderate(dtype, next);
  if (red_dtype_bytes(dtype) < 8) scalar.u64 &= ((uint64_t)1 << (8 * red_dtype_bytes(dtype))) - 1;
  return scalar;
}

/* ---- By their bits ---- */

unsigned float_fraction(red_dtype dtype) {
  return dtype == RED_F16 ? 10 : dtype == RED_BF16 ? 7 : dtype == RED_F32 ? 23 : 52;
}

uint64_t float_infinity(red_dtype dtype) {
  unsigned bits = 8 * (unsigned)red_dtype_bytes(dtype) - 1, fraction = float_fraction(dtype);
  return (((uint64_t)1 << (bits - fraction)) - 1) << fraction;
}

void put_float(red_dtype dtype, unsigned char *array, uint64_t i, uint64_t magnitude, bool negative) {
  size_t bytes = red_dtype_bytes(dtype);
  uint64_t element = magnitude | (uint64_t)negative << (8 * bytes - 1);
  memcpy(array + i * bytes, &element, bytes);
}
