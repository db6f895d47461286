/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU benchmark's cases and its table.
 *
 *   bench-cpu [-s SAMPLES] [-b MEBIBYTES] [-q PERCENTILE] [-p PATIENT] [-w MICROSECONDS] [-x 1] [TEXT ...]
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

static void run_default(const bench_case *c) {
  check(red_run2(NULL, &c->problem, c->in, c->in2, c->out));
}

static void run_dot(const bench_case *c) {
  check(red_dot(NULL, c->problem.in, c->in, c->in2, c->problem.n, c->out));
}

static bench_run *find_one_shot(const bench_case *c) {
  if (c->problem.kind != RED_REDUCE || c->problem.n > 1 << 20 || c->threads == 1) return NULL;
  return c->problem.exact ? run_default : c->in2 != NULL ? run_dot : run_one_shot;
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

/* The same in canonical order: what exactness costs. */
static void run_canonical(const bench_case *c) {
  bench_case canonical = *c;
  canonical.problem.exact = 0;
  run_ours(&canonical);
}
static bench_run *find_canonical(const bench_case *c) {
  return c->problem.exact ? run_canonical : NULL;
}

static const bench_contestant contestants[] = {
    {"libred", BENCH_OURS, find_ours},
    {"libred, one-shot", BENCH_OURS, find_one_shot},
    {"libred, plan", BENCH_OURS, find_plan},
    {"libred, one thread", BENCH_OURS, find_single},
    {"libred, canonical order", BENCH_OURS, find_canonical},
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
#if defined(HAVE_REPROBLAS)
    {"ReproBLAS", BENCH_EXACT, bench_find_reproblas},
#endif
#if defined(HAVE_EXBLAS)
    {"ExBLAS", BENCH_EXACT, bench_find_exblas},
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
  bool exact;
  unsigned stats;   /* what is selected, or default */
  const char *data; /* separated by spaces, or uniform */
} case_row;

#define SWEEP "n=2^15 n=2^16 n=2^17 n=2^18 n=2^19 n=2^20 n=2^21 n=2^22"

#define EXACT(SIZES, OP, DTYPE, DATA)                                                                                  \
  { SIZES, RED_REDUCE, OP, DTYPE, .exact = true, .data = DATA }
#define VARIANCE(DTYPE)                                                                                                \
  { "large L2", RED_STATS, RED_SUM, DTYPE, .stats = RED_STAT_MEAN | RED_STAT_VARIANCE }
#define ALL_NINE(DTYPE)                                                                                                \
  { "large L2", RED_STATS, RED_SUM, DTYPE, .stats = RED_STAT_ALL }

static const case_row cases[] = {
    {"large L1 L2 L3 n=100 n=1000 n=10000 " SWEEP, RED_REDUCE, RED_SUM, RED_F32, .in_place = false},
    {"large L1 L2 L3", RED_REDUCE, RED_SUM, RED_F64, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I32, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I64, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I8, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_I16, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_F16, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_SUM, RED_BF16, .in_place = false},
    {"large L1 L2 n=100 n=1000 n=10000 " SWEEP, RED_REDUCE, RED_MIN, RED_F32, .in_place = false},
    {"large L2", RED_REDUCE, RED_MIN, RED_F64, .in_place = false},
    {"large L2", RED_REDUCE, RED_MIN, RED_I32, .in_place = false},
    {"large L2", RED_REDUCE, RED_MIN, RED_I64, .in_place = false},
    {"large L2", RED_REDUCE, RED_MAX, RED_F32, .in_place = false},
    {"large L2", RED_REDUCE, RED_MAX, RED_F64, .in_place = false},
    {"large L2", RED_REDUCE, RED_MAX, RED_I32, .in_place = false},
    {"large L2", RED_REDUCE, RED_MAX, RED_I64, .in_place = false},
    {"large L1 L2 n=100 n=1000 n=10000", RED_REDUCE, RED_ARGMIN, RED_F32, .in_place = false},
    {"large L2", RED_REDUCE, RED_ARGMIN, RED_F64, .in_place = false},
    {"large L2", RED_REDUCE, RED_ARGMIN, RED_I32, .in_place = false},
    {"large L2", RED_REDUCE, RED_ARGMIN, RED_I64, .in_place = false},
    {"large L2", RED_REDUCE, RED_COUNT_NONZERO, RED_F32, .in_place = false},
    {"large L2", RED_REDUCE, RED_PROD, RED_F32, .in_place = false},
    {"large L1 L2 n=100 n=1000 n=10000", RED_REDUCE, RED_DOT, RED_F32, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_DOT, RED_F64, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_DOT, RED_I32, .in_place = false},
    {"large L1 L2", RED_REDUCE, RED_DOT, RED_I64, .in_place = false},
    {"large L2", RED_REDUCE, RED_DOT, RED_BF16, .in_place = false},
    {"large L2", RED_REDUCE, RED_DOT, RED_I8, .in_place = false},
    {"large L2", RED_REDUCE, RED_DOT, RED_I16, .in_place = false},
    {"large L2", RED_REDUCE, RED_ASUM, RED_F32, .in_place = false},
    {"large L2", RED_REDUCE, RED_ASUM, RED_F64, .in_place = false},
    {"large L2", RED_REDUCE, RED_SUMSQ, RED_F64, .in_place = false},
    {"large L2", RED_REDUCE, RED_NRM2, RED_F32, .in_place = false},
    {"large L1 L2", RED_STATS, RED_SUM, RED_F32, .in_place = false},
    {"large L1 L2", RED_STATS, RED_SUM, RED_F64, .in_place = false},
    {"large L1 L2", RED_STATS, RED_SUM, RED_I32, .in_place = false},
    {"large L1 L2 n=100 n=1000 n=10000 " SWEEP, RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, .in_place = false},
    {"large L1 L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, .in_place = false},
    {"large L1 L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, .out = RED_I32},
    {"large L1 L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_I64, .in_place = false},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, .in_place = false},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F64, .in_place = false},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_I32, .out = RED_I32},
    {"large L1 L2", RED_EXCLUSIVE_SCAN, RED_SUM, RED_I64, .in_place = false},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, .in_place = true},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, .in_place = true},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, .out = RED_I32, .in_place = true},
    {"large", RED_INCLUSIVE_SCAN, RED_SUM, RED_I64, .in_place = true},
    {"large", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, .in_place = true},
    {"large", RED_EXCLUSIVE_SCAN, RED_SUM, RED_F64, .in_place = true},
    {"L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_F16, .in_place = false},
    {"L2", RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, .in_place = false},
    {"L2", RED_INCLUSIVE_SCAN, RED_MIN, RED_F32, .in_place = false},
    EXACT("large L2 n=100 n=1000 n=10000", RED_SUM, RED_F32, "uniform normal whole cancelling"),
    EXACT("large L2 n=100 n=1000 n=10000", RED_SUM, RED_F64, "uniform normal whole cancelling"),
    EXACT("large L2", RED_SUM, RED_BF16, "normal whole"),
    EXACT("large L2", RED_SUM, RED_F16, "normal whole"),
    EXACT("large L2", RED_DOT, RED_F32, "normal whole"),
    EXACT("large L2", RED_DOT, RED_BF16, "normal"),
    EXACT("large L2", RED_DOT, RED_F16, "normal"),
    EXACT("large L2 n=100 n=1000", RED_DOT, RED_F64, "normal whole cancelling"),
    EXACT("large L2", RED_SUMSQ, RED_F32, "normal whole"),
    EXACT("large L2", RED_SUMSQ, RED_F64, "normal whole"),
    EXACT("large L2", RED_ASUM, RED_F64, "normal whole"),
    VARIANCE(RED_F32),
    VARIANCE(RED_F64),
    VARIANCE(RED_I32),
    VARIANCE(RED_I16),
    VARIANCE(RED_F16),
    VARIANCE(RED_BF16),
    ALL_NINE(RED_F32),
    ALL_NINE(RED_F64),
    ALL_NINE(RED_I32),
    ALL_NINE(RED_I64),
    ALL_NINE(RED_I16),
    ALL_NINE(RED_F16),
    ALL_NINE(RED_BF16),
};

enum {
  SIZES = sizeof sizes / sizeof sizes[0],
  CASES = sizeof cases / sizeof cases[0]
};

static const char *const data_names[] = {[BENCH_UNIFORM] = "uniform",
                                         [BENCH_NORMAL] = "normal",
                                         [BENCH_WHOLE_RANGE] = "whole",
                                         [BENCH_CANCELLING] = "cancelling"};

/* ---- The table ---- */

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

static bool listed(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *p = names; (p = strstr(p, name)) != NULL; p += length)
    if ((p == names || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0')) return true;
  return false;
}

static void title_of(const case_row *row, const size_row *size, bench_data data, char *title, size_t bytes) {
  static const char *const kinds[] = {"", "reduce", "scan", "exscan", "stats"};
  const bool stats = row->kind == RED_STATS;
  snprintf(title, bytes, "%s %s%s%s%s %s%s%s%s", size->name, row->exact ? "exact " : "", kinds[row->kind],
           stats ? "" : " ", stats ? "" : red_op_name(row->op), red_dtype_name(row->in),
           row->in_place ? " in place" : "", row->data != NULL ? " " : "", row->data != NULL ? data_names[data] : "");
  if (row->stats != 0) strcat(title, row->stats == RED_STAT_ALL ? " all nine" : " mean, variance");
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
    printf("%-32s  %-26s ", title, series[s].name);
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

static void run_case(const case_row *row, const size_row *size, bench_data data, unsigned samples, const char *title,
                     void *in, void *out) {
  bench_case c = {.problem = RED_PROBLEM_INIT(row->kind, row->op, row->in, 0)};
  uint64_t bytes = size->bytes != 0 ? size->bytes : large;
  const unsigned inputs = row->op == RED_DOT ? 2 : 1;
  c.problem.n = size->elements != 0 ? size->elements : bytes / red_dtype_bytes(row->in) / inputs;
  c.problem.out = row->out;
  if (row->out != 0) c.problem.acc = row->out;
  c.problem.exact = row->exact;
  c.problem.stats = row->stats;
  c.in_place = row->in_place;
  c.threads = size->threads;
  c.in = in;
  if (inputs == 2) c.in2 = (const char *)in + c.problem.n * red_dtype_bytes(row->in);
  c.out = row->in_place ? in : out;
  c.scratch = out;
  if (row->kind == RED_STATS) *(red_stats_result *)out = (red_stats_result){.size = sizeof(red_stats_result)};
  bench_fill(&c, in, row->in_place ? BENCH_ZERO : data);
  static bench_series series[BENCH_MOST_CONTESTANTS];
  size_t count = 0;
  for (size_t i = 0; i < CONTESTANTS && count < BENCH_MOST_CONTESTANTS; i++) {
    const bench_role role = contestants[i].role;
    bench_run *run = role == (row->exact ? BENCH_PEER : BENCH_EXACT) ? NULL : contestants[i].find(&c);
    if (run != NULL)
      series[count++] = (bench_series){.name = contestants[i].name, .role = contestants[i].role, .run = run};
  }
  bench_measure(&c, series, count, samples);
  print_case(&c, title, series, count);
}

int main(int argc, char **argv) {
  unsigned samples = 21;
  bool crossover = false;
  int first = 1;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    if (strcmp(argv[first], "-s") == 0) samples = (unsigned)atoi(argv[first + 1]);
    if (strcmp(argv[first], "-p") == 0) bench_patient = atoi(argv[first + 1]) != 0;
    if (strcmp(argv[first], "-q") == 0) bench_percentile = (unsigned)atoi(argv[first + 1]) % 100;
    if (strcmp(argv[first], "-w") == 0) bench_pause = (unsigned)atoi(argv[first + 1]);
    if (strcmp(argv[first], "-x") == 0) crossover = atoi(argv[first + 1]) != 0;
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
  if (crossover) bench_crossover(run_single, run_ours, samples, in, out, argv + first, argc - first);
  for (size_t i = 0; i < CASES && !crossover; i++)
    for (size_t k = 0; k < SIZES; k++)
      for (bench_data data = BENCH_UNIFORM; data <= BENCH_CANCELLING; data++) {
        char title[96];
        title_of(&cases[i], &sizes[k], data, title, sizeof title);
        bool wanted = listed(cases[i].sizes, sizes[k].name);
        wanted = wanted && listed(cases[i].data != NULL ? cases[i].data : "uniform", data_names[data]);
        for (int a = first; a < argc; a++) wanted = wanted && strstr(title, argv[a]) != NULL;
        if (wanted) run_case(&cases[i], &sizes[k], data, samples, title, in, out);
      }
  printf("samples: %lu clean, %lu disturbed; round trip between two threads %.0f ns\n", bench_clean, bench_disturbed,
         bench_ping_pong());
  red_plan_destroy(plan);
  red_context_destroy(all_threads);
  red_context_destroy(one_thread);
  return 0;
}
