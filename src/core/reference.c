/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oracle: reduce and scan (reference_stats.c: statistics) written straight from docs/numerics.md, one element at a
 * time, with none of the machinery that the backends share (tables of identities, keys, families, forests; only the
 * rounding to f16 and bf16 is the same). Slow on purpose.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fpenv.h"
#include "half.h"
#include "lower.h"
#include "overlap.h"
#include "reference.h"
#include "state.h"
#include "status.h"
#include "tables.h"

/* A number of any dtype: floats as the double that equals them, integers extended to 64 bits. */
typedef struct number {
  double real;
  uint64_t whole;
} number;

typedef struct oracle {
  red_problem problem; /* resolved */
  bool real;           /* the input is a float */
  bool canonical;      /* sums, products and the like of floats */
  bool sizes;          /* elements count without their signs */
  const void *in2;     /* dot: the second input */
} oracle;

static number load(red_dtype dtype, const void *array, uint64_t i) {
  const unsigned char *at = (const unsigned char *)array + i * red_dtype_bytes(dtype);
  red_scalar scalar;
  memcpy(&scalar, at, red_dtype_bytes(dtype));
  switch (dtype) {
  case RED_I8:
    return (number){0, (uint64_t)(int64_t)scalar.i8};
  case RED_I16:
    return (number){0, (uint64_t)(int64_t)scalar.i16};
  case RED_I32:
    return (number){0, (uint64_t)(int64_t)scalar.i32};
  case RED_I64:
    return (number){0, (uint64_t)scalar.i64};
  case RED_U8:
    return (number){0, scalar.u8};
  case RED_U16:
    return (number){0, scalar.u16};
  case RED_U32:
    return (number){0, scalar.u32};
  case RED_U64:
    return (number){0, scalar.u64};
  default:
    return (number){red_reference_real(dtype, at), 0};
  }
}

static number element(const oracle *o, const void *array, uint64_t i) {
  number x = load(o->problem.in, array, i);
  if (o->sizes) x.real = fabs(x.real);
  return x;
}

static void store(red_dtype dtype, number value, void *array, uint64_t i) {
  unsigned char *at = (unsigned char *)array + i * red_dtype_bytes(dtype);
  red_scalar scalar = {.u64 = value.whole};
  switch (dtype) {
  case RED_F16:
    scalar.f16 = red_f64_to_f16(value.real);
    break;
  case RED_BF16:
    scalar.bf16 = red_f64_to_bf16(value.real);
    break;
  case RED_F32:
    scalar.f32 = red_canonical_f32((float)value.real);
    break;
  case RED_F64:
    scalar.f64 = red_canonical_f64(value.real);
    break;
  default:
    break;
  }
  memcpy(at, &scalar, red_dtype_bytes(dtype));
}

/* An integer as an accumulator of the given width holds it. */
static number wrap(red_dtype acc, number value) {
  red_scalar scalar = {.u64 = value.whole};
  return red_dtype_is_float(acc) ? value : load(acc, &scalar, 0);
}

static bool less_than(const oracle *o, number a, number b) {
  if (o->real) return a.real < b.real;
  return red_dtype_is_signed(o->problem.in) ? (int64_t)a.whole < (int64_t)b.whole : a.whole < b.whole;
}

/* IEEE 754-2019 minimum and maximum order zeros by sign. */
static bool precedes(const oracle *o, number a, number b) {
  if (o->real && a.real == 0 && b.real == 0) return signbit(a.real) && !signbit(b.real);
  return less_than(o, a, b);
}

static number extreme(const oracle *o, number a, number b, bool greatest, bool skip_nan) {
  if (o->real && isnan(a.real)) return skip_nan ? b : a;
  if (o->real && isnan(b.real)) return skip_nan ? a : b;
  bool take_b = greatest ? precedes(o, a, b) : precedes(o, b, a);
  return take_b ? b : a;
}

static bool is_true(const oracle *o, number x) {
  return o->real ? x.real != 0 : x.whole != 0;
}

static double add_or_multiply(const oracle *o, double a, double b) {
  bool add = o->problem.op != RED_PROD;
  if (o->problem.acc == RED_F64) return add ? a + b : a * b;
  return (double)(add ? (float)a + (float)b : (float)a * (float)b);
}

