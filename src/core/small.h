/* SPDX-License-Identifier: BSD-2-Clause */
/* Small reductions of host memory, which a backend finishes sooner than the usual way to it takes. */
#ifndef RED_CORE_SMALL_H
#define RED_CORE_SMALL_H

#include "overlap.h"
#include "registry.h"

/* How the device does such a reduction of n elements; NULL if it has no short way for it. */
static inline red_small_fn *red_small_find(const red_device *device, const red_lowered *lowered, uint64_t n) {
  if (device->backend->small == NULL || lowered->kind != RED_REDUCE || n - 1 >= red_chunk_elements(lowered))
    return NULL;
  return device->backend->small(device->state, lowered);
}

static inline bool red_small_apart(const red_lowered *lowered, const void *array, uint64_t n, const void *out) {
  const uintptr_t in = (uintptr_t)array, in_end = in + n * lowered->in_bytes;
  const uintptr_t to = (uintptr_t)out, to_end = to + lowered->out_bytes;
  return array != NULL && in < in_end && to < to_end && (in_end <= to || to_end <= in);
}

/* Arguments with which there is nothing wrong; of others the usual way says what. */
static inline bool red_small_fits(const red_lowered *lowered, const void *in, const void *in2, uint64_t n,
                                  const void *out) {
  const bool two = lowered->map == RED_MAP_PRODUCT;
  return out != NULL && red_small_apart(lowered, in, n, out) && two == (in2 != NULL) &&
         (!two || red_small_apart(lowered, in2, n, out));
}

#endif
