/* SPDX-License-Identifier: BSD-2-Clause */
/* NEON, the base of AArch64. */
#include <arm_neon.h>

#define EXTREME(T, suffix)                                                                                             \
  INLINE v_u8 v_min_##T(v_u8 a, v_u8 b) {                                                                              \
    return (v_u8)vminq_##suffix(vreinterpretq_##suffix##_u8((uint8x16_t)a),                                            \
                                vreinterpretq_##suffix##_u8((uint8x16_t)b));                                           \
  }                                                                                                                    \
  INLINE v_u8 v_max_##T(v_u8 a, v_u8 b) {                                                                              \
    return (v_u8)vmaxq_##suffix(vreinterpretq_##suffix##_u8((uint8x16_t)a),                                            \
                                vreinterpretq_##suffix##_u8((uint8x16_t)b));                                           \
  }
#define HAVE_EXTREME_I8
EXTREME(i8, s8)
#define HAVE_EXTREME_I16
EXTREME(i16, s16)
#define HAVE_EXTREME_U16
EXTREME(u16, u16)
#define HAVE_EXTREME_32
EXTREME(i32, s32)
EXTREME(u32, u32)
#undef EXTREME

#define HAVE_SUM_BYTES
INLINE v_u64 v_sum_bytes(v_u8 x) {
  return (v_u64)vpaddlq_u32(vpaddlq_u16(vpaddlq_u8((uint8x16_t)x)));
}

#define HAVE_SUM_HALFWORDS
INLINE v_i32 v_sum_halfwords(v_u8 x) {
  return (v_i32)vpaddlq_s16(vreinterpretq_s16_u8((uint8x16_t)x));
}

#define HAVE_F16
INLINE v_f32 v_f32_from_f16(const void *p) {
  return (v_f32)vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8((const uint8_t *)p)));
}

#define HAVE_BF16
INLINE v_f32 v_f32_from_bf16(const void *p) {
  return (v_f32)vshll_n_u16(vreinterpret_u16_u8(vld1_u8((const uint8_t *)p)), 16);
}

#define HAVE_F64_FROM_F32
INLINE v_f64 v_f64_from_f32(const void *p) {
  return (v_f64)vcvt_f64_f32(vreinterpret_f32_u8(vld1_u8((const uint8_t *)p)));
}

#define HAVE_FMA
INLINE v_f32 v_fma_f32(v_f32 a, v_f32 b, v_f32 c) {
  return (v_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
INLINE v_f64 v_fma_f64(v_f64 a, v_f64 b, v_f64 c) {
  return (v_f64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}

#define HAVE_MUL_EVEN_U32
INLINE v_u64 v_mul_even_u32(v_u8 a, v_u8 b) {
  return (v_u64)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}
#define HAVE_MUL_EVEN_I32
INLINE v_u64 v_mul_even_i32(v_u8 a, v_u8 b) {
  return (v_u64)vmull_s32(vmovn_s64((int64x2_t)a), vmovn_s64((int64x2_t)b));
}

#define HAVE_F64_FROM_LOW_I32
INLINE v_f64 v_f64_from_low_i32(v_i32 x) {
  return (v_f64)vcvtq_f64_s64(vmovl_s32(vget_low_s32((int32x4_t)x)));
}

#define HAVE_ANY
INLINE bool v_any(v_u8 x) {
  return vmaxvq_u32(vreinterpretq_u32_u8((uint8x16_t)x)) != 0;
}

#include "portable.h"
