/* SPDX-License-Identifier: BSD-2-Clause */
/* Timing on a machine that others use too. */
#ifndef RED_BENCH_CPU_MEASURE_H
#define RED_BENCH_CPU_MEASURE_H

#include "cpu.h"

enum {
  BENCH_MOST_SAMPLES = 201,
  BENCH_MOST_CONTESTANTS = 16
};

typedef struct bench_series {
  const char *name;
  bench_role role;
  bench_run *run;
  double median; /* seconds a call */
  double sample[BENCH_MOST_SAMPLES];
} bench_series;

/* Wait for a quiet machine and take disturbed samples again, or (with a high priority) do not care. */
extern bool bench_patient;

/* Sleep so many microseconds before each sample of one call: do threads that went to sleep cost? */
extern unsigned bench_pause;

/* Which quantile to report, in percent: 50 is the median, a low one sees through a busy machine. */
extern unsigned bench_percentile;

/* Fill the medians: `samples` rounds, in each of which every series gets its turn. */
void bench_measure(const bench_case *c, bench_series *series, size_t count, unsigned samples);

/* Samples that were taken although something else was running. */
extern unsigned long bench_disturbed, bench_clean;

/* Median round trip of a cache line between two threads, nanoseconds: tells placements of virtual cores apart. */
double bench_ping_pong(void);

#endif
