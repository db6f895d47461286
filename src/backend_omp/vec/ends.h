/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least and the greatest element of a chunk, found on the way of its sums, for statistics: two instructions a
 * vector where there is one for numbers (HAVE_RANGE). Of NaNs nothing is said, they show in the sums.
 */
#ifndef RED_VEC_ENDS_H
#define RED_VEC_ENDS_H

#include "key.h"

typedef struct ends {
  v_u8 least, greatest;
} ends;

INLINE v_u8 lesser(red_dtype in, v_u8 a, v_u8 b) {
  switch (in) {
  case RED_I32:
    return v_min_i32(a, b);
  case RED_U32:
    return v_min_u32(a, b);
  case RED_I64:
    return v_min_i64(a, b);
  case RED_U64:
    return v_min_u64(a, b);
  case RED_F32:
    return v_lesser_f32(a, b);
  default:
    return v_lesser_f64(a, b);
  }
}

INLINE v_u8 greater(red_dtype in, v_u8 a, v_u8 b) {
  switch (in) {
  case RED_I32:
    return v_max_i32(a, b);
  case RED_U32:
    return v_max_u32(a, b);
  case RED_I64:
    return v_max_i64(a, b);
  case RED_U64:
    return v_max_u64(a, b);
  case RED_F32:
    return v_greater_f32(a, b);
  default:
    return v_greater_f64(a, b);
  }
}

INLINE ends merge_ends(red_dtype in, ends a, ends b) {
  return (ends){lesser(in, a.least, b.least), greater(in, a.greatest, b.greatest)};
}

INLINE ends ends_of(v_u8 x) {
  return (ends){x, x};
}

/* As RED_STATS has them: the least key, and the complement of the greatest. */
INLINE void keys_of_ends(red_dtype in, const red_lowered *lowered, ends found, int64_t keys[2]) {
  const unsigned bytes = in == RED_I32 || in == RED_U32 || in == RED_F32 ? 4 : 8;
  const uint64_t all = UINT64_MAX >> (64 - 8 * bytes);
  for (unsigned group = VB / 2; group >= bytes; group /= 2)
    found = merge_ends(in, found, (ends){v_swap(found.least, group), v_swap(found.greatest, group)});
  const uint64_t least = v_first_u64(found.least) & all, greatest = v_first_u64(found.greatest) & all;
  if (in == RED_F32 || in == RED_F64) {
    keys[0] = key_of_bits(lowered, 0, least, bytes);
    keys[1] = key_of_bits(lowered, all, greatest, bytes);
  } else {
    const unsigned shift = 64 - 8 * bytes;
    keys[0] = (int64_t)((least ^ lowered->key_xor) << shift) >> shift;
    keys[1] = ~((int64_t)((greatest ^ lowered->key_xor) << shift) >> shift);
  }
}

#endif
