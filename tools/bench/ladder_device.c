/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ladders of OpenCL and CUDA, and how much each work-item should take (coarsening). Both have the same steps, whose
 * kernels have the same names and arguments, so that one runner serves them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine.h"
#include "bench/host.h"
#include "bench/ladder.h"
#include "bench/machine.h"
#include "progress.h"
#include "report.h"

enum {
  DEFAULT_SAMPLES = 15,
  GROUPS_A_UNIT = 8, /* of step 7: 2048 threads on a multiprocessor */
  MOST_N = 1 << 30,
  CPU_N = 1 << 24,
  GPU_N = 1 << 28
};

static const double default_seconds = 20;

struct climber {
  const struct device_step *steps;
  size_t count;
  struct engine engine;
  red_context *context;
  red_queue *queue;
  red_plan *plan;
  red_device_info info;
  uint32_t n;
  void *in, *out, *parts[2], *counter;
  double sum; /* the right answer */
};

/* ---- steps ---- */

struct device_step {
  const char *name, *why;
  const char *kernel; /* NULL: the library */
  int (*enqueue)(struct climber *c, const struct device_step *step, void *kernel);
  unsigned loads; /* elements that a work-item loads; 0: as many as it takes */
  enum {
    ANYWHERE,
    SHUFFLES, /* between lanes */
    TOGETHER  /* all groups at the same time */
  } needs;
};

static uint32_t divide_up(uint32_t n, uint32_t by) {
  return n / by + (n % by != 0);
}

static uint32_t most_groups(const struct climber *c) {
  const uint32_t all = divide_up(c->n, c->engine.group * 4), held = c->engine.units * GROUPS_A_UNIT;
  return all < held ? all : held;
}

static int launch(struct climber *c, void *kernel, uint32_t groups, void *in, uint32_t n, void *out) {
  const struct engine_arg args[] = {{sizeof in, &in}, {sizeof n, &n}, {sizeof out, &out}};
  return c->engine.api->launch(&c->engine, kernel, groups, args, 3);
}

/* The kernel again on its own partial sums, until one is left. */
static int by_levels(struct climber *c, const struct device_step *step, void *kernel) {
  void *in = c->in;
  int code = EXIT_OK, level = 0;
  for (uint32_t n = c->n, groups; !code && (n > 1 || level == 0); n = groups, level++) {
    groups = divide_up(n, step->loads * c->engine.group);
    void *out = groups == 1 ? c->out : c->parts[level % 2];
    code = launch(c, kernel, groups, in, n, out);
    in = out;
  }
  return code;
}

/* Likewise, each work-item taking as many elements as the step says. */
static int by_coarse_levels(struct climber *c, const struct device_step *step, void *kernel) {
  void *in = c->in;
  int code = EXIT_OK, level = 0;
  const uint32_t loads = step->loads;
  for (uint32_t n = c->n, groups; !code && (n > 1 || level == 0); n = groups, level++) {
    groups = divide_up(n, loads * c->engine.group);
    void *out = groups == 1 ? c->out : c->parts[level % 2];
    const struct engine_arg args[] = {{sizeof in, &in}, {sizeof n, &n}, {sizeof out, &out}, {sizeof loads, &loads}};
    code = c->engine.api->launch(&c->engine, kernel, groups, args, 4);
    in = out;
  }
  return code;
}

static int by_two_launches(struct climber *c, const struct device_step *step, void *kernel) {
  const uint32_t groups = most_groups(c);
  (void)step;
  const int code = launch(c, kernel, groups, c->in, c->n, c->parts[0]);
  return code ? code : launch(c, kernel, 1, c->parts[0], groups, c->out);
}

static int by_atomics(struct climber *c, const struct device_step *step, void *kernel) {
  (void)step;
  const int code = c->engine.api->zero(&c->engine, c->out, sizeof(float));
  return code ? code : launch(c, kernel, most_groups(c), c->in, c->n, c->out);
}

static int by_last_group(struct climber *c, const struct device_step *step, void *kernel) {
  const struct engine_arg args[] = {{sizeof c->in, &c->in},
                                    {sizeof c->n, &c->n},
                                    {sizeof c->out, &c->out},
                                    {sizeof c->parts[0], &c->parts[0]},
                                    {sizeof c->counter, &c->counter}};
  (void)step;
  return c->engine.api->launch(&c->engine, kernel, most_groups(c), args, 5);
}

