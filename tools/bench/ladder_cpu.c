/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU ladder: from one chain of additions to the library, on data in cache and in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/arrays.h"
#include "bench/host.h"
#include "bench/ladder.h"
#include "bench/machine.h"
#include "bench/roofline.h"
#include "progress.h"
#include "report.h"

enum {
  SIDE_BY_SIDE = 1,             /* floats from one slot to the next */
  PADDED = 128 / sizeof(float), /* two lines, since some processors fetch lines in pairs */
  DEFAULT_SAMPLES = 15,
  PLACES = 2
};

static const uint64_t default_n = (uint64_t)1 << 26;
static const double default_seconds = 20;

/* What a step works on. */
struct cpu_data {
  const float *x;
  uint64_t n;
  unsigned threads;
  float *slots; /* of partial sums, PADDED for each thread */
  const red_plan *plan;
  float result;
};

/* ---- steps ---- */

typedef float sum_fn(const float *x, size_t n);

struct team {
  const struct cpu_data *data;
  sum_fn *sum; /* NULL: add to the slot all the time */
  size_t distance;
};

static void team_share(void *argument, unsigned index, size_t first, size_t last) {
  const struct team *team = argument;
  const float *x = team->data->x + first / sizeof(float);
  const size_t n = last / sizeof(float) - first / sizeof(float);
  float *slot = &team->data->slots[index * team->distance];
  if (team->sum)
    *slot = team->sum(x, n);
  else
    host_kernels()->sum_into(x, n, slot);
}

static float sum_by_team(const struct cpu_data *data, sum_fn *sum, size_t distance) {
  struct team team = {data, sum, distance};
  float total = 0;
  for (unsigned i = 0; i < data->threads; i++) data->slots[i * distance] = 0;
  host_share(data->threads, data->n * sizeof(float), team_share, &team);
  for (unsigned i = 0; i < data->threads; i++) total += data->slots[i * distance];
  return total;
}

static float one_chain(const struct cpu_data *data) {
  return host_kernels()->sum_one(data->x, data->n);
}
static float four_chains(const struct cpu_data *data) {
  return host_kernels()->sum_four(data->x, data->n);
}
static float lanes_inside(const struct cpu_data *data) {
  return host_kernels()->sum_inside(data->x, data->n);
}
static float lanes_after(const struct cpu_data *data) {
  return host_kernels()->sum_after(data->x, data->n);
}
static float vector_chains(const struct cpu_data *data) {
  return host_kernels()->sum_chains(data->x, data->n);
}
static float slots_together(const struct cpu_data *data) {
  return sum_by_team(data, NULL, SIDE_BY_SIDE);
}
static float slots_apart(const struct cpu_data *data) {
  return sum_by_team(data, NULL, PADDED);
}
static float slots_once(const struct cpu_data *data) {
  return sum_by_team(data, host_kernels()->sum_chains, PADDED);
}
static float prefetching(const struct cpu_data *data) {
  return sum_by_team(data, host_kernels()->sum_ahead, PADDED);
}
static float ours(const struct cpu_data *data) {
  float sum = -1; /* no sum of the data, in case of a failure */
  if (red_plan_execute(data->plan, NULL, data->x, &sum) != RED_OK) complain("%s", red_last_error());
  return sum;
}

static const struct cpu_step {
  const char *name, *why;
  float (*sum)(const struct cpu_data *data);
} steps[] = {
    {"one chain", "Each addition waits for the one before, three or four cycles for four bytes.", one_chain},
    {"four chains", "Four sums side by side: an addition begins while three others are under way.", four_chains},
    {"SIMD, lanes added in the loop", "One load brings a vector, but adding up its lanes takes several steps for each.",
     lanes_inside},
    {"SIMD, lanes added after it", "One addition for a whole vector; lanes are added once, at the end.", lanes_after},
    {"SIMD, eight chains", "Vector additions have latency too; eight chains hide it, and loads are the limit.",
     vector_chains},
    {"threads, slots side by side", "Every core adds to a slot of its own, but all slots share a line, which travels.",
     slots_together},
    {"threads, padded slots", "A line for each slot stays in its core's cache.", slots_apart},
    {"threads, sums in registers", "Nothing is stored before the end.", slots_once},
    {"threads, prefetching", "Asking a page ahead keeps more lines under way than the processor does by itself.",
     prefetching},
    {"libred", "All of these where they pay, in an order that gives the same bits everywhere.", ours},
};
enum {
  STEPS = sizeof steps / sizeof *steps
};

/* ---- measuring ---- */

struct attempt {
  const struct cpu_step *step;
  struct cpu_data *data;
};

static int run_attempt(void *argument, unsigned calls) {
  struct attempt *attempt = argument;
  for (unsigned i = 0; i < calls; i++) attempt->data->result = attempt->step->sum(attempt->data);
  return EXIT_OK;
}

/* The data is exact in any order, so that the library's sum must be this one too; its order is what verify tests. */
static int check_steps(struct cpu_data *data, double sum) {
  int code = EXIT_OK;
  for (int i = 0; i < STEPS && !code; i++) code = ladder_check(steps[i].name, steps[i].sum(data), sum);
  return code;
}

