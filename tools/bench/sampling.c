/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/sampling.h"

#include <stdlib.h>
#include <time.h>

#include "report.h"

static const double least_seconds = 5e-4; /* of a sample */

enum {
  MOST_CALLS = 1 << 20
};

double sampling_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Between the two nearest samples, weighted: type 7 of Hyndman and Fan (1996), NumPy's default. */
static double quantile(const double *sorted, unsigned count, double share) {
  const double place = share * (count - 1);
  const unsigned below = (unsigned)place;
  if (below + 1 >= count) return sorted[count - 1];
  return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

struct quartiles quartiles_of(double *values, unsigned count) {
  qsort(values, count, sizeof *values, ascending);
  return (struct quartiles){.least = values[0],
                            .q1 = quantile(values, count, 0.25),
                            .median = quantile(values, count, 0.5),
                            .q3 = quantile(values, count, 0.75),
                            .samples = count,
                            .calls = 1};
}

static int take_sample(const struct contestant *c, unsigned calls, double *seconds) {
  int ready = c->before ? c->before(c->argument) : EXIT_OK;
  if (!ready && c->warms_up && !c->single) ready = c->run(c->argument, 1);
  if (ready) return ready;
  const double begun = sampling_now();
  const int code = c->run(c->argument, calls);
  *seconds = (c->told ? *c->told : sampling_now() - begun) / calls;
  return code;
}

/* Warm up, and find out how many calls fill a sample. */
static int prepare(const struct contestant *c, unsigned *calls) {
  double once = 0;
  int code = c->run(c->argument, 1);
  *calls = 1;
  if (code || c->single) return code;
  while (!code && *calls < MOST_CALLS) {
    code = take_sample(c, *calls, &once);
    if (once * *calls >= least_seconds / 2) break;
    *calls *= 2;
  }
  /* The first calls of a sample may be slower than the rest: more calls, until they do not count any more. */
  for (int i = 0; i < 5 && !code; i++) {
    const double wanted = least_seconds / (once > 1e-10 ? once : 1e-10);
    const unsigned before = *calls;
    *calls = wanted < 1 ? 1 : wanted > MOST_CALLS ? MOST_CALLS : (unsigned)wanted;
    if (*calls <= before + before / 2) break;
    code = take_sample(c, *calls, &once);
  }
  return code;
}

static int take_rounds(struct contestant *contestants, size_t count, const struct sampling *sampling,
                       const unsigned *calls, double *samples) {
  const double begun = sampling_now();
  unsigned round = 0;
  for (; round < sampling->samples; round++) {
    if (round >= SAMPLING_LEAST && sampling_now() - begun > sampling->seconds) break;
    for (size_t i = 0; i < count; i++) {
      const int code = take_sample(&contestants[i], calls[i], &samples[i * sampling->samples + round]);
      if (code) return code;
    }
  }
  for (size_t i = 0; i < count; i++) {
    contestants[i].result = quartiles_of(samples + i * sampling->samples, round);
    contestants[i].result.calls = calls[i];
  }
  return EXIT_OK;
}

int sampling_measure(struct contestant *contestants, size_t count, const struct sampling *sampling) {
  unsigned *calls = calloc(count + 1, sizeof *calls);
  double *samples = calloc(count * sampling->samples + 1, sizeof *samples);
  int code = EXIT_OK;
  if (!calls || !samples) {
    complain("out of memory for the samples");
    code = EXIT_LIBRARY;
  }
  for (size_t i = 0; i < count && !code; i++) code = prepare(&contestants[i], &calls[i]);
  if (!code) code = take_rounds(contestants, count, sampling, calls, samples);
  free(calls);
  free(samples);
  return code;
}