static int by_grid_barrier(struct climber *c, const struct device_step *step, void *kernel) {
  const struct engine_arg args[] = {
      {sizeof c->in, &c->in}, {sizeof c->n, &c->n}, {sizeof c->out, &c->out}, {sizeof c->parts[0], &c->parts[0]}};
  (void)step;
  return c->engine.api->launch_together(&c->engine, kernel, most_groups(c), args, 4);
}

static int by_library(struct climber *c, const struct device_step *step, void *kernel) {
  (void)step, (void)kernel;
  const red_status status = red_plan_execute(c->plan, c->queue, c->in, c->out);
  return status ? library_error(status) : EXIT_OK;
}

static const struct device_step steps[] = {
    {"interleaved, with modulo",
     "Pairs of neighbours: in every step the lanes of a warp part ways, and modulo is slow.", "interleaved", by_levels,
     1, ANYWHERE},
    {"consecutive threads, strided",
     "The same pairs by consecutive threads: whole warps retire, but strides collide in "
     "the banks.",
     "strided", by_levels, 1, ANYWHERE},
    {"sequential addressing", "Consecutive threads and consecutive words: no two meet in a bank.", "sequential",
     by_levels, 1, ANYWHERE},
    {"add while loading", "Half of the threads had nothing to do after their load; now each adds two elements first.",
     "add_loading", by_levels, 2, ANYWHERE},
    {"unrolled", "Loop and tests are gone; whatever is needed to make threads wait for each other stays.", "unrolled",
     by_levels, 2, ANYWHERE},
    {"shuffles", "Lanes of a warp pass values without memory; one barrier is left.", "shuffled", by_levels, 2,
     SHUFFLES},
    {"grid stride, 16-byte loads",
     "As many groups as fit, many loads under way in each, and two launches instead of "
     "one a level.",
     "grid_stride", by_two_launches, 0, ANYWHERE},
    {"the same, atomics", "Groups add to one word: no second launch, but a word to clear, and no fixed order.",
     "combine_atomics", by_atomics, 0, ANYWHERE},
    {"the same, last group",
     "A counter tells who is last; it adds up the partial sums: one launch, any order possible.", "combine_last",
     by_last_group, 0, ANYWHERE},
    {"the same, cooperative groups",
     "All groups run at the same time and meet at a barrier, which waits for the slowest; any order possible.",
     "combine_grid", by_grid_barrier, 0, TOGETHER},
    {"libred", "One launch, wide loads, in an order that gives the same bits everywhere.", NULL, by_library, 0,
     ANYWHERE},
};

#define COARSE(elements, why)                                                                                          \
  { #elements " a work-item", why, "coarsened", by_coarse_levels, elements, ANYWHERE }
static const struct device_step coarsening[] = {
    COARSE(1, "Each group adds 256 elements or fewer: starting it and its barrier cost more than its loads."),
    COARSE(2, "Half as many groups, partial sums and barriers."),
    COARSE(4, "Loads of one work-item do not wait for each other: several are under way at a time."),
    COARSE(8, "From here on there is little left of what a group costs beside its loads."),
    COARSE(16, "More bytes under way than the latency of the memory asks for: the bandwidth is what is left."),
    COARSE(32, "The same, with fewer partial sums."),
    COARSE(64, "The fewer groups, the more the last ones count: some units wait while others still add."),
    COARSE(256, "Too few groups for a small array, which leave units without work."),
};
enum {
  MOST_STEPS = sizeof steps / sizeof *steps
};

struct attempt {
  struct climber *climber;
  const struct device_step *step;
  void *kernel;
};

static int run_attempt(void *argument, unsigned calls) {
  const struct attempt *a = argument;
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++) code = a->step->enqueue(a->climber, a->step, a->kernel);
  return code ? code : a->climber->engine.api->finish(&a->climber->engine);
}

static int prepare_attempt(struct attempt *a, struct rung *rung) {
  struct climber *c = a->climber;
  float result = -1;
  *rung = (struct rung){.name = a->step->name, .why = a->step->why, .measured = true};
  const char *lacks = a->step->needs == SHUFFLES && !c->engine.shuffles ? "the device has no sub-group shuffles"
                      : a->step->needs == TOGETHER && !c->engine.api->launch_together
                          ? "nothing promises that all groups run at the same time"
                          : NULL;
  if (lacks) {
    rung->measured = false;
    snprintf(rung->reason, sizeof rung->reason, "%s", lacks);
    return EXIT_OK;
  }
  int code = a->step->kernel ? c->engine.api->kernel(&c->engine, a->step->kernel, &a->kernel) : EXIT_OK;
  if (!code) code = run_attempt(a, 1);
  if (!code) code = c->engine.api->read(&c->engine, &result, c->out, sizeof result);
  return code ? code : ladder_check(a->step->name, result, c->sum);
}

