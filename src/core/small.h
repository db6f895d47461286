/* SPDX-License-Identifier: BSD-2-Clause */
/* Small reductions and scans of host memory, which a backend finishes sooner than the usual way to it takes. */
#ifndef RED_CORE_SMALL_H
#define RED_CORE_SMALL_H

#include "overlap.h"
#include "registry.h"

/* How the device does such a problem of n elements; NULL if it has no short way for it. */
static inline red_small_fn *red_small_find(const red_device *device, const red_lowered *lowered, uint64_t n) {
  if (device->backend->small == NULL || lowered->kind == RED_STATS || n - 1 >= red_chunk_elements(lowered)) return NULL;
  return device->backend->small(device->state, lowered);
}

/* Two ranges that do not meet. */
static inline bool red_small_apart(const void *array, uint64_t bytes, const void *other, uint64_t other_bytes) {
  const uintptr_t a = (uintptr_t)array, a_end = a + bytes, b = (uintptr_t)other, b_end = b + other_bytes;
  return array != NULL && a < a_end && b < b_end && (a_end <= b || b_end <= a);
}

/* A scan onto itself, element by element. */
static inline bool red_small_in_place(const red_lowered *lowered, const void *in, uint64_t bytes, const void *out) {
  return in == out && lowered->kind != RED_REDUCE && lowered->in_bytes == lowered->out_bytes &&
         (uintptr_t)in < (uintptr_t)in + bytes;
}

/* Arguments with which there is nothing wrong; of others the usual way says what. */
static inline bool red_small_fits(const red_lowered *lowered, const void *in, const void *in2, uint64_t n,
                                  const void *out) {
  const bool two = lowered->map == RED_MAP_PRODUCT;
  const uint64_t bytes = n * lowered->in_bytes;
  const uint64_t out_bytes = lowered->kind == RED_REDUCE ? lowered->out_bytes : n * lowered->out_bytes;
  return out != NULL && two == (in2 != NULL) &&
         (red_small_apart(in, bytes, out, out_bytes) || red_small_in_place(lowered, in, bytes, out)) &&
         (!two || red_small_apart(in2, bytes, out, out_bytes));
}

#endif
