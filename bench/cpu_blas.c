/* SPDX-License-Identifier: BSD-2-Clause */
/* The nearest thing to a sum in BLAS: asum. */
#include <cblas.h>

#include "cpu.h"

static void run_f32(const bench_case *c) {
  bench_sink = (double)cblas_sasum((int)c->problem.n, c->in, 1);
}
static void run_f64(const bench_case *c) {
  bench_sink = cblas_dasum((int)c->problem.n, c->in, 1);
}

bench_run *bench_find_blas(const bench_case *c) {
  if (c->problem.kind != RED_REDUCE || c->problem.op != RED_SUM) return NULL;
  return c->problem.in == RED_F32 ? run_f32 : c->problem.in == RED_F64 ? run_f64 : NULL;
}
