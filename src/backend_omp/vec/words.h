/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of 64-bit integers, which need no tree: within four words two shifted additions make their prefixes, and what
 * they add up to goes from one four to the next by one addition. Vectors of 32 bytes: longer ones need a shift more.
 */
#ifndef RED_VEC_WORDS_H
#define RED_VEC_WORDS_H

#include "vector.h"

typedef uint64_t words __attribute__((vector_size(32)));
typedef uint64_t words_unaligned __attribute__((vector_size(32), may_alias, aligned(1)));

enum {
  WORDS_STRIDE = 16 /* elements; two cache lines */
};

/* A scan as in kernels.h, with cached stores. */
INLINE red_state scan_words(const uint8_t *in, uint8_t *out, size_t n, uint64_t before, bool exclusive,
                            const uint8_t *ahead) {
  const words none = {0};
  words carry = none + before;
  for (; n >= WORDS_STRIDE; n -= WORDS_STRIDE, in += WORDS_STRIDE * 8, out += WORDS_STRIDE * 8) {
    if (ahead != NULL) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += 64;
    }
    UNROLLED
    for (unsigned i = 0; i < WORDS_STRIDE * 8; i += 32) {
      const words x = (words) * (const words_unaligned *)(in + i);
      words sum = x + __builtin_shufflevector(x, none, 4, 0, 6, 2);
      sum += __builtin_shufflevector(sum, none, 4, 5, 1, 1);
      *(words_unaligned *)(out + i) = (words_unaligned)(carry + (exclusive ? sum - x : sum));
      carry += __builtin_shufflevector(sum, sum, 3, 3, 3, 3);
    }
  }
  uint64_t total = carry[0];
  for (; n > 0; n--, in += 8, out += 8) {
    uint64_t next = total + *(const u64_unaligned *)in;
    *(u64_unaligned *)out = exclusive ? total : next;
    total = next;
  }
  return (red_state){.u64 = total - before};
}

#endif
