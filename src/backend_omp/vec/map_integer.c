/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of products, squares and magnitudes of integers mod 2^64. Neighbours are multiplied in lanes twice as wide. */
#include "halves.h"
#include "sums.h"

#include "kernels.def"

/* A vector of n > 0 elements, zeros beyond the last. */
INLINE v_u8 load_some(const uint8_t *p, size_t n, unsigned bytes) {
  return n < VB / bytes ? v_load_partial(p, n, bytes, (v_u8){0}) : v_load(p);
}

/* Words take 2^14 pairs of products before they are emptied. */
INLINE uint64_t dot_8(const uint8_t *p, const uint8_t *q, size_t n, bool is_signed) {
  const size_t before_overflow = (size_t)1 << 14;
  uint64_t total = 0;
  while (n > 0) {
    v_u32 even = {0}, odd = {0};
    for (size_t i = 0; i < before_overflow && n > 0; i++) {
      v_u8 x = load_some(p, n, 1), y = load_some(q, n, 1);
      even += v_dot_halfwords((v_u8)even_bytes(x, is_signed), (v_u8)even_bytes(y, is_signed));
      odd += v_dot_halfwords((v_u8)odd_bytes(x, is_signed), (v_u8)odd_bytes(y, is_signed));
      p += VB;
      q += VB;
      n -= n < VB ? n : VB;
    }
    for (unsigned l = 0; l < VB / 4; l++) total += (uint64_t)((int64_t)((v_i32)even)[l] + (int64_t)((v_i32)odd)[l]);
  }
  return total;
}

/* Two signed products make -2^31 + 2^16 to 2^31: a bias makes that positive. Two unsigned ones may be too much. */
INLINE uint64_t dot_16(const uint8_t *p, const uint8_t *q, size_t n, bool is_signed) {
  const size_t lanes = VB / 2;
  const uint32_t bias = 0x7fff0000;
  word_sums sums = {{{0}}, {{0}}};
  uint64_t padded = (n + lanes - 1) / lanes * lanes;
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB, q += VB) {
    v_u8 x = load_some(p, n, 2), y = load_some(q, n, 2);
    if (is_signed) {
      add_words(&sums, 0, (v_u8)(v_dot_halfwords(x, y) + bias), 0);
    } else {
      add_words(&sums, 0, (v_u8)(even_halfwords(x, false) * even_halfwords(y, false)), 0);
      add_words(&sums, 1, (v_u8)(odd_halfwords(x, false) * odd_halfwords(y, false)), 0);
    }
  }
  return total_words(&sums) - (is_signed ? padded / 2 * bias : 0);
}

INLINE v_u64 dot_words(v_u8 x, v_u8 y, bool is_signed) {
  v_u8 odd_x = (v_u8)((v_u64)x >> 32), odd_y = (v_u8)((v_u64)y >> 32);
  if (is_signed) return v_mul_even_i32(x, y) + v_mul_even_i32(odd_x, odd_y);
  return v_mul_even_u32(x, y) + v_mul_even_u32(odd_x, odd_y);
}

INLINE v_u64 dot_wide(v_u8 x, v_u8 y, unsigned bytes, bool is_signed) {
  if (bytes == 4) return dot_words(x, y, is_signed);
  return (v_u64)x * (v_u64)y;
}

INLINE uint64_t dot_32_64(const uint8_t *p, const uint8_t *q, size_t n, unsigned bytes, bool is_signed) {
  const size_t lanes = VB / bytes;
  v_u64 acc[CHAINS] = {{0}};
  for (; n >= CHAINS * lanes; n -= CHAINS * lanes, p += CHAINS * VB, q += CHAINS * VB)
    for (unsigned j = 0; j < CHAINS; j++) acc[j] += dot_wide(v_load(p + j * VB), v_load(q + j * VB), bytes, is_signed);
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB, q += VB)
    acc[0] += dot_wide(load_some(p, n, bytes), load_some(q, n, bytes), bytes, is_signed);
  return total_u64(acc[0] + acc[1] + acc[2] + acc[3]);
}

INLINE uint64_t dot(const uint8_t *p, const uint8_t *q, size_t n, unsigned bytes, bool is_signed) {
  switch (bytes) {
  case 1:
    return dot_8(p, q, n, is_signed);
  case 2:
    return dot_16(p, q, n, is_signed);
  default:
    return dot_32_64(p, q, n, bytes, is_signed);
  }
}

#define KERNEL(suffix, in, bytes, is_signed)                                                                           \
  red_state ISA(dot_##suffix)(const red_lowered *lowered, const void *data, const void *data2, size_t n) {             \
    (void)lowered;                                                                                                     \
    return (red_state){.u64 = dot(data, data2, n, bytes, is_signed)};                                                  \
  }                                                                                                                    \
  red_state ISA(sumsq_##suffix)(const red_lowered *lowered, const void *data, const void *data2, size_t n) {           \
    (void)lowered, (void)data2;                                                                                        \
    return (red_state){.u64 = dot(data, data, n, bytes, is_signed)};                                                   \
  }                                                                                                                    \
  red_state ISA(asum_##suffix)(const red_lowered *lowered, const void *data, const void *data2, size_t n) {            \
    (void)lowered, (void)data2;                                                                                        \
    return (red_state){.u64 = sum(data, n, bytes, is_signed, is_signed ? RED_MAP_ABS : RED_MAP_NONE)};                 \
  }
RED_REDUCE_INTEGER(KERNEL)
