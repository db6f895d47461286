/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double bench_peer_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void bench_peer_fill(red_dtype dtype, void *array, size_t n) {
  uint64_t state = 1;
  for (size_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int32_t r = (int32_t)(state >> 32);
    const int64_t small = r >> 24;
    const double x = r * 0x1p-31;
    const float f = (float)x;
    if (dtype == RED_F32)
      ((float *)array)[i] = f;
    else if (dtype == RED_F64)
      ((double *)array)[i] = x;
    else
      memcpy((char *)array + i * red_dtype_bytes(dtype), &small, red_dtype_bytes(dtype));
  }
}

/* "reduce sum f32 f32 1024"; what no problem is has kind 0. */
static red_problem parse(const char *line) {
  static const char *const kinds[] = {
      [RED_REDUCE] = "reduce", [RED_INCLUSIVE_SCAN] = "scan", [RED_EXCLUSIVE_SCAN] = "exscan"};
  char kind[16] = "", op[32] = "", in[16] = "", out[16] = "";
  red_problem problem = RED_PROBLEM_INIT((red_kind)0, (red_op)0, (red_dtype)0, 0);
  if (sscanf(line, "%15s %31s %15s %15s %" SCNu64, kind, op, in, out, &problem.n) != 5) return problem;
  problem.op = red_op_from_name(op);
  problem.in = red_dtype_from_name(in);
  problem.out = red_dtype_from_name(out);
  for (int k = RED_REDUCE; k <= RED_EXCLUSIVE_SCAN && problem.op && problem.in && problem.out; k++)
    if (strcmp(kind, kinds[k]) == 0) problem.kind = (red_kind)k;
  return problem;
}

static bool answer(const bench_peer *peer, const char *line) {
  unsigned calls;
  if (strncmp(line, "case ", 5) == 0) {
    const red_problem problem = parse(line + 5);
    const char *fault = problem.kind ? peer->take(peer->state, &problem) : "this is no problem";
    return fault ? printf("no %s\n", fault) > 0 : puts("ready") >= 0;
  }
  if (sscanf(line, "warm %u", &calls) == 1)
    peer->run(peer->state, 1);
  else if (sscanf(line, "cold %u", &calls) != 1)
    return false;
  else if (peer->chill)
    peer->chill(peer->state);
  return printf("done %.9g\n", peer->run(peer->state, calls)) > 0;
}

int bench_peer_serve(const bench_peer *peer) {
  char line[256];
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("peer 1 %s %s\n", peer->name, peer->device);
  while (fgets(line, sizeof line, stdin))
    if (!answer(peer, line)) return 1;
  return 0;
}
