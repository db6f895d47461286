/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of an instruction set. Everything in it is listed in kernels.def. */
#include "kernels.h"
#include "vector.h"

#include "kernels.def"

#define X(name, op, in, family, wide) red_reduce_fn ISA(name);
RED_REDUCE_FLOAT(X)
#undef X
#define X(name, in, map) red_exact_fn ISA(exact_##name);
RED_EXACT(X)
RED_EXACT_PRODUCT(X)
RED_EXACT_LONG_PRODUCT(X)
#undef X
#define X(suffix, op, in, wide)                                                                                        \
  red_map_fn ISA(dot_##suffix), ISA(abs_dot_##suffix), ISA(sumsq_##suffix), ISA(asum_##suffix);
RED_MAP_FLOAT(X)
#undef X
#define X(suffix, in, bytes, is_signed)                                                                                \
  red_reduce_fn ISA(sum_##suffix), ISA(prod_##suffix);                                                                 \
  red_map_fn ISA(dot_##suffix), ISA(sumsq_##suffix), ISA(asum_##suffix);
RED_REDUCE_INTEGER(X)
#undef X
#define X(suffix, bytes)                                                                                               \
  red_reduce_fn ISA(and_##suffix), ISA(or_##suffix), ISA(xor_##suffix), ISA(count_##suffix);                           \
  red_flags_fn ISA(flags_##suffix);
RED_WIDTHS(X)
#undef X
#define X(dtype, suffix, op)                                                                                           \
  red_reduce_fn ISA(min_##suffix), ISA(argmin_##suffix);                                                               \
  red_extrema_fn ISA(extrema_##suffix);                                                                                \
  red_find_fn ISA(find_##suffix);
RED_EXTREMA(X)
#undef X
#define X(dtype, suffix) red_moments_fn ISA(moments_##suffix);
RED_DTYPE_NAMES(X)
#undef X
#if VB == 64
#define NARROW_SWEEP(suffix) sweep_##suffix##_avx512_half
#else
#define NARROW_SWEEP(suffix) ISA(sweep_##suffix)
#endif
#define X(dtype, suffix, key_suffix) red_sweep_fn NARROW_SWEEP(suffix);
RED_NARROW_SWEEPS(X)
#undef X
#define X(dtype, suffix, key_suffix) red_sweep_fn ISA(sweep_##suffix);
RED_WIDE_SWEEPS(X)
#undef X
#define X(dtype, suffix) red_nans_fn ISA(nans_##suffix);
RED_NAN_COUNTS(X)
#undef X
#define X(name, op) red_scan_fn ISA(scan_##name);
RED_SCANS(X)
#undef X
#if VB >= 32
#define X(dtype, suffix, bytes, is_signed) red_scan_fn ISA(scan_wide_##suffix);
RED_WIDE_SCANS(X)
#undef X
#endif
#define X(name, op) red_total_fn ISA(total_##name);
RED_TOTALS(X)
#undef X
#define X(from, to) red_convert_fn ISA(convert_##from##_##to);
RED_CONVERSIONS(X)
RED_F16_CONVERSIONS(X)
#undef X
void ISA(sum_halves)(const void *in, size_t n, bool is_signed, uint64_t *low, int64_t *high);

red_stats_fn ISA(stats_i32), ISA(stats_u32);
#if VB == 64
red_stats_fn ISA(stats_f32), ISA(stats_f64);
#endif

const red_kernels ISA(red_kernels) = {
    .name = ISA_NAME,
    .reduce =
        {
#define X(fn, op, in, family, wide) [RED_FAMILY_##family][in][wide] = ISA(fn),
            RED_REDUCE_FLOAT(X)
#undef X
#define X(suffix, in, bytes, is_signed)                                                                                \
  [RED_FAMILY_ADD][in] = {ISA(sum_##suffix), ISA(sum_##suffix)},                                                       \
  [RED_FAMILY_MUL][in] = {ISA(prod_##suffix), ISA(prod_##suffix)},
                RED_REDUCE_INTEGER(X)
#undef X
#define X(dtype, suffix, op)                                                                                           \
  [RED_FAMILY_MIN][dtype] = {ISA(min_##suffix), ISA(min_##suffix)},                                                    \
  [RED_FAMILY_ARGMIN][dtype] = {ISA(argmin_##suffix), ISA(argmin_##suffix)},
                    RED_EXTREMA(X)
#undef X
#define X(dtype, suffix)                                                                                               \
  [RED_FAMILY_AND][dtype] = {ISA(and_##suffix), ISA(and_##suffix)},                                                    \
  [RED_FAMILY_OR][dtype] = {ISA(or_##suffix), ISA(or_##suffix)},                                                       \
  [RED_FAMILY_XOR][dtype] = {ISA(xor_##suffix), ISA(xor_##suffix)},                                                    \
  [RED_FAMILY_COUNT][dtype] = {ISA(count_##suffix), ISA(count_##suffix)},
                        RED_DTYPE_WIDTHS(X)
#undef X
        },
#define X(name, in, map) [map][in] = ISA(exact_##name),
    .exact = {RED_EXACT(X) RED_EXACT_PRODUCT(X) RED_EXACT_LONG_PRODUCT(X)},
#undef X
    .map =
        {
#define X(suffix, op, in, wide)                                                                                        \
  [RED_MAP_PRODUCT][in][wide] = ISA(dot_##suffix), [RED_MAP_ABS_PRODUCT][in][wide] = ISA(abs_dot_##suffix),            \
  [RED_MAP_SQUARE][in][wide] = ISA(sumsq_##suffix), [RED_MAP_ABS][in][wide] = ISA(asum_##suffix),
            RED_MAP_FLOAT(X)
#undef X
#define X(suffix, in, bytes, is_signed)                                                                                \
  [RED_MAP_PRODUCT][in] = {ISA(dot_##suffix), ISA(dot_##suffix)},                                                      \
  [RED_MAP_SQUARE][in] = {ISA(sumsq_##suffix), ISA(sumsq_##suffix)},                                                   \
  [RED_MAP_ABS][in] = {ISA(asum_##suffix), ISA(asum_##suffix)},
                RED_REDUCE_INTEGER(X)
#undef X
        },
#define X(dtype, suffix, op) [dtype] = ISA(extrema_##suffix),
    .extrema = {RED_EXTREMA(X)},
#undef X
#define X(dtype, suffix, op) [dtype] = ISA(find_##suffix),
    .find = {RED_EXTREMA(X)},
#undef X
    .stats =
        {
#if VB == 64
            [RED_F32] = ISA(stats_f32),
            [RED_F64] = ISA(stats_f64),
#endif
            [RED_I32] = ISA(stats_i32),
            [RED_U32] = ISA(stats_u32)},
#define X(dtype, suffix) [dtype] = ISA(moments_##suffix),
    .moments = {RED_DTYPE_NAMES(X)},
#undef X
    .sweep =
        {
#define X(dtype, suffix, key_suffix) [dtype] = NARROW_SWEEP(suffix),
            RED_NARROW_SWEEPS(X)
#undef X
#define X(dtype, suffix, key_suffix) [dtype] = ISA(sweep_##suffix),
                RED_WIDE_SWEEPS(X)
#undef X
        },
#define X(dtype, suffix) [dtype] = ISA(nans_##suffix),
    .nans = {RED_NAN_COUNTS(X)[RED_BF16] = ISA(nans_16)},
#undef X
    .sum_halves = ISA(sum_halves),
#define X(name, op) [op] = ISA(scan_##name),
    .scan = {RED_SCANS(X)},
#undef X
#if VB >= 32
#define X(dtype, suffix, bytes, is_signed) [dtype] = ISA(scan_wide_##suffix),
    .wide_sum = {RED_WIDE_SCANS(X)},
#undef X
#endif
#define X(name, op) [op] = ISA(total_##name),
    .total = {RED_TOTALS(X)},
#undef X
#define X(dtype, wide, from, to) [dtype][wide] = ISA(convert_##from##_##to),
    .widen = {RED_WIDENINGS(X)},
    .narrow = {RED_NARROWINGS(X)},
#undef X
    .flags = {ISA(flags_8), ISA(flags_16), ISA(flags_32), ISA(flags_64)},
};
