/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sum and moments of a whole chunk in one sweep, and its extrema where there are registers for them too: memory is
 * asked for evenly, and each element is loaded once.
 */
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
red_extrema_fn EXTREMA(extrema_i32), EXTREMA(extrema_i64), EXTREMA(extrema_f32), EXTREMA(extrema_f64);

/*
 * Accumulators of COLUMNS vectors of doubles; floats are summed by lanes, integers of 64 bits in any order, those of 32
 * bits not at all. What lives in a register has the type that it is computed in: GCC gives another type another
 * register.
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

/* Integers are signed by `flip`. */
typedef struct ends {
  v_u8 least, greatest, flip;
} ends;

INLINE bool is_float(red_dtype in) {
  return in == RED_F32 || in == RED_F64;
}

INLINE v_u8 lesser(red_dtype in, v_u8 a, v_u8 b) {
  if (is_float(in)) return in == RED_F32 ? v_lesser_f32(a, b) : v_lesser_f64(a, b);
  return element_bytes(in) == 4 ? v_min_i32(a, b) : v_min_i64(a, b);
}

INLINE v_u8 greater(red_dtype in, v_u8 a, v_u8 b) {
  if (is_float(in)) return in == RED_F32 ? v_greater_f32(a, b) : v_greater_f64(a, b);
  return element_bytes(in) == 4 ? v_max_i32(a, b) : v_max_i64(a, b);
}

INLINE void see(red_dtype in, ends *e, v_u8 x) {
  if (!is_float(in)) x ^= e->flip;
  e->least = lesser(in, e->least, x);
  e->greatest = greater(in, e->greatest, x);
}

/* There are no NaNs. */
INLINE void keys_of(red_dtype in, const red_lowered *lowered, const ends *e, int64_t keys[2]) {
  const unsigned bytes = element_bytes(in);
  v_u8 least = e->least, greatest = e->greatest;
  for (unsigned group = VB / 2; group >= bytes; group /= 2) {
    least = lesser(in, least, v_swap(least, group));
    greatest = greater(in, greatest, v_swap(greatest, group));
  }
  if (is_float(in)) {
    const uint64_t all = UINT64_MAX >> (64 - 8 * bytes);
    const uint64_t minimum = v_first_u64(least) & all, maximum = v_first_u64(greatest) & all;
    const bool maxima = lowered->key_xor != 0;
    keys[0] = key_of_bits(lowered, 0, maxima ? maximum : minimum, bytes);
    keys[1] = key_of_bits(lowered, all, maxima ? minimum : maximum, bytes);
  } else {
    const red_lane_op op = bytes == 4 ? RED_MIN_I32 : RED_MIN_I64;
    keys[0] = v_state(op, least).key;
    keys[1] = ~v_state(op, greatest).key;
  }
}

INLINE void add_vector(red_dtype in, columns *c, integers *sums, unsigned j, v_u8 x) {
  if (in == RED_F32) c->row_f32[j] += (v_f32)x;
  if (in == RED_F64) c->row_f64[j] += (v_f64)x;
  if (in == RED_I64 || in == RED_U64) {
    sums->low += (v_u64)x;
    sums->upper += in == RED_I64 ? (v_u64)((v_i64)x >> 32) : (v_u64)x >> 32;
  }
}

/*
 * As many additions of differences by the multipliers as let these and the adders, which convert and compare floats,
 * too, be as busy.
 */
INLINE bool is_spare(red_dtype in, unsigned j, bool extrema) {
  if (is_float(in) && extrema) return true;
  return j % (in == RED_F32 ? 4 : 2) != 0;
}

