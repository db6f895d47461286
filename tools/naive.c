/* SPDX-License-Identifier: BSD-2-Clause */
#include "naive.h"

#include <math.h>
#include <string.h>

/* Rounding a double sum of two f32 to f32 is rounding the exact one: a double has more than twice the digits. */
static double rounded(const struct naive *sums, double x) {
  return sums->narrow ? (double)(float)x : x;
}

static double plus(const struct naive *sums, double a, double b) {
  return rounded(sums, a + b);
}

void naive_begin(struct naive *sums, bool narrow) {
  memset(sums, 0, sizeof *sums);
  sums->narrow = narrow;
}

static void add_pair(struct naive *sums, double x) {
  unsigned level = 0;
  for (uint64_t k = sums->count; k & 1; k >>= 1) x = plus(sums, sums->pairs[level++], x);
  sums->pairs[level] = x;
}

static void add_kahan(struct naive *sums, double x) {
  const double y = plus(sums, x, -sums->kahan_lost), total = plus(sums, sums->kahan, y);
  sums->kahan_lost = plus(sums, plus(sums, total, -sums->kahan), -y);
  sums->kahan = total;
}

static void add_neumaier(struct naive *sums, double x) {
  const double sum = sums->neumaier, total = plus(sums, sum, x);
  const double large = fabs(sum) >= fabs(x) ? sum : x, small = fabs(sum) >= fabs(x) ? x : sum;
  sums->neumaier_lost = plus(sums, sums->neumaier_lost, plus(sums, plus(sums, large, -total), small));
  sums->neumaier = total;
}

void naive_add(struct naive *sums, double x) {
  sums->serial = plus(sums, sums->serial, x);
  add_pair(sums, x);
  add_kahan(sums, x);
  add_neumaier(sums, x);
  sums->count++;
}

/* The largest blocks come first: each takes the whole of what follows it as its right neighbour. */
static double pairwise(const struct naive *sums) {
  double sum = 0;
  bool any = false;
  for (unsigned level = 0; level < 64; level++) {
    if (!(sums->count >> level & 1)) continue;
    sum = any ? plus(sums, sums->pairs[level], sum) : sums->pairs[level];
    any = true;
  }
  return sum;
}

double naive_result(const struct naive *sums, enum naive_method method) {
  switch (method) {
  case NAIVE_SERIAL:
    return sums->serial;
  case NAIVE_PAIRWISE:
    return pairwise(sums);
  case NAIVE_KAHAN:
    return sums->kahan;
  default:
    return plus(sums, sums->neumaier, sums->neumaier_lost);
  }
}

const char *naive_name(enum naive_method method) {
  static const char *const names[NAIVE_METHODS] = {"serial", "pairwise", "Kahan", "Neumaier"};
  return names[method];
}
