/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled programs on disk: what was stored comes back, and nothing else does, whatever happened to the file or its
 * folder.
 */
#define _GNU_SOURCE /* unshare */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "device.h"

enum {
  BYTES = 100000
};

static char folder[64];
static unsigned char binary[BYTES];
static red_cl_cache_entry entry;
static const char *const texts[] = {"kernel void", " f(void) {}"};

static void locate(const char *options, red_cl_cache_entry *to) {
  red_cl_traits traits = {.name = "device", .driver_version = "1"};
  red_cl_cache_locate(&traits, texts, 2, options, to);
}

static void begin(void) {
  snprintf(folder, sizeof folder, "/tmp/libred-cache-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("RED_CACHE_DIR", folder, 1);
  for (unsigned i = 0; i < BYTES; i++) binary[i] = (unsigned char)(i * 7 + i / 251);
  locate("-DA", &entry);
  ck_assert_ptr_nonnull(entry.path);
}

static void end(void) {
  char command[256];
  red_cl_cache_release(&entry);
  snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", folder, folder);
  ck_assert_int_eq(system(command), 0);
}

static void expect_hit(void) {
  size_t bytes = 0;
  unsigned char *loaded = red_cl_cache_load(&entry, &bytes);
  ck_assert_ptr_nonnull(loaded);
  ck_assert_uint_eq(bytes, BYTES);
  ck_assert_int_eq(memcmp(loaded, binary, BYTES), 0);
  free(loaded);
}

static void expect_miss(void) {
  size_t bytes;
  ck_assert_ptr_null(red_cl_cache_load(&entry, &bytes));
}

static unsigned files_in_folder(void) {
  char command[256];
  unsigned count = 99;
  snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
  FILE *pipe = popen(command, "r");
  ck_assert_int_eq(fscanf(pipe, "%u", &count), 1);
  pclose(pipe);
  return count;
}

START_TEST(comes_back) {
  expect_miss();
  ck_assert(red_cl_cache_store(&entry, binary, BYTES));
  expect_hit();
  ck_assert_uint_eq(files_in_folder(), 1); /* nothing left aside */
}
END_TEST

START_TEST(other_options) {
  red_cl_cache_entry other;
  red_cl_cache_store(&entry, binary, BYTES);
  locate("-DB", &other);
  ck_assert_str_ne(other.path, entry.path);
  /* Nor is a file taken for another that bears its name. */
  ck_assert_int_eq(rename(entry.path, other.path), 0);
  size_t bytes;
  ck_assert_ptr_null(red_cl_cache_load(&other, &bytes));
  red_cl_cache_release(&other);
}
END_TEST

/* Every single byte of the head and many of the rest. */
START_TEST(damaged) {
  red_cl_cache_store(&entry, binary, BYTES);
  struct stat found;
  ck_assert_int_eq(stat(entry.path, &found), 0);
  for (off_t at = 0; at < found.st_size; at += at < 100 ? 1 : 997) {
    int file = open(entry.path, O_RDWR);
    unsigned char byte;
    ck_assert_int_eq(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
    expect_miss();
    byte ^= 0x10;
    ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
    close(file);
  }
  expect_hit();
}
END_TEST

START_TEST(truncated) {
  red_cl_cache_store(&entry, binary, BYTES);
  struct stat found;
  ck_assert_int_eq(stat(entry.path, &found), 0);
  for (off_t size = found.st_size - 1; size > 0; size -= 1 + size / 3) {
    ck_assert_int_eq(truncate(entry.path, size), 0);
    expect_miss();
  }
  ck_assert_int_eq(truncate(entry.path, 0), 0);
  expect_miss();
  red_cl_cache_store(&entry, binary, BYTES); /* mended by the next build */
  expect_hit();
}
END_TEST

START_TEST(longer) {
  red_cl_cache_store(&entry, binary, BYTES);
  FILE *file = fopen(entry.path, "a");
  fputc(0, file);
  fclose(file);
  expect_miss();
}
END_TEST

START_TEST(odd_files) {
  ck_assert_int_eq(mkdir(entry.path, 0700), 0);
  expect_miss();
  ck_assert(!red_cl_cache_store(&entry, binary, BYTES)); /* cannot replace a folder */
  expect_miss();
  ck_assert_uint_eq(files_in_folder(), 1);
  ck_assert_int_eq(rmdir(entry.path), 0);
  ck_assert_int_eq(mkfifo(entry.path, 0600), 0); /* must not wait for a writer */
  alarm(20);
  expect_miss();
  alarm(0);
}
END_TEST

/* A disk without room, as a limit on the size of files has it. */
START_TEST(full) {
  struct rlimit before, little;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
  little = before;
  little.rlim_cur = BYTES / 2;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
  bool stored = red_cl_cache_store(&entry, binary, BYTES);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
  ck_assert(!stored);
  signal(SIGXFSZ, handler);
  expect_miss();
  ck_assert_uint_eq(files_in_folder(), 0);
}
END_TEST

START_TEST(unusable_folder) {
  static const char *const folders[] = {"", "/proc/libred", "/dev/null/libred"};
  for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
    red_cl_cache_entry none;
    setenv("RED_CACHE_DIR", folders[i], 1);
    locate("-DA", &none);
    ck_assert_ptr_null(none.path);
    size_t bytes;
    ck_assert(!red_cl_cache_store(&none, binary, BYTES));
    ck_assert_ptr_null(red_cl_cache_load(&none, &bytes));
    red_cl_cache_release(&none);
  }
}
END_TEST

/* As root the permission would not bite: the child gives the privilege up. */
START_TEST(read_only_folder) {
  red_cl_cache_store(&entry, binary, BYTES);
  ck_assert_int_eq(chmod(entry.path, 0444), 0);
  ck_assert_int_eq(chmod(folder, 0555), 0);
  pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(2);
    size_t bytes;
    unsigned char *loaded = red_cl_cache_load(&entry, &bytes);
    red_cl_cache_store(&entry, binary, BYTES / 2);
    _exit(loaded == NULL || memcmp(loaded, binary, BYTES) != 0);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  expect_hit();
}
END_TEST

/* Several processes write and read the same file: whoever reads sees all of it. */
START_TEST(at_once) {
  red_cl_cache_store(&entry, binary, BYTES);
  pid_t children[4];
  for (unsigned c = 0; c < 4; c++) {
    children[c] = fork();
    if (children[c] != 0) continue;
    for (unsigned i = 0; i < 50; i++) {
      size_t bytes;
      red_cl_cache_store(&entry, binary, BYTES);
      unsigned char *loaded = red_cl_cache_load(&entry, &bytes);
      if (loaded == NULL || bytes != BYTES || memcmp(loaded, binary, BYTES) != 0) _exit(1);
      free(loaded);
    }
    _exit(0);
  }
  for (unsigned c = 0; c < 4; c++) {
    int status;
    ck_assert_int_eq(waitpid(children[c], &status, 0), children[c]);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  ck_assert_uint_eq(files_in_folder(), 1);
}
END_TEST

/* Process 1 of one container and process 1 of another share a folder. */
START_TEST(equal_numbers) {
  pid_t children[4];
  for (unsigned c = 0; c < 4; c++) {
    children[c] = fork();
    if (children[c] != 0) continue;
    if (unshare(CLONE_NEWPID) != 0) _exit(77); /* not permitted */
    pid_t first = fork();
    if (first == 0) {
      for (unsigned i = 0; i < 100; i++)
        if (getpid() != 1 || !red_cl_cache_store(&entry, binary, BYTES)) _exit(1);
      _exit(0);
    }
    int status;
    _exit(waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  bool permitted = true;
  for (unsigned c = 0; c < 4; c++) {
    int status;
    ck_assert_int_eq(waitpid(children[c], &status, 0), children[c]);
    ck_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
    permitted &= WEXITSTATUS(status) == 0;
  }
  if (!permitted) {
    printf("equal_numbers: skipped, no process is permitted to begin a container\n");
    return;
  }
  expect_hit();
  ck_assert_uint_eq(files_in_folder(), 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("opencl cache");
  TCase *tests = tcase_create("files");
  tcase_add_checked_fixture(tests, begin, end);
  tcase_add_test(tests, comes_back);
  tcase_add_test(tests, other_options);
  tcase_add_test(tests, damaged);
  tcase_add_test(tests, truncated);
  tcase_add_test(tests, longer);
  tcase_add_test(tests, odd_files);
  tcase_add_test(tests, full);
  tcase_add_test(tests, unusable_folder);
  tcase_add_test(tests, read_only_folder);
  tcase_add_test(tests, at_once);
  tcase_add_test(tests, equal_numbers);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
