/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts of statuses, the version, the names and sizes of dtypes and operators. */
#include "../src/backend_omp/tuning.def"
#include "suite.h"

START_TEST(statuses_have_texts) {
#define CHECK(name, value, text)                                                                                       \
  ck_assert_int_eq(RED_##name, value);                                                                                 \
  ck_assert_str_eq(red_strerror(RED_##name), text);
  RED_STATUS_LIST(CHECK)
#undef CHECK
  ck_assert_ptr_nonnull(red_strerror((red_status)1234));
  ck_assert_ptr_nonnull(red_strerror((red_status)-1));
  ck_assert_ptr_nonnull(red_last_error());
}
END_TEST

START_TEST(version) {
  ck_assert_int_eq(red_version(), RED_VERSION_NUMBER);
}
END_TEST

START_TEST(names) {
  static const char *const dtypes[RED_DTYPE_COUNT] = {NULL,  "i8",  "i16", "i32",  "i64", "u8", "u16",
                                                      "u32", "u64", "f16", "bf16", "f32", "f64"};
  static const size_t sizes[RED_DTYPE_COUNT] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  static const char *const ops[RED_OP_COUNT] = {
      NULL,   "sum", "prod", "min", "max", "minnum",        "maxnum", "argmin", "argmax", "argminnum", "argmaxnum",
      "band", "bor", "bxor", "all", "any", "count_nonzero", "dot",    "asum",   "sumsq",  "nrm2",      "mean"};
  for (unsigned i = 1; i < RED_DTYPE_COUNT; i++) {
    ck_assert_str_eq(red_dtype_name((red_dtype)i), dtypes[i]);
    ck_assert_uint_eq(red_dtype_bytes((red_dtype)i), sizes[i]);
    ck_assert_int_eq(red_dtype_from_name(dtypes[i]), (red_dtype)i);
  }
  for (unsigned i = 1; i < RED_OP_COUNT; i++) {
    ck_assert_str_eq(red_op_name((red_op)i), ops[i]);
    ck_assert_int_eq(red_op_from_name(ops[i]), (red_op)i);
  }
}
END_TEST

START_TEST(unknown_names) {
  static const int values[] = {0, RED_DTYPE_COUNT, RED_OP_COUNT, 1000, -1};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    if (values[i] != RED_OP_COUNT) ck_assert_ptr_null(red_dtype_name((red_dtype)values[i]));
    if (values[i] != RED_OP_COUNT) ck_assert_uint_eq(red_dtype_bytes((red_dtype)values[i]), 0);
    if (values[i] != RED_DTYPE_COUNT) ck_assert_ptr_null(red_op_name((red_op)values[i]));
  }
  static const char *const bad[] = {"", "f3", "f322", "F32", "summ", "default", " sum"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_int_eq(red_dtype_from_name(bad[i]), RED_DTYPE_DEFAULT);
    ck_assert_int_eq(red_op_from_name(bad[i]), 0);
  }
  ck_assert_int_eq(red_dtype_from_name(NULL), RED_DTYPE_DEFAULT);
  ck_assert_int_eq(red_op_from_name(NULL), 0);
}
END_TEST

/* The CPU's table of slow corners speaks of problems that there are, each once, with a reason. */
START_TEST(slow_corners) {
  static const struct {
    const char *problem;
    double speed;
    const char *why;
  } rows[] = {
#define ROW(problem, speed, why) {problem, speed, why},
      RED_CPU_SLOW_CORNERS(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    red_problem problem;
    ck_assert_msg(red_problem_parse(rows[i].problem, &problem) == RED_OK, "%s: %s", rows[i].problem, red_last_error());
    ck_assert_msg(red_problem_resolve(&problem) == RED_OK, "%s: %s", rows[i].problem, red_last_error());
    ck_assert_uint_eq(problem.n * red_dtype_bytes(problem.in), 256 << 10); /* as the table says */
    ck_assert(rows[i].speed > 0 && *rows[i].why != '\0');
    for (size_t k = 0; k < i; k++) ck_assert_str_ne(rows[i].problem, rows[k].problem);
  }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_test(tests, statuses_have_texts);
  tcase_add_test(tests, version);
  tcase_add_test(tests, names);
  tcase_add_test(tests, unknown_names);
  tcase_add_test(tests, slow_corners);
}

int main(void) {
  return suite_run("names", fill);
}
