/* SPDX-License-Identifier: BSD-2-Clause */
/* Planning: which kernels, which geometry, how much workspace. Numbers that steer are rows in the tables here. */
#include "room.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tuning, by measurements on an H200 (bench/RESULTS.md)
 * ------------------------------------------------------------- */

/* Up to 256 MB streaming loads gain 5-15 %, they leave dirty lines in the cache alone; beyond they lose 4 %. */
#define STREAMING_BYTES ((uint64_t)256 << 20)

/* Scans of up to 1 MB want the shortest code, up to 4 MB one block for each tile; beyond the pipeline's ring wins. */
#define SMALL_SCAN_BYTES ((uint64_t)1 << 20)
#define LARGE_SCAN_BYTES ((uint64_t)4 << 20)

/* Two places keep the copy engine busy while a tile waits; each more gains, up to what 227 KB hold. */
#define LEAST_PLACES 2u
#define MOST_PLACES  7u

#define REDUCE_THREADS 128u
#define SCAN_THREADS   256u
#define SMALL_THREADS  512u
#define SMALL_TILE     8192u /* bytes */
#define PIPE_THREADS   640u
#define VECTOR_TILE    16384u /* bytes */
#define GROUP_TILES    2048u

unsigned red_cuda_pipe_shared(const red_cuda_device *device) {
  if (device->capability < 90 || device->block_shared < 2048) return 0;
  unsigned places = (device->block_shared - 2048) / RED_CUDA_PIPE_TILE; /* 2 KB: barriers and totals */
  if (places < LEAST_PLACES) return 0;
  return (places < MOST_PLACES ? places : MOST_PLACES) * RED_CUDA_PIPE_TILE;
}

/* ---- Which kernels
 * ------------------------------------------------------------------------------------------------------ */

typedef struct choice {
  red_cuda_kernel best, quick, small, large, any, groups, finish;
  uint64_t tile, any_tile; /* elements */
  unsigned alignment;
  unsigned slot_words, extrema_words;
} choice;

