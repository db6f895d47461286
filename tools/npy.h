/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of a .npy file (NumPy enhancement proposal 1 and numpy.lib.format), read and written in memory.
 * Versions 1 to 3, either byte order; arrays of any number of dimensions count as their elements in memory order.
 */
#ifndef REDTOOL_NPY_H
#define REDTOOL_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <red/red.h>

enum {
  NPY_PREFIX_BYTES = 12,    /* enough to know how long the header is */
  NPY_WRITTEN_BYTES = 128,  /* length of a header that npy_write makes, whatever the shape */
  NPY_MOST_BYTES = 1 << 20, /* longer headers are refused */
  NPY_REASON_BYTES = 256
};

typedef struct npy_header {
  red_dtype dtype;
  bool swapped; /* the elements are in the other byte order than this machine's */
  bool fortran_order;
  unsigned dimensions;
  uint64_t n;         /* product of the shape; n times the element size fits into 63 bits */
  size_t data_offset; /* bytes before the first element */
} npy_header;

/* Whether the first bytes of a file are those of a .npy file; `bytes` may be fewer than NPY_PREFIX_BYTES. */
bool npy_is_magic(const void *prefix, size_t bytes);

/*
 * How long the header is, preamble included, from the first NPY_PREFIX_BYTES. False, with the reason, if the version
 * is unknown or the length absurd.
 */
bool npy_measure(const void *prefix, size_t *header_bytes, char reason[NPY_REASON_BYTES]);

/*
 * Parse a whole header of npy_measure's length. `wanted` is the dtype the user asked for, or RED_DTYPE_DEFAULT: it must
 * agree with the header, and RED_BF16 also takes 2-byte void and u2, for NumPy has no descr of its own for it.
 */
bool npy_parse(const void *header, size_t header_bytes, red_dtype wanted, npy_header *parsed,
               char reason[NPY_REASON_BYTES]);

/* The header of a 1-d array in this machine's byte order; bf16 is written as 2-byte void, as ml_dtypes does. */
void npy_write(char header[NPY_WRITTEN_BYTES], red_dtype dtype, uint64_t n);

#endif
