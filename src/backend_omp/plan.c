/* SPDX-License-Identifier: BSD-2-Clause */
/* How many threads a problem deserves, and who gets which part. */
#include "room.h"

/* Bytes that each thread must have to be worth starting; the gain that justified a row stands beside it. */
typedef struct crossover {
  red_work work;
  uint64_t bytes_per_thread;
} crossover;

static const crossover crossovers[] = {
    {RED_WORK_READ, (uint64_t)512 << 10},
    {RED_WORK_SCAN, (uint64_t)256 << 10},
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
