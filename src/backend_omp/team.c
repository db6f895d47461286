/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Teams of threads, by OpenMP where the build has it. CPUs are counted across the process, so that many application
 * threads calling at once do not start many teams; a call within the application's own parallel region, or in a forked
 * child (where GCC's run-time library would wait for threads that do not exist), stays on its thread.
 */
#include <stdatomic.h>

#include "fpenv.h"
#include "room.h"

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

unsigned red_team_take(const red_cpu *cpu, unsigned wanted) {
  if (atomic_load_explicit(&forked, memory_order_relaxed) || omp_in_parallel()) return 1;
  unsigned most = (unsigned)omp_get_max_threads();
  if (most > cpu->threads) most = cpu->threads;
  if (wanted > most) wanted = most;
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

void red_team_give(unsigned threads) {
  if (threads > 1) atomic_fetch_sub_explicit(&busy, threads, memory_order_relaxed);
}

void red_team_run(unsigned threads, red_team_fn *fn, void *job) {
  if (threads < 2) {
    fn(job, 0, 1);
    return;
  }
#pragma omp parallel num_threads((int)threads)
  {
    red_fpenv saved = red_fpenv_enter();
    fn(job, (unsigned)omp_get_thread_num(), (unsigned)omp_get_num_threads());
    red_fpenv_leave(saved);
  }
}

#else

unsigned red_team_limit(void) {
  return 1;
}

unsigned red_team_take(const red_cpu *cpu, unsigned wanted) {
  (void)cpu;
  (void)wanted;
  return 1;
}

void red_team_give(unsigned threads) {
  (void)threads;
}
void red_team_run(unsigned threads, red_team_fn *fn, void *job) {
  (void)threads, fn(job, 0, 1);
}

#endif
