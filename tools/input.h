/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One source of elements, handed out in pieces: a mapped file where the kernel can map it, else read(2). Elements in
 * the other byte order are swapped on the way. Nothing is larger in memory than a piece, so the data may be larger than
 * the memory.
 */
#ifndef REDTOOL_INPUT_H
#define REDTOOL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <red/red.h>

#define INPUT_UNKNOWN UINT64_MAX

struct input {
  const char *name; /* for messages */
  int fd;
  bool npy;
  red_dtype dtype;
  size_t width;  /* bytes of an element */
  uint64_t n;    /* elements, or INPUT_UNKNOWN in a raw stream that has not ended */
  uint64_t done; /* elements handed out */
  bool swapped;
  const unsigned char *map; /* the whole file, or NULL */
  size_t map_bytes;
  size_t data_offset;    /* of the first element in the map */
  unsigned char *buffer; /* of a piece, for streams and swapped elements */
  size_t held;           /* bytes at the buffer's start that have been read already */
};

/* Open `path` (- is standard input). `wanted` is --dtype, or RED_DTYPE_DEFAULT: then a .npy header is required. */
int input_open(struct input *in, const char *path, red_dtype wanted);
void input_close(struct input *in);

/*
 * The next piece of at most `most` elements (a power of two up to INPUT_MOST); *count is 0 at the end. The piece is
 * valid until the next call.
 */
int input_next(struct input *in, uint64_t most, const void **piece, uint64_t *count);

/* Pieces of a power of two elements keep the library's nodes complete. */
#define INPUT_MOST   ((uint64_t)1 << 24) /* of a mapped file: large enough that starting a team costs nothing */
#define INPUT_BUFFER ((uint64_t)1 << 22) /* read or swapped */

#endif
