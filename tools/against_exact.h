/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redtool verify --against-exact FILE: how far sums of a file of floats are from the exact one. The canonical sum, its
 * proven bound, and the sums that others compute, side by side; EXIT_MISMATCH if the canonical sum is beyond its bound.
 */
#ifndef REDTOOL_AGAINST_EXACT_H
#define REDTOOL_AGAINST_EXACT_H

#include "options.h"

int run_against_exact(const options *chosen);

#endif
