/* SPDX-License-Identifier: BSD-2-Clause */
/* A job in parts: each thread gathers what its share comes to, and the parts merge from left to right. */
#include <stdlib.h>

#include "room.h"

typedef struct team_job {
  const red_parts *kind;
  const void *job;
  unsigned char *parts;
} team_job;

static void work(void *argument, unsigned index, unsigned count) {
  const team_job *team = argument;
  team->kind->work(team->job, team->parts + index * team->kind->bytes, index, count);
}

void red_cpu_gather(const red_cpu *cpu, uint64_t bytes, const red_parts *kind, const void *job, void *whole) {
  unsigned threads = red_cpu_threads(cpu, RED_WORK_READ, bytes);
  team_job team = {.kind = kind, .job = job};
  if (threads > 1) team.parts = aligned_alloc(RED_PART_ALIGNMENT, threads * kind->bytes);
  kind->clear(job, whole);
  if (team.parts != NULL) {
    for (unsigned i = 0; i < threads; i++) kind->clear(job, team.parts + i * kind->bytes);
    red_team_run(threads, work, &team);
    for (unsigned i = 0; i < threads; i++) kind->merge(job, whole, team.parts + i * kind->bytes);
    free(team.parts);
  } else {
    kind->work(job, whole, 0, 1);
  }
  red_team_give(threads);
}
