/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of a device: any size, also beside the pages that large arrays are asked for in, holds what is written to it.
 */
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "random.h"
#include "suite.h"

static red_context *context;

enum {
  HUGE_PAGE = 2 << 20,
  MOST = 5 * HUGE_PAGE + 77
};
static unsigned char written[MOST], read_back[MOST];

static void use(uint64_t bytes) {
  void *memory;
  ck_red(red_alloc(context, bytes, &memory));
  if (strcmp(suite_backend(), "omp") == 0) ck_assert_uint_eq((uintptr_t)memory % 256, 0);
  ck_red(red_upload(context, NULL, memory, 0, written, bytes));
  memset(read_back, 0, bytes);
  ck_red(red_download(context, NULL, read_back, memory, 0, bytes));
  ck_assert_int_eq(memcmp(written, read_back, bytes), 0);
  red_free(context, memory);
}

static void use_all_sizes(void) {
  static const uint64_t sizes[] = {1,   4096, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1, 2 * HUGE_PAGE, 3 * HUGE_PAGE - 1,
                                   MOST};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) use(sizes[i]);
}

START_TEST(sizes) {
  random_state random = random_start(1);
  for (size_t i = 0; i < MOST; i++) written[i] = (unsigned char)random_next(&random);
  use_all_sizes();
}
END_TEST

/* As where the system gives huge pages to nobody. */
START_TEST(without_huge_pages) {
#if defined(PR_SET_THP_DISABLE)
  if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) return;
  use_all_sizes();
  ck_assert_int_eq(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
#endif
}
END_TEST

/* More than there can be is an error, not a pointer. */
START_TEST(too_much) {
  void *memory = written;
  ck_assert_int_ne(red_alloc(context, UINT64_MAX - 4096, &memory), RED_OK);
  ck_assert_str_ne(red_last_error(), "");
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
  tcase_add_test(tests, sizes);
  tcase_add_test(tests, without_huge_pages);
  tcase_add_test(tests, too_much);
}

int main(void) {
  return suite_run("memory", fill);
}
