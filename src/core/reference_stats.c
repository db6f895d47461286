/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oracle of statistics, written straight from docs/numerics.md: its parts are reductions by the oracle, the mean of
 * integers is an exact quotient, and the variance goes down its tree by recursion.
 */
#include <math.h>
#include <string.h>

#include "half.h"
#include "reference.h"
#include "status.h"
#include "tables.h"

/* ---- Elements ---- */

static red_scalar scalar_at(red_dtype dtype, const void *in, uint64_t i) {
  red_scalar scalar = {.u64 = 0};
  memcpy(&scalar, (const unsigned char *)in + i * red_dtype_bytes(dtype), red_dtype_bytes(dtype));
  return scalar;
}

static __int128 whole_at(red_dtype dtype, const void *in, uint64_t i) {
  red_scalar scalar = scalar_at(dtype, in, i);
  switch (dtype) {
  case RED_I8:
    return scalar.i8;
  case RED_I16:
    return scalar.i16;
  case RED_I32:
    return scalar.i32;
  case RED_I64:
    return scalar.i64;
  default:
    return scalar.u64;
  }
}

/* In f64: exact but for integers of 64 bits, which are rounded. */
static double real_at(red_dtype dtype, const void *in, uint64_t i) {
  if (red_dtype_is_float(dtype))
    return red_reference_real(dtype, (const unsigned char *)in + i * red_dtype_bytes(dtype));
  return (double)whole_at(dtype, in, i);
}

/* ---- Mean and NaN count ---- */

double red_reference_divide(__int128 sum, uint64_t count) {
  bool negative = sum < 0;
  unsigned __int128 rest = negative ? -(unsigned __int128)sum : (unsigned __int128)sum;
  /* Schoolbook binary division: integer part, then fraction bits, until 55 significant bits and a sticky one. */
  unsigned __int128 whole = rest / count;
  rest %= count;
  int exponent = 0;
  while (whole >> 55 == 0 && exponent > -200) {
    rest *= 2;
    whole = whole * 2 + (rest >= count);
    if (rest >= count) rest -= count;
    exponent--;
  }
  bool sticky = rest != 0;
  while (whole >> 56 != 0) {
    sticky |= (whole & 1) != 0;
    whole >>= 1;
    exponent++;
  }
  double mean = ldexp((double)(int64_t)((uint64_t)whole | sticky), exponent);
  return negative ? -mean : mean;
}

static red_status reduce(red_op op, red_dtype in, red_dtype out, const void *data, uint64_t n, red_scalar *result) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  problem.out = out;
  return red_reference_in_fpenv(&problem, data, NULL, result);
}

static double mean_of(red_dtype dtype, const void *in, uint64_t n) {
  if (!red_dtype_is_float(dtype)) {
    __int128 sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += whole_at(dtype, in, i);
    return red_reference_divide(sum, n);
  }
  red_dtype acc = dtype == RED_F64 ? RED_F64 : RED_F32;
  red_scalar sum;
  reduce(RED_SUM, dtype, acc, in, n, &sum);
  return real_at(acc, &sum, 0) / (double)n;
}

static uint64_t count_nans(red_dtype dtype, const void *in, uint64_t n) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < n; i++) count += isnan(real_at(dtype, in, i)) != 0;
  return count;
}

/* ---- Variance ---- */

typedef struct moments {
  uint64_t count;
  double mean, mean_low, squares;
} moments;

/* The sum of two doubles without error. */
static void two_sum(double a, double b, double *sum, double *error) {
  *sum = a + b;
  double b_part = *sum - a, a_part = *sum - b_part;
  *error = (a - a_part) + (b - b_part);
}

/* Fold the first `count` of `lanes` values by halving. */
static double fold(double *value, uint64_t lanes, uint64_t count) {
  for (uint64_t half = lanes / 2; half > 0; half /= 2)
    for (uint64_t l = 0; l < half && l + half < count; l++) value[l] += value[l + half];
  return value[0];
}

