/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads come from OpenMP, as the library's do: then both share one team, and neither waits for cores on which the
 * other's threads still spin.
 */
#include "host.h"

#include <string.h>
#include <sys/mman.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

enum {
  PAGE = 4096
};

static volatile uint64_t sink; /* what was read goes here, so that no compiler drops the loads */

#if defined(__x86_64__)
const struct host_kernels *host_kernels(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return &host_kernels_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
    return &host_kernels_avx2;
  return &host_kernels_sse2;
}
#elif defined(__aarch64__)
const struct host_kernels *host_kernels(void) {
  return &host_kernels_neon;
}
#endif

unsigned host_threads(void) {
#if defined(_OPENMP)
  const int most = omp_get_max_threads(), limit = omp_get_thread_limit();
  return (unsigned)(most < limit ? most : limit);
#else
  return 1;
#endif
}

static size_t share_begin(size_t bytes, unsigned index, unsigned count) {
  if (index == count) return bytes;
  return bytes / PAGE * index / count * PAGE;
}

void host_share(unsigned threads, size_t bytes, host_work *work, void *argument) {
  if (threads < 2) {
    work(argument, 0, 0, bytes);
    return;
  }
#if defined(_OPENMP)
#pragma omp parallel num_threads((int)threads)
  {
    const unsigned index = (unsigned)omp_get_thread_num(), count = (unsigned)omp_get_num_threads();
    work(argument, index, share_begin(bytes, index, count), share_begin(bytes, index + 1, count));
  }
#else
  for (unsigned i = 0; i < threads; i++)
    work(argument, i, share_begin(bytes, i, threads), share_begin(bytes, i + 1, threads));
#endif
}

/* ---- moving ---- */

const char *host_way_name(enum host_way way) {
  static const char *const names[HOST_WAYS] = {"read", "read, prefetching", "copy", "copy past the caches"};
  return names[way];
}

int host_has_way(enum host_way way) {
  return way != HOST_COPY_PAST || host_kernels()->copy_past;
}

struct move {
  const struct host_kernels *kernels;
  enum host_way way;
  char *to;
  const char *from;
};

static void move_share(void *argument, unsigned index, size_t first, size_t last) {
  const struct move *move = argument;
  const struct host_kernels *kernels = move->kernels;
  (void)index;
  switch (move->way) {
  case HOST_READ:
    sink = kernels->read(move->from + first, last - first);
    break;
  case HOST_READ_AHEAD:
    sink = kernels->read_ahead(move->from + first, last - first);
    break;
  case HOST_COPY:
    kernels->copy(move->to + first, move->from + first, last - first);
    break;
  default:
    kernels->copy_past(move->to + first, move->from + first, last - first);
    break;
  }
}

void host_move(enum host_way way, unsigned threads, void *to, const void *from, size_t bytes) {
  struct move move = {host_kernels(), way, to, from};
  host_share(threads, bytes, move_share, &move);
}

/* ---- memory ---- */

static void touch_share(void *argument, unsigned index, size_t first, size_t last) {
  (void)index;
  memset((char *)argument + first, 0, last - first);
}

void *host_map(size_t bytes) {
  void *array = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (array == MAP_FAILED) return NULL;
  madvise(array, bytes, MADV_HUGEPAGE);
  host_share(host_threads(), bytes, touch_share, array); /* pages lie near the thread that touches them first */
  return array;
}

void host_unmap(void *array, size_t bytes) {
  if (array) munmap(array, bytes ? bytes : 1);
}
