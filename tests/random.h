/* SPDX-License-Identifier: BSD-2-Clause */
/* Random input for property tests. */
#ifndef RED_TESTS_RANDOM_H
#define RED_TESTS_RANDOM_H

#include <stdbool.h>

#include <red/red.h>

typedef struct random_state {
  uint64_t state;
} random_state;

/* A stream of the run's seed; `salt` keeps the tests of a suite apart. */
random_state random_start(uint64_t salt);

uint64_t random_next(random_state *random);

/* 0 .. below - 1 */
uint64_t random_below(random_state *random, uint64_t below);

/* A length up to about `most`, often one beside a multiple of what kernels and the canonical order count in. */
uint64_t random_length(random_state *random, uint64_t most);

/*
 * n elements at any alignment: numbers of moderate size, any bits, many ties, or a mixture of zeros, ones,
 * infinities and NaNs; which of them is random too.
 */
void random_elements(random_state *random, red_dtype dtype, void *elements, uint64_t n);

/* The first of these kinds: where the order of additions shows in almost every result. */
void random_numbers(random_state *random, red_dtype dtype, void *elements, uint64_t n);

/* Floats by their bits: how many the fraction has, the infinity, and writing element i of an array. */
unsigned float_fraction(red_dtype dtype);
uint64_t float_infinity(red_dtype dtype);
void put_float(red_dtype dtype, unsigned char *array, uint64_t i, uint64_t magnitude, bool negative);

/* Finite floats of every exponent; and such of which one half undoes the other, but for something small. */
void random_exponents(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n);
void random_cancelling(random_state *random, red_dtype dtype, unsigned char *array, uint64_t n);

/* A value of the dtype for an initial value, small enough to be told from the rest. */
red_scalar random_scalar(random_state *random, red_dtype dtype);

#endif
