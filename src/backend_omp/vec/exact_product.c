/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact sums of products and squares of types narrower than f64, each of which is a double. */
#include "exact_block.h"

#include "kernels.def"

#define KERNEL(name, in, map)                                                                                          \
  void ISA(exact_##name)(const void *data, const void *data2, size_t n, red_exact *sum, red_exact_loss *loss) {        \
    add_terms(in, map, data, data2, n, sum, loss);                                                                     \
  }
RED_EXACT_PRODUCT(KERNEL)
