/* SPDX-License-Identifier: BSD-2-Clause */
/* Which kernels a problem takes, and how many elements a block of each does. */
#include "room.h"

#define SMALL_TILE  8192u  /* bytes */
#define VECTOR_TILE 16384u /* bytes */

static unsigned width_index(unsigned bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

/*
 * Canonical sums: of floats, of what becomes of them, with the sums of magnitudes. A row for each input and
 * accumulator: a tile is one chunk of the law, or two or four where one has fewer threads than a block. `any` is for
 * what has no kernel.
 */
static const struct {
  red_dtype in;
  unsigned acc_bytes;
  unsigned alignment;
  uint64_t tile;
  red_cuda_kernel sum, quick, product, dot, map, shifted, pair;
} canonical[] = {
    {RED_F32, 4, 4, 4096, RED_CUDA_reduce_sum_f32, RED_CUDA_reduce_quick_f32, RED_CUDA_NO_KERNEL,
     RED_CUDA_reduce_dot_f32, RED_CUDA_reduce_map_f32, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_pair_f32},
    {RED_F64, 8, 8, 4096, RED_CUDA_reduce_sum_f64, RED_CUDA_reduce_quick_f64, RED_CUDA_NO_KERNEL,
     RED_CUDA_reduce_dot_f64, RED_CUDA_reduce_map_f64, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_pair_f64},
    {RED_F16, 4, 8, 16384, RED_CUDA_reduce_sum_f16, RED_CUDA_reduce_quick_f16, RED_CUDA_reduce_rows_f16,
     RED_CUDA_reduce_dot_f16, RED_CUDA_reduce_map_f16, RED_CUDA_reduce_shifted_f16, RED_CUDA_reduce_pair_f16},
    {RED_BF16, 4, 8, 16384, RED_CUDA_reduce_sum_bf16, RED_CUDA_reduce_quick_bf16, RED_CUDA_reduce_rows_bf16,
     RED_CUDA_reduce_dot_bf16, RED_CUDA_reduce_map_bf16, RED_CUDA_reduce_shifted_bf16, RED_CUDA_reduce_pair_bf16},
    {RED_F32, 8, 4, 4096, RED_CUDA_reduce_rows_f32_wide, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_rows_f32_wide,
     RED_CUDA_reduce_dot_f32_wide, RED_CUDA_reduce_map_f32_wide, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_pair_f32_wide},
    {RED_F16, 8, 4, 8192, RED_CUDA_reduce_rows_f16_wide, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_rows_f16_wide,
     RED_CUDA_reduce_dot_f16_wide, RED_CUDA_reduce_map_f16_wide, RED_CUDA_reduce_shifted_f16_wide,
     RED_CUDA_reduce_pair_f16_wide},
    {RED_BF16, 8, 4, 8192, RED_CUDA_reduce_rows_bf16_wide, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_rows_bf16_wide,
     RED_CUDA_reduce_dot_bf16_wide, RED_CUDA_reduce_map_bf16_wide, RED_CUDA_reduce_shifted_bf16_wide,
     RED_CUDA_reduce_pair_bf16_wide},
};

static size_t canonical_row(const red_lowered *lowered) {
  size_t row = 0;
  while (canonical[row].in != lowered->in || canonical[row].acc_bytes != lowered->acc_bytes) row++;
  return row;
}

static red_cuda_choice choose_canonical(const red_lowered *lowered) {
  const bool wide = lowered->acc_bytes == 8, paired = red_is_paired(lowered), mapped = lowered->map != RED_MAP_NONE;
  const size_t row = canonical_row(lowered);
  red_cuda_choice c = {.any = wide ? RED_CUDA_reduce_any_f64 : RED_CUDA_reduce_any_f32,
                       .groups = wide ? RED_CUDA_reduce_groups_f64 : RED_CUDA_reduce_groups_f32,
                       .alignment = canonical[row].alignment,
                       .any_tile = 4096,
                       .tile = canonical[row].tile,
                       .slot_words = (wide ? 2u : 1u) * (paired ? 2u : 1u)};
  if (paired) { /* a slot has both sums */
    c.any = wide ? RED_CUDA_reduce_any_pair_f64 : RED_CUDA_reduce_any_pair_f32;
    c.groups = wide ? RED_CUDA_reduce_groups_pair_f64 : RED_CUDA_reduce_groups_pair_f32;
    c.best = canonical[row].pair;
  } else if (lowered->family == RED_FAMILY_MUL) {
    c.best = canonical[row].product;
    c.shifted = canonical[row].shifted;
  } else if (mapped) { /* kernels of their own are for polling alone; `any` has the other ways to combine */
    c.any = wide ? RED_CUDA_reduce_map_any_f64 : RED_CUDA_reduce_map_any_f32;
    if (wide) c.groups = RED_CUDA_reduce_groups_root;
    c.quick = lowered->map == RED_MAP_PRODUCT ? canonical[row].dot : canonical[row].map;
    c.shifted = canonical[row].shifted;
  } else {
    c.best = canonical[row].sum;
    c.quick = canonical[row].quick;
    c.shifted = canonical[row].shifted;
  }
  return c;
}

/* The magnitude of an element without a sign is the element. */
static red_cuda_kernel add_kernel(const red_lowered *lowered) {
  bool as_it_is = lowered->map == RED_MAP_NONE || (lowered->map == RED_MAP_ABS && !lowered->in_signed);
  if (as_it_is) return RED_CUDA_reduce_add_1;
  return lowered->map == RED_MAP_PRODUCT ? RED_CUDA_reduce_dot_1 : RED_CUDA_reduce_map_1;
}

static red_cuda_choice choose_word(const red_lowered *lowered) {
  unsigned width = width_index(lowered->in_bytes);
  red_cuda_choice c = {.any_tile = VECTOR_TILE / lowered->in_bytes, .slot_words = 2};
  switch (lowered->family) {
  case RED_FAMILY_ADD:
    c.any = add_kernel(lowered) + width;
    c.groups = RED_CUDA_reduce_groups_add;
    break;
  case RED_FAMILY_MUL:
    c.any = RED_CUDA_reduce_mul_1 + width;
    c.groups = RED_CUDA_reduce_groups_mul;
    break;
  case RED_FAMILY_COUNT:
    c.any = RED_CUDA_reduce_count_1 + width;
    c.groups = RED_CUDA_reduce_groups_add;
    break;
  case RED_FAMILY_MIN:
    c.any = RED_CUDA_reduce_min_1 + width;
    c.groups = RED_CUDA_reduce_groups_min;
    break;
  case RED_FAMILY_ARGMIN:
    c.any = RED_CUDA_reduce_arg_1 + width;
    c.large = RED_CUDA_reduce_far_1 + width;
    c.large_tile = c.any_tile;
    c.groups = RED_CUDA_reduce_groups_arg;
    c.slot_words = 4;
    break;
  default:
    c.any = RED_CUDA_reduce_bits;
    c.groups = RED_CUDA_reduce_groups_bits;
    break;
  }
  return c;
}

/* A tile is 16 KB, of elements of 8 bytes 32 KB: 32 rows of a word of 4 or 8 bytes for each of 128 threads. */
static red_cuda_choice choose_stats(const red_lowered *lowered) {
  static const red_cuda_kernel kernels[][3] = {/* without the variance; with it; no more than it and sums */
                                               {RED_CUDA_stats_1, RED_CUDA_variance_1, RED_CUDA_moments_1},
                                               {RED_CUDA_stats_2, RED_CUDA_variance_2, RED_CUDA_variance_2},
                                               {RED_CUDA_stats_4, RED_CUDA_variance_4, RED_CUDA_moments_4},
                                               {RED_CUDA_stats_8, RED_CUDA_variance_8, RED_CUDA_variance_8},
                                               {RED_CUDA_stats_f16, RED_CUDA_variance_f16, RED_CUDA_variance_f16},
                                               {RED_CUDA_stats_bf16, RED_CUDA_variance_bf16, RED_CUDA_variance_bf16},
                                               {RED_CUDA_stats_f32, RED_CUDA_variance_f32, RED_CUDA_moments_f32},
                                               {RED_CUDA_stats_f64, RED_CUDA_variance_f64, RED_CUDA_variance_f64}};
  const bool variance = red_stats_need_moments(lowered);
  const bool alone = variance && !red_stats_need_extrema(lowered) && !red_stats_need_nan_count(lowered);
  const unsigned row = lowered->in_float ? 4 + (lowered->in - RED_F16) : width_index(lowered->in_bytes);
  return (red_cuda_choice){.any = kernels[row][variance + alone],
                           .any_tile = lowered->in_bytes == 8 ? 4096 : VECTOR_TILE / lowered->in_bytes,
                           .slot_words = RED_CUDA_STATS_SLOT_WORDS(lowered->in_bytes, variance)};
}

/* A row for each pair of dtypes whose sums have kernels of their own; integers of either sign share them. */
static const struct {
  red_dtype in, out;
  unsigned state_bytes;
  red_cuda_kernel small, large, pipe;
} hot_scans[] = {
    {RED_F32, RED_F32, 4, RED_CUDA_scan_small_f32, RED_CUDA_scan_large_f32, RED_CUDA_scan_pipe_f32},
    {RED_F64, RED_F64, 8, RED_CUDA_scan_small_f64, RED_CUDA_scan_large_f64, RED_CUDA_scan_pipe_f64},
    {RED_F32, RED_F32, 8, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_f32_wide},
    {RED_F16, RED_F16, 8, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_f16_wide},
    {RED_BF16, RED_BF16, 8, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_bf16_wide},
    {RED_F16, RED_F16, 4, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_f16},
    {RED_BF16, RED_BF16, 4, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_bf16},
    {RED_I8, RED_I8, 4, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_i8},
    {RED_I8, RED_I32, 4, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_i8_int},
    {RED_I8, RED_I64, 8, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_i8_wide},
    {RED_I16, RED_I16, 4, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_i16},
    {RED_I16, RED_I32, 4, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_i16_int},
    {RED_I16, RED_I64, 8, RED_CUDA_NO_KERNEL, RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_i16_wide},
    {RED_I32, RED_I32, 4, RED_CUDA_scan_small_i32, RED_CUDA_scan_large_i32, RED_CUDA_scan_pipe_i32},
    {RED_I32, RED_I64, 8, RED_CUDA_scan_small_i32_wide, RED_CUDA_scan_large_i32_wide, RED_CUDA_scan_pipe_i32_wide},
    {RED_I64, RED_I64, 8, RED_CUDA_scan_small_i64, RED_CUDA_scan_large_i64, RED_CUDA_scan_pipe_i64},
};

static red_dtype as_signed(red_dtype dtype) {
  return dtype >= RED_U8 && dtype <= RED_U64 ? (red_dtype)(dtype - RED_U8 + RED_I8) : dtype;
}

static bool is_hot(const red_lowered *lowered, size_t row) {
  if (lowered->family != RED_FAMILY_ADD || as_signed(lowered->in) != hot_scans[row].in ||
      as_signed(lowered->out) != hot_scans[row].out)
    return false;
  if (lowered->canonical) return lowered->acc_bytes == hot_scans[row].state_bytes;
  /* An accumulator that is narrower than the output would wrap in between. */
  return lowered->acc_bytes >= lowered->out_bytes;
}

/* Large scans but for sums: minima, by width, of integers and of floats; products of floats; of what is nonzero. */
static red_cuda_kernel other_scan(const red_lowered *lowered) {
  static const red_cuda_kernel integers[] = {RED_CUDA_scan_pipe_min_i8, RED_CUDA_scan_pipe_min_i16,
                                             RED_CUDA_scan_pipe_min_i32, RED_CUDA_scan_pipe_min_i64};
  static const red_cuda_kernel floats[] = {RED_CUDA_NO_KERNEL, RED_CUDA_scan_pipe_min_half, RED_CUDA_scan_pipe_min_f32,
                                           RED_CUDA_scan_pipe_min_f64};
  static const red_cuda_kernel products[] = {RED_CUDA_scan_pipe_prod_f16, RED_CUDA_scan_pipe_prod_bf16,
                                             RED_CUDA_scan_pipe_prod_f32, RED_CUDA_scan_pipe_prod_f64};
  static const red_cuda_kernel wide_products[] = {RED_CUDA_scan_pipe_prod_f16_wide, RED_CUDA_scan_pipe_prod_bf16_wide,
                                                  RED_CUDA_scan_pipe_prod_f32_wide, RED_CUDA_scan_pipe_prod_f64};
  const bool counts = lowered->finish == RED_FINISH_VALUE;
  if (lowered->family == RED_FAMILY_COUNT && lowered->out_bytes == (counts ? 8 : 1))
    return (counts ? RED_CUDA_scan_pipe_count_1 : RED_CUDA_scan_pipe_truth_1) + width_index(lowered->in_bytes);
  if (lowered->in != lowered->out) return RED_CUDA_NO_KERNEL;
  if (lowered->family == RED_FAMILY_MIN) return (lowered->in_float ? floats : integers)[width_index(lowered->in_bytes)];
  if (lowered->family == RED_FAMILY_MUL && lowered->canonical)
    return (lowered->acc_bytes == 8 ? wide_products : products)[lowered->in - RED_F16];
  return RED_CUDA_NO_KERNEL;
}

static red_cuda_choice choose_scan(const red_cuda_device *device, const red_lowered *lowered) {
  bool wide = lowered->acc_bytes == 8;
  red_cuda_choice c = {.any = !lowered->canonical ? RED_CUDA_scan_any_word
                              : wide              ? RED_CUDA_scan_any_f64
                                                  : RED_CUDA_scan_any_f32,
                       .groups = !lowered->canonical ? RED_CUDA_scan_level_word
                                 : wide              ? RED_CUDA_scan_level_f64
                                                     : RED_CUDA_scan_level_f32,
                       .any_tile = 4096,
                       .slot_words = lowered->canonical && !wide ? 1 : 2,
                       .alignment = 16};
  for (size_t row = 0; row < sizeof hot_scans / sizeof hot_scans[0]; row++) {
    if (!is_hot(lowered, row)) continue;
    c.small = hot_scans[row].small;
    c.large = hot_scans[row].large;
    c.tile = SMALL_TILE / lowered->in_bytes;
    c.large_tile = VECTOR_TILE / lowered->in_bytes;
    if (red_cuda_pipe_shared(device) > 0) c.best = hot_scans[row].pipe;
  }
  if (lowered->family != RED_FAMILY_ADD && red_cuda_pipe_shared(device) > 0) c.best = other_scan(lowered);
  return c;
}

red_cuda_choice red_cuda_choose(const red_cuda_device *device, const red_lowered *lowered) {
  if (red_is_scan(lowered->kind)) return choose_scan(device, lowered);
  if (lowered->kind == RED_STATS) return choose_stats(lowered);
  return lowered->canonical ? choose_canonical(lowered) : choose_word(lowered);
}
