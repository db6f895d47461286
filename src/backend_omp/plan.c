/* SPDX-License-Identifier: BSD-2-Clause */
/* How many threads a problem deserves, and who gets which part. */
#include "room.h"

/* Bytes that each thread must have to be worth starting; the gain that justified a row stands beside it. */
typedef struct crossover {
  red_work work;
  uint64_t bytes_per_thread;
} crossover;

/*
 * Two virtual cores of a Zen 4 EPYC, f32: a sum of 1 MiB takes 0.54 of one thread's time with two (fork and join cost
 * 0.6 us), one of half that 0.85 at best. A scan's second thread must also reduce: within the last-level cache it gains
 * 0 to 20 % or loses 30 %, from 32 MiB of input and output on it gains; 512 MiB take 0.8.
 */
static const crossover crossovers[] = {
    {RED_WORK_READ, (uint64_t)512 << 10},
    {RED_WORK_SCAN, (uint64_t)16 << 20},
};

unsigned red_cpu_threads(const red_cpu *cpu, red_work work, uint64_t bytes) {
  uint64_t deserved = bytes / crossovers[work].bytes_per_thread;
  if (deserved < 2 || cpu->threads < 2) return 1;
  return red_team_take(cpu, deserved < cpu->threads ? (unsigned)deserved : cpu->threads);
}

red_range red_share(uint64_t units, unsigned index, unsigned count) {
  uint64_t each = units / count, more = units % count;
  uint64_t first = each * index + (index < more ? index : more);
  return (red_range){first, first + each + (index < more)};
}
