/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: loading saved accumulators. The input is what lies between the length and the checksum, which are
 * put around it. What is accepted is saved and loaded again to the same bytes, merges with itself or says why not, and
 * has a result or says why not; there is no device here, so elements that wait have none. Built by run.sh.
 */
#include <stdlib.h>
#include <string.h>

#include <red/red.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  HEAD = 16, /* magic, version, length */
  SUM = 8
};

static void put_sum(uint8_t *bytes, size_t size) {
  uint64_t digest = 0xcbf29ce484222325u; /* FNV-1a */
  for (size_t i = 0; i < size; i++) digest = (digest ^ bytes[i]) * 0x100000001b3u;
  memcpy(bytes + size, &digest, SUM);
}

static uint8_t *envelope(const uint8_t *data, size_t size, size_t *whole) {
  const uint64_t length = *whole = HEAD + size + SUM;
  uint8_t *bytes = malloc(*whole);
  if (bytes == NULL) return NULL;
  memcpy(bytes, "red-acc\1", 8);
  memcpy(bytes + 8, &length, 8);
  memcpy(bytes + HEAD, data, size);
  put_sum(bytes, HEAD + size);
  return bytes;
}

static void check_sentence(red_status status) {
  const char *sentence = red_last_error();
  if (status != RED_OK && (sentence == NULL || *sentence == '\0')) abort();
}

static uint8_t *save(const red_accumulator *acc, size_t *size) {
  if (red_accumulator_save(acc, NULL, 0, size) != RED_OK) abort();
  uint8_t *bytes = malloc(*size);
  size_t written;
  if (bytes == NULL) abort();
  if (red_accumulator_save(acc, bytes, *size, &written) != RED_OK || written != *size) abort();
  return bytes;
}

/* The bytes of a value are found by one save; from then on they stay. */
static red_accumulator *check_round_trip(const red_accumulator *acc) {
  red_accumulator *again;
  size_t size, size_again;
  uint8_t *bytes = save(acc, &size), *bytes_again;
  if (red_accumulator_load(NULL, bytes, size, &again) != RED_OK) abort();
  if (red_accumulator_count(again) != red_accumulator_count(acc)) abort();
  bytes_again = save(again, &size_again);
  if (size != size_again || memcmp(bytes, bytes_again, size) != 0) abort();
  free(bytes);
  free(bytes_again);
  return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  red_accumulator *acc;
  union {
    red_scalar scalar;
    red_bounded bounded;
    red_stats_result stats;
  } result = {.stats = {.size = sizeof result.stats}};
  size_t whole;
  uint8_t *bytes = envelope(data, size, &whole);
  if (bytes == NULL) return 0;
  red_status status = red_accumulator_load(NULL, bytes, whole, &acc);
  check_sentence(status);
  if (status == RED_OK) {
    red_accumulator *again = check_round_trip(acc);
    check_sentence(red_accumulator_result(acc, &result));
    check_sentence(red_accumulator_merge(acc, again));
    check_sentence(red_accumulator_result(acc, &result));
    red_accumulator_destroy(acc);
    red_accumulator_destroy(again);
  }
  free(bytes);
  return 0;
}
