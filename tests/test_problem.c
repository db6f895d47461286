/* SPDX-License-Identifier: BSD-2-Clause */
/* Problem strings: what parses, to what, what does not, and that printing and parsing are inverse. */
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "compare.h"

static red_problem parse(const char *text) {
  red_problem problem;
  red_status status = red_problem_parse(text, &problem);
  ck_assert_msg(status == RED_OK, "'%s': %s", text, red_last_error());
  return problem;
}

START_TEST(examples) {
  static const struct {
    const char *text;
    red_kind kind;
    red_op op;
    red_dtype in, acc, out;
    uint64_t n;
  } rows[] = {
      {"reduce:sum:f32:1048576", RED_REDUCE, RED_SUM, RED_F32, 0, 0, 1048576},
      {"reduce:sum:f32:2^20", RED_REDUCE, RED_SUM, RED_F32, 0, 0, 1048576},
      {"reduce:sum:f32/f64:1048576", RED_REDUCE, RED_SUM, RED_F32, RED_F64, 0, 1048576},
      {"reduce:sum:f32/f64/f64:3", RED_REDUCE, RED_SUM, RED_F32, RED_F64, RED_F64, 3},
      {"scan:maxnum:bf16:0", RED_INCLUSIVE_SCAN, RED_MAXNUM, RED_BF16, 0, 0, 0},
      {"exscan:count_nonzero:i8:7", RED_EXCLUSIVE_SCAN, RED_COUNT_NONZERO, RED_I8, 0, 0, 7},
      {"stats:u16:1000", RED_STATS, 0, RED_U16, 0, 0, 1000},
      {"reduce:argminnum:f16:2^32", RED_REDUCE, RED_ARGMINNUM, RED_F16, 0, 0, (uint64_t)1 << 32},
      {"reduce:bxor:u8/u8/u32:9", RED_REDUCE, RED_BXOR, RED_U8, RED_U8, RED_U32, 9},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    red_problem p = parse(rows[i].text);
    ck_assert_uint_eq(p.size, sizeof p);
    ck_assert_int_eq(p.kind, rows[i].kind);
    if (p.kind != RED_STATS) ck_assert_int_eq(p.op, rows[i].op);
    ck_assert_int_eq(p.in, rows[i].in);
    ck_assert_int_eq(p.acc, rows[i].acc);
    ck_assert_int_eq(p.out, rows[i].out);
    ck_assert_uint_eq(p.n, rows[i].n);
    ck_assert_int_eq(p.in_memory, RED_HOST);
    ck_assert_int_eq(p.out_memory, RED_HOST);
    ck_assert_int_eq(p.has_init, 0);
  }
}
END_TEST

START_TEST(selections) {
  ck_assert(parse("reduce:sum:f32:5:bound").bound && !parse("reduce:sum:f32:5").bound);
  ck_assert(parse("reduce:dot:f64:5:bound:exact").bound && parse("reduce:mean:f32:5:exact:bound").exact);
  ck_assert_uint_eq(parse("stats:f32:5").stats, 0);
  ck_assert_uint_eq(parse("stats:f32:5:select=all").stats, RED_STAT_ALL);
  ck_assert_uint_eq(parse("stats:f32:5:select=default").stats, RED_STAT_DEFAULT);
  ck_assert_uint_eq(parse("stats:f32:5:select=mean,variance").stats, RED_STAT_MEAN | RED_STAT_VARIANCE);
  ck_assert_uint_eq(parse("stats:f32:5:select=argmax,count,nan_count,argmax").stats,
                    RED_STAT_ARGMAX | RED_STAT_COUNT | RED_STAT_NAN_COUNT);
  ck_assert_uint_eq(parse("stats:i8:5:select=min,max,sum,argmin").stats,
                    RED_STAT_MIN | RED_STAT_MAX | RED_STAT_SUM | RED_STAT_ARGMIN);
}
END_TEST

