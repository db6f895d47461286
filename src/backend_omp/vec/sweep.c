/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sum and moments of a whole chunk in one sweep, and its extrema where there are registers for them too: memory is
 * asked for evenly, and each element is loaded once.
 */
#include "ends.h"
#include "moments.h"
#include "sums.h"

#include "kernels.def"

#if defined(HAVE_RANGE)
enum {
  EXTREMA_TOO = 1
};
#define EXTREMA(name) name##_avx512
#else
enum {
  EXTREMA_TOO = 0
};
#define EXTREMA(name) ISA(name)
#endif
red_extrema_fn EXTREMA(extrema_i32), EXTREMA(extrema_i64), EXTREMA(extrema_f16), EXTREMA(extrema_f32),
    EXTREMA(extrema_f64);

/*
 * Accumulators of COLUMNS vectors of doubles; floats are summed by lanes, integers of 64 bits in any order. What lives
 * in a register has the type that it is computed in: GCC gives another type another register.
 */
typedef struct columns {
  v_f64 difference[COLUMNS], square[COLUMNS];
  v_f32 row_f32[COLUMNS];
  v_f64 row_f64[COLUMNS];
} columns;

/* Of 64 bits. */
typedef struct integers {
  v_u64 low, upper; /* mod 2^64, and their upper halves */
} integers;

INLINE bool is_half(red_dtype in) {
  return in == RED_F16 || in == RED_BF16;
}

/* What they are computed as. Extrema are faster of the 16 bits, by themselves. */
INLINE red_dtype widened(red_dtype in) {
  return is_half(in) ? RED_F32 : in;
}

INLINE bool is_float(red_dtype in) {
  return in == RED_F32 || in == RED_F64;
}

INLINE void add_vector(red_dtype in, columns *c, integers *sums, unsigned j, bool spare, v_u8 x) {
  if (in == RED_F32 && spare) c->row_f32[j] = v_spare_add_f32((v_f32)x, c->row_f32[j]);
  if (in == RED_F32 && !spare) c->row_f32[j] += (v_f32)x;
  if (in == RED_F64) c->row_f64[j] += (v_f64)x;
  if (in == RED_I64 || in == RED_U64) {
    sums->low += (v_u64)x;
    sums->upper += in == RED_I64 ? (v_u64)((v_i64)x >> 32) : (v_u64)x >> 32;
  }
}

/* Vectors of doubles in a vector of what is computed with. */
INLINE unsigned doubles_of(red_dtype in) {
  return 8 / element_bytes(in);
}

/* The vectors of a pass lie as many vectors apart as there are passes, so a fold begins with them, in registers. */
INLINE unsigned passes_of(red_dtype in) {
  return row_vectors(in) / COLUMNS;
}

/*
 * As many additions of differences by the multipliers as let these and the adders, which convert and compare floats,
 * too, be as busy.
 */
INLINE bool is_spare(red_dtype in, unsigned j, bool extrema) {
  if (is_half(in) || (is_float(in) && extrema)) return true;
  return j % (in == RED_F32 ? 4 : 2) != 0;
}

/* 16-bit floats are widened some rows before they are needed: a load just after its store would wait. */
enum {
  WIDE_ROW = COLUMNS * LANES * 4, /* bytes of the columns of a row of f32 */
  ROWS_AHEAD = 2
};

INLINE void widen_columns(red_dtype in, const uint8_t *p, uint8_t *to) {
  UNROLLED
  for (unsigned at = 0; at < WIDE_ROW; at += VB, p += passes_of(in) * (VB / 2))
    v_store(to + at, (v_u8)(in == RED_F16 ? v_f32_from_f16(p) : v_f32_from_bf16(p)));
}

/* One pass over the rows; add_vector() and `e` take full vectors of elements, one or two of doubles. */
INLINE void sweep_columns(red_dtype from, const uint8_t *p, unsigned pass, v_f64 shifts, size_t ahead, bool extrema,
                          columns *c, integers *sums, ends *e) {
  const red_dtype in = widened(from);
  const unsigned doubles = doubles_of(in), apart = is_half(from) ? 1 : passes_of(in);
  const size_t row_bytes = row_lanes(from) * element_bytes(from), part_bytes = row_bytes / passes_of(from);
  const uint8_t *later = p + ahead + pass * part_bytes * ROWS;
  _Alignas(VB) uint8_t wide[ROWS * WIDE_ROW];
  p += pass * (is_half(from) ? VB / 2 : VB);
  const uint8_t *narrow = p;
  if (is_half(from)) {
    for (unsigned r = 0; r < ROWS_AHEAD; r++, narrow += row_bytes) widen_columns(from, narrow, wide + r * WIDE_ROW);
    p = wide;
  }
  for (unsigned j = 0; j < COLUMNS; j++) {
    c->difference[j] = c->square[j] = (v_f64){0};
    c->row_f32[j] = (v_f32)v_identity(RED_ADD_F32);
    c->row_f64[j] = (v_f64)v_identity(RED_ADD_F64);
  }
  for (unsigned r = 0; r < ROWS; r++, p += is_half(from) ? WIDE_ROW : row_bytes, later += part_bytes) {
    ask_ahead(from, later, part_bytes);
    if (is_half(from) && r + ROWS_AHEAD < ROWS) {
      widen_columns(from, narrow, wide + (r + ROWS_AHEAD) * WIDE_ROW);
      narrow += row_bytes;
    }
    UNROLLED
    for (unsigned j = 0; j < COLUMNS; j++) {
      const uint8_t *vector = p + j / doubles * apart * VB;
      const v_f64 x = load_f64(in, vector + j % doubles * (VB / doubles));
      if (j % doubles == 0) {
        const v_u8 elements = v_load(vector);
        add_vector(in, c, sums, j / doubles, extrema && j / doubles % 2 != 0, elements);
        if (extrema) *e = merge_ends(in, *e, ends_of(elements));
      }
      add_moments(c->difference, c->square, j, is_spare(from, j, extrema), x, shifts);
    }
  }
}

