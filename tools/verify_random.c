/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

enum {
  ALIGNMENTS = 64,
  TYPE_CHOICES = 3,
  CASES = 7
};

/* Around the widths of vectors, rows, chunks and pairs of chunks. */
static const uint64_t lengths[] = {0,   1,    2,    3,    7,    31,   63,   64,   65,   127,   129,   255,
                                   513, 1000, 2047, 2049, 4095, 4097, 6145, 8191, 8193, 12289, 20001, 32769};
enum {
  LENGTHS = sizeof lengths / sizeof *lengths
};

/* ---- random elements ---- */

/* Steele, Lea and Flood 2014: SplitMix64. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

struct float_layout {
  unsigned fraction, exponent;
};

static int layout_of(red_dtype dtype, struct float_layout *layout) {
  switch (dtype) {
  case RED_F16:
    *layout = (struct float_layout){10, 5};
    return 1;
  case RED_BF16:
    *layout = (struct float_layout){7, 8};
    return 1;
  case RED_F32:
    *layout = (struct float_layout){23, 8};
    return 1;
  case RED_F64:
    *layout = (struct float_layout){52, 11};
    return 1;
  default:
    return 0;
  }
}

/* How the elements of an array are drawn. */
enum {
  DRAW_MODERATE,
  DRAW_ANY_BITS,
  DRAW_SPECIAL,
  DRAWS
};

/* A float between 2^-4 and 2^4 of either sign; an integer of any bits. */
static uint64_t moderate(red_dtype dtype, uint64_t random) {
  struct float_layout l;
  if (!layout_of(dtype, &l)) return random;
  const uint64_t bias = (UINT64_C(1) << (l.exponent - 1)) - 1, exponent = bias - 4 + (random >> 60 & 7);
  const uint64_t sign = random >> 63 << (l.fraction + l.exponent);
  return sign | exponent << l.fraction | (random & ((UINT64_C(1) << l.fraction) - 1));
}

/* Zeros, infinities, NaNs, ones, ends of the range, the smallest subnormal number. */
static uint64_t special(red_dtype dtype, uint64_t random) {
  struct float_layout l;
  const unsigned bits = 8 * (unsigned)red_dtype_bytes(dtype), choice = random >> 40 & 7;
  const uint64_t top = UINT64_C(1) << (bits - 1), sign = random & 1 ? top : 0;
  if (!layout_of(dtype, &l)) {
    const uint64_t ends[8] = {0, 1, top, top - 1, top | 1, ~UINT64_C(0), 2, 0};
    return ends[choice];
  }
  const uint64_t infinity = ((UINT64_C(1) << l.exponent) - 1) << l.fraction;
  const uint64_t one = ((UINT64_C(1) << (l.exponent - 1)) - 1) << l.fraction;
  const uint64_t values[8] = {0, 0, one, 1, infinity - 1, one + 1, 0, infinity};
  return random % 1000 == 0 ? infinity + 1 : sign | values[random % 61 == 0 ? 7 : choice % 7];
}

static uint64_t draw(unsigned way, red_dtype dtype, uint64_t random) {
  if (way == DRAW_ANY_BITS) return random;
  if (way == DRAW_SPECIAL) return special(dtype, random);
  return moderate(dtype, random);
}

static void store(void *at, red_dtype dtype, uint64_t bits) {
  red_scalar s;
  switch (red_dtype_bytes(dtype)) {
  case 1:
    s.u8 = (uint8_t)bits;
    break;
  case 2:
    s.u16 = (uint16_t)bits;
    break;
  case 4:
    s.u32 = (uint32_t)bits;
    break;
  default:
    s.u64 = bits;
  }
  memcpy(at, &s, red_dtype_bytes(dtype));
}

/* ---- one case ---- */

/* A problem, its input at some alignment, the reference's answer and room for the device's. */
struct trial {
  red_problem problem;
  size_t in_bytes, out_bytes;
  unsigned char *memory; /* owns those below */
  unsigned char *in, *in2, *expected, *actual;
};

