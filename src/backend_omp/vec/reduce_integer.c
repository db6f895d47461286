/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums, products, counts and bitwise reductions: any order gives the same bits, so each takes its fastest. */
#include "halves.h"
#include "sums.h"

#include "kernels.def"

void ISA(sum_halves)(const void *in, size_t n, bool is_signed, uint64_t *low, int64_t *high) {
  const uint8_t *p = in;
  const uint64_t bias = is_signed ? 0x8000000000000000 : 0;
  const size_t lanes = VB / 8;
  v_u64 lower[2] = {{0}}, upper[2] = {{0}};
  uint64_t padded = (n + lanes - 1) / lanes * lanes;
  for (; n >= 2 * lanes; n -= 2 * lanes, p += 2 * VB)
    for (unsigned j = 0; j < 2; j++) {
      v_u64 x = (v_u64)v_load(p + j * VB) ^ bias;
      lower[j] += x & 0xffffffff;
      upper[j] += x >> 32;
    }
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB) {
    v_u64 x = (v_u64)(n < lanes ? v_load_partial(p, n, 8, (v_u8){0}) : v_load(p)) ^ bias;
    lower[0] += x & 0xffffffff;
    upper[0] += x >> 32;
  }
  *low = total_u64(lower[0] + lower[1]);
  *high = (int64_t)(total_u64(upper[0] + upper[1]) - padded * (bias >> 32));
}

/* ---- Products mod 2^64 ---- */

/* Neighbours are multiplied until lanes have 64 bits: the product of two fits a lane twice as wide. */
INLINE v_u64 products_of(v_u8 x, unsigned bytes, bool is_signed) {
  if (bytes == 8) return (v_u64)x;
  if (bytes == 1) x = (v_u8)(even_bytes(x, is_signed) * odd_bytes(x, is_signed));
  if (bytes <= 2) x = (v_u8)(even_halfwords(x, is_signed) * odd_halfwords(x, is_signed));
  const v_u8 odd = (v_u8)((v_u64)x >> 32);
  return is_signed ? v_mul_even_i32(x, odd) : v_mul_even_u32(x, odd);
}

INLINE uint64_t product(const uint8_t *p, size_t n, unsigned bytes, bool is_signed) {
  const size_t lanes = VB / bytes;
  v_u64 acc[CHAINS];
  for (unsigned j = 0; j < CHAINS; j++) acc[j] = v_splat_u64(1);
  for (; n >= CHAINS * lanes; n -= CHAINS * lanes, p += CHAINS * VB)
    for (unsigned j = 0; j < CHAINS; j++) acc[j] *= products_of(v_load(p + j * VB), bytes, is_signed);
  for (; n >= lanes; n -= lanes, p += VB) acc[0] *= products_of(v_load(p), bytes, is_signed);
  if (n > 0)
    acc[1] *= products_of(v_load_partial(p, n, bytes, v_splat((red_state){.u64 = 1}, bytes)), bytes, is_signed);
  acc[0] = acc[0] * acc[1] * (acc[2] * acc[3]);
  uint64_t total = 1;
  for (unsigned l = 0; l < VB / 8; l++) total *= acc[0][l];
  return total;
}

#define KERNEL(suffix, in, bytes, is_signed)                                                                           \
  red_state ISA(sum_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                                \
    (void)lowered;                                                                                                     \
    return (red_state){.u64 = sum(data, n, bytes, is_signed, RED_MAP_NONE)};                                           \
  }                                                                                                                    \
  red_state ISA(prod_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                               \
    (void)lowered;                                                                                                     \
    return (red_state){.u64 = product(data, n, bytes, is_signed)};                                                     \
  }
RED_REDUCE_INTEGER(KERNEL)
#undef KERNEL

/* ---- Bitwise: the width matters only at the very end ---- */

INLINE uint64_t bitwise(red_lane_op op, const uint8_t *p, size_t n, unsigned bytes) {
  v_u8 acc[CHAINS];
  size_t left = n * bytes;
  for (unsigned j = 0; j < CHAINS; j++) acc[j] = v_identity(op);
  for (; left >= CHAINS * VB; left -= CHAINS * VB, p += CHAINS * VB)
    for (unsigned j = 0; j < CHAINS; j++) acc[j] = v_op(op, acc[j], v_load(p + j * VB));
  for (; left >= VB; left -= VB, p += VB) acc[0] = v_op(op, acc[0], v_load(p));
  if (left > 0) acc[1] = v_op(op, acc[1], v_load_partial(p, left / bytes, bytes, v_identity(op)));
  acc[0] = v_op(op, v_op(op, acc[0], acc[1]), v_op(op, acc[2], acc[3]));
  for (unsigned group = VB / 2; group >= bytes; group /= 2) acc[0] = v_op(op, acc[0], v_swap(acc[0], group));
  unsigned shift = 64 - 8 * bytes;
  return v_first_u64(acc[0]) << shift >> shift;
}

