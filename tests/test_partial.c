/* SPDX-License-Identifier: BSD-2-Clause */
/* Partial results: parts of a reduction, merged and saved, give the bits of the whole; damaged bytes are refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum {
  MOST = 30000,
  PARTS = 5
};

static red_context *context;
static unsigned char data[2 * MOST * 8]; /* dot: the second input lies behind the first */

static int has_two_inputs(const red_problem *problem) {
  return problem->op == RED_DOT;
}

static const unsigned char *second_of(const red_problem *problem) {
  return has_two_inputs(problem) ? data + MOST * red_dtype_bytes(problem->in) : NULL;
}

typedef union answer {
  uint64_t bits;
  red_bounded bounded;
  red_stats_result stats;
} answer;

static red_status reference(const red_problem *problem, void *out) {
  return red_reference2(problem, data, second_of(problem), out);
}

/* Elements [from, to) of the whole; the caller destroys the accumulator. */
static red_accumulator *part_of(const red_problem *problem, uint64_t from, uint64_t to) {
  red_accumulator *acc;
  size_t bytes = red_dtype_bytes(problem->in);
  const unsigned char *in2 = second_of(problem);
  ck_red(red_accumulator_create_at(context, problem, from, &acc));
  uint64_t middle = from + (to - from) / 3;
  if (in2 == NULL) {
    ck_red(red_accumulator_add(acc, data + from * bytes, middle - from));
    ck_red(red_accumulator_add(acc, data + middle * bytes, to - middle));
  } else {
    ck_red(red_accumulator_add2(acc, data + from * bytes, in2 + from * bytes, middle - from));
    ck_red(red_accumulator_add2(acc, data + middle * bytes, in2 + middle * bytes, to - middle));
  }
  ck_assert_uint_eq(red_accumulator_count(acc), to - from);
  return acc;
}

static unsigned char *save(const red_accumulator *acc, size_t *size) {
  ck_red(red_accumulator_save(acc, NULL, 0, size));
  unsigned char *bytes = malloc(*size);
  size_t again = 0;
  ck_red(red_accumulator_save(acc, bytes, *size, &again));
  ck_assert_uint_eq(again, *size);
  return bytes;
}

/* Through bytes and back. */
static red_accumulator *reborn(red_accumulator *acc) {
  size_t size;
  red_accumulator *loaded;
  unsigned char *bytes = save(acc, &size);
  ck_red(red_accumulator_load(context, bytes, size, &loaded));
  ck_assert_uint_eq(red_accumulator_count(loaded), red_accumulator_count(acc));
  free(bytes);
  red_accumulator_destroy(acc);
  return loaded;
}

/* Cuts in ascending order, at multiples of `unit`, from 0 to n. */
static void cut(random_state *random, uint64_t n, uint64_t unit, uint64_t cuts[PARTS + 1]) {
  cuts[0] = 0;
  cuts[PARTS] = n;
  for (int i = 1; i < PARTS; i++) cuts[i] = random_below(random, n / unit + 1) * unit;
  for (int i = 1; i < PARTS; i++)
    for (int k = i; k > 1 && cuts[k] < cuts[k - 1]; k--) {
      uint64_t swapped = cuts[k];
      cuts[k] = cuts[k - 1];
      cuts[k - 1] = swapped;
    }
}

static void merge_parts(const red_problem *problem, uint64_t unit, int any_order, random_state *random) {
  uint64_t cuts[PARTS + 1];
  red_accumulator *part[PARTS];
  answer expected = {.bits = 0}, actual = {.bits = 0};
  prepare_output(problem, &expected);
  prepare_output(problem, &actual);
  red_status want = reference(problem, &expected);
  cut(random, problem->n, unit, cuts);
  for (int i = 0; i < PARTS; i++) part[i] = part_of(problem, cuts[i], cuts[i + 1]);
  for (int i = 0; i < PARTS; i++)
    if (random_below(random, 2) == 0) part[i] = reborn(part[i]);
  int rotation = any_order ? (int)random_below(random, PARTS) : 0;
  for (int i = 1; i < PARTS; i++)
    ck_red(red_accumulator_merge(part[rotation], part[(rotation + (any_order ? PARTS - i : i)) % PARTS]));
  ck_assert_uint_eq(red_accumulator_count(part[rotation]), problem->n);
  part[rotation] = reborn(part[rotation]);
  red_status got = red_accumulator_result(part[rotation], &actual);
  ck_assert_int_eq(got, want);
  if (got == RED_OK) compare_outputs(problem, "merged", &expected, &actual);
  for (int i = 0; i < PARTS; i++) red_accumulator_destroy(part[i]);
}

