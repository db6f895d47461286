/* SPDX-License-Identifier: BSD-2-Clause */
/* How many threads a problem deserves, and who gets which part. */
#include "room.h"

/* One thread, roughly: to see whether waking a team is worth while. */
enum {
  BYTES_PER_NS = 30
};

unsigned red_cpu_threads(const red_cpu *cpu, red_work work, uint64_t bytes) {
  const red_cpu_tuning *tuning = &cpu->tuning;
  uint64_t deserved = bytes / (work == RED_WORK_SCAN ? tuning->scan_bytes_per_thread : tuning->read_bytes_per_thread);
  if (deserved < 2 || cpu->threads < 2) return 1;
  unsigned wanted = deserved < cpu->threads ? (unsigned)deserved : cpu->threads;
  bool pays = cpu->asked || red_team_pays(bytes / BYTES_PER_NS / wanted * (wanted - 1));
  return pays ? red_team_take(cpu, wanted) : 1;
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
