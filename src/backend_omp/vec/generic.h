/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the compiler makes of 16-byte vectors on the base instruction set. */
#if defined(__ARM_FEATURE_FMA)
#define HAVE_FMA
INLINE v_f32 v_fma_f32(v_f32 a, v_f32 b, v_f32 c) {
  for (unsigned i = 0; i < VB / 4; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
}
INLINE v_f64 v_fma_f64(v_f64 a, v_f64 b, v_f64 c) {
  for (unsigned i = 0; i < VB / 8; i++) c[i] = __builtin_fma(a[i], b[i], c[i]);
  return c;
}
#endif

#include "portable.h"
