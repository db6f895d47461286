/* SPDX-License-Identifier: BSD-2-Clause */
/* Reductions: one kernel call where the array is small, else blocks by many threads and the tree above them. */
#include <string.h>

#include "fpenv.h"
#include "order.h"
#include "room.h"

typedef struct part {
  _Alignas(RED_PART_ALIGNMENT) red_state state; /* any order will do */
  red_forest forest;                            /* canonical */
} part;

typedef struct reduce_job {
  const red_kernels *kernels;
  const red_lowered *lowered;
  red_reduce_fn *kernel;
  red_map_fn *map; /* instead of `kernel`, or NULL */
  const uint8_t *in, *in2;
  uint64_t block, blocks; /* elements; the last block may be short */
} reduce_job;

static red_reduce_fn *kernel_of(const red_kernels *kernels, const red_lowered *lowered) {
  return kernels->reduce[lowered->family][lowered->in][lowered->acc_bytes == 8];
}

static red_map_fn *map_of(const red_kernels *kernels, const red_lowered *lowered) {
  return lowered->map != RED_MAP_NONE ? kernels->map[lowered->map][lowered->in][lowered->acc_bytes == 8] : NULL;
}

enum {
  ARGMIN_PIECE_BYTES = 16 << 10 /* in the first-level cache: looked at twice */
};

/* The least key of each piece while it streams by, then a second look at the winning piece. */
red_state red_cpu_argmin(const red_kernels *kernels, const red_lowered *lowered, const void *in, red_range range) {
  const uint64_t piece = ARGMIN_PIECE_BYTES / lowered->in_bytes;
  red_reduce_fn *least = kernels->reduce[RED_FAMILY_MIN][lowered->in][0];
  red_state best = {.key = INT64_MAX, .index = range.first};
  for (uint64_t i = range.first; i < range.last; i += piece) {
    uint64_t n = range.last - i < piece ? range.last - i : piece;
    int64_t key = least(lowered, (const uint8_t *)in + i * lowered->in_bytes, n).key;
    if (key < best.key) best = (red_state){.key = key, .index = i};
  }
  uint64_t left = range.last - best.index;
  best.index += kernels->find[lowered->in](lowered, (const uint8_t *)in + best.index * lowered->in_bytes,
                                           left < piece ? left : piece, best.key);
  return best;
}

static uint64_t elements_before(const reduce_job *job, uint64_t block) {
  uint64_t elements = block * job->block;
  return elements < job->lowered->n ? elements : job->lowered->n;
}

static red_state run_kernel(const reduce_job *job, uint64_t first, uint64_t last) {
  const uint64_t offset = first * job->lowered->in_bytes;
  if (job->map == NULL) return job->kernel(job->lowered, job->in + offset, last - first);
  return job->map(job->lowered, job->in + offset, job->in2 != NULL ? job->in2 + offset : NULL, last - first);
}

static void reduce_blocks(const reduce_job *job, red_range blocks, red_forest *forest) {
  for (uint64_t b = blocks.first; b < blocks.last; b++) {
    red_state node = run_kernel(job, elements_before(job, b), elements_before(job, b + 1));
    red_forest_push(forest, job->lowered, RED_BLOCK_LEVEL, b, node);
  }
}

static red_state reduce_range(const reduce_job *job, red_range blocks) {
  red_range range = {elements_before(job, blocks.first), elements_before(job, blocks.last)};
  if (range.first == range.last) return red_state_identity(job->lowered);
  if (job->lowered->family == RED_FAMILY_ARGMIN) return red_cpu_argmin(job->kernels, job->lowered, job->in, range);
  return run_kernel(job, range.first, range.last);
}

static void clear(const void *argument, void *cleared) {
  const reduce_job *job = argument;
  part *p = cleared;
  red_forest_clear(&p->forest);
  p->state = red_state_identity(job->lowered);
}

static void work(const void *argument, void *mine, unsigned index, unsigned count) {
  const reduce_job *job = argument;
  part *p = mine;
  red_range blocks = red_share(job->blocks, index, count);
  if (job->lowered->canonical)
    reduce_blocks(job, blocks, &p->forest);
  else
    p->state = reduce_range(job, blocks);
}

