/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time that control groups grant, as a number of CPUs (Linux: Documentation/admin-guide/cgroup-v2.rst, "cpu.max";
 * Documentation/scheduler/sched-bwc.rst). A group has no more than those above it, so the tightest quota counts.
 */
#include "quota.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
  MOST_PATH = 4096
};

/* A quota of CPUs from a group's folder; false where there is none. */
typedef bool read_quota(const char *folder, double *cpus);

/* Up to two numbers from the start of a file. */
static int read_numbers(const char *folder, const char *name, double *first, double *second) {
  char path[MOST_PATH];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  int count = fscanf(file, "%lf %lf", first, second);
  fclose(file);
  return count;
}

/* cpu.max: "quota period" in microseconds, or "max period". */
static bool unified_quota(const char *folder, double *cpus) {
  double quota = 0, period = 0;
  if (read_numbers(folder, "cpu.max", &quota, &period) != 2 || quota <= 0 || period <= 0) return false;
  *cpus = quota / period;
  return true;
}

/* A file each, in microseconds; a quota of -1 is none. */
static bool legacy_quota(const char *folder, double *cpus) {
  double quota = 0, period = 0, none;
  if (read_numbers(folder, "cpu.cfs_quota_us", &quota, &none) < 1 || quota <= 0) return false;
  if (read_numbers(folder, "cpu.cfs_period_us", &period, &none) < 1 || period <= 0) return false;
  *cpus = quota / period;
  return true;
}

/*
 * Is `name` in a list separated by commas, which is cut up? The unified hierarchy has an empty list, and an empty name.
 */
static bool listed(char *list, const char *name) {
  if (*name == '\0') return *list == '\0';
  char *rest;
  for (char *item = strtok_r(list, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest))
    if (strcmp(item, name) == 0) return true;
  return false;
}

/* The group of this process in the hierarchy of a controller, from lines such as "0::/a/b", "4:cpu,cpuacct:/a/b". */
static bool find_group(const char *root, const char *controller, char *group, size_t size) {
  char line[MOST_PATH];
  snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
  FILE *file = fopen(line, "re");
  if (file == NULL) return false;
  bool found = false;
  while (!found && fgets(line, sizeof line, file) != NULL) {
    char *list = strchr(line, ':'), *path = list != NULL ? strchr(list + 1, ':') : NULL;
    if (path == NULL) continue;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    found = listed(list + 1, controller);
    if (found) snprintf(group, size, "%s", path);
  }
  fclose(file);
  return found;
}

/*
 * The tightest quota from this process's group up to the root of a hierarchy, `least` if none is tighter. A container
 * may see its own group as that root, and not the folders that its path names.
 */
static double tightest(const char *root, const char *controller, const char *mount, read_quota *read, double least) {
  char group[MOST_PATH / 2], folder[MOST_PATH];
  if (!find_group(root, controller, group, sizeof group)) return least;
  for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
    double cpus;
    *end = '\0';
    snprintf(folder, sizeof folder, "%s%s%s", root, mount, group);
    if (read(folder, &cpus) && cpus < least) least = cpus;
  }
  return least;
}

unsigned red_quota_cpus(const char *root, unsigned most) {
  double least = tightest(root, "", "/sys/fs/cgroup", unified_quota, most);
  least = tightest(root, "cpu", "/sys/fs/cgroup/cpu", legacy_quota, least);
  return least < 1 ? 1 : (unsigned)least;
}
