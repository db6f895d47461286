/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peers of the CPU benchmark, one a process:  red-peer-cpu NAME  for `redtool bench --peer`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "peer.h"

volatile double bench_sink;

#if defined(HAVE_BLAS)
/* Without the cases where the benchmark takes the nearest thing, which is another problem. */
static bench_run *find_blas(const bench_case *c) {
  return c->problem.op == RED_SUM ? NULL : bench_find_blas(c);
}
#endif

static const struct {
  const char *name;
  bench_run *(*find)(const bench_case *c);
} peers[] = {
    {"openmp", bench_find_omp},  {"openmp-fast-math", bench_find_omp_fast},
#if defined(HAVE_TBB)
    {"onetbb", bench_find_tbb},  {"std-par-unseq", bench_find_std},
#endif
#if defined(HAVE_EIGEN)
    {"eigen", bench_find_eigen},
#endif
#if defined(HAVE_BLAS)
    {"openblas", find_blas},
#endif
};

struct work {
  bench_run *(*find)(const bench_case *c);
  bench_run *run;
  bench_case c;
  void *in, *out;
};

/* In huge pages where the system gives them, as redtool's arrays are. */
static void *take_memory(size_t bytes) {
  const size_t huge = (size_t)2 << 20;
  return aligned_alloc(huge, (bytes + 4096 + huge - 1) / huge * huge);
}

static const char *take(void *state, const red_problem *problem) {
  struct work *work = state;
  const size_t inputs = problem->op == RED_DOT ? 2 : 1, width = red_dtype_bytes(problem->in);
  free(work->in);
  free(work->out);
  work->in = take_memory(problem->n * width * inputs);
  work->out = take_memory(problem->kind == RED_REDUCE ? 4096 : problem->n * red_dtype_bytes(problem->out));
  if (!work->in || !work->out) return "out of memory";
  bench_peer_fill(problem->in, work->in, problem->n * inputs);
  work->c = (bench_case){.problem = *problem, .in = work->in, .out = work->out, .scratch = work->out};
  if (inputs == 2) work->c.in2 = (const char *)work->in + problem->n * width;
  work->run = work->find(&work->c);
  if (!work->run) return "it has no such operation";
  work->run(&work->c);
  return NULL;
}

static double run(void *state, unsigned calls) {
  const struct work *work = state;
  const double begun = bench_peer_now();
  for (unsigned i = 0; i < calls; i++) work->run(&work->c);
  return bench_peer_now() - begun;
}

int main(int argc, char **argv) {
  struct work work = {.find = NULL};
  for (size_t i = 0; i < sizeof peers / sizeof *peers && argc == 2; i++) {
    const bench_peer peer = {peers[i].name, "omp", &work, take, NULL, run};
    work.find = peers[i].find;
    if (strcmp(peers[i].name, argv[1]) == 0) return bench_peer_serve(&peer);
  }
  fprintf(stderr, "usage: red-peer-cpu NAME, with NAME one of");
  for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) fprintf(stderr, " %s", peers[i].name);
  fprintf(stderr, "\n");
  return 2;
}
