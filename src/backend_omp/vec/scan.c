/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans in the canonical order `scan-1`: nodes of adjacent pairs on the way up, P(k) plus a node on the way down, so
 * that every output is the left-to-right sum of the nodes of its index (docs/numerics.md). Blocks are swept in
 * registers (block.h) and taken one after another; above them, the nodes and prefixes of the current index's binary
 * digits are kept in two stacks.
 */
#include "block.h"
#include "key.h"
#include "words.h"

#include "kernels.def"

enum {
  MAX_STACK = 64
};

/* ---- P(k) and the nodes of k's digits, in two stacks; where any order will do, P and the total alone ---- */

INLINE bool is_float(red_lane_op op) {
  return op <= RED_MUL_F64;
}
/* Is it worth kernels of its own for exclusive and inclusive scans? The others ask in passing. */
INLINE bool is_compiled_twice(red_lane_op op) {
  return op <= RED_ADD_U64;
}
INLINE bool has_keys(red_lane_op op) {
  return op >= RED_MIN_I8 && op <= RED_MIN_F64;
}

typedef struct stacks {
  uint64_t k;
  v_u8 prefix[MAX_STACK]; /* [h]: P(k without its digits below h) */
  v_u8 node[MAX_STACK];   /* [h]: the node of digit h, where k has it */
} stacks;

/* Levels 0 .. as many as `blocks` will need. */
INLINE void stacks_init(red_lane_op op, stacks *s, uint64_t blocks, v_u8 before) {
  s->k = 0;
  s->prefix[0] = before;
  s->node[0] = v_identity(op);
  if (!is_float(op)) return;
  unsigned levels = 0;
  do s->prefix[levels++] = before;
  while (blocks >> (levels - 1) != 0);
}

/* Append the node of the next 2^level blocks, k being a multiple of that: the new P(k). */
INLINE v_u8 advance(red_lane_op op, stacks *s, unsigned level, v_u8 node) {
  if (!is_float(op)) {
    s->node[0] = v_op(op, s->node[0], node);
    return s->prefix[0] = v_op(op, s->prefix[0], node);
  }
  unsigned h = level;
  for (; (s->k >> h & 1) != 0; h++) node = v_op(op, s->node[h], node);
  s->node[h] = node;
  v_u8 prefix = v_op(op, s->prefix[h + 1], node);
  for (unsigned lower = 0; lower <= h; lower++) s->prefix[lower] = prefix;
  s->k += (uint64_t)1 << level;
  return prefix;
}

/* The node of all that was appended, if they were a power of two. */
INLINE red_state total_of(red_lane_op op, const stacks *s) {
  return v_state(op, s->node[is_float(op) ? 63 - __builtin_clzll(s->k) : 0]);
}

/* ---- Elements to lanes and back ---- */

INLINE v_u8 load_lanes(red_lane_op op, const key_constants *keys, const uint8_t *in) {
  return has_keys(op) ? v_key(keys, v_load(in), op) : v_load(in);
}

INLINE group load_group(red_lane_op op, const key_constants *keys, const uint8_t *in) {
  const unsigned vectors = group_vectors(op);
  group g;
  g.x[0] = load_lanes(op, keys, in);
  if (vectors > 1) g.x[1] = load_lanes(op, keys, in + VB);
  if (vectors > 2) g.x[2] = load_lanes(op, keys, in + 2 * VB);
  if (vectors > 2) g.x[3] = load_lanes(op, keys, in + 3 * VB);
  return g;
}

/* Lanes to be stored. */
INLINE group finish_group(red_lane_op op, const key_constants *keys, group g) {
  if (!has_keys(op)) return g;
  const unsigned vectors = group_vectors(op);
  g.x[0] = v_unkey(keys, g.x[0], op);
  if (vectors > 1) g.x[1] = v_unkey(keys, g.x[1], op);
  if (vectors > 2) g.x[2] = v_unkey(keys, g.x[2], op);
  if (vectors > 2) g.x[3] = v_unkey(keys, g.x[3], op);
  return g;
}

typedef enum store_mode {
  STORE_CACHED,
  STORE_STREAM,
  STORE_STREAM_16
} store_mode;

