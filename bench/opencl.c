/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The OpenCL benchmark: reductions and scans of device memory, beside the device's own copy, the CPU backend on the
 * same array and, where they are installed, Boost.Compute and CLBlast.
 *
 *   red-bench-opencl [-d DEVICE] [-s SAMPLES] [-b MEBIBYTES] [-q PERCENTILE] [-p PATIENT] [TEXT ...]
 *
 * runs the cases whose problem strings contain every TEXT. Beside each contestant stand its time, the bandwidth (reads
 * of reductions, reads and writes of scans) and how many times as fast ours is.
 */
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_measure.h"

static const char *device_id = "opencl";
static uint64_t bytes = (uint64_t)256 << 20;
static unsigned samples = 15;

static red_context *context, *host_context;
static red_queue *queue;
static red_plan *plan, *canonical_plan; /* the latter of an exact case without `exact` */
bench_cl cl;

void bench_check(red_status status) {
  if (status == RED_OK) return;
  fprintf(stderr, "red-bench-opencl: %s\n", red_last_error());
  exit(1);
}

void bench_check_cl(cl_int error, const char *call) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "red-bench-opencl: %s failed: %d\n", call, error);
  exit(1);
}

/* ---- Contestants ---- */

static void run_ours(const bench_case *c) {
  (void)c;
  bench_check(red_plan_execute(plan, queue, cl.in, cl.out));
  bench_check(red_queue_finish(queue));
}

static int is_exact(const bench_case *c) {
  return c->problem.exact;
}

static void run_canonical(const bench_case *c) {
  (void)c;
  bench_check(red_plan_execute(canonical_plan, queue, cl.in, cl.out));
  bench_check(red_queue_finish(queue));
}

static void run_host(const bench_case *c) {
  bench_check(red_run(host_context, &c->problem, c->in, c->out));
}

/* As many bytes as the problem reads and writes. */
static void run_copy(const bench_case *c) {
  size_t half = c->problem.kind == RED_REDUCE ? bytes / 2 : bytes;
  bench_check_cl(clEnqueueCopyBuffer(cl.queue, cl.in, cl.out, 0, 0, half, 0, NULL, NULL), "clEnqueueCopyBuffer");
  bench_check_cl(clFinish(cl.queue), "clFinish");
}

static const struct {
  const char *name;
  bench_role role;
  bench_run *run;
  int (*can)(const bench_case *c);
} contestants[] = {
    {"libred, OpenCL", BENCH_OURS, run_ours, NULL},
    {"libred, OpenCL, in canonical order", BENCH_PEER, run_canonical, is_exact},
    {"libred, CPU", BENCH_PEER, run_host, NULL},
    {"the device's copy", BENCH_ROOF, run_copy, NULL},
#if defined(HAVE_BOOST_COMPUTE)
    {"Boost.Compute", BENCH_PEER, bench_run_boost, bench_can_boost},
#endif
#if defined(HAVE_CLBLAST)
    {"CLBlast asum", BENCH_PEER, bench_run_clblast, bench_can_clblast},
#endif
};

enum {
  CONTESTANTS = sizeof contestants / sizeof contestants[0]
};

/* ---- The device ---- */

static void open_device(void) {
  red_device_info info = {.size = sizeof info};
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint platform_count = 0, device_count = 0;
  unsigned p = 0, d = 0;
  cl_int error;
  red_context_options options = {.size = sizeof options, .backend = device_id};
  bench_check(red_context_create(&options, &context));
  bench_check(red_context_device(context, RED_DEVICE, &info));
  red_context_destroy(context);
  if (sscanf(info.id, "opencl:%u.%u", &p, &d) != 2) {
    fprintf(stderr, "red-bench-opencl: %s is no OpenCL device\n", info.id);
    exit(2);
  }
  bench_check_cl(clGetPlatformIDs(16, platforms, &platform_count), "clGetPlatformIDs");
  bench_check_cl(clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count), "clGetDeviceIDs");
  cl.device = devices[d];
  cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &error);
  bench_check_cl(error, "clCreateContext");
  cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, &error);
  bench_check_cl(error, "clCreateCommandQueue");
  options.backend = info.id;
  options.native_context = cl.context;
  options.native_device = cl.device;
  bench_check(red_context_create(&options, &context));
  bench_check(red_queue_wrap(context, cl.queue, &queue));
  options = (red_context_options){.size = sizeof options, .backend = "omp"};
  bench_check(red_context_create(&options, &host_context));
  printf("%s: %s, %s\n", info.id, info.name, info.detail);
}

