/* SPDX-License-Identifier: BSD-2-Clause */
/* What the operating system says about this machine's caches and memory. */
#ifndef REDTOOL_BENCH_MACHINE_H
#define REDTOOL_BENCH_MACHINE_H

#include <stdint.h>

/* Bytes of one data cache of a level, 1 to 4; 0 if there is none, or nobody says. */
uint64_t machine_cache(unsigned level);

/* Bytes of all caches of the machine together, so that reading more than that leaves nothing of what was there. */
uint64_t machine_caches(void);

/* Bytes of memory that could be taken now without swapping, within the process's control group. */
uint64_t machine_free_memory(void);

#endif
