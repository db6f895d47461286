/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory is host memory, and a queue has nothing to wait for. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "room.h"

enum {
  ALIGNMENT = 256,
  HUGE_PAGE = 2 << 20
};

/*
 * Large arrays in huge pages: fewer faults at the first touch, fewer misses of translations later. A system that gives
 * them to everybody or to nobody does so still; a refusal costs nothing but the call. What is no whole page stays
 * small.
 */
static void ask_for_huge_pages(void *memory, uint64_t bytes) {
#if defined(MADV_HUGEPAGE)
  (void)madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#else
  (void)memory, (void)bytes;
#endif
}

red_status red_cpu_alloc(void *device, uint64_t bytes, void **memory) {
  (void)device;
  const bool large = bytes >= HUGE_PAGE;
  if (posix_memalign(memory, large ? HUGE_PAGE : ALIGNMENT, bytes > 0 ? bytes : ALIGNMENT) == 0) {
    if (large) ask_for_huge_pages(*memory, bytes);
    return RED_OK;
  }
  return red_fail(RED_ERR_NO_MEMORY, "no %llu bytes of host memory", (unsigned long long)bytes);
}

void red_cpu_free(void *device, void *memory) {
  (void)device;
  free(memory);
}

red_status red_cpu_upload(void *device, void *queue, void *to, uint64_t offset, const void *from, uint64_t bytes) {
  (void)device;
  (void)queue;
  if (bytes > 0) memmove((char *)to + offset, from, bytes);
  return RED_OK;
}

red_status red_cpu_download(void *device, void *queue, void *to, const void *from, uint64_t offset, uint64_t bytes) {
  (void)device;
  (void)queue;
  if (bytes > 0) memmove(to, (const char *)from + offset, bytes);
  return RED_OK;
}

red_status red_cpu_queue_open(void *device, void *native, void **queue) {
  (void)device;
  *queue = NULL;
  if (native == NULL) return RED_OK;
  return red_fail(RED_ERR_INVALID, "native = %p: the CPU has no queue objects to wrap", native);
}

red_status red_cpu_queue_finish(void *device, void *queue) {
  (void)device;
  (void)queue;
  return RED_OK;
}

void red_cpu_queue_close(void *device, void *queue) {
  (void)device;
  (void)queue;
}
