/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans. One thread goes straight through. Several go through windows together: each reduces its part of the next
 * window, which brings it into its cache, all learn P at their parts' beginnings, and each scans its part while it is
 * still in cache: every element is read from memory once and written once.
 */
#include "scan_job.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fpenv.h"

enum {
  LEAST_PART_BYTES = 8192 /* a tile of the widest elements */
};

/*
 * Bytes of a thread's part of a window, of the wider of input and output. A thread has three parts in its caches: the
 * one that it scans, the next one, and the one after that, half of which is fetched while the first is scanned and half
 * while the second is reduced: then memory is never idle (without, 5 to 20 % slower on a Zen 4). In place, where the
 * hardware prefetches beyond a part it takes lines that a neighbour is writing: parts should be long (128 KiB took 1.3
 * times as long as 512 KiB with the two threads on different complexes).
 *
 * At least one part for each thread, in place two where they can be longer; always a power of two.
 */
static uint64_t part_bytes(const red_cpu *cpu, const red_scan_job *job, unsigned widest, unsigned threads) {
  uint64_t bytes = cpu->tuning.scan_part_bytes, most = cpu->tuning.scan_part_bytes_in_place;
  uint64_t all = job->lowered->n * widest;
  while (bytes > LEAST_PART_BYTES && bytes > all / threads) bytes /= 2;
  if (job->in != job->out) return bytes;
  while (bytes < most && bytes * 4 * threads <= all) bytes *= 2;
  return bytes;
}

/*
 * What a thread tells the others, on cache lines of its own: the node of its part of a window, and how many windows'
 * nodes it has told. Two places suffice: who tells of window w + 1 has read all nodes of window w.
 */
typedef struct slot {
  _Alignas(128) atomic_uint_fast64_t told;
  red_state node[2];
} slot;

typedef struct team_scan {
  const red_scan_job *job;
  uint64_t part; /* elements, a power of two */
  slot *slots;
  red_state total;
} team_scan;

static uint64_t part_length(const team_scan *team, uint64_t index) {
  uint64_t first = index * team->part, n = team->job->lowered->n;
  if (first >= n) return 0;
  return n - first < team->part ? n - first : team->part;
}

/* The element `offset` of a part whose memory is to be fetched; 0 if it is not there. */
static uint64_t ahead(const team_scan *team, uint64_t part, uint64_t offset) {
  return part_length(team, part) == team->part ? part * team->part + offset : 0;
}

/* The last part, if incomplete, is followed by nothing that would need its node. */
static void tell(const team_scan *team, unsigned index, unsigned count, uint64_t window) {
  uint64_t part = window * count + index;
  slot *mine = &team->slots[index];
  if (part_length(team, part) == team->part)
    mine->node[window % 2] =
        red_scan_node(team->job, part * team->part, team->part, ahead(team, part + count, team->part / 2));
  atomic_store_explicit(&mine->told, window + 1, memory_order_release);
}

/* Others are at most a part behind, unless the machine is shared: then let them run. */
static const red_state *heard(const team_scan *team, unsigned index, uint64_t window) {
  slot *other = &team->slots[index];
  for (unsigned spins = 0; atomic_load_explicit(&other->told, memory_order_acquire) <= window;) {
    if (++spins < 4096)
      red_team_pause();
    else
      sched_yield();
  }
  return &other->node[window % 2];
}

static void work(void *argument, unsigned index, unsigned count) {
  team_scan *team = argument;
  const red_scan_job *job = team->job;
  const uint64_t parts = (job->lowered->n + team->part - 1) / team->part;
  red_prefix prefix;
  red_prefix_begin(&prefix, red_scan_before(job));
  tell(team, index, count, 0);
  for (uint64_t window = 0; window * count < parts; window++) {
    const uint64_t first = window * count, mine = first + index;
    for (unsigned i = 0; i < index && part_length(team, first + i) == team->part; i++)
      red_prefix_append(&prefix, job, *heard(team, i, window));
    if (part_length(team, mine) > 0)
      red_scan_piece(job, mine * team->part, part_length(team, mine), red_prefix_now(&prefix),
                     ahead(team, mine + 2 * count, 0));
    for (unsigned i = index; i < count && part_length(team, first + i) == team->part; i++) {
      red_prefix_append(&prefix, job, *heard(team, i, window));
      if (i == index) red_scan_store_end(job, &prefix, (mine + 1) * team->part);
    }
    tell(team, index, count, window + 1);
  }
  if (index == 0 && prefix.k > 0) team->total = prefix.node[63 - __builtin_clzll(prefix.k)];
}

static red_state scan_alone(const red_scan_job *job) {
  return red_scan_piece(job, 0, job->lowered->n, red_scan_before(job), 0);
}

static red_state scan_team(const red_cpu *cpu, const red_scan_job *job, unsigned threads) {
  const red_lowered *lowered = job->lowered;
  unsigned widest = lowered->in_bytes > lowered->out_bytes ? lowered->in_bytes : lowered->out_bytes;
  team_scan team = {.job = job, .part = part_bytes(cpu, job, widest, threads) / widest};
  if (lowered->n < team.part) return scan_alone(job); /* only whole parts are counted in the total */
  team.slots = aligned_alloc(_Alignof(slot), threads * sizeof(slot));
  if (team.slots == NULL) return scan_alone(job);
  for (unsigned i = 0; i < threads; i++) atomic_init(&team.slots[i].told, 0);
  red_team_run(threads, work, &team);
  free(team.slots);
  return team.total;
}

static red_state scan_all(const red_cpu *cpu, red_scan_job *job) {
  const red_lowered *lowered = job->lowered;
  uint64_t bytes = lowered->n * (lowered->in_bytes + lowered->out_bytes);
  if (bytes >= cpu->tuning.stream_bytes && job->in != job->out && (uintptr_t)job->out % 16 == 0)
    job->flags |= RED_SCAN_STREAM;
  unsigned threads = red_cpu_threads(cpu, RED_WORK_SCAN, bytes);
  red_state total = threads > 1 ? scan_team(cpu, job, threads) : scan_alone(job);
  red_team_give(threads);
  return total;
}

/* all and any scan flags, but a piece's total is a count: take it before the array may be overwritten. */
static bool counts_total(const red_lowered *lowered) {
  return lowered->family == RED_FAMILY_COUNT && lowered->finish != RED_FINISH_VALUE;
}

static red_state scan(const red_cpu *cpu, const red_lowered *lowered, const void *in, void *out, bool wants_total) {
  red_scan_job job;
  red_scan_job_begin(&job, cpu->kernels, lowered, in, out);
  red_state count = {.u64 = 0};
  if (wants_total && counts_total(lowered))
    count = cpu->kernels->reduce[RED_FAMILY_COUNT][lowered->in][0](lowered, in, lowered->n);
  red_state total = scan_all(cpu, &job);
  if (lowered->kind == RED_EXCLUSIVE_SCAN && !lowered->has_init)
    red_state_store(lowered, red_state_from_acc(lowered, &lowered->identity), 0, out);
  return counts_total(lowered) ? count : total;
}

red_status red_cpu_scan(const red_cpu *cpu, const red_lowered *lowered, const void *in, void *out, red_state *total) {
  red_fpenv saved = red_fpenv_enter();
  red_state node = scan(cpu, lowered, in, out, total != NULL);
  red_fpenv_leave(saved);
  if (total != NULL) *total = node;
  return RED_OK;
}
