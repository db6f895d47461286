/* SPDX-License-Identifier: BSD-2-Clause */
/* Planning: geometry, how blocks combine, how much workspace. choose.c says which kernels. */
#include "room.h"

#include <stdlib.h>
#include <string.h>

#define REDUCE_THREADS 128u
#define SCAN_THREADS   256u
#define SMALL_THREADS  512u
#define PIPE_THREADS   640u

unsigned red_cuda_most_places(const red_cuda_device *device) {
  if (device->capability < 90 || device->block_shared < 2048) return 0;
  unsigned places = (device->block_shared - 2048) / RED_CUDA_PIPE_TILE; /* 2 KB: barriers and totals */
  if (places < RED_CUDA_LEAST_PLACES) return 0;
  return places < RED_CUDA_MOST_PLACES ? places : RED_CUDA_MOST_PLACES;
}

unsigned red_cuda_pipe_shared(const red_cuda_device *device) {
  return (unsigned)device->tuning.scan_places * RED_CUDA_PIPE_TILE;
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
      .map = (uint8_t)lowered->map,
      .finish = (uint8_t)lowered->finish,
      .in_float = lowered->in_float,
      .acc_signed = lowered->acc >= RED_I8 && lowered->acc <= RED_I64,
      .merge_zeros = lowered->merge_zeros,
      .nan_skip = lowered->nan_skip,
      .has_init = lowered->has_init,
      .canonical = lowered->canonical,
  };
  if (lowered->in_signed) e.sign = (uint64_t)1 << (8 * lowered->in_bytes - 1);
  if (lowered->has_init && lowered->exact)
    e.init = lowered->acc_bytes == 8 ? lowered->init.u64 : lowered->init.u32; /* bits */
  else if (lowered->has_init)
    e.init = red_state_from_acc(lowered, &lowered->init).u64;
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

static bool polls(const red_cuda_device *device, const red_lowered *lowered) {
  return red_is_scan(lowered->kind) || lowered->n <= device->tuning.poll_bytes / lowered->in_bytes;
}

red_status red_cuda_choose_combine(const red_cuda_device *device, const red_lowered *lowered,
                                   red_cuda_combine *combine) {
  static const char *const names[] = {"poll", "last", "two", "pdl", "coop", "atomic"};
  const char *asked = getenv("RED_CUDA_COMBINE");
  *combine = polls(device, lowered) ? RED_CUDA_POLL : RED_CUDA_LAST;
  if (asked == NULL || *asked == '\0') return RED_OK;
  unsigned c = 0;
  while (c < RED_CUDA_COMBINES && strcmp(names[c], asked) != 0) c++;
  if (c == RED_CUDA_COMBINES)
    return red_fail(RED_ERR_INVALID, "RED_CUDA_COMBINE is '%s': expected poll, last, two, pdl, coop or atomic", asked);
  if (red_is_scan(lowered->kind) && c != RED_CUDA_TWO) return RED_OK;
  /* Statistics have no second kernel and one tile a block; atomics need one word and a free order. */
  bool plain = c == RED_CUDA_POLL || c == RED_CUDA_LAST;
  bool atomic = !lowered->canonical && lowered->kind == RED_REDUCE && lowered->family != RED_FAMILY_MUL &&
                lowered->family != RED_FAMILY_ARGMIN;
  if ((!plain && lowered->kind == RED_STATS) || (c == RED_CUDA_ATOMIC && !atomic)) return RED_OK;
  if (c == RED_CUDA_COOP && !device->cooperative) return RED_OK;
  if (c == RED_CUDA_PDL && (device->capability < 90 || red_cu.LaunchKernelEx == NULL)) return RED_OK;
  *combine = (red_cuda_combine)c;
  return RED_OK;
}

/* ---- Workspace
 * --------------------------------------------------------------------------------------------------------------- */

