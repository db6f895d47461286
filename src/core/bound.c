/* SPDX-License-Identifier: BSD-2-Clause */
/* Error bounds: of canonical float sums, sums of products and what is made of them, from the depth of their trees. */
#include <math.h>

#include <string.h>

#include "bound.h"
#include "fpenv.h"
#include "status.h"

static unsigned log2_up(uint64_t x) {
  unsigned k = 0;
  while (k < 64 && ((uint64_t)1 << k) < x) k++;
  return k;
}

/* Additions between an element and the result: rows, lanes, tree (`sum-1`). */
static unsigned reduce_depth(const red_lowered *lowered) {
  if (lowered->n == 0) return 0;
  uint64_t n = lowered->n, lanes = 512u / lowered->acc_bytes, chunk = red_chunk_elements(lowered);
  uint64_t in_chunk = n < chunk ? n : chunk;
  uint64_t rows = (in_chunk + lanes - 1) / lanes;
  return (unsigned)(rows - 1) + log2_up(in_chunk < lanes ? in_chunk : lanes) + log2_up((n + chunk - 1) / chunk);
}

/* P(k) is a sum of at most log2 k nodes of depth at most log2 k (`scan-1`). */
static unsigned scan_depth(uint64_t k) {
  return 2 * log2_up(k);
}

/* A few units in the last place up: more than the handful of roundings in computing the bound itself. */
static double round_up(double x) {
  return x * (1 + 0x1p-48) + 0x1p-1074;
}

static double unit_roundoff(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return 0x1p-11;
  case RED_BF16:
    return 0x1p-8;
  case RED_F32:
    return 0x1p-24;
  default:
    return 0x1p-53;
  }
}

/* The smallest subnormal of an accumulator, more than what a product loses where it underflows. */
static double smallest(red_dtype acc) {
  return acc == RED_F64 ? 0x1p-1074 : 0x1p-149;
}

/* Half the smallest subnormal: the most that rounding to the type adds where its relative precision ends. */
static double smallest_step(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return 0x1p-25;
  case RED_BF16:
    return 0x1p-134;
  case RED_F32:
    return 0x1p-150;
  default:
    return 0;
  }
}

/* Sums from here on may round to infinity in the type: the midpoint between its greatest number and the next power. */
static double overflow_from(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return 0x1.ffep15;
  case RED_BF16:
    return 0x1.ffp127;
  case RED_F32:
    return 0x1.ffffffp127;
  default:
    return INFINITY;
  }
}

/* The most that rounding to the type has changed a number that is `rounded` now. */
static double rounding_bound(red_dtype dtype, double rounded) {
  if (isinf(rounded)) return INFINITY;
  const double u = unit_roundoff(dtype);
  return round_up(u * (rounded + smallest_step(dtype)) / (1 - u) + smallest_step(dtype));
}

/*
 * A norm is the root of a sum of exact squares, whose relative error gamma is at most gamma / (2 - gamma) of the root:
 * |sqrt(1 + t) - 1| = |t| / (1 + sqrt(1 + t)).
 */
static double norm_bound(const red_lowered *lowered, double norm) {
  const double k = reduce_depth(lowered), u = unit_roundoff(lowered->acc), gamma = k * u / (1 - k * u);
  const double rounding = rounding_bound(lowered->out, norm), root = norm + rounding, relative = gamma / (2 - gamma);
  return round_up(rounding + root * relative / (1 - relative));
}

static double gamma_of(unsigned k, double u) {
  return k * u / (1 - k * u);
}

static double sum_bound(const red_lowered *lowered, double abs_sum) {
  uint64_t n = lowered->n;
  bool exclusive = lowered->kind == RED_EXCLUSIVE_SCAN, mean = lowered->finish == RED_FINISH_MEAN;
  bool products = lowered->map == RED_MAP_PRODUCT || lowered->map == RED_MAP_SQUARE;
  unsigned more = (lowered->has_init ? 1u : 0u) + (products ? 1u : 0u), of_abs_sum = reduce_depth(lowered) + more;
  unsigned k = lowered->kind == RED_REDUCE ? of_abs_sum : scan_depth(exclusive ? n - 1 : n) + more;
  double u = unit_roundoff(lowered->acc), underflow = products ? round_up((double)n * smallest(lowered->acc)) : 0;
  double gamma = gamma_of(k, u);
  double exact_abs = round_up((abs_sum + underflow) / (1 - gamma_of(of_abs_sum, u))); /* it has an error itself */
  double bound = round_up(gamma * exact_abs + underflow), finish = unit_roundoff(lowered->out);
  if (mean) {
    exact_abs = round_up(exact_abs / (double)n);
    bound = round_up(bound / (double)n);
    if (n >> 53 != 0) finish += 0x1p-52; /* the divisor is rounded, too */
  }
  /* Partial sums of the absolute values in another order, as a scan's are, may be greater than these all together. */
  red_dtype narrower = lowered->out_bytes < lowered->acc_bytes ? lowered->out : lowered->acc;
  if (exact_abs + bound >= overflow_from(narrower)) return INFINITY;
  bool rounded = mean || lowered->out_bytes < lowered->acc_bytes;
  if (rounded) return round_up(bound + finish * (exact_abs + bound) + smallest_step(lowered->out));
  return k == 0 ? 0 : bound;
}

