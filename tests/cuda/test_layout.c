/* SPDX-License-Identifier: BSD-2-Clause */
/* The layouts of workspaces, which need no device: parts do not overlap, and what must stay zero is shared by all. */
#include "../suite.h"
#include "room.h"

static void check_parts(const red_cuda_layout *layout, const uint64_t *at, const uint64_t *bytes, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    ck_assert_uint_ge(at[i], RED_CUDA_SLOTS_AT); /* neither the head nor the counters */
    ck_assert_uint_eq(at[i] % 256, 0);
    ck_assert_uint_le(at[i] + bytes[i], layout->bytes);
    for (unsigned j = i + 1; j < count; j++)
      ck_assert(bytes[i] == 0 || bytes[j] == 0 || at[i] + bytes[i] <= at[j] || at[j] + bytes[j] <= at[i]);
  }
}

static const uint64_t tile_counts[] = {1,         2,    31,   32,   33,    127,    128,    129,     2047,
                                       2048,      2049, 4096, 4097, 65536, 131072, 262144, 4194305, 2048ull * 2048,
                                       1ull << 31};

START_TEST(reductions) {
  static const unsigned words[][2] = {{1, 0}, {2, 0}, {4, 0}, {8, RED_STAT_DEFAULT}, {16, RED_STAT_ALL}};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    for (size_t t = 0; t < sizeof tile_counts / sizeof *tile_counts; t++) {
      red_cuda_plan plan = {.slot_words = words[w][0], .stats = words[w][1]};
      red_cuda_layout layout = red_cuda_reduce_layout(&plan, tile_counts[t]);
      uint64_t at[RED_CUDA_LEVELS], bytes[RED_CUDA_LEVELS], count = tile_counts[t];
      uint64_t group = words[w][1] != 0 ? RED_CUDA_STATS_LEAST : 2048;
      for (unsigned k = 0; k < layout.levels; k++, count = (count + group - 1) / group) {
        at[k] = layout.slots[k];
        bytes[k] = count * words[w][0] * 8;
      }
      ck_assert_uint_eq(count, 1); /* everything comes together at the top */
      check_parts(&layout, at, bytes, layout.levels);
    }
}
END_TEST

static void check_scan(uint64_t tiles, unsigned words, unsigned group_bits) {
  red_cuda_plan plan = {.slot_words = words};
  red_cuda_layout layout = red_cuda_scan_layout(&plan, tiles, group_bits);
  uint64_t at[RED_CUDA_SCAN_LEVELS], bytes[RED_CUDA_SCAN_LEVELS], last = tiles - 1;
  for (unsigned k = 0; k < layout.levels; k++) {
    at[k] = layout.slots[k];
    bytes[k] = ((last | 3) + 1) * words * 8; /* lanes read four neighbours, whether they are there or not */
    last >>= k == 0 ? group_bits : 5;
  }
  ck_assert_uint_eq(last, 0);
  check_parts(&layout, at, bytes, layout.levels);
  /* what a plan asks for is enough for each of its kernels */
  ck_assert_uint_le(layout.bytes, red_cuda_scan_layout(&plan, tiles, RED_CUDA_SCAN_SMALL_GROUPS).bytes);
}

START_TEST(scans) {
  for (unsigned words = 1; words <= 2; words++)
    for (size_t t = 0; t < sizeof tile_counts / sizeof *tile_counts; t++) {
      check_scan(tile_counts[t], words, RED_CUDA_SCAN_SMALL_GROUPS);
      check_scan(tile_counts[t], words, RED_CUDA_SCAN_LARGE_GROUPS);
    }
}
END_TEST

/* One counter a group at every level; above the reserve the host takes another way. */
START_TEST(counters) {
  ck_assert_uint_ge(RED_CUDA_COUNTERS_AT, sizeof(red_cuda_head));
  ck_assert_uint_eq(red_cuda_counters(1, 2048), 0);
  ck_assert_uint_eq(red_cuda_counters(2048, 2048), 1);
  ck_assert_uint_eq(red_cuda_counters(2049, 2048), 3);
  ck_assert_uint_eq(red_cuda_counters(262144, 2048), 129);
  ck_assert_uint_eq(red_cuda_counters(262144, 512), 513);
  ck_assert_uint_gt(red_cuda_counters(1ull << 31, 2048), RED_CUDA_COUNTERS);
}
END_TEST

/* Groups of statistics grow so that those who poll leave half of the places to others. */
START_TEST(groups) {
  static const uint64_t residents[] = {132 * 6, 132 * 4, 40};
  red_cuda_plan stats = {.stats = RED_STAT_DEFAULT}, sums = {.stats = 0};
  for (size_t r = 0; r < sizeof residents / sizeof *residents; r++)
    for (size_t t = 0; t < sizeof tile_counts / sizeof *tile_counts; t++) {
      uint64_t tiles = tile_counts[t], group = red_cuda_group_tiles(&stats, tiles, residents[r]);
      ck_assert_uint_ge(group, RED_CUDA_STATS_LEAST);
      ck_assert_uint_le(group, RED_CUDA_STATS_MOST);
      ck_assert_uint_eq(group & (group - 1), 0);
      ck_assert(group == RED_CUDA_STATS_MOST || tiles / group + 2 <= residents[r] / 2);
      ck_assert(group == RED_CUDA_STATS_LEAST ||
                tiles / (group / 2) + 2 > residents[r] / 2); /* no larger than needed */
      ck_assert_uint_eq(red_cuda_group_tiles(&sums, tiles, residents[r]), 2048);
    }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("layout");
  TCase *tests = tcase_create("cuda");
  tcase_add_test(tests, reductions);
  tcase_add_test(tests, scans);
  tcase_add_test(tests, counters);
  tcase_add_test(tests, groups);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
