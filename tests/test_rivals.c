/* SPDX-License-Identifier: BSD-2-Clause */
/* When a large scan is done by one thread alone: what was learnt decides, and some calls are done the other way. */
#include "../src/backend_omp/rivals.h"

#include "suite.h"

enum {
  PERIOD = 32, /* in which there is one call done the other way, or four where that costs little */
  BYTES = 1 << 25
};

/* `count` calls, each of which takes as long as these speeds say (bytes in a microsecond): how many used one thread. */
static unsigned alone_of(red_rivals *rivals, unsigned count, uint64_t alone, uint64_t team) {
  unsigned seen = 0;
  for (unsigned i = 0; i < count; i++) {
    bool one = red_rivals_prefer_one(rivals);
    red_rivals_learn(rivals, one, BYTES, (uint64_t)BYTES * 1000 / (one ? alone : team));
    seen += one;
  }
  return seen;
}

START_TEST(a_team_to_begin_with) {
  red_rivals rivals = {0};
  ck_assert(!red_rivals_prefer_one(&rivals));
  ck_assert(!red_rivals_prefer_one(&rivals));
}
END_TEST

/* Where no team could be had, alone is all that is known: that is no reason to prefer it. */
START_TEST(no_team_to_be_had) {
  red_rivals rivals = {0};
  unsigned preferred = 0;
  for (unsigned i = 0; i < 3 * PERIOD; i++) {
    preferred += red_rivals_prefer_one(&rivals);
    red_rivals_learn(&rivals, true, BYTES, 1000000);
  }
  ck_assert_uint_le(preferred, 12);
}
END_TEST

START_TEST(a_team_helps) {
  red_rivals rivals = {0};
  ck_assert_uint_eq(alone_of(&rivals, 10 * PERIOD, 44000, 70000), 10);
}
END_TEST

START_TEST(a_team_hinders) {
  red_rivals rivals = {0};
  alone_of(&rivals, PERIOD, 44000, 40000);
  ck_assert_uint_eq(alone_of(&rivals, 10 * PERIOD, 44000, 40000), 10 * (PERIOD - 4));
}
END_TEST

/* For a difference of 2 % nothing is changed. */
START_TEST(no_difference) {
  red_rivals rivals = {0};
  ck_assert_uint_eq(alone_of(&rivals, 10 * PERIOD, 44800, 44000), 40);
}
END_TEST

START_TEST(a_disturbed_call) {
  red_rivals rivals = {0};
  alone_of(&rivals, 2 * PERIOD, 44000, 50000);
  red_rivals_learn(&rivals, false, BYTES, (uint64_t)BYTES * 1000 / 4000);
  ck_assert_uint_eq(alone_of(&rivals, PERIOD, 44000, 50000), 4);
}
END_TEST

/* A virtual machine's cores move from one complex to two and back. */
START_TEST(the_cores_move) {
  red_rivals rivals = {0};
  alone_of(&rivals, 2 * PERIOD, 44000, 40000);
  alone_of(&rivals, PERIOD, 48000, 72000);
  ck_assert_uint_eq(alone_of(&rivals, 10 * PERIOD, 48000, 72000), 10);
  alone_of(&rivals, 2 * PERIOD, 44000, 40000);
  ck_assert_uint_eq(alone_of(&rivals, 10 * PERIOD, 44000, 40000), 10 * (PERIOD - 4));
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
}

int main(void) {
  return suite_run("rivals", fill);
}
