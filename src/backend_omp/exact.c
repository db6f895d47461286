/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact reductions: each thread adds its part to a long integer of its own, in any order. Where nothing but the result
 * is wanted, kernels may leave out a little of numbers that lie far apart, which is much faster; whoever sees that too
 * little will be left begins again without, and so do all if the result is not certain in the end.
 */
#include <stdlib.h>

#include "fpenv.h"
#include "room.h"

enum {
  LOSSY_FIRST = 1 << 12, /* elements, before the first look at what is left; */
  GROWTH = 3             /* times as many until the next one */
};

/* What a thread leaves behind, on cache lines of its own. */
typedef struct part {
  _Alignas(128) red_exact sum;
  red_exact_loss loss;
} part;

typedef struct exact_job {
  const red_lowered *lowered;
  red_exact_fn *kernel;
  const uint8_t *in, *in2; /* in2 may be NULL */
  bool lossy;
  part *parts;
} exact_job;

static void clear(const exact_job *job, red_exact *sum, red_exact_loss *loss) {
  red_exact_clear(sum);
  *loss = red_exact_no_loss(job->lowered);
}

static void add(const exact_job *job, red_range range, red_exact *sum, red_exact_loss *loss) {
  const uint64_t offset = range.first * job->lowered->in_bytes;
  job->kernel(job->in + offset, job->in2 != NULL ? job->in2 + offset : NULL, range.last - range.first, sum, loss);
}

/* False if there is no hope. */
static bool add_lossy(const exact_job *job, red_range range, red_exact *sum, red_exact_loss *loss) {
  uint64_t first = range.first, length = LOSSY_FIRST;
  bool promising = true;
  while (first < range.last && promising) {
    if (length > range.last - first) length = range.last - first;
    add(job, (red_range){first, first + length}, sum, loss);
    first += length;
    promising = first == range.last || loss->terms == 0 || red_exact_is_promising(sum, loss);
    length = GROWTH * (first - range.first);
  }
  return promising;
}

static void add_range(const exact_job *job, red_range range, red_exact *sum, red_exact_loss *loss) {
  clear(job, sum, loss);
  if (job->lossy) {
    if (add_lossy(job, range, sum, loss)) return;
    clear(job, sum, loss);
  }
  add(job, range, sum, NULL);
}

static void work(void *argument, unsigned index, unsigned count) {
  exact_job *job = argument;
  part *mine = &job->parts[index];
  add_range(job, red_share(job->lowered->n, index, count), &mine->sum, &mine->loss);
}

static void add_by_many(exact_job *job, unsigned threads, red_exact *sum, red_exact_loss *loss) {
  for (unsigned i = 0; i < threads; i++) clear(job, &job->parts[i].sum, &job->parts[i].loss);
  red_team_run(threads, work, job);
  clear(job, sum, loss);
  for (unsigned i = 0; i < threads; i++) {
    red_exact_merge(sum, &job->parts[i].sum);
    red_exact_lose(loss, job->parts[i].loss.terms, job->parts[i].loss.unit);
  }
}

static void add_all(exact_job *job, unsigned threads, red_exact *sum, red_exact_loss *loss) {
  if (job->parts != NULL)
    add_by_many(job, threads, sum, loss);
  else
    add_range(job, (red_range){0, job->lowered->n}, sum, loss);
}

red_status red_cpu_exact(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2,
                         red_exact *sum, bool result_only) {
  red_exact_fn *kernel = cpu->kernels->exact[lowered->map][lowered->in];
  exact_job job = {.lowered = lowered, .kernel = kernel, .in = in, .in2 = in2, .lossy = result_only};
  red_exact_loss loss;
  red_fpenv saved = red_fpenv_enter();
  uint64_t bytes = (in2 != NULL ? 2 : 1) * lowered->n * lowered->in_bytes;
  unsigned threads = red_cpu_threads(cpu, RED_WORK_READ, bytes);
  if (threads > 1) job.parts = aligned_alloc(_Alignof(part), threads * sizeof(part));
  add_all(&job, threads, sum, &loss);
  if (loss.terms > 0 && !red_exact_is_settled(lowered, sum, &loss, lowered->n)) {
    job.lossy = false;
    add_all(&job, threads, sum, &loss);
  }
  free(job.parts);
  red_team_give(threads);
  red_fpenv_leave(saved);
  return RED_OK;
}