static int is_refused_here(const red_problem *problem) {
  red_accumulator *acc;
  uint64_t value = 0;
  answer result;
  prepare_output(problem, &result);
  ck_red(red_accumulator_create(context, problem, &acc));
  red_status status =
      has_two_inputs(problem) ? red_accumulator_add2(acc, &value, &value, 1) : red_accumulator_add(acc, &value, 1);
  if (status == RED_OK) status = red_accumulator_result(acc, &result);
  red_accumulator_destroy(acc);
  return may_refuse(problem, status);
}

static void every_statistic(random_state *random) {
  for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
    red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, (red_dtype)in, random_length(random, MOST / 2));
    if (random_below(random, 4) > 0) problem.stats = 1 + (unsigned)random_below(random, RED_STAT_ALL);
    if (random_below(random, 4) == 0) problem.stats = RED_STAT_MEAN | RED_STAT_VARIANCE;
    if (problem.n > MOST || is_refused_here(&problem)) continue;
    random_elements(random, problem.in, data, MOST);
    merge_parts(&problem, red_dtype_bytes(problem.in) == 8 ? 2048 : 4096, 0, random);
  }
}

static void every_operator(int exact, random_state *random) {
  for (unsigned op = 1; op < RED_OP_COUNT; op++)
    for (unsigned in = 1; in < RED_DTYPE_COUNT; in++) {
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, (red_op)op, (red_dtype)in, random_length(random, MOST / 2));
      problem.exact = exact;
      red_problem resolved = problem;
      resolved.bound = random_below(random, 2) == 0;
      problem.bound = resolved.bound && red_problem_resolve(&resolved) == RED_OK;
      resolved = problem;
      if (problem.n > MOST || red_problem_resolve(&resolved) != RED_OK || is_refused_here(&problem)) continue;
      problem.has_init = takes_init(&problem) && random_below(random, 3) == 0;
      if (problem.has_init) problem.init = random_scalar(random, resolved.acc);
      random_elements(random, problem.in, data, MOST);
      random_elements(random, problem.in, data + MOST * red_dtype_bytes(problem.in), MOST);
      int exactly = in >= RED_F16 && (exact || (op == RED_NRM2 && in == RED_F64));
      int indexed = op >= RED_ARGMIN && op <= RED_ARGMAXNUM;
      int ordered = in >= RED_F16 && (op == RED_SUM || op == RED_PROD || op >= RED_DOT) && !exactly;
      merge_parts(&problem, ordered ? (resolved.acc == RED_F64 ? 2048 : 4096) : 1, !ordered && !indexed, random);
    }
}

START_TEST(parts_give_the_whole) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(3); repeat > 0; repeat--) {
    every_operator(0, &random);
    every_operator(1, &random);
    every_statistic(&random);
  }
}
END_TEST

static red_accumulator *made(red_op op, red_dtype in, int exact, uint64_t first, uint64_t n) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, 0);
  problem.exact = exact;
  return part_of(&problem, first, first + n);
}

static red_accumulator *made_with_bound(uint64_t n) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0);
  problem.bound = 1;
  return part_of(&problem, 0, n);
}

static red_accumulator *made_stats(uint64_t first, uint64_t n) {
  red_problem problem = RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_F32, 0);
  problem.stats = RED_STAT_ALL;
  return part_of(&problem, first, first + n);
}

static void refused(red_op op, red_op other, red_dtype other_in, int exact, uint64_t n, uint64_t first,
                    const char *word) {
  red_accumulator *into = made(op, RED_F32, exact, 0, n), *from = made(other, other_in, exact, first, 10);
  ck_assert_int_eq(red_accumulator_merge(into, from), RED_ERR_INVALID);
  ck_assert_msg(strstr(red_last_error(), word) != NULL, "%s", red_last_error());
  ck_assert_uint_eq(red_accumulator_count(into), n);
  red_accumulator_destroy(into);
  red_accumulator_destroy(from);
}

