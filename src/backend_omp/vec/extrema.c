/* SPDX-License-Identifier: BSD-2-Clause */
/* The least key of an array and that of the other end of the order. */
#include "end.h"
#include "ends.h"

#include "kernels.def"

/* n > 0; a short tail is padded with its own first element. */
INLINE patterns sweep_floats(const uint8_t *p, size_t n, unsigned bytes) {
  const size_t lanes = VB / bytes;
  red_state first = {.u64 = 0};
  memcpy(&first.u64, p, bytes);
  v_u8 pad = v_splat(first, bytes);
  patterns all[2] = {patterns_of(pad), patterns_of(pad)};
  for (; n >= 2 * lanes; n -= 2 * lanes, p += 2 * VB)
    for (unsigned j = 0; j < 2; j++) {
      v_u8 x = v_load(p + j * VB);
      STAY_IN_REGISTER(x); /* GCC would load it three times */
      all[j] = merge_patterns(all[j], patterns_of(x), bytes);
    }
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB) {
    v_u8 x = n < lanes ? v_load_partial(p, n, bytes, pad) : v_load(p);
    all[0] = merge_patterns(all[0], patterns_of(x), bytes);
  }
  return merge_patterns(all[0], all[1], bytes);
}

INLINE bool least_float(const red_lowered *lowered, const uint8_t *p, size_t n, bool maxima, unsigned bytes,
                        int64_t *key) {
  return key_of_end(lowered, sweep_end(lowered, p, n, maxima, bytes), maxima, bytes, key);
}

/* By keys: the way of integers, and of floats among NaNs. */
INLINE int64_t least_key(const red_lowered *lowered, uint64_t flip, const uint8_t *p, size_t n, red_lane_op op) {
  return v_state(op, v_fold(op, least_keys(lowered, flip, p, n, op))).key;
}

/* Both ends in one sweep: the keys of one are the complements of the other's. */
INLINE void integer_extrema(const red_lowered *lowered, const uint8_t *p, size_t n, red_lane_op op, int64_t keys[2]) {
  const unsigned bytes = op_bytes(op);
  const size_t lanes = VB / bytes;
  const v_u8 flip = v_splat((red_state){.u64 = lowered->key_xor}, bytes);
  red_state first = {.u64 = 0};
  memcpy(&first.u64, p, bytes);
  v_u8 pad = v_splat(first, bytes), least[2], greatest[2];
  for (unsigned j = 0; j < 2; j++) least[j] = greatest[j] = pad ^ flip;
  for (; n >= 2 * lanes; n -= 2 * lanes, p += 2 * VB)
    for (unsigned j = 0; j < 2; j++) {
      v_u8 key = v_load(p + j * VB) ^ flip;
      least[j] = v_op(op, least[j], key);
      greatest[j] = max_signed(greatest[j], key, bytes);
    }
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB) {
    v_u8 key = (n < lanes ? v_load_partial(p, n, bytes, pad) : v_load(p)) ^ flip;
    least[0] = v_op(op, least[0], key);
    greatest[0] = max_signed(greatest[0], key, bytes);
  }
  keys[0] = v_state(op, v_fold(op, v_op(op, least[0], least[1]))).key;
  keys[1] = ~v_state(op, fold_max_signed(max_signed(greatest[0], greatest[1], bytes), bytes)).key;
}

/*
 * Both ends and the sum of a whole chunk of 32-bit integers in one sweep. Sums mod 2^32 and sums of upper halves give
 * the whole one: what it has below its upper halves' part is less than 2^32.
 */
INLINE red_state integer_stats(red_dtype in, const red_lowered *lowered, const uint8_t *p, int64_t keys[2]) {
  enum {
    N = 4096,
    LANES = VB / 4
  };
  ends seen[2] = {ends_of(v_load(p)), ends_of(v_load(p))};
  v_u32 whole[2] = {{0}};
  v_i32 upper[2] = {{0}};
  for (size_t i = 0; i < N; i += 2 * LANES)
    for (unsigned j = 0; j < 2; j++) {
      const v_u8 x = v_load(p + 4 * (i + j * LANES));
      seen[j] = merge_ends(in, seen[j], ends_of(x));
      whole[j] += (v_u32)x;
      upper[j] += in == RED_I32 ? (v_i32)x >> 16 : (v_i32)((v_u32)x >> 16);
    }
  keys_of_ends(in, lowered, merge_ends(in, seen[0], seen[1]), keys);
  const v_i32 uppers = upper[0] + upper[1];
  const v_u32 lowers = whole[0] + whole[1] - ((v_u32)uppers << 16);
  int64_t sum = 0;
  for (unsigned l = 0; l < LANES; l++) sum += (int64_t)uppers[l] * 65536 + lowers[l];
  return (red_state){.key = sum};
}

red_state ISA(stats_i32)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return integer_stats(RED_I32, lowered, data, keys);
}
red_state ISA(stats_u32)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return integer_stats(RED_U32, lowered, data, keys);
}

INLINE void extrema(const red_lowered *lowered, const uint8_t *p, size_t n, red_lane_op op, bool both,
                    int64_t keys[2]) {
  const unsigned bytes = op_bytes(op);
  const uint64_t all = complement(bytes);
  if (op < RED_MIN_F16) {
    if (both)
      integer_extrema(lowered, p, n, op, keys);
    else
      keys[0] = least_key(lowered, 0, p, n, op);
    return;
  }
  if (!both && (lowered->key_xor != 0 ? least_float(lowered, p, n, true, bytes, keys)
                                      : least_float(lowered, p, n, false, bytes, keys)))
    return;
  if (both && keys_of_patterns(lowered, sweep_floats(p, n, bytes), bytes, keys)) return;
  keys[0] = least_key(lowered, 0, p, n, op);
  if (both) keys[1] = least_key(lowered, all, p, n, op);
}

#define KERNEL(suffix, op)                                                                                             \
  red_state ISA(min_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                                \
    int64_t keys[2];                                                                                                   \
    extrema(lowered, data, n, op, false, keys);                                                                        \
    return (red_state){.key = keys[0]};                                                                                \
  }                                                                                                                    \
  void ISA(extrema_##suffix)(const red_lowered *lowered, const void *data, size_t n, int64_t keys[2]) {                \
    extrema(lowered, data, n, op, true, keys);                                                                         \
  }
RED_KEY_KINDS(KERNEL)
