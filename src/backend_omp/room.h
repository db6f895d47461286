/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the CPU backend share: the device, its threads, and the three ways to execute. */
#ifndef RED_OMP_ROOM_H
#define RED_OMP_ROOM_H

#include "backend.h"
#include "rivals.h"
#include "tune.h"
#include "tuning.def"
#include "vec/kernels.h"

typedef struct red_cpu_tuning {
  RED_CPU_TUNING(RED_TUNING_FIELD)
} red_cpu_tuning;

typedef struct red_cpu {
  const red_kernels *kernels;
  const red_kernels *narrow; /* with shorter vectors, where those read memory faster; or NULL */
  unsigned threads;          /* the most that one call may use */
  bool asked;                /* the application chose that number: a sleeping team is worth waking */
  red_cpu_tuning tuning;
  red_scan_rivals *rivals; /* of scans; few pages of it are ever touched */
} red_cpu;

/* cpu.c: the processor. */
const char *red_cpu_model(void);
/* The best instruction set, or the one that RED_CPU names; NULL and the sentence if that cannot be had. */
const red_kernels *red_cpu_kernels(void);
const red_kernels *red_cpu_narrow_kernels(const red_kernels *best);
uint64_t red_cpu_memory(void);
uint64_t red_cpu_last_level_cache(void);

/* team.c: threads. */
typedef void red_team_fn(void *job, unsigned index, unsigned count);
/* Can threads be started at all, and how many (OpenMP's own limits)? 1 without OpenMP. */
unsigned red_team_limit(void);
/* CPUs that the calling thread's team may use: of its mask, or of OpenMP's places, to which it may be bound. */
unsigned red_team_processors(void);
/* A number of threads up to `wanted` that may be started here and now; give it back after red_team_run. */
unsigned red_team_take(const red_cpu *cpu, unsigned wanted);
/* So many of those that were taken are enough; the others are given back at once. */
unsigned red_team_keep(unsigned taken, unsigned wanted);
/* Is a team worth starting that saves so much? It may have to be woken first. */
bool red_team_pays(uint64_t saved_ns);
void red_team_give(unsigned threads);
/* What it costs to start and to end a team of so many, which were taken: ns, measured here and now. */
uint64_t red_team_start_ns(unsigned threads);
/* Call fn on `count` threads at once, in the floating-point environment of the bits; count may come out smaller. */
void red_team_run(unsigned threads, red_team_fn *fn, void *job);
/* ns of a clock that only goes forward. */
uint64_t red_team_now(void);
/* In a loop that waits for another thread. */
static inline void red_team_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield");
#endif
}

/* plan.c: how many threads a problem deserves. */
typedef enum red_work {
  RED_WORK_READ,
  RED_WORK_SCAN
} red_work;
unsigned red_cpu_threads(const red_cpu *cpu, red_work work, uint64_t bytes);
/* The kernels for a reduction of an array that does not fit the caches, or does. */
const red_kernels *red_cpu_reduce_kernels(const red_cpu *cpu, const red_lowered *lowered);
/* The piece of [0, units) that belongs to one of `count` threads. */
typedef struct red_range {
  uint64_t first, last;
} red_range;
red_range red_share(uint64_t units, unsigned index, unsigned count);

/* parts.c: reductions of all kinds, by as many threads as reading `bytes` deserves. */
enum {
  RED_PART_ALIGNMENT = 128 /* what threads write lies on cache lines of their own */
};
typedef struct red_parts {
  size_t bytes; /* of a part, a multiple of the alignment */
  void (*clear)(const void *job, void *part);
  void (*work)(const void *job, void *part, unsigned index, unsigned count); /* into a cleared part */
  void (*merge)(const void *job, void *into, const void *next);              /* a neighbour, which may be clear */
} red_parts;
/* What all parts come to, in *whole; where there is one thread it is the only part. */
void red_cpu_gather(const red_cpu *cpu, uint64_t bytes, const red_parts *kind, const void *job, void *whole);

/* reduce.c, scan.c, stats.c: `in`, `in2` (see red_exec) and `out` are addresses, n > 0. */
red_status red_cpu_reduce(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2, void *out);
red_small_fn red_cpu_small_scan;
red_small_fn *red_cpu_small(void *device, const red_lowered *lowered);
red_status red_cpu_scan(const red_cpu *cpu, const red_lowered *lowered, const void *in, void *out, red_state *total);
red_status red_cpu_stats(const red_cpu *cpu, const red_lowered *lowered, const void *in, red_stats_state *stats);

/* The state of a reduction, before its last step; for a caller in the floating-point environment. */
red_state red_cpu_reduce_state(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2);

/* bounded.c: the same with the sum of magnitudes. */
red_status red_cpu_bounded(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2,
                           red_pair *pair);

/* exact.c: the sum of an exact problem, or one that has its result, whatever was in *sum. */
red_status red_cpu_exact(const red_cpu *cpu, const red_lowered *lowered, const void *in, const void *in2,
                         red_exact *sum, bool result_only);

/* Least (key, index) of a range, the index counted from the array's start. */
red_state red_cpu_argmin(const red_kernels *kernels, const red_lowered *lowered, const void *in, red_range range);

/* memory.c */
red_status red_cpu_alloc(void *device, uint64_t bytes, void **memory);
void red_cpu_free(void *device, void *memory);
red_status red_cpu_upload(void *device, void *queue, void *to, uint64_t offset, const void *from, uint64_t bytes);
red_status red_cpu_download(void *device, void *queue, void *to, const void *from, uint64_t offset, uint64_t bytes);
red_status red_cpu_queue_open(void *device, void *native, void **queue);
red_status red_cpu_queue_finish(void *device, void *queue);
void red_cpu_queue_close(void *device, void *queue);

#endif
