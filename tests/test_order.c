/* SPDX-License-Identifier: BSD-2-Clause */
/* The canonical order's bookkeeping (src/core/order.h): any cut into ranges, the same root and the same prefix. */
#include <string.h>

#include "order.h"
#include "random.h"
#include "suite.h"

enum {
  MOST_LEAVES = 700
};

static red_lowered lowered;
static float leaves[MOST_LEAVES];

/* `sum-1`, level by level as the specification says it. */
static float root_of(uint64_t count) {
  float nodes[MOST_LEAVES];
  memcpy(nodes, leaves, count * sizeof *nodes);
  for (; count > 1; count = (count + 1) / 2)
    for (uint64_t i = 0; i < (count + 1) / 2; i++)
      nodes[i] = 2 * i + 1 < count ? nodes[2 * i] + nodes[2 * i + 1] : nodes[2 * i];
  return nodes[0];
}

/* node(level, index) of the adjacent-pairs tree */
static float node_of(unsigned level, uint64_t index) {
  if (level == 0) return leaves[index];
  return node_of(level - 1, 2 * index) + node_of(level - 1, 2 * index + 1);
}

/* `scan-1`: the nodes of k's binary expansion from the highest bit on. */
static float prefix_of(uint64_t k, const float *init) {
  float sum = 0;
  uint64_t done = 0;
  int first = init == NULL;
  if (init != NULL) sum = *init;
  for (unsigned level = 63; level < 64; level--) {
    if ((k >> level & 1) == 0) continue;
    float node = node_of(level, done >> level);
    sum = first ? node : sum + node;
    first = 0;
    done += (uint64_t)1 << level;
  }
  return sum;
}

static void check_bits(float expected, red_state actual, const char *what, uint64_t count) {
  ck_assert_msg(memcmp(&expected, &actual.f32, sizeof expected) == 0, "%s of %llu leaves: expected %a, got %a%s", what,
                (unsigned long long)count, expected, actual.f32, suite_seed_text());
}

/* A worker's range [lo, hi): complete nodes as large as they fit, or single leaves. */
static void fill_range(red_forest *forest, uint64_t lo, uint64_t hi, random_state *random) {
  red_forest_clear(forest);
  while (lo < hi) {
    unsigned level = 0;
    while ((lo >> level & 1) == 0 && lo + ((uint64_t)2 << level) <= hi && random_below(random, 4) != 0) level++;
    red_state state = {.f32 = node_of(level, lo >> level)};
    red_forest_push(forest, &lowered, level, lo >> level, state);
    lo += (uint64_t)1 << level;
  }
}

START_TEST(random_cuts) {
  random_state random = random_start(1);
  for (unsigned repeat = suite_repeat(3000); repeat > 0; repeat--) {
    uint64_t count = 1 + random_below(&random, MOST_LEAVES);
    red_forest whole;
    red_forest_clear(&whole);
    random_elements(&random, RED_F32, leaves, count);
    for (uint64_t lo = 0; lo < count;) {
      uint64_t hi = lo + 1 + random_below(&random, random_below(&random, 3) ? 9 : count);
      red_forest range;
      if (hi > count) hi = count;
      fill_range(&range, lo, hi, &random);
      red_forest_append(&whole, &lowered, &range);
      lo = hi;
    }
    float init = 3;
    red_state init_state = {.f32 = init};
    int some_nan = 0;
    for (uint64_t i = 0; i < count; i++) some_nan |= !(leaves[i] - leaves[i] == 0);
    if (some_nan) continue; /* the payload of a NaN is settled at the end, not here */
    ck_assert_uint_eq(whole.count, (unsigned)__builtin_popcountll(count));
    check_bits(root_of(count), red_forest_root(&whole, &lowered), "root", count);
    check_bits(prefix_of(count, NULL), red_forest_prefix(&whole, &lowered, NULL), "prefix", count);
    check_bits(prefix_of(count, &init), red_forest_prefix(&whole, &lowered, &init_state), "prefix with init", count);
  }
}
END_TEST

/* Ranges may be merged before their left neighbour is known. */
START_TEST(any_order_of_merging) {
  random_state random = random_start(2);
  for (unsigned repeat = suite_repeat(2000); repeat > 0; repeat--) {
    uint64_t count = 3 + random_below(&random, MOST_LEAVES - 3);
    uint64_t a = 1 + random_below(&random, count - 2), b = a + random_below(&random, count - a);
    red_forest left, middle, right;
    for (uint64_t i = 0; i < count; i++) leaves[i] = (float)(random_next(&random) >> 40) / 3.0f;
    fill_range(&left, 0, a, &random);
    fill_range(&middle, a, b, &random);
    fill_range(&right, b, count, &random);
    red_forest_append(&middle, &lowered, &right);
    red_forest_append(&left, &lowered, &middle);
    check_bits(root_of(count), red_forest_root(&left, &lowered), "root", count);
    check_bits(prefix_of(count, NULL), red_forest_prefix(&left, &lowered, NULL), "prefix", count);
  }
}
END_TEST

/* A range anywhere decomposes into at most two runs of nodes; none may be lost. */
START_TEST(capacity) {
  red_forest forest;
  red_forest_clear(&forest);
  red_state zero = {.f32 = 0};
  for (unsigned level = 0; level < 64; level++) red_forest_push(&forest, &lowered, level, 1, zero);
  ck_assert_uint_eq(forest.count, 64);
  for (unsigned level = 63; level-- > 0;) red_forest_push(&forest, &lowered, level, 4, zero);
  ck_assert_uint_eq(forest.count, 127);
  ck_assert_uint_le(forest.count, sizeof forest.nodes / sizeof *forest.nodes);
}
END_TEST

START_TEST(identities) {
  red_forest empty;
  red_forest_clear(&empty);
  float negative_zero = -0.0f;
  check_bits(negative_zero, red_state_identity(&lowered), "identity", 0);
  check_bits(negative_zero, red_forest_root(&empty, &lowered), "root", 0);
  check_bits(negative_zero, red_forest_prefix(&empty, &lowered, NULL), "prefix", 0);
}
END_TEST

static void lower(void) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 1);
  ck_red(red_lower(&problem, &lowered));
}

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, lower, NULL);
  tcase_add_test(tests, random_cuts);
  tcase_add_test(tests, any_order_of_merging);
  tcase_add_test(tests, capacity);
  tcase_add_test(tests, identities);
}

int main(void) {
  return suite_run("order", fill);
}
