/* SPDX-License-Identifier: BSD-2-Clause */
/* When a large scan is done by one thread alone: what was learnt decides, and some calls are done the other way. */
#include "../src/backend_omp/rivals.h"

#include "suite.h"

enum {
  MANY = 320,
  OFTEN = 8, /* one call in so many, about, is done the other way where that costs nothing */
  BYTES = 1 << 25
};

/* `count` calls, each of which takes as long as these speeds say (bytes in a microsecond): how many used one thread. */
static unsigned alone_of(red_rivals *rivals, unsigned count, uint64_t alone, uint64_t team) {
  unsigned seen = 0;
  for (unsigned i = 0; i < count; i++) {
    bool one = red_rivals_prefer_one(rivals, BYTES);
    red_rivals_learn(rivals, one, BYTES, (uint64_t)BYTES * 1000 / (one ? alone : team));
    seen += one;
  }
  return seen;
}

START_TEST(a_team_to_begin_with) {
  red_rivals rivals = {0};
  ck_assert(!red_rivals_prefer_one(&rivals, BYTES));
  ck_assert(!red_rivals_prefer_one(&rivals, BYTES));
}
END_TEST

/* Where no team could be had, alone is all that is known: that is no reason to prefer it. */
START_TEST(no_team_to_be_had) {
  red_rivals rivals = {0};
  unsigned preferred = 0;
  for (unsigned i = 0; i < MANY; i++) {
    preferred += red_rivals_prefer_one(&rivals, BYTES);
    red_rivals_learn(&rivals, true, BYTES, 1000000);
  }
  ck_assert_uint_le(preferred, MANY / OFTEN);
}
END_TEST

/* The other way is looked at, seldom. */
START_TEST(a_team_helps) {
  red_rivals rivals = {0};
  const unsigned alone = alone_of(&rivals, MANY, 44000, 70000);
  ck_assert_uint_ge(alone, MANY / 64);
  ck_assert_uint_le(alone, MANY / 20);
}
END_TEST

START_TEST(a_team_hinders) {
  red_rivals rivals = {0};
  alone_of(&rivals, MANY, 44000, 40000);
  const unsigned team = MANY - alone_of(&rivals, MANY, 44000, 40000);
  ck_assert_uint_ge(team, MANY / 40);
  ck_assert_uint_le(team, MANY / OFTEN);
}
END_TEST

/* For a difference of 2 % nothing is changed. */
START_TEST(no_difference) {
  red_rivals rivals = {0};
  ck_assert_uint_le(alone_of(&rivals, MANY, 44800, 44000), MANY / OFTEN);
}
END_TEST

START_TEST(a_disturbed_call) {
  red_rivals rivals = {0};
  alone_of(&rivals, MANY, 44000, 50000);
  red_rivals_learn(&rivals, false, BYTES, (uint64_t)BYTES * 1000 / 4000);
  ck_assert_uint_le(alone_of(&rivals, MANY, 44000, 50000), MANY / OFTEN);
}
END_TEST

/* A virtual machine's cores move from one complex to two and back. */
START_TEST(the_cores_move) {
  red_rivals rivals = {0};
  alone_of(&rivals, MANY, 44000, 40000);
  alone_of(&rivals, 64, 48000, 72000);
  ck_assert_uint_le(alone_of(&rivals, MANY, 48000, 72000), MANY / OFTEN);
  alone_of(&rivals, 64, 44000, 40000);
  ck_assert_uint_ge(alone_of(&rivals, MANY, 44000, 40000), MANY - MANY / OFTEN);
}
END_TEST

