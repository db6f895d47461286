/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading what Nsight Compute's ncu reports, and running it: a recorded report, reports with faults, and programs of
 * that name on PATH.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/profile.h"

#define HEADER                                                                                                         \
  "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "    \
  "Value\"\n"
#define ROW(id, kernel, metric, unit, value)                                                                           \
  "\"" id "\",\"7\",\"" kernel "\",\"(256, 1, 1)\",\"Command line profiler metrics\",\"" metric "\",\"" unit           \
  "\",\"" value "\"\n"

static const char *const kernels[] = {"sum", "sum_all", NULL};
enum {
  KERNELS = sizeof kernels / sizeof *kernels
};
static struct profile profiles[KERNELS];
static char reason[PROFILE_REASON_BYTES];

static bool is(double got, double want) {
  return got >= want && got <= want;
}

START_TEST(launches_are_added_up) {
  const char *report = "==PROF== Connected to process 7 (/usr/bin/tool)\n" HEADER ROW(
      "0", "selftest", "dram__bytes_read.sum", "byte", "100") /* before the last that is listed: forgotten */
      ROW("1", "sum", "dram__bytes_read.sum", "byte", "1,048,576")
          ROW("1", "sum", "dram__bytes_write.sum", "byte", "512")
              ROW("1", "sum", "smsp__inst_executed.sum", "inst", "1000")
                  ROW("1", "sum", "smsp__thread_inst_executed_pred_on.sum", "inst", "32000")
                      ROW("2", "sum(const float *, unsigned int)", "dram__bytes_read.sum", "byte", "24")
                          ROW("2", "sum", "smsp__inst_executed.sum", "inst", "1000")
                              ROW("2", "sum", "smsp__thread_inst_executed_pred_on.sum", "inst", "16000")
                                  ROW("3", "void sum_all<(int)4>(float *)",
                                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "", "77")
                                      ROW("4", "summary", "dram__bytes_read.sum", "byte", "3")
                                          ROW("5", "other", "dram__bytes_read.sum", "byte", "4")
                                              ROW("5", "other", "sm__warps_active.avg", "",
                                                  "5") "==PROF== Disconnected from process 7\n";
  ck_assert(profile_read(report, kernels, KERNELS, profiles, reason));
  ck_assert_str_eq(reason, "");
  ck_assert(is(profiles[0].read, 1048600) && is(profiles[0].written, 512));
  ck_assert(is(profile_lanes(&profiles[0]), 24));
  ck_assert(is(profiles[1].conflicts, 77));
  ck_assert(is(profiles[2].read, 7));
}
END_TEST

/* A metric that this GPU does not have is no zero. */
START_TEST(what_is_not_reported_is_no_number) {
  const char *report = HEADER ROW("0", "sum", "dram__bytes_read.sum", "byte", "n/a")
      ROW("0", "sum", "dram__bytes_write.sum", "byte", "0");
  ck_assert(profile_read(report, kernels, KERNELS, profiles, reason));
  ck_assert(is(profiles[0].written, 0) && isnan(profiles[0].read) && isnan(profiles[0].conflicts));
  ck_assert(isnan(profile_lanes(&profiles[0])) && isnan(profiles[1].written));
}
END_TEST

START_TEST(columns_may_be_anywhere) {
  const char *report = "\"Metric Value\",\"Metric Name\",\"more, of it\",\"Kernel Name\"\r\n"
                       "5,dram__bytes_write.sum,\"say \"\"x\"\", y\",sum_all\r\n";
  ck_assert(profile_read(report, kernels, KERNELS, profiles, reason));
  ck_assert(is(profiles[1].written, 5) && isnan(profiles[0].written));
}
END_TEST

static const struct {
  const char *report, *says;
} faults[] = {
    {"", "none of the metrics"},
    {"==PROF== Connected\n", "none of the metrics"},
    {HEADER, "none of the metrics"},
    {HEADER ROW("0", "sum", "dram__bytes_read.sum", "byte", "n/a"), "none of the metrics"},
    {HEADER "\"0\",\"7\",\"sum\n", "none of the metrics"},
    {"\"Kernel Name\",\"Metric Name\"\n\"sum\",\"dram__bytes_read.sum\"\n", "none of the metrics"},
    {"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\nmore\n", "ncu: ERR_NVGPUCTRPERM - The user does"},
    {HEADER ROW("0", "sum", "dram__bytes_read.sum", "byte", "1") "==ERROR== later\r\n==ERROR== again\n", "ncu: later"},
};