START_TEST(initial_values) {
  ck_assert(parse("reduce:sum:f32:5:init=1.5").init.f32 == 1.5f);
  ck_assert(parse("reduce:sum:f32/f64:5:init=0x1p-60").init.f64 == 0x1p-60);
  ck_assert(parse("reduce:sum:f16:5:init=1e5").init.f32 == 1e5f); /* in the accumulator's dtype */
  ck_assert(isinf(parse("reduce:prod:f64:5:init=-inf").init.f64));
  ck_assert(isnan(parse("scan:sum:f64:5:init=nan").init.f64));
  ck_assert(signbit(parse("scan:sum:f64:5:init=-0").init.f64));
  ck_assert_uint_eq(parse("reduce:min:f16:5:init=-2").init.f16, 0xc000);
  ck_assert_uint_eq(parse("reduce:max:bf16:5:init=1").init.bf16, 0x3f80);
  ck_assert_int_eq(parse("reduce:sum:i8:5:init=-9223372036854775808").init.i64, INT64_MIN);
  ck_assert_int_eq(parse("reduce:sum:i8/i8:5:init=-128").init.i8, -128);
  ck_assert_uint_eq(parse("reduce:sum:u8:5:init=18446744073709551615").init.u64, UINT64_MAX);
  ck_assert_uint_eq(parse("reduce:bor:u16:5:init=65535").init.u16, 65535);
  ck_assert_uint_eq(parse("reduce:all:f32:5:init=1").init.u8, 1);
  ck_assert_int_eq(parse("reduce:sum:f32:5:init=0").has_init, 1);
  /* rounded once, straight from the text: through a double this would be 1 */
  ck_assert(parse("reduce:sum:f32:5:init=1.00000005960464477540").init.f32 == 0x1.000002p0f);
}
END_TEST

/* One rounding from the text, whatever the application's rounding mode. */
START_TEST(initial_values_round_once) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    char text[128];
    fesetround(modes[i]);
    red_problem tenth = parse("reduce:sum:f32:1:init=0.1");
    red_problem above_tie = parse("exscan:min:f16:3:init=1.00048828125000000001");
    red_problem below_tie = parse("exscan:min:bf16:3:init=1.00390624999999999999999");
    red_status printed = red_problem_print(&tenth, text, sizeof text);
    int mode = fegetround();
    fesetround(FE_TONEAREST);
    ck_assert_int_eq(mode, modes[i]);
    ck_assert_uint_eq(tenth.init.u32, 0x3dcccccd);
    ck_assert_uint_eq(above_tie.init.f16, 0x3c01);
    ck_assert_uint_eq(below_tie.init.bf16, 0x3f80);
    ck_assert_int_eq(printed, RED_OK);
    ck_assert_str_eq(text, "reduce:sum:f32:1:init=0.100000001");
  }
  ck_assert_uint_eq(parse("reduce:sum:f32:1:init=nan(0x123)").init.u32, 0x7fc00000);
  ck_assert_uint_eq(parse("reduce:sum:f64:1:init=-nan").init.u64, 0x7ff8000000000000);
}
END_TEST

START_TEST(bad_strings) {
  static const char *const rows[] = {
      "",
      ":",
      ":::",
      "reduce",
      "reduce:sum",
      "reduce:sum:f32",
      "reduce:sum:f32:",
      "reduce:sum::5",
      "reduce::f32:5",
      "reduces:sum:f32:5",
      "Reduce:sum:f32:5",
      "reduce:summ:f32:5",
      "reduce:sum:f33:5",
      "reduce:sum:f32/:5",
      "reduce:sum:/f32:5",
      "reduce:sum:f32/f32/f32/f32:5",
      "reduce:sum:f32:-1",
      "reduce:sum:f32:+1",
      "reduce:sum:f32: 1",
      "reduce:sum:f32:1 ",
      "reduce:sum:f32:1x",
      "reduce:sum:f32:0x10",
      "reduce:sum:f32:1e3",
      "reduce:sum:f32:18446744073709551616",
      "reduce:sum:f32:99999999999999999999999999",
      "reduce:sum:f32:2^",
      "reduce:sum:f32:2^64",
      "reduce:sum:f32:2^-1",
      "reduce:sum:f32:3^2",
      "reduce:sum:f32:5:",
      "reduce:sum:f32:5:init",
      "reduce:sum:f32:5:init=",
      "reduce:sum:f32:5:init=x",
      "reduce:sum:f32:5:init=1 ",
      "reduce:sum:f32:5:init=1:init=2",
      "reduce:sum:f32:5:seed=1",
      "reduce:sum:i8:5:init=1.5",
      "reduce:sum:i8:5:init=9223372036854775808",
      "reduce:sum:i8/i8:5:init=128",
      "reduce:sum:u8:5:init=-1",
      "reduce:all:f32:5:init=256",
      "stats:sum:f32:5",
      "stats:f32:5:init=1",
      "stats:f32:5:select",
      "stats:f32:5:select=",
      "stats:f32:5:select=means",
      "stats:f32:5:select=mean,",
      "stats:f32:5:select=mean:select=sum",
      "stats:f32:5:select=a,b,c,d,e,f,g,h,i,j,k,l",
      "reduce:sum:f32:5:select=sum",
      "stats:f32/f64:5",
      "stats:f32",
      "reduce:band:f32:5",
      "reduce:argminnum:i32:5",
      "reduce:argmin:f32:5:init=1",
      "scan:argmin:f32:5",
      "reduce:sum:f64/f32:5",
      "reduce:sum:f32/i64:5",
      "reduce:sum:f32:2^62",
  };
  red_problem problem, before;
  memset(&problem, 0x5a, sizeof problem);
  before = problem;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    red_status status = red_problem_parse(rows[i], &problem);
    ck_assert_msg(status == RED_ERR_INVALID || status == RED_ERR_UNSUPPORTED, "'%s': status %d", rows[i], status);
    ck_assert_msg(strlen(red_last_error()) > 10, "'%s': no sentence", rows[i]);
    ck_assert_mem_eq(&problem, &before, sizeof problem);
  }
}
END_TEST

