/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans. One thread goes straight through. Several go through windows together. The first of them, the leader, scans
 * its part of each window straight from memory. The others reduce their parts of the next window, which brings them
 * into their caches, learn P at their parts' beginnings, and scan them while they are still there: every element is
 * read from memory once and written once.
 */
#include "scan_job.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fpenv.h"

enum {
  LEAST_UNIT_BYTES = 8192, /* a tile of the widest elements */
  /* Units of a window: one takes a follower some 1.4 times as long as the leader, who does not reduce it. */
  LEADERS_UNITS = 3,
  FOLLOWERS_UNITS = 2,
  MOST_UNITS = LEADERS_UNITS > FOLLOWERS_UNITS ? LEADERS_UNITS : FOLLOWERS_UNITS,
  LEAST_WINDOWS = 4 /* in the first one followers wait for the leader, in the last one it waits for them */
};

static unsigned units_of_window(unsigned threads) {
  return LEADERS_UNITS + (threads - 1) * FOLLOWERS_UNITS;
}

/*
 * Bytes of a unit, of the wider of input and output, a power of two. While a follower scans a part and reduces the next
 * one, it fetches the one after that, half of it each time: then memory is never idle (without, 5 to 20 % slower on a
 * Zen 4). Units should be long: memory prefers long runs of reads and of writes, and in place the hardware prefetches
 * beyond a part, lines that a neighbour is writing.
 */
static uint64_t unit_bytes(const red_cpu *cpu, const red_scan_job *job, unsigned widest, unsigned threads) {
  uint64_t bytes = job->in != job->out ? cpu->tuning.scan_part_bytes : cpu->tuning.scan_part_bytes_in_place;
  uint64_t all = job->lowered->n * widest;
  while (bytes > LEAST_UNIT_BYTES && bytes * LEAST_WINDOWS * units_of_window(threads) > all) bytes /= 2;
  return bytes;
}

/*
 * What a thread tells the others, on cache lines of its own: the nodes of its units of a window, and how many windows'
 * nodes it has told. Two places suffice: who tells of window w + 1 has read all nodes of window w.
 */
typedef struct slot {
  _Alignas(128) atomic_uint_fast64_t told;
  red_state node[2][MOST_UNITS];
} slot;

typedef struct team_scan {
  const red_scan_job *job;
  uint64_t unit; /* elements, a power of two */
  slot *slots;
  red_state total;
} team_scan;

/* A thread's units of a window. */
typedef struct share {
  uint64_t first;
  unsigned count;
} share;

static share share_of(unsigned index, unsigned count, uint64_t window) {
  uint64_t first = window * units_of_window(count);
  if (index == 0) return (share){first, LEADERS_UNITS};
  return (share){first + LEADERS_UNITS + (index - 1) * FOLLOWERS_UNITS, FOLLOWERS_UNITS};
}

static uint64_t unit_length(const team_scan *team, uint64_t unit) {
  uint64_t first = unit * team->unit, n = team->job->lowered->n;
  if (first >= n) return 0;
  return n - first < team->unit ? n - first : team->unit;
}

/* The last unit, if incomplete, is followed by nothing that would need its node. */
static bool is_whole(const team_scan *team, uint64_t unit) {
  return unit_length(team, unit) == team->unit;
}

/* The element `offset` of a unit whose memory is to be fetched; 0 if it is not there. */
static uint64_t ahead(const team_scan *team, uint64_t unit, uint64_t offset) {
  return is_whole(team, unit) ? unit * team->unit + offset : 0;
}

static void tell(slot *mine, uint64_t window) {
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
  return other->node[window % 2];
}

/* Append what the threads from `first` to before `last` have told of a window. */
static void hear(const team_scan *team, red_prefix *prefix, unsigned first, unsigned last, unsigned count,
                 uint64_t window) {
  for (unsigned i = first; i < last; i++) {
    share theirs = share_of(i, count, window);
    if (!is_whole(team, theirs.first)) return;
    const red_state *nodes = heard(team, i, window);
    for (unsigned u = 0; u < theirs.count && is_whole(team, theirs.first + u); u++)
      red_prefix_append(prefix, team->job, nodes[u]);
  }
}

static red_state scan_unit(const team_scan *team, red_prefix *prefix, uint64_t unit, uint64_t fetched) {
  const red_scan_job *job = team->job;
  const uint64_t first = unit * team->unit, n = unit_length(team, unit);
  if (n == 0) return (red_state){.u64 = 0};
  red_state node = red_scan_piece(job, first, n, red_prefix_now(prefix), fetched);
  if (n == team->unit) {
    red_prefix_append(prefix, job, node);
    red_scan_store_end(job, prefix, first + n);
  }
  return node;
}

static void lead(team_scan *team, red_prefix *prefix, unsigned count, uint64_t windows) {
  for (uint64_t window = 0; window < windows; window++) {
    const share mine = share_of(0, count, window);
    for (unsigned u = 0; u < mine.count; u++)
      team->slots[0].node[window % 2][u] = scan_unit(team, prefix, mine.first + u, 0);
    tell(&team->slots[0], window);
    hear(team, prefix, 1, count, count, window);
  }
  if (prefix->k > 0) team->total = prefix->node[63 - __builtin_clzll(prefix->k)];
}

static void reduce_and_tell(const team_scan *team, unsigned index, unsigned count, uint64_t window) {
  const share mine = share_of(index, count, window);
  red_state *nodes = team->slots[index].node[window % 2];
  for (unsigned u = 0; u < mine.count && is_whole(team, mine.first + u); u++)
    nodes[u] = red_scan_node(team->job, (mine.first + u) * team->unit, team->unit,
                             ahead(team, mine.first + units_of_window(count) + u, team->unit / 2));
  tell(&team->slots[index], window);
}

