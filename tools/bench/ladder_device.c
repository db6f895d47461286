/* SPDX-License-Identifier: BSD-2-Clause */
/* The ladders of OpenCL and CUDA, and how much each work-item should take (coarsening): one runner serves them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/engine.h"
#include "bench/host.h"
#include "bench/ladder.h"
#include "bench/ladder_steps.h"
#include "bench/machine.h"
#include "progress.h"
#include "report.h"

enum {
  DEFAULT_SAMPLES = 15,
  PATH_BYTES = 4096,
  MOST_N = 1 << 30,
  CPU_N = 1 << 24,
  GPU_N = 1 << 28
};

static const double default_seconds = 20;

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
  const uint32_t quads = c->n / 4, all = quads / c->engine.group + 1;
  const uint32_t groups = c->engine.is_cpu ? ladder_most_groups(c) : all;
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++) code = ladder_launch(c, r->kernel, groups, c->in, quads, c->counter);
  return code ? code : c->engine.api->finish(&c->engine);
}

/* ---- measuring ---- */

/* Each step once, and its sum checked. */
static int run_once(struct climber *c) {
  struct rung ignored;
  int code = EXIT_OK;
  for (size_t i = 0; i < c->steps->count && !code; i++) {
    struct attempt attempt = {.climber = c, .step = &c->steps->list[i]};
    code = prepare_attempt(&attempt, &ignored);
  }
  return code;
}

static int measure(struct climber *c, struct ladder *ladder, const struct sampling *sampling) {
  struct attempt attempts[LADDER_MOST_STEPS];
  struct contestant contestants[LADDER_MOST_STEPS + 2];
  struct reading reading = {.climber = c};
  size_t count = 0;
  int code = c->engine.api->kernel(&c->engine, c->engine.is_cpu ? "read_pieces" : "read_all", &reading.kernel);
  for (size_t i = 0; i < c->steps->count && !code; i++) {
    attempts[i] = (struct attempt){.climber = c, .step = &c->steps->list[i]};
    code = prepare_attempt(&attempts[i], &ladder->rungs[i]);
    if (ladder->rungs[i].measured)
      contestants[count++] = (struct contestant){.run = run_attempt, .argument = &attempts[i]};
  }
  contestants[count] = (struct contestant){.run = run_copy, .argument = c};
  contestants[count + 1] = (struct contestant){.run = run_read, .argument = &reading};
  if (!code) code = sampling_measure(contestants, count + 2, sampling);
  if (code) return code;
  for (size_t i = 0, next = 0; i < c->steps->count; i++)
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
  if (!code) code = chosen->once ? run_once(c) : measure(c, ladder, &sampling);
  progress_clear();
  return code;
}

/*
 * The same ladder again, each step once and under a profiler, which slows down what it counts. `report` gets the
 * reason where there is none; that is no failure.
 */
static void profile_steps(const struct climber *c, struct ladder *ladder, struct ladder_report *report) {
  static char reason[PROFILE_REASON_BYTES];
  struct profile profiles[LADDER_MOST_STEPS];
  const char *kernels[LADDER_MOST_STEPS];
  char n[32], self[PATH_BYTES];
  const char *const command[] = {self, "bench", "ladder", "cuda", n, "--backend", c->info.id, "--once", NULL};
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = 0;
  snprintf(n, sizeof n, "%u", c->n);
  for (size_t i = 0; i < ladder->count; i++) kernels[i] = c->steps->list[i].kernel;
  progress_step(0, "the profile");
  const bool known = profile_run(command, kernels, ladder->count, profiles, reason);
  progress_clear();
  for (size_t i = 0; i < ladder->count && known; i++) ladder->rungs[i].profile = profiles[i];
  report->profiled = known;
  report->no_profile = known ? NULL : reason;
}

static int run(const options *chosen, uint64_t n, const char *backend, const char *title, bool coarse) {
  struct rung rungs[LADDER_MOST_STEPS];
  struct climber climber = {.steps = coarse ? &coarsening_steps : &ladder_steps};
  struct ladder ladder = {.place = "in the device's memory", .rungs = rungs, .count = climber.steps->count};
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
  close_climber(&climber);
  if (code || chosen->once) return code;
  if (!coarse && strcmp(backend, "cuda") == 0) profile_steps(&climber, &ladder, &report);
  ladder_print(&report, chosen->json);
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
