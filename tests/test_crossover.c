/* SPDX-License-Identifier: BSD-2-Clause */
/* How many threads a call deserves where starting them costs so much: given costs, no clock. */
#include "../src/backend_omp/crossover.h"

#include "suite.h"

enum {
  SPEED = 100000, /* bytes in a microsecond */
  MIB = 1 << 20
};

static unsigned untried;

/* What is known of teams up to `most` threads: that of 2 costs `cost` ns, each size twice as much as the one before. */
static void know(red_crossover *known, unsigned most, uint64_t cost) {
  *known = (red_crossover){0};
  for (unsigned threads = 2;; threads = 2 * threads < most ? 2 * threads : most, cost *= 2) {
    red_crossover_learn(known, SPEED, threads, cost);
    if (threads >= most) break;
  }
}

static unsigned threads_of(red_crossover *known, uint64_t bytes, unsigned most) {
  return red_crossover_threads(known, bytes, most, &untried);
}

/* The first size that two threads share. */
static uint64_t crossover_of(uint64_t cost) {
  red_crossover known;
  know(&known, 2, cost);
  uint64_t bytes = 1024;
  while (threads_of(&known, bytes, 2) < 2) bytes += 1024;
  return bytes;
}

START_TEST(small_calls_measure_nothing) {
  red_crossover known = {0};
  ck_assert_uint_eq(threads_of(&known, 2 * RED_LEAST_SHARE - 1, 64), 1);
  ck_assert_uint_eq(untried, 0);
  ck_assert_uint_eq(threads_of(&known, 0, 64), 1);
  ck_assert_uint_eq(untried, 0);
}
END_TEST

START_TEST(one_cpu_measures_nothing) {
  red_crossover known = {0};
  ck_assert_uint_eq(threads_of(&known, UINT64_MAX, 1), 1);
  ck_assert_uint_eq(untried, 0);
}
END_TEST

/* One thread, until it is known what two cost: calls that cannot have a second one measure nothing. */
START_TEST(measured_by_the_first_call_that_can) {
  red_crossover known = {0};
  for (unsigned call = 1; call <= 1000; call++) {
    ck_assert_uint_eq(threads_of(&known, 4 * MIB, 2), 1);
    ck_assert_uint_eq(untried, 2);
  }
}
END_TEST

/* A busy moment does not decide for good, and measuring ends. */
START_TEST(measured_again) {
  red_crossover known = {0};
  unsigned tries = 0, last = 0;
  red_crossover_learn(&known, SPEED, 2, 8000000);
  for (unsigned call = 1; call <= 1000; call++) {
    ck_assert_uint_eq(threads_of(&known, 4 * MIB, 2), 1);
    if (untried == 0) continue;
    ck_assert_uint_eq(untried, 2);
    ck_assert_msg((call & (call - 1)) == 0, "call %u measures", call);
    tries++, last = call;
    red_crossover_learn(&known, SPEED, 2, 8000000);
  }
  ck_assert_uint_eq(tries, 7);
  ck_assert_uint_eq(last, RED_TEAM_TRIES);
}
END_TEST

/* Calls that get no team, because other calls have the CPUs or theirs is the only one, use up no tries. */
START_TEST(measured_again_by_a_call_that_can) {
  red_crossover known = {0};
  red_crossover_learn(&known, SPEED, 2, 8000000);
  for (unsigned call = 1; call <= 1000; call++) {
    ck_assert_uint_eq(threads_of(&known, 4 * MIB, 2), 1);
    ck_assert_uint_eq(untried, 2);
  }
  red_crossover_learn(&known, SPEED, 2, 1000);
  ck_assert_uint_eq(threads_of(&known, 4 * MIB, 2), 2);
}
END_TEST

/* Nor does a call that measures a larger team use up those of smaller ones. */
START_TEST(measured_again_one_by_one) {
  red_crossover known = {0};
  unsigned tries[7] = {0};
  know(&known, 6, 1000);
  for (unsigned call = 1; call <= 1000; call++) {
    threads_of(&known, 100 * MIB, 6);
    if (untried == 0) continue;
    ck_assert_uint_le(untried, 6);
    tries[untried]++;
    red_crossover_learn(&known, SPEED, untried, 1000 * untried);
  }
  ck_assert_uint_eq(tries[2], 7);
  ck_assert_uint_eq(tries[4], 7);
  ck_assert_uint_eq(tries[6], 7);
}
END_TEST

