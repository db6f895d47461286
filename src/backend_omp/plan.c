/* SPDX-License-Identifier: BSD-2-Clause */
/* How many threads a problem deserves, and who gets which part. */
#include <stdlib.h>
#include <string.h>

#include "crossover.h"
#include "room.h"

enum {
  BYTES_PER_NS = 30,        /* of one thread, roughly: to see whether waking a team is worth while */
  CACHED_BYTES = 64 << 10,  /* in the second-level cache */
  CACHED_SPEED = 128 * 1000 /* if there is no memory for those */
};

/* Of this process: contexts differ in the number of threads only. */
static red_crossover crossover;

/*
 * Bytes in a microsecond: of what needs the least arithmetic, out of a cache. Whatever else is computed takes longer,
 * so that threads come late rather than early.
 */
static uint64_t read_speed(const red_kernels *kernels) {
  const red_lowered bits = {.in = RED_U64};
  uint64_t least = UINT64_MAX;
  void *data = malloc(CACHED_BYTES);
  if (data == NULL) return CACHED_SPEED;
  memset(data, 0, CACHED_BYTES);
  for (unsigned i = 0; i < 4; i++) {
    const uint64_t start = red_team_now();
    kernels->reduce[RED_FAMILY_XOR][RED_U64][0](&bits, data, CACHED_BYTES / 8);
    const uint64_t ns = red_team_now() - start;
    if (ns < least) least = ns;
  }
  free(data);
  return (uint64_t)CACHED_BYTES * 1000 / (least + 1);
}

static void try_team(const red_cpu *cpu, unsigned threads) {
  const uint64_t speed = read_speed(cpu->kernels), ns = red_team_start_ns(threads);
  red_crossover_learn(&crossover, speed, threads, ns);
  red_log("omp: %u threads take %llu ns to start and end, one reads %llu bytes in a microsecond", threads,
          (unsigned long long)ns, (unsigned long long)speed);
}

/* An application that asks for threads gets them, and a row that was set holds. */
static uint64_t known_share(const red_cpu *cpu, red_work work) {
  const red_cpu_tuning *tuning = &cpu->tuning;
  const uint64_t row = work == RED_WORK_SCAN ? tuning->scan_bytes_per_thread : tuning->read_bytes_per_thread;
  return row == 0 && cpu->asked ? RED_ASKED_SHARE : row;
}

unsigned red_cpu_threads(const red_cpu *cpu, red_work work, uint64_t bytes) {
  if (cpu->threads < 2) return 1;
  const uint64_t share = known_share(cpu, work);
  /* Of a scan every byte but the first thread's is read twice, or written. */
  const uint64_t read = work == RED_WORK_SCAN ? bytes / 2 : bytes;
  unsigned wanted, untried = 0;
  if (share > 0)
    wanted = bytes / share < cpu->threads ? (unsigned)(bytes / share) : cpu->threads;
  else
    wanted = red_crossover_threads(&crossover, read, cpu->threads, &untried);
  const unsigned most = untried > wanted ? untried : wanted;
  if (most < 2 || !(cpu->asked || red_team_pays(bytes / BYTES_PER_NS / most * (most - 1)))) return 1;
  const unsigned taken = red_team_take(cpu, most);
  if (untried > 0 && taken == untried) {
    try_team(cpu, untried);
    wanted = red_crossover_threads(&crossover, read, cpu->threads, &untried);
  }
  return red_team_keep(taken, wanted);
}

/* One instruction or two for each vector that is read. */
static bool is_plain(const red_lowered *lowered) {
  switch (lowered->family) {
  case RED_FAMILY_ADD:
    return lowered->in_float ? lowered->in_bytes >= 4 : lowered->map == RED_MAP_NONE;
  case RED_FAMILY_MIN:
  case RED_FAMILY_ARGMIN:
    return !lowered->in_float;
  case RED_FAMILY_AND:
  case RED_FAMILY_OR:
  case RED_FAMILY_XOR:
    return true;
  default:
    return false;
  }
}

/*
 * Zen 4, 256 MiB, one thread and two: AVX2 loops of this kind read 1.03 to 1.19 times as fast as AVX-512 ones, whose
 * loads outrun the prefetchers; heavier loops are level or faster with AVX-512, and so is everything in the caches.
 */
const red_kernels *red_cpu_reduce_kernels(const red_cpu *cpu, const red_lowered *lowered) {
  uint64_t inputs = lowered->map == RED_MAP_PRODUCT ? 2 : 1;
  bool from_memory = inputs * lowered->n * lowered->in_bytes > cpu->tuning.narrow_bytes;
  return from_memory && cpu->narrow != NULL && is_plain(lowered) ? cpu->narrow : cpu->kernels;
}

red_range red_share(uint64_t units, unsigned index, unsigned count) {
  uint64_t each = units / count, more = units % count;
  uint64_t first = each * index + (index < more ? index : more);
  return (red_range){first, first + each + (index < more)};
}
