/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extrema of floats by their bit patterns.
 *
 * Floats need no keys in the loop. As integers, numbers are ordered by magnitude within each sign, so with M the
 * greatest unsigned, m the least unsigned and S the greatest signed pattern: the minimum is M if M is negative, else m;
 * the maximum is S if S is positive, else m; a NaN shows as S > inf or M > -inf. Only where NaNs are to be skipped and
 * there are some, an array is gone over again with keys.
 */
#ifndef RED_VEC_PATTERNS_H
#define RED_VEC_PATTERNS_H

#include "key.h"

INLINE v_u8 min_unsigned(v_u8 a, v_u8 b, unsigned bytes) {
  return bytes == 2 ? v_min_u16(a, b) : bytes == 4 ? v_min_u32(a, b) : v_min_u64(a, b);
}

INLINE v_u8 max_unsigned(v_u8 a, v_u8 b, unsigned bytes) {
  return bytes == 2 ? v_max_u16(a, b) : bytes == 4 ? v_max_u32(a, b) : v_max_u64(a, b);
}

INLINE v_u8 max_signed(v_u8 a, v_u8 b, unsigned bytes) {
  switch (bytes) {
  case 1:
    return v_max_i8(a, b);
  case 2:
    return v_max_i16(a, b);
  case 4:
    return v_max_i32(a, b);
  default:
    return v_max_i64(a, b);
  }
}

/* The lanes of a vector combined by `combine`. */
#define FOLD(name)                                                                                                     \
  INLINE v_u8 fold_##name(v_u8 x, unsigned bytes) {                                                                    \
    for (unsigned group = VB / 2; group >= bytes; group /= 2) x = name(x, v_swap(x, group), bytes);                    \
    return x;                                                                                                          \
  }
FOLD(min_unsigned)
FOLD(max_unsigned)
FOLD(max_signed)
#undef FOLD

typedef struct patterns {
  v_u8 greatest_unsigned, least_unsigned, greatest_signed;
} patterns;

INLINE patterns patterns_of(v_u8 x) {
  return (patterns){x, x, x};
}

INLINE patterns merge_patterns(patterns a, patterns b, unsigned bytes) {
  return (patterns){max_unsigned(a.greatest_unsigned, b.greatest_unsigned, bytes),
                    min_unsigned(a.least_unsigned, b.least_unsigned, bytes),
                    max_signed(a.greatest_signed, b.greatest_signed, bytes)};
}

INLINE uint64_t complement(unsigned bytes) {
  return UINT64_MAX >> (64 - 8 * bytes);
}

/* The keys of both ends of the order; false if there are NaNs to be skipped. */
INLINE bool keys_of_patterns(const red_lowered *lowered, patterns found, unsigned bytes, int64_t keys[2]) {
  const uint64_t all = complement(bytes), sign = all ^ all >> 1;
  uint64_t most = v_first_u64(fold_max_unsigned(found.greatest_unsigned, bytes)) & all;
  uint64_t least = v_first_u64(fold_min_unsigned(found.least_unsigned, bytes)) & all;
  uint64_t top = v_first_u64(fold_max_signed(found.greatest_signed, bytes)) & all;
  if (most > (lowered->inf | sign) || (top < sign && top > lowered->inf)) {
    keys[0] = keys[1] = lowered->nan_key;
    return !lowered->nan_skip;
  }
  uint64_t minimum = (most & sign) != 0 ? most : least, maximum = top < sign ? top : least;
  bool maxima = lowered->key_xor != 0;
  keys[0] = key_of_bits(lowered, 0, maxima ? maximum : minimum, bytes);
  keys[1] = key_of_bits(lowered, all, maxima ? minimum : maximum, bytes);
  return true;
}

/*
 * One end of the order takes two of them. `far` is M or S as above. Where no number of that sign is found, the other
 * sign's least magnitude is: `near` is the least unsigned pattern after a shift that puts the NaNs of that other sign
 * below everything.
 */
typedef struct end_patterns {
  v_u8 far, near;
} end_patterns;

/* The pattern of the least NaN whose sign is that of the wanted end's opposite. */
INLINE uint64_t end_shift(const red_lowered *lowered, bool maxima, unsigned bytes) {
  const uint64_t all = complement(bytes), sign = all ^ all >> 1;
  return lowered->inf + 1 + (maxima ? sign : 0);
}

INLINE end_patterns merge_end(end_patterns a, v_u8 x, v_u8 shift, bool maxima, unsigned bytes) {
  return (end_patterns){maxima ? max_signed(a.far, x, bytes) : max_unsigned(a.far, x, bytes),
                        min_unsigned(a.near, lanes_minus(x, shift, bytes), bytes)};
}

/* The key of that end; false if there are NaNs to be skipped. */
INLINE bool key_of_end(const red_lowered *lowered, end_patterns found, bool maxima, unsigned bytes, int64_t *key) {
  const uint64_t all = complement(bytes), sign = all ^ all >> 1;
  v_u8 fold = maxima ? fold_max_signed(found.far, bytes) : fold_max_unsigned(found.far, bytes);
  uint64_t far = v_first_u64(fold) & all;
  uint64_t near = (v_first_u64(fold_min_unsigned(found.near, bytes)) + end_shift(lowered, maxima, bytes)) & all;
  bool is_far = maxima == (far < sign);
  if ((is_far && (far & ~sign) > lowered->inf) || ((near < sign) != maxima && (near & ~sign) > lowered->inf)) {
    *key = lowered->nan_key;
    return !lowered->nan_skip;
  }
  *key = key_of_bits(lowered, 0, is_far ? far : near, bytes);
  return true;
}

#endif
