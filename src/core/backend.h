/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole contract between the core and a backend. A backend is one folder src/backend_NAME/ and one constant
 * `const red_backend red_backend_NAME`; the build lists them. The core validates, lowers and picks the device before
 * it calls; a backend never calls another one. Every slot that fails sets the error sentence (status.h).
 */
#ifndef RED_CORE_BACKEND_H
#define RED_CORE_BACKEND_H

#include "exact.h"
#include "state.h"
#include "status.h"

#define RED_BACKEND_ABI 3u

/* Arguments of one execution; the core has checked them against the problem. */
typedef struct red_exec {
  const void *in; /* pointers, or handles such as cl_mem, plus offsets in bytes */
  uint64_t in_offset;
  const void *in2; /* RED_MAP_PRODUCT: the second input, in the same memory; else NULL */
  uint64_t in2_offset;
  void *out;
  uint64_t out_offset;
  /* At least the plan's size; NULL: the backend takes it from its own pool, in the order of the queue. */
  void *workspace;
  uint64_t workspace_offset;
  /*
   * Scans in pieces: if not NULL, the core asks for the ordered total of the n inputs without init, node(b, 0) of the
   * scan tree. Set only for host memory, and n is then a power of two.
   */
  red_state *total;
  /* RED_STATS, if not NULL (of host memory always): fill this instead of `out`; the core finishes. Indices count from
   * 0. */
  red_stats_state *stats;
  /* Exact reductions into host memory (on_host: into any): fill this instead of `out`; the core finishes. */
  red_exact *exact;
  /* Exact reductions: the core does nothing with *exact but finish it, so any sum with the true result will do. */
  bool result_only;
  /* Bounded reductions that are not exact: fill this with raw states instead of `out`; the core finishes. */
  red_pair *pair;
} red_exec;

/*
 * A whole reduction or scan of n > 0 elements in host memory, done so that the call itself costs little. The core has
 * checked the arguments; lowered->n may be another number, as calls share what was lowered once.
 */
typedef red_status red_small_fn(void *device, const red_lowered *lowered, const void *in, const void *in2, uint64_t n,
                                void *out);

typedef struct red_backend {
  unsigned abi;     /* RED_BACKEND_ABI */
  const char *name; /* as in RED_BACKEND */
  /*
   * Automatic choice: the CPU backend works where host data lies; among the others the highest score wins and an entry
   * of score 0 is never taken unless named.
   */
  bool on_host;   /* its memory is host memory; executing needs no plan (plan, queue and workspace slots may be NULL) */
  bool addresses; /* device memory is named by addresses (not handles), so overlaps can be seen */

  /*
   * Fill up to `capacity` entries and say how many there are, at least one: an unavailable one with its reason. `item`
   * is what a list asks for, "opencl:1.0", or NULL: whatever it does not name may be left out, all of it if need be.
   */
  size_t (*probe)(const char *item, red_device_info *list, int *scores, size_t capacity);
  /* Open the device `id` of a probed entry; options->native_* may name objects to share. */
  red_status (*open)(const char *id, const red_context_options *options, void **device);
  void (*close)(void *device);
  /* What an open device is, in more detail than probing knew. */
  void (*describe)(void *device, red_device_info *info);

  red_status (*alloc)(void *device, uint64_t bytes, void **memory);
  void (*free)(void *device, void *memory);
  /* Blocking, in order after the work in `queue` (NULL: the device's own queue). */
  red_status (*upload)(void *device, void *queue, void *to, uint64_t offset, const void *from, uint64_t bytes);
  red_status (*download)(void *device, void *queue, void *to, const void *from, uint64_t offset, uint64_t bytes);

  /* `native` NULL: a new queue. Closing a wrapped queue leaves the application's object alone. */
  red_status (*queue_open)(void *device, void *native, void **queue);
  red_status (*queue_finish)(void *device, void *queue);
  void (*queue_close)(void *device, void *queue);

  /* RED_OK, or RED_ERR_UNSUPPORTED with the sentence. A query: no side effects. NULL: everything. */
  red_status (*supports)(void *device, const red_lowered *lowered);
  /* Choose kernels and geometry; the result is immutable and shared between threads. *workspace in bytes. */
  red_status (*plan)(void *device, const red_lowered *lowered, void **plan, uint64_t *workspace);
  void (*unplan)(void *device, void *plan);
  /*
   * Enqueue (device memory) or compute (host memory); queue NULL: the device's own queue, and wait for the result.
   * n = 0 reaches a backend only if the result lies on the device: it is init or lowered->identity. A device result of
   * an arg operator that found nothing is UINT64_MAX.
   */
  red_status (*execute)(void *device, const void *plan, const red_lowered *lowered, void *queue, const red_exec *exec);
  /* on_host: how to do problems like this one of at most red_chunk_elements; NULL: by `execute`. NULL: all are. */
  red_small_fn *(*small)(void *device, const red_lowered *lowered);

  /* Has the open device passed its known-answer test elsewhere? NULL: no, so that the core runs it. */
  bool (*has_passed)(const void *device);
} red_backend;

#endif
