/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `exact-1`: a sum of floats without any rounding, as one long integer. Adding and merging are integer additions, so no
 * order can change the value; it is rounded once, when it is asked for (exact_round.c).
 *
 * The integer counts units of 2^-2148, the smallest product of two f64; 134 digits of 32 bits hold 2^63 of the largest
 * products and the sign. Between carries a digit is any int64; infinities, NaNs and the sign of zero are flags.
 */
#ifndef RED_CORE_EXACT_H
#define RED_CORE_EXACT_H

#include "lower.h"

enum {
  RED_EXACT_DIGITS = 134,
  RED_EXACT_UNIT = -2148,            /* log2 of digit 0's lowest bit */
  RED_EXACT_F64 = 2148 - 1074,       /* the bit that the smallest f64 is */
  RED_EXACT_MOST_ADDITIONS = 1 << 30 /* between carries: each changes a digit by less than 2^32 */
};

enum {
  RED_EXACT_NAN = 1,            /* a NaN was added, or 0 times infinity */
  RED_EXACT_PLUS_INF = 2,       /* +Inf was added */
  RED_EXACT_MINUS_INF = 4,      /* -Inf was added */
  RED_EXACT_NOT_MINUS_ZERO = 8, /* something other than -0 was added */
  RED_EXACT_INFINITIES = RED_EXACT_PLUS_INF | RED_EXACT_MINUS_INF,
  RED_EXACT_ALL_FLAGS = 15
};

typedef struct red_exact {
  int64_t digit[RED_EXACT_DIGITS];
  uint32_t first, last; /* digits outside [first, last) are zero */
  uint32_t additions;   /* since the last carry */
  uint32_t flags;
} red_exact;

void red_exact_clear(red_exact *sum);

/* Add `significand` * 2^`bit` units, or subtract them; bit + 64 is within the digits. Flags are the caller's business.
 */
void red_exact_add_bits(red_exact *sum, bool negative, uint64_t significand, unsigned bit);
/* The same of a signed integer. */
void red_exact_add_integer(red_exact *sum, int64_t value, unsigned bit);

/* Add any f64, with its flags. */
void red_exact_add_f64(red_exact *sum, double x);
/* Add x[i] * 2^(8 i) units for each i < count, a multiple of 4, at most 516. */
void red_exact_add_all_integers(red_exact *sum, const __int128 *x, unsigned count);

/* Add x * 2^scale of a finite x, or of each of some. */
void red_exact_add_scaled(red_exact *sum, double x, unsigned scale);
void red_exact_add_all_scaled(red_exact *sum, const double *x, unsigned count, unsigned scale);

/* Add the product of any two f64, itself exact, with its flags. */
void red_exact_add_product(red_exact *sum, double x, double y);

/* into += from */
void red_exact_merge(red_exact *into, const red_exact *from);

/* Let digits below the highest lie in [0, 2^32); the highest one keeps the sign. */
void red_exact_carry(red_exact *sum);

/* Sign and magnitude, the one form of a value. */
typedef struct red_exact_magnitude {
  uint32_t digit[RED_EXACT_DIGITS];
  uint32_t first, last; /* nonzero digits lie in [first, last); both 0 for zero, else the last one is not zero */
  bool negative;
} red_exact_magnitude;

void red_exact_measure(const red_exact *sum, red_exact_magnitude *magnitude);

/* ---- exact_round.c ---- */

/*
 * The result of an exact problem from the sum of its `count` elements: init is added, then the sum, its root or its
 * quotient by count is rounded once, to nearest even. Writes out_bytes; RED_ERR_EMPTY where there is no result.
 */
red_status red_exact_finish(const red_lowered *lowered, const red_exact *sum, uint64_t count, void *out);

/* ---- exact_loss.c ---- */

/*
 * What a sum lacks of the true one: at most terms * 2^unit, up or down. Where the core wants nothing but the result,
 * that much may be left out: all sums so near have one result, or the sum is made again.
 */
typedef struct red_exact_loss {
  uint64_t terms;
  int unit;
  unsigned precision; /* of the result, in bits */
} red_exact_loss;

red_exact_loss red_exact_no_loss(const red_lowered *lowered);
void red_exact_lose(red_exact_loss *loss, uint64_t terms, int unit);

/* Is the loss so small beside the sum that the result is likely to be known? */
bool red_exact_is_promising(const red_exact *sum, const red_exact_loss *loss);
/* Is the result of `sum` that of the true sum? */
bool red_exact_is_settled(const red_lowered *lowered, const red_exact *sum, const red_exact_loss *loss, uint64_t count);

#endif
