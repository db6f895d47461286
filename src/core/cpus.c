/* SPDX-License-Identifier: BSD-2-Clause */
/* How many CPUs this thread or process may use: by affinity, within the quotas of control groups (quota.c). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "cpus.h"
#include "quota.h"

#include <sched.h>
#include <stdbool.h>
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

unsigned red_allowed_cpus(void) {
  return red_quota_cpus("", affinity_count(0));
}

unsigned red_process_cpus(unsigned known) {
  unsigned own = affinity_count(0), first = affinity_count(getpid());
  if (own < first) own = first;
  return red_quota_cpus("", own < known ? known : own);
}
