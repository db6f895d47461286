/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of integers mod 2^64. */
#ifndef RED_VEC_SUMS_H
#define RED_VEC_SUMS_H

#include "key.h"

/* Independent accumulators, enough to hide the latency of an addition. */
enum {
  CHAINS = 4
};

INLINE uint64_t total_u64(v_u64 x) {
  uint64_t total = 0;
  for (unsigned i = 0; i < VB / 8; i++) total += x[i];
  return total;
}

/* What is summed of a vector of elements: for ABS the magnitudes of signed ones. */
INLINE v_u8 mapped(red_map map, v_u8 x, unsigned bytes) {
  if (map != RED_MAP_ABS) return x;
  v_u8 sign = lanes_negative(x, bytes); /* all ones: complement and add one */
  return lanes_minus(x ^ sign, sign, bytes);
}

/* ---- Sums: elements are made unsigned by a bias, which is taken off at the end ---- */

INLINE uint64_t sum_8(const uint8_t *p, size_t n, uint8_t bias, red_map map) {
  v_u64 acc[CHAINS] = {{0}};
  size_t lanes = (n + VB - 1) / VB * VB;
  for (; n >= CHAINS * VB; n -= CHAINS * VB, p += CHAINS * VB)
    for (unsigned j = 0; j < CHAINS; j++) acc[j] += v_sum_bytes(mapped(map, v_load(p + j * VB), 1) ^ bias);
  for (; n >= VB; n -= VB, p += VB) acc[0] += v_sum_bytes(mapped(map, v_load(p), 1) ^ bias);
  if (n > 0) acc[0] += v_sum_bytes(mapped(map, v_load_partial(p, n, 1, (v_u8){0}), 1) ^ bias);
  return total_u64(acc[0] + acc[1] + acc[2] + acc[3]) - lanes * bias;
}

/* Lanes of 32 bits take 2^14 pairs of halfwords before they are emptied. */
INLINE uint64_t sum_16(const uint8_t *p, size_t n, uint16_t bias, red_map map) {
  const size_t lanes = VB / 2, before_overflow = (size_t)1 << 14;
  uint64_t total = 0, padded = (n + lanes - 1) / lanes * lanes;
  while (n > 0) {
    v_i32 acc[CHAINS] = {{0}};
    size_t vectors = n / lanes < before_overflow ? n / lanes : before_overflow, i = 0;
    for (; i + CHAINS <= vectors; i += CHAINS)
      for (unsigned j = 0; j < CHAINS; j++)
        acc[j] += v_sum_halfwords((v_u8)((v_u16)mapped(map, v_load(p + (i + j) * VB), 2) ^ bias));
    for (; i < vectors; i++) acc[0] += v_sum_halfwords((v_u8)((v_u16)mapped(map, v_load(p + i * VB), 2) ^ bias));
    p += vectors * VB;
    n -= vectors * lanes;
    if (n > 0 && n < lanes) {
      acc[1] += v_sum_halfwords((v_u8)((v_u16)mapped(map, v_load_partial(p, n, 2, (v_u8){0}), 2) ^ bias));
      n = 0;
    }
    const v_i32 all = acc[0] + acc[1] + acc[2] + acc[3]; /* 2^14 + 1 pairs at most */
    for (unsigned l = 0; l < VB / 4; l++) total += (uint64_t)(int64_t)all[l];
  }
  return total + padded * bias;
}

/* Unsigned words: with F = sum of whole lanes and H = sum of upper words, the lower words add up to F - 2^32 H. */
typedef struct word_sums {
  v_u64 whole[CHAINS], upper[CHAINS];
} word_sums;

INLINE void add_words(word_sums *sums, unsigned chain, v_u8 x, uint32_t bias) {
  v_u64 biased = (v_u64)((v_u32)x ^ bias);
  sums->whole[chain] += biased;
  sums->upper[chain] += biased >> 32;
}

INLINE uint64_t total_words(const word_sums *sums) {
  uint64_t whole = total_u64(sums->whole[0] + sums->whole[1] + sums->whole[2] + sums->whole[3]);
  uint64_t upper = total_u64(sums->upper[0] + sums->upper[1] + sums->upper[2] + sums->upper[3]);
  return whole - (upper << 32) + upper;
}

INLINE uint64_t sum_32(const uint8_t *p, size_t n, uint32_t bias, red_map map) {
  const size_t lanes = VB / 4;
  word_sums sums = {{{0}}, {{0}}};
  uint64_t padded = (n + lanes - 1) / lanes * lanes;
  for (; n >= CHAINS * lanes; n -= CHAINS * lanes, p += CHAINS * VB)
    for (unsigned j = 0; j < CHAINS; j++) add_words(&sums, j, mapped(map, v_load(p + j * VB), 4), bias);
  for (; n >= lanes; n -= lanes, p += VB) add_words(&sums, 0, mapped(map, v_load(p), 4), bias);
  if (n > 0) add_words(&sums, 1, mapped(map, v_load_partial(p, n, 4, (v_u8){0}), 4), bias);
  return total_words(&sums) - padded * bias;
}

INLINE uint64_t sum_64(const uint8_t *p, size_t n, red_map map) {
  const size_t lanes = VB / 8;
  v_u64 acc[CHAINS] = {{0}};
  for (; n >= CHAINS * lanes; n -= CHAINS * lanes, p += CHAINS * VB)
    for (unsigned j = 0; j < CHAINS; j++) acc[j] += (v_u64)mapped(map, v_load(p + j * VB), 8);
  for (; n >= lanes; n -= lanes, p += VB) acc[0] += (v_u64)mapped(map, v_load(p), 8);
  if (n > 0) acc[1] += (v_u64)mapped(map, v_load_partial(p, n, 8, (v_u8){0}), 8);
  return total_u64(acc[0] + acc[1] + acc[2] + acc[3]);
}

/* The sum of the elements, or of the magnitudes of signed ones (ABS), which are unsigned. */
INLINE uint64_t sum(const uint8_t *p, size_t n, unsigned bytes, bool is_signed, red_map map) {
  if (map == RED_MAP_ABS) is_signed = false;
  switch (bytes) {
  case 1:
    return sum_8(p, n, is_signed ? 0x80 : 0, map);
  case 2:
    return sum_16(p, n, is_signed ? 0 : 0x8000, map); /* halfwords are summed as signed ones */
  case 4:
    return sum_32(p, n, is_signed ? 0x80000000 : 0, map);
  default:
    return sum_64(p, n, map);
  }
}

#endif