START_TEST(the_least_cost_counts) {
  red_crossover known = {0};
  red_crossover_learn(&known, SPEED, 2, 8000000);
  ck_assert_uint_eq(threads_of(&known, 4 * MIB, 2), 1);
  red_crossover_learn(&known, SPEED, 2, 1000);
  ck_assert_uint_eq(threads_of(&known, 4 * MIB, 2), 2);
  red_crossover_learn(&known, SPEED / 2, 2, 9000);
  ck_assert_uint_eq(threads_of(&known, 4 * MIB, 2), 2);
}
END_TEST

/* One thread would need bytes / SPEED; two need half of that and the cost. Never more than one alone. */
START_TEST(two_threads_pay) {
  static const uint64_t costs[] = {1, 100, 1000, 10000, 50000};
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
    const uint64_t bytes = crossover_of(costs[i]), alone = bytes * 1000 / SPEED;
    ck_assert_uint_ge(bytes, 2 * RED_LEAST_SHARE);
    ck_assert_uint_le(alone / 2 + costs[i], alone);
    ck_assert_uint_le(bytes, 2 * RED_LEAST_SHARE + 4 * costs[i] * SPEED / 1000 + 1024);
  }
}
END_TEST

/* Starting that takes milliseconds, or for ever, does not forbid threads to what takes longer. */
START_TEST(enough_is_enough) {
  ck_assert_uint_eq(crossover_of(50000000), 2 * RED_MOST_SHARE);
  ck_assert_uint_eq(crossover_of(UINT64_MAX), 2 * RED_MOST_SHARE);
  ck_assert_uint_lt(crossover_of(0), 2 * RED_LEAST_SHARE + MIB / 64);
}
END_TEST

/* Larger teams are measured when smaller ones pay, and are as large as the bytes deserve. */
START_TEST(larger_teams_one_by_one) {
  red_crossover known = {0};
  red_crossover_learn(&known, SPEED, 2, 1000);
  ck_assert_uint_eq(threads_of(&known, 100 * MIB, 6), 2);
  ck_assert_uint_eq(untried, 4);
  threads_of(&known, MIB, 6);
  ck_assert_uint_ne(untried, 4); /* which two threads are enough for */
  red_crossover_learn(&known, SPEED, 4, 2000);
  ck_assert_uint_eq(threads_of(&known, 100 * MIB, 6), 4);
  ck_assert_uint_eq(untried, 6);
  red_crossover_learn(&known, SPEED, 6, 3000);
  ck_assert_uint_eq(threads_of(&known, 100 * MIB, 6), 6);
  ck_assert_uint_eq(threads_of(&known, 100 * MIB, 5), 5);
  ck_assert_uint_eq(threads_of(&known, 100 * MIB, 3), 3);
}
END_TEST

/* More bytes never deserve fewer threads, nor a larger limit; each has its share. */
START_TEST(monotone) {
  red_crossover known;
  know(&known, 96, 700);
  for (unsigned most = 1; most <= 96; most++) {
    unsigned before = 1;
    for (uint64_t bytes = MIB / 8; bytes < (uint64_t)MIB << 14; bytes += bytes / 7) {
      const unsigned threads = threads_of(&known, bytes, most);
      ck_assert_uint_ge(threads, before);
      ck_assert_uint_le(threads, most);
      ck_assert(threads == 1 || bytes / threads >= RED_LEAST_SHARE);
      before = threads;
    }
    ck_assert_uint_eq(before, most);
  }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_test(tests, small_calls_measure_nothing);
  tcase_add_test(tests, one_cpu_measures_nothing);
  tcase_add_test(tests, measured_by_the_first_call_that_can);
  tcase_add_test(tests, measured_again);
  tcase_add_test(tests, measured_again_by_a_call_that_can);
  tcase_add_test(tests, measured_again_one_by_one);
  tcase_add_test(tests, the_least_cost_counts);
  tcase_add_test(tests, two_threads_pay);
  tcase_add_test(tests, enough_is_enough);
  tcase_add_test(tests, larger_teams_one_by_one);
  tcase_add_test(tests, monotone);
}

int main(void) {
  return suite_run("crossover", fill);
}
