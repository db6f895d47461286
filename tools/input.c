/* SPDX-License-Identifier: BSD-2-Clause */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "report.h"
#include "signals.h"

/* ---- bytes ---- */

/* Read until `bytes` are there or the file ends. */
static int read_fully(struct input *in, void *to, size_t bytes, size_t *got) {
  for (*got = 0; *got < bytes;) {
    const ssize_t r = read(in->fd, (char *)to + *got, bytes - *got);
    if (r == 0) break;
    if (r > 0)
      *got += (size_t)r;
    else if (errno != EINTR)
      return io_error("%s: %s", in->name, strerror(errno));
  }
  return EXIT_OK;
}

static void swap2(unsigned char *to, const unsigned char *from, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    uint16_t word;
    memcpy(&word, from + 2 * i, 2);
    word = (uint16_t)(word << 8 | word >> 8);
    memcpy(to + 2 * i, &word, 2);
  }
}

static void swap4(unsigned char *to, const unsigned char *from, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, from + 4 * i, 4);
    word = __builtin_bswap32(word);
    memcpy(to + 4 * i, &word, 4);
  }
}

static void swap8(unsigned char *to, const unsigned char *from, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    uint64_t word;
    memcpy(&word, from + 8 * i, 8);
    word = __builtin_bswap64(word);
    memcpy(to + 8 * i, &word, 8);
  }
}

static void swap_bytes(unsigned char *to, const unsigned char *from, size_t width, uint64_t count) {
  if (width == 2) swap2(to, from, count);
  if (width == 4) swap4(to, from, count);
  if (width == 8) swap8(to, from, count);
}

static int need_buffer(struct input *in) {
  if (in->buffer) return EXIT_OK;
  in->buffer = malloc(INPUT_BUFFER * in->width);
  if (in->buffer) return EXIT_OK;
  complain("out of memory for a buffer of %" PRIu64 " elements", INPUT_BUFFER);
  return EXIT_LIBRARY;
}

/* ---- opening ---- */

static int settle_raw(struct input *in, red_dtype wanted) {
  if (wanted == RED_DTYPE_DEFAULT) return io_error("%s: not a .npy file; raw elements need --dtype", in->name);
  in->dtype = wanted;
  in->width = red_dtype_bytes(wanted);
  in->n = INPUT_UNKNOWN;
  return EXIT_OK;
}

static int settle_npy(struct input *in, const void *header, size_t bytes, red_dtype wanted) {
  char reason[NPY_REASON_BYTES];
  npy_header parsed;
  if (!npy_parse(header, bytes, wanted, &parsed, reason)) return io_error("%s: %s", in->name, reason);
  in->npy = true;
  in->dtype = parsed.dtype;
  in->width = red_dtype_bytes(parsed.dtype);
  in->swapped = parsed.swapped;
  in->n = parsed.n;
  in->data_offset = parsed.data_offset;
  return EXIT_OK;
}

static int settle_mapped_npy(struct input *in, red_dtype wanted) {
  char reason[NPY_REASON_BYTES];
  size_t bytes;
  if (in->map_bytes < NPY_PREFIX_BYTES) return io_error("%s: the .npy header is truncated", in->name);
  if (!npy_measure(in->map, &bytes, reason)) return io_error("%s: %s", in->name, reason);
  if (bytes > in->map_bytes) return io_error("%s: the .npy header is truncated", in->name);
  const int code = settle_npy(in, in->map, bytes, wanted);
  if (code) return code;
  const uint64_t declared = in->n * in->width, there = in->map_bytes - bytes;
  if (there == declared) return EXIT_OK;
  return io_error("%s: the .npy header declares %" PRIu64 " elements (%" PRIu64 " bytes), but the file holds %" PRIu64
                  " bytes after it",
                  in->name, in->n, declared, there);
}

static int settle_mapped_raw(struct input *in, red_dtype wanted) {
  const int code = settle_raw(in, wanted);
  if (code) return code;
  in->n = in->map_bytes / in->width;
  if (in->map_bytes % in->width == 0) return EXIT_OK;
  return io_error("%s: %zu bytes are not a whole number of %s elements", in->name, in->map_bytes,
                  red_dtype_name(wanted));
}

static int settle_streamed_npy(struct input *in, const unsigned char *prefix, red_dtype wanted) {
  char reason[NPY_REASON_BYTES];
  size_t bytes, got;
  if (!npy_measure(prefix, &bytes, reason)) return io_error("%s: %s", in->name, reason);
  unsigned char *header = malloc(bytes);
  if (!header) {
    complain("out of memory for a .npy header of %zu bytes", bytes);
    return EXIT_LIBRARY;
  }
  memcpy(header, prefix, NPY_PREFIX_BYTES);
  int code = read_fully(in, header + NPY_PREFIX_BYTES, bytes - NPY_PREFIX_BYTES, &got);
  if (!code && NPY_PREFIX_BYTES + got < bytes) code = io_error("%s: the .npy header is truncated", in->name);
  if (!code) code = settle_npy(in, header, bytes, wanted);
  free(header);
  return code;
}

