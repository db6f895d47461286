/* SPDX-License-Identifier: BSD-2-Clause */
/* Linux: /sys/devices/system/cpu for caches, /proc/meminfo and the control group for memory. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MOST_LEVELS = 4,
  MOST_INDICES = 8, /* of a CPU in sysfs */
  LINE_BYTES = 256
};

static const uint64_t caches_if_unknown = (uint64_t)64 << 20;

/* ---- caches ---- */

static int read_word(const char *path, char text[LINE_BYTES]) {
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  const int found = fgets(text, LINE_BYTES, file) != NULL;
  fclose(file);
  if (found) text[strcspn(text, "\n")] = 0;
  return found;
}

static int read_property(long cpu, int index, const char *name, char text[LINE_BYTES]) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cache/index%d/%s", cpu, index, name);
  return read_word(path, text);
}

/* "1024K" */
static uint64_t parse_size(const char *text) {
  char *end;
  const uint64_t value = strtoull(text, &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : *end == 'G' ? value << 30 : value;
}

/* The first CPU of a list like "0-3,8". */
static long first_of_list(const char *text) {
  return strtol(text, NULL, 10);
}

/* A cache that several CPUs share is counted at the first of them. */
static uint64_t caches_of_cpu(long cpu, unsigned only_level) {
  char level[LINE_BYTES], type[LINE_BYTES], size[LINE_BYTES], shared[LINE_BYTES];
  uint64_t bytes = 0;
  for (int index = 0; index < MOST_INDICES; index++) {
    if (!read_property(cpu, index, "level", level) || !read_property(cpu, index, "type", type) ||
        !read_property(cpu, index, "size", size))
      break;
    if (strcmp(type, "Instruction") == 0) continue;
    if (only_level) {
      if ((unsigned)atoi(level) == only_level) return parse_size(size);
    } else if (read_property(cpu, index, "shared_cpu_list", shared) && first_of_list(shared) == cpu) {
      bytes += parse_size(size);
    }
  }
  return bytes;
}

uint64_t machine_cache(unsigned level) {
  static const int names[MOST_LEVELS] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                         _SC_LEVEL4_CACHE_SIZE};
  if (level < 1 || level > MOST_LEVELS) return 0;
  const uint64_t bytes = caches_of_cpu(0, level);
  if (bytes) return bytes;
  const long known = sysconf(names[level - 1]);
  return known > 0 ? (uint64_t)known : 0;
}

uint64_t machine_caches(void) {
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  uint64_t bytes = 0;
  for (long cpu = 0; cpu < cpus; cpu++) bytes += caches_of_cpu(cpu, 0);
  for (unsigned level = 1; !bytes && level <= MOST_LEVELS; level++)
    bytes = machine_cache(level) * (level < 3 && cpus > 1 ? (uint64_t)cpus : 1);
  return bytes ? bytes : caches_if_unknown;
}

/* ---- memory ---- */

static uint64_t meminfo_available(void) {
  char line[LINE_BYTES];
  uint64_t kilobytes = 0;
  FILE *file = fopen("/proc/meminfo", "re");
  if (!file) return 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1) break;
  fclose(file);
  return kilobytes << 10;
}

static uint64_t read_number(const char *path, uint64_t otherwise) {
  char text[LINE_BYTES], *end;
  if (!read_word(path, text)) return otherwise;
  const uint64_t value = strtoull(text, &end, 10);
  return end != text && !*end ? value : otherwise;
}

/* Files that the kernel caches on the group's account count as used, but would make room. */
static uint64_t read_reclaimable(const char *path) {
  char line[LINE_BYTES];
  uint64_t bytes = 0;
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "inactive_file %" SCNu64, &bytes) == 1) break;
  fclose(file);
  return bytes;
}

/* What the control group leaves; within a container its files are those at the root of the hierarchy. */
static uint64_t group_available(void) {
  static const struct {
    const char *most, *used, *details;
  } versions[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat"},
  };
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 2; i++) {
    const uint64_t most = read_number(versions[i].most, UINT64_MAX), used = read_number(versions[i].used, 0);
    const uint64_t reclaimable = read_reclaimable(versions[i].details),
                   held = used > reclaimable ? used - reclaimable : 0;
    const uint64_t left = most > held ? most - held : 0;
    if (left < least) least = left;
  }
  return least;
}

uint64_t machine_free_memory(void) {
  const uint64_t whole = meminfo_available(), group = group_available();
  if (whole) return whole < group ? whole : group;
  const long pages = sysconf(_SC_AVPHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  const uint64_t now = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : 0;
  return now < group ? now : group;
}
