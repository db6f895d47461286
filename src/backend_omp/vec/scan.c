/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans in the canonical order `scan-1`: nodes of adjacent pairs on the way up, P(k) plus a node on the way down, so
 * that every output is the left-to-right sum of the nodes of its index (docs/numerics.md).
 *
 * A block is 4 vectors of 32-bit lanes, 2 of 64-bit, 1 of narrower ones. Its lowest levels are done between vectors by
 * even/odd shuffles, its upper ones within the single vector that is left, by exchanging neighbouring groups: both
 * partners compute their node, and on the way down the right partner adds the left one's. Above the blocks, which are
 * taken one after another, the nodes and prefixes of the current index's binary digits are kept in two stacks.
 */
#include "key.h"

#include "kernels.def"

#if VB == 16
#define LANE_LEVELS
#elif VB == 32
#define LANE_LEVELS 16,
#else
#define LANE_LEVELS 16, 32,
#endif

/* Group sizes that are exchanged within the last vector, lowest level first. 32 and 64 bits: even/odd came before. */
static const unsigned char levels_8[] = {1, 2, 4, 8, LANE_LEVELS};
static const unsigned char levels_16[] = {2, 4, 8, LANE_LEVELS};
static const unsigned char levels_32[] = {LANE_LEVELS 4, 8};
static const unsigned char levels_64[] = {LANE_LEVELS 8};

enum {
  MAX_LEVELS = 6,
  MAX_VECTORS = 4,
  MAX_STACK = 64
};

INLINE unsigned block_vectors(red_lane_op op) {
  return op_bytes(op) == 4 ? 4 : op_bytes(op) == 8 ? 2 : 1;
}

INLINE unsigned level_count(red_lane_op op) {
  switch (op_bytes(op)) {
  case 1:
    return sizeof levels_8;
  case 2:
    return sizeof levels_16;
  case 4:
    return sizeof levels_32;
  default:
    return sizeof levels_64;
  }
}

INLINE unsigned level_bytes(red_lane_op op, unsigned level) {
  switch (op_bytes(op)) {
  case 1:
    return levels_8[level];
  case 2:
    return levels_16[level];
  case 4:
    return levels_32[level];
  default:
    return levels_64[level];
  }
}

/* What the way up leaves for the way down: left operands of each level. */
typedef struct block {
  v_u8 left[3];             /* even elements of the shuffled levels */
  v_u8 partner[MAX_LEVELS]; /* the other group's node at each level of the last vector */
  v_u8 total;               /* the node of the whole block, in every lane */
} block;

INLINE block up(red_lane_op op, const v_u8 *x) {
  block b;
  v_u8 node;
  if (op_bytes(op) == 4) {
    b.left[0] = v_even_32(x[0], x[1]);
    b.left[1] = v_even_32(x[2], x[3]);
    v_u8 pairs0 = v_op(op, b.left[0], v_odd_32(x[0], x[1])), pairs1 = v_op(op, b.left[1], v_odd_32(x[2], x[3]));
    b.left[2] = v_even_32(pairs0, pairs1);
    node = v_op(op, b.left[2], v_odd_32(pairs0, pairs1));
  } else if (op_bytes(op) == 8) {
    b.left[0] = v_low_64(x[0], x[1]);
    node = v_op(op, b.left[0], v_high_64(x[0], x[1]));
  } else {
    node = x[0];
  }
  for (unsigned level = 0; level < level_count(op); level++) {
    b.partner[level] = v_swap(node, level_bytes(op, level));
    node = v_op(op, node, b.partner[level]);
  }
  b.total = node;
  return b;
}

/* From P at the block's start, in every lane, to P of each group of the last vector. */
INLINE v_u8 down_levels(red_lane_op op, const block *b, v_u8 before) {
  v_u8 p = before;
  for (unsigned level = level_count(op); level-- > 0;)
    p = v_upper(p, v_op(op, p, b->partner[level]), level_bytes(op, level));
  return p;
}

