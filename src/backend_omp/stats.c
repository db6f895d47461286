/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics in one pass over memory: each piece is swept for what is asked for while it lies in the first-level cache.
 * The positions of the extrema are found at the end, in the pieces that won.
 */
#include <string.h>

#include "fpenv.h"
#include "order.h"
#include "room.h"

enum {
  PIECES_AHEAD = 2
};

/* The least keys seen so far and where the piece began that had them. */
typedef struct extreme {
  int64_t key;        /* zeros told apart: min or max */
  int64_t merged_key; /* zeros equal: argmin or argmax */
  uint64_t piece;
} extreme;

typedef struct part {
  _Alignas(RED_PART_ALIGNMENT) red_stats_state stats;
  red_forest forest;
  red_moments_forest moments;
} part;

typedef struct stats_job {
  const red_cpu *cpu;
  const red_lowered *lowered;
  red_lowered sum, argmin, argmax;
  const uint8_t *in;
  uint64_t piece, pieces; /* a chunk of the canonical order */
  bool sums, extrema, variance, nans;
} stats_job;

static void see(extreme *best, const red_lowered *arg, int64_t key, uint64_t piece) {
  if (key < best->key) best->key = key;
  /* -0 and +0 are one for the arg operators; their keys are neighbours, -0 below. */
  int64_t merged = key;
  if (arg->merge_zeros && key == (arg->key_xor == 0 ? -1 : 0)) merged = arg->key_xor == 0 ? 0 : -1;
  if (merged >= best->merged_key) return;
  best->merged_key = merged;
  best->piece = piece;
}

static void add_to_sum(__int128 part_sum, red_stats_state *stats) {
  unsigned __int128 sum = (unsigned __int128)(uint64_t)stats->sum_high << 64 | stats->sum.u64;
  sum += (unsigned __int128)part_sum;
  stats->sum.u64 = (uint64_t)sum;
  stats->sum_high = (int64_t)(uint64_t)(sum >> 64);
}

static void add_integers(const stats_job *job, const uint8_t *p, uint64_t n, red_stats_state *stats) {
  const red_lowered *lowered = job->lowered;
  if (lowered->in_bytes == 8) {
    uint64_t low;
    int64_t high;
    job->cpu->kernels->sum_halves(p, n, lowered->in_signed, &low, &high);
    add_to_sum((__int128)high * ((__int128)1 << 32) + low, stats);
  } else { /* a piece's sum has less than 63 bits */
    add_to_sum(job->cpu->kernels->reduce[RED_FAMILY_ADD][lowered->in][1](&job->sum, p, n).key, stats);
  }
}

static red_state locate(const stats_job *job, const red_lowered *arg, const extreme *best) {
  uint64_t first = best->piece * job->piece, left = job->lowered->n - first;
  size_t at = job->cpu->kernels->find[arg->in](arg, job->in + first * arg->in_bytes,
                                               left < job->piece ? left : job->piece, best->merged_key);
  return (red_state){.key = best->merged_key, .index = first + at};
}

/* One piece, and what the sweeps over it have shown. */
typedef struct piece {
  const uint8_t *p;
  uint64_t index, n;
  int64_t keys[2];
  bool nans; /* there may be some */
} piece;

static void push_sum(const stats_job *job, piece *here, red_state sum, part *mine) {
  here->nans = job->sum.acc_bytes == 8 ? sum.f64 != sum.f64 : sum.f32 != sum.f32;
  red_forest_push(&mine->forest, &job->sum, 0, here->index, sum);
}

/*
 * The moments of a whole piece of integers of up to 32 bits have their sum, as nothing rounds the mean: the shift is a
 * multiple of 2^-7, the differences have at most 39 bits, their sum has 51.
 */
static bool mean_is_exact(const stats_job *job, const piece *here) {
  return job->variance && !job->lowered->canonical && job->lowered->in_bytes <= 4 && here->n == job->piece;
}

static void push_moments(const stats_job *job, piece *here, red_moments moments, part *mine) {
  here->nans = here->nans && moments.squares != moments.squares;
  if (mean_is_exact(job, here)) add_to_sum((int64_t)((double)moments.count * moments.mean), &mine->stats);
  red_moments_push(&mine->moments, 0, here->index, moments);
}

static void sweep_sum(const stats_job *job, piece *here, part *mine) {
  const red_lowered *lowered = job->lowered;
  if (!lowered->canonical) {
    add_integers(job, here->p, here->n, &mine->stats);
    return;
  }
  red_reduce_fn *sum = job->cpu->kernels->reduce[RED_FAMILY_ADD][lowered->in][lowered->acc_bytes == 8];
  push_sum(job, here, sum(&job->sum, here->p, here->n), mine);
}

static void sweep_sum_and_extrema(const stats_job *job, piece *here, part *mine) {
  const red_lowered *lowered = job->lowered;
  const red_kernels *kernels = job->cpu->kernels;
  red_stats_fn *both = kernels->stats[lowered->in];
  const bool sums = job->sums && !mean_is_exact(job, here);
  if (sums && job->extrema && both != NULL && here->n == job->piece) {
    red_state sum = both(lowered, here->p, here->keys);
    if (lowered->canonical)
      push_sum(job, here, sum, mine);
    else
      add_to_sum(sum.key, &mine->stats);
    return;
  }
  if (sums) sweep_sum(job, here, mine);
  if (job->extrema) kernels->extrema[lowered->in](lowered, here->p, here->n, here->keys);
}

/*
 * Where shorter vectors read memory faster, they also widen faster: f32 take 0.83 of the time. Narrower types and
 * integers of 64 bits need the instructions of longer ones.
 */
