/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU benchmark's cases and its table.
 *
 *   bench-cpu [-s SAMPLES] [-b MEBIBYTES] [-q PERCENTILE] [-p PATIENT] [-w MICROSECONDS] [TEXT ...]
 *
 * runs the cases whose titles contain every TEXT; a title reads like "large reduce sum f32". Beside each contestant
 * stand its median, the bandwidth and how many times as fast ours is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu_measure.h"

/* ---- Ours ---- */

static red_context *all_threads, *one_thread;

static void check(red_status status) {
  if (status == RED_OK) return;
  fprintf(stderr, "bench-cpu: %s\n", red_last_error());
  exit(1);
}

static void run_ours(const bench_case *c) {
  check(red_run2(c->threads == 1 ? one_thread : all_threads, &c->problem, c->in, c->in2, c->out));
}

static bench_run *find_ours(const bench_case *c) {
  return (void)c, run_ours;
}

/* The one-shot call, and a plan made once. */
static void run_one_shot(const bench_case *c) {
  check(red_reduce(NULL, c->problem.op, c->problem.in, c->in, c->problem.n, c->out));
}

static void run_dot(const bench_case *c) {
  check(red_dot(NULL, c->problem.in, c->in, c->in2, c->problem.n, c->out));
}

static bench_run *find_one_shot(const bench_case *c) {
  if (c->problem.kind != RED_REDUCE || c->problem.n > 1 << 20 || c->threads == 1) return NULL;
  return c->in2 != NULL ? run_dot : run_one_shot;
}

static red_plan *plan;

static void run_plan(const bench_case *c) {
  check(red_plan_execute(plan, NULL, c->in, c->out));
}

static bench_run *find_plan(const bench_case *c) {
  if (c->problem.n > 1 << 20 || c->in2 != NULL) return NULL;
  red_plan_destroy(plan);
  plan = NULL;
  check(red_plan_create(c->threads == 1 ? one_thread : all_threads, &c->problem, &plan));
  return run_plan;
}

static void run_single(const bench_case *c) {
  check(red_run2(one_thread, &c->problem, c->in, c->in2, c->out));
}
static bench_run *find_single(const bench_case *c) {
  return c->threads != 1 ? run_single : NULL;
}

static const bench_contestant contestants[] = {
    {"libred", BENCH_OURS, find_ours},
    {"libred, one-shot", BENCH_OURS, find_one_shot},
    {"libred, plan", BENCH_OURS, find_plan},
    {"libred, one thread", BENCH_OURS, find_single},
    {"read AVX2, 4 chains", BENCH_ROOF, bench_find_read_avx2},
    {"read AVX-512, 8 chains", BENCH_ROOF, bench_find_read_avx512},
    {"the same, prefetching", BENCH_ROOF, bench_find_read_prefetch},
    {"read AVX-512, bitwise or", BENCH_ROOF, bench_find_read_or},
    {"memcpy", BENCH_ROOF, bench_find_memcpy},
    {"copy, streaming stores", BENCH_ROOF, bench_find_stream_copy},
    {"gcc omp -O3", BENCH_PEER, bench_find_omp},
    {"gcc omp -ffast-math", BENCH_PEER, bench_find_omp_fast},
    {"gcc loop -ffast-math", BENCH_PEER, bench_find_loop_fast},
#if defined(HAVE_TBB)
    {"oneTBB, SIMD body", BENCH_PEER, bench_find_tbb},
    {"std par_unseq", BENCH_PEER, bench_find_std},
#endif
#if defined(HAVE_EIGEN)
    {"Eigen", BENCH_PEER, bench_find_eigen},
#endif
#if defined(HAVE_BLAS)
    {"OpenBLAS", BENCH_PEER, bench_find_blas},
#endif
};

enum {
  CONTESTANTS = sizeof contestants / sizeof contestants[0]
};

/* ---- Cases ---- */

typedef struct size_row {
  const char *name;
  uint64_t bytes;    /* of input, or */
  uint64_t elements; /* if not 0 */
  unsigned threads;  /* 0: all */
} size_row;