/* The block's outputs: P(i), or P(i + 1) for inclusive scans; `after` is P at the block's end, in every lane. */
INLINE void down(red_lane_op op, const block *b, v_u8 before, v_u8 after, bool exclusive, v_u8 *x) {
  v_u8 p = down_levels(op, b, before);
  if (op_bytes(op) == 4) {
    v_u8 q = v_op(op, p, b->left[2]);
    v_u8 low = v_low_32(p, q), high = v_high_32(p, q);
    v_u8 low_mid = v_op(op, low, b->left[0]), high_mid = v_op(op, high, b->left[1]);
    if (exclusive) {
      x[0] = v_low_32(low, low_mid);
      x[1] = v_high_32(low, low_mid);
      x[2] = v_low_32(high, high_mid);
      x[3] = v_high_32(high, high_mid);
    } else {
      v_u8 r = v_next_32(p, after);
      v_u8 low_next = v_low_32(q, r), high_next = v_high_32(q, r);
      x[0] = v_low_32(low_mid, low_next);
      x[1] = v_high_32(low_mid, low_next);
      x[2] = v_low_32(high_mid, high_next);
      x[3] = v_high_32(high_mid, high_next);
    }
  } else if (op_bytes(op) == 8) {
    v_u8 mid = v_op(op, p, b->left[0]);
    v_u8 next = exclusive ? mid : v_next_64(p, after);
    x[0] = v_low_64(exclusive ? p : mid, next);
    x[1] = v_high_64(exclusive ? p : mid, next);
  } else {
    x[0] = exclusive ? p : v_op(op, p, x[0]); /* no order to keep among integers */
  }
}

/* ---- The stacks: P(k) and the nodes of k's digits ---- */

typedef struct stacks {
  uint64_t k;
  v_u8 prefix[MAX_STACK]; /* [h]: P(k without its digits below h) */
  v_u8 node[MAX_STACK];   /* [h]: the node of digit h, where k has it */
} stacks;

/* Levels 0 .. as many as `blocks` will need. */
INLINE void stacks_init(stacks *s, uint64_t blocks, v_u8 before) {
  s->k = 0;
  unsigned levels = 0;
  do s->prefix[levels++] = before;
  while (blocks >> (levels - 1) != 0);
}

/* Append the node of the next block: P(k + 1). */
INLINE v_u8 advance(red_lane_op op, stacks *s, v_u8 node) {
  unsigned h = 0;
  for (; (s->k >> h & 1) != 0; h++) node = v_op(op, s->node[h], node);
  s->node[h] = node;
  v_u8 prefix = v_op(op, s->prefix[h + 1], node);
  for (unsigned lower = 0; lower <= h; lower++) s->prefix[lower] = prefix;
  s->k++;
  return prefix;
}

/* ---- Elements to lanes and back ---- */

INLINE bool is_float(red_lane_op op) {
  return op <= RED_MUL_F64;
}
INLINE bool has_keys(red_lane_op op) {
  return op >= RED_MIN_I8 && op <= RED_MIN_F64;
}

INLINE v_u8 lanes_nan(red_lane_op op, v_u8 x) {
  return op_bytes(op) == 4 ? (v_u8)((v_f32)x != (v_f32)x) : (v_u8)((v_f64)x != (v_f64)x);
}

INLINE void finish(red_lane_op op, const key_constants *keys, v_u8 *x) {
  if (has_keys(op))
    for (unsigned j = 0; j < block_vectors(op); j++) x[j] = v_unkey(keys, x[j], op);
  if (!is_float(op)) return;
  v_u8 nan = lanes_nan(op, x[0]);
  for (unsigned j = 1; j < block_vectors(op); j++) nan |= lanes_nan(op, x[j]);
  if (__builtin_expect(!v_any(nan), 1)) return;
  v_u8 quiet = op_bytes(op) == 4 ? (v_u8)v_splat_u32(0x7fc00000) : (v_u8)v_splat_u64(0x7ff8000000000000);
  for (unsigned j = 0; j < block_vectors(op); j++) x[j] = v_select(lanes_nan(op, x[j]), quiet, x[j]);
}

