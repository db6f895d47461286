/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums in 64 bits of integers, which need no tree: within four words two shifted additions make their prefixes, and
 * what they add up to goes from one four to the next by one addition. Vectors of 32 bytes: longer ones need a shift
 * more. Narrower integers are extended as they are loaded.
 */
#ifndef RED_VEC_WORDS_H
#define RED_VEC_WORDS_H

#include "kernels.h"
#include "vector.h"

#if VB >= 32
typedef uint64_t words __attribute__((vector_size(32)));
typedef uint64_t words_unaligned __attribute__((vector_size(32), may_alias, aligned(1)));

enum {
  WORDS_STRIDE = 16 /* elements; two cache lines of output */
};

/* By instructions: compilers take such short vectors apart. */
INLINE words load_words(const uint8_t *p, unsigned bytes, bool is_signed) {
  __m128i x = _mm_setzero_si128();
  switch (bytes) {
  case 1:
    memcpy(&x, p, 4);
    return (words)(is_signed ? _mm256_cvtepi8_epi64(x) : _mm256_cvtepu8_epi64(x));
  case 2:
    memcpy(&x, p, 8);
    return (words)(is_signed ? _mm256_cvtepi16_epi64(x) : _mm256_cvtepu16_epi64(x));
  case 4:
    memcpy(&x, p, 16);
    return (words)(is_signed ? _mm256_cvtepi32_epi64(x) : _mm256_cvtepu32_epi64(x));
  default:
    return (words) * (const words_unaligned *)p;
  }
}

INLINE uint64_t load_word(const uint8_t *p, unsigned bytes, bool is_signed) {
  switch (bytes) {
  case 1:
    return is_signed ? (uint64_t) * (const i8_unaligned *)p : *p;
  case 2:
    return is_signed ? (uint64_t) * (const i16_unaligned *)p : *(const u16_unaligned *)p;
  case 4:
    return is_signed ? (uint64_t) * (const i32_unaligned *)p : *(const u32_unaligned *)p;
  default:
    return *(const u64_unaligned *)p;
  }
}

/* A scan as in kernels.h of integers of `bytes` bytes into 8, with cached stores. */
INLINE red_state scan_words(const uint8_t *in, uint8_t *out, size_t n, unsigned bytes, bool is_signed, uint64_t before,
                            bool exclusive, const uint8_t *ahead) {
  const words none = {0};
  words carry = none + before;
  for (; n >= WORDS_STRIDE; n -= WORDS_STRIDE, in += WORDS_STRIDE * bytes, out += WORDS_STRIDE * 8) {
    if (ahead != NULL) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += WORDS_STRIDE / 2 * bytes;
    }
    UNROLLED
    for (unsigned i = 0; i < WORDS_STRIDE; i += 4) {
      const words x = load_words(in + i * bytes, bytes, is_signed);
      words sum = x + __builtin_shufflevector(x, none, 4, 0, 6, 2);
      sum += __builtin_shufflevector(sum, none, 4, 5, 1, 1);
      *(words_unaligned *)(out + i * 8) = (words_unaligned)(carry + (exclusive ? sum - x : sum));
      carry += __builtin_shufflevector(sum, sum, 3, 3, 3, 3);
    }
  }
  uint64_t total = carry[0];
  for (; n > 0; n--, in += bytes, out += 8) {
    uint64_t next = total + load_word(in, bytes, is_signed);
    *(u64_unaligned *)out = exclusive ? total : next;
    total = next;
  }
  return (red_state){.u64 = total - before};
}
#endif

#endif