START_TEST(refusals) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0);
  red_accumulator *acc = NULL, *loaded = NULL;
  float value;
  size_t size = 0;
  random_state random = random_start(2);
  random_numbers(&random, RED_F32, data, MOST);
  refused(RED_SUM, RED_SUM, RED_F32, 0, 4096, 8192, "where into ends");
  refused(RED_SUM, RED_SUM, RED_F32, 0, 4000, 4096, "where into ends");
  refused(RED_ARGMIN, RED_ARGMIN, RED_F32, 0, 5, 6, "where into ends");
  refused(RED_MAX, RED_MIN, RED_F32, 0, 5, 5, "another problem");
  refused(RED_MAX, RED_MAX, RED_F64, 0, 5, 5, "another problem");
  red_accumulator *stats = made_stats(0, 4096), *later = made_stats(8192, 10), *bounded = made_with_bound(4096);
  ck_red_fails(red_accumulator_merge(stats, later), RED_ERR_INVALID, "where into ends");
  acc = made(RED_SUM, RED_F32, 0, 4096, 5);
  ck_red_fails(red_accumulator_merge(stats, acc), RED_ERR_INVALID, "another problem");
  ck_red_fails(red_accumulator_merge(bounded, acc), RED_ERR_INVALID, "another problem");
  red_stats_result statistics = {.size = sizeof statistics};
  ck_red_fails(red_accumulator_result(later, &statistics), RED_ERR_INVALID, "begins at element 8192");
  red_accumulator_destroy(acc);
  red_accumulator_destroy(stats);
  red_accumulator_destroy(later);
  red_accumulator_destroy(bounded);
  acc = NULL;
  ck_assert_int_eq(red_accumulator_create_at(context, &problem, 100, &acc), RED_ERR_INVALID);
  ck_assert(strstr(red_last_error(), "4096") != NULL && acc == NULL);
  acc = made(RED_SUM, RED_F32, 0, 4096, 3);
  ck_assert_int_eq(red_accumulator_result(acc, &value), RED_ERR_INVALID);
  ck_assert(strstr(red_last_error(), "begins at element 4096") != NULL);
  ck_assert_int_eq(red_accumulator_merge(acc, acc), RED_ERR_INVALID);
  ck_assert_int_eq(red_accumulator_merge(acc, NULL), RED_ERR_INVALID);
  ck_assert_int_eq(red_accumulator_save(acc, data, 10, &size), RED_ERR_INVALID);
  ck_assert(strstr(red_last_error(), "capacity = 10") != NULL && size == 0);
  ck_assert_int_eq(red_accumulator_load(context, NULL, 10, &loaded), RED_ERR_INVALID);
  red_accumulator_destroy(acc);
  problem.kind = RED_INCLUSIVE_SCAN;
  ck_assert_int_eq(red_accumulator_create_at(context, &problem, 4096, &acc), RED_ERR_UNSUPPORTED);
  ck_red(red_accumulator_create(context, &problem, &acc));
  ck_assert_int_eq(red_accumulator_save(acc, NULL, 0, &size), RED_ERR_UNSUPPORTED);
  red_accumulator_destroy(acc);
}
END_TEST

static uint64_t fnv(const unsigned char *at, size_t bytes) {
  uint64_t digest = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) digest = (digest ^ at[i]) * 0x100000001b3u;
  return digest;
}

/* Any single byte changed, any length cut: refused, with a sentence. */
static void damage(red_accumulator *acc, random_state *random) {
  size_t size;
  red_accumulator *loaded = NULL;
  unsigned char *bytes = save(acc, &size);
  for (size_t i = 0; i < size; i++) {
    unsigned char kept = bytes[i];
    bytes[i] = (unsigned char)(bytes[i] ^ (1 + random_below(random, 255)));
    ck_assert_int_eq(red_accumulator_load(context, bytes, size, &loaded), RED_ERR_INVALID);
    ck_assert(loaded == NULL && *red_last_error() != '\0');
    bytes[i] = kept;
  }
  for (size_t length = 0; length < size; length++)
    ck_assert_int_eq(red_accumulator_load(context, bytes, length, &loaded), RED_ERR_INVALID);
  free(bytes);
}

/* With a checksum that fits: refused or loaded, and then of use, but never a crash (sanitizers watch). */
static void forge(red_accumulator *acc, random_state *random) {
  size_t size;
  unsigned char *bytes = save(acc, &size), *forged = malloc(size);
  for (unsigned repeat = suite_repeat(3000); repeat > 0; repeat--) {
    memcpy(forged, bytes, size);
    for (uint64_t k = random_below(random, 3); k < 3; k++)
      forged[16 + random_below(random, size - 24)] = (unsigned char)random_next(random);
    uint64_t sum = fnv(forged, size - 8);
    answer result = {.stats = {.size = sizeof result.stats}};
    memcpy(forged + size - 8, &sum, 8);
    red_accumulator *loaded;
    if (red_accumulator_load(context, forged, size, &loaded) != RED_OK) continue;
    red_accumulator_add(loaded, data, 3);
    red_accumulator_result(loaded, &result);
    red_accumulator_merge(loaded, acc);
    red_accumulator_destroy(loaded);
  }
  free(bytes);
  free(forged);
}

START_TEST(damaged_bytes) {
  random_state random = random_start(3);
  random_numbers(&random, RED_F32, data, MOST);
  red_accumulator *list[] = {made(RED_SUM, RED_F32, 0, 4096, 4200),
                             made(RED_ARGMAX, RED_F32, 0, 7, 100),
                             made(RED_MIN, RED_F32, 0, 0, 5),
                             made(RED_SUM, RED_F32, 0, 0, 13000),
                             made_with_bound(9000),
                             made_stats(0, 12300)};
  red_accumulator *exact = made(RED_SUM, RED_F32, 1, 0, 100);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    forge(list[i], &random);
    if (i > 0 && i < 3) damage(list[i], &random);
    red_accumulator_destroy(list[i]);
  }
  forge(exact, &random);
  damage(exact, &random);
  red_accumulator_destroy(exact);
}
END_TEST

