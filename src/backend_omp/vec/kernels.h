/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an instruction set brings: one table of kernels. The rest of the room sees only this; the kernels see nothing of
 * threads, devices or memory beyond their arguments. Arrays may have any alignment.
 */
#ifndef RED_VEC_KERNELS_H
#define RED_VEC_KERNELS_H

#include <stddef.h>

#include "exact.h"
#include "state.h"

/* A reduction is done in blocks of at most so many chunks: one complete node, merged by the caller above that. */
#define RED_BLOCK_CHUNKS 16
#define RED_BLOCK_LEVEL  4

/*
 * The state of n > 0 elements. ADD and MUL of floats: n is at most a block, `in` begins at a multiple of one, and the
 * state is the node above it. MIN: the least key. ARGMIN: the least key and its first place, for arrays that stay in
 * the first-level cache; of others MIN by piece, then find.
 */
typedef red_state red_reduce_fn(const red_lowered *lowered, const void *in, size_t n);

/*
 * Add n elements to *sum, without rounding: products with those of in2, squares or magnitudes, as the table says. What
 * `loss` is told of may be left out; nothing, if it is NULL.
 */
typedef void red_exact_fn(const void *in, const void *in2, size_t n, red_exact *sum, red_exact_loss *loss);

/* The same of a map other than NONE; in2 is the second input of PRODUCT, anything otherwise. */
typedef red_state red_map_fn(const red_lowered *lowered, const void *in, const void *in2, size_t n);

/* keys[0]: the least key; keys[1]: the least key if key_xor were complemented, for the other end of the order. */
typedef void red_extrema_fn(const red_lowered *lowered, const void *in, size_t n, int64_t keys[2]);

/* The node of a whole chunk, or the sum of its integers, and both keys (of RED_STATS, where NaNs win) in one sweep. */
typedef red_state red_stats_fn(const red_lowered *lowered, const void *in, int64_t keys[2]);

/*
 * The moments of n > 0 elements, at most a chunk of statistics (red_chunk_elements). A whole chunk prefetches what lies
 * `ahead` bytes beyond, if that is not 0.
 */
typedef red_moments red_moments_fn(const void *in, size_t n, size_t ahead);

/*
 * What a whole chunk of statistics has: the node of floats or the sum of integers of 64 bits, in 128; both keys;
 * moments, which have the sum of narrower integers.
 */
typedef struct red_sweep {
  red_state sum;
  int64_t sum_high;
  int64_t keys[2];
  red_moments moments;
} red_sweep;

/* All of that, the keys if `extrema`, in one sweep, which prefetches as that of the moments alone. */
typedef void red_sweep_fn(const red_lowered *lowered, const void *in, size_t ahead, bool extrema, red_sweep *result);

/* How many of at most 4096 floats are NaN; `inf` as in red_lowered. */
typedef uint64_t red_nans_fn(const void *in, size_t n, uint64_t inf);

/* The index of the first element whose key is `key`; there is one. */
typedef size_t red_find_fn(const red_lowered *lowered, const void *in, size_t n, int64_t key);

/* What a vector of a scan holds and how it combines. */
typedef enum red_lane_op {
  RED_ADD_F32,
  RED_ADD_F64,
  RED_MUL_F32,
  RED_MUL_F64,
  RED_ADD_U32,
  RED_ADD_U64,
  RED_MUL_U32,
  RED_MUL_U64,
  RED_MIN_I8,
  RED_MIN_I16,
  RED_MIN_I32,
  RED_MIN_I64,
  RED_MIN_F16,
  RED_MIN_F32,
  RED_MIN_F64, /* keys of floats */
  RED_AND_U8,
  RED_AND_U16,
  RED_AND_U32,
  RED_AND_U64,
  RED_OR_U8,
  RED_OR_U16,
  RED_OR_U32,
  RED_OR_U64,
  RED_XOR_U8,
  RED_XOR_U16,
  RED_XOR_U32,
  RED_XOR_U64,
  RED_LANE_OPS
} red_lane_op;

/*
 * Scan n elements that begin at a multiple of a power of two >= n (or at 0): out[i] = P(i + 1), or P(i) if exclusive,
 * with `before` = P(0) as the leftmost operand. Elements are read and written in the lane's type (MIN: in the input's
 * dtype). out may be in. Returns node(b, 0) if n = 2^b, anything otherwise. Streaming stores bypass the caches; they
 * need an `out` aligned to 16 bytes. On the way half as many bytes as are read are prefetched from `ahead` on, if that
 * is not NULL.
 */
#define RED_SCAN_EXCLUSIVE 1u
#define RED_SCAN_STREAM    2u
typedef red_state red_scan_fn(const red_lowered *lowered, const void *in, void *out, size_t n, red_state before,
                              unsigned flags, const void *ahead);

/* node(b, 0) of the scan tree over n = 2^b elements in the lane's type; `ahead` as above. */
typedef red_state red_total_fn(const red_lowered *lowered, const void *in, size_t n, const void *ahead);

/* Convert n elements; the arrays do not overlap. */
typedef void red_convert_fn(const void *in, void *out, size_t n);

/* out[i] = (in[i] & mask) != 0 */
typedef void red_flags_fn(const void *in, uint8_t *out, size_t n, uint64_t mask);

typedef struct red_kernels {
  const char *name;
  red_reduce_fn *reduce[RED_FAMILIES][RED_DTYPE_COUNT][2]; /* last: is the float accumulator f64? */
  red_exact_fn *exact[RED_MAPS][RED_DTYPE_COUNT];          /* of floats */
  red_map_fn *map[RED_MAPS][RED_DTYPE_COUNT][2];           /* of ADD; NONE is empty */
  red_extrema_fn *extrema[RED_DTYPE_COUNT];
  red_find_fn *find[RED_DTYPE_COUNT];
  red_stats_fn *stats[RED_DTYPE_COUNT]; /* NULL where two sweeps are as good */
  red_moments_fn *moments[RED_DTYPE_COUNT];
  red_sweep_fn *sweep[RED_DTYPE_COUNT]; /* NULL where several sweeps are as good */
  red_nans_fn *nans[RED_DTYPE_COUNT];   /* of floats */
  /* Halves of 64 bits: the sum of the low and of the high 32 bits (sign-extended for i64), n < 2^31. */
  void (*sum_halves)(const void *in, size_t n, bool is_signed, uint64_t *low, int64_t *high);
  red_scan_fn *scan[RED_LANE_OPS];
  red_scan_fn *wide_sum[RED_DTYPE_COUNT];     /* ADD_U64 of narrower integers; NULL where tiles are as good */
  red_total_fn *total[RED_LANE_OPS];          /* of floats only: order-free totals are reductions */
  red_convert_fn *widen[RED_DTYPE_COUNT][2];  /* integers to 32 and 64 bits, floats to f32 and f64 */
  red_convert_fn *narrow[RED_DTYPE_COUNT][2]; /* from those, by the output's width; floats: canonical NaN */
  red_flags_fn *flags[4];                     /* by log2 of the element's bytes */
} red_kernels;

extern const red_kernels red_kernels_generic, red_kernels_sse2, red_kernels_avx2, red_kernels_avx512, red_kernels_neon;

#endif
