/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums that others compute, of a stream of numbers, in f32 or f64 arithmetic: what canonical ones are compared
 * with. */
#ifndef REDTOOL_NAIVE_H
#define REDTOOL_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

enum naive_method {
  NAIVE_SERIAL,   /* one after the other */
  NAIVE_PAIRWISE, /* adjacent pairs, pairs of those, ... */
  NAIVE_KAHAN,    /* with the lost digits of the sum so far (Kahan 1965) */
  NAIVE_NEUMAIER, /* with the lost digits of either operand, added at the end (Neumaier 1974) */
  NAIVE_METHODS
};

struct naive {
  bool narrow; /* f32 */
  double serial;
  double pairs[64]; /* of 2^i numbers, where bit i of the count is set */
  uint64_t count;
  double kahan, kahan_lost;
  double neumaier, neumaier_lost;
};

void naive_begin(struct naive *sums, bool narrow);
void naive_add(struct naive *sums, double x);
double naive_result(const struct naive *sums, enum naive_method method);
const char *naive_name(enum naive_method method);

#endif
