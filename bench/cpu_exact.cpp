// SPDX-License-Identifier: BSD-2-Clause
// Sums whose bits do not depend on the order, as others have them: ReproBLAS (one thread; reproducible, not exact) and
// ExBLAS (exact; expansions of 4 with early exit).
#include "cpu.h"

#if defined(HAVE_REPROBLAS)
extern "C" {
double reproBLAS_dsum(int n, const double *x, int step);
float reproBLAS_ssum(int n, const float *x, int step);
double reproBLAS_ddot(int n, const double *x, int step, const double *y, int y_step);
}

namespace {

void sum_f64(const bench_case *c) {
  bench_sink = reproBLAS_dsum((int)c->problem.n, (const double *)c->in, 1);
}
void sum_f32(const bench_case *c) {
  bench_sink = reproBLAS_ssum((int)c->problem.n, (const float *)c->in, 1);
}
void dot_f64(const bench_case *c) {
  bench_sink = reproBLAS_ddot((int)c->problem.n, (const double *)c->in, 1, (const double *)c->in2, 1);
}

} // namespace

bench_run *bench_find_reproblas(const bench_case *c) {
  if (c->problem.op == RED_SUM)
    return c->problem.in == RED_F64 ? sum_f64 : c->problem.in == RED_F32 ? sum_f32 : nullptr;
  return c->problem.op == RED_DOT && c->problem.in == RED_F64 ? dot_f64 : nullptr;
}
#endif

#if defined(HAVE_EXBLAS)
double exsum(int n, double *x, int step, int offset, int expansion, bool early_exit);

static void exact_sum(const bench_case *c) {
  bench_sink = exsum((int)c->problem.n, (double *)c->in, 1, 0, 4, true);
}

bench_run *bench_find_exblas(const bench_case *c) {
  return c->problem.op == RED_SUM && c->problem.in == RED_F64 && c->threads != 1 ? exact_sum : nullptr;
}
#endif