static uint64_t large = (uint64_t)256 << 20;

static const size_row sizes[] = {
    {"large", 0, 0, 0},        {"L1", 16 << 10, 0, 1},    {"L2", 512 << 10, 0, 1},   {"L3", 8 << 20, 0, 1},
    {"n=100", 0, 100, 0},      {"n=1000", 0, 1000, 0},    {"n=10000", 0, 10000, 0},  {"n=2^15", 0, 1 << 15, 0},
    {"n=2^16", 0, 1 << 16, 0}, {"n=2^17", 0, 1 << 17, 0}, {"n=2^18", 0, 1 << 18, 0}, {"n=2^19", 0, 1 << 19, 0},
    {"n=2^20", 0, 1 << 20, 0}, {"n=2^21", 0, 1 << 21, 0}, {"n=2^22", 0, 1 << 22, 0},
};

/* Which problems at which sizes: the lists of the targets. */
typedef struct case_row {
  const char *sizes; /* separated by spaces */
  red_kind kind;
  red_op op;
  red_dtype in;
  red_dtype out; /* or default */
  bool in_place;
} case_row;

#define SWEEP "n=2^15 n=2^16 n=2^17 n=2^18 n=2^19 n=2^20 n=2^21 n=2^22"

static const case_row cases[] = {
    {"large L1 L2 L3 n=100 n=1000 n=10000 " SWEEP, RED_REDUCE, RED_SUM, RED_F32, 0, false},
    {"large L1 L2 L3", RED_REDUCE, RED_SUM, RED_F64, 0, false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I32, 0, false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I64, 0, false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I8, 0, false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I16, 0, false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_F16, 0, false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_BF16, 0, false},
    {"large L1 L2 n=100 n=1000 n=10000 " SWEEP, RED_REDUCE, RED_MIN, RED_F32, 0, false},
    {"large L2", RED_REDUCE, RED_MIN, RED_F64, 0, false},
    {"large L2", RED_REDUCE, RED_MIN, RED_I32, 0, false},
    {"large L2", RED_REDUCE, RED_MIN, RED_I64, 0, false},
    {"large L2", RED_REDUCE, RED_MAX, RED_F32, 0, false},
    {"large L2", RED_REDUCE, RED_MAX, RED_F64, 0, false},
    {"large L2", RED_REDUCE, RED_MAX, RED_I32, 0, false},
    {"large L2", RED_REDUCE, RED_MAX, RED_I64, 0, false},
    {"large L1 L2 n=100 n=1000 n=10000", RED_REDUCE, RED_ARGMIN, RED_F32, 0, false},
    {"large L2", RED_REDUCE, RED_ARGMIN, RED_F64, 0, false},
    {"large L2", RED_REDUCE, RED_ARGMIN, RED_I32, 0, false},
    {"large L2", RED_REDUCE, RED_ARGMIN, RED_I64, 0, false},
    {"large L2", RED_REDUCE, RED_COUNT_NONZERO, RED_F32, 0, false},
    {"large L2", RED_REDUCE, RED_PROD, RED_F32, 0, false},
    {"large L1 L2 n=100 n=1000 n=10000", RED_REDUCE, RED_DOT, RED_F32, 0, false},
    {"large L1 L2", RED_REDUCE, RED_DOT, RED_F64, 0, false},
    {"large L1 L2", RED_REDUCE, RED_DOT, RED_I32, 0, false},
    {"large L1 L2", RED_REDUCE, RED_DOT, RED_I64, 0, false},
    {"large L2", RED_REDUCE, RED_DOT, RED_BF16, 0, false},
    {"large L2", RED_REDUCE, RED_DOT, RED_I8, 0, false},
    {"large L2", RED_REDUCE, RED_DOT, RED_I16, 0, false},
    {"large L2", RED_REDUCE, RED_ASUM, RED_F32, 0, false},
    {"large L2", RED_REDUCE, RED_ASUM, RED_F64, 0, false},
    {"large L2", RED_REDUCE, RED_SUMSQ, RED_F64, 0, false},
    {"large L2", RED_REDUCE, RED_NRM2, RED_F32, 0, false},
    {"large L1 L2", RED_STATS, RED_SUM, RED_F32, 0, false},
    {"large L1 L2", RED_STATS, RED_SUM, RED_F64, 0, false},
    {"large L1 L2", RED_STATS, RED_SUM, RED_I32, 0, false},
    {"large L1 L2 n=100 n=1000 n=10000 " SWEEP, RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, false},
    {"large L1 L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, 0, false},
    {"large L1 L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, false},
    {"large L1 L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_I64, 0, false},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, 0, false},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F64, 0, false},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, false},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_I64, 0, false},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, 0, true},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, 0, true},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, RED_I32, true},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_I64, 0, true},
    {"large", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, 0, true},
    {"large", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F64, 0, true},
    {"L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_F16, 0, false},
    {"L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, 0, false},
    {"L2", RED_INCLUSIVE_SCAN, RED_MIN, RED_F32, 0, false},
};

enum {
  SIZES = sizeof sizes / sizeof sizes[0],
  CASES = sizeof cases / sizeof cases[0]
};

/* ---- Data ---- */

static void *map(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    fprintf(stderr, "bench-cpu: no %zu bytes of memory\n", bytes);
    exit(1);
  }
  madvise(p, bytes, MADV_HUGEPAGE);
  memset(p, 0, bytes);
  return p;
}

/* Numbers in [-1, 1); a scan in place starts from zeros, which stay what they are. */
static void fill(const bench_case *c, void *in) {
  uint64_t state = 1, n = bench_in_bytes(c) / red_dtype_bytes(c->problem.in);
  for (uint64_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    int64_t r = c->in_place ? 0 : (int64_t)state >> 32;
    double x = (double)r * 0x1p-31;
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    switch (c->problem.in) {
    case RED_F32:
      ((float *)in)[i] = f;
      break;
    case RED_F64:
      ((double *)in)[i] = x;
      break;
    case RED_BF16:
      ((uint16_t *)in)[i] = (uint16_t)(bits >> 16);
      break;
    case RED_F16:
      ((uint16_t *)in)[i] = (uint16_t)(0x3800 | (r & 0x83ff));
      break;
    default:
      memcpy((char *)in + i * red_dtype_bytes(c->problem.in), &r, red_dtype_bytes(c->problem.in));
    }
  }
}

/* ---- The table ---- */

static bool listed(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *p = names; (p = strstr(p, name)) != NULL; p += length)
    if ((p == names || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0')) return true;
  return false;
}

static void title_of(const case_row *row, const size_row *size, char *title, size_t bytes) {
  static const char *const kinds[] = {"", "reduce", "scan", "exscan", "stats"};
  snprintf(title, bytes, "%s %s%s%s %s%s", size->name, kinds[row->kind], row->kind == RED_STATS ? "" : " ",
           row->kind == RED_STATS ? "" : red_op_name(row->op), red_dtype_name(row->in),
           row->in_place ? " in place" : "");
}

static void print_case(const bench_case *c, const char *title, const bench_series *series, size_t count) {
  double bytes = (double)bench_in_bytes(c);
  red_problem resolved = c->problem;
  red_problem_resolve(&resolved);
  if (c->problem.kind == RED_INCLUSIVE_SCAN || c->problem.kind == RED_EXCLUSIVE_SCAN)
    bytes += (double)(c->problem.n * red_dtype_bytes(resolved.out));
  for (size_t s = 0; s < count; s++) {
    bool copies = strcmp(series[s].name, "memcpy") == 0 || strncmp(series[s].name, "copy", 4) == 0;
    double moved = copies ? 2.0 * (double)bench_in_bytes(c) : bytes;
    double t = series[s].median;
    printf("%-28s  %-26s ", title, series[s].name);
    if (t < 1e-3)
      printf("%10.1f ns", t * 1e9);
    else
      printf("%10.1f us", t * 1e6);
    printf(" %8.1f GB/s", moved / t * 1e-9);
    if (s > 0) printf("   ours %.3f", bytes / series[0].median / (moved / t));
    printf("\n");
  }
  fflush(stdout);
}

static void run_case(const case_row *row, const size_row *size, unsigned samples, const char *title, void *in,
                     void *out) {
  bench_case c = {.problem = RED_PROBLEM_INIT(row->kind, row->op, row->in, 0)};
  uint64_t bytes = size->bytes != 0 ? size->bytes : large;
  const unsigned inputs = row->op == RED_DOT ? 2 : 1;
  c.problem.n = size->elements != 0 ? size->elements : bytes / red_dtype_bytes(row->in) / inputs;
  c.problem.out = row->out;
  if (row->out != 0) c.problem.acc = row->out;
  c.in_place = row->in_place;
  c.threads = size->threads;
  c.in = in;
  if (inputs == 2) c.in2 = (const char *)in + c.problem.n * red_dtype_bytes(row->in);
  c.out = row->in_place ? in : out;
  c.scratch = out;
  if (row->kind == RED_STATS) *(red_stats_result *)out = (red_stats_result){.size = sizeof(red_stats_result)};
  fill(&c, in);
  static bench_series series[BENCH_MOST_CONTESTANTS];
  size_t count = 0;
  for (size_t i = 0; i < CONTESTANTS && count < BENCH_MOST_CONTESTANTS; i++) {
    bench_run *run = contestants[i].find(&c);
    if (run != NULL)
      series[count++] = (bench_series){.name = contestants[i].name, .role = contestants[i].role, .run = run};
  }
  bench_measure(&c, series, count, samples);
  print_case(&c, title, series, count);
}

int main(int argc, char **argv) {
  unsigned samples = 21;
  int first = 1;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    if (strcmp(argv[first], "-s") == 0) samples = (unsigned)atoi(argv[first + 1]);
    if (strcmp(argv[first], "-p") == 0) bench_patient = atoi(argv[first + 1]) != 0;
    if (strcmp(argv[first], "-q") == 0) bench_percentile = (unsigned)atoi(argv[first + 1]) % 100;
    if (strcmp(argv[first], "-w") == 0) bench_pause = (unsigned)atoi(argv[first + 1]);
    if (strcmp(argv[first], "-b") == 0) large = (uint64_t)atoi(argv[first + 1]) << 20;
  }
  if (samples < 1 || samples > BENCH_MOST_SAMPLES) samples = BENCH_MOST_SAMPLES;
  red_context_options options = {.size = sizeof options, .backend = "omp"};
  check(red_context_create(&options, &all_threads));
  options.threads = 1;
  check(red_context_create(&options, &one_thread));
  red_device_info info = {.size = sizeof info};
  check(red_context_device(all_threads, RED_HOST, &info));
  printf("%s, %s; round trip between two threads %.0f ns\n", info.name, info.detail, bench_ping_pong());
  const uint64_t fixed = 8 << 22, bytes = large > fixed ? large : fixed; /* the sizes that are not `large` */
  void *in = map(bytes + 4096), *out = map(2 * bytes + 4096);
  for (size_t i = 0; i < CASES; i++)
    for (size_t k = 0; k < SIZES; k++) {
      char title[96];
      title_of(&cases[i], &sizes[k], title, sizeof title);
      bool wanted = listed(cases[i].sizes, sizes[k].name);
      for (int a = first; a < argc; a++) wanted = wanted && strstr(title, argv[a]) != NULL;
      if (wanted) run_case(&cases[i], &sizes[k], samples, title, in, out);
    }
  printf("samples: %lu clean, %lu disturbed; round trip between two threads %.0f ns\n", bench_clean, bench_disturbed,
         bench_ping_pong());
  red_plan_destroy(plan);
  red_context_destroy(all_threads);
  red_context_destroy(one_thread);
  return 0;
}
