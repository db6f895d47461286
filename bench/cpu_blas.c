/* SPDX-License-Identifier: BSD-2-Clause */
/* BLAS level 1: dot, asum, nrm2; the nearest thing to a sum is asum. */
#include <cblas.h>

#include "cpu.h"

static void asum_f32(const bench_case *c) {
  bench_sink = (double)cblas_sasum((int)c->problem.n, c->in, 1);
}
static void asum_f64(const bench_case *c) {
  bench_sink = cblas_dasum((int)c->problem.n, c->in, 1);
}
static void dot_f32(const bench_case *c) {
  bench_sink = (double)cblas_sdot((int)c->problem.n, c->in, 1, c->in2, 1);
}
static void dot_f64(const bench_case *c) {
  bench_sink = cblas_ddot((int)c->problem.n, c->in, 1, c->in2, 1);
}
static void nrm2_f32(const bench_case *c) {
  bench_sink = (double)cblas_snrm2((int)c->problem.n, c->in, 1);
}
static void square_f64(const bench_case *c) {
  bench_sink = cblas_ddot((int)c->problem.n, c->in, 1, c->in, 1);
}

bench_run *bench_find_blas(const bench_case *c) {
  if (c->problem.kind != RED_REDUCE || (c->problem.in != RED_F32 && c->problem.in != RED_F64)) return NULL;
  bool wide = c->problem.in == RED_F64;
  switch (c->problem.op) {
  case RED_SUM:
  case RED_ASUM:
    return wide ? asum_f64 : asum_f32;
  case RED_DOT:
    return wide ? dot_f64 : dot_f32;
  case RED_SUMSQ:
    return wide ? square_f64 : NULL;
  case RED_NRM2:
    return wide ? NULL : nrm2_f32;
  default:
    return NULL;
  }
}
