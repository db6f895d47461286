/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors for kernels that are written once and compiled once per instruction set. Types, shuffles and selections are
 * GNU vector extensions of VB bytes; what these cannot say well (minima, sums of bytes, f16, partial loads, streaming
 * stores) comes from the instruction set's own header, which also sets VB and the kernels' suffix.
 *
 * Shuffles never cross a 128-bit lane unless their name says so: then every width has the same few.
 */
#ifndef RED_VEC_VECTOR_H
#define RED_VEC_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(RED_ISA_generic)
#define VB        16
#define ISA(name) name##_generic
#define ISA_NAME  "generic"
#elif defined(RED_ISA_sse2)
#define VB        16
#define ISA(name) name##_sse2
#define ISA_NAME  "sse2"
#elif defined(RED_ISA_avx2)
#define VB        32
#define ISA(name) name##_avx2
#define ISA_NAME  "avx2"
#elif defined(RED_ISA_avx512)
#define VB        64
#define ISA(name) name##_avx512
#define ISA_NAME  "avx512"
#elif defined(RED_ISA_avx512_half) /* the same with 32-byte vectors, for what widens: all of its registers */
#define VB        32
#define ISA(name) name##_avx512_half
#define ISA_NAME  "avx512"
#elif defined(RED_ISA_neon)
#define VB        16
#define ISA(name) name##_neon
#define ISA_NAME  "neon"
#else
#error "compile with -DRED_ISA_<instruction set>"
#endif

/*
 * What is named at a call (operation, width, modes) is to be a constant in the callee. Not under sanitizers: their
 * checks would be copied with it, which takes compilers minutes. UNROLLED stands before a short loop over an array of
 * vectors, which leaves them in registers if it is unrolled early.
 */
#if defined(RED_SANITIZED)
#define INLINE static __attribute__((unused))
#define UNROLLED
#else
#define INLINE   static inline __attribute__((always_inline, unused))
#define UNROLLED _Pragma("GCC unroll 32")
#endif

/* In a loop that needs all registers: GCC would store each vector in every round, for what comes after the loop. */
#if defined(__x86_64__)
#define STAY_IN_REGISTER(x) __asm__("" : "+v"(x))
#else
#define STAY_IN_REGISTER(x) __asm__("" : "+w"(x))
#endif

/* Elements in memory may have any alignment and any effective type. */
#define VECTOR_TYPES(T, name)                                                                                          \
  typedef T v_##name __attribute__((vector_size(VB), may_alias));                                                      \
  typedef T v_##name##_unaligned __attribute__((vector_size(VB), may_alias, aligned(1)));                              \
  typedef T name##_unaligned __attribute__((may_alias, aligned(1)));

VECTOR_TYPES(int8_t, i8)
VECTOR_TYPES(int16_t, i16)
VECTOR_TYPES(int32_t, i32)
VECTOR_TYPES(int64_t, i64)
VECTOR_TYPES(uint8_t, u8)
VECTOR_TYPES(uint16_t, u16)
VECTOR_TYPES(uint32_t, u32)
VECTOR_TYPES(uint64_t, u64)
VECTOR_TYPES(float, f32)
VECTOR_TYPES(double, f64)
#undef VECTOR_TYPES

INLINE v_u8 v_load(const void *p) {
  return (v_u8) * (const v_u8_unaligned *)p;
}
INLINE void v_store(void *p, v_u8 x) {
  *(v_u8_unaligned *)p = x;
}

INLINE v_u8 v_splat_u8(uint8_t s) {
  return (v_u8){0} + s;
}
INLINE v_u16 v_splat_u16(uint16_t s) {
  return (v_u16){0} + s;
}
INLINE v_u32 v_splat_u32(uint32_t s) {
  return (v_u32){0} + s;
}
INLINE v_u64 v_splat_u64(uint64_t s) {
  return (v_u64){0} + s;
}

/* All bytes of `mask` are 0 or 0xff. */
INLINE v_u8 v_select(v_u8 mask, v_u8 a, v_u8 b) {
  return (a & mask) | (b & ~mask);
}

