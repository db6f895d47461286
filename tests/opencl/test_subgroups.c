/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sub-groups of sizes other than the driver's own, where it offers the choice. Several chunks a work-group, and a
 * product, which shows each lane's part in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum {
  N = 800000
};

static const unsigned sizes[] = {1, 2, 8, 16, 32, 64};

static void compare_all(void) {
  static float near_one[N];
  random_state random = random_start(7);
  red_problem product = RED_PROBLEM_INIT(RED_REDUCE, RED_PROD, RED_F32, N);
  red_problem others[] = {
      RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F64, N),         RED_PROBLEM_INIT(RED_REDUCE, RED_ARGMIN, RED_I32, N),
      RED_PROBLEM_INIT(RED_REDUCE, RED_DOT, RED_F32, N),         RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_F32, N),
      RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N),
  };
  for (size_t i = 0; i < N; i++) near_one[i] = 1 + (float)((double)random_below(&random, 2001) - 1000) * 0x1p-22f;
  compare_data_on_device(&product, near_one, NULL, NULL, &random);
  for (size_t p = 0; p < sizeof others / sizeof *others; p++) compare_on_device(&others[p], NULL, &random);
}

START_TEST(of_size) {
  char settings[64];
  red_context *usual = context;
  snprintf(settings, sizeof settings, "RED_OPENCL_SHAPE=subgroup:%u", sizes[_i]);
  red_status status = untested_context_under(settings, &context);
  if (status == RED_ERR_NO_DEVICE && strstr(red_last_error(), "cannot do that") != NULL) {
    printf("%s\n", red_last_error());
  } else {
    ck_red(status);
    compare_all();
    red_context_destroy(context);
  }
  context = usual;
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_unchecked_fixture(tests, open_native, close_native);
  tcase_add_loop_test(tests, of_size, 0, sizeof sizes / sizeof *sizes);
}

int main(void) {
  return suite_run("opencl subgroups", fill);
}