/* a op b for two accumulator values. */
static number combine(const oracle *o, number a, number b) {
  if (o->canonical) return (number){add_or_multiply(o, a.real, b.real), 0};
  switch (o->problem.op) {
  case RED_PROD:
    return (number){0, a.whole * b.whole};
  case RED_MIN:
    return extreme(o, a, b, false, false);
  case RED_MAX:
    return extreme(o, a, b, true, false);
  case RED_MINNUM:
    return extreme(o, a, b, false, true);
  case RED_MAXNUM:
    return extreme(o, a, b, true, true);
  case RED_BAND:
    return (number){0, a.whole & b.whole};
  case RED_BOR:
    return (number){0, a.whole | b.whole};
  case RED_BXOR:
    return (number){0, a.whole ^ b.whole};
  case RED_ALL:
    return (number){0, a.whole && b.whole};
  case RED_ANY:
    return (number){0, a.whole || b.whole};
  default:
    return (number){0, a.whole + b.whole}; /* sum, dot, asum, sumsq, count_nonzero */
  }
}

static number magnitude(const oracle *o, number x) {
  bool negative = red_dtype_is_signed(o->problem.in) && (int64_t)x.whole < 0;
  return (number){fabs(x.real), negative ? 0 - x.whole : x.whole};
}

/* An element as the accumulator's first operand. */
static number lift(const oracle *o, const void *in, uint64_t i) {
  number x = element(o, in, i);
  switch (o->problem.op) {
  case RED_ALL:
  case RED_ANY:
  case RED_COUNT_NONZERO:
    return (number){0, is_true(o, x)};
  case RED_DOT: /* of integers */
    return (number){0, x.whole * load(o->problem.in, o->in2, i).whole};
  case RED_SUMSQ:
    return (number){0, x.whole * x.whole};
  case RED_ASUM:
    return magnitude(o, x);
  default:
    return x;
  }
}

/* A lane of a row of floats: a + x, or for products and squares a fused multiply-add. */
static number add_row(const oracle *o, number a, const void *in, uint64_t i) {
  red_op op = o->problem.op;
  if (op != RED_DOT && op != RED_SUMSQ && op != RED_NRM2) return combine(o, a, lift(o, in, i));
  double x = element(o, in, i).real;
  double y = op == RED_DOT ? element(o, o->in2, i).real : x;
  if (o->problem.acc == RED_F64) return (number){fma(x, y, a.real), 0};
  return (number){(double)fmaf((float)x, (float)y, (float)a.real), 0};
}

static number first_row(const oracle *o, const void *in, uint64_t i) {
  bool fused = o->problem.op == RED_DOT || o->problem.op == RED_SUMSQ || o->problem.op == RED_NRM2;
  return fused ? add_row(o, (number){-0.0, 0}, in, i) : lift(o, in, i);
}

/* The initial value as an operand; all and any take the truth of theirs. */
static number initial(const oracle *o) {
  number value = load(o->problem.acc, &o->problem.init, 0);
  if (o->problem.op == RED_ALL || o->problem.op == RED_ANY) value.whole = value.whole != 0;
  return value;
}

static uint64_t all_ones(red_dtype dtype) {
  return UINT64_MAX >> (64 - 8 * red_dtype_bytes(dtype));
}

/* The value that loses against every other: the greatest for a minimum, the least for a maximum. */
static number losing(const oracle *o, bool greatest) {
  uint64_t sign = all_ones(o->problem.in) / 2 + 1;
  if (o->real) return (number){greatest ? (double)INFINITY : -(double)INFINITY, 0};
  if (red_dtype_is_signed(o->problem.in)) return (number){0, greatest ? sign - 1 : (uint64_t)0 - sign};
  return (number){0, greatest ? all_ones(o->problem.in) : 0};
}

