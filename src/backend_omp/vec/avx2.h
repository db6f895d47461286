/* SPDX-License-Identifier: BSD-2-Clause */
/* AVX2 and F16C: 32-byte vectors. */
#include <immintrin.h>

#define EXTREME(T, suffix)                                                                                             \
  INLINE v_u8 v_min_##T(v_u8 a, v_u8 b) {                                                                              \
    return (v_u8)_mm256_min_##suffix((__m256i)a, (__m256i)b);                                                          \
  }                                                                                                                    \
  INLINE v_u8 v_max_##T(v_u8 a, v_u8 b) {                                                                              \
    return (v_u8)_mm256_max_##suffix((__m256i)a, (__m256i)b);                                                          \
  }
#define HAVE_EXTREME_I8
EXTREME(i8, epi8)
#define HAVE_EXTREME_I16
EXTREME(i16, epi16)
#define HAVE_EXTREME_U16
EXTREME(u16, epu16)
#define HAVE_EXTREME_32
EXTREME(i32, epi32)
EXTREME(u32, epu32)
#undef EXTREME

#if defined(RED_ISA_avx512_half)
#define HAVE_RANGE
#define RANGE(T, suffix)                                                                                               \
  INLINE v_u8 v_lesser_##T(v_u8 a, v_u8 b) {                                                                           \
    return (v_u8)_mm256_range_##suffix((v_##T)a, (v_##T)b, 4);                                                         \
  }                                                                                                                    \
  INLINE v_u8 v_greater_##T(v_u8 a, v_u8 b) {                                                                          \
    return (v_u8)_mm256_range_##suffix((v_##T)a, (v_##T)b, 5);                                                         \
  }
RANGE(f32, ps)
RANGE(f64, pd)
#undef RANGE
#endif

#define HAVE_SUM_BYTES
INLINE v_u64 v_sum_bytes(v_u8 x) {
  return (v_u64)_mm256_sad_epu8((__m256i)x, _mm256_setzero_si256());
}

#define HAVE_DOT_HALFWORDS
INLINE v_u32 v_dot_halfwords(v_u8 a, v_u8 b) {
  return (v_u32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

#define HAVE_SUM_HALFWORDS
INLINE v_i32 v_sum_halfwords(v_u8 x) {
  return (v_i32)_mm256_madd_epi16((__m256i)x, _mm256_set1_epi16(1));
}

#define HAVE_F16
INLINE v_f32 v_f32_from_f16(const void *p) {
  return (v_f32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

#define HAVE_BF16
INLINE v_f32 v_f32_from_bf16(const void *p) {
  return (v_f32)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16);
}

#define HAVE_STORE_F16
INLINE void v_store_f16(void *p, v_f32 x) {
  v_u8 canonical = v_select((v_u8)(x != x), (v_u8)v_splat_u32(0x7fc00000), (v_u8)x);
  _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)canonical, _MM_FROUND_TO_NEAREST_INT));
}

#define HAVE_F64_FROM_F32
INLINE v_f64 v_f64_from_f32(const void *p) {
  return (v_f64)_mm256_cvtps_pd((__m128)_mm_loadu_si128((const __m128i *)p));
}

#define HAVE_FMA
#define SPARE_MULTIPLIERS /* Zen multiplies and adds in different units */
INLINE v_f32 v_fma_f32(v_f32 a, v_f32 b, v_f32 c) {
  return (v_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
INLINE v_f64 v_fma_f64(v_f64 a, v_f64 b, v_f64 c) {
  return (v_f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

#define HAVE_MUL_EVEN_U32
INLINE v_u64 v_mul_even_u32(v_u8 a, v_u8 b) {
  return (v_u64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
#define HAVE_MUL_EVEN_I32
INLINE v_u64 v_mul_even_i32(v_u8 a, v_u8 b) {
  return (v_u64)_mm256_mul_epi32((__m256i)a, (__m256i)b);
}

#define HAVE_F64_FROM_HALF
INLINE v_f64 v_f64_from_f16(const void *p) {
  return (v_f64)_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_bf16(const void *p) {
  __m128i wide = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)p));
  return (v_f64)_mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(wide, 16)));
}

#define HAVE_F64_FROM_NARROW
INLINE v_f64 v_f64_from_i8(const void *p) {
  int32_t four;
  memcpy(&four, p, sizeof four);
  return (v_f64)_mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
}
INLINE v_f64 v_f64_from_u8(const void *p) {
  int32_t four;
  memcpy(&four, p, sizeof four);
  return (v_f64)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
}
INLINE v_f64 v_f64_from_i16(const void *p) {
  return (v_f64)_mm256_cvtepi32_pd(_mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_u16(const void *p) {
  return (v_f64)_mm256_cvtepi32_pd(_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_i32(const void *p) {
  return (v_f64)_mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)p));
}
INLINE v_f64 v_f64_from_u32(const void *p) { /* signed by a bias */
  __m128i biased = _mm_xor_si128(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi32(INT32_MIN));
  return (v_f64)_mm256_cvtepi32_pd(biased) + 0x1p31;
}

#define HAVE_LOAD_PARTIAL
INLINE v_u8 v_load_partial(const void *p, size_t count, unsigned bytes, v_u8 pad) {
  const size_t size = count * bytes;
  const v_u32 word = {0, 1, 2, 3, 4, 5, 6, 7};
  v_u8 mask = (v_u8)((v_i32)word < (int32_t)(size / 4));
  v_u8 x = (v_u8)_mm256_maskload_epi32((const int *)p, (__m256i)mask);
  if (bytes < 4) { /* no loads by the byte: what is left of a word is put together */
    const uint8_t *left = (const uint8_t *)p + size / 4 * 4;
    uint32_t last = 0;
    if (bytes == 1 && size % 2 != 0) last = left[size % 4 - 1];
    if (size % 4 >= 2) last = last << 16 | *(const u16_unaligned *)left;
    const v_u8 number = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                         16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    x = v_select(mask, x, (v_u8)v_splat_u32(last));
    mask = (v_u8)(number < (uint8_t)size);
  }
  return v_select(mask, x, pad);
}

#define HAVE_ANY
INLINE bool v_any(v_u8 x) {
  return !_mm256_testz_si256((__m256i)x, (__m256i)x);
}

#define HAVE_FIRST_SET
INLINE size_t v_first_set(v_u8 x) {
  unsigned zeros = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8((__m256i)x, _mm256_setzero_si256()));
  return (size_t)__builtin_ctz(~zeros);
}

#define HAVE_STREAM
INLINE void v_stream(void *p, v_u8 x) {
  _mm256_stream_si256((__m256i *)p, (__m256i)x);
}
INLINE void v_stream_16(void *p, v_u8 x) {
  _mm_stream_si128((__m128i *)p, _mm256_castsi256_si128((__m256i)x));
  _mm_stream_si128((__m128i *)p + 1, _mm256_extracti128_si256((__m256i)x, 1));
}
INLINE void v_stream_end(void) {
  _mm_sfence();
}

#include "portable.h"
