/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact sums of products, squares and magnitudes: these are written to a buffer as doubles, then added like any. A
 * product of narrower types is one double, of f64 it is two, itself rounded and the error of that; where the error
 * would not be a double, the long integer takes the product.
 */
#include "exact_block.h"

#include "kernels.def"

enum {
  PART = 1024 /* elements */
};

typedef struct buffers {
  _Alignas(64) double value[PART + LANES];
  double error[PART + LANES];
} buffers;

INLINE v_f64 element(red_dtype in, const uint8_t *p, size_t i, size_t n) {
  const uint8_t *at = p + i * bytes_of(in);
  __builtin_prefetch(at + AHEAD);
  return i + LANES <= n ? load_f64(in, at) : widen_partial(in, at, n - i);
}

INLINE void map_narrow(red_dtype in, red_map map, const uint8_t *p, const uint8_t *q, size_t n, buffers *to) {
  for (size_t i = 0; i < n; i += LANES) {
    v_f64 x = element(in, p, i, n);
    if (map == RED_MAP_ABS)
      x = (v_f64)((v_u64)x & INT64_MAX);
    else
      x *= map == RED_MAP_PRODUCT ? element(in, q, i, n) : x;
    v_store(&to->value[i], (v_u8)x);
  }
}

/* The error of a product is a double if the lowest bits' product is, and the highest do not overflow. */
INLINE bool have_errors(range x, range y) {
  return !x.special && !y.special && x.top + y.top <= 1023 && x.bottom + y.bottom >= -1074;
}

INLINE void multiply_f64(const uint8_t *p, const uint8_t *q, size_t n, buffers *to) {
  for (size_t i = 0; i < n; i += LANES) {
    v_f64 x = element(RED_F64, p, i, n), y = element(RED_F64, q, i, n), product = x * y;
    v_store(&to->value[i], (v_u8)product);
    v_store(&to->error[i], (v_u8)v_fma_f64(x, y, -product));
  }
}

static __attribute__((noinline)) void add_products(const uint8_t *p, const uint8_t *q, size_t n, red_exact *sum) {
  for (size_t i = 0; i < n; i++)
    red_exact_add_product(sum, ((const f64_unaligned *)p)[i], ((const f64_unaligned *)q)[i]);
}

/* The courses of values and of their errors are different ones, in the same bins. */
INLINE void add_mapped(red_dtype in, red_map map, const uint8_t *p, const uint8_t *q, size_t n, buffers *to,
                       course c[2], red_exact *sum) {
  bool twofold = in == RED_F64 && map != RED_MAP_ABS;
  if (!twofold) {
    map_narrow(in, map, p, q, n, to);
    add_block_wide((const uint8_t *)to->value, n, &c[0], sum);
  } else if (have_errors(look_over(RED_F64, p, n), look_over(RED_F64, q, n))) {
    multiply_f64(p, q, n, to);
    add_block_wide((const uint8_t *)to->value, n, &c[0], sum);
    const uint32_t flags = sum->flags; /* errors are finite, and their zeros mean nothing */
    add_block_wide((const uint8_t *)to->error, n, &c[1], sum);
    sum->flags = flags;
  } else {
    add_products(p, q, n, sum);
  }
}

INLINE void add(red_dtype in, red_map map, const void *data, const void *data2, size_t n, red_exact *sum) {
  const unsigned bytes = bytes_of(in);
  const uint8_t *p = data, *q = map == RED_MAP_PRODUCT ? data2 : data;
  bins room;
  buffers buffer;
  binning b = {.bins = &room};
  course c[2] = {{.binning = &b}, {.binning = &b}};
  for (size_t i = 0; i < n && (sum->flags & RED_EXACT_NAN) == 0; i += PART)
    add_mapped(in, map, p + i * bytes, q + i * bytes, n - i < PART ? n - i : PART, &buffer, c, sum);
  if (b.used) bins_flush(&b, RED_F64, sum);
}

#define KERNEL(name, in, map)                                                                                          \
  void ISA(exact_##name)(const void *data, const void *data2, size_t n, red_exact *sum) {                              \
    add(in, map, data, data2, n, sum);                                                                                 \
  }
RED_EXACT_MAPPED(KERNEL)
