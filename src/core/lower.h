/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A problem lowered to what kernels compute. Twenty-one operators on twelve dtypes become eight families, most of them
 * functions of the element's width alone, so that a backend needs a handful of kernels and a new operator none.
 *
 * - ADD, MUL: in the canonical order with a float accumulator, mod 2^64 with an integer one; `map` says what is added
 * - MIN: the least signed key of the element's width; keys below
 * - ARGMIN: the least (key, index)
 * - AND, OR, XOR: the element's bits
 * - COUNT: how many elements have (bits & nonzero_mask) != 0, mod 2^64
 *
 * Keys turn minima and maxima of every dtype into minima of signed integers of the same width:
 *   integers   key = bits ^ key_xor                       (key_xor = bias of unsigned types ^ flip of maxima)
 *   floats     a = bits without the sign; if a > inf: key = nan_key
 *              if merge_zeros and a == 0: bits = 0        (arg operators: -0 == +0)
 *              key = bits ^ (bits < 0 ? 0x7f.. : 0) ^ key_xor      (bits as a signed integer)
 * nan_key is the least key where a NaN wins and the greatest where it loses: no number has either.
 */
#ifndef RED_CORE_LOWER_H
#define RED_CORE_LOWER_H

#include <stdbool.h>

#include <red/red.h>

typedef enum red_family {
  RED_FAMILY_ADD,
  RED_FAMILY_MUL,
  RED_FAMILY_MIN,
  RED_FAMILY_ARGMIN,
  RED_FAMILY_AND,
  RED_FAMILY_OR,
  RED_FAMILY_XOR,
  RED_FAMILY_COUNT, /* of nonzero elements */
  RED_FAMILIES
} red_family;

/* What ADD adds. Floats: products and squares by a fused multiply-add into the row above, beginning with -0.0. */
typedef enum red_map {
  RED_MAP_NONE,
  RED_MAP_PRODUCT, /* in[i] * in2[i] */
  RED_MAP_SQUARE,
  RED_MAP_ABS,         /* integers: the magnitude, mod 2^64 */
  RED_MAP_ABS_PRODUCT, /* of floats; no operator's, but what bounds of products need */
  RED_MAPS
} red_map;

typedef enum red_finish {
  RED_FINISH_VALUE,
  RED_FINISH_ALL,
  RED_FINISH_ANY,
  RED_FINISH_ROOT,
  RED_FINISH_MEAN
} red_finish;

typedef struct red_lowered {
  red_kind kind;
  red_op op;         /* for messages: what to compute is in the other fields */
  red_family family; /* RED_STATS: ADD, with the key fields those of RED_MIN */
  red_map map;
  red_finish finish;
  red_dtype in, acc, out; /* resolved */
  red_memory in_memory, out_memory;
  uint64_t n;
  uint8_t in_bytes, acc_bytes, out_bytes;
  bool in_float;       /* the input dtype is f16, bf16, f32 or f64 */
  bool in_signed;      /* ... is i8 .. i64 */
  bool canonical;      /* ADD or MUL with a float accumulator: the order matters */
  bool exact;          /* ADD of floats without rounding (exact.h); never with `canonical` */
  bool bounded;        /* a reduction into host memory, ADD of floats, whose error bound is wanted, too */
  bool merge_zeros;    /* ARGMIN: -0 == +0 */
  bool nan_skip;       /* minnum, maxnum, ...: a NaN loses */
  bool empty_is_error; /* n = 0 without init has no result */
  bool has_init;
  red_scalar init;       /* in acc */
  red_scalar identity;   /* in acc: the result for n = 0, and exclusive[0], without init */
  uint64_t key_xor;      /* low in_bytes bytes */
  uint64_t inf;          /* bits of +Inf of the input dtype, 0 for integers */
  int64_t nan_key;       /* sign-extended from the input's width */
  uint64_t nonzero_mask; /* low in_bytes bytes; drops the sign of floats */
  unsigned stats;        /* RED_STATS: the selection, never 0; else 0 */
} red_lowered;

static inline bool red_is_scan(red_kind kind) {
  return kind == RED_INCLUSIVE_SCAN || kind == RED_EXCLUSIVE_SCAN;
}

/* Is the sum of the magnitudes wanted beside that of the elements or products? Other bounds follow from the result. */
static inline bool red_is_paired(const red_lowered *lowered) {
  return lowered->bounded && lowered->canonical && (lowered->map == RED_MAP_NONE || lowered->map == RED_MAP_PRODUCT);
}

/* The operator's row and the dtypes of a valid problem; RED_ERR_INVALID or RED_ERR_UNSUPPORTED with a sentence if not.
 */
red_status red_lower(const red_problem *problem, red_lowered *lowered);

/*
 * What a problem with nothing but defaults is lowered to, but for n; NULL until one like it has been lowered, and of
 * any other problem.
 */
const red_lowered *red_lower_known(const red_problem *problem);

/* The same for another operator on the same data, as the parts of RED_STATS need it. */
void red_lower_part(const red_lowered *stats, red_op op, red_lowered *part);

/*
 * Elements of a chunk of the canonical order (C): 4096 for f32 accumulators, 2048 for f64; of statistics, 16 KiB of
 * elements at most; 4096 where any order will do.
 */
static inline uint64_t red_chunk_elements(const red_lowered *lowered) {
  bool wide = lowered->kind == RED_STATS ? lowered->in_bytes == 8 : lowered->canonical && lowered->acc_bytes == 8;
  return wide ? 2048 : 4096;
}

#endif
