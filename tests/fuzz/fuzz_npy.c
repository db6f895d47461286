/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: the .npy header reader of redtool. The first byte picks the dtype that the user asked for, the rest
 * is the file. Build: clang -fsanitize=fuzzer,address,undefined -I include -I tools fuzz_npy.c tools/npy.c -lred
 */
#include <stdlib.h>
#include <string.h>

#include "npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What every accepted header promises to the code that maps or reads the elements. */
static void check_promises(const npy_header *parsed, size_t header_bytes) {
  const size_t width = red_dtype_bytes(parsed->dtype);
  if (width == 0 || parsed->data_offset != header_bytes) abort();
  if (parsed->n > INT64_MAX / width) abort();
  if (parsed->swapped && width == 1) abort();
}

/* What is written reads back. */
static void check_round_trip(const npy_header *parsed) {
  char header[NPY_WRITTEN_BYTES], reason[NPY_REASON_BYTES];
  npy_header again;
  size_t bytes;
  npy_write(header, parsed->dtype, parsed->n);
  if (!npy_measure(header, &bytes, reason) || bytes != sizeof header) abort();
  if (!npy_parse(header, bytes, parsed->dtype, &again, reason)) abort();
  if (again.dtype != parsed->dtype || again.n != parsed->n || again.swapped) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char reason[NPY_REASON_BYTES] = "";
  npy_header parsed;
  size_t bytes;
  if (size < 1 + NPY_PREFIX_BYTES) return 0;
  const red_dtype wanted = (red_dtype)(data[0] % RED_DTYPE_COUNT);
  data++, size--;
  if (!npy_is_magic(data, size) || !npy_measure(data, &bytes, reason) || bytes > size) return 0;
  /* A copy of exactly this length, so that a read beyond it is seen. */
  uint8_t *header = malloc(bytes);
  if (!header) return 0;
  memcpy(header, data, bytes);
  if (npy_parse(header, bytes, wanted, &parsed, reason)) {
    check_promises(&parsed, bytes);
    check_round_trip(&parsed);
  } else if (memchr(reason, 0, sizeof reason) == NULL || reason[0] == 0)
    abort();
  free(header);
  return 0;
}