/* However much slower one way is, to know that costs at most 5 % of the time in the long run. */
START_TEST(looking_is_cheap) {
  static const double ratios[] = {0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.1, 1.3, 1.5, 2, 3, 8, 20, 60};
  for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
    enum {
      CALLS = 20000
    };
    red_rivals rivals = {0};
    const double team = 1e6, alone = 1e6 * ratios[i], best = alone < team ? alone : team;
    double all = 0;
    for (unsigned call = 0; call < CALLS; call++) {
      const double took = red_rivals_prefer_one(&rivals, (uint64_t)1 << 28) ? alone : team;
      red_rivals_learn(&rivals, took == alone, (uint64_t)1 << 28, (uint64_t)took);
      all += took;
    }
    ck_assert_msg(all < 1.05 * CALLS * best, "alone takes %g of the team's time: %g of the best", ratios[i],
                  all / CALLS / best);
  }
}
END_TEST

/* Pages that are new to the first call take time. */
START_TEST(new_pages) {
  red_rivals rivals = {0};
  red_rivals_learn(&rivals, red_rivals_prefer_one(&rivals, BYTES), BYTES, (uint64_t)BYTES * 1000 / 5000);
  ck_assert_uint_le(alone_of(&rivals, MANY, 44000, 70000), MANY / 20);
}
END_TEST

/* The first call of another kind fetches what the other cores have: it says nothing about that kind. */
START_TEST(the_second_tells) {
  red_rivals rivals = {0};
  unsigned alone = 0;
  bool before = false;
  for (unsigned call = 0; call < MANY; call++) {
    const bool one = red_rivals_prefer_one(&rivals, BYTES);
    const uint64_t speed = one != before ? 20000 : one ? 44000 : 40000;
    red_rivals_learn(&rivals, one, BYTES, (uint64_t)BYTES * 1000 / speed);
    before = one;
    alone += one;
  }
  ck_assert_uint_ge(alone, MANY - MANY / OFTEN);
}
END_TEST

/* In a cache the data has to come from another core's after such a call: fewer of them. */
START_TEST(small_calls) {
  enum {
    CALLS = 20000
  };
  red_rivals rivals = {0};
  unsigned alone = 0;
  for (unsigned call = 0; call < CALLS; call++) {
    const bool one = red_rivals_prefer_one(&rivals, 1 << 21);
    red_rivals_learn(&rivals, one, 1 << 21, 50000);
    alone += one;
  }
  ck_assert_uint_gt(alone, CALLS / 1000);
  ck_assert_uint_lt(alone, CALLS / 50);
}
END_TEST

/* Two sizes by turns, of one record: each of them is done the other way now and then. */
START_TEST(two_by_turns) {
  static const uint64_t speeds[][2] = {{44000, 70000}, {44000, 40000}, {44000, 44000}};
  for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
    red_rivals rivals = {0};
    unsigned alone[2] = {0, 0};
    for (unsigned call = 0; call < MANY; call++) alone[call % 2] += alone_of(&rivals, 1, speeds[i][0], speeds[i][1]);
    for (unsigned kind = 0; kind < 2; kind++) {
      ck_assert_uint_gt(alone[kind], 0);
      ck_assert_uint_lt(alone[kind], MANY / 2);
    }
  }
}
END_TEST

START_TEST(sizes) {
  ck_assert_uint_eq(red_rivals_size(1), 0);
  ck_assert_uint_eq(red_rivals_size((1 << 21) - 1), 0);
  ck_assert_uint_eq(red_rivals_size(1 << 21), 1);
  ck_assert_uint_eq(red_rivals_size(UINT64_MAX), RED_RIVALS_SIZES - 1);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_test(tests, a_team_to_begin_with);
  tcase_add_test(tests, no_team_to_be_had);
  tcase_add_test(tests, a_team_helps);
  tcase_add_test(tests, a_team_hinders);
  tcase_add_test(tests, no_difference);
  tcase_add_test(tests, a_disturbed_call);
  tcase_add_test(tests, the_cores_move);
  tcase_add_test(tests, looking_is_cheap);
  tcase_add_test(tests, new_pages);
  tcase_add_test(tests, the_second_tells);
  tcase_add_test(tests, small_calls);
  tcase_add_test(tests, two_by_turns);
  tcase_add_test(tests, sizes);
}

int main(void) {
  return suite_run("rivals", fill);
}
