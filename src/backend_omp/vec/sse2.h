/* SPDX-License-Identifier: BSD-2-Clause */
/* SSE2: the base of x86-64. */
#include <emmintrin.h>

#define HAVE_EXTREME_I16
INLINE v_u8 v_min_i16(v_u8 a, v_u8 b) {
  return (v_u8)_mm_min_epi16((__m128i)a, (__m128i)b);
}
INLINE v_u8 v_max_i16(v_u8 a, v_u8 b) {
  return (v_u8)_mm_max_epi16((__m128i)a, (__m128i)b);
}

/* By halves: where the upper ones are equal, the upper half of the difference is the borrow. */
#define HAVE_GREATER_64
INLINE v_u8 v_greater_i64(v_u8 a, v_u8 b) {
  const v_i32 equal = (v_i32)a == (v_i32)b, greater = (v_i32)a > (v_i32)b;
  const v_i32 upper = greater | (equal & (v_i32)((v_u64)b - (v_u64)a));
  return (v_u8)__builtin_shufflevector(upper, upper, 1, 1, 3, 3);
}
INLINE v_u8 v_greater_u64(v_u8 a, v_u8 b) {
  const v_u8 sign = (v_u8)v_splat_u64(0x8000000000000000);
  return v_greater_i64(a ^ sign, b ^ sign);
}

#define HAVE_EXTREME_64
#define EXTREME(T)                                                                                                     \
  INLINE v_u8 v_min_##T(v_u8 a, v_u8 b) {                                                                              \
    return v_select(v_greater_##T(b, a), a, b);                                                                        \
  }                                                                                                                    \
  INLINE v_u8 v_max_##T(v_u8 a, v_u8 b) {                                                                              \
    return v_select(v_greater_##T(a, b), a, b);                                                                        \
  }
EXTREME(i64)
EXTREME(u64)
#undef EXTREME

#define HAVE_SUM_BYTES
INLINE v_u64 v_sum_bytes(v_u8 x) {
  return (v_u64)_mm_sad_epu8((__m128i)x, _mm_setzero_si128());
}

#define HAVE_DOT_HALFWORDS
INLINE v_u32 v_dot_halfwords(v_u8 a, v_u8 b) {
  return (v_u32)_mm_madd_epi16((__m128i)a, (__m128i)b);
}

#define HAVE_SUM_HALFWORDS
INLINE v_i32 v_sum_halfwords(v_u8 x) {
  return (v_i32)_mm_madd_epi16((__m128i)x, _mm_set1_epi16(1));
}

#define HAVE_F16
INLINE v_f32 v_f32_from_f16(const void *p) {
  v_u32 half = (v_u32)_mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
  v_u32 sign = (half & 0x8000) << 16;
  v_f32 value = (v_f32)((half & 0x7fff) << 13) * 0x1p112f;
  v_u32 special = (v_u32)((half & 0x7c00) == 0x7c00) & 0x7f800000;
  return (v_f32)((v_u32)value | sign | special);
}

#define HAVE_BF16
INLINE v_f32 v_f32_from_bf16(const void *p) {
  return (v_f32)_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)p));
}

#define HAVE_F64_FROM_F32
INLINE v_f64 v_f64_from_f32(const void *p) {
  return (v_f64)_mm_cvtps_pd((__m128)_mm_loadl_epi64((const __m128i *)p));
}

#define HAVE_WIDEN
INLINE v_f64 v_widen_low(v_f32 x) {
  return (v_f64)_mm_cvtps_pd((__m128)x);
}
INLINE v_f64 v_widen_high(v_f32 x) {
  return (v_f64)_mm_cvtps_pd(_mm_movehl_ps((__m128)x, (__m128)x));
}
INLINE v_f32 v_narrow(v_f64 low, v_f64 high) {
  return (v_f32)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)low), _mm_cvtpd_ps((__m128d)high));
}

#define HAVE_MUL_EVEN_U32
INLINE v_u64 v_mul_even_u32(v_u8 a, v_u8 b) {
  return (v_u64)_mm_mul_epu32((__m128i)a, (__m128i)b);
}

#define HAVE_F64_FROM_LOW_I32
INLINE v_f64 v_f64_from_low_i32(v_i32 x) {
  return (v_f64)_mm_cvtepi32_pd((__m128i)x);
}

#define HAVE_ANY
INLINE bool v_any(v_u8 x) {
  return _mm_movemask_epi8((__m128i)(x == 0)) != 0xffff;
}

#define HAVE_STREAM
INLINE void v_stream(void *p, v_u8 x) {
  _mm_stream_si128((__m128i *)p, (__m128i)x);
}
INLINE void v_stream_16(void *p, v_u8 x) {
  v_stream(p, x);
}
INLINE void v_stream_end(void) {
  _mm_sfence();
}

#include "portable.h"
