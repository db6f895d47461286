/* SPDX-License-Identifier: BSD-2-Clause */
/* AVX-512 with F, BW, DQ and VL: 64-byte vectors. */
#include <immintrin.h>

#define EXTREME(T, suffix)                                                                                             \
  INLINE v_u8 v_min_##T(v_u8 a, v_u8 b) {                                                                              \
    return (v_u8)_mm512_min_##suffix((__m512i)a, (__m512i)b);                                                          \
  }                                                                                                                    \
  INLINE v_u8 v_max_##T(v_u8 a, v_u8 b) {                                                                              \
    return (v_u8)_mm512_max_##suffix((__m512i)a, (__m512i)b);                                                          \
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
#define HAVE_EXTREME_64
EXTREME(i64, epi64)
EXTREME(u64, epu64)
#undef EXTREME

#define HAVE_RANGE
#define RANGE(T, suffix)                                                                                               \
  INLINE v_u8 v_lesser_##T(v_u8 a, v_u8 b) {                                                                           \
    return (v_u8)_mm512_range_##suffix((v_##T)a, (v_##T)b, 4);                                                         \
  }                                                                                                                    \
  INLINE v_u8 v_greater_##T(v_u8 a, v_u8 b) {                                                                          \
    return (v_u8)_mm512_range_##suffix((v_##T)a, (v_##T)b, 5);                                                         \
  }
RANGE(f32, ps)
RANGE(f64, pd)
#undef RANGE

#define HAVE_SUM_BYTES
INLINE v_u64 v_sum_bytes(v_u8 x) {
  return (v_u64)_mm512_sad_epu8((__m512i)x, _mm512_setzero_si512());
}

