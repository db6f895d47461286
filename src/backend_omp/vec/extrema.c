/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least key of an array, that of the other end of the order, and where a key is first found.
 */
#include "patterns.h"

#include "kernels.def"

enum {
  CHAINS = 4
};

/* n > 0; a short tail is padded with its own first element. */
INLINE patterns sweep_floats(const uint8_t *p, size_t n, unsigned bytes) {
  const size_t lanes = VB / bytes;
  red_state first = {.u64 = 0};
  memcpy(&first.u64, p, bytes);
  v_u8 pad = v_splat(first, bytes);
  patterns all[2] = {patterns_of(pad), patterns_of(pad)};
  for (; n >= 2 * lanes; n -= 2 * lanes, p += 2 * VB)
    for (unsigned j = 0; j < 2; j++) all[j] = merge_patterns(all[j], patterns_of(v_load(p + j * VB)), bytes);
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB) {
    v_u8 x = n < lanes ? v_load_partial(p, n, bytes, pad) : v_load(p);
    all[0] = merge_patterns(all[0], patterns_of(x), bytes);
  }
  return merge_patterns(all[0], all[1], bytes);
}

INLINE end_patterns sweep_end(const red_lowered *lowered, const uint8_t *p, size_t n, bool maxima, unsigned bytes) {
  const size_t lanes = VB / bytes;
  const v_u8 shift = v_splat((red_state){.u64 = end_shift(lowered, maxima, bytes)}, bytes);
  red_state first = {.u64 = 0};
  memcpy(&first.u64, p, bytes);
  const v_u8 pad = v_splat(first, bytes);
  end_patterns all[2];
  all[0] = all[1] = (end_patterns){pad, lanes_minus(pad, shift, bytes)};
  for (; n >= 2 * lanes; n -= 2 * lanes, p += 2 * VB)
    for (unsigned j = 0; j < 2; j++) all[j] = merge_end(all[j], v_load(p + j * VB), shift, maxima, bytes);
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB) {
    v_u8 x = n < lanes ? v_load_partial(p, n, bytes, pad) : v_load(p);
    all[0] = merge_end(all[0], x, shift, maxima, bytes);
  }
  all[0].far = maxima ? max_signed(all[0].far, all[1].far, bytes) : max_unsigned(all[0].far, all[1].far, bytes);
  all[0].near = min_unsigned(all[0].near, all[1].near, bytes);
  return all[0];
}

INLINE bool least_float(const red_lowered *lowered, const uint8_t *p, size_t n, bool maxima, unsigned bytes,
                        int64_t *key) {
  return key_of_end(lowered, sweep_end(lowered, p, n, maxima, bytes), maxima, bytes, key);
}