INLINE void store_group(red_lane_op op, uint8_t *out, store_mode mode, group g) {
  const unsigned vectors = group_vectors(op);
  if (mode == STORE_STREAM) {
    v_stream(out, g.x[0]);
    if (vectors > 1) v_stream(out + VB, g.x[1]);
    if (vectors > 2) v_stream(out + 2 * VB, g.x[2]);
    if (vectors > 2) v_stream(out + 3 * VB, g.x[3]);
  } else if (mode == STORE_STREAM_16) {
    v_stream_16(out, g.x[0]);
    if (vectors > 1) v_stream_16(out + VB, g.x[1]);
    if (vectors > 2) v_stream_16(out + 2 * VB, g.x[2]);
    if (vectors > 2) v_stream_16(out + 3 * VB, g.x[3]);
  } else {
    v_store(out, g.x[0]);
    if (vectors > 1) v_store(out + VB, g.x[1]);
    if (vectors > 2) v_store(out + 2 * VB, g.x[2]);
    if (vectors > 2) v_store(out + 3 * VB, g.x[3]);
  }
}

/* Rare, so done in memory. */
__attribute__((noinline)) static void make_nans_canonical(uint8_t *out, size_t bytes, unsigned width) {
  const v_u8 quiet = width == 4 ? (v_u8)v_splat_u32(0x7fc00000) : (v_u8)v_splat_u64(0x7ff8000000000000);
  for (size_t i = 0; i < bytes; i += VB) {
    v_u8 x = v_load(out + i);
    v_u8 nan = width == 4 ? (v_u8)((v_f32)x != (v_f32)x) : (v_u8)((v_f64)x != (v_f64)x);
    if (v_any(nan)) v_store(out + i, v_select(nan, quiet, x));
  }
}

/* The way up of a block; its node, in every lane. */
INLINE v_u8 up(red_lane_op op, const key_constants *keys, const uint8_t *in, block *b) {
  const unsigned bytes = group_bytes(op);
  v_u8 node[2];
  node[0] = up_group(op, b->left[0], load_group(op, keys, in));
  if (groups(op) > 1) node[1] = up_group(op, b->left[GROUPS - 1], load_group(op, keys, in + bytes));
  return up_block(op, b, node);
}

INLINE void down_and_store(red_lane_op op, const key_constants *keys, const v_u8 *left, v_u8 p, v_u8 after,
                           bool exclusive, store_mode mode, uint8_t *out) {
  if (!is_compiled_twice(op)) __asm__("" : "+r"(exclusive)); /* or the compiler would write all of it twice after all */
  store_group(op, out, mode, finish_group(op, keys, down_group(op, left, p, after, exclusive)));
}

/* The way down; `before` and `after` are P at the block's ends, in every lane. */
INLINE void down(red_lane_op op, const key_constants *keys, const block *b, v_u8 before, v_u8 after, bool exclusive,
                 store_mode mode, uint8_t *out) {
  const unsigned bytes = group_bytes(op), count = groups(op);
  v_u8 p[3];
  down_block(op, b, before, p);
  p[count] = after;
  down_and_store(op, keys, b->left[0], p[0], p[1], exclusive, mode, out);
  if (count > 1) down_and_store(op, keys, b->left[GROUPS - 1], p[1], p[2], exclusive, mode, out + bytes);
}

/*
 * Can an output from P(k) = `before` to P(k + n) = `after` be a NaN, the node of the n elements being `node`? A NaN or
 * an infinity among the elements leaves no node above it finite, and from finite operands a sum may overflow but not
 * become a NaN. A product may: infinity times zero. A node that is zero has no infinite node below it, an infinite one
 * has no zero, any other one neither; but P may overflow before the zero comes, or underflow before the infinity.
 */
INLINE bool product_may_be_nan(double before, double node, double after) {
  if (after != after || before != before) return true;
  return node == 0 ? before != 0 : node - node != 0 && (node != node || before - before == 0);
}

