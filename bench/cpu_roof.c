/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rooflines: plain sums of f32 (read the bytes, whatever they mean) with many accumulators, and copies. Compiled for
 * the machine at hand; each thread takes one contiguous part.
 */
#include <string.h>

#include "cpu.h"

typedef float vec32 __attribute__((vector_size(32), may_alias, aligned(4)));
typedef float vec64 __attribute__((vector_size(64), may_alias, aligned(4)));
typedef unsigned bits64 __attribute__((vector_size(64), may_alias, aligned(4)));

static double read_avx2(const char *p, size_t bytes) {
  vec32 sum[4] = {{0}};
  for (size_t i = 0; i + 128 <= bytes; i += 128)
    for (int k = 0; k < 4; k++) sum[k] += *(const vec32 *)(p + i + 32 * k);
  sum[0] += sum[1] + sum[2] + sum[3];
  return (double)sum[0][0];
}

#if defined(__AVX512F__)
static double read_avx512(const char *p, size_t bytes) {
  vec64 sum[8] = {{0}};
  for (size_t i = 0; i + 512 <= bytes; i += 512)
    for (int k = 0; k < 8; k++) sum[k] += *(const vec64 *)(p + i + 64 * k);
  for (int k = 1; k < 8; k++) sum[0] += sum[k];
  return (double)sum[0][0];
}

static double read_prefetch(const char *p, size_t bytes) {
  vec64 sum[8] = {{0}};
  for (size_t i = 0; i + 512 <= bytes; i += 512)
    for (int k = 0; k < 8; k++) {
      __builtin_prefetch(p + i + 64 * k + 4096);
      sum[k] += *(const vec64 *)(p + i + 64 * k);
    }
  for (int k = 1; k < 8; k++) sum[0] += sum[k];
  return (double)sum[0][0];
}

static double read_or(const char *p, size_t bytes) {
  bits64 all[8] = {{0}};
  for (size_t i = 0; i + 512 <= bytes; i += 512)
    for (int k = 0; k < 8; k++) all[k] |= *(const bits64 *)(p + i + 64 * k);
  for (int k = 1; k < 8; k++) all[0] |= all[k];
  return (double)all[0][0];
}
#endif

typedef double read_fn(const char *p, size_t bytes);

/* Two threads are what most of these figures are about; more share alike. */
static void read_all(const bench_case *c, read_fn *read) {
  const char *p = c->in;
  size_t bytes = bench_in_bytes(c);
  double total = 0;
  if (c->threads == 1) {
    bench_sink = read(p, bytes);
    return;
  }
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (int part = 0; part < 64; part++) {
    size_t first = bytes / 64 / 512 * 512 * (size_t)part;
    size_t last = part == 63 ? bytes : first + bytes / 64 / 512 * 512;
    total += read(p + first, last - first);
  }
  bench_sink = total;
}

static void copy_all(const bench_case *c, void (*copy)(char *to, const char *from, size_t bytes)) {
  const char *from = c->in;
  char *to = c->scratch;
  size_t bytes = bench_in_bytes(c);
  if (c->threads == 1) {
    copy(to, from, bytes);
    return;
  }
#pragma omp parallel for schedule(static)
  for (int part = 0; part < 64; part++) {
    size_t first = bytes / 64 / 512 * 512 * (size_t)part;
    size_t last = part == 63 ? bytes : first + bytes / 64 / 512 * 512;
    copy(to + first, from + first, last - first);
  }
}

static void plain_copy(char *to, const char *from, size_t bytes) {
  memcpy(to, from, bytes);
}

#if defined(__AVX512F__)
#include <immintrin.h>
static void stream_copy(char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i + 256 <= bytes; i += 256)
    for (size_t k = 0; k < 256; k += 64) {
      _mm_prefetch(from + i + k + 4096, _MM_HINT_T0);
      _mm512_stream_si512((void *)(to + i + k), _mm512_loadu_si512(from + i + k));
    }
  _mm_sfence();
}
#elif defined(__AVX2__)
#include <immintrin.h>
static void stream_copy(char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i + 128 <= bytes; i += 128)
    for (size_t k = 0; k < 128; k += 32) {
      _mm_prefetch(from + i + k + 4096, _MM_HINT_T0);
      _mm256_stream_si256((void *)(to + i + k), _mm256_loadu_si256((const void *)(from + i + k)));
    }
  _mm_sfence();
}
#endif

static bool reads(const bench_case *c) {
  return (c->problem.kind == RED_REDUCE || c->problem.kind == RED_STATS) && bench_in_bytes(c) >= 4096;
}
static bool writes(const bench_case *c) {
  return !reads(c) && bench_in_bytes(c) >= 4096;
}

static void run_read_avx2(const bench_case *c) {
  read_all(c, read_avx2);
}

bench_run *bench_find_read_avx2(const bench_case *c) {
  return reads(c) ? run_read_avx2 : NULL;
}

#if defined(__AVX512F__)
static void run_read_avx512(const bench_case *c) {
  read_all(c, read_avx512);
}
static void run_read_prefetch(const bench_case *c) {
  read_all(c, read_prefetch);
}
static void run_read_or(const bench_case *c) {
  read_all(c, read_or);
}
bench_run *bench_find_read_avx512(const bench_case *c) {
  return reads(c) ? run_read_avx512 : NULL;
}
bench_run *bench_find_read_prefetch(const bench_case *c) {
  return reads(c) ? run_read_prefetch : NULL;
}
bench_run *bench_find_read_or(const bench_case *c) {
  return reads(c) ? run_read_or : NULL;
}
#else
bench_run *bench_find_read_avx512(const bench_case *c) {
  return (void)c, NULL;
}
bench_run *bench_find_read_prefetch(const bench_case *c) {
  return (void)c, NULL;
}
bench_run *bench_find_read_or(const bench_case *c) {
  return (void)c, NULL;
}
#endif

static void run_memcpy(const bench_case *c) {
  copy_all(c, plain_copy);
}
bench_run *bench_find_memcpy(const bench_case *c) {
  return writes(c) ? run_memcpy : NULL;
}

#if defined(__AVX2__)
static void run_stream(const bench_case *c) {
  copy_all(c, stream_copy);
}
bench_run *bench_find_stream_copy(const bench_case *c) {
  return writes(c) && (size_t)c->scratch % 64 == 0 && c->threads != 1 ? run_stream : NULL;
}
#else
bench_run *bench_find_stream_copy(const bench_case *c) {
  return (void)c, NULL;
}
#endif