/* By keys, one vector at a time: the way of integers, and of floats among NaNs. */
INLINE int64_t least_key(const red_lowered *lowered, uint64_t flip, const uint8_t *p, size_t n, red_lane_op op) {
  const unsigned bytes = op_bytes(op);
  const size_t lanes = VB / bytes;
  const key_constants keys = key_constants_of(lowered, flip, op);
  red_state first = {.u64 = 0};
  memcpy(&first.u64, p, bytes);
  v_u8 pad = v_splat(first, bytes);
  v_u8 acc[CHAINS];
  for (unsigned j = 0; j < CHAINS; j++) acc[j] = v_identity(op);
  for (; n >= CHAINS * lanes; n -= CHAINS * lanes, p += CHAINS * VB)
    for (unsigned j = 0; j < CHAINS; j++) acc[j] = v_op(op, acc[j], v_key(&keys, v_load(p + j * VB), op));
  for (; n > 0; n -= n < lanes ? n : lanes, p += VB) {
    v_u8 x = n < lanes ? v_load_partial(p, n, bytes, pad) : v_load(p);
    acc[0] = v_op(op, acc[0], v_key(&keys, x, op));
  }
  acc[0] = v_op(op, v_op(op, acc[0], acc[1]), v_op(op, acc[2], acc[3]));
  return v_state(op, v_fold(op, acc[0])).key;
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
INLINE red_state integer_stats(const red_lowered *lowered, const uint8_t *p, bool is_signed, int64_t keys[2]) {
  enum {
    N = 4096,
    LANES = VB / 4
  };
  const v_u8 flip = v_splat((red_state){.u64 = lowered->key_xor}, 4);
  v_u8 least[2], greatest[2];
  v_u32 whole[2] = {{0}};
  v_i32 upper[2] = {{0}};
  for (unsigned j = 0; j < 2; j++) least[j] = greatest[j] = v_load(p) ^ flip;
  for (size_t i = 0; i < N; i += 2 * LANES)
    for (unsigned j = 0; j < 2; j++) {
      const v_u8 x = v_load(p + 4 * (i + j * LANES)), key = x ^ flip;
      least[j] = v_min_i32(least[j], key);
      greatest[j] = v_max_i32(greatest[j], key);
      whole[j] += (v_u32)x;
      upper[j] += is_signed ? (v_i32)x >> 16 : (v_i32)((v_u32)x >> 16);
    }
  keys[0] = v_state(RED_MIN_I32, v_fold(RED_MIN_I32, v_min_i32(least[0], least[1]))).key;
  keys[1] = ~v_state(RED_MIN_I32, fold_max_signed(v_max_i32(greatest[0], greatest[1]), 4)).key;
  const v_i32 uppers = upper[0] + upper[1];
  const v_u32 lowers = whole[0] + whole[1] - ((v_u32)uppers << 16);
  int64_t sum = 0;
  for (unsigned l = 0; l < LANES; l++) sum += (int64_t)uppers[l] * 65536 + lowers[l];
  return (red_state){.key = sum};
}

red_state ISA(stats_i32)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return integer_stats(lowered, data, true, keys);
}
red_state ISA(stats_u32)(const red_lowered *lowered, const void *data, int64_t keys[2]) {
  return integer_stats(lowered, data, false, keys);
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

/* What to look for: numbers (a zero of either sign where they are merged) equal some bits under a mask, NaNs exceed
 * infinity. */
typedef struct wanted {
  v_u8 mask, bits;
  bool nan;
} wanted;

INLINE wanted wanted_of(const red_lowered *lowered, int64_t key, red_lane_op op) {
  const unsigned bytes = op_bytes(op);
  const uint64_t all = complement(bytes), magnitude = all >> 1;
  uint64_t bits = ((uint64_t)key ^ lowered->key_xor) & all, mask = all;
  bool is_float = op >= RED_MIN_F16, nan = is_float && key == lowered->nan_key;
  if (is_float && bits > magnitude) bits ^= magnitude;
  if (nan || (lowered->merge_zeros && (bits & magnitude) == 0)) mask = magnitude;
  bits = nan ? lowered->inf : bits & mask;
  return (wanted){v_splat((red_state){.u64 = mask}, bytes), v_splat((red_state){.u64 = bits}, bytes), nan};
}

INLINE v_u8 lanes_found(const wanted *w, v_u8 x, unsigned bytes) {
  v_u8 masked = x & w->mask;
  return w->nan ? lanes_greater(masked, w->bits, bytes) : lanes_equal(masked, w->bits, bytes);
}

/* The key is there: pads, which may look like it, come after it. */
INLINE size_t find(const red_lowered *lowered, const uint8_t *p, size_t n, int64_t key, red_lane_op op) {
  const unsigned bytes = op_bytes(op);
  const size_t lanes = VB / bytes;
  const wanted w = wanted_of(lowered, key, op);
  size_t i = 0;
  for (; n - i >= CHAINS * lanes; i += CHAINS * lanes) {
    v_u8 any = (v_u8){0};
    for (unsigned j = 0; j < CHAINS; j++) any |= lanes_found(&w, v_load(p + i * bytes + j * VB), bytes);
    if (v_any(any)) break;
  }
  for (;; i += lanes) {
    v_u8 x = n - i < lanes ? v_load_partial(p + i * bytes, n - i, bytes, (v_u8){0}) : v_load(p + i * bytes);
    v_u8 found = lanes_found(&w, x, bytes);
    if (v_any(found)) return i + v_first_set(found) / bytes;
  }
}

#define RED_KEY_KINDS(X)                                                                                               \
  X(i8, RED_MIN_I8)                                                                                                    \
  X(i16, RED_MIN_I16)                                                                                                  \
  X(i32, RED_MIN_I32)                                                                                                  \
  X(i64, RED_MIN_I64)                                                                                                  \
  X(f16, RED_MIN_F16)                                                                                                  \
  X(f32, RED_MIN_F32)                                                                                                  \
  X(f64, RED_MIN_F64)

#define KERNEL(suffix, op)                                                                                             \
  red_state ISA(min_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                                \
    int64_t keys[2];                                                                                                   \
    extrema(lowered, data, n, op, false, keys);                                                                        \
    return (red_state){.key = keys[0]};                                                                                \
  }                                                                                                                    \
  void ISA(extrema_##suffix)(const red_lowered *lowered, const void *data, size_t n, int64_t keys[2]) {                \
    extrema(lowered, data, n, op, true, keys);                                                                         \
  }                                                                                                                    \
  size_t ISA(find_##suffix)(const red_lowered *lowered, const void *data, size_t n, int64_t key) {                     \
    return find(lowered, data, n, key, op);                                                                            \
  }
RED_KEY_KINDS(KERNEL)
