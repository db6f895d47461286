/* SPDX-License-Identifier: BSD-2-Clause */
/* Moments of a chunk: the first row gives the shift, one sweep sums the differences from it and their squares. */
#include "moments_small.h"

#include "kernels.def"

/* Whole rows. What lies `ahead` is asked for meanwhile, if that is not 0: this takes longer than reading. */
INLINE void add_rows(red_dtype in, const uint8_t *p, size_t rows, double shift, size_t ahead, moment_sums *all) {
  const size_t step = LANES * element_bytes(in), row_bytes = row_lanes(in) * element_bytes(in);
  const v_f64 shifts = (v_f64){0} + shift;
  for (unsigned first = 0; first < row_vectors(in); first += COLUMNS) {
    const uint8_t *row = p + first * step;
    v_f64 difference[COLUMNS] = {{0}}, square[COLUMNS] = {{0}};
    for (size_t r = 0; r < rows; r++, row += row_bytes) {
      if (ahead != 0) ask_ahead(in, row + ahead, COLUMNS * step);
      for (unsigned j = 0; j < COLUMNS; j++)
        add_moments(difference, square, j, j % 2 != 0, load_f64(in, row + j * step), shifts);
    }
    for (unsigned j = 0; j < COLUMNS; j++) {
      all->difference[first + j] = difference[j];
      all->square[first + j] = square[j];
    }
  }
}

/* An incomplete row; the pad is the shift, which differs from itself by nothing. */
INLINE void add_last_row(red_dtype in, const uint8_t *p, size_t count, double shift, moment_sums *all) {
  const size_t step = LANES * element_bytes(in);
  for (unsigned j = 0; count > 0; j++, p += step) {
    size_t here = count < LANES ? count : LANES;
    v_f64 d = (here == LANES ? load_f64(in, p) : load_some(in, p, here, shift)) - shift;
    all->difference[j] += d;
    all->square[j] += d * d;
    count -= here;
  }
}

INLINE red_moments moments(red_dtype in, const uint8_t *p, size_t n, size_t ahead) {
  const size_t rows = n / row_lanes(in), rest = n % row_lanes(in);
  const double shift = rows > 0 ? shift_of_row(in, p) : shift_of_some(in, p, n);
  moment_sums all;
  if (rows == ROWS)
    add_rows(in, p, ROWS, shift, ahead, &all);
  else
    add_rows(in, p, rows, shift, 0, &all);
  if (rest > 0) add_last_row(in, p + rows * row_lanes(in) * element_bytes(in), rest, shift, &all);
  return moments_of(n, shift, &all, row_vectors(in));
}

#define X(suffix, in, bytes, is_signed)                                                                                \
  red_reduce_fn ISA(sum_##suffix);                                                                                     \
  red_map_fn ISA(sumsq_##suffix);
RED_REDUCE_INTEGER(X)
#undef X

#define KERNEL_8(dtype, suffix)                                                                                        \
  red_moments ISA(moments_##suffix)(const void *in, size_t n, size_t ahead) {                                          \
    if (n != SMALL_CHUNK) return moments(dtype, in, n, ahead);                                                         \
    return moments_of_bytes(ISA(sum_##suffix)(NULL, in, SMALL_ROW).key, ISA(sum_##suffix)(NULL, in, n).key,            \
                            ISA(sumsq_##suffix)(NULL, in, NULL, n).key);                                               \
  }
KERNEL_8(RED_I8, i8)
KERNEL_8(RED_U8, u8)

#define KERNEL_16(dtype, suffix)                                                                                       \
  red_moments ISA(moments_##suffix)(const void *in, size_t n, size_t ahead) {                                          \
    if (n != SMALL_CHUNK) return moments(dtype, in, n, ahead);                                                         \
    return moments_of_halfwords(in, dtype == RED_I16, ISA(sum_##suffix)(NULL, in, SMALL_ROW).key, ahead);              \
  }
KERNEL_16(RED_I16, i16)
KERNEL_16(RED_U16, u16)

#define KERNEL(dtype, suffix)                                                                                          \
  red_moments ISA(moments_##suffix)(const void *in, size_t n, size_t ahead) {                                          \
    return moments(dtype, in, n, ahead);                                                                               \
  }
KERNEL(RED_I32, i32)
KERNEL(RED_I64, i64)
KERNEL(RED_U32, u32)
KERNEL(RED_U64, u64)
KERNEL(RED_F16, f16)
KERNEL(RED_BF16, bf16)
KERNEL(RED_F32, f32)
KERNEL(RED_F64, f64)