/* ---- the roofline: the better of copying and reading ---- */

static int run_copy(void *argument, unsigned calls) {
  struct climber *c = argument;
  const uint64_t half = (uint64_t)c->n * sizeof(float) / 2;
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++) code = c->engine.api->copy(&c->engine, c->parts[0], c->in, half);
  return code ? code : c->engine.api->finish(&c->engine);
}

struct reading {
  struct climber *climber;
  void *kernel;
};

static int run_read(void *argument, unsigned calls) {
  const struct reading *r = argument;
  struct climber *c = r->climber;
  const uint32_t quads = c->n / 4;
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++) code = launch(c, r->kernel, most_groups(c), c->in, quads, c->counter);
  return code ? code : c->engine.api->finish(&c->engine);
}

/* ---- measuring ---- */

static int measure(struct climber *c, struct ladder *ladder, const struct sampling *sampling) {
  struct attempt attempts[MOST_STEPS];
  struct contestant contestants[MOST_STEPS + 2];
  struct reading reading = {.climber = c};
  size_t count = 0;
  int code = c->engine.api->kernel(&c->engine, c->engine.is_cpu ? "read_pieces" : "read_all", &reading.kernel);
  for (size_t i = 0; i < c->count && !code; i++) {
    attempts[i] = (struct attempt){.climber = c, .step = &c->steps[i]};
    code = prepare_attempt(&attempts[i], &ladder->rungs[i]);
    if (ladder->rungs[i].measured)
      contestants[count++] = (struct contestant){.run = run_attempt, .argument = &attempts[i]};
  }
  contestants[count] = (struct contestant){.run = run_copy, .argument = c};
  contestants[count + 1] = (struct contestant){.run = run_read, .argument = &reading};
  if (!code) code = sampling_measure(contestants, count + 2, sampling);
  if (code) return code;
  for (size_t i = 0, next = 0; i < c->count; i++)
    if (ladder->rungs[i].measured) ladder->rungs[i].time = contestants[next++].result;
  const double bytes = (double)c->n * sizeof(float), copied = bytes / contestants[count].result.median,
               read = bytes / contestants[count + 1].result.median;
  ladder->roof = copied > read ? copied : read;
  return EXIT_OK;
}

static int upload(struct climber *c) {
  const uint64_t bytes = (uint64_t)c->n * sizeof(float);
  float *x = host_map(bytes);
  int code = EXIT_OK;
  if (!x) {
    complain("ladder: no memory for %.1f GiB", (double)bytes / 1073741824.0);
    return EXIT_LIBRARY;
  }
  ladder_fill(x, c->n, &c->sum);
  code = c->engine.api->write(&c->engine, c->in, x, bytes);
  host_unmap(x, bytes);
  return code;
}

/* The first level's partial sums are at most half as many as the elements, and copies go there too. */
static int make_arrays(struct climber *c) {
  const struct engine_api *api = c->engine.api;
  const uint64_t bytes = (uint64_t)c->n * sizeof(float), parts = bytes / 2 + 4096;
  int code = api->alloc(&c->engine, bytes, &c->in);
  if (!code) code = api->alloc(&c->engine, 4096, &c->out);
  if (!code) code = api->alloc(&c->engine, parts, &c->parts[0]);
  if (!code) code = api->alloc(&c->engine, parts, &c->parts[1]);
  if (!code) code = api->alloc(&c->engine, 4096, &c->counter);
  if (!code) code = api->zero(&c->engine, c->counter, 4096);
  return code ? code : upload(c);
}

static int make_plan(struct climber *c) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, c->n);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  const red_context_options wish = {.size = sizeof wish,
                                    .backend = c->info.id,
                                    .native_context = c->engine.native_context,
                                    .native_device = c->engine.native_device};
  red_status status = red_context_create(&wish, &c->context);
  if (!status) status = red_queue_wrap(c->context, c->engine.native_queue, &c->queue);
  if (!status) status = red_plan_create(c->context, &problem, &c->plan);
  return status ? library_error(status) : EXIT_OK;
}