static void follow(const team_scan *team, red_prefix *prefix, unsigned index, unsigned count, uint64_t windows) {
  reduce_and_tell(team, index, count, 0);
  for (uint64_t window = 0; window < windows; window++) {
    const share mine = share_of(index, count, window);
    hear(team, prefix, 0, index, count, window);
    for (unsigned u = 0; u < mine.count; u++)
      scan_unit(team, prefix, mine.first + u, ahead(team, mine.first + 2 * units_of_window(count) + u, 0));
    hear(team, prefix, index + 1, count, count, window);
    reduce_and_tell(team, index, count, window + 1);
  }
}

static void work(void *argument, unsigned index, unsigned count) {
  team_scan *team = argument;
  const uint64_t window = team->unit * units_of_window(count), windows = (team->job->lowered->n + window - 1) / window;
  red_prefix prefix;
  red_prefix_begin(&prefix, red_scan_before(team->job));
  if (index == 0)
    lead(team, &prefix, count, windows);
  else
    follow(team, &prefix, index, count, windows);
}

static red_state scan_alone(const red_scan_job *job) {
  return red_scan_piece(job, 0, job->lowered->n, red_scan_before(job), 0);
}

static red_state scan_team(const red_cpu *cpu, const red_scan_job *job, unsigned threads) {
  const red_lowered *lowered = job->lowered;
  unsigned widest = lowered->in_bytes > lowered->out_bytes ? lowered->in_bytes : lowered->out_bytes;
  team_scan team = {.job = job, .unit = unit_bytes(cpu, job, widest, threads) / widest};
  if (lowered->n < team.unit) return scan_alone(job); /* only whole units are counted in the total */
  team.slots = aligned_alloc(_Alignof(slot), threads * sizeof(slot));
  if (team.slots == NULL) return scan_alone(job);
  for (unsigned i = 0; i < threads; i++) atomic_init(&team.slots[i].told, 0);
  red_team_run(threads, work, &team);
  free(team.slots);
  return team.total;
}

static red_state scan_by(const red_cpu *cpu, const red_scan_job *job, unsigned threads) {
  red_state total = threads > 1 ? scan_team(cpu, job, threads) : scan_alone(job);
  red_team_give(threads);
  return total;
}

/* Calls of one operation, the same dtypes, in place or not, and about one size are compared. */
static red_state scan_as_learnt(const red_cpu *cpu, const red_scan_job *job, uint64_t bytes) {
  const red_lowered *lowered = job->lowered;
  red_rivals *rivals = &cpu->rivals[job->op][lowered->in][lowered->out][job->in == job->out][red_rivals_size(bytes)];
  unsigned threads = red_rivals_prefer_one(rivals, bytes) ? 1 : red_cpu_threads(cpu, RED_WORK_SCAN, bytes);
  uint64_t begin = red_team_now();
  red_state total = scan_by(cpu, job, threads);
  red_rivals_learn(rivals, threads == 1, bytes, red_team_now() - begin);
  return total;
}

static red_state scan_all(const red_cpu *cpu, red_scan_job *job) {
  const red_lowered *lowered = job->lowered;
  uint64_t bytes = lowered->n * (lowered->in_bytes + lowered->out_bytes);
  if (bytes >= cpu->tuning.stream_bytes && job->in != job->out && (uintptr_t)job->out % 16 == 0)
    job->flags |= RED_SCAN_STREAM;
  if (cpu->threads > 1 && !cpu->asked && bytes >= RED_RIVALS_LEAST) return scan_as_learnt(cpu, job, bytes);
  return scan_by(cpu, job, red_cpu_threads(cpu, RED_WORK_SCAN, bytes));
}

/* all and any scan flags, but a piece's total is a count: take it before the array may be overwritten. */
static bool counts_total(const red_lowered *lowered) {
  return lowered->family == RED_FAMILY_COUNT && lowered->finish != RED_FINISH_VALUE;
}

static void store_first(const red_lowered *lowered, void *out) {
  if (lowered->kind == RED_EXCLUSIVE_SCAN && !lowered->has_init)
    red_state_store(lowered, red_state_from_acc(lowered, &lowered->identity), 0, out);
}

static red_state scan(const red_cpu *cpu, const red_lowered *lowered, const void *in, void *out, bool wants_total) {
  red_scan_job job;
  red_scan_job_begin(&job, cpu->kernels, lowered, in, out);
  red_state count = {.u64 = 0};
  if (wants_total && counts_total(lowered))
    count = cpu->kernels->reduce[RED_FAMILY_COUNT][lowered->in][0](lowered, in, lowered->n);
  red_state total = scan_all(cpu, &job);
  store_first(lowered, out);
  return counts_total(lowered) ? count : total;
}

red_status red_cpu_scan(const red_cpu *cpu, const red_lowered *lowered, const void *in, void *out, red_state *total) {
  red_fpenv saved = red_fpenv_enter();
  red_state node = scan(cpu, lowered, in, out, total != NULL);
  red_fpenv_leave(saved);
  if (total != NULL) *total = node;
  return RED_OK;
}

red_status red_cpu_small_scan(void *device, const red_lowered *lowered, const void *in, const void *in2, uint64_t n,
                              void *out) {
  (void)in2;
  const red_cpu *cpu = device;
  red_scan_job job;
  red_fpenv saved = red_fpenv_enter();
  red_scan_job_begin(&job, cpu->kernels, lowered, in, out);
  red_scan_piece(&job, 0, n, red_scan_before(&job), 0);
  store_first(lowered, out);
  red_fpenv_leave(saved);
  return RED_OK;
}