static const red_kernels *widening_kernels(const red_cpu *cpu, red_dtype in) {
  const bool narrow = cpu->narrow != NULL && (in == RED_F32 || in == RED_I32);
  return narrow ? cpu->narrow : cpu->kernels;
}

/* Everything in one sweep, where there is one. */
static bool sweep_at_once(const stats_job *job, piece *here, part *mine) {
  red_sweep_fn *at_once = job->cpu->kernels->sweep[job->lowered->in];
  if (!job->sums || !job->variance || at_once == NULL || here->n != job->piece) return false;
  red_sweep found;
  at_once(job->lowered, here->p, PIECES_AHEAD * job->piece * job->lowered->in_bytes, job->extrema, &found);
  if (job->extrema) memcpy(here->keys, found.keys, sizeof here->keys);
  if (job->lowered->canonical)
    push_sum(job, here, found.sum, mine);
  else if (!mean_is_exact(job, here))
    add_to_sum((__int128)found.sum_high * ((__int128)1 << 64) + found.sum.u64, &mine->stats);
  push_moments(job, here, found.moments, mine);
  return true;
}

/*
 * Moments take longer than reading, and from the cache: what is read next is asked for on the way, a few pieces ahead,
 * as nothing is asked for during the other sweeps (one piece: all nine of f32 take 1.18 of the time).
 */
static void sweep_moments(const stats_job *job, piece *here, part *mine) {
  const red_lowered *lowered = job->lowered;
  red_moments_fn *kernel = widening_kernels(job->cpu, lowered->in)->moments[lowered->in];
  push_moments(job, here, kernel(here->p, here->n, PIECES_AHEAD * job->piece * lowered->in_bytes), mine);
}

/* Sums and moments of NaNs are NaN, and their keys are known: most pieces need no count. */
static void count_nans(const stats_job *job, const piece *here, part *mine) {
  const red_lowered *lowered = job->lowered;
  if (here->nans && (!job->extrema || here->keys[0] == lowered->nan_key))
    mine->stats.nan_count += job->cpu->kernels->nans[lowered->in](here->p, here->n, lowered->inf);
}

/* `pieces` is not empty. */
static void sweep(const stats_job *job, red_range pieces, part *mine) {
  const red_lowered *lowered = job->lowered;
  extreme least = {INT64_MAX, INT64_MAX, pieces.first}, greatest = least;
  red_stats_state *stats = &mine->stats;
  for (uint64_t i = pieces.first; i < pieces.last; i++) {
    uint64_t first = i * job->piece, left = lowered->n - first;
    piece here = {
        .p = job->in + first * lowered->in_bytes, .index = i, .n = left < job->piece ? left : job->piece, .nans = true};
    if (!sweep_at_once(job, &here, mine)) {
      sweep_sum_and_extrema(job, &here, mine);
      if (job->variance) sweep_moments(job, &here, mine);
    }
    if (job->extrema) {
      see(&least, &job->argmin, here.keys[0], i);
      see(&greatest, &job->argmax, here.keys[1], i);
    }
    if (job->nans) count_nans(job, &here, mine);
  }
  if (job->extrema) {
    stats->least.key = least.key;
    stats->greatest.key = greatest.key;
  }
  if ((lowered->stats & RED_STAT_ARGMIN) != 0) stats->argmin = locate(job, &job->argmin, &least);
  if ((lowered->stats & RED_STAT_ARGMAX) != 0) stats->argmax = locate(job, &job->argmax, &greatest);
}

static void clear(const void *argument, void *cleared) {
  const stats_job *job = argument;
  part *p = cleared;
  p->stats = red_stats_identity(job->lowered);
  red_forest_clear(&p->forest);
  red_moments_clear(&p->moments);
}

static void work(const void *argument, void *mine, unsigned index, unsigned count) {
  const stats_job *job = argument;
  red_range pieces = red_share(job->pieces, index, count);
  if (pieces.first < pieces.last) sweep(job, pieces, mine);
}

static void merge(const void *argument, void *merged, const void *following) {
  const stats_job *job = argument;
  part *into = merged;
  const part *next = following;
  red_forest_append(&into->forest, &job->sum, &next->forest);
  red_moments_append(&into->moments, &next->moments);
  red_stats_merge(job->lowered, &into->stats, &next->stats);
}

static void run(const stats_job *job, red_stats_state *stats) {
  static const red_parts kind = {sizeof(part), clear, work, merge};
  const red_lowered *lowered = job->lowered;
  part whole;
  red_cpu_gather(job->cpu, lowered->n * lowered->in_bytes, &kind, job, &whole);
  *stats = whole.stats;
  if (lowered->canonical && job->sums) stats->sum = red_forest_root(&whole.forest, &job->sum);
  stats->moments = red_moments_root(&whole.moments);
}

red_status red_cpu_stats(const red_cpu *cpu, const red_lowered *lowered, const void *in, red_stats_state *stats) {
  stats_job job = {.cpu = cpu,
                   .lowered = lowered,
                   .in = in,
                   .sums = red_stats_need_sum(lowered),
                   .extrema = red_stats_need_extrema(lowered),
                   .variance = red_stats_need_moments(lowered),
                   .nans = red_stats_need_nan_count(lowered)};
  red_lower_part(lowered, RED_SUM, &job.sum);
  red_lower_part(lowered, RED_ARGMIN, &job.argmin);
  red_lower_part(lowered, RED_ARGMAX, &job.argmax);
  job.piece = red_chunk_elements(lowered);
  job.pieces = (lowered->n + job.piece - 1) / job.piece;
  red_fpenv saved = red_fpenv_enter();
  run(&job, stats);
  red_fpenv_leave(saved);
  return RED_OK;
}
