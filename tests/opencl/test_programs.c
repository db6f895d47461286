/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs and their cache, with a real driver: what the second process loads, and what becomes of a cache that is
 * damaged, or filled by several processes at once. Each of them is this program again.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

static const char *self;
static char *drivers; /* the list as it was before a loader cut it into words where it lies */
static char folder[64], log_path[96];

/* ---- In the child ---- */

static int work(void) {
  red_context *context;
  red_context_options options = {.size = sizeof options, .backend = suite_backend()};
  if (red_context_create(&options, &context) != RED_OK) {
    fprintf(stderr, "%s\n", red_last_error());
    return 2;
  }
  int32_t x[3000];
  int64_t sum = 0, sums[3000];
  for (int i = 0; i < 3000; i++) x[i] = i;
  if (red_reduce(context, RED_SUM, RED_I32, x, 3000, &sum) != RED_OK || sum != 4498500) return 3;
  if (red_inclusive_scan(context, RED_SUM, RED_I32, x, 3000, sums) != RED_OK || sums[2999] != sum) return 4;
  red_context_destroy(context);
  return 0;
}

/* ---- In the parent ---- */

static void begin(void) {
  snprintf(folder, sizeof folder, "/tmp/libred-programs-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(log_path, sizeof log_path, "%s.log", folder);
  setenv("RED_CACHE_DIR", folder, 1);
  setenv("RED_OPENCL_BINARIES", "1", 1);
  setenv("RED_VERBOSE", "1", 1);
  setenv("RED_OPENCL_PROBE", "0", 1); /* which would compile and keep the programs of the self-test */
}

static void end(void) {
  char command[256];
  snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s %s", folder, folder, log_path);
  ck_assert_int_eq(system(command), 0);
}

static pid_t start(void) {
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child > 0) return child;
  if (drivers != NULL) setenv("OCL_ICD_FILENAMES", drivers, 1);
  if (freopen(log_path, "a", stderr) == NULL) _exit(9);
  execl(self, self, "work", (char *)NULL);
  _exit(8);
}

static void expect_success(pid_t child) {
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}

/* How many programs the next process compiles. */
static unsigned builds(void) {
  char line[2048];
  unsigned count = 0;
  remove(log_path);
  expect_success(start());
  FILE *file = fopen(log_path, "r");
  ck_assert_ptr_nonnull(file);
  while (fgets(line, sizeof line, file) != NULL) count += strstr(line, "building a program") != NULL;
  fclose(file);
  return count;
}

/* Change each file of the cache; how many there were. */
static unsigned for_each_file(void (*change)(const char *path, off_t bytes)) {
  char path[512];
  unsigned count = 0;
  DIR *listing = opendir(folder);
  ck_assert_ptr_nonnull(listing);
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    struct stat found;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) continue;
    change(path, found.st_size);
    count++;
  }
  closedir(listing);
  return count;
}

static void cut(const char *path, off_t bytes) {
  ck_assert_int_eq(truncate(path, bytes / 2), 0);
}

static void flip(const char *path, off_t bytes) {
  FILE *file = fopen(path, "r+");
  fseek(file, bytes - 10, SEEK_SET);
  int byte = fgetc(file);
  fseek(file, bytes - 10, SEEK_SET);
  fputc(byte ^ 1, file);
  fclose(file);
}

START_TEST(second_process) {
  ck_assert_uint_gt(builds(), 1);
  ck_assert_uint_eq(builds(), 0);
  ck_assert_uint_gt(for_each_file(cut), 1);
  ck_assert_uint_gt(builds(), 1);
  ck_assert_uint_eq(builds(), 0);
  ck_assert_uint_gt(for_each_file(flip), 1);
  ck_assert_uint_gt(builds(), 1);
  ck_assert_uint_eq(builds(), 0);
}
END_TEST

START_TEST(no_cache) {
  setenv("RED_CACHE_DIR", "", 1);
  ck_assert_uint_gt(builds(), 1);
  ck_assert_uint_gt(builds(), 1);
}
END_TEST

START_TEST(at_once) {
  pid_t children[3];
  for (int i = 0; i < 3; i++) children[i] = start();
  for (int i = 0; i < 3; i++) expect_success(children[i]);
  ck_assert_uint_eq(builds(), 0);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, begin, end);
  tcase_add_test(tests, second_process);
  tcase_add_test(tests, no_cache);
  tcase_add_test(tests, at_once);
}

int main(int argc, char **argv) {
  self = argv[0];
  if (getenv("OCL_ICD_FILENAMES") != NULL) drivers = strdup(getenv("OCL_ICD_FILENAMES"));
  return argc == 2 ? work() : suite_run("opencl programs", fill);
}