static int measure(struct cpu_data *data, const struct arrays *arrays, struct ladder *ladder,
                   const struct sampling *sampling) {
  struct attempt attempts[STEPS];
  struct contestant contestants[STEPS + MOST_ROOFS];
  struct roof roofs[MOST_ROOFS];
  char what[48];
  for (int i = 0; i < STEPS; i++) {
    attempts[i] = (struct attempt){&steps[i], data};
    contestants[i] = (struct contestant){.run = run_attempt, .argument = &attempts[i]};
  }
  const size_t count = roofs_for(roofs, contestants + STEPS, arrays, false, data->n * sizeof(float), false);
  const int code = sampling_measure(contestants, STEPS + count, sampling);
  if (code) return code;
  for (int i = 0; i < STEPS; i++) {
    ladder->rungs[i] = (struct rung){.name = steps[i].name, .why = steps[i].why, .measured = true};
    ladder->rungs[i].time = contestants[i].result;
  }
  ladder->roof = roofs_best(roofs, contestants + STEPS, count, what, sizeof what);
  return EXIT_OK;
}

static int climb(struct cpu_data *data, red_context *context, struct ladder *ladder, const struct sampling *sampling) {
  const red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, ladder->n);
  const struct bench_case c = {.problem = problem, .text = "the ladder", .bytes_in = ladder->n * sizeof(float)};
  struct arrays arrays = {.threads = data->threads};
  red_plan *plan = NULL;
  double sum;
  int code = arrays_make(&arrays, &c);
  const red_status status = code ? RED_OK : red_plan_create(context, &problem, &plan);
  if (status) code = library_error(status);
  if (!code) {
    ladder_fill(arrays.in, ladder->n, &sum);
    ladder->bytes = (double)ladder->n * sizeof(float);
    data->x = arrays.in;
    data->n = ladder->n;
    data->plan = plan;
    code = check_steps(data, sum);
  }
  if (!code) code = measure(data, &arrays, ladder, sampling);
  red_plan_destroy(plan);
  arrays_free(&arrays);
  return code;
}

/* ---- the whole ---- */

/* Half of each core's second-level cache. */
static uint64_t n_in_cache(unsigned threads, uint64_t n) {
  const uint64_t level = machine_cache(2) ? machine_cache(2) : (uint64_t)256 << 10;
  const uint64_t fits = level / 2 * threads / sizeof(float);
  return fits < n ? fits : n;
}

static bool fits_last_level(uint64_t n) {
  for (unsigned level = 4; level > 2; level--)
    if (machine_cache(level)) return n <= machine_cache(level) / sizeof(float);
  return false;
}

static int check_memory(uint64_t n) {
  const uint64_t allowed = machine_free_memory() / 2;
  if (n <= allowed / sizeof(float)) return EXIT_OK;
  complain("ladder: %.1f GiB of data, and no more than half of the free memory is used: %.1f GiB",
           (double)n * sizeof(float) / 1073741824.0, (double)allowed / 1073741824.0);
  return EXIT_LIBRARY;
}

static int climb_all(struct cpu_data *data, red_context *context, const options *chosen, struct ladder *ladders,
                     size_t count) {
  const struct sampling sampling = {chosen->samples ? chosen->samples : DEFAULT_SAMPLES,
                                    (chosen->seconds > 0 ? chosen->seconds : default_seconds) / (double)count};
  int code = EXIT_OK;
  progress_begin(count);
  for (size_t i = 0; i < count && !code; i++) {
    progress_step(i, ladders[i].place);
    code = climb(data, context, &ladders[i], &sampling);
  }
  progress_clear();
  return code;
}

int ladder_cpu(const options *chosen, uint64_t n) {
  if (chosen->once) return usage_error("bench ladder cpu takes no --once: it is for profilers of devices");
  struct rung rungs[PLACES][STEPS];
  if (chosen->backend && strcmp(chosen->backend, "omp") != 0)
    return usage_error("bench ladder cpu: --backend %s, but the CPU's is omp", chosen->backend);
  if (n == 0) n = default_n;
  const red_context_options wish = {.size = sizeof wish, .backend = "omp", .threads = chosen->threads};
  red_device_info info = {.size = sizeof info};
  red_context *context = NULL;
  red_status status = red_context_create(&wish, &context);
  if (!status) status = red_context_device(context, RED_HOST, &info);
  int code = status ? library_error(status) : check_memory(n);
  struct cpu_data data = {.threads = info.units < host_threads() ? info.units : host_threads()};
  struct ladder ladders[PLACES] = {
      {.place = "in cache", .n = n_in_cache(data.threads, n), .rungs = rungs[0], .count = STEPS},
      {.place = fits_last_level(n) ? "in the last cache" : "in memory", .n = n, .rungs = rungs[1], .count = STEPS},
  };
  struct ladder_report report = {.title = "The CPU ladder: a sum of f32", .ladders = ladders, .count = PLACES};
  if (ladders[0].n == n) report.count = 1; /* what a cache holds is not in memory */
  snprintf(report.device, sizeof report.device, "%.100s, %.100s", info.name, info.detail);
  data.slots = aligned_alloc(PADDED * sizeof(float), (data.threads + 1) * PADDED * sizeof(float));
  if (!code && !data.slots) {
    complain("out of memory for %u slots", data.threads);
    code = EXIT_LIBRARY;
  }
  if (!code) code = climb_all(&data, context, chosen, ladders, report.count);
  if (!code) ladder_print(&report, chosen->json);
  free(data.slots);
  red_context_destroy(context);
  return code;
}
