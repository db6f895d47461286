/* SPDX-License-Identifier: BSD-2-Clause */
/* How many CPUs this thread or process may use: by affinity, and by the quotas of control groups. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "cpus.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned affinity_count(pid_t thread) {
  /* Masks larger than cpu_set_t exist; the kernel says so by EINVAL. */
  for (size_t cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (set == NULL) break;
    bool known = sched_getaffinity(thread, CPU_ALLOC_SIZE(cpus), set) == 0;
    int count = known ? CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set) : 0;
    CPU_FREE(set);
    if (known && count > 0) return (unsigned)count;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

/* "quota period" in microseconds, or "max period". */
static bool read_quota(const char *path, double *cpus) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  double quota = 0, period = 0;
  bool known = fscanf(file, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0;
  fclose(file);
  if (known) *cpus = quota / period;
  return known;
}

/* The path of this process in a hierarchy: its line of /proc/self/cgroup ("0::/a/b", "4:cpu,cpuacct:/a/b"). */
static bool group_path(bool unified, char *path, size_t size) {
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return false;
  char line[4096];
  bool found = false;
  while (!found && fgets(line, sizeof line, file) != NULL) {
    char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) continue;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    controllers++;
    bool has_cpu = strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0;
    found = unified ? *controllers == '\0' : has_cpu;
    if (found) snprintf(path, size, "%s", group);
  }
  fclose(file);
  return found;
}

/* The tightest quota from this process's group up to the root. */
static unsigned quota_count(unsigned most) {
  static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu"};
  double least = most;
  for (int v1 = 0; v1 < 2; v1++) {
    char group[2048], path[4096];
    if (!group_path(!v1, group, sizeof group)) continue;
    for (char *end = group + strlen(group);; end = strrchr(group, '/')) {
      if (end == NULL) break;
      *end = '\0';
      double cpus = least;
      snprintf(path, sizeof path, "%s%s/%s", roots[v1], group, v1 ? "cpu.cfs_quota_us" : "cpu.max");
      if (!v1)
        read_quota(path, &cpus);
      else {
        FILE *quota = fopen(path, "re");
        snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", roots[v1], group);
        FILE *period = fopen(path, "re");
        double q = 0, p = 0;
        if (quota != NULL && period != NULL && fscanf(quota, "%lf", &q) == 1 && fscanf(period, "%lf", &p) == 1 &&
            q > 0 && p > 0)
          cpus = q / p;
        if (quota != NULL) fclose(quota);
        if (period != NULL) fclose(period);
      }
      if (cpus < least) least = cpus;
      if (group[0] == '\0') break;
    }
  }
  return least < 1 ? 1 : (unsigned)least;
}

unsigned red_allowed_cpus(void) {
  return quota_count(affinity_count(0));
}

unsigned red_process_cpus(unsigned known) {
  unsigned own = affinity_count(0), first = affinity_count(getpid());
  if (own < first) own = first;
  return quota_count(own < known ? known : own);
}
