/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a GPU's counters say about the kernels of a command: Nsight Compute's ncu runs it, and its report is read here.
 */
#ifndef REDTOOL_BENCH_PROFILE_H
#define REDTOOL_BENCH_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

/* Of all launches of some kernels; NAN: not reported. */
struct profile {
  double thread_instructions, instructions; /* executed: by threads whose predicate was on, and by warps */
  double conflicts;                         /* rounds that shared memory took beyond those that the accesses need */
  double read, written;                     /* bytes of the device's memory */
};

enum {
  PROFILE_REASON_BYTES = 256
};

/* Threads of a warp that an instruction had an effect for, in the mean: 32 without divergence. */
double profile_lanes(const struct profile *profile);

/*
 * Add up a report of `ncu --csv` into profiles[0 .. count]: launches of the kernel kernels[i] into profiles[i]; where
 * kernels[i] is NULL, those of all kernels that come after the last one that is listed. False, and why, if it counts
 * nothing.
 */
bool profile_read(const char *report, const char *const *kernels, size_t count, struct profile *profiles,
                  char reason[PROFILE_REASON_BYTES]);

/* Run `command`, NULL at its end, under ncu and read what it says. Its own output is dropped. */
bool profile_run(const char *const *command, const char *const *kernels, size_t count, struct profile *profiles,
                 char reason[PROFILE_REASON_BYTES]);

#endif
