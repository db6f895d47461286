/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact reductions: each thread adds its part to a long integer of its own, in any order. */
#include <stdlib.h>

#include "fpenv.h"
#include "room.h"

/* What a thread leaves behind, on cache lines of its own. */
typedef struct part {
  _Alignas(128) red_exact sum;
} part;

typedef struct exact_job {
  const red_lowered *lowered;
  red_exact_fn *kernel;
  const uint8_t *in, *in2; /* in2 may be NULL */
  part *parts;
} exact_job;

static void work(void *argument, unsigned index, unsigned count) {
  exact_job *job = argument;
  red_range mine = red_share(job->lowered->n, index, count);
  uint64_t offset = mine.first * job->lowered->in_bytes;
  job->kernel(job->in + offset, job->in2 != NULL ? job->in2 + offset : NULL, mine.last - mine.first,
              &job->parts[index].sum);
}

static void add_by_many(exact_job *job, unsigned threads, red_exact *sum) {
  for (unsigned i = 0; i < threads; i++) red_exact_clear(&job->parts[i].sum);
  red_team_run(threads, work, job);
  for (unsigned i = 0; i < threads; i++) red_exact_merge(sum, &job->parts[i].sum);
  free(job->parts);
}

red_status red_cpu_exact(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2,
                         red_exact *sum) {
  red_exact_fn *kernel = cpu->kernels->exact[lowered->map][lowered->in];
  exact_job job = {.lowered = lowered, .kernel = kernel, .in = in, .in2 = in2};
  red_fpenv saved = red_fpenv_enter();
  red_exact_clear(sum);
  uint64_t bytes = (in2 != NULL ? 2 : 1) * lowered->n * lowered->in_bytes;
  unsigned threads = red_cpu_threads(cpu, RED_WORK_READ, bytes);
  if (threads > 1) job.parts = aligned_alloc(_Alignof(part), threads * sizeof(part));
  if (job.parts != NULL)
    add_by_many(&job, threads, sum);
  else
    kernel(in, in2, lowered->n, sum);
  red_team_give(threads);
  red_fpenv_leave(saved);
  return RED_OK;
}