static void close_climber(struct climber *c) {
  const struct engine_api *api = c->engine.api;
  red_plan_destroy(c->plan);
  red_queue_destroy(c->queue);
  red_context_destroy(c->context);
  if (api && c->engine.state) {
    api->free(&c->engine, c->in);
    api->free(&c->engine, c->out);
    api->free(&c->engine, c->parts[0]);
    api->free(&c->engine, c->parts[1]);
    api->free(&c->engine, c->counter);
  }
  engine_close(&c->engine);
}

/* ---- the whole ---- */

/* Asked before the engine makes the objects to share. */
int ladder_choose_device(const options *chosen, const char *backend, red_device_info *info) {
  red_context *context = NULL;
  const char *list = chosen->backend ? chosen->backend : backend;
  const red_context_options wish = {.size = sizeof wish, .backend = list};
  info->size = sizeof *info;
  if (chosen->threads) return usage_error("bench ladder %s takes no --threads, they are the device's own", backend);
  red_status status = red_context_create(&wish, &context);
  if (!status) status = red_context_device(context, RED_DEVICE, info);
  red_context_destroy(context);
  if (status) return library_error(status);
  if (strcmp(info->backend, backend) == 0) return EXIT_OK;
  return usage_error("bench ladder %s: --backend %s takes %s, which is another backend", backend, list, info->id);
}

static int check_n(const struct climber *c, uint64_t n) {
  const uint64_t here = machine_free_memory() / 2, there = c->info.memory / 2;
  const uint64_t bytes = 2 * n * sizeof(float), host = c->engine.is_cpu ? bytes + bytes / 2 : bytes / 2;
  if (n > MOST_N) return usage_error("ladder: n is at most 2^30 on a device");
  if (host <= here && (there == 0 || bytes <= there)) return EXIT_OK;
  complain("ladder: %.1f GiB of data, and no more than half of the memory is used", (double)bytes / 1073741824.0);
  return EXIT_LIBRARY;
}

static int climb(struct climber *c, const options *chosen, struct ladder *ladder) {
  const struct sampling sampling = {chosen->samples ? chosen->samples : DEFAULT_SAMPLES,
                                    chosen->seconds > 0 ? chosen->seconds : default_seconds};
  progress_begin(1);
  progress_step(0, "the ladder");
  int code = make_arrays(c);
  if (!code) code = make_plan(c);
  if (!code) code = measure(c, ladder, &sampling);
  progress_clear();
  return code;
}

static int run(const options *chosen, uint64_t n, const char *backend, const char *title, bool coarse) {
  struct rung rungs[MOST_STEPS];
  struct climber climber = {.steps = coarse ? coarsening : steps,
                            .count = coarse ? sizeof coarsening / sizeof *coarsening : MOST_STEPS};
  struct ladder ladder = {.place = "in the device's memory", .rungs = rungs, .count = climber.count};
  struct ladder_report report = {.title = title, .ladders = &ladder, .count = 1};
  int code = ladder_choose_device(chosen, backend, &climber.info);
  if (!code) code = engine_open(&climber.engine, &climber.info, ENGINE_LADDER);
  if (!code && n == 0) n = climber.engine.is_cpu ? CPU_N : GPU_N;
  if (!code) code = check_n(&climber, n);
  climber.n = (uint32_t)n;
  ladder.n = n;
  ladder.bytes = (double)n * sizeof(float);
  if (!code) code = climb(&climber, chosen, &ladder);
  snprintf(report.device, sizeof report.device, "%.40s: %.100s, %.100s", climber.info.id, climber.info.name,
           climber.info.detail);
  if (climber.engine.is_cpu)
    report.note =
        "This device is a CPU. There the work-items of a group are iterations of a loop, which every barrier\n"
        "cuts in two, and a piece of consecutive elements for each beats elements in turn: the library's way.";
  if (!code) ladder_print(&report, chosen->json);
  close_climber(&climber);
  return code;
}

int ladder_opencl(const options *chosen, uint64_t n) {
  return run(chosen, n, "opencl", "The OpenCL ladder: a sum of f32", false);
}

int ladder_cuda(const options *chosen, uint64_t n) {
  return run(chosen, n, "cuda", "The CUDA ladder: a sum of f32", false);
}

int coarsening_opencl(const options *chosen, uint64_t n) {
  return run(chosen, n, "opencl", "OpenCL: elements a work-item adds up", true);
}

int coarsening_cuda(const options *chosen, uint64_t n) {
  return run(chosen, n, "cuda", "CUDA: elements a thread adds up", true);
}
