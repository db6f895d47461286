/* SPDX-License-Identifier: BSD-2-Clause */
/* Timing: short calls are repeated within a sample; a sample during which others ran is taken again, a few times. */
#include "cpu_measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

unsigned long bench_disturbed, bench_clean;
volatile double bench_sink;
unsigned bench_percentile = 50;
unsigned bench_pause;
bool bench_patient = true;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long preemptions(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/* Tasks that run or want to, on the whole machine. */
static unsigned runnable(void) {
  unsigned running = 1;
  FILE *file = fopen("/proc/loadavg", "re");
  if (file == NULL) return running;
  if (fscanf(file, "%*f %*f %*f %u/", &running) != 1) running = 1;
  fclose(file);
  return running;
}

static void wait_for_quiet(unsigned threads) {
  for (int tries = 0; tries < 100 && runnable() > threads; tries++) usleep(2000);
}

/* The threads of the OpenMP pool come and go: nobody's sample begins with waking them. */
static void wake_team(void) {
#ifdef _OPENMP
#pragma omp parallel
  __asm__ volatile("");
#endif
}

static double time_calls(const bench_case *c, bench_run *run, unsigned calls) {
  if (bench_pause > 0)
    usleep(bench_pause);
  else
    wake_team();
  double start = now();
  for (unsigned i = 0; i < calls; i++) run(c);
  return (now() - start) / calls;
}

static double take_sample(const bench_case *c, bench_run *run, unsigned calls) {
  double best = 1e30;
  if (!bench_patient) return time_calls(c, run, calls);
  for (int tries = 0; tries < 8; tries++) {
    wait_for_quiet(2);
    if (bench_pause == 0 && (calls > 1 || c->problem.n < 1u << 20)) run(c); /* warm */
    long before = preemptions();
    double t = time_calls(c, run, calls);
    if (preemptions() == before && runnable() <= 2) {
      bench_clean++;
      return t;
    }
    if (t < best) best = t;
  }
  bench_disturbed++;
  return best;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Another order for each round: whoever follows a contestant whose stores still lie in the caches writes those back. */
static void shuffle(size_t *order, size_t count, uint64_t *random) {
  for (size_t i = count; i > 1; i--) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    size_t j = (size_t)((*random >> 33) % i), moved = order[i - 1];
    order[i - 1] = order[j];
    order[j] = moved;
  }
}

void bench_measure(const bench_case *c, bench_series *series, size_t count, unsigned samples) {
  unsigned calls[BENCH_MOST_CONTESTANTS];
  for (size_t s = 0; s < count; s++) {
    series[s].run(c);
    double once = time_calls(c, series[s].run, 1);
    calls[s] = once > 1e-3 ? 1 : (unsigned)(1e-3 / (once + 1e-9)) + 1;
    if (once < 1e-3) once = time_calls(c, series[s].run, calls[s]);
    calls[s] = once > 5e-4 ? 1 : (unsigned)(5e-4 / (once + 1e-9)) + 1;
  }
  for (size_t s = 0; bench_pause > 0 && s < count; s++) calls[s] = 1;
  size_t order[BENCH_MOST_CONTESTANTS];
  uint64_t random = 1;
  for (size_t s = 0; s < count; s++) order[s] = s;
  for (unsigned i = 0; i < samples; i++) {
    shuffle(order, count, &random);
    for (size_t k = 0; k < count; k++) {
      const size_t s = order[k];
      series[s].sample[i] = take_sample(c, series[s].run, calls[s]);
    }
  }
  for (size_t s = 0; s < count; s++) {
    qsort(series[s].sample, samples, sizeof series[s].sample[0], ascending);
    series[s].median = series[s].sample[samples * bench_percentile / 100];
  }
}

enum {
  ROUNDS = 20000
};
static atomic_int ball;

static void *answer(void *unused) {
  (void)unused;
  for (int i = 0; i < ROUNDS; i++) {
    while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 1) {
    }
    atomic_store_explicit(&ball, 2 * i + 2, memory_order_release);
  }
  return NULL;
}

double bench_ping_pong(void) {
  pthread_t other;
  atomic_store(&ball, 0);
  if (pthread_create(&other, NULL, answer, NULL) != 0) return 0;
  double start = now();
  for (int i = 0; i < ROUNDS; i++) {
    atomic_store_explicit(&ball, 2 * i + 1, memory_order_release);
    while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 2) {
    }
  }
  double each = (now() - start) / ROUNDS * 1e9;
  pthread_join(other, NULL);
  return each;
}