START_TEST(long_strings) {
  char text[5000];
  red_problem problem;
  memset(text, '1', sizeof text);
  text[sizeof text - 1] = '\0';
  ck_assert_int_eq(red_problem_parse(text, &problem), RED_ERR_INVALID);
  memcpy(text, "reduce:sum:f32:5:init=", 22);
  ck_assert_int_eq(red_problem_parse(text, &problem), RED_ERR_INVALID);
}
END_TEST

static int same(const red_problem *a, const red_problem *b) {
  red_problem ra = *a, rb = *b;
  ck_red(red_problem_resolve(&ra));
  ck_red(red_problem_resolve(&rb));
  if (ra.kind != rb.kind || ra.in != rb.in || ra.n != rb.n) return 0;
  if (ra.kind == RED_STATS) return ra.stats == rb.stats;
  if (ra.bound != rb.bound || ra.exact != rb.exact) return 0;
  if (ra.op != rb.op || ra.acc != rb.acc || ra.out != rb.out || !ra.has_init != !rb.has_init) return 0;
  return !ra.has_init || memcmp(&ra.init, &rb.init, red_dtype_bytes(ra.acc)) == 0;
}

static int is_nan(const red_scalar *value, red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return (value->f16 & 0x7fff) > 0x7c00;
  case RED_BF16:
    return (value->bf16 & 0x7fff) > 0x7f80;
  case RED_F32:
    return isnan(value->f32);
  case RED_F64:
    return isnan(value->f64);
  default:
    return 0;
  }
}

static void round_trip(const red_problem *problem) {
  char text[128], again[128];
  red_problem parsed;
  ck_red(red_problem_print(problem, text, sizeof text));
  red_status status = red_problem_parse(text, &parsed);
  ck_assert_msg(status == RED_OK, "'%s' was printed and does not parse: %s%s", text, red_last_error(),
                suite_seed_text());
  ck_red(red_problem_print(&parsed, again, sizeof again));
  ck_assert_str_eq(text, again);
  red_problem resolved = *problem;
  ck_red(red_problem_resolve(&resolved));
  if (problem->has_init && is_nan(&problem->init, resolved.acc)) return; /* payloads are not kept */
  ck_assert_msg(same(problem, &parsed), "'%s' parses to another problem%s", text, suite_seed_text());
}

START_TEST(round_trips) {
  random_state random = random_start(1);
  unsigned tried = 0;
  for (unsigned repeat = suite_repeat(20000); repeat > 0; repeat--) {
    red_problem problem = RED_PROBLEM_INIT((red_kind)(1 + random_below(&random, RED_KIND_COUNT - 1)),
                                           (red_op)(1 + random_below(&random, RED_OP_COUNT - 1)),
                                           (red_dtype)(1 + random_below(&random, RED_DTYPE_COUNT - 1)),
                                           random_next(&random) >> (4 + random_below(&random, 60)));
    if (random_below(&random, 2)) problem.acc = (red_dtype)random_below(&random, RED_DTYPE_COUNT);
    if (random_below(&random, 2)) problem.out = (red_dtype)random_below(&random, RED_DTYPE_COUNT);
    problem.has_init = random_below(&random, 2) == 0;
    if (problem.kind == RED_STATS) problem.stats = (unsigned)random_below(&random, RED_STAT_ALL + 1);
    problem.exact = random_below(&random, 4) == 0;
    problem.bound = random_below(&random, 4) == 0;
    red_problem resolved = problem;
    if (red_problem_resolve(&resolved) != RED_OK) continue;
    if (problem.has_init) {
      problem.init.u64 = random_below(&random, 2) ? random_next(&random) : random_scalar(&random, resolved.acc).u64;
      if (red_dtype_bytes(resolved.acc) < 8) problem.init.u64 &= ((uint64_t)1 << 8 * red_dtype_bytes(resolved.acc)) - 1;
    }
    round_trip(&problem);
    tried++;
  }
  ck_assert_uint_ge(tried, 1);
}
END_TEST

