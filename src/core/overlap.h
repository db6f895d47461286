/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_CORE_OVERLAP_H
#define RED_CORE_OVERLAP_H

#include "lower.h"

/* What red_check_in2 says where not exactly those operators that take two inputs have a second one. */
red_status red_check_unusual_in2(const red_lowered *lowered, const void *in2);

/* RED_ERR_INVALID if there is a second input and the operator takes one, or none and it takes two. */
static inline red_status red_check_in2(const red_lowered *lowered, const void *in2) {
  return (lowered->map == RED_MAP_PRODUCT) == (in2 != NULL) ? RED_OK : red_check_unusual_in2(lowered, in2);
}

/* RED_ERR_INVALID if an array would wrap around the end of the address space, as any does at MAP_FAILED. */
red_status red_check_range(const char *name, uintptr_t begin, uint64_t bytes);

/* Bytes that the output takes. */
static inline uint64_t red_out_extent(const red_lowered *lowered) {
  if (lowered->kind == RED_STATS) return sizeof(red_stats_result);
  if (lowered->bounded) return sizeof(red_bounded);
  return lowered->out_bytes * (lowered->kind == RED_REDUCE ? 1 : lowered->n);
}

/* What red_check_overlap says of arrays that are not simply one behind the other. */
red_status red_check_touching(const red_lowered *lowered, uintptr_t in, uintptr_t out);

/* RED_ERR_INVALID if one of them is no range; RED_ERR_OVERLAP if input and output share bytes, but for a scan onto
 * itself with equal element sizes. */
static inline red_status red_check_overlap(const red_lowered *lowered, uintptr_t in, uintptr_t out) {
  uintptr_t in_end = in + lowered->n * lowered->in_bytes, out_end = out + red_out_extent(lowered);
  bool ranges = in < in_end && out < out_end;
  return ranges && (in_end <= out || out_end <= in) ? RED_OK : red_check_touching(lowered, in, out);
}

#endif
