/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a key is first found, and where the least one is: a look for it, then one for its first place. */
#include "end.h"

#include "kernels.def"

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

INLINE v_found lanes_found(const wanted *w, v_u8 x, unsigned bytes) {
  v_u8 masked = x & w->mask;
  return w->nan ? v_greater(masked, w->bits, bytes) : v_equal(masked, w->bits, bytes);
}

/* It is there: what stands in for a vector's missing elements comes after it, what is seen again was not it. */
INLINE size_t find_first(const wanted *w, const uint8_t *p, size_t n, unsigned bytes) {
  const size_t lanes = VB / bytes;
  if (n < lanes) return v_found_first(lanes_found(w, load_first(p, n, bytes), bytes), bytes);
  size_t i = 0;
  for (; n - i >= CHAINS * lanes; i += CHAINS * lanes) {
    v_found found[CHAINS];
    for (unsigned j = 0; j < CHAINS; j++) found[j] = lanes_found(w, v_load(p + i * bytes + j * VB), bytes);
    if (!v_found_any(found[0] | found[1] | found[2] | found[3])) continue;
    for (unsigned j = 0; j < CHAINS - 1; j++)
      if (v_found_any(found[j])) return i + j * lanes + v_found_first(found[j], bytes);
    return i + (CHAINS - 1) * lanes + v_found_first(found[CHAINS - 1], bytes);
  }
  for (; n - i > lanes; i += lanes) {
    v_found found = lanes_found(w, v_load(p + i * bytes), bytes);
    if (v_found_any(found)) return i + v_found_first(found, bytes);
  }
  return n - lanes + v_found_first(lanes_found(w, load_last(p, n, bytes), bytes), bytes);
}

INLINE size_t find(const red_lowered *lowered, const uint8_t *p, size_t n, int64_t key, red_lane_op op) {
  wanted w = wanted_of(lowered, key, op);
  if (w.nan) return find_first(&(wanted){w.mask, w.bits, true}, p, n, op_bytes(op));
  return find_first(&(wanted){w.mask, w.bits, false}, p, n, op_bytes(op));
}

INLINE red_state argmin_keys(const red_lowered *lowered, const uint8_t *p, size_t n, red_lane_op op) {
  red_state best = v_state(op, v_fold(op, least_keys(lowered, 0, p, n, op)));
  best.index = find(lowered, p, n, best.key, op);
  return best;
}

/* All that is between the two looks stays in vectors. False if there are NaNs. */
INLINE bool argmin_numbers(const red_lowered *lowered, const uint8_t *p, size_t n, bool maxima, red_lane_op op,
                           red_state *best) {
  const unsigned bytes = op_bytes(op);
  const key_constants keys = key_constants_of(lowered, 0, op);
  const v_u8 none = (v_u8){0}, one = v_splat((red_state){.u64 = 1}, bytes);
  const v_u8 shift = v_splat((red_state){.u64 = end_shift(lowered, maxima, bytes)}, bytes);
  end_patterns end = sweep_end(lowered, p, n, maxima, bytes);
  end.near = lanes_minus(end.near, lanes_minus(none, shift, bytes), bytes);
  const v_u8 far_magnitude = end.far & keys.magnitude, near_magnitude = end.near & keys.magnitude;
  if (v_found_any(v_greater(far_magnitude, keys.inf, bytes) | v_greater(near_magnitude, keys.inf, bytes))) return false;
  const v_u8 negative = lanes_negative(end.far, bytes);
  v_u8 x = maxima ? v_select(negative, end.near, end.far) : v_select(negative, end.far, end.near);
  x ^= (lanes_negative(x, bytes) & keys.magnitude) ^ keys.flip;
  x = v_fold(op, x) ^ keys.flip;
  x ^= lanes_negative(x, bytes) & keys.magnitude;
  const v_u8 zero = lanes_negative(lanes_minus(x & keys.magnitude, one, bytes), bytes), mask = ~zero | keys.magnitude;
  const wanted w = {mask, x & mask, false};
  best->index = find_first(&w, p, n, bytes);
  best->key = key_of_bits(lowered, 0, v_first_u64(w.bits) & complement(bytes), bytes);
  return true;
}

INLINE red_state argmin(const red_lowered *lowered, const uint8_t *p, size_t n, red_lane_op op) {
  red_state best;
  if (op < RED_MIN_F16) {
    const v_u8 flip = v_splat((red_state){.u64 = lowered->key_xor}, op_bytes(op));
    const v_u8 key = v_fold(op, least_keys(lowered, 0, p, n, op));
    best = v_state(op, key);
    best.index = find_first(&(wanted){~(v_u8){0}, key ^ flip, false}, p, n, op_bytes(op));
    return best;
  }
  if (lowered->key_xor != 0 ? argmin_numbers(lowered, p, n, true, op, &best)
                            : argmin_numbers(lowered, p, n, false, op, &best))
    return best;
  return argmin_keys(lowered, p, n, op);
}

#define KERNEL(suffix, op)                                                                                             \
  size_t ISA(find_##suffix)(const red_lowered *lowered, const void *data, size_t n, int64_t key) {                     \
    return find(lowered, data, n, key, op);                                                                            \
  }                                                                                                                    \
  red_state ISA(argmin_##suffix)(const red_lowered *lowered, const void *data, size_t n) {                             \
    return argmin(lowered, data, n, op);                                                                               \
  }
RED_KEY_KINDS(KERNEL)