INLINE bool may_be_nan(red_lane_op op, v_u8 before, v_u8 node, v_u8 after) {
  if (op == RED_ADD_F32) {
    float p = ((v_f32)before)[0], t = ((v_f32)node)[0], zero = (p - p) + (t - t);
    return __builtin_expect(zero != zero, 0);
  }
  if (op == RED_ADD_F64) {
    double p = ((v_f64)before)[0], t = ((v_f64)node)[0], zero = (p - p) + (t - t);
    return __builtin_expect(zero != zero, 0);
  }
  if (op == RED_MUL_F32)
    return product_may_be_nan((double)((v_f32)before)[0], (double)((v_f32)node)[0], (double)((v_f32)after)[0]);
  return op == RED_MUL_F64 && product_may_be_nan(((v_f64)before)[0], ((v_f64)node)[0], ((v_f64)after)[0]);
}

#if defined(HAVE_MASKS)
INLINE size_t lanes_of(size_t count, size_t before, size_t lanes) {
  size_t left = count > before ? count - before : 0;
  return left < lanes ? left : lanes;
}
#endif

/* A short last block, in memory, padded with what loses against every element. */
INLINE void pad_block(red_lane_op op, const red_lowered *lowered, const uint8_t *in, size_t count, uint8_t *padded) {
  const unsigned bytes = op_bytes(op);
  v_u8 pads = has_keys(op) ? v_splat((red_state){.u64 = lowered->identity.u64}, bytes) : v_identity(op);
#if defined(HAVE_MASKS)
  for (size_t i = 0; i < block_bytes(op); i += VB)
    v_store(padded + i, v_load_partial(in + i, lanes_of(count, i / bytes, VB / bytes), bytes, pads));
#else
  for (unsigned i = 0; i < block_bytes(op); i += VB) v_store(padded + i, pads);
  memcpy(padded, in, count * bytes);
#endif
}

/* What the short block became. */
INLINE void unpad_block(red_lane_op op, const uint8_t *padded, size_t count, uint8_t *out) {
  const unsigned bytes = op_bytes(op);
#if defined(HAVE_MASKS)
  for (size_t i = 0; i < block_bytes(op); i += VB)
    v_store_partial(out + i, lanes_of(count, i / bytes, VB / bytes), bytes, v_load(padded + i));
#else
  memcpy(out, padded, count * bytes);
#endif
}

/* ---- Strips of four blocks, whose tree is spelled out. Two go up, then down: there is always work to overlap ---- */

INLINE store_mode mode_of(const void *out, unsigned flags) {
  if ((flags & RED_SCAN_STREAM) == 0 || !STREAMS) return STORE_CACHED;
  return (uintptr_t)out % VB == 0 ? STORE_STREAM : STORE_STREAM_16;
}

/* Prefetch half as many bytes as are being worked on. */
INLINE const uint8_t *prefetch(const uint8_t *ahead, size_t bytes) {
  if (ahead == NULL) return NULL;
  for (size_t i = 0; i < bytes / 2; i += 64) __builtin_prefetch(ahead + i, 0, 2);
  return ahead + bytes / 2;
}

enum {
  STRIP = 4,
  STRIP_LEVEL = 2
};

INLINE v_u8 scan_strip(red_lane_op op, const key_constants *keys, stacks *s, const uint8_t *in, uint8_t *out,
                       v_u8 before, bool exclusive, store_mode mode, const uint8_t **ahead) {
  const unsigned bytes = block_bytes(op);
  block b, c;
  *ahead = prefetch(*ahead, bytes);
  v_u8 node0 = up(op, keys, in, &b), p1 = v_op(op, before, node0);
  *ahead = prefetch(*ahead, bytes);
  v_u8 node1 = up(op, keys, in + bytes, &c), node01 = v_op(op, node0, node1), p2 = v_op(op, before, node01);
  down(op, keys, &b, before, p1, exclusive, mode, out);
  *ahead = prefetch(*ahead, bytes);
  v_u8 node2 = up(op, keys, in + 2 * bytes, &b), p3 = v_op(op, p2, node2);
  down(op, keys, &c, p1, p2, exclusive, mode, out + bytes);
  *ahead = prefetch(*ahead, bytes);
  v_u8 node3 = up(op, keys, in + 3 * bytes, &c), node = v_op(op, node01, v_op(op, node2, node3));
  v_u8 after = advance(op, s, STRIP_LEVEL, node);
  down(op, keys, &b, p2, p3, exclusive, mode, out + 2 * bytes);
  down(op, keys, &c, p3, after, exclusive, mode, out + 3 * bytes);
  if (may_be_nan(op, before, node, after)) make_nans_canonical(out, STRIP * bytes, op_bytes(op));
  return after;
}

