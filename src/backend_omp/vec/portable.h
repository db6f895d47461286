/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The primitives of an instruction set in plain vector extensions. An instruction set's header defines HAVE_x for each
 * one that it brings itself and includes this file for the rest.
 */

/* Minima and maxima by comparing. */
#define EXTREME(T)                                                                                                     \
  INLINE v_u8 v_min_##T(v_u8 a, v_u8 b) {                                                                              \
    return v_select((v_u8)((v_##T)a < (v_##T)b), a, b);                                                                \
  }                                                                                                                    \
  INLINE v_u8 v_max_##T(v_u8 a, v_u8 b) {                                                                              \
    return v_select((v_u8)((v_##T)a > (v_##T)b), a, b);                                                                \
  }

#ifndef HAVE_EXTREME_I8
EXTREME(i8)
#endif
#ifndef HAVE_EXTREME_I16
EXTREME(i16)
#endif
#ifndef HAVE_EXTREME_U16
EXTREME(u16)
#endif
#ifndef HAVE_EXTREME_32
EXTREME(i32)
EXTREME(u32)
#endif
#ifndef HAVE_EXTREME_64
EXTREME(i64)
EXTREME(u64)
#endif
#undef EXTREME

/* The lesser and the greater of two numbers, -0 being less than +0. Of a NaN and another either may come. */
#ifndef HAVE_RANGE
#define RANGE(T)                                                                                                       \
  INLINE v_u8 v_lesser_##T(v_u8 a, v_u8 b) {                                                                           \
    return v_select((v_u8)((v_##T)a < (v_##T)b), a, v_select((v_u8)((v_##T)a > (v_##T)b), b, a | b));                  \
  }                                                                                                                    \
  INLINE v_u8 v_greater_##T(v_u8 a, v_u8 b) {                                                                          \
    return v_select((v_u8)((v_##T)a > (v_##T)b), a, v_select((v_u8)((v_##T)a < (v_##T)b), b, a & b));                  \
  }
RANGE(f32)
RANGE(f64)
#undef RANGE
#endif

#ifndef HAVE_GREATER_64
INLINE v_u8 v_greater_i64(v_u8 a, v_u8 b) {
  return (v_u8)((v_i64)a > (v_i64)b);
}
#endif

/* Sums of eight unsigned bytes each, in lanes of 64 bits. */
#ifndef HAVE_SUM_BYTES
INLINE v_u64 v_sum_bytes(v_u8 x) {
  v_u16 pairs = ((v_u16)x & 0xff) + ((v_u16)x >> 8);
  v_u32 quads = ((v_u32)pairs & 0xffff) + ((v_u32)pairs >> 16);
  return ((v_u64)quads & 0xffffffff) + ((v_u64)quads >> 32);
}
#endif

/* Sums of two signed halfwords each, in lanes of 32 bits. */
/* Sums of the products of two neighbours, signed: mod 2^32, as two squares may make 2^31. */
#ifndef HAVE_DOT_HALFWORDS
INLINE v_u32 v_dot_halfwords(v_u8 a, v_u8 b) {
  const v_u32 even = (v_u32)((v_i32)((v_u32)a << 16) >> 16) * (v_u32)((v_i32)((v_u32)b << 16) >> 16);
  return even + (v_u32)((v_i32)a >> 16) * (v_u32)((v_i32)b >> 16);
}
#endif

#ifndef HAVE_SUM_HALFWORDS
INLINE v_i32 v_sum_halfwords(v_u8 x) {
  return (((v_i32)((v_u32)x << 16)) >> 16) + ((v_i32)x >> 16);
}
#endif

/*
 * VB / 4 values of f16 at p, widened exactly: exponent and fraction moved into place are the value times 2^-112, also
 * for subnormals; infinities and NaNs get the rest of their exponent.
 */
#ifndef HAVE_F16
INLINE v_f32 v_f32_from_f16(const void *p) {
  v_u32 half = {0}; /* gcc -O2 does not see that the loop sets all of it */
  for (unsigned i = 0; i < VB / 4; i++) half[i] = ((const u16_unaligned *)p)[i];
  v_u32 sign = (half & 0x8000) << 16;
  v_f32 value = (v_f32)((half & 0x7fff) << 13) * 0x1p112f;
  v_u32 special = (v_u32)((half & 0x7c00) == 0x7c00) & 0x7f800000;
  return (v_f32)((v_u32)value | sign | special);
}
#endif

/* VB / 4 values of bf16 at p. */
#ifndef HAVE_BF16
INLINE v_f32 v_f32_from_bf16(const void *p) {
  v_u32 half = {0}; /* gcc -O2 does not see that the loop sets all of it */
  for (unsigned i = 0; i < VB / 4; i++) half[i] = ((const u16_unaligned *)p)[i];
  return (v_f32)(half << 16);
}
#endif

/* VB / 8 values of f32 at p, widened. */
#ifndef HAVE_F64_FROM_F32
INLINE v_f64 v_f64_from_f32(const void *p) {
  v_f64 wide;
  for (unsigned i = 0; i < VB / 8; i++) wide[i] = (double)((const f32_unaligned *)p)[i];
  return wide;
}
#endif

/* VB / 8 values of f16 or bf16 at p, widened. */
#ifndef HAVE_F64_FROM_HALF
INLINE v_f64 v_f64_from_f16(const void *p) {
  uint8_t padded[VB / 2] = {0};
  memcpy(padded, p, VB / 4);
  v_f32 wide = v_f32_from_f16(padded);
  return v_f64_from_f32(&wide);
}
INLINE v_f64 v_f64_from_bf16(const void *p) {
  uint8_t padded[VB / 2] = {0};
  memcpy(padded, p, VB / 4);
  v_f32 wide = v_f32_from_bf16(padded);
  return v_f64_from_f32(&wide);
}
#endif

/*
 * a + b and a - b, times one by the multipliers where sums are what is waited for and these are other units: one
 * rounding of the same number. The compiler shall not see that it is one.
 */
#ifdef SPARE_MULTIPLIERS
INLINE v_f64 v_one_f64(void) {
  v_f64 one = (v_f64){0} + 1.0;
  __asm__("" : "+v"(one));
  return one;
}
INLINE v_f32 v_one_f32(void) {
  v_f32 one = (v_f32){0} + 1.0f;
  __asm__("" : "+v"(one));
  return one;
}
INLINE v_f32 v_spare_add_f32(v_f32 a, v_f32 b) {
  return v_fma_f32(a, v_one_f32(), b);
}
INLINE v_f64 v_spare_add_f64(v_f64 a, v_f64 b) {
  return v_fma_f64(a, v_one_f64(), b);
}
INLINE v_f64 v_spare_sub_f64(v_f64 a, v_f64 b) {
  return v_fma_f64(a, v_one_f64(), -b);
}
#else
INLINE v_f32 v_spare_add_f32(v_f32 a, v_f32 b) {
  return a + b;
}
INLINE v_f64 v_spare_add_f64(v_f64 a, v_f64 b) {
  return a + b;
}
INLINE v_f64 v_spare_sub_f64(v_f64 a, v_f64 b) {
  return a - b;
}
#endif

/* Four bits from bit `low` and four from bit `high` of a word, side by side. */
#ifndef HAVE_NIBBLES
INLINE size_t nibbles_at(uint64_t word, unsigned low, unsigned high) {
  return (word >> low & 0xf) | (word >> (high - 4) & 0xf0);
}
#endif

/* The first `count` elements of `bytes` bytes at p, fewer than a vector's; `pad` beyond. Nothing else is read. */
#ifndef HAVE_LOAD_PARTIAL
/* 1 to 8 bytes, the rest 0: by loads that overlap, as what narrower stores collect cannot be loaded at once. */
INLINE uint64_t load_bytes(const uint8_t *p, size_t size) {
  if (size >= 4) {
    const uint64_t low = *(const u32_unaligned *)p, high = *(const u32_unaligned *)(p + size - 4);
    return low | high << (8 * (size - 4));
  }
  const uint64_t low = p[0], middle = p[size / 2], high = p[size - 1];
  return low | middle << (8 * (size / 2)) | high << (8 * (size - 1));
}

INLINE v_u8 v_load_partial(const void *p, size_t count, unsigned bytes, v_u8 pad) {
  const size_t size = count * bytes;
  v_u64 x = {0};
  if (size > 8)
    x = (v_u64){*(const u64_unaligned *)p, load_bytes((const uint8_t *)p + 8, size - 8)};
  else if (size > 0)
    x = (v_u64){load_bytes(p, size), 0};
  const v_u8 number = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return v_select((v_u8)(number < (uint8_t)size), (v_u8)x, pad);
}
#endif

/* The first nonzero byte; there is one. */
#ifndef HAVE_FIRST_SET
INLINE size_t v_first_set(v_u8 x) {
  v_u64 words = (v_u64)x;
  unsigned i = 0;
  while (words[i] == 0) i++;
  return 8 * i + (unsigned)__builtin_ctzll(words[i]) / 8; /* little endian */
}
#endif

/* Is any byte nonzero? */
#ifndef HAVE_ANY
INLINE bool v_any(v_u8 x) {
  v_u64 words = (v_u64)x;
  uint64_t all = 0;
  for (unsigned i = 0; i < VB / 8; i++) all |= words[i];
  return all != 0;
}
#endif

/*
 * The halves of a vector widened to f64, and two such narrowed to one of f32; a * b + c rounded once. FAST_FMA: it
 * costs no more than its parts.
 */
#ifndef HAVE_FMA
#define FAST_FMA 0
#ifndef HAVE_WIDEN
INLINE v_f64 v_widen_low(v_f32 x) {
  v_f64 wide;
  for (unsigned i = 0; i < VB / 8; i++) wide[i] = (double)x[i];
  return wide;
}
INLINE v_f64 v_widen_high(v_f32 x) {
  v_f64 wide;
  for (unsigned i = 0; i < VB / 8; i++) wide[i] = (double)x[VB / 8 + i];
  return wide;
}
INLINE v_f32 v_narrow(v_f64 low, v_f64 high) {
  v_f32 x;
  for (unsigned i = 0; i < VB / 8; i++) {
    x[i] = (float)low[i];
    x[VB / 8 + i] = (float)high[i];
  }
  return x;
}
#endif
#include "fma.h"
#else
#define FAST_FMA 1
#endif

/* Products of 64 bits of the even words of a and b. */
#ifndef HAVE_MUL_EVEN_U32
INLINE v_u64 v_mul_even_u32(v_u8 a, v_u8 b) {
  return ((v_u64)a & 0xffffffff) * ((v_u64)b & 0xffffffff);
}
#endif
/* A negative factor counts 2^32 too much as an unsigned one. */
#ifndef HAVE_MUL_EVEN_I32
INLINE v_u64 v_mul_even_i32(v_u8 a, v_u8 b) {
  v_u32 excess = ((v_u32)((v_i32)a < 0) & (v_u32)b) + ((v_u32)((v_i32)b < 0) & (v_u32)a);
  return v_mul_even_u32(a, b) - ((v_u64)excess << 32);
}
#endif

/* Store past the caches; p is aligned to VB, or for v_stream_16 to 16. v_stream_end orders such stores before later
 * ones. */
#ifndef HAVE_STREAM
#define STREAMS 0
INLINE void v_stream(void *p, v_u8 x) {
  v_store(p, x);
}
INLINE void v_stream_16(void *p, v_u8 x) {
  v_store(p, x);
}
INLINE void v_stream_end(void) {}
#else
#define STREAMS 1
#endif
