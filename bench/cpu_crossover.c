/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Around the size from which the library starts threads: is a call ever slower than with one thread? A row for each
 * problem, a column for each doubling of its input; the time of the library left to itself over that of one thread, the
 * worst of four sizes.
 */
#include <stdio.h>
#include <string.h>

#include "cpu_measure.h"

enum {
  LEAST = 16, /* log2 of the bytes of input */
  MOST = 24,
  STEPS = 4 /* sizes in a doubling */
};

typedef struct row {
  const char *name;
  red_kind kind;
  red_op op;
  red_dtype in;
  bool exact, in_place;
} row;

static const row rows[] = {
    {.name = "sum f32", .kind = RED_REDUCE, .op = RED_SUM, .in = RED_F32},
    {.name = "sum f64", .kind = RED_REDUCE, .op = RED_SUM, .in = RED_F64},
    {.name = "sum i8", .kind = RED_REDUCE, .op = RED_SUM, .in = RED_I8},
    {.name = "sum f16", .kind = RED_REDUCE, .op = RED_SUM, .in = RED_F16},
    {.name = "min f32", .kind = RED_REDUCE, .op = RED_MIN, .in = RED_F32},
    {.name = "argmin f32", .kind = RED_REDUCE, .op = RED_ARGMIN, .in = RED_F32},
    {.name = "exact sum f32", .kind = RED_REDUCE, .op = RED_SUM, .in = RED_F32, .exact = true},
    {.name = "stats f32", .kind = RED_STATS, .op = RED_SUM, .in = RED_F32},
    {.name = "scan sum f32", .kind = RED_INCLUSIVE_SCAN, .op = RED_SUM, .in = RED_F32},
    {.name = "scan sum f32 in place", .kind = RED_INCLUSIVE_SCAN, .op = RED_SUM, .in = RED_F32, .in_place = true},
    {.name = "scan sum i32", .kind = RED_INCLUSIVE_SCAN, .op = RED_SUM, .in = RED_I32},
    {.name = "scan min f32", .kind = RED_INCLUSIVE_SCAN, .op = RED_MIN, .in = RED_F32},
};

static double ratio_at(const row *r, uint64_t bytes, bench_run *alone, bench_run *automatic, unsigned samples, void *in,
                       void *out) {
  bench_case c = {.problem = RED_PROBLEM_INIT(r->kind, r->op, r->in, bytes / red_dtype_bytes(r->in))};
  c.problem.exact = r->exact;
  c.in_place = r->in_place;
  c.in = in;
  c.out = r->in_place ? in : out;
  c.scratch = out;
  if (r->kind == RED_STATS) *(red_stats_result *)out = (red_stats_result){.size = sizeof(red_stats_result)};
  bench_fill(&c, in, r->in_place ? BENCH_ZERO : BENCH_UNIFORM);
  static bench_series series[2];
  series[0].run = alone;
  series[1].run = automatic;
  bench_measure(&c, series, 2, samples);
  return series[1].median / series[0].median;
}

static bool is_wanted(const row *r, char **texts, int count) {
  for (int i = 0; i < count; i++)
    if (strstr(r->name, texts[i]) == NULL) return false;
  return true;
}

void bench_crossover(bench_run *alone, bench_run *automatic, unsigned samples, void *in, void *out, char **texts,
                     int count) {
  static const double steps[STEPS] = {1, 1.1892071, 1.4142136, 1.6817928};
  printf("| automatic over one thread, KiB of input |");
  for (unsigned log2 = LEAST; log2 < MOST; log2++) printf(" %u |", 1u << (log2 - 10));
  printf(" worst |\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!is_wanted(&rows[i], texts, count)) continue;
    double worst = 0;
    printf("| %s |", rows[i].name);
    for (unsigned log2 = LEAST; log2 < MOST; log2++) {
      double here = 0;
      for (unsigned s = 0; s < STEPS; s++) {
        const uint64_t bytes = (uint64_t)((double)((uint64_t)1 << log2) * steps[s]);
        const double ratio = ratio_at(&rows[i], bytes, alone, automatic, samples, in, out);
        if (ratio > here) here = ratio;
      }
      printf(" %.2f |", here);
      fflush(stdout);
      if (here > worst) worst = here;
    }
    printf(" %.3f |\n", worst);
  }
}