static number identity(const oracle *o) {
  switch (o->problem.op) {
  case RED_PROD:
  case RED_ALL:
    return (number){1, 1};
  case RED_MIN:
    return losing(o, true);
  case RED_MAX:
    return losing(o, false);
  case RED_MINNUM:
    return o->real ? (number){(double)NAN, 0} : losing(o, true);
  case RED_MAXNUM:
    return o->real ? (number){(double)NAN, 0} : losing(o, false);
  case RED_BAND:
    return (number){0, UINT64_MAX};
  default:
    return (number){0, 0};
  }
}

/* ---- sum-1 ---- */

/* node(0, c): rows of L lanes added downwards, then the lanes folded by halving. */
static number chunk(const oracle *o, const void *in, uint64_t first, uint64_t count) {
  number lane[128];
  uint64_t lanes = 512 / red_dtype_bytes(o->problem.acc);
  uint64_t present = count < lanes ? count : lanes;
  for (uint64_t l = 0; l < present; l++) {
    lane[l] = first_row(o, in, first + l);
    for (uint64_t i = l + lanes; i < count; i += lanes) lane[l] = add_row(o, lane[l], in, first + i);
  }
  for (uint64_t half = lanes / 2; half > 0; half /= 2)
    for (uint64_t l = 0; l < half && l + half < present; l++) lane[l] = combine(o, lane[l], lane[l + half]);
  return lane[0];
}

/* The node of a range of `count` elements that begins at a chunk; the left child is the largest complete one. */
static number tree(const oracle *o, const void *in, uint64_t first, uint64_t count) {
  uint64_t size = 32 * (512 / red_dtype_bytes(o->problem.acc));
  if (count <= size) return chunk(o, in, first, count);
  while (size < count - size) size *= 2;
  return combine(o, tree(o, in, first, size), tree(o, in, first + size, count - size));
}

static number serial(const oracle *o, const void *in, uint64_t n) {
  number total = lift(o, in, 0);
  for (uint64_t i = 1; i < n; i++) total = combine(o, total, lift(o, in, i));
  return total;
}

static red_status no_result(const oracle *o) {
  return red_fail(RED_ERR_EMPTY, "n = 0: op = %s has no result for empty input", red_op_name(o->problem.op));
}

/* ---- arg operators ---- */

static red_status arg_reduce(const oracle *o, const void *in, uint64_t n, uint64_t *index) {
  bool greatest = o->problem.op == RED_ARGMAX || o->problem.op == RED_ARGMAXNUM;
  bool skip_nan = o->problem.op == RED_ARGMINNUM || o->problem.op == RED_ARGMAXNUM;
  bool found = false;
  number best = {0, 0};
  for (uint64_t i = 0; i < n; i++) {
    number x = load(o->problem.in, in, i);
    bool nan = o->real && isnan(x.real);
    if (nan && skip_nan) continue;
    if (!found || nan || (greatest ? less_than(o, best, x) : less_than(o, x, best))) {
      best = x;
      *index = i;
      found = true;
    }
    if (nan) break;
  }
  if (found) return RED_OK;
  if (n == 0) return no_result(o);
  return red_fail(RED_ERR_EMPTY, "op = %s: all %llu elements are NaN, there is no index to return",
                  red_op_name(o->problem.op), (unsigned long long)n);
}

static red_status reduce(const oracle *o, const void *in, void *out) {
  uint64_t n = o->problem.n;
  red_op op = o->problem.op;
  number result;
  if (op >= RED_ARGMIN && op <= RED_ARGMAXNUM) {
    red_status status = arg_reduce(o, in, n, &result.whole);
    if (status != RED_OK) return status;
  } else if (n == 0 && !o->problem.has_init) {
    if ((op >= RED_MIN && op <= RED_MAXNUM) || op == RED_MEAN) return no_result(o);
    result = identity(o);
  } else {
    if (n > 0) result = o->canonical ? tree(o, in, 0, n) : serial(o, in, n);
    if (o->problem.has_init) result = n > 0 ? combine(o, initial(o), result) : initial(o);
    if (op == RED_MEAN) result.real = red_reference_quotient(o->problem.out, result.real, n);
    if (op == RED_NRM2) result.real = red_reference_root(o->problem.out, result.real);
  }
  store(o->problem.out, wrap(o->problem.acc, result), out, 0);
  return RED_OK;
}

/* ---- scan-1 ---- */

