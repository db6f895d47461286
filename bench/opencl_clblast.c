/* SPDX-License-Identifier: BSD-2-Clause */
/* CLBlast's sum of absolute values on the benchmark's device. */
#include "opencl.h"

#include <clblast_c.h>

int bench_can_clblast(const bench_case *c) {
  return c->problem.kind == RED_REDUCE && c->problem.op == RED_SUM &&
         (c->problem.in == RED_F32 || c->problem.in == RED_F64);
}

void bench_run_clblast(const bench_case *c) {
  CLBlastStatusCode status = c->problem.in == RED_F32
                                 ? CLBlastSasum(c->problem.n, cl.out, 0, cl.in, 0, 1, &cl.queue, NULL)
                                 : CLBlastDasum(c->problem.n, cl.out, 0, cl.in, 0, 1, &cl.queue, NULL);
  bench_check_cl((cl_int)status, "CLBlast");
  bench_check_cl(clFinish(cl.queue), "clFinish");
}