static unsigned width_index(unsigned bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static bool is_scan(const red_lowered *lowered) {
  return lowered->kind == RED_INCLUSIVE_SCAN || lowered->kind == RED_EXCLUSIVE_SCAN;
}

/* Canonical sums and products: a tile is one chunk of the law, or two or four where one has fewer threads than a block.
 */
static choice choose_canonical(const red_lowered *lowered) {
  bool wide = lowered->acc_bytes == 8;
  choice c = {.any = wide ? RED_CUDA_reduce_any_f64 : RED_CUDA_reduce_any_f32,
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
    c.alignment = 8;
    c.tile = 16384;
  }
  return c;
}

static choice choose_word(const red_lowered *lowered) {
  unsigned width = width_index(lowered->in_bytes);
  choice c = {.any_tile = VECTOR_TILE / lowered->in_bytes, .slot_words = 2};
  switch (lowered->family) {
  case RED_FAMILY_ADD:
    c.any = RED_CUDA_reduce_add_1 + width;
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

static choice choose_stats(const red_lowered *lowered) {
  static const red_cuda_kernel integers[] = {RED_CUDA_stats_1, RED_CUDA_stats_2, RED_CUDA_stats_4, RED_CUDA_stats_8};
  choice c = {.finish = RED_CUDA_stats_finish, .any_tile = 4096};
  if (lowered->in_float)
    c.any = lowered->in == RED_F16    ? RED_CUDA_stats_f16
            : lowered->in == RED_BF16 ? RED_CUDA_stats_bf16
            : lowered->in == RED_F32  ? RED_CUDA_stats_f32
                                      : RED_CUDA_stats_f64;
  else
    c.any = integers[width_index(lowered->in_bytes)];
  c.slot_words = lowered->in_float ? lowered->acc_bytes / 4u : 4;
  c.extrema_words = lowered->in_bytes == 8 ? 8 : 6;
  return c;
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

static choice choose_scan(const red_cuda_device *device, const red_lowered *lowered) {
  bool wide = lowered->acc_bytes == 8;
  choice c = {.any = !lowered->canonical ? RED_CUDA_scan_any_word
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
    if (red_cuda_pipe_shared(device) > 0) c.best = hot_scans[row].pipe;
  }
  return c;
}

static choice choose(const red_cuda_device *device, const red_lowered *lowered) {
  if (is_scan(lowered)) return choose_scan(device, lowered);
  if (lowered->kind == RED_STATS) return choose_stats(lowered);
  return lowered->canonical ? choose_canonical(lowered) : choose_word(lowered);
}

/* ---- Elements
 * ------------------------------------------------------------------------------------------------------------ */

static red_cuda_element element_of(const red_lowered *lowered) {
  red_cuda_element e = {
      .key_xor = lowered->key_xor,
      .inf = lowered->inf,
      .nan_key = lowered->nan_key,
      .nonzero_mask = lowered->nonzero_mask,
      .identity = red_state_identity(lowered).u64,
      .in = (uint8_t)lowered->in,
      .acc = (uint8_t)lowered->acc,
      .out = (uint8_t)lowered->out,
      .in_bytes = lowered->in_bytes,
      .acc_bytes = lowered->acc_bytes,
      .out_bytes = lowered->out_bytes,
      .family = (uint8_t)lowered->family,
      .finish = (uint8_t)lowered->finish,
      .in_float = lowered->in_float,
      .acc_signed = lowered->acc >= RED_I8 && lowered->acc <= RED_I64,
      .merge_zeros = lowered->merge_zeros,
      .nan_skip = lowered->nan_skip,
      .has_init = lowered->has_init,
      .canonical = lowered->canonical,
  };
  if (lowered->in_signed) e.sign = (uint64_t)1 << (8 * lowered->in_bytes - 1);
  if (lowered->has_init) e.init = red_state_from_acc(lowered, &lowered->init).u64;
  return e;
}

static void set_pad(red_cuda_plan *plan, const red_lowered *lowered) {
  switch (lowered->family) {
  case RED_FAMILY_MUL:
    plan->pad = 1;
    break;
  case RED_FAMILY_MIN:
  case RED_FAMILY_ARGMIN:
  case RED_FAMILY_AND:
    plan->pad_is_first = true;
    break;
  default:
    break;
  }
}

/* ---- How blocks combine
 * ---------------------------------------------------------------------------------------------------- */

red_status red_cuda_choose_combine(const red_cuda_device *device, const red_lowered *lowered,
                                   red_cuda_combine *combine) {
  static const char *const names[] = {"poll", "last", "two", "pdl", "coop", "atomic"};
  const char *asked = getenv("RED_CUDA_COMBINE");
  *combine = RED_CUDA_POLL;
  if (asked == NULL || *asked == '\0') return RED_OK;
  unsigned c = 0;
  while (c < RED_CUDA_COMBINES && strcmp(names[c], asked) != 0) c++;
  if (c == RED_CUDA_COMBINES)
    return red_fail(RED_ERR_INVALID, "RED_CUDA_COMBINE is '%s': expected poll, last, two, pdl, coop or atomic", asked);
  if (is_scan(lowered) && c != RED_CUDA_TWO) return RED_OK;
  /* Statistics have no second kernel; atomics need one word and a free order. */
  bool two = c == RED_CUDA_TWO || c == RED_CUDA_PDL;
  bool atomic = !lowered->canonical && lowered->kind == RED_REDUCE && lowered->family != RED_FAMILY_MUL &&
                lowered->family != RED_FAMILY_ARGMIN;
  if ((two && lowered->kind == RED_STATS) || (c == RED_CUDA_ATOMIC && !atomic)) return RED_OK;
  if (c == RED_CUDA_COOP && !device->cooperative) return RED_OK;
  if (c == RED_CUDA_PDL && (device->capability < 90 || red_cu.LaunchKernelEx == NULL)) return RED_OK;
  *combine = (red_cuda_combine)c;
  return RED_OK;
}

/* ---- Workspace
 * --------------------------------------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t bytes) {
  return (bytes + 255) & ~(uint64_t)255;
}

/* Arrival counters that RED_CUDA_LAST needs: one for each group, level after level. */
uint64_t red_cuda_counters(uint64_t tiles) {
  uint64_t counters = 0;
  for (uint64_t count = tiles; count > 1;) {
    count = (count + GROUP_TILES - 1) / GROUP_TILES;
    counters += count;
  }
  return counters;
}

red_cuda_layout red_cuda_reduce_layout(const red_cuda_plan *plan, uint64_t tiles) {
  red_cuda_layout layout = {.levels = 0};
  uint64_t at = RED_CUDA_SLOTS_AT;
  layout.raw = at;
  if (plan->finish != NULL) at += round_up(RED_CUDA_RAW_WORDS * sizeof(uint64_t));
  for (uint64_t count = tiles; layout.levels < RED_CUDA_LEVELS; count = (count + GROUP_TILES - 1) / GROUP_TILES) {
    layout.slots[layout.levels] = at;
    at += round_up((count + 1) * plan->slot_words * sizeof(uint64_t));
    layout.extrema[layout.levels] = at;
    at += round_up(count * plan->extrema_words * sizeof(uint64_t));
    layout.levels++;
    if (count <= GROUP_TILES) break;
  }
  layout.bytes = at;
  return layout;
}

red_cuda_layout red_cuda_scan_layout(const red_cuda_plan *plan, uint64_t tiles) {
  red_cuda_layout layout = {.levels = 0};
  uint64_t at = RED_CUDA_SLOTS_AT;
  uint64_t last = tiles > 0 ? tiles - 1 : 0; /* the digits of the last tile's index */
  do {
    layout.slots[layout.levels++] = at;
    at += round_up((last + 1) * plan->slot_words * sizeof(uint64_t));
    last >>= 5;
  } while (last > 0);
  layout.bytes = at;
  return layout;
}

/* For every address that `in` may have. */
static uint64_t workspace_of(const red_cuda_plan *plan, const red_lowered *lowered) {
  if (lowered->in_memory != RED_DEVICE) return 0;
  uint64_t smallest = plan->any.tile;
  if (plan->small.function != NULL && plan->small.tile < smallest) smallest = plan->small.tile;
  uint64_t elements = lowered->n + (plan->by_vectors ? 16 : 0);
  uint64_t tiles = elements / smallest + 1;
  return (is_scan(lowered) ? red_cuda_scan_layout(plan, tiles) : red_cuda_reduce_layout(plan, tiles)).bytes;
}

/* ---- Plans
 * -------------------------------------------------------------------------------------------------------------------
 */

static red_status set_shapes(red_cuda_device *device, const red_lowered *lowered, red_cuda_plan *plan) {
  choice c = choose(device, lowered);
  bool scan = is_scan(lowered);
  red_status status = red_cuda_get_kernel(device, c.any, &plan->any.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.best, &plan->best.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.quick, &plan->quick);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.small, &plan->small.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.large, &plan->large.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.groups, &plan->groups);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.finish, &plan->finish);
  if (status != RED_OK) return status;
  plan->any.threads = plan->small.threads = plan->best.threads = scan ? SCAN_THREADS : REDUCE_THREADS;
  plan->any.tile = c.any_tile;
  plan->best.tile = plan->small.tile = c.tile;
  if (scan) {
    plan->small.threads = SMALL_THREADS;
    plan->large.threads = SCAN_THREADS;
    plan->large.tile = VECTOR_TILE / lowered->in_bytes;
    plan->best.threads = PIPE_THREADS;
    plan->best.tile = RED_CUDA_PIPE_TILE / lowered->in_bytes;
    plan->best.shared = red_cuda_pipe_shared(device);
  }
  plan->alignment = c.alignment;
  plan->slot_words = c.slot_words;
  plan->extrema_words = c.extrema_words;
  return RED_OK;
}

static red_status fill_plan(red_cuda_device *device, const red_lowered *lowered, red_cuda_plan *plan) {
  red_status status = set_shapes(device, lowered, plan);
  if (status == RED_OK) status = red_cuda_choose_combine(device, lowered, &plan->combine);
  if (status != RED_OK) return status;
  plan->element = element_of(lowered);
  plan->stats = lowered->stats;
  plan->as_it_is = lowered->canonical && lowered->out == lowered->acc && !lowered->has_init;
  plan->by_vectors = lowered->kind == RED_REDUCE && !lowered->canonical;
  plan->streaming_bytes = STREAMING_BYTES;
  plan->small_elements = SMALL_SCAN_BYTES / lowered->in_bytes;
  plan->large_elements = LARGE_SCAN_BYTES / lowered->in_bytes;
  plan->in_order = is_scan(lowered) && plan->combine == RED_CUDA_TWO;
  set_pad(plan, lowered);
  return RED_OK;
}

red_status red_cuda_plan_create(void *state, const red_lowered *lowered, void **made, uint64_t *workspace) {
  red_cuda_device *device = state;
  red_cuda_plan *plan = calloc(1, sizeof *plan);
  red_cuda_captured *captured = calloc(1, sizeof *captured);
  red_cuda_scope scope;
  red_status status = plan != NULL && captured != NULL ? red_cuda_enter(device, &scope)
                                                       : red_fail(RED_ERR_NO_MEMORY, "no memory for a plan");
  if (status == RED_OK) {
    status = fill_plan(device, lowered, plan);
    red_cuda_leave(&scope);
  }
  if (status != RED_OK) {
    free(plan);
    free(captured);
    return status;
  }
  pthread_mutex_init(&captured->lock, NULL);
  plan->captured = captured;
  *workspace = workspace_of(plan, lowered);
  *made = plan;
  return RED_OK;
}

void red_cuda_plan_destroy(void *device, void *state) {
  red_cuda_plan *plan = state;
  red_cuda_scope scope;
  if (plan->captured->list != NULL && red_cuda_enter(device, &scope) == RED_OK) {
    while (plan->captured->list != NULL) {
      red_cuda_buffer *buffer = plan->captured->list;
      plan->captured->list = buffer->older;
      red_cu.MemFree(buffer->memory);
      free(buffer);
    }
    red_cuda_leave(&scope);
  }
  pthread_mutex_destroy(&plan->captured->lock);
  free(plan->captured);
  free(plan);
}