static int trial_allocate(struct trial *t, uint64_t *random) {
  t->in_bytes = t->problem.n * red_dtype_bytes(t->problem.in);
  t->out_bytes = output_bytes(&t->problem);
  t->memory = calloc(1, 2 * t->in_bytes + 2 * t->out_bytes + 5 * ALIGNMENTS);
  if (!t->memory) return 0;
  const int aligned = t->problem.kind == RED_STATS; /* its result is a structure */
  const size_t shift = aligned ? 0 : next_random(random) % ALIGNMENTS;
  t->expected = t->memory;
  t->actual = t->memory + (t->out_bytes + ALIGNMENTS - 1) / ALIGNMENTS * ALIGNMENTS + shift;
  t->in = t->actual + t->out_bytes + next_random(random) % ALIGNMENTS;
  t->in2 = t->problem.op == RED_DOT ? t->in + t->in_bytes + next_random(random) % ALIGNMENTS : NULL;
  if (aligned) ((red_stats_result *)(void *)t->expected)->size = sizeof(red_stats_result);
  if (aligned) ((red_stats_result *)(void *)t->actual)->size = sizeof(red_stats_result);
  return 1;
}

static void fill(const struct trial *t, unsigned char *elements, uint64_t *random) {
  const size_t width = red_dtype_bytes(t->problem.in);
  const unsigned way = (unsigned)(next_random(random) % DRAWS);
  for (uint64_t i = 0; i < t->problem.n; i++)
    store(elements + i * width, t->problem.in, draw(way, t->problem.in, next_random(random)));
}

static void trial_fill(const struct trial *t, uint64_t *random) {
  fill(t, t->in, random);
  if (t->in2) fill(t, t->in2, random);
}

static int same_stats(const red_problem *problem, const void *expected, const void *actual) {
  const red_stats_result *e = expected, *a = actual;
  red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, problem->in, problem->n);
  if (red_problem_resolve(&sum) != RED_OK) return 0;
  const size_t in = red_dtype_bytes(sum.in), out = red_dtype_bytes(sum.out);
  return e->count == a->count && e->argmin == a->argmin && e->argmax == a->argmax && e->size == a->size &&
         e->nan_count == a->nan_count && memcmp(&e->mean, &a->mean, 4 * sizeof e->mean) == 0 &&
         memcmp(&e->sum, &a->sum, out) == 0 && memcmp(&e->min, &a->min, in) == 0 && memcmp(&e->max, &a->max, in) == 0;
}

static int same(const struct trial *t) {
  if (t->problem.kind == RED_STATS) return same_stats(&t->problem, t->expected, t->actual);
  return memcmp(t->expected, t->actual, t->out_bytes) == 0;
}

/* Where the outputs first differ, in words. */
static void describe_difference(const struct trial *t, char *text, size_t bytes) {
  char expected[VALUE_TEXT_BYTES], actual[VALUE_TEXT_BYTES];
  red_problem resolved = t->problem;
  if (t->problem.kind == RED_STATS || t->problem.bound || red_problem_resolve(&resolved) != RED_OK) {
    snprintf(text, bytes, "differs from the reference");
    return;
  }
  const size_t width = red_dtype_bytes(resolved.out);
  size_t i = 0;
  while (i * width < t->out_bytes && memcmp(t->expected + i * width, t->actual + i * width, width) == 0) i++;
  snprintf(text, bytes, "output %zu is %s, the reference gives %s", i,
           format_hex(resolved.out, t->actual + i * width, actual),
           format_hex(resolved.out, t->expected + i * width, expected));
}

static void name_case(const struct trial *t, char *text, size_t bytes) {
  if (red_problem_print(&t->problem, text, bytes) != RED_OK) snprintf(text, bytes, "a problem without a name");
}

static void judge(struct tally *tally, const struct trial *t, red_status expected, red_status actual) {
  char name[160], how[256];
  name_case(t, name, sizeof name);
  if (actual == RED_ERR_UNSUPPORTED && expected != actual)
    tally_skip(tally, red_last_error());
  else if (actual != expected) {
    snprintf(how, sizeof how, "%s, the reference says: %s", actual ? red_last_error() : "gives a result",
             red_strerror(expected));
    tally_fail(tally, name, how);
  } else if (expected == RED_OK && !same(t)) {
    describe_difference(t, how, sizeof how);
    tally_fail(tally, name, how);
  } else
    tally_pass(tally);
}

