/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled once for each instruction set, with its flags and -DRED_ISA_name; the compiler's own vectorizer is off, so
 * that a scalar loop stays one. The library's kernels are not used: a roofline that shared code with what is measured
 * against it would share its mistakes.
 */
#include "host_kernels.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(RED_ISA_avx512)
#define TABLE host_kernels_avx512
#define NAME  "avx512"
#elif defined(RED_ISA_avx2)
#define TABLE host_kernels_avx2
#define NAME  "avx2"
#elif defined(RED_ISA_sse2)
#define TABLE host_kernels_sse2
#define NAME  "sse2"
#elif defined(RED_ISA_neon)
#define TABLE host_kernels_neon
#define NAME  "neon"
#else
#define TABLE host_kernels_generic
#define NAME  "generic"
#endif

#if defined(__AVX512F__)
#define VECTOR 64
#elif defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif

enum {
  CHAINS = 8,         /* additions take four cycles, and two may begin in each */
  LANES = VECTOR / 4, /* of f32 */
  AHEAD = 4096,       /* bytes; a page, which hardware prefetchers do not cross */
  BLOCK = CHAINS * VECTOR,
  SLOT_BLOCK = 1024 / 4 /* elements between additions to a slot */
};

typedef uint64_t words __attribute__((vector_size(VECTOR), may_alias, aligned(8)));
typedef float floats __attribute__((vector_size(VECTOR), may_alias, aligned(4)));

/* ---- reading and copying ---- */

static inline __attribute__((always_inline)) uint64_t read_all(const void *from, size_t bytes, int ahead) {
  const char *p = from;
  words all[CHAINS] = {{0}};
  size_t i = 0;
  for (; i + BLOCK <= bytes; i += BLOCK)
    for (int k = 0; k < CHAINS; k++) {
      if (ahead && k * VECTOR % 64 == 0) __builtin_prefetch(p + i + k * VECTOR + AHEAD);
      all[k] |= *(const words *)(p + i + k * VECTOR);
    }
  for (int k = 1; k < CHAINS; k++) all[0] |= all[k];
  uint64_t any = 0;
  for (int lane = 0; lane < VECTOR / 8; lane++) any |= all[0][lane];
  for (; i < bytes; i += 8) {
    uint64_t word;
    memcpy(&word, p + i, sizeof word);
    any |= word;
  }
  return any;
}

static uint64_t read_plain(const void *from, size_t bytes) {
  return read_all(from, bytes, 0);
}

static uint64_t read_ahead(const void *from, size_t bytes) {
  return read_all(from, bytes, 1);
}

static void copy_plain(void *to, const void *from, size_t bytes) {
  const char *p = from;
  char *q = to;
  size_t i = 0;
  for (; i + BLOCK <= bytes; i += BLOCK)
    for (int k = 0; k < CHAINS; k++) *(words *)(q + i + k * VECTOR) = *(const words *)(p + i + k * VECTOR);
  memcpy(q + i, p + i, bytes - i);
}

#if defined(__x86_64__)
/* GCC has no portable word for a store past the caches, so this one needs intrinsics. `q` is aligned to a vector. */
static void store_past(char *q, const char *p) {
#if VECTOR == 64
  _mm512_stream_si512((void *)q, _mm512_loadu_si512(p));
#elif VECTOR == 32
  _mm256_stream_si256((void *)q, _mm256_loadu_si256((const void *)p));
#else
  _mm_stream_si128((void *)q, _mm_loadu_si128((const void *)p));
#endif
}

static void copy_past(void *to, const void *from, size_t bytes) {
  const char *p = from;
  char *q = to;
  size_t i = -(uintptr_t)to % VECTOR;
  if (i > bytes) i = bytes;
  memcpy(q, p, i);
  for (; i + BLOCK <= bytes; i += BLOCK)
    for (int k = 0; k < CHAINS; k++) {
      if (k * VECTOR % 64 == 0) __builtin_prefetch(p + i + k * VECTOR + AHEAD);
      store_past(q + i + k * VECTOR, p + i + k * VECTOR);
    }
  memcpy(q + i, p + i, bytes - i);
  _mm_sfence();
}
#define COPY_PAST copy_past
#else
#define COPY_PAST NULL
#endif

/* ---- sums ---- */

static inline __attribute__((always_inline)) float add_lanes(floats v) {
  float lane[LANES];
  memcpy(lane, &v, sizeof lane);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int k = 0; k < half; k++) lane[k] += lane[k + half];
  return lane[0];
}

static float add_rest(const float *x, size_t i, size_t n, float sum) {
  for (; i < n; i++) sum += x[i];
  return sum;
}

static float sum_one(const float *x, size_t n) {
  return add_rest(x, 0, n, 0);
}

static float sum_four(const float *x, size_t n) {
  float sum[4] = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += x[i + (size_t)k];
  return add_rest(x, i, n, (sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static float sum_inside(const float *x, size_t n) {
  float sum = 0;
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) sum += add_lanes(*(const floats *)(x + i));
  return add_rest(x, i, n, sum);
}

static float sum_after(const float *x, size_t n) {
  floats sum = {0};
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) sum += *(const floats *)(x + i);
  return add_rest(x, i, n, add_lanes(sum));
}

static inline __attribute__((always_inline)) float sum_many(const float *x, size_t n, int ahead) {
  floats sum[CHAINS] = {{0}};
  size_t i = 0;
  for (; i + CHAINS * LANES <= n; i += CHAINS * LANES)
    for (int k = 0; k < CHAINS; k++) {
      if (ahead && k * VECTOR % 64 == 0) __builtin_prefetch((const char *)(x + i + k * LANES) + AHEAD);
      sum[k] += *(const floats *)(x + i + k * LANES);
    }
  for (int k = 1; k < CHAINS; k++) sum[0] += sum[k];
  return add_rest(x, i, n, add_lanes(sum[0]));
}

static float sum_chains(const float *x, size_t n) {
  return sum_many(x, n, 0);
}

static float sum_ahead(const float *x, size_t n) {
  return sum_many(x, n, 1);
}

/* The slot is memory, as a shared array of partial sums is: it must be read and written each time. */
static void sum_into(const float *x, size_t n, float *slot) {
  volatile float *total = slot;
  for (size_t i = 0; i < n; i += SLOT_BLOCK) *total += sum_many(x + i, n - i < SLOT_BLOCK ? n - i : SLOT_BLOCK, 0);
}

const struct host_kernels TABLE = {
    .name = NAME,
    .vector_bytes = VECTOR,
    .read = read_plain,
    .read_ahead = read_ahead,
    .copy = copy_plain,
    .copy_past = COPY_PAST,
    .sum_one = sum_one,
    .sum_four = sum_four,
    .sum_inside = sum_inside,
    .sum_after = sum_after,
    .sum_chains = sum_chains,
    .sum_ahead = sum_ahead,
    .sum_into = sum_into,
};
