/* SPDX-License-Identifier: BSD-2-Clause */
/* How many CPUs the quotas of control groups leave, in folders made as Linux lays them out. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw */
#endif
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "quota.h"
#include "suite.h"

enum {
  MOST = 64
};

static char root[64];

/* Write a file below the root, and the folders above it. */
static void put(const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s%s", root, name);
  for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *level) {
  (void)status, (void)type, (void)level;
  return remove(path);
}

static void make_root(void) {
  strcpy(root, "/tmp/libred-quota-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void) {
  nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Groups of one hierarchy each: what /proc/self/cgroup says, then files and their texts. */
static const struct {
  const char *groups;
  const char *files[6][2];
  unsigned cpus;
} rows[] = {
    /* No files, no groups, no limit. */
    {"", {{NULL}}, MOST},
    {"0::/\n", {{NULL}}, MOST},
    /* The unified hierarchy. */
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}, 2},
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "max 100000\n"}}, MOST},
    {"0::/a/b\n", {{"/sys/fs/cgroup/a/b/cpu.max", "300000 100000\n"}}, 3},
    {"0::/a/b\n", {{"/sys/fs/cgroup/a/c/cpu.max", "300000 100000\n"}}, MOST},
    {"0::/a/b\n", {{"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}, {"/sys/fs/cgroup/a/cpu.max", "500000 100000\n"}}, 5},
    {"0::/a/b\n",
     {{"/sys/fs/cgroup/a/b/cpu.max", "900000 100000\n"}, {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}},
     4},
    {"0::/a/b\n",
     {{"/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"}, {"/sys/fs/cgroup/cpu.max", "900000 100000\n"}},
     4},
    {"0::/of/a/host\n", {{"/sys/fs/cgroup/cpu.max", "700000 100000\n"}}, 7},
    /* Parts of CPUs: whole ones, one at least; never more than there are. */
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "250000 100000\n"}}, 2},
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "1000 100000\n"}}, 1},
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "150000 50000\n"}}, 3},
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "99900000 100000\n"}}, MOST},
    /* What makes no sense is no limit. */
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", ""}}, MOST},
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "200000\n"}}, MOST},
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "200000 0\n"}}, MOST},
    {"0::/\n", {{"/sys/fs/cgroup/cpu.max", "-1 100000\n"}}, MOST},
    {"nonsense\n1:\n\n0::/\n", {{"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}, 2},
    /* Hierarchies of controllers: two files. */
    {"3:cpu:/\n",
     {{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"}, {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     2},
    {"3:cpu:/\n",
     {{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"}, {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     MOST},
    {"3:cpu:/\n", {{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"}}, MOST},
    {"3:cpu:/\n", {{"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}, MOST},
    {"9:cpuset:/x\n4:cpuacct,cpu:/a\n0::/y\n",
     {{"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n"}, {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}},
     3},
    {"9:cpuset:/a\n4:cpuacct:/a\n",
     {{"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n"}, {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}},
     MOST},
    {"4:cpu,cpuacct:/a/b\n",
     {{"/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "600000\n"},
      {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}},
     6},
    /* Both, in a group of each: the tighter one. */
    {"4:cpu,cpuacct:/a\n0::/b\n",
     {{"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "800000\n"},
      {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/b/cpu.max", "500000 100000\n"}},
     5},
    {"4:cpu,cpuacct:/a\n0::/b\n",
     {{"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000\n"},
      {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/b/cpu.max", "500000 100000\n"}},
     2},
};

START_TEST(quotas) {
  make_root();
  put("/proc/self/cgroup", rows[_i].groups);
  for (size_t i = 0; i < 6 && rows[_i].files[i][0] != NULL; i++) put(rows[_i].files[i][0], rows[_i].files[i][1]);
  unsigned cpus = red_quota_cpus(root, MOST);
  remove_root();
  ck_assert_msg(cpus == rows[_i].cpus, "row %d: %u CPUs, expected %u", _i, cpus, rows[_i].cpus);
}
END_TEST

START_TEST(no_proc) {
  make_root();
  ck_assert_uint_eq(red_quota_cpus(root, 3), 3);
  remove_root();
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_loop_test(tests, quotas, 0, sizeof rows / sizeof *rows);
  tcase_add_test(tests, no_proc);
}

int main(void) {
  return suite_run("quota", fill);
}