static moments chunk_moments(red_dtype dtype, const void *in, uint64_t first, uint64_t n, uint64_t lanes) {
  double sums[128], squares[128];
  uint64_t row = n < lanes ? n : lanes;
  double origin = real_at(dtype, in, first);
  for (uint64_t l = 0; l < row; l++) sums[l] = real_at(dtype, in, first + l) - origin;
  double shift = origin + fold(sums, lanes, row) / (double)row;
  for (uint64_t i = 0; i < n; i++) {
    double difference = real_at(dtype, in, first + i) - shift, square = difference * difference;
    uint64_t l = i % lanes;
    sums[l] = i < lanes ? difference : sums[l] + difference;
    squares[l] = i < lanes ? square : squares[l] + square;
  }
  double sum = fold(sums, lanes, row), offset = sum / (double)n;
  moments node = {.count = n, .squares = fold(squares, lanes, row) - sum * offset};
  if (node.squares < 0) node.squares = 0;
  two_sum(shift, offset, &node.mean, &node.mean_low);
  return node;
}

static moments merge(moments a, moments b) {
  moments both = {.count = a.count + b.count};
  double share = (double)b.count / (double)both.count;
  double delta = (b.mean - a.mean) + (b.mean_low - a.mean_low);
  both.squares = (a.squares + b.squares) + (delta * delta) * ((double)a.count * share);
  two_sum(a.mean, a.mean_low + delta * share, &both.mean, &both.mean_low);
  return both;
}

/* The left child of a node is the largest complete subtree that leaves something to the right one. */
static moments tree_moments(red_dtype dtype, const void *in, uint64_t first, uint64_t n, uint64_t chunk) {
  if (n <= chunk) return chunk_moments(dtype, in, first, n, chunk / 32);
  uint64_t left = chunk;
  while (2 * left < n) left *= 2;
  return merge(tree_moments(dtype, in, first, left, chunk), tree_moments(dtype, in, first + left, n - left, chunk));
}

static void add_variance(red_dtype dtype, const void *in, uint64_t n, red_stats_result *result) {
  moments root = tree_moments(dtype, in, 0, n, red_dtype_bytes(dtype) == 8 ? 2048 : 4096);
  result->squared_deviations = red_canonical_f64(root.squares);
  result->variance = red_canonical_f64(root.squares / (double)n);
  result->sample_variance = red_canonical_f64(root.squares / (double)(n - 1));
}

/* ---- All parts ---- */

red_status red_reference_stats(const red_problem *problem, const red_lowered *lowered, const void *in, void *out) {
  const red_dtype dtype = problem->in;
  const uint64_t n = problem->n;
  const unsigned wanted = lowered->stats;
  red_stats_result result;
  red_scalar index;
  memset(&result, 0, sizeof result);
  if (n == 0) return red_fail(RED_ERR_EMPTY, "n = 0: statistics have no result for empty input");
  result.size = sizeof result;
  if (wanted & RED_STAT_COUNT) result.count = n;
  if (wanted & RED_STAT_NAN_COUNT) result.nan_count = count_nans(dtype, in, n);
  if (wanted & RED_STAT_MEAN) result.mean = red_canonical_f64(mean_of(dtype, in, n));
  if (wanted & RED_STAT_VARIANCE) add_variance(dtype, in, n, &result);
  if (wanted & RED_STAT_SUM) reduce(RED_SUM, dtype, RED_DTYPE_DEFAULT, in, n, &result.sum);
  if (wanted & RED_STAT_MIN) reduce(RED_MIN, dtype, RED_DTYPE_DEFAULT, in, n, &result.min);
  if (wanted & RED_STAT_MAX) reduce(RED_MAX, dtype, RED_DTYPE_DEFAULT, in, n, &result.max);
  if (wanted & RED_STAT_ARGMIN && reduce(RED_ARGMIN, dtype, RED_DTYPE_DEFAULT, in, n, &index) == RED_OK)
    result.argmin = index.u64;
  if (wanted & RED_STAT_ARGMAX && reduce(RED_ARGMAX, dtype, RED_DTYPE_DEFAULT, in, n, &index) == RED_OK)
    result.argmax = index.u64;
  memcpy(out, &result, sizeof result);
  return RED_OK;
}