/*
 * Minima, and, or: soon P is what the elements no longer change, and then a few blocks need only be looked at and
 * filled: few, for reads and writes of memory should take turns often. Where op(P, x) = P for all of their vectors
 * together, so it is for each of their elements.
 */
INLINE bool is_idempotent(red_lane_op op) {
  return has_keys(op) || (op >= RED_AND_U8 && op <= RED_OR_U64);
}

/* So many vectors, but no more than a strip. */
INLINE unsigned quiet_blocks(red_lane_op op) {
  const unsigned blocks = 16 * VB / block_bytes(op);
  return blocks < STRIP ? blocks : STRIP;
}

INLINE v_u8 unfolded_node(red_lane_op op, const key_constants *keys, const uint8_t *in, size_t bytes) {
  v_u8 node[4];
  for (unsigned j = 0; j < 4; j++) node[j] = load_lanes(op, keys, in + j * VB);
  for (unsigned i = 4 * VB; i < bytes; i += 4 * VB)
    for (unsigned j = 0; j < 4; j++) node[j] = v_op(op, node[j], load_lanes(op, keys, in + i + j * VB));
  return v_op(op, v_op(op, node[0], node[1]), v_op(op, node[2], node[3]));
}

INLINE void fill(red_lane_op op, const key_constants *keys, v_u8 p, store_mode mode, uint8_t *out, size_t bytes) {
  group g = {{p, p, p, p}};
  g = finish_group(op, keys, g);
  for (unsigned i = 0; i < bytes; i += group_bytes(op)) store_group(op, out + i, mode, g);
}

/* Do quiet_blocks(op) leave P as it is? Then their outputs are written. */
INLINE bool scan_quiet(red_lane_op op, const key_constants *keys, stacks *s, const uint8_t *in, uint8_t *out,
                       v_u8 before, store_mode mode, const uint8_t **ahead) {
  const size_t bytes = quiet_blocks(op) * block_bytes(op);
  const v_u8 node = unfolded_node(op, keys, in, bytes);
  if (v_any(v_op(op, before, node) ^ before)) return false;
  *ahead = prefetch(*ahead, bytes);
  s->node[0] = v_op(op, s->node[0], node);
  fill(op, keys, before, mode, out, bytes);
  return true;
}

INLINE v_u8 scan_block(red_lane_op op, const key_constants *keys, stacks *s, const uint8_t *in, uint8_t *out,
                       v_u8 before, bool exclusive) {
  block b;
  v_u8 node = up(op, keys, in, &b), after = advance(op, s, 0, node);
  down(op, keys, &b, before, after, exclusive, STORE_CACHED, out);
  if (may_be_nan(op, before, node, after)) make_nans_canonical(out, block_bytes(op), op_bytes(op));
  return after;
}

INLINE red_state scan(red_lane_op op, const red_lowered *lowered, const uint8_t *in, uint8_t *out, size_t n,
                      red_state before_all, bool exclusive, store_mode mode, const uint8_t *ahead) {
#if VB >= 32
  if (op == RED_ADD_U64 && mode == STORE_CACHED)
    return scan_words(in, out, n, 8, false, before_all.u64, exclusive, ahead);
#endif
  const size_t bytes = block_bytes(op), size = bytes / op_bytes(op);
  const key_constants keys = key_constants_of(lowered, 0, has_keys(op) ? op : RED_MIN_I64);
  v_u8 p = v_splat(before_all, op_bytes(op));
  stacks s;
  stacks_init(op, &s, n / size + 1, p);
  size_t blocks = n / size, rest = n % size;
  bool quiet = false, unfolded = false; /* did the last strip leave P as it was, and is there such a node? */
  for (size_t step = STRIP; blocks >= STRIP; blocks -= step, in += step * bytes, out += step * bytes) {
    if (quiet && scan_quiet(op, &keys, &s, in, out, p, mode, &ahead)) {
      unfolded = true;
      step = quiet_blocks(op);
      continue;
    }
    const v_u8 before = p;
    p = scan_strip(op, &keys, &s, in, out, p, exclusive, mode, &ahead);
    quiet = is_idempotent(op) && !v_any(before ^ p);
    step = STRIP;
  }
  if (mode != STORE_CACHED) v_stream_end();
  for (; blocks > 0; blocks--, in += bytes, out += bytes) p = scan_block(op, &keys, &s, in, out, p, exclusive);
  if (rest > 0) {
    uint8_t last[8 * VB];
    pad_block(op, lowered, in, rest, last);
    scan_block(op, &keys, &s, last, last, p, exclusive);
    unpad_block(op, last, rest, out);
  }
  if (unfolded) s.node[0] = v_fold(op, s.node[0]);
  return total_of(op, &s);
}

