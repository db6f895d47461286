/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Teams of threads, by OpenMP where the build has it. CPUs are counted across the process, so that many application
 * threads calling at once do not start many teams; a call within the application's own parallel region, or in a forked
 * child (where GCC's run-time library would wait for threads that do not exist), stays on its thread. So does a call
 * that would have to wake a sleeping team for less than that costs, and one from a thread that is pinned to one CPU:
 * its team would inherit that.
 */
#include <stdatomic.h>
#include <time.h>

#include "fpenv.h"
#include "room.h"

uint64_t red_team_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(_OPENMP)
#include <omp.h>
#include <pthread.h>

static atomic_uint busy;   /* CPUs taken by calls that run a team */
static atomic_bool forked; /* this process is a child that has not called exec */

static void child_after_fork(void) {
  atomic_store_explicit(&forked, true, memory_order_relaxed);
  atomic_store_explicit(&busy, 0, memory_order_relaxed);
}

/* From the start: the application may run teams of its own and fork before it calls this library. */
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, child_after_fork);
}

unsigned red_team_limit(void) {
  int most = omp_get_max_threads();
  int limit = omp_get_thread_limit();
  return (unsigned)(most < limit ? most : limit);
}

unsigned red_team_processors(void) {
  return (unsigned)omp_get_num_procs();
}

unsigned red_team_take(const red_cpu *cpu, unsigned wanted) {
  if (atomic_load_explicit(&forked, memory_order_relaxed) || omp_in_parallel()) return 1;
  unsigned most = (unsigned)omp_get_max_threads();
  if (most > cpu->threads) most = cpu->threads;
  if (wanted > most) wanted = most;
  if (wanted > 1 && !cpu->asked) {
    unsigned here = red_team_processors(); /* a system call */
    if (wanted > here) wanted = here;
  }
  if (wanted < 2) return 1;
  unsigned before = atomic_fetch_add_explicit(&busy, wanted, memory_order_relaxed);
  unsigned left = before < cpu->threads ? cpu->threads - before : 0;
  unsigned granted = wanted < left ? wanted : left;
  if (granted < 2) {
    atomic_fetch_sub_explicit(&busy, wanted, memory_order_relaxed);
    return 1;
  }
  atomic_fetch_sub_explicit(&busy, wanted - granted, memory_order_relaxed);
  return granted;
}

unsigned red_team_keep(unsigned taken, unsigned wanted) {
  if (wanted >= taken) return taken;
  atomic_fetch_sub_explicit(&busy, wanted > 1 ? taken - wanted : taken, memory_order_relaxed);
  return wanted;
}

/* ---- A team that sleeps ---- */

/*
 * Every thread of the application has a team of its own, so this is known of each; what waking costs, of the machine.
 * Some milliseconds after a region its threads go to sleep. Waking them takes some 10 us on a quiet machine, but 3 to 8
 * ms were seen on a virtual one, for a sum of 30 us: so that is measured whenever it happens. As long as waking costs
 * more than it saves, calls run alone and their losses are counted: calls that keep coming pay for it in the end, lone
 * ones look again from time to time, at 3 % of their time.
 */
enum {
  AWAKE_NS = 1000000,    /* how long a team surely stays awake, and what separates calls that keep coming */
  FIRST_WAKE_NS = 20000, /* until it has been measured */
};
static _Thread_local uint64_t last_call, last_team, lost_ns; /* the ends of the last call and the last team */
static _Thread_local bool calling;
static atomic_uint_fast64_t wake_ns = FIRST_WAKE_NS;

static uint64_t elapsed(uint64_t then, uint64_t now) {
  return now > then ? now - then : 0;
}

static bool is_asleep(uint64_t now) {
  return elapsed(last_team, now) > AWAKE_NS;
}

