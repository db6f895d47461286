/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact sums of the elements themselves and of their magnitudes. */
#include "exact_block.h"

#include "kernels.def"

#define KERNEL(name, in, map)                                                                                          \
  void ISA(exact_##name)(const void *data, const void *data2, size_t n, red_exact *sum, red_exact_loss *loss) {        \
    (void)data2;                                                                                                       \
    add_terms(in, map, data, NULL, n, sum, loss);                                                                      \
  }
RED_EXACT(KERNEL)
