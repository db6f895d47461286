/* SPDX-License-Identifier: BSD-2-Clause */
/* The two kinds of checks behind redtool verify. */
#ifndef REDTOOL_VERIFY_H
#define REDTOOL_VERIFY_H

#include "routes.h"
#include "tally.h"
#include "known_answers.h"

/* Every known answer of a file. */
void verify_vectors(struct tally *tally, red_context *context, route_fn route, const struct vector_file *file);

/*
 * Random data against red_reference: every operator on every dtype, odd lengths, any alignment, with and without an
 * initial value, other accumulators and outputs; scans also in place. The same cases on every device.
 */
void verify_random(struct tally *tally, red_context *context, route_fn route, red_kind kind);

#endif