/* The constant index lists of shuffles, for VB / 4 elements of 32 bits or VB / 8 of 64. */
#if VB == 16
#define SWAP_4        1, 0, 3, 2
#define SWAP_8        2, 3, 0, 1
#define UPPER_4_OF_32 0, 5, 2, 7
#define UPPER_8_OF_32 0, 1, 6, 7
#define UPPER_8_OF_64 0, 3
#define EVEN_32       0, 2, 4, 6
#define ODD_32        1, 3, 5, 7
#define LOW_32        0, 4, 1, 5
#define HIGH_32       2, 6, 3, 7
#define LOW_64        0, 2
#define HIGH_64       1, 3
#define NEXT_32       1, 2, 3, 4
#define NEXT_64       1, 2
#elif VB == 32
#define SWAP_4         1, 0, 3, 2, 5, 4, 7, 6
#define SWAP_8         2, 3, 0, 1, 6, 7, 4, 5
#define SWAP_16        4, 5, 6, 7, 0, 1, 2, 3
#define UPPER_4_OF_32  0, 9, 2, 11, 4, 13, 6, 15
#define UPPER_8_OF_32  0, 1, 10, 11, 4, 5, 14, 15
#define UPPER_16_OF_32 0, 1, 2, 3, 12, 13, 14, 15
#define UPPER_8_OF_64  0, 5, 2, 7
#define UPPER_16_OF_64 0, 1, 6, 7
#define EVEN_32        0, 2, 8, 10, 4, 6, 12, 14
#define ODD_32         1, 3, 9, 11, 5, 7, 13, 15
#define LOW_32         0, 8, 1, 9, 4, 12, 5, 13
#define HIGH_32        2, 10, 3, 11, 6, 14, 7, 15
#define LOW_64         0, 4, 2, 6
#define HIGH_64        1, 5, 3, 7
#define NEXT_32        4, 5, 6, 7, 1, 2, 3, 8
#define NEXT_64        2, 3, 1, 4
#else
#define SWAP_4         1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#define SWAP_8         2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
#define SWAP_16        4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11
#define SWAP_32        8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7
#define UPPER_4_OF_32  0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31
#define UPPER_8_OF_32  0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31
#define UPPER_16_OF_32 0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11, 28, 29, 30, 31
#define UPPER_32_OF_32 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31
#define UPPER_8_OF_64  0, 9, 2, 11, 4, 13, 6, 15
#define UPPER_16_OF_64 0, 1, 10, 11, 4, 5, 14, 15
#define UPPER_32_OF_64 0, 1, 2, 3, 12, 13, 14, 15
#define EVEN_32        0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30
#define ODD_32         1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31
#define LOW_32         0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define HIGH_32        2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define LOW_64         0, 8, 2, 10, 4, 12, 6, 14
#define HIGH_64        1, 9, 3, 11, 5, 13, 7, 15
#define NEXT_32        4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3, 16
#define NEXT_64        2, 3, 4, 5, 6, 7, 1, 8
#endif

/* Exchange neighbouring groups of `bytes` bytes, a power of two below VB; 16 and more cross lanes. */
INLINE v_u8 v_swap(v_u8 x, unsigned bytes) {
  switch (bytes) {
  case 1:
    return (v_u8)((v_u16)x << 8 | (v_u16)x >> 8);
  case 2:
    return (v_u8)((v_u32)x << 16 | (v_u32)x >> 16);
  case 4:
    return (v_u8)__builtin_shufflevector((v_u32)x, (v_u32)x, SWAP_4);
  case 8:
    return (v_u8)__builtin_shufflevector((v_u32)x, (v_u32)x, SWAP_8);
#if VB >= 32
  case 16:
    return (v_u8)__builtin_shufflevector((v_u32)x, (v_u32)x, SWAP_16);
#endif
#if VB >= 64
  case 32:
    return (v_u8)__builtin_shufflevector((v_u32)x, (v_u32)x, SWAP_32);
#endif
  default:
    __builtin_unreachable();
  }
}

/*
 * b in the upper group of every pair of groups of `bytes` bytes, a in the lower one; T is the type that the caller
 * computed b in, so that the selection can become part of that instruction.
 */
#define UPPER(T, list) (v_u8) __builtin_shufflevector((v_##T)a, (v_##T)b, list)
#if VB == 16
#define UPPER_WIDER(T, width)
#elif VB == 32
#define UPPER_WIDER(T, width)                                                                                          \
  case 16:                                                                                                             \
    return UPPER(T, UPPER_16_OF_##width);
#else
#define UPPER_WIDER(T, width)                                                                                          \
  case 16:                                                                                                             \
    return UPPER(T, UPPER_16_OF_##width);                                                                              \
  case 32:                                                                                                             \
    return UPPER(T, UPPER_32_OF_##width);
#endif
#define UPPER_32_BITS(T)                                                                                               \
  INLINE v_u8 v_upper_##T(v_u8 a, v_u8 b, unsigned bytes) {                                                            \
    switch (bytes) {                                                                                                   \
    case 1:                                                                                                            \
      return v_select((v_u8)v_splat_u16(0xff00), b, a);                                                                \
    case 2:                                                                                                            \
      return v_select((v_u8)v_splat_u32(0xffff0000), b, a);                                                            \
    case 4:                                                                                                            \
      return UPPER(T, UPPER_4_OF_32);                                                                                  \
    case 8:                                                                                                            \
      return UPPER(T, UPPER_8_OF_32);                                                                                  \
      UPPER_WIDER(T, 32)                                                                                               \
    default:                                                                                                           \
      __builtin_unreachable();                                                                                         \
    }                                                                                                                  \
  }
#define UPPER_64_BITS(T)                                                                                               \
  INLINE v_u8 v_upper_##T(v_u8 a, v_u8 b, unsigned bytes) {                                                            \
    switch (bytes) {                                                                                                   \
    case 8:                                                                                                            \
      return UPPER(T, UPPER_8_OF_64);                                                                                  \
      UPPER_WIDER(T, 64)                                                                                               \
    default:                                                                                                           \
      __builtin_unreachable();                                                                                         \
    }                                                                                                                  \
  }
UPPER_32_BITS(u32)
UPPER_32_BITS(f32)
UPPER_64_BITS(u64)
UPPER_64_BITS(f64)
#undef UPPER_32_BITS
#undef UPPER_64_BITS
#undef UPPER_WIDER
#undef UPPER

/* Every second element of a then b, lane by lane; v_low and v_high put them back. 32 bits: */
INLINE v_u8 v_even_32(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f32)a, (v_f32)b, EVEN_32);
}
INLINE v_u8 v_odd_32(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f32)a, (v_f32)b, ODD_32);
}
INLINE v_u8 v_low_32(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f32)a, (v_f32)b, LOW_32);
}
INLINE v_u8 v_high_32(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f32)a, (v_f32)b, HIGH_32);
}
/* 64 bits: the two pairs coincide. */
INLINE v_u8 v_low_64(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f64)a, (v_f64)b, LOW_64);
}
INLINE v_u8 v_high_64(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f64)a, (v_f64)b, HIGH_64);
}

