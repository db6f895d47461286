/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact sums of the elements themselves. */
#include "exact_block.h"

#include "kernels.def"

INLINE void add(red_dtype in, const void *data, size_t n, red_exact *sum) {
  const unsigned bytes = bytes_of(in);
  const uint8_t *p = data;
  bins room;
  binning b = {.bins = &room};
  course c = {.binning = &b};
  for (size_t i = 0; i < n && (sum->flags & RED_EXACT_NAN) == 0; i += BLOCK) {
    size_t here = n - i < BLOCK ? n - i : BLOCK;
    if (in == RED_F64)
      add_block_wide(p + i * bytes, here, &c, sum);
    else
      add_block_narrow(in, p + i * bytes, here, &c, sum);
  }
  if (b.used) bins_flush(&b, in, sum);
}

#define KERNEL(name, in, map)                                                                                          \
  void ISA(exact_##name)(const void *data, const void *data2, size_t n, red_exact *sum) {                              \
    (void)data2;                                                                                                       \
    add(in, data, n, sum);                                                                                             \
  }
RED_EXACT(KERNEL)
