/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of products, their magnitudes, squares and magnitudes of floats in the canonical order. */
#include "rows.h"

#include "kernels.def"

#define KERNEL(suffix, op, in, wide)                                                                                   \
  ROWS_KERNEL(dot_##suffix, op, in, RED_MAP_PRODUCT, data2, const void *data, const void *data2)                       \
  ROWS_KERNEL(abs_dot_##suffix, op, in, RED_MAP_ABS_PRODUCT, data2, const void *data, const void *data2)               \
  ROWS_KERNEL(sumsq_##suffix, op, in, RED_MAP_SQUARE, data2, const void *data, const void *data2)                      \
  ROWS_KERNEL(asum_##suffix, op, in, RED_MAP_ABS, data2, const void *data, const void *data2)
RED_MAP_FLOAT(KERNEL)