/* ---- Counting zeros: lanes of the element's width go down by one for each; they are emptied before they overflow ----
 */

INLINE v_u8 are_zero(v_u8 x, unsigned bytes) {
  switch (bytes) {
  case 1:
    return (v_u8)(x == 0);
  case 2:
    return (v_u8)((v_u16)x == 0);
  case 4:
    return (v_u8)((v_u32)x == 0);
  default:
    return (v_u8)((v_u64)x == 0);
  }
}

INLINE uint64_t total_lanes(v_u8 x, unsigned bytes) {
  switch (bytes) {
  case 1:
    return total_u64(v_sum_bytes(x));
  case 2:
    return total_u64((v_u64)(((v_u32)x & 0xffff) + ((v_u32)x >> 16)) & 0xffffffff) +
           total_u64((v_u64)(((v_u32)x & 0xffff) + ((v_u32)x >> 16)) >> 32);
  case 4:
    return total_u64((v_u64)x & 0xffffffff) + total_u64((v_u64)x >> 32);
  default:
    return total_u64((v_u64)x);
  }
}

INLINE uint64_t count_nonzero(const uint8_t *p, size_t n, unsigned bytes, uint64_t mask_bits) {
  const v_u8 mask = v_splat((red_state){.u64 = mask_bits}, bytes);
  const size_t lanes = VB / bytes, most = bytes == 1 ? 252 : bytes == 2 ? 65532 : (size_t)1 << 20;
  uint64_t zeros = 0, all = n;
  while (n >= lanes) {
    v_u8 acc[2] = {{0}};
    size_t vectors = n / lanes < 2 * most ? n / lanes : 2 * most, i = 0;
    for (; i + 2 <= vectors; i += 2)
      for (unsigned j = 0; j < 2; j++)
        acc[j] = lanes_minus(acc[j], are_zero(v_load(p + (i + j) * VB) & mask, bytes), bytes);
    if (i < vectors) acc[0] = lanes_minus(acc[0], are_zero(v_load(p + i * VB) & mask, bytes), bytes);
    p += vectors * VB;
    n -= vectors * lanes;
    zeros += total_lanes(acc[0], bytes) + total_lanes(acc[1], bytes);
  }
  if (n > 0) {
    v_u8 last = v_load_partial(p, n, bytes, v_splat_u8(0xff)) & mask;
    zeros += total_lanes(lanes_minus((v_u8){0}, are_zero(last, bytes), bytes), bytes);
  }
  return all - zeros;
}

/* NaNs exceed infinity once their sign is gone; a call has too few elements for lanes to overflow. */
INLINE uint64_t count_nans(const uint8_t *p, size_t n, unsigned bytes, uint64_t inf) {
  const size_t lanes = VB / bytes;
  const v_u8 magnitude = v_splat((red_state){.u64 = UINT64_MAX >> (65 - 8 * bytes)}, bytes);
  const v_u8 infinity = v_splat((red_state){.u64 = inf}, bytes);
  v_u8 found[2] = {{0}};
  for (; n >= 2 * lanes; n -= 2 * lanes, p += 2 * VB)
    for (unsigned j = 0; j < 2; j++)
      found[j] = lanes_minus(found[j], lanes_greater(v_load(p + j * VB) & magnitude, infinity, bytes), bytes);
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB) {
    v_u8 x = n < lanes ? v_load_partial(p, n, bytes, (v_u8){0}) : v_load(p);
    found[0] = lanes_minus(found[0], lanes_greater(x & magnitude, infinity, bytes), bytes);
  }
  return total_lanes(found[0], bytes) + total_lanes(found[1], bytes);
}

#define KERNEL(dtype, suffix)                                                                                          \
  uint64_t ISA(nans_##suffix)(const void *data, size_t n, uint64_t inf) {                                              \
    return count_nans(data, n, suffix / 8, inf);                                                                       \
  }
RED_NAN_COUNTS(KERNEL)
#undef KERNEL

#define KERNEL(suffix, bytes)                                                                                          \
  red_state ISA(and_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                                \
    (void)lowered;                                                                                                     \
    return (red_state){.u64 = bitwise(RED_AND_U8, data, n, bytes)};                                                    \
  }                                                                                                                    \
  red_state ISA(or_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                                 \
    (void)lowered;                                                                                                     \
    return (red_state){.u64 = bitwise(RED_OR_U8, data, n, bytes)};                                                     \
  }                                                                                                                    \
  red_state ISA(xor_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                                \
    (void)lowered;                                                                                                     \
    return (red_state){.u64 = bitwise(RED_XOR_U8, data, n, bytes)};                                                    \
  }                                                                                                                    \
  red_state ISA(count_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                              \
    return (red_state){.u64 = count_nonzero(data, n, bytes, lowered->nonzero_mask)};                                   \
  }
RED_WIDTHS(KERNEL)