/* Small numbers, so that no sum overflows; the same on the host and on the device. */
static void make_arrays(bench_case *c) {
  unsigned char *in = aligned_alloc(4096, bytes), *out = aligned_alloc(4096, bytes);
  cl_int error;
  if (in == NULL || out == NULL) exit(1);
  memset(out, 1, bytes);
  c->in = in;
  c->out = out;
  cl.in = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  bench_check_cl(error, "clCreateBuffer");
  cl.out = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  bench_check_cl(error, "clCreateBuffer");
}

static void fill(const bench_case *c) {
  red_dtype dtype = c->problem.in;
  for (uint64_t i = 0; i < c->problem.n; i++) {
    int value = (int)(i * 2654435761u >> 20) % 100 - 50;
    if (dtype == RED_F32) ((float *)c->in)[i] = (float)value;
    if (dtype == RED_F64) ((double *)c->in)[i] = value;
    if (dtype == RED_I32) ((int32_t *)c->in)[i] = value;
    if (dtype == RED_I64) ((int64_t *)c->in)[i] = value;
  }
  bench_check(red_upload(context, queue, cl.in, 0, c->in, bytes));
}

/* ---- Cases ---- */

#define EXACT(OP, DTYPE)                                                                                               \
  { .size = sizeof(red_problem), .kind = RED_REDUCE, .op = (OP), .in = (DTYPE), .exact = 1 }

static const red_problem cases[] = {
    RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 0),
    RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F64, 0),
    RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_I32, 0),
    RED_PROBLEM_INIT(RED_REDUCE, RED_MAX, RED_F32, 0),
    EXACT(RED_SUM, RED_F32),
    EXACT(RED_SUM, RED_F64),
    EXACT(RED_NRM2, RED_F32),
    RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0),
    RED_PROBLEM_INIT(RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, 0),
    RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, 0),
    RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, 0),
};

static void run_case(bench_case *c, const char *title) {
  bench_series series[CONTESTANTS];
  size_t count = 0;
  red_problem on_device = c->problem;
  on_device.in_memory = on_device.out_memory = RED_DEVICE;
  bench_check(red_plan_create(context, &on_device, &plan));
  on_device.exact = 0;
  bench_check(red_plan_create(context, &on_device, &canonical_plan));
  fill(c);
  for (size_t i = 0; i < CONTESTANTS; i++)
    if (contestants[i].can == NULL || contestants[i].can(c))
      series[count++] =
          (bench_series){.name = contestants[i].name, .role = contestants[i].role, .run = contestants[i].run};
  bench_measure(c, series, count, samples);
  double moved = (double)bytes * (c->problem.kind == RED_REDUCE ? 1 : 2);
  for (size_t s = 0; s < count; s++)
    printf("| %s | %s | %.3f | %.1f | %.2f |\n", title, series[s].name, series[s].median * 1e3,
           moved / series[s].median * 1e-9, series[s].median / series[0].median);
  red_plan_destroy(plan);
  red_plan_destroy(canonical_plan);
}

static int wanted(const char *title, char **words, int count) {
  for (int i = 0; i < count; i++)
    if (strstr(title, words[i]) == NULL) return 0;
  return 1;
}

static int read_options(int argc, char **argv) {
  int at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    const char *value = argv[at + 1];
    switch (argv[at][1]) {
    case 'd':
      device_id = value;
      break;
    case 's':
      samples = (unsigned)atoi(value);
      break;
    case 'b':
      bytes = (uint64_t)atoi(value) << 20;
      break;
    case 'q':
      bench_percentile = (unsigned)atoi(value);
      break;
    case 'p':
      bench_patient = atoi(value) != 0;
      break;
    default:
      fprintf(stderr, "red-bench-opencl: unknown option %s\n", argv[at]);
      exit(2);
    }
  }
  if (samples < 1 || samples > BENCH_MOST_SAMPLES) samples = 15;
  return at;
}

int main(int argc, char **argv) {
  int at = read_options(argc, argv);
  bench_case c = {.threads = 0};
  open_device();
  make_arrays(&c);
  printf("| case | contestant | ms | GB/s | times ours |\n|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char title[128];
    c.problem = cases[i];
    c.problem.n = bytes / red_dtype_bytes(c.problem.in);
    if (c.problem.kind != RED_REDUCE) c.problem.out = c.problem.in; /* as many bytes out as in */
    bench_check(red_problem_print(&c.problem, title, sizeof title));
    if (wanted(title, argv + at, argc - at)) run_case(&c, title);
  }
  return 0;
}
