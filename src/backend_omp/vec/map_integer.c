/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of products, squares and magnitudes of integers mod 2^64. Neighbours are multiplied in lanes twice as wide. */
#include "sums.h"

#include "kernels.def"

/* The even and the odd elements of a vector in lanes twice as wide. */
INLINE v_u16 even_bytes(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u16)((v_i16)((v_u16)x << 8) >> 8);
  return (v_u16)x & 0xff;
}
INLINE v_u16 odd_bytes(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u16)((v_i16)x >> 8);
  return (v_u16)x >> 8;
}
INLINE v_u32 even_halfwords(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u32)((v_i32)((v_u32)x << 16) >> 16);
  return (v_u32)x & 0xffff;
}
INLINE v_u32 odd_halfwords(v_u8 x, bool is_signed) {
  if (is_signed) return (v_u32)((v_i32)x >> 16);
  return (v_u32)x >> 16;
}

/* A vector of n > 0 elements, zeros beyond the last. */
INLINE v_u8 load_some(const uint8_t *p, size_t n, unsigned bytes) {
  return n < VB / bytes ? v_load_partial(p, n, bytes, (v_u8){0}) : v_load(p);
}

/* Products of bytes are halfwords; a bias makes unsigned ones signed. Words take 2^14 pairs before they are emptied. */
INLINE uint64_t dot_8(const uint8_t *p, const uint8_t *q, size_t n, bool is_signed) {
  const size_t before_overflow = (size_t)1 << 14;
  const uint16_t bias = is_signed ? 0 : 0x8000;
  uint64_t total = 0, padded = (n + VB - 1) / VB * VB;
  while (n > 0) {
    v_i32 even = {0}, odd = {0};
    for (size_t i = 0; i < before_overflow && n > 0; i++) {
      v_u8 x = load_some(p, n, 1), y = load_some(q, n, 1);
      even += v_sum_halfwords((v_u8)((even_bytes(x, is_signed) * even_bytes(y, is_signed)) ^ bias));
      odd += v_sum_halfwords((v_u8)((odd_bytes(x, is_signed) * odd_bytes(y, is_signed)) ^ bias));
      p += VB;
      q += VB;
      n -= n < VB ? n : VB;
    }
    for (unsigned l = 0; l < VB / 4; l++) total += (uint64_t)((int64_t)even[l] + (int64_t)odd[l]);
  }
  return total + padded * bias;
}

INLINE uint64_t dot_16(const uint8_t *p, const uint8_t *q, size_t n, bool is_signed) {
  const size_t lanes = VB / 2;
  const uint32_t bias = is_signed ? 0x80000000 : 0;
  word_sums sums = {{{0}}, {{0}}};
  uint64_t padded = (n + lanes - 1) / lanes * lanes;
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB, q += VB) {
    v_u8 x = load_some(p, n, 2), y = load_some(q, n, 2);
    add_words(&sums, 0, (v_u8)(even_halfwords(x, is_signed) * even_halfwords(y, is_signed)), bias);
    add_words(&sums, 1, (v_u8)(odd_halfwords(x, is_signed) * odd_halfwords(y, is_signed)), bias);
  }
  return total_words(&sums) - padded * bias;
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