INLINE red_state total(red_lane_op op, const red_lowered *lowered, const uint8_t *in, size_t n, const uint8_t *ahead) {
  const size_t bytes = block_bytes(op), size = bytes / op_bytes(op);
  const key_constants unused = {.merge_zeros = false};
  block b;
  stacks s;
  stacks_init(op, &s, n / size + 1, v_identity(op));
  if (n < size) {
    uint8_t padded[8 * VB];
    pad_block(op, lowered, in, n, padded);
    return v_state(op, up(op, &unused, padded, &b));
  }
  size_t blocks = n / size;
  for (; blocks >= STRIP; blocks -= STRIP, in += STRIP * bytes) {
    v_u8 node[STRIP];
    UNROLLED
    for (unsigned i = 0; i < STRIP; i++) {
      ahead = prefetch(ahead, bytes);
      node[i] = up(op, &unused, in + i * bytes, &b);
    }
    advance(op, &s, STRIP_LEVEL, v_op(op, v_op(op, node[0], node[1]), v_op(op, node[2], node[3])));
  }
  for (; blocks > 0; blocks--, in += bytes) advance(op, &s, 0, up(op, &unused, in, &b));
  return total_of(op, &s);
}

/* In any order: what comes before the first whole vector goes ahead, so that the other stores are whole vectors'. */
INLINE red_state scan_apart(red_scan_fn *kernel, red_lane_op op, const red_lowered *lowered, const uint8_t *in,
                            uint8_t *out, size_t n, red_state before, unsigned flags, const uint8_t *ahead) {
  const unsigned bytes = op_bytes(op), cached = flags & ~RED_SCAN_STREAM;
  const size_t head = (VB - (uintptr_t)out % VB) / bytes;
  if (n <= head) return kernel(lowered, in, out, n, before, cached, ahead);
  const v_u8 first = v_splat(kernel(lowered, in, out, head, before, cached, NULL), bytes);
  const red_state now = v_state(op, v_op(op, v_splat(before, bytes), first));
  const red_state rest = kernel(lowered, in + head * bytes, out + head * bytes, n - head, now, flags, ahead);
  return v_state(op, v_op(op, first, v_splat(rest, bytes)));
}

#define KERNEL(name, op)                                                                                               \
  red_state ISA(scan_##name)(const red_lowered *lowered, const void *in, void *out, size_t n, red_state before,        \
                             unsigned flags, const void *ahead) {                                                      \
    const bool exclusive = (flags & RED_SCAN_EXCLUSIVE) != 0;                                                          \
    const store_mode mode = mode_of(out, flags);                                                                       \
    if (!is_float(op) && mode == STORE_STREAM_16)                                                                      \
      return scan_apart(ISA(scan_##name), op, lowered, in, out, n, before, flags, ahead);                              \
    if (is_compiled_twice(op) && exclusive) return scan(op, lowered, in, out, n, before, true, mode, ahead);           \
    return scan(op, lowered, in, out, n, before, !is_compiled_twice(op) && exclusive, mode, ahead);                    \
  }
RED_SCANS(KERNEL)
#undef KERNEL

#define KERNEL(name, op)                                                                                               \
  red_state ISA(total_##name)(const red_lowered *lowered, const void *in, size_t n, const void *ahead) {               \
    return total(op, lowered, in, n, ahead);                                                                           \
  }
RED_TOTALS(KERNEL)
