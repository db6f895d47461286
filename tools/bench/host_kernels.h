/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the memory system of the CPU gives: loops that only read or only copy, and the steps of the CPU ladder, one
 * table for each instruction set. The file is compiled once for each; SIMD comes from the compiler's vector types.
 */
#ifndef REDTOOL_BENCH_HOST_KERNELS_H
#define REDTOOL_BENCH_HOST_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct host_kernels {
  const char *name;
  size_t vector_bytes;

  /* Read all bytes; the result only keeps the loads alive. `bytes` is a multiple of 8. */
  uint64_t (*read)(const void *from, size_t bytes);
  uint64_t (*read_ahead)(const void *from, size_t bytes); /* prefetching */
  void (*copy)(void *to, const void *from, size_t bytes);
  void (*copy_past)(void *to, const void *from, size_t bytes); /* past the caches; NULL where there is no such store */

  /* Sums of f32. */
  float (*sum_one)(const float *x, size_t n);    /* each addition waits for the one before */
  float (*sum_four)(const float *x, size_t n);   /* four scalar chains */
  float (*sum_inside)(const float *x, size_t n); /* one vector chain, lanes added within the loop */
  float (*sum_after)(const float *x, size_t n);  /* one vector chain, lanes added after the loop */
  float (*sum_chains)(const float *x, size_t n); /* as many vector chains as hide the latency of an addition */
  float (*sum_ahead)(const float *x, size_t n);  /* the same, prefetching */
  void (*sum_into)(const float *x, size_t n, float *slot); /* adds to *slot after every few cache lines */
};

#define HOST_KERNELS_X86(X) X(avx512) X(avx2) X(sse2)
#define HOST_KERNELS_ARM(X) X(neon)

#define X(isa) extern const struct host_kernels host_kernels_##isa;
HOST_KERNELS_X86(X)
HOST_KERNELS_ARM(X)
extern const struct host_kernels host_kernels_generic;
#undef X

#endif
