/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_CORE_OVERLAP_H
#define RED_CORE_OVERLAP_H

#include "lower.h"

/* RED_ERR_INVALID if there is a second input and the operator takes one, or none and it takes two. */
red_status red_check_in2(const red_lowered *lowered, const void *in2);

/* RED_ERR_INVALID if an array would wrap around the end of the address space, as any does at MAP_FAILED. */
red_status red_check_range(const char *name, uintptr_t begin, uint64_t bytes);

/* RED_ERR_INVALID if one of them is no range; RED_ERR_OVERLAP if input and output share bytes, but for a scan onto
 * itself with equal element sizes. */
red_status red_check_overlap(const red_lowered *lowered, uintptr_t in, uintptr_t out);

/* Bytes that the output takes. */
uint64_t red_out_extent(const red_lowered *lowered);

#endif