/* The same of 16 bits, */
#define PAIRS_16(first)                                                                                                \
  (first), (first) + VB / 2, (first) + 1, (first) + 1 + VB / 2, (first) + 2, (first) + 2 + VB / 2, (first) + 3,        \
      (first) + 3 + VB / 2
#if VB == 16
#define LOW_16  PAIRS_16(0)
#define HIGH_16 PAIRS_16(4)
#elif VB == 32
#define LOW_16  PAIRS_16(0), PAIRS_16(8)
#define HIGH_16 PAIRS_16(4), PAIRS_16(12)
#else
#define LOW_16  PAIRS_16(0), PAIRS_16(8), PAIRS_16(16), PAIRS_16(24)
#define HIGH_16 PAIRS_16(4), PAIRS_16(12), PAIRS_16(20), PAIRS_16(28)
#endif
INLINE v_u8 v_low_16(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_u16)a, (v_u16)b, LOW_16);
}
INLINE v_u8 v_high_16(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_u16)a, (v_u16)b, HIGH_16);
}

/* and of whole 128-bit lanes. */
#if VB == 64
#define EVEN_LANES 0, 1, 4, 5, 8, 9, 12, 13
#define ODD_LANES  2, 3, 6, 7, 10, 11, 14, 15
#define LOW_LANES  0, 1, 8, 9, 2, 3, 10, 11
#define HIGH_LANES 4, 5, 12, 13, 6, 7, 14, 15
INLINE v_u8 v_even_lanes(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f64)a, (v_f64)b, EVEN_LANES);
}
INLINE v_u8 v_odd_lanes(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f64)a, (v_f64)b, ODD_LANES);
}
#elif VB == 32
#define LOW_LANES  0, 1, 4, 5
#define HIGH_LANES 2, 3, 6, 7
#else
#define LOW_LANES  0, 1
#define HIGH_LANES 2, 3
#endif
INLINE v_u8 v_low_lanes(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f64)a, (v_f64)b, LOW_LANES);
}
INLINE v_u8 v_high_lanes(v_u8 a, v_u8 b) {
  return (v_u8)__builtin_shufflevector((v_f64)a, (v_f64)b, HIGH_LANES);
}

/*
 * What repeated even/odd reductions leave is ordered by position within the lane first, then by lane. Each element's
 * successor in that order, the last one's from `end`. Crosses lanes.
 */
INLINE v_u8 v_next_32(v_u8 x, v_u8 end) {
  return (v_u8)__builtin_shufflevector((v_f32)x, (v_f32)end, NEXT_32);
}
INLINE v_u8 v_next_64(v_u8 x, v_u8 end) {
  return (v_u8)__builtin_shufflevector((v_f64)x, (v_f64)end, NEXT_64);
}

/* The doubles 2 k and 2 k + 1 of a vector; k is a constant below VB / 16. */
typedef double pair_f64 __attribute__((vector_size(16), may_alias));
INLINE pair_f64 v_pair_f64(v_f64 x, unsigned k) {
#if VB == 16
  (void)k;
  return (pair_f64)x;
#else
  switch (k) {
  case 0:
    return (pair_f64)__builtin_shufflevector(x, x, 0, 1);
  case 1:
    return (pair_f64)__builtin_shufflevector(x, x, 2, 3);
#if VB == 64
  case 2:
    return (pair_f64)__builtin_shufflevector(x, x, 4, 5);
  case 3:
    return (pair_f64)__builtin_shufflevector(x, x, 6, 7);
#endif
  default:
    __builtin_unreachable();
  }
#endif
}

INLINE uint64_t v_first_u64(v_u8 x) {
  return ((v_u64)x)[0];
}

#if defined(RED_ISA_generic)
#include "generic.h"
#elif defined(RED_ISA_sse2)
#include "sse2.h"
#elif defined(RED_ISA_avx2) || defined(RED_ISA_avx512_half)
#include "avx2.h"
#elif defined(RED_ISA_avx512)
#include "avx512.h"
#elif defined(RED_ISA_neon)
#include "neon.h"
#endif

#endif
