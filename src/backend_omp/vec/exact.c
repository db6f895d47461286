/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of floats without rounding: every element into the digits of `exact-1`. */
#include "vector.h"

#include "kernels.h"

#include "kernels.def"

INLINE double as_f64(red_dtype in, const uint8_t *p) {
  uint8_t padded[VB] = {0};
  switch (in) {
  case RED_F16:
    memcpy(padded, p, 2);
    return ((v_f64)v_f64_from_f16(padded))[0];
  case RED_BF16:
    memcpy(padded, p, 2);
    return ((v_f64)v_f64_from_bf16(padded))[0];
  case RED_F32:
    return (double)*(const f32_unaligned *)p;
  default:
    return *(const f64_unaligned *)p;
  }
}

#define KERNEL(suffix, in, bytes)                                                                                      \
  void ISA(exact_##suffix)(const void *data, size_t n, red_exact *sum) {                                               \
    const uint8_t *p = data;                                                                                           \
    for (size_t i = 0; i < n; i++) red_exact_add_f64(sum, as_f64(in, p + i * (bytes)));                                \
  }
RED_EXACT(KERNEL)