static void merge(const void *argument, void *merged, const void *following) {
  const reduce_job *job = argument;
  part *into = merged;
  const part *next = following;
  if (job->lowered->canonical)
    red_forest_append(&into->forest, job->lowered, &next->forest);
  else
    into->state = red_state_merge(job->lowered, into->state, next->state);
}

/* Apart, so that what a small call does not need costs it nothing. */
__attribute__((noinline)) static red_state reduce_many(const red_cpu *cpu, const red_lowered *lowered, const void *in,
                                                       const void *in2, uint64_t block) {
  static const red_parts kind = {sizeof(part), clear, work, merge};
  const red_kernels *kernels = red_cpu_reduce_kernels(cpu, lowered);
  const reduce_job job = {.kernels = kernels,
                          .lowered = lowered,
                          .kernel = kernel_of(kernels, lowered),
                          .map = map_of(kernels, lowered),
                          .in = in,
                          .in2 = in2,
                          .block = block,
                          .blocks = (lowered->n + block - 1) / block};
  part whole;
  red_cpu_gather(cpu, (in2 != NULL ? 2 : 1) * lowered->n * lowered->in_bytes, &kind, &job, &whole);
  return lowered->canonical ? red_forest_root(&whole.forest, lowered) : whole.state;
}

static red_state reduce_chunk(const red_kernels *kernels, const red_lowered *lowered, const void *in, const void *in2,
                              uint64_t n) {
  if (lowered->family == RED_FAMILY_ARGMIN && n * lowered->in_bytes > ARGMIN_PIECE_BYTES)
    return red_cpu_argmin(kernels, lowered, in, (red_range){0, n});
  if (lowered->map != RED_MAP_NONE) return map_of(kernels, lowered)(lowered, in, in2, n);
  return kernel_of(kernels, lowered)(lowered, in, n);
}

static inline red_state reduce(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2) {
  const uint64_t block = RED_BLOCK_CHUNKS * red_chunk_elements(lowered), n = lowered->n;
  if (n > block) return reduce_many(cpu, lowered, in, in2, block);
  return reduce_chunk(cpu->kernels, lowered, in, in2, n);
}

red_state red_cpu_reduce_state(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2) {
  return reduce(cpu, lowered, in, in2);
}

/* Everything else finds floats by their bits. */
static bool computes_floats(const red_lowered *lowered) {
  return lowered->canonical || (lowered->family == RED_FAMILY_MIN && lowered->out != lowered->in);
}

red_status red_cpu_reduce(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2, void *out) {
  if (!computes_floats(lowered)) return red_state_finish(lowered, reduce(cpu, lowered, in, in2), lowered->n, out);
  red_fpenv saved = red_fpenv_enter();
  red_status status = red_state_finish(lowered, reduce(cpu, lowered, in, in2), lowered->n, out);
  red_fpenv_leave(saved);
  return status;
}

/* ---- At most a chunk ---- */

static red_status small_any(void *device, const red_lowered *lowered, const void *in, const void *in2, uint64_t n,
                            void *out) {
  const red_cpu *cpu = device;
  return red_state_finish(lowered, reduce_chunk(cpu->kernels, lowered, in, in2, n), n, out);
}

static red_status small_float(void *device, const red_lowered *lowered, const void *in, const void *in2, uint64_t n,
                              void *out) {
  red_fpenv saved = red_fpenv_enter();
  red_status status = small_any(device, lowered, in, in2, n, out);
  red_fpenv_leave(saved);
  return status;
}

/* The index is the result, but where all elements are NaN and skipped. */
static red_status small_argmin(void *device, const red_lowered *lowered, const void *in, const void *in2, uint64_t n,
                               void *out) {
  const red_cpu *cpu = device;
  const red_state best = reduce_chunk(cpu->kernels, lowered, in, in2, n);
  if (lowered->nan_skip && best.key == lowered->nan_key) return red_state_finish(lowered, best, n, out);
  memcpy(out, &best.index, sizeof best.index);
  return RED_OK;
}

red_small_fn *red_cpu_small(void *device, const red_lowered *lowered) {
  (void)device;
  if (lowered->exact || lowered->bounded) return NULL;
  if (lowered->kind != RED_REDUCE) return red_cpu_small_scan;
  if (lowered->family == RED_FAMILY_ARGMIN && lowered->out == RED_U64) return small_argmin;
  return computes_floats(lowered) ? small_float : small_any;
}