/* The nodes of k's binary expansion, highest bit first: node(h, .) has absorbed 2^h elements. */
typedef struct expansion {
  number node[64];
  unsigned height[64];
  unsigned count;
} expansion;

static void absorb(const oracle *o, expansion *e, number x) {
  e->node[e->count] = x;
  e->height[e->count++] = 0;
  while (e->count > 1 && e->height[e->count - 1] == e->height[e->count - 2]) {
    e->node[e->count - 2] = combine(o, e->node[e->count - 2], e->node[e->count - 1]);
    e->height[e->count - 2]++;
    e->count--;
  }
}

/* P(k), k > 0 or with an initial value. */
static number prefix(const oracle *o, const expansion *e) {
  number p = o->problem.has_init ? initial(o) : e->node[0];
  for (unsigned i = o->problem.has_init ? 0 : 1; i < e->count; i++) p = combine(o, p, e->node[i]);
  return p;
}

static void scan(const oracle *o, const void *in, void *out) {
  bool exclusive = o->problem.kind == RED_EXCLUSIVE_SCAN;
  expansion e = {.count = 0};
  for (uint64_t i = 0; i < o->problem.n; i++) {
    number x = lift(o, in, i); /* before the store: out may be in */
    if (!exclusive) absorb(o, &e, x);
    number p = e.count > 0 || o->problem.has_init ? prefix(o, &e) : identity(o);
    store(o->problem.out, wrap(o->problem.acc, p), out, i);
    if (exclusive) absorb(o, &e, x);
  }
}

red_status red_reference_in_fpenv(const red_problem *problem, const void *in, const void *in2, void *out) {
  red_lowered lowered;
  red_status status = red_lower(problem, &lowered);
  if (status != RED_OK) return status;
  oracle o = {.problem = *problem, .real = lowered.in_float, .canonical = lowered.canonical, .in2 = in2};
  if (lowered.bounded) return red_reference_bounded(problem, &lowered, in, in2, out);
  if (lowered.exact) return red_reference_exact(&lowered, in, in2, out);
  o.problem.acc = lowered.acc;
  o.problem.out = lowered.out;
  switch (problem->kind) {
  case RED_STATS:
    return red_reference_stats(problem, &lowered, in, out);
  case RED_REDUCE:
    return reduce(&o, in, out);
  default:
    scan(&o, in, out);
    return RED_OK;
  }
}

double red_reference_magnitudes(const red_problem *problem, const void *in, const void *in2) {
  oracle o = {.problem = *problem, .real = true, .canonical = true, .sizes = true, .in2 = in2};
  red_scalar sum = {.u64 = 0};
  if (o.problem.op == RED_MEAN) o.problem.op = RED_SUM;
  o.problem.out = o.problem.acc;
  number init = load(o.problem.acc, &o.problem.init, 0);
  store(o.problem.acc, (number){fabs(init.real), 0}, &o.problem.init, 0);
  reduce(&o, in, &sum);
  return load(o.problem.out, &sum, 0).real;
}

red_status red_reference2(const red_problem *problem, const void *in, const void *in2, void *out) {
  red_lowered lowered;
  red_status status = red_lower(problem, &lowered);
  if (status != RED_OK) return status;
  if (in == NULL && problem->n > 0)
    return red_fail(RED_ERR_INVALID, "in is NULL, n = %llu", (unsigned long long)problem->n);
  if (out == NULL && (problem->n > 0 || !red_is_scan(problem->kind))) return red_fail(RED_ERR_INVALID, "out is NULL");
  status = red_check_in2(&lowered, in2);
  if (status == RED_OK) status = red_check_overlap(&lowered, (uintptr_t)in, (uintptr_t)out);
  if (status == RED_OK && in2 != NULL) status = red_check_overlap(&lowered, (uintptr_t)in2, (uintptr_t)out);
  if (status == RED_OK && problem->kind == RED_STATS) status = red_stats_check_size(out);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = red_reference_in_fpenv(problem, in, in2, out);
  red_fpenv_leave(saved);
  return status;
}

red_status red_reference(const red_problem *problem, const void *in, void *out) {
  return red_reference2(problem, in, NULL, out);
}