static int settle_stream(struct input *in, red_dtype wanted) {
  unsigned char prefix[NPY_PREFIX_BYTES];
  size_t got;
  int code = read_fully(in, prefix, sizeof prefix, &got);
  if (code) return code;
  if (npy_is_magic(prefix, got)) {
    if (got < sizeof prefix) return io_error("%s: the .npy header is truncated", in->name);
    return settle_streamed_npy(in, prefix, wanted);
  }
  code = settle_raw(in, wanted);
  if (!code) code = need_buffer(in);
  if (code) return code;
  memcpy(in->buffer, prefix, got); /* they were elements */
  in->held = got;
  return EXIT_OK;
}

/* Files that cannot be mapped (pipes, devices, odd file systems) are read. */
static bool map_file(struct input *in, const struct stat *status) {
  if (!S_ISREG(status->st_mode) || status->st_size <= 0 || (uint64_t)status->st_size > SIZE_MAX) return false;
  void *map = mmap(NULL, (size_t)status->st_size, PROT_READ, MAP_PRIVATE, in->fd, 0);
  if (map == MAP_FAILED) return false;
  in->map = map;
  in->map_bytes = (size_t)status->st_size;
  posix_madvise(map, in->map_bytes, POSIX_MADV_SEQUENTIAL);
  signals_add_mapping(in->name, map, in->map_bytes);
  return true;
}

static int open_file(struct input *in, const char *path, red_dtype wanted) {
  struct stat status;
  in->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (in->fd < 0 || fstat(in->fd, &status) != 0) return io_error("%s: %s", path, strerror(errno));
  if (S_ISDIR(status.st_mode)) return io_error("%s: is a directory", path);
  if (S_ISREG(status.st_mode) && status.st_size == 0 && wanted == RED_DTYPE_DEFAULT)
    return io_error("%s: the file is empty, without a .npy header; raw elements need --dtype", path);
  if (!map_file(in, &status)) return settle_stream(in, wanted);
  if (npy_is_magic(in->map, in->map_bytes)) return settle_mapped_npy(in, wanted);
  return settle_mapped_raw(in, wanted);
}

int input_open(struct input *in, const char *path, red_dtype wanted) {
  memset(in, 0, sizeof *in);
  in->fd = -1;
  in->name = path;
  if (strcmp(path, "-") != 0) return open_file(in, path, wanted);
  in->name = "standard input";
  in->fd = STDIN_FILENO;
  return settle_stream(in, wanted);
}

void input_close(struct input *in) {
  signals_remove_mapping(in->map);
  if (in->map) munmap((void *)in->map, in->map_bytes);
  if (in->fd > STDIN_FILENO) close(in->fd);
  free(in->buffer);
  in->map = NULL;
  in->buffer = NULL;
  in->fd = -1;
}

/* ---- pieces ---- */

static int next_mapped(struct input *in, uint64_t wanted, const void **piece) {
  const unsigned char *from = in->map + in->data_offset + in->done * in->width;
  *piece = from;
  if (!in->swapped) return EXIT_OK;
  const int code = need_buffer(in);
  if (code) return code;
  swap_bytes(in->buffer, from, in->width, wanted);
  *piece = in->buffer;
  return EXIT_OK;
}

/* Pages beyond the end of a shrunken file raise SIGBUS, but the rest of its last page reads as zeros. */
static int check_size(const struct input *in) {
  struct stat status;
  if (fstat(in->fd, &status) != 0) return io_error("%s: %s", in->name, strerror(errno));
  if ((uint64_t)status.st_size >= in->map_bytes) return EXIT_OK;
  return io_error("%s: the file shrank while it was read", in->name);
}

/* After the declared elements of a .npy stream nothing may follow, as in a file. */
static int check_nothing_follows(struct input *in) {
  char byte;
  size_t got;
  const int code = read_fully(in, &byte, 1, &got);
  if (code || got == 0) return code;
  return io_error("%s: more bytes follow the %" PRIu64 " elements that the .npy header declares", in->name, in->n);
}

static int next_streamed(struct input *in, uint64_t wanted, const void **piece, uint64_t *count) {
  size_t got;
  int code = need_buffer(in);
  if (!code) code = read_fully(in, in->buffer + in->held, wanted * in->width - in->held, &got);
  if (code) return code;
  got += in->held;
  in->held = 0;
  *count = got / in->width;
  *piece = in->buffer;
  if (in->n != INPUT_UNKNOWN && *count < wanted)
    return io_error("%s: ends after %" PRIu64 " of the %" PRIu64 " elements that the .npy header declares", in->name,
                    in->done + *count, in->n);
  if (got % in->width)
    return io_error("%s: %" PRIu64 " bytes are not a whole number of %s elements", in->name, in->done * in->width + got,
                    red_dtype_name(in->dtype));
  if (*count < wanted) in->n = in->done + *count; /* a raw stream has ended */
  if (in->swapped) swap_bytes(in->buffer, in->buffer, in->width, *count);
  return EXIT_OK;
}

int input_next(struct input *in, uint64_t most, const void **piece, uint64_t *count) {
  const bool buffered = !in->map || in->swapped;
  uint64_t wanted = in->n == INPUT_UNKNOWN ? most : in->n - in->done;
  if (wanted > most) wanted = most;
  if (buffered && wanted > INPUT_BUFFER) wanted = INPUT_BUFFER;
  *count = wanted;
  if (wanted == 0) return in->map ? check_size(in) : in->npy ? check_nothing_follows(in) : EXIT_OK;
  const int code = in->map ? next_mapped(in, wanted, piece) : next_streamed(in, wanted, piece, count);
  if (!code) in->done += *count;
  return code;
}
