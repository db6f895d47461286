/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a scan's elements travel: from the input's dtype into the lanes that are scanned and on to the output's dtype.
 * Where both are the lane's own type the kernel reads and writes the arrays; else tiles are converted in cache.
 */
#ifndef RED_OMP_SCAN_JOB_H
#define RED_OMP_SCAN_JOB_H

#include "room.h"

/* Elements of a tile; with 8-byte lanes two tiles fill half a first-level cache. */
#define RED_TILE 1024

typedef struct red_scan_job {
  const red_kernels *kernels;
  const red_lowered *lowered;
  red_lane_op op;
  red_scan_fn *scan;        /* of lanes; sums in 64 bits extend shorter integers themselves where they can */
  unsigned flags;           /* of the kernel */
  bool is_flag;             /* elements become 0 or 1 first */
  red_convert_fn *load;     /* to lanes, or NULL */
  red_convert_fn *store[3]; /* from lanes, the first NULL ends them */
  const uint8_t *in;
  uint8_t *out;
} red_scan_job;

void red_scan_job_begin(red_scan_job *job, const red_kernels *kernels, const red_lowered *lowered, const void *in,
                        void *out);

/* P(0) as the kernel's states have it: init, or the identity. */
red_state red_scan_before(const red_scan_job *job);

/*
 * Scan [first, first + n), `first` a multiple of a power of two >= n or 0; returns the node if n is a power of two.
 * On the way half as many elements are prefetched from element `ahead` on, if that is not 0.
 */
red_state red_scan_piece(const red_scan_job *job, uint64_t first, uint64_t n, red_state before, uint64_t ahead);

/* The node of [first, first + n), n a power of two and `first` a multiple of it; `ahead` as above. */
red_state red_scan_node(const red_scan_job *job, uint64_t first, uint64_t n, uint64_t ahead);

/* a op b in the kernel's states. */
red_state red_scan_merge(const red_scan_job *job, red_state a, red_state b);

/* P(k) while nodes of one size are appended: the kernels' two stacks, on the host. */
typedef struct red_prefix {
  uint64_t k;
  red_state prefix[65], node[64];
} red_prefix;

void red_prefix_begin(red_prefix *prefix, red_state before);
void red_prefix_append(red_prefix *prefix, const red_scan_job *job, red_state node);
static inline red_state red_prefix_now(const red_prefix *prefix) {
  return prefix->prefix[0];
}

/*
 * A piece's last inclusive output is P(end), whose carry ripples through the nodes before the piece: it is written from
 * the prefix once the piece's own node has been appended. (Canonical scans only: elsewhere the kernel's is the same.)
 */
void red_scan_store_end(const red_scan_job *job, const red_prefix *prefix, uint64_t end);

#endif