/* The columns of a pass to one vector of elements. */
INLINE void fold_columns(red_dtype in, columns *c) {
  const unsigned doubles = doubles_of(in);
  UNROLLED
  for (unsigned half = COLUMNS / 2; half >= doubles; half /= 2) {
    halve_f64(c->difference, half);
    halve_f64(c->square, half);
    UNROLLED
    for (unsigned j = 0; j < half / doubles; j++) {
      if (in == RED_F32) c->row_f32[j] += c->row_f32[half / doubles + j];
      if (in == RED_F64) c->row_f64[j] += c->row_f64[half / doubles + j];
    }
  }
}

INLINE red_state fold_passes(red_lane_op op, v_u8 *row, unsigned passes) {
  if (passes > 8) halve(op, row, 8);
  if (passes > 4) halve(op, row, 4);
  if (passes > 2) halve(op, row, 2);
  if (passes > 1) halve(op, row, 1);
  return v_state(op, v_fold(op, row[0]));
}

INLINE void finish_sum(red_dtype in, v_u8 *row, const integers *sums, red_sweep *result) {
  if (is_float(in)) {
    result->sum = fold_passes(in == RED_F32 ? RED_ADD_F32 : RED_ADD_F64, row, passes_of(in));
  } else if (element_bytes(in) == 8) { /* what the sum has below its upper halves' part is less than 2^64 */
    const uint64_t low = total_u64(sums->low), upper = total_u64(sums->upper);
    const __int128 sum = (__int128)(int64_t)upper * ((__int128)1 << 32) + (low - (upper << 32));
    result->sum.u64 = (uint64_t)sum;
    result->sum_high = (int64_t)(sum >> 64);
  }
}

INLINE void sweep_all(red_dtype from, const red_lowered *lowered, const uint8_t *p, size_t ahead, bool extrema,
                      red_sweep *result) {
  const red_dtype in = widened(from);
  const unsigned doubles = doubles_of(in), passes = passes_of(in);
  const double shift = shift_of_row(from, p);
  moment_sums moments;
  integers sums = {{0}, {0}};
  v_u8 row[ROW_VECTORS];
  ends e = ends_of(v_load(p));
  for (unsigned pass = 0; pass < passes; pass++) {
    columns c;
    sweep_columns(from, p, pass, (v_f64){0} + shift, ahead, extrema, &c, &sums, &e);
    fold_columns(in, &c);
    UNROLLED
    for (unsigned j = 0; j < doubles; j++) {
      moments.difference[pass * doubles + j] = c.difference[j];
      moments.square[pass * doubles + j] = c.square[j];
    }
    row[pass] = in == RED_F32 ? (v_u8)c.row_f32[0] : (v_u8)c.row_f64[0];
  }
  if (extrema) keys_of_ends(in, lowered, e, result->keys);
  finish_sum(in, row, &sums, result);
  result->moments = moments_of(ROWS * row_lanes(in), shift, &moments, passes * doubles);
}

/* The order of NaNs is looked up where there may be any. */
#define KERNEL(dtype, suffix, key_suffix)                                                                              \
  void ISA(sweep_##suffix)(const red_lowered *lowered, const void *in, size_t ahead, bool extrema,                     \
                           red_sweep *result) {                                                                        \
    const bool may_see = EXTREMA_TOO && !is_half(dtype);                                                               \
    if (may_see && extrema)                                                                                            \
      sweep_all(dtype, lowered, in, ahead, true, result);                                                              \
    else                                                                                                               \
      sweep_all(dtype, lowered, in, ahead, false, result);                                                             \
    if (extrema && !(may_see && result->moments.squares >= 0))                                                         \
      EXTREMA(extrema_##key_suffix)(lowered, in, ROWS * row_lanes(dtype), result->keys);                               \
  }
#if VB < 64
RED_NARROW_SWEEPS(KERNEL)
#endif
#if !defined(RED_ISA_avx512_half)
RED_WIDE_SWEEPS(KERNEL)
#endif