START_TEST(faults_have_reasons) {
  ck_assert(!profile_read(faults[_i].report, kernels, KERNELS, profiles, reason));
  ck_assert_msg(strstr(reason, faults[_i].says) != NULL, "'%s' lacks '%s'", reason, faults[_i].says);
}
END_TEST

/* From an H200: parts of the ladder of 2^24 f32. The figures were added up by another program. */
START_TEST(a_recorded_report) {
  static const char *const steps[] = {"interleaved", "strided", "sequential", "combine_grid", NULL};
  struct profile got[5];
  char report[16384];
  FILE *file = fopen(REPORT, "r");
  ck_assert_msg(file != NULL, "no " REPORT);
  report[fread(report, 1, sizeof report - 1, file)] = 0;
  fclose(file);
  ck_assert_msg(profile_read(report, steps, 5, got, reason), "%s", reason);
  ck_assert(is(got[0].conflicts, 225863) && is(got[0].read, 67385856) && is(got[0].written, 146176));
  ck_assert(is(got[0].instructions, 36120357) && is(got[0].thread_instructions, 673720320));
  ck_assert(is(got[1].conflicts, 6575325) && is(got[1].read, 67387904) && is(got[1].written, 153856));
  ck_assert(isnan(got[2].read));
  ck_assert(is(got[3].conflicts, 2544) && is(got[3].instructions, 1999070));
  ck_assert(is(got[4].conflicts, 3229) && is(got[4].read, 67164928) && is(got[4].thread_instructions, 64386749));
}
END_TEST

/* ---- programs that are called ncu ---- */

static char folder[] = "/tmp/libred-ncu-XXXXXX", path[64];

/* Where PATH has it, or, without a text, where it has none. */
static void make_ncu(const char *text) {
  ck_assert_ptr_nonnull(mkdtemp(strcpy(folder, "/tmp/libred-ncu-XXXXXX")));
  snprintf(path, sizeof path, "%s/ncu", folder);
  setenv("PATH", folder, 1);
  if (!text) return;
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fprintf(file, "#!/bin/sh\n%s\n", text);
  fclose(file);
  chmod(path, 0700);
}

static bool run_ncu(const char *text) {
  const char *const command[] = {"/bin/program", "an argument", NULL};
  make_ncu(text);
  const bool known = profile_run(command, kernels, KERNELS, profiles, reason);
  unlink(path);
  rmdir(folder);
  return known;
}

START_TEST(it_is_run) {
  /* It is told to leave the clocks alone, to print plain units, and what to run. */
  ck_assert_msg(
      run_ncu(
          "case \"$*\" in\n"
          "  *--csv*--clock-control\\ none*--print-units\\ base*dram__bytes_read.sum*/bin/program\\ an\\ argument) ;;\n"
          "  *) exit 1 ;;\n"
          "esac\n"
          "echo '==PROF== Connected'\n"
          "echo '\"Kernel Name\",\"Metric Name\",\"Metric Value\"'\n"
          "echo '\"sum\",\"dram__bytes_read.sum\",\"12\"'\n"
          "echo 'what the program says' >&2"),
      "%s", reason);
  ck_assert(is(profiles[0].read, 12));
}
END_TEST

START_TEST(it_may_fail) {
  ck_assert(!run_ncu(NULL));
  ck_assert_ptr_nonnull(strstr(reason, "not on PATH"));
  ck_assert(!run_ncu("echo '==ERROR== no device was found' >&2; exit 9"));
  ck_assert_str_eq(reason, "ncu: no device was found");
  ck_assert(!run_ncu("kill -9 $$"));
  ck_assert_ptr_nonnull(strstr(reason, "none of the metrics"));
}
END_TEST

/* More than a pipe holds, and than the first buffer. */
START_TEST(reports_may_be_long) {
  ck_assert_msg(run_ncu("echo '\"Kernel Name\",\"Metric Name\",\"Metric Value\"'\n"
                        "i=0\n"
                        "while [ $i -lt 8000 ]; do\n"
                        "  echo '\"sum\",\"dram__bytes_read.sum\",\"3\"'\n"
                        "  i=$((i + 1))\n"
                        "done"),
                "%s", reason);
  ck_assert(is(profiles[0].read, 24000));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("profile");
  TCase *tests = tcase_create("profile");
  tcase_add_test(tests, launches_are_added_up);
  tcase_add_test(tests, what_is_not_reported_is_no_number);
  tcase_add_test(tests, columns_may_be_anywhere);
  tcase_add_loop_test(tests, faults_have_reasons, 0, sizeof faults / sizeof *faults);
  tcase_add_test(tests, a_recorded_report);
  tcase_add_test(tests, it_is_run);
  tcase_add_test(tests, it_may_fail);
  tcase_add_test(tests, reports_may_be_long);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
