/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU benchmark: cases, and contestants that each can run some of them. Everything runs in one process, taking
 * turns, so that whatever the machine does to one contestant it does to all.
 */
#ifndef RED_BENCH_CPU_H
#define RED_BENCH_CPU_H

#include <stdbool.h>
#include <stddef.h>

#include <red/red.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_case {
  red_problem problem;
  bool in_place;    /* scans */
  unsigned threads; /* 1, or all */
  const void *in;
  const void *in2; /* dot: the second input, right behind the first; else NULL */
  void *out;
  void *scratch; /* where copies go, also when `out` is `in` */
} bench_case;

/* Bytes of input. */
static inline size_t bench_in_bytes(const bench_case *c) {
  return (size_t)c->problem.n * red_dtype_bytes(c->problem.in) * (c->in2 != NULL ? 2 : 1);
}

/* Computes the case's problem, or moves as much memory. */
typedef void bench_run(const bench_case *c);

typedef enum bench_role {
  BENCH_OURS,
  BENCH_ROOF, /* what the memory system gives: reads for reductions, copies for scans */
  BENCH_PEER,
  BENCH_EXACT /* a peer in exact cases only, where the others are none */
} bench_role;

/* A family of implementations; `find` returns NULL for a case that it does not have. */
typedef struct bench_contestant {
  const char *name;
  bench_role role;
  bench_run *(*find)(const bench_case *c);
} bench_contestant;

/* cpu_roof.c */
bench_run *bench_find_read_avx2(const bench_case *c);
bench_run *bench_find_read_avx512(const bench_case *c);
bench_run *bench_find_read_prefetch(const bench_case *c);
bench_run *bench_find_read_or(const bench_case *c);
bench_run *bench_find_memcpy(const bench_case *c);
bench_run *bench_find_stream_copy(const bench_case *c);

/* cpu_omp.cpp, compiled without and with -ffast-math */
bench_run *bench_find_omp(const bench_case *c);
bench_run *bench_find_omp_fast(const bench_case *c);
bench_run *bench_find_loop_fast(const bench_case *c);

/* cpu_tbb.cpp, cpu_std.cpp, cpu_eigen.cpp, cpu_blas.c: where the libraries are installed */
bench_run *bench_find_tbb(const bench_case *c);
bench_run *bench_find_std(const bench_case *c);
bench_run *bench_find_eigen(const bench_case *c);
bench_run *bench_find_blas(const bench_case *c);

/* cpu_exact.cpp: likewise */
bench_run *bench_find_reproblas(const bench_case *c);
bench_run *bench_find_exblas(const bench_case *c);

/* cpu_data.c: zeros; [-1, 1); any finite bits; normal ones times 2^-32 to 2^31, each followed by its opposite */
typedef enum bench_data {
  BENCH_ZERO,
  BENCH_UNIFORM,
  BENCH_NORMAL,
  BENCH_WHOLE_RANGE,
  BENCH_CANCELLING
} bench_data;
void bench_fill(const bench_case *c, void *in, bench_data data);

/* cpu_crossover.c: the two ways to call ours, arrays of at least 64 MiB, and what the rows' names shall contain. */
void bench_crossover(bench_run *alone, bench_run *automatic, unsigned samples, void *in, void *out, char **texts,
                     int count);

/* A result goes here, so that no compiler drops the work. */
extern volatile double bench_sink;

#ifdef __cplusplus
}
#endif

#endif