/* Equal sums have equal bytes, however they came about. */
START_TEST(exact_bytes_are_canonical) {
  random_state random = random_start(4);
  size_t size[2];
  random_elements(&random, RED_F64, data, MOST);
  red_accumulator *whole = made(RED_SUM, RED_F64, 1, 0, 9000), *parts = made(RED_SUM, RED_F64, 1, 0, 17);
  for (uint64_t at = 17; at < 9000; at += 449) {
    red_accumulator *next = made(RED_SUM, RED_F64, 1, at, at + 449 < 9000 ? 449 : 9000 - at);
    ck_red(red_accumulator_merge(parts, next));
    red_accumulator_destroy(next);
  }
  unsigned char *one = save(whole, &size[0]), *other = save(parts, &size[1]);
  ck_assert(size[0] == size[1] && memcmp(one, other, size[0]) == 0);
  free(one);
  free(other);
  red_accumulator_destroy(whole);
  red_accumulator_destroy(parts);
}
END_TEST

/*
 * An accumulator of 2^62 - 1 products of the largest numbers, all of one sign: merged with its like, again and again.
 */
static red_accumulator *as_large_as_can_be(double sign) {
  const double x = sign * 0x1.fffffffffffffp1023, y = 0x1.fffffffffffffp1023;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, RED_F64, 0);
  problem.exact = 1;
  red_accumulator *acc, *one;
  ck_red(red_accumulator_create(context, &problem, &acc));
  ck_red(red_accumulator_create(context, &problem, &one));
  ck_red(red_accumulator_add2(one, &x, &y, 1));
  for (int k = 0; k < 62; k++) {
    size_t size;
    unsigned char *bytes = save(acc, &size);
    red_accumulator *like;
    ck_red(red_accumulator_load(context, bytes, size, &like));
    ck_red(red_accumulator_merge(acc, like));
    ck_red(red_accumulator_merge(acc, one));
    red_accumulator_destroy(like);
    free(bytes);
  }
  red_accumulator_destroy(one);
  return reborn(acc);
}

START_TEST(exact_sums_of_any_size) {
  const double one = 1;
  double sum = 0;
  red_accumulator *acc = as_large_as_can_be(1), *opposite = as_large_as_can_be(-1);
  ck_assert_uint_eq(red_accumulator_count(acc), ((uint64_t)1 << 62) - 1);
  ck_red(red_accumulator_result(acc, &sum));
  ck_assert_double_eq(sum, (double)INFINITY);
  ck_red(red_accumulator_add2(acc, &one, &one, 1));
  ck_red(red_accumulator_merge(acc, opposite));
  ck_red(red_accumulator_result(acc, &sum));
  ck_assert_double_eq(sum, 1);
  red_accumulator_destroy(acc);
  red_accumulator_destroy(opposite);
}
END_TEST

/* Digits that no elements can have come to, with a checksum that fits. */
START_TEST(exact_sums_too_large) {
  const double x = 0x1.fffffffffffffp1023;
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, RED_F64, 0);
  problem.exact = 1;
  red_accumulator *acc, *loaded = NULL;
  size_t size;
  ck_red(red_accumulator_create(context, &problem, &acc));
  ck_red(red_accumulator_add2(acc, &x, &x, 1));
  unsigned char *bytes = save(acc, &size);
  ck_red(red_accumulator_load(context, bytes, size, &loaded));
  red_accumulator_destroy(loaded);
  bytes[size - 12] ^= 32; /* in the highest digit, above the bits of one product and of two */
  const uint64_t sum = fnv(bytes, size - 8);
  memcpy(bytes + size - 8, &sum, 8);
  ck_red_fails(red_accumulator_load(context, bytes, size, &loaded), RED_ERR_INVALID, "digits");
  free(bytes);
  red_accumulator_destroy(acc);
}
END_TEST

static void open_context(void) {
  context = suite_context(0);
}
static void close_context(void) {
  red_context_destroy(context);
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_context, close_context);
  tcase_add_test(tests, parts_give_the_whole);
  tcase_add_test(tests, refusals);
  tcase_add_test(tests, damaged_bytes);
  tcase_add_test(tests, exact_bytes_are_canonical);
  tcase_add_test(tests, exact_sums_of_any_size);
  tcase_add_test(tests, exact_sums_too_large);
}

int main(void) {
  return suite_run("partial", fill);
}
