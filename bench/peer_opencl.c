/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peers of the OpenCL benchmark, one a process:  red-peer-opencl NAME [opencl:PLATFORM.DEVICE]  for `redtool bench
 * --peer`. NAME is boost-compute or clblast, whose asum is the nearest thing to a sum that it has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "peer.h"

bench_cl cl;
volatile double bench_sink;

void bench_check_cl(cl_int error, const char *call) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "red-peer-opencl: %s failed: %d\n", call, error);
  exit(1);
}

static const struct peer {
  const char *name;
  bench_run *run;
  int (*can)(const bench_case *c);
} peers[] = {
#if defined(HAVE_BOOST_COMPUTE)
    {"boost-compute", bench_run_boost, bench_can_boost},
#endif
#if defined(HAVE_CLBLAST)
    {"clblast", bench_run_clblast, bench_can_clblast},
#endif
    {NULL, NULL, NULL}};

struct work {
  const struct peer *peer;
  bench_case c;
};

static bool is_asum(const bench_case *c) {
  return c->problem.kind == RED_REDUCE && c->problem.op == RED_ASUM;
}

/*
 * Of the types that the peers take, the sums are in the same type. CLBlast's find asks for the benchmark's case, a sum.
 */
static bool can(const struct work *work) {
  bench_case asked = work->c;
  const red_dtype in = asked.problem.in;
  if (asked.problem.out != in || (in != RED_F32 && in != RED_F64 && in != RED_I32)) return false;
  if (strcmp(work->peer->name, "clblast") != 0) return work->peer->can(&asked);
  asked.problem.op = RED_SUM;
  return is_asum(&work->c) && work->peer->can(&asked);
}

static cl_mem make_buffer(size_t bytes, cl_int *error) {
  return clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes, NULL, error);
}

static const char *take(void *state, const red_problem *problem) {
  struct work *work = state;
  const size_t bytes = problem->n * red_dtype_bytes(problem->in);
  cl_int error, other;
  work->c = (bench_case){.problem = *problem};
  if (!can(work)) return "it has no such operation";
  if (cl.in) clReleaseMemObject(cl.in);
  if (cl.out) clReleaseMemObject(cl.out);
  cl.in = make_buffer(bytes, &error);
  cl.out = make_buffer(problem->kind == RED_REDUCE ? 4096 : bytes, &other);
  void *host = malloc(bytes);
  if (error || other || !host) return "out of memory";
  bench_peer_fill(problem->in, host, problem->n);
  bench_check_cl(clEnqueueWriteBuffer(cl.queue, cl.in, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "clEnqueueWriteBuffer");
  free(host);
  work->peer->run(&work->c);
  return NULL;
}

/* On a CPU its arrays share the caches with everything else. */
static void chill(void *state) {
  static cl_mem other;
  const unsigned char pattern = 1;
  cl_int error = CL_SUCCESS;
  (void)state;
  if (!other) other = make_buffer(BENCH_CHILL_BYTES, &error);
  bench_check_cl(error, "clCreateBuffer");
  bench_check_cl(clEnqueueFillBuffer(cl.queue, other, &pattern, 1, 0, BENCH_CHILL_BYTES, 0, NULL, NULL),
                 "clEnqueueFillBuffer");
  bench_check_cl(clFinish(cl.queue), "clFinish");
}

static double run(void *state, unsigned calls) {
  const struct work *work = state;
  const double begun = bench_peer_now();
  for (unsigned i = 0; i < calls; i++) work->peer->run(&work->c);
  return bench_peer_now() - begun;
}

/* False if there is no such device. */
static bool open_device(const char *id) {
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint platform_count = 0, device_count = 0;
  unsigned p, d;
  cl_int error;
  if (sscanf(id, "opencl:%u.%u", &p, &d) != 2) return false;
  if (clGetPlatformIDs(16, platforms, &platform_count) || p >= platform_count || p >= 16) return false;
  if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count) || d >= device_count || d >= 16)
    return false;
  cl.device = devices[d];
  cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &error);
  bench_check_cl(error, "clCreateContext");
  cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, &error);
  bench_check_cl(error, "clCreateCommandQueue");
  return true;
}

int main(int argc, char **argv) {
  const char *device = argc > 2 ? argv[2] : "opencl:0.0";
  for (const struct peer *peer = peers; peer->name && argc > 1; peer++) {
    if (strcmp(peer->name, argv[1]) != 0) continue;
    struct work work = {.peer = peer};
    const bench_peer served = {peer->name, device, &work, take, chill, run};
    if (open_device(device)) return bench_peer_serve(&served);
    printf("no there is no device %s\n", device);
    return 0;
  }
  fprintf(stderr, "usage: red-peer-opencl NAME [opencl:PLATFORM.DEVICE], with NAME one of");
  for (const struct peer *peer = peers; peer->name; peer++) fprintf(stderr, " %s", peer->name);
  fprintf(stderr, "\n");
  return 2;
}
