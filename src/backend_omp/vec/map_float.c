/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of products, squares and magnitudes of floats in the canonical order. */
#include "rows.h"

#include "kernels.def"

#define KERNEL(suffix, op, in, wide)                                                                                   \
  red_state ISA(dot_##suffix)(const red_lowered *lowered, const void *data, const void *data2, size_t n) {             \
    (void)lowered;                                                                                                     \
    return reduce_rows(op, in, RED_MAP_PRODUCT, data, data2, n);                                                       \
  }                                                                                                                    \
  red_state ISA(sumsq_##suffix)(const red_lowered *lowered, const void *data, const void *data2, size_t n) {           \
    (void)lowered, (void)data2;                                                                                        \
    return reduce_rows(op, in, RED_MAP_SQUARE, data, NULL, n);                                                         \
  }                                                                                                                    \
  red_state ISA(asum_##suffix)(const red_lowered *lowered, const void *data, const void *data2, size_t n) {            \
    (void)lowered, (void)data2;                                                                                        \
    return reduce_rows(op, in, RED_MAP_ABS, data, NULL, n);                                                            \
  }
RED_MAP_FLOAT(KERNEL)