/* A short last block is padded with identities. */
INLINE void load_partial(red_lane_op op, const key_constants *keys, const uint8_t *in, size_t count, v_u8 *x) {
  const unsigned bytes = op_bytes(op);
  const size_t lanes = VB / bytes;
  for (unsigned j = 0; j < block_vectors(op); j++) {
    size_t here = count < lanes ? count : lanes;
    x[j] = v_identity(op);
    if (here == lanes)
      x[j] = v_load(in);
    else if (here > 0)
      x[j] = v_load_partial(in, here, bytes, x[j]);
    if (has_keys(op)) {
      uint8_t key[VB];
      v_u8 lanes_in = v_key(keys, x[j], op);
      memcpy(key, &lanes_in, VB);
      x[j] = v_identity(op);
      memcpy(&x[j], key, here * bytes);
    }
    in += here * bytes;
    count -= here;
  }
}

INLINE red_state scan(red_lane_op op, const red_lowered *lowered, const uint8_t *in, uint8_t *out, size_t n,
                      red_state before_all, unsigned flags) {
  const unsigned vectors = block_vectors(op), bytes = op_bytes(op);
  const size_t size = vectors * VB / bytes;
  const bool exclusive = (flags & RED_SCAN_EXCLUSIVE) != 0, stream = (flags & RED_SCAN_STREAM) != 0;
  const key_constants keys = key_constants_of(lowered, 0, has_keys(op) ? op : RED_MIN_I64);
  v_u8 x[MAX_VECTORS], before = v_splat(before_all, bytes);
  block b = {.total = v_identity(op)};
  stacks s;
  stacks_init(&s, n / size, before);
  for (size_t left = n; left >= size; left -= size, in += size * bytes, out += size * bytes) {
    for (unsigned j = 0; j < vectors; j++) {
      x[j] = v_load(in + j * VB);
      if (has_keys(op)) x[j] = v_key(&keys, x[j], op);
    }
    b = up(op, x);
    v_u8 after = advance(op, &s, b.total);
    down(op, &b, before, after, exclusive, x);
    finish(op, &keys, x);
    for (unsigned j = 0; j < vectors; j++)
      if (stream)
        v_stream(out + j * VB, x[j]);
      else
        v_store(out + j * VB, x[j]);
    before = after;
  }
  if (stream) v_stream_end();
  size_t rest = n % size;
  if (rest > 0) {
    load_partial(op, &keys, in, rest, x);
    b = up(op, x);
    down(op, &b, before, before, exclusive, x); /* P at the block's end is beyond the outputs */
    finish(op, &keys, x);
    memcpy(out, x, rest * bytes);
    return v_state(op, b.total);
  }
  return v_state(op, s.node[63 - __builtin_clzll(s.k)]);
}

INLINE red_state total(red_lane_op op, const uint8_t *in, size_t n) {
  const unsigned vectors = block_vectors(op), bytes = op_bytes(op);
  const size_t size = vectors * VB / bytes;
  v_u8 x[MAX_VECTORS];
  if (n < size) {
    key_constants unused = {.merge_zeros = false};
    load_partial(op, &unused, in, n, x);
    return v_state(op, up(op, x).total);
  }
  v_u8 node[MAX_STACK];
  for (uint64_t k = 0;; k++, in += size * bytes) {
    for (unsigned j = 0; j < vectors; j++) x[j] = v_load(in + j * VB);
    v_u8 sum = up(op, x).total;
    unsigned h = 0;
    for (; (k >> h & 1) != 0; h++) sum = v_op(op, node[h], sum);
    if ((k + 1) * size == n) return v_state(op, sum);
    node[h] = sum;
  }
}

#define KERNEL(name, op)                                                                                               \
  red_state ISA(scan_##name)(const red_lowered *lowered, const void *in, void *out, size_t n, red_state before,        \
                             unsigned flags) {                                                                         \
    return scan(op, lowered, in, out, n, before, flags);                                                               \
  }
RED_SCANS(KERNEL)
#undef KERNEL

#define KERNEL(name, op)                                                                                               \
  red_state ISA(total_##name)(const red_lowered *lowered, const void *in, size_t n) {                                  \
    (void)lowered;                                                                                                     \
    return total(op, in, n);                                                                                           \
  }
RED_TOTALS(KERNEL)
