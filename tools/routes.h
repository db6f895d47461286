/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways by which the same problem can be computed; all must give the same bits. */
#ifndef REDTOOL_ROUTES_H
#define REDTOOL_ROUTES_H

#include <red/red.h>

/* Host arrays of the problem's size; in2 is NULL where the operator takes one input. */
typedef red_status (*route_fn)(red_context *context, const red_problem *problem, const void *in, const void *in2,
                               void *out);

/* One call. */
red_status route_whole(red_context *context, const red_problem *problem, const void *in, const void *in2, void *out);

/* An accumulator that is given pieces of many lengths. */
red_status route_pieces(red_context *context, const red_problem *problem, const void *in, const void *in2, void *out);

/* Copies in the device's memory, at an odd offset, through a plan; the result is fetched back. */
red_status route_device(red_context *context, const red_problem *problem, const void *in, const void *in2, void *out);

/* Bytes of the output, and whether it is an array. */
size_t output_bytes(const red_problem *problem);
int is_scan(const red_problem *problem);

#endif