/* The rows' columns from `first` on; see() and add_vector() take full vectors of elements, one or two of doubles. */
INLINE void sweep_columns(red_dtype in, const uint8_t *p, unsigned first, v_f64 shifts, size_t ahead, bool extrema,
                          columns *c, integers *sums, ends *e) {
  const size_t step = LANES * element_bytes(in), row_bytes = row_lanes(in) * element_bytes(in);
  const unsigned doubles = VB / (unsigned)step;
  const uint8_t *later = p + ahead + first * step * ROWS;
  p += first * step;
  for (unsigned j = 0; j < COLUMNS; j++) {
    c->difference[j] = c->square[j] = (v_f64){0};
    c->row_f32[j] = (v_f32)v_identity(RED_ADD_F32);
    c->row_f64[j] = (v_f64)v_identity(RED_ADD_F64);
  }
  for (unsigned r = 0; r < ROWS; r++, p += row_bytes, later += COLUMNS * step) {
    ask_ahead(in, later, COLUMNS * step);
    UNROLLED
    for (unsigned j = 0; j < COLUMNS; j++) {
      const v_f64 x = load_f64(in, p + j * step);
      if (j % doubles == 0) {
        const v_u8 elements = v_load(p + j * step);
        add_vector(in, c, sums, j / doubles, elements);
        if (extrema) see(in, e, elements);
      }
      add_moments(c->difference, c->square, j, is_spare(in, j, extrema), x, shifts);
    }
  }
}

/* After the moments. */
INLINE void finish_sum(red_dtype in, v_u8 *row, const integers *sums, red_sweep *result) {
  if (is_float(in)) {
    result->sum = fold_row(in == RED_F32 ? RED_ADD_F32 : RED_ADD_F64, row);
  } else if (element_bytes(in) == 4) {
    /* Nothing rounds this mean: the shift is a multiple of 2^-7, the differences have 39 bits, their sum has 51. */
    result->sum.key = (int64_t)((double)result->moments.count * result->moments.mean);
    result->sum_high = result->sum.key < 0 ? -1 : 0;
  } else { /* what the sum has below its upper halves' part is less than 2^64 */
    const uint64_t low = total_u64(sums->low), upper = total_u64(sums->upper);
    const __int128 sum = (__int128)(int64_t)upper * ((__int128)1 << 32) + (low - (upper << 32));
    result->sum.u64 = (uint64_t)sum;
    result->sum_high = (int64_t)(sum >> 64);
  }
}

INLINE void sweep_all(red_dtype in, const red_lowered *lowered, const uint8_t *p, size_t ahead, bool extrema,
                      red_sweep *result) {
  const unsigned bytes = element_bytes(in), doubles = 8 / bytes;
  const double shift = shift_of_row(in, p);
  moment_sums moments;
  integers sums = {{0}, {0}};
  v_u8 row[ROW_VECTORS];
  ends e = {.flip = v_splat((red_state){.u64 = lowered->key_xor}, bytes)};
  e.least = e.greatest = v_load(p);
  if (!is_float(in)) e.least = e.greatest ^= e.flip;
  for (unsigned at = 0; at < row_vectors(in); at += COLUMNS) {
    columns c;
    sweep_columns(in, p, at, (v_f64){0} + shift, ahead, extrema, &c, &sums, &e);
    UNROLLED
    for (unsigned j = 0; j < COLUMNS; j++) {
      moments.difference[at + j] = c.difference[j];
      moments.square[at + j] = c.square[j];
      if (j % doubles != 0) continue;
      row[(at + j) / doubles] = in == RED_F32 ? (v_u8)c.row_f32[j / doubles] : (v_u8)c.row_f64[j / doubles];
    }
  }
  if (extrema) keys_of(in, lowered, &e, result->keys);
  result->moments = moments_of(in, ROWS * row_lanes(in), shift, &moments);
  finish_sum(in, row, &sums, result);
}

/* The order of NaNs is looked up where there are any. */
#define KERNEL(dtype, suffix, key_suffix)                                                                              \
  void ISA(sweep_##suffix)(const red_lowered *lowered, const void *in, size_t ahead, bool extrema,                     \
                           red_sweep *result) {                                                                        \
    if (EXTREMA_TOO && extrema)                                                                                        \
      sweep_all(dtype, lowered, in, ahead, true, result);                                                              \
    else                                                                                                               \
      sweep_all(dtype, lowered, in, ahead, false, result);                                                             \
    if (extrema && !(EXTREMA_TOO && result->moments.squares >= 0))                                                     \
      EXTREMA(extrema_##key_suffix)(lowered, in, ROWS *row_lanes(dtype), result->keys);                                \
  }
#if VB < 64
RED_SWEEPS_32(KERNEL)
#endif
#if !defined(RED_ISA_avx512_half)
RED_SWEEPS_64(KERNEL)
#endif
