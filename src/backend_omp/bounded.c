/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums and dot products with the sum of their magnitudes: each chunk is swept for the one and, while it lies in the
 * first-level cache, for the other.
 */
#include "fpenv.h"
#include "order.h"
#include "room.h"

typedef struct part {
  _Alignas(RED_PART_ALIGNMENT) red_forest sums;
  red_forest sizes;
} part;

typedef struct bounded_job {
  const red_kernels *kernels;
  const red_lowered *lowered;
  const uint8_t *in, *in2;
  uint64_t chunk, chunks; /* elements; the last chunk may be short */
  bool wide;
} bounded_job;

static red_state sum_of(const bounded_job *job, const void *x, const void *y, uint64_t n) {
  const red_lowered *lowered = job->lowered;
  if (lowered->map == RED_MAP_PRODUCT)
    return job->kernels->map[RED_MAP_PRODUCT][lowered->in][job->wide](lowered, x, y, n);
  return job->kernels->reduce[RED_FAMILY_ADD][lowered->in][job->wide](lowered, x, n);
}

static red_state size_of(const bounded_job *job, const void *x, const void *y, uint64_t n) {
  const red_lowered *lowered = job->lowered;
  const red_map map = lowered->map == RED_MAP_PRODUCT ? RED_MAP_ABS_PRODUCT : RED_MAP_ABS;
  return job->kernels->map[map][lowered->in][job->wide](lowered, x, y, n);
}

static void clear(const void *job, void *cleared) {
  part *p = cleared;
  (void)job;
  red_forest_clear(&p->sums);
  red_forest_clear(&p->sizes);
}

static void work(const void *argument, void *mine, unsigned index, unsigned count) {
  const bounded_job *job = argument;
  part *p = mine;
  const red_range chunks = red_share(job->chunks, index, count);
  for (uint64_t c = chunks.first; c < chunks.last; c++) {
    const uint64_t first = c * job->chunk, left = job->lowered->n - first, n = left < job->chunk ? left : job->chunk;
    const uint8_t *x = job->in + first * job->lowered->in_bytes;
    const uint8_t *y = job->in2 != NULL ? job->in2 + first * job->lowered->in_bytes : NULL;
    red_forest_push(&p->sums, job->lowered, 0, c, sum_of(job, x, y, n));
    red_forest_push(&p->sizes, job->lowered, 0, c, size_of(job, x, y, n));
  }
}

static void merge(const void *argument, void *merged, const void *following) {
  const bounded_job *job = argument;
  part *into = merged;
  const part *next = following;
  red_forest_append(&into->sums, job->lowered, &next->sums);
  red_forest_append(&into->sizes, job->lowered, &next->sizes);
}

static void gather(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2, red_pair *pair) {
  static const red_parts kind = {sizeof(part), clear, work, merge};
  const uint64_t chunk = red_chunk_elements(lowered);
  const bounded_job job = {.kernels = cpu->kernels,
                           .lowered = lowered,
                           .in = in,
                           .in2 = in2,
                           .chunk = chunk,
                           .chunks = (lowered->n + chunk - 1) / chunk,
                           .wide = lowered->acc_bytes == 8};
  part whole;
  red_cpu_gather(cpu, (in2 != NULL ? 2 : 1) * lowered->n * lowered->in_bytes, &kind, &job, &whole);
  pair->sum = red_forest_root(&whole.sums, lowered);
  pair->size = red_forest_root(&whole.sizes, lowered);
}

red_status red_cpu_bounded(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2,
                           red_pair *pair) {
  red_fpenv saved = red_fpenv_enter();
  if (red_is_paired(lowered))
    gather(cpu, lowered, in, in2, pair);
  else
    pair->size = pair->sum = red_cpu_reduce_state(cpu, lowered, in, in2);
  red_fpenv_leave(saved);
  return RED_OK;
}