START_TEST(small_buffers) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_COUNT_NONZERO, RED_BF16, 123456789);
  char text[128], whole[128];
  ck_red(red_problem_print(&problem, whole, sizeof whole));
  for (size_t bytes = 0; bytes <= strlen(whole); bytes++) {
    memset(text, 'x', sizeof text);
    ck_assert_int_eq(red_problem_print(&problem, text, bytes), RED_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(red_last_error(), "bytes"));
    for (size_t i = 0; i < sizeof text; i++) ck_assert_int_eq(text[i], 'x');
  }
  ck_red(red_problem_print(&problem, text, strlen(whole) + 1));
  ck_assert_str_eq(text, whole);
}
END_TEST

/* Numbers have a point in every locale. */
START_TEST(locales) {
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (setlocale(LC_ALL, names[i]) == NULL) continue;
    red_problem p = parse("reduce:sum:f64:5:init=1.5");
    char text[128];
    ck_assert(p.init.f64 == 1.5);
    ck_red(red_problem_print(&p, text, sizeof text));
    ck_assert_str_eq(text, "reduce:sum:f64:5:init=1.5");
    ck_assert_str_eq(setlocale(LC_ALL, NULL), names[i]);
  }
  setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(resolve_fills_in) {
  static const struct {
    red_op op;
    red_dtype in, acc, out;
  } rows[] = {
      {RED_SUM, RED_I8, RED_I64, RED_I64},     {RED_PROD, RED_I64, RED_I64, RED_I64},
      {RED_SUM, RED_U16, RED_U64, RED_U64},    {RED_SUM, RED_F16, RED_F32, RED_F16},
      {RED_PROD, RED_BF16, RED_F32, RED_BF16}, {RED_SUM, RED_F32, RED_F32, RED_F32},
      {RED_SUM, RED_F64, RED_F64, RED_F64},    {RED_MIN, RED_F16, RED_F16, RED_F16},
      {RED_MAXNUM, RED_I8, RED_I8, RED_I8},    {RED_ARGMIN, RED_F16, RED_U64, RED_U64},
      {RED_BAND, RED_I16, RED_I16, RED_I16},   {RED_ALL, RED_F64, RED_U8, RED_U8},
      {RED_ANY, RED_I64, RED_U8, RED_U8},      {RED_COUNT_NONZERO, RED_BF16, RED_U64, RED_U64},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    red_problem p = RED_PROBLEM_INIT(RED_REDUCE, rows[i].op, rows[i].in, 5);
    ck_red(red_problem_resolve(&p));
    ck_assert_int_eq(p.acc, rows[i].acc);
    ck_assert_int_eq(p.out, rows[i].out);
  }
  red_problem chosen = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 5), narrow = chosen;
  chosen.acc = RED_F64;
  ck_red(red_problem_resolve(&chosen));
  ck_assert_int_eq(chosen.out, RED_F32); /* floats come out as they went in */
  narrow.in = narrow.acc = RED_I16;
  ck_red(red_problem_resolve(&narrow));
  ck_assert_int_eq(narrow.out, RED_I16);
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_test(tests, examples);
  tcase_add_test(tests, selections);
  tcase_add_test(tests, initial_values);
  tcase_add_test(tests, initial_values_round_once);
  tcase_add_test(tests, bad_strings);
  tcase_add_test(tests, long_strings);
  tcase_add_test(tests, round_trips);
  tcase_add_test(tests, small_buffers);
  tcase_add_test(tests, locales);
  tcase_add_test(tests, resolve_fills_in);
}

int main(void) {
  return suite_run("problem", fill);
}