bool red_team_pays(uint64_t saved_ns) {
  uint64_t now = red_team_now();
  bool keeps_coming = elapsed(last_call, now) < AWAKE_NS;
  bool pays = !is_asleep(now) || lost_ns + saved_ns > atomic_load_explicit(&wake_ns, memory_order_relaxed);
  lost_ns = pays ? 0 : lost_ns + (keeps_coming ? saved_ns : saved_ns / 16);
  calling = true;
  return pays;
}

void red_team_give(unsigned threads) {
  if (threads > 1) atomic_fetch_sub_explicit(&busy, threads, memory_order_relaxed);
  if (calling) last_call = red_team_now();
  calling = false;
}

typedef struct team_start {
  bool asleep;
  uint64_t begin;
  atomic_uint_fast64_t latest; /* when the last worker came, ns after `begin` */
} team_start;

static void start_team(team_start *start) {
  start->begin = red_team_now();
  start->asleep = is_asleep(start->begin);
  atomic_init(&start->latest, 0);
}

static void worker_started(team_start *start) {
  if (!start->asleep) return;
  uint64_t late = elapsed(start->begin, red_team_now());
  uint64_t latest = atomic_load_explicit(&start->latest, memory_order_relaxed);
  while (latest < late && !atomic_compare_exchange_weak(&start->latest, &latest, late)) {
  }
}

static void end_team(team_start *start) {
  if (start->asleep) atomic_store_explicit(&wake_ns, atomic_load(&start->latest), memory_order_relaxed);
  last_team = red_team_now();
}

void red_team_run(unsigned threads, red_team_fn *fn, void *job) {
  if (threads < 2) {
    fn(job, 0, 1);
    return;
  }
  team_start start;
  start_team(&start);
#pragma omp parallel num_threads((int)threads)
  {
    const unsigned index = (unsigned)omp_get_thread_num(), count = (unsigned)omp_get_num_threads();
    if (index > 0) worker_started(&start);
    red_fpenv saved = red_fpenv_enter();
    fn(job, index, count);
    red_fpenv_leave(saved);
  }
  end_team(&start);
}

static void do_nothing(void *job, unsigned index, unsigned count) {
  (void)job, (void)index, (void)count;
}

/*
 * After a first run, which creates the threads or wakes them. Applications do something between two calls: so there is
 * a pause in which threads that do not wait actively (OMP_WAIT_POLICY=passive) go to sleep. Disturbances only make runs
 * slower: the fastest tells, unless all of them take too long to go on.
 */
uint64_t red_team_start_ns(unsigned threads) {
  enum {
    RUNS = 5,
    PAUSE_NS = 10000,
    ENOUGH_NS = 500000
  };
  red_team_run(threads, do_nothing, NULL);
  uint64_t least = UINT64_MAX, begin = red_team_now(), now = begin;
  for (unsigned i = 0; i < RUNS && elapsed(begin, now) < ENOUGH_NS; i++) {
    for (const uint64_t pause = now; elapsed(pause, now) < PAUSE_NS; now = red_team_now()) red_team_pause();
    const uint64_t start = now;
    red_team_run(threads, do_nothing, NULL);
    now = red_team_now();
    if (elapsed(start, now) < least) least = elapsed(start, now);
  }
  return least;
}

#else

unsigned red_team_limit(void) {
  return 1;
}

unsigned red_team_processors(void) {
  return 1;
}

unsigned red_team_take(const red_cpu *cpu, unsigned wanted) {
  (void)cpu;
  (void)wanted;
  return 1;
}

unsigned red_team_keep(unsigned taken, unsigned wanted) {
  (void)wanted;
  return taken;
}
void red_team_give(unsigned threads) {
  (void)threads;
}
uint64_t red_team_start_ns(unsigned threads) {
  (void)threads;
  return UINT64_MAX;
}
bool red_team_pays(uint64_t saved_ns) {
  (void)saved_ns;
  return false;
}
void red_team_run(unsigned threads, red_team_fn *fn, void *job) {
  (void)threads, fn(job, 0, 1);
}

#endif