#define HAVE_DOT_HALFWORDS
INLINE v_u32 v_dot_halfwords(v_u8 a, v_u8 b) {
  return (v_u32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

#define HAVE_SUM_HALFWORDS
INLINE v_i32 v_sum_halfwords(v_u8 x) {
  return (v_i32)_mm512_madd_epi16((__m512i)x, _mm512_set1_epi16(1));
}

#define HAVE_F16
INLINE v_f32 v_f32_from_f16(const void *p) {
  return (v_f32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

#define HAVE_BF16
INLINE v_f32 v_f32_from_bf16(const void *p) {
  return (v_f32)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16);
}

#define HAVE_STORE_F16
INLINE void v_store_f16(void *p, v_f32 x) {
  __m512 canonical = _mm512_mask_blend_ps(_mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q), (__m512)x,
                                          _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
  _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(canonical, _MM_FROUND_TO_NEAREST_INT));
}

#define HAVE_F64_FROM_F32
INLINE v_f64 v_f64_from_f32(const void *p) {
  return (v_f64)_mm512_cvtps_pd((__m256)_mm256_loadu_si256((const __m256i *)p));
}

#define HAVE_FMA
#define SPARE_MULTIPLIERS /* Zen multiplies and adds in different units */
INLINE v_f32 v_fma_f32(v_f32 a, v_f32 b, v_f32 c) {
  return (v_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
INLINE v_f64 v_fma_f64(v_f64 a, v_f64 b, v_f64 c) {
  return (v_f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

#define HAVE_MUL_EVEN_U32
INLINE v_u64 v_mul_even_u32(v_u8 a, v_u8 b) {
  return (v_u64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}
#define HAVE_MUL_EVEN_I32
INLINE v_u64 v_mul_even_i32(v_u8 a, v_u8 b) {
  return (v_u64)_mm512_mul_epi32((__m512i)a, (__m512i)b);
}

#define HAVE_F64_FROM_HALF
INLINE v_f64 v_f64_from_f16(const void *p) {
  return (v_f64)_mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_bf16(const void *p) {
  __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
  return (v_f64)_mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16)));
}

#define HAVE_F64_FROM_NARROW
INLINE v_f64 v_f64_from_i8(const void *p) {
  return (v_f64)_mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_u8(const void *p) {
  return (v_f64)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_i16(const void *p) {
  return (v_f64)_mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_u16(const void *p) {
  return (v_f64)_mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)));
}
INLINE v_f64 v_f64_from_i32(const void *p) {
  return (v_f64)_mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)p));
}
INLINE v_f64 v_f64_from_u32(const void *p) {
  return (v_f64)_mm512_cvtepu32_pd(_mm256_loadu_si256((const __m256i *)p));
}

#define HAVE_F64_FROM_64
INLINE v_f64 v_f64_from_u64(v_u64 x) {
  return (v_f64)_mm512_cvtepu64_pd((__m512i)x);
}
INLINE v_f64 v_f64_from_i64(v_u64 x) {
  return (v_f64)_mm512_cvtepi64_pd((__m512i)x);
}

#define HAVE_NIBBLES /* with AVX2 alone the instruction may be slow */
INLINE size_t nibbles_at(uint64_t word, unsigned low, unsigned high) {
  return _pext_u64(word, (uint64_t)0xf << low | (uint64_t)0xf << high);
}

/* A mask costs nothing: count may also be 0 or a whole vector's. */
#define HAVE_LOAD_PARTIAL
#define HAVE_MASKS
INLINE v_u8 v_load_partial(const void *p, size_t count, unsigned bytes, v_u8 pad) {
  return (v_u8)_mm512_mask_loadu_epi8((__m512i)pad, _bzhi_u64(~(uint64_t)0, (unsigned)count * bytes), p);
}

/* Elements of 4 or 8 bytes, those whose bit is set; bits beyond a vector's do not matter. */
INLINE v_u8 v_load_masked(const void *p, uint64_t mask, unsigned bytes, v_u8 pad) {
  return bytes == 4 ? (v_u8)_mm512_mask_loadu_epi32((__m512i)pad, (__mmask16)mask, p)
                    : (v_u8)_mm512_mask_loadu_epi64((__m512i)pad, (__mmask8)mask, p);
}

INLINE void v_store_partial(void *p, size_t count, unsigned bytes, v_u8 x) {
  _mm512_mask_storeu_epi8(p, _bzhi_u64(~(uint64_t)0, (unsigned)count * bytes), (__m512i)x);
}

/* A bit for each element. */
#define HAVE_FOUND
typedef uint64_t v_found;
INLINE v_found v_equal(v_u8 a, v_u8 b, unsigned bytes) {
  switch (bytes) {
  case 1:
    return _mm512_cmpeq_epi8_mask((__m512i)a, (__m512i)b);
  case 2:
    return _mm512_cmpeq_epi16_mask((__m512i)a, (__m512i)b);
  case 4:
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
  default:
    return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
  }
}
INLINE v_found v_greater(v_u8 a, v_u8 b, unsigned bytes) {
  switch (bytes) {
  case 1:
    return _mm512_cmpgt_epi8_mask((__m512i)a, (__m512i)b);
  case 2:
    return _mm512_cmpgt_epi16_mask((__m512i)a, (__m512i)b);
  case 4:
    return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
  default:
    return _mm512_cmpgt_epi64_mask((__m512i)a, (__m512i)b);
  }
}
INLINE bool v_found_any(v_found found) {
  return found != 0;
}
INLINE size_t v_found_first(v_found found, unsigned bytes) {
  (void)bytes;
  return (size_t)__builtin_ctzll(found);
}

#define HAVE_STREAM
INLINE void v_stream(void *p, v_u8 x) {
  _mm512_stream_si512((__m512i *)p, (__m512i)x);
}
INLINE void v_stream_16(void *p, v_u8 x) {
  _mm_stream_si128((__m128i *)p, _mm512_castsi512_si128((__m512i)x));
  _mm_stream_si128((__m128i *)p + 1, _mm512_extracti32x4_epi32((__m512i)x, 1));
  _mm_stream_si128((__m128i *)p + 2, _mm512_extracti32x4_epi32((__m512i)x, 2));
  _mm_stream_si128((__m128i *)p + 3, _mm512_extracti32x4_epi32((__m512i)x, 3));
}
INLINE void v_stream_end(void) {
  _mm_sfence();
}

#include "portable.h"
