/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From how many bytes on threads pay. How long a team takes to start and to end depends on the machine, the run-time
 * library and its settings, so it is measured, by the first call that might be large enough, and with it how fast one
 * thread reads; for larger teams when smaller ones have turned out to pay. Measuring takes some 60 us. New threads may
 * begin on their creator's CPU, and others may be at work: a few of the next calls measure again, and the least cost
 * counts. All this is of threads that are awake: team.c sees to those that sleep.
 */
#ifndef RED_OMP_CROSSOVER_H
#define RED_OMP_CROSSOVER_H

#include <stdatomic.h>
#include <stdint.h>

enum {
  RED_TEAM_SIZES = 16, /* 2 threads, up to 4, up to 8, ... */
  RED_TEAM_TRIES = 64, /* calls, of which the 1st, 2nd, 4th, ... measure again, or the next that can */
  /* Each thread's work shall take so many times as long as starting. In theory one is enough for two of them. */
  RED_WORTH_STARTING = 2
};

/*
 * Bytes for each thread. Those that come on top of what starting is worth: a part of the data is in another core's
 * cache. Two cores of a Zen 4 are level with one at 0.4 MiB each where starting costs 1.2 us, at 4 MiB where it
 * costs 22.
 */
#define RED_LEAST_SHARE ((uint64_t)3 << 16)
#define RED_MOST_SHARE  ((uint64_t)1 << 25) /* enough, whatever was measured */
/* Nothing is measured where the application said how many threads it wants. */
#define RED_ASKED_SHARE ((uint64_t)1 << 19)

/* All zeros to begin with: not measured. Any number of threads may use it. */
typedef struct red_crossover {
  atomic_uint_fast64_t speed;                /* bytes that one thread reads in a microsecond */
  atomic_uint_fast64_t cost[RED_TEAM_SIZES]; /* ns to start and to end teams of these sizes */
  atomic_uint calls[RED_TEAM_SIZES];         /* for which these might be, since that is known */
} red_crossover;

/* How many threads, at most `most`, a call deserves. *untried is a team whose cost it should measure before, or 0. */
unsigned red_crossover_threads(red_crossover *known, uint64_t bytes, unsigned most, unsigned *untried);

/* One thread reads so many bytes in a microsecond; a team of so many threads took so long to start and to end. */
void red_crossover_learn(red_crossover *known, uint64_t speed, unsigned threads, uint64_t ns);

#endif