/* For every address that `in` may have. */
static uint64_t workspace_of(const red_cuda_plan *plan, const red_lowered *lowered) {
  if (lowered->in_memory != RED_DEVICE) return 0;
  if (lowered->exact) return RED_CUDA_SLOTS_AT;
  uint64_t smallest = plan->any.tile;
  if (plan->large.function != NULL && plan->large.tile < smallest) smallest = plan->large.tile;
  uint64_t elements = lowered->n + (plan->by_vectors ? 16 : 0);
  uint64_t tiles = elements / smallest + 1;
  if (!red_is_scan(lowered->kind)) return red_cuda_reduce_layout(plan, tiles).bytes;
  return red_cuda_scan_layout(plan, tiles, RED_CUDA_SCAN_SMALL_GROUPS).bytes; /* large ones take less */
}

/* ---- Plans
 * -------------------------------------------------------------------------------------------------------------------
 */

static red_status set_shapes(red_cuda_device *device, const red_lowered *lowered, red_cuda_plan *plan) {
  if (lowered->exact) return red_cuda_exact_plan(device, lowered, plan);
  red_cuda_choice c = red_cuda_choose(device, lowered);
  bool scan = red_is_scan(lowered->kind);
  red_status status = red_cuda_get_kernel(device, c.any, &plan->any.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.best, &plan->best.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.quick, &plan->quick);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.shifted, &plan->shifted.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.small, &plan->small.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.large, &plan->large.function);
  if (status == RED_OK) status = red_cuda_get_kernel(device, c.groups, &plan->groups);
  if (status != RED_OK) return status;
  if (plan->best.function == NULL) plan->best.function = plan->quick;
  plan->any.threads = plan->small.threads = plan->large.threads = plan->best.threads = plan->shifted.threads =
      scan ? SCAN_THREADS : REDUCE_THREADS;
  plan->large.tile = c.large_tile;
  plan->any.tile = c.any_tile;
  plan->best.tile = plan->shifted.tile = plan->small.tile = c.tile;
  if (scan) {
    plan->any.group_bits = plan->large.group_bits = RED_CUDA_SCAN_SMALL_GROUPS;
    plan->best.group_bits = RED_CUDA_SCAN_LARGE_GROUPS;
    plan->small.threads = SMALL_THREADS;
    plan->best.threads = PIPE_THREADS;
    plan->best.tile = RED_CUDA_PIPE_TILE / lowered->in_bytes;
    plan->best.shared = red_cuda_pipe_shared(device);
  }
  plan->alignment = c.alignment;
  plan->slot_words = c.slot_words;
  return RED_OK;
}

static red_status fill_plan(red_cuda_device *device, const red_lowered *lowered, red_cuda_plan *plan) {
  red_status status = set_shapes(device, lowered, plan);
  if (status == RED_OK) status = red_cuda_choose_combine(device, lowered, &plan->combine);
  if (status != RED_OK) return status;
  plan->element = element_of(lowered);
  plan->stats = lowered->stats;
  plan->as_it_is =
      lowered->canonical && lowered->out == lowered->acc && !lowered->has_init && lowered->finish == RED_FINISH_VALUE;
  plan->by_vectors = lowered->kind == RED_REDUCE && !lowered->canonical;
  const red_cuda_tuning *tuning = &device->tuning;
  plan->streaming_bytes = tuning->stream_bytes;
  uint64_t pipe_bytes = plan->large.function != NULL ? tuning->scan_pipe_bytes : tuning->scan_pipe_bytes_narrow;
  plan->large_elements = (red_is_scan(lowered->kind) ? pipe_bytes : tuning->far_bytes) / lowered->in_bytes;
  plan->in_order = red_is_scan(lowered->kind) && plan->combine == RED_CUDA_TWO;
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
  if (plan->captured->list != NULL) {
    bool entered = red_cuda_enter(device, &scope) == RED_OK;
    red_cuda_free_buffers(plan->captured->list, entered);
    if (entered) red_cuda_leave(&scope);
  }
  pthread_mutex_destroy(&plan->captured->lock);
  free(plan->captured);
  free(plan);
}
