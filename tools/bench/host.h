/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading and copying host memory with several threads: the roofline of the CPU. */
#ifndef REDTOOL_BENCH_HOST_H
#define REDTOOL_BENCH_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "host_kernels.h"

/* The kernels of the best instruction set of this processor. */
const struct host_kernels *host_kernels(void);

/* The most threads that this build can start; 1 without OpenMP. */
unsigned host_threads(void);

/* Call `work` for a share of [0, bytes) on each of `threads` threads. Shares begin at multiples of a page. */
typedef void host_work(void *argument, unsigned index, size_t first, size_t last);
void host_share(unsigned threads, size_t bytes, host_work *work, void *argument);

/* The ways to read and to copy. Which one is fastest depends on the size, so all are tried. */
enum host_way {
  HOST_READ,
  HOST_READ_AHEAD,
  HOST_COPY,
  HOST_COPY_PAST,
  HOST_WAYS
};

/* "read", "read, prefetching", ... */
const char *host_way_name(enum host_way way);

/* Whether this processor has the way. */
int host_has_way(enum host_way way);

/* `to` is used by copies only. */
void host_move(enum host_way way, unsigned threads, void *to, const void *from, size_t bytes);

/* An array of at least `bytes` bytes on large pages where the system has them, all of it touched; NULL: no memory. */
void *host_map(size_t bytes);
void host_unmap(void *array, size_t bytes);

#endif
