/* SPDX-License-Identifier: BSD-2-Clause */
/* The input, the output and a buffer to sweep caches with, in host memory; and how much of it may be taken. */
#ifndef REDTOOL_BENCH_ARRAYS_H
#define REDTOOL_BENCH_ARRAYS_H

#include "bench/cases.h"

struct arrays {
  void *in, *out; /* at least a page each */
  uint64_t in_bytes, out_bytes;
  void *sweep; /* larger than all caches together; NULL unless cold samples are wanted */
  uint64_t sweep_bytes;
  unsigned threads; /* that sweep */
};

/*
 * Half of the memory that is free at the start may be used. Whether all cases fit, with `copies` of the arrays in host
 * memory; if one does not, EXIT_LIBRARY and a sentence.
 */
int arrays_check(const struct cases *cases, size_t copies, int cold);

/* Arrays for a case, the input filled. arrays_free in any case. */
int arrays_make(struct arrays *arrays, const struct bench_case *c);
void arrays_free(struct arrays *arrays);

/* The buffer that cold samples read through beforehand; it stays for all cases. */
int arrays_make_sweep(struct arrays *arrays);
void arrays_free_sweep(struct arrays *arrays);
void arrays_chill(const struct arrays *arrays);

#endif