static double any_bound(const red_lowered *lowered, double magnitude) {
  if (lowered->n == 0 && (!lowered->has_init || lowered->kind != RED_REDUCE)) return 0;
  if (lowered->exact) return rounding_bound(lowered->out, magnitude);
  return lowered->finish == RED_FINISH_ROOT ? norm_bound(lowered, magnitude) : sum_bound(lowered, magnitude);
}

/* Inf - Inf and the like, or NaNs in the input: nothing is known. */
static double bound_of(const red_lowered *lowered, double magnitude) {
  const double bound = isnan(magnitude) ? INFINITY : any_bound(lowered, magnitude);
  return isnan(bound) ? INFINITY : bound;
}

red_status red_error_bound(const red_problem *problem, double abs_sum, double *bound) {
  if (bound == NULL) return red_fail(RED_ERR_INVALID, "bound is NULL");
  red_lowered lowered;
  red_status status = red_lower(problem, &lowered);
  if (status != RED_OK) return status;
  bool sums = lowered.family == RED_FAMILY_ADD && (lowered.canonical || lowered.exact);
  if (!sums || lowered.kind == RED_STATS)
    return red_fail(RED_ERR_UNSUPPORTED,
                    "problem: bounds exist for sums of floats only: sum, dot, asum, sumsq, nrm2 and mean");
  if (!(abs_sum >= 0)) return red_fail(RED_ERR_INVALID, "abs_sum = %g: expected a sum of absolute values", abs_sum);
  red_fpenv saved = red_fpenv_enter();
  *bound = bound_of(&lowered, abs_sum);
  red_fpenv_leave(saved);
  return RED_OK;
}

/* ---- Results with their bounds ---- */

/* `magnitude` as red_error_bound takes it; `out` may have any alignment. */
static red_status write_bounded(const red_lowered *lowered, const red_scalar *value, double magnitude, uint64_t count,
                                void *out) {
  red_lowered whole = *lowered;
  whole.n = count;
  const red_bounded result = {.value = *value, .bound = bound_of(&whole, magnitude)};
  memcpy(out, &result, sizeof result);
  return RED_OK;
}

/* The sum of magnitudes with that of the initial value, the leftmost operand. */
static double sum_of_magnitudes(const red_lowered *lowered, red_state size, uint64_t count) {
  const bool wide = lowered->acc == RED_F64;
  const double sum = wide ? size.f64 : (double)size.f32;
  if (!lowered->has_init) return sum;
  const double init = fabs(red_float_value(lowered->acc, &lowered->init));
  if (count == 0) return init;
  return wide ? init + sum : (double)((float)init + (float)sum);
}

red_status red_bound_finish(const red_lowered *lowered, const red_pair *pair, uint64_t count, void *out) {
  red_scalar value = {.u64 = 0};
  red_status status = red_state_finish(lowered, pair->sum, count, &value);
  if (status != RED_OK) return status;
  const bool root = lowered->finish == RED_FINISH_ROOT;
  const double magnitude =
      root ? fabs(red_float_value(lowered->out, &value)) : sum_of_magnitudes(lowered, pair->size, count);
  return write_bounded(lowered, &value, magnitude, count, out);
}

red_status red_bound_finish_exact(const red_lowered *lowered, const red_exact *sum, uint64_t count, void *out) {
  if (!lowered->bounded) return red_exact_finish(lowered, sum, count, out);
  red_scalar value = {.u64 = 0};
  red_status status = red_exact_finish(lowered, sum, count, &value);
  return status == RED_OK ? write_bounded(lowered, &value, fabs(red_float_value(lowered->out, &value)), count, out)
                          : status;
}
