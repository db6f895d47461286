/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_CORE_REFERENCE_H
#define RED_CORE_REFERENCE_H

#include "lower.h"

/* red_reference() for a caller that has entered the floating-point environment (fpenv.h) and checked its pointers. */
red_status red_reference_in_fpenv(const red_problem *problem, const void *in, const void *in2, void *out);

/* The same for statistics; writes a red_stats_result of any alignment. */
red_status red_reference_stats(const red_problem *problem, const red_lowered *lowered, const void *in, void *out);

/* sum / count, rounded once to nearest even. */
double red_reference_divide(__int128 sum, uint64_t count);

/* The double that equals a float of any dtype, at any alignment. */
double red_reference_real(red_dtype dtype, const void *element);

/* x / n and the square root of x >= 0, rounded once to nearest even in a float dtype: the double that equals it. */
double red_reference_quotient(red_dtype dtype, double x, uint64_t n);
double red_reference_root(red_dtype dtype, double x);
/* A problem with `bound`; writes a red_bounded of any alignment. */
red_status red_reference_bounded(const red_problem *problem, const red_lowered *lowered, const void *in,
                                 const void *in2, void *out);
/* The canonical sum of the magnitudes of what such a problem, resolved, adds up. */
double red_reference_magnitudes(const red_problem *problem, const void *in, const void *in2);

/* An exact reduction. */
red_status red_reference_exact(const red_lowered *lowered, const void *in, const void *in2, void *out);

#endif
