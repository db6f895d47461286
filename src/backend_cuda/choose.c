/* SPDX-License-Identifier: BSD-2-Clause */
/* Which kernels a problem takes, and how many elements a block of each does. */
#include "room.h"

#define SMALL_TILE  8192u  /* bytes */
#define VECTOR_TILE 16384u /* bytes */

static unsigned width_index(unsigned bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

/* Canonical sums and products: a tile is one chunk of the law, or two or four where one has fewer threads than a block.
 */
static red_cuda_choice choose_canonical(const red_lowered *lowered) {
  bool wide = lowered->acc_bytes == 8;
  red_cuda_choice c = {.any = wide ? RED_CUDA_reduce_any_f64 : RED_CUDA_reduce_any_f32,
                       .groups = wide ? RED_CUDA_reduce_groups_f64 : RED_CUDA_reduce_groups_f32,
                       .any_tile = 4096,
                       .tile = 4096,
                       .slot_words = wide ? 2 : 1};
  if (lowered->family != RED_FAMILY_ADD) return c;
  if (wide && lowered->in == RED_F64) {
    c.best = RED_CUDA_reduce_sum_f64;
    c.quick = RED_CUDA_reduce_quick_f64;
    c.alignment = 8;
  } else if (!wide && lowered->in == RED_F32) {
    c.best = RED_CUDA_reduce_sum_f32;
    c.quick = RED_CUDA_reduce_quick_f32;
    c.alignment = 4;
  } else if (!wide) {
    c.best = lowered->in == RED_F16 ? RED_CUDA_reduce_sum_f16 : RED_CUDA_reduce_sum_bf16;
    c.quick = lowered->in == RED_F16 ? RED_CUDA_reduce_quick_f16 : RED_CUDA_reduce_quick_bf16;
    c.shifted = lowered->in == RED_F16 ? RED_CUDA_reduce_shifted_f16 : RED_CUDA_reduce_shifted_bf16;
    c.alignment = 8;
    c.tile = 16384;
  }
  return c;
}

/* Sums of what becomes of floats. Kernels of their own are for polling alone; `any` has the other ways to combine. */
static red_cuda_choice choose_mapped(const red_lowered *lowered) {
  static const struct {
    red_dtype in;
    unsigned acc_bytes;
    red_cuda_kernel dot, map, shifted;
    unsigned alignment;
    uint64_t tile;
  } hot[] = {
      {RED_F32, 4, RED_CUDA_reduce_dot_f32, RED_CUDA_reduce_map_f32, RED_CUDA_NO_KERNEL, 4, 4096},
      {RED_F64, 8, RED_CUDA_reduce_dot_f64, RED_CUDA_reduce_map_f64, RED_CUDA_NO_KERNEL, 8, 4096},
      {RED_F16, 4, RED_CUDA_reduce_dot_f16, RED_CUDA_reduce_map_f16, RED_CUDA_reduce_shifted_f16, 8, 16384},
      {RED_BF16, 4, RED_CUDA_reduce_dot_bf16, RED_CUDA_reduce_map_bf16, RED_CUDA_reduce_shifted_bf16, 8, 16384},
      {RED_F32, 8, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_map_f32_wide, RED_CUDA_NO_KERNEL, 4, 4096},
      {RED_F16, 8, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_map_f16_wide, RED_CUDA_NO_KERNEL, 4, 8192},
      {RED_BF16, 8, RED_CUDA_NO_KERNEL, RED_CUDA_reduce_map_bf16_wide, RED_CUDA_NO_KERNEL, 4, 8192},
  };
  bool wide = lowered->acc_bytes == 8;
  red_cuda_choice c = {.any = wide ? RED_CUDA_reduce_map_any_f64 : RED_CUDA_reduce_map_any_f32,
                       .groups = wide ? RED_CUDA_reduce_groups_root : RED_CUDA_reduce_groups_f32,
                       .any_tile = 4096,
                       .slot_words = wide ? 2 : 1};
  for (size_t row = 0; row < sizeof hot / sizeof hot[0]; row++) {
    if (hot[row].in != lowered->in || hot[row].acc_bytes != lowered->acc_bytes) continue;
    c.quick = lowered->map == RED_MAP_PRODUCT ? hot[row].dot : hot[row].map;
    c.shifted = hot[row].shifted;
    c.alignment = hot[row].alignment;
    c.tile = hot[row].tile;
  }
  return c;
}

/* With the sum of magnitudes: a slot has both. */
static red_cuda_choice choose_paired(const red_lowered *lowered) {
  bool wide = lowered->acc_bytes == 8;
  red_cuda_choice c = {.any = wide ? RED_CUDA_reduce_any_pair_f64 : RED_CUDA_reduce_any_pair_f32,
                       .groups = wide ? RED_CUDA_reduce_groups_pair_f64 : RED_CUDA_reduce_groups_pair_f32,
                       .any_tile = 4096,
                       .tile = 4096,
                       .slot_words = wide ? 4 : 2};
  if (wide) return c;
  c.alignment = 4;
  c.best = RED_CUDA_reduce_pair_f32;
  if (lowered->in == RED_F32) return c;
  c.alignment = 8;
  c.best = lowered->in == RED_F16 ? RED_CUDA_reduce_pair_f16 : RED_CUDA_reduce_pair_bf16;
  c.tile = 16384;
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
  return c;
}

red_cuda_choice red_cuda_choose(const red_cuda_device *device, const red_lowered *lowered) {
  if (red_is_scan(lowered->kind)) return choose_scan(device, lowered);
  if (lowered->kind == RED_STATS) return choose_stats(lowered);
  if (!lowered->canonical) return choose_word(lowered);
  if (red_is_paired(lowered)) return choose_paired(lowered);
  return lowered->map != RED_MAP_NONE ? choose_mapped(lowered) : choose_canonical(lowered);
}