static int may_be_in_place(const struct trial *t) {
  return is_scan(&t->problem) && t->in_bytes == t->out_bytes;
}

static void run_trial(struct tally *tally, red_context *context, route_fn route, struct trial *t, uint64_t *random) {
  if (!trial_allocate(t, random)) {
    tally_fail(tally, "random data", "out of memory");
    return;
  }
  trial_fill(t, random);
  const red_status expected = red_reference2(&t->problem, t->in, t->in2, t->expected);
  judge(tally, t, expected, route(context, &t->problem, t->in, t->in2, t->actual));
  if (route == route_whole && may_be_in_place(t)) {
    memcpy(t->actual, t->in, t->in_bytes);
    judge(tally, t, expected, route(context, &t->problem, t->actual, NULL, t->actual));
  }
  free(t->memory);
}

/* ---- all cases ---- */

/* The defaults first, then any valid choice. False if the operator does not go with the input. */
static int choose_types(red_problem *problem, unsigned choice, uint64_t *random) {
  red_problem tried = *problem;
  if (red_problem_resolve(&tried) != RED_OK) return 0;
  for (int attempt = 0; choice > 0 && attempt < 40; attempt++) {
    tried = *problem;
    tried.acc = (red_dtype)(next_random(random) % RED_DTYPE_COUNT);
    tried.out = (red_dtype)(next_random(random) % RED_DTYPE_COUNT);
    const red_problem wish = tried;
    if (red_problem_resolve(&tried) != RED_OK) continue;
    *problem = wish;
    return 1;
  }
  return 1;
}

/* The defaults, everything, or a selection. */
static void choose_stats(red_problem *problem, unsigned choice) {
  if (problem->kind != RED_STATS || choice == 0) return;
  problem->stats = choice == 1 ? RED_STAT_ALL : RED_STAT_MEAN | RED_STAT_VARIANCE;
}

/* One in three, where the operator and the dtypes have an exact mode. */
static void choose_exact(red_problem *problem, uint64_t *random) {
  red_problem exact = *problem;
  exact.exact = 1;
  if (problem->kind == RED_REDUCE && next_random(random) % 3 == 0 && red_problem_resolve(&exact) == RED_OK)
    problem->exact = 1;
}

/* One in three, where there are bounds. */
static void choose_bound(red_problem *problem, uint64_t *random) {
  red_problem bounded = *problem;
  bounded.bound = 1;
  if (problem->kind == RED_REDUCE && next_random(random) % 3 == 0 && red_problem_resolve(&bounded) == RED_OK)
    problem->bound = 1;
}

static void choose_init(red_problem *problem, uint64_t *random) {
  red_problem resolved = *problem;
  if (problem->kind == RED_STATS || next_random(random) % 4 != 0 || red_problem_resolve(&resolved) != RED_OK) return;
  problem->has_init = 1;
  store(&problem->init, resolved.acc, moderate(resolved.acc, next_random(random)));
}

static void verify_cell(struct tally *tally, red_context *context, route_fn route, red_kind kind, red_op op,
                        red_dtype dtype) {
  uint64_t random = (uint64_t)kind << 16 | (uint64_t)op << 8 | (uint64_t)dtype;
  for (unsigned i = 0; i < CASES; i++) {
    struct trial t = {.problem = RED_PROBLEM_INIT(kind, op, dtype, 0)};
    t.problem.n = lengths[next_random(&random) % LENGTHS];
    if (!choose_types(&t.problem, kind == RED_STATS ? 0 : i % TYPE_CHOICES, &random)) return;
    choose_stats(&t.problem, i % TYPE_CHOICES);
    choose_exact(&t.problem, &random);
    choose_bound(&t.problem, &random);
    choose_init(&t.problem, &random);
    run_trial(tally, context, route, &t, &random);
  }
}

void verify_random(struct tally *tally, red_context *context, route_fn route, red_kind kind) {
  const int ops = kind == RED_STATS ? RED_SUM + 1 : RED_OP_COUNT;
  for (int op = RED_SUM; op < ops; op++)
    for (int dtype = 1; dtype < RED_DTYPE_COUNT; dtype++)
      verify_cell(tally, context, route, kind, (red_op)op, (red_dtype)dtype);
}
