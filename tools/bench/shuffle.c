/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shuffle tables: what it costs to pass a value through a primitive of the device headers on its way from memory to
 * memory. Every output is compared with a model of the primitive on the host.
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
  MOST_N = 1 << 30,
  CPU_N = 1 << 22,
  GPU_N = 1 << 25 /* 33,554,432: 128 MiB in, 128 MiB out */
};

static const double default_seconds = 20;

struct table {
  struct engine engine;
  uint32_t n, lanes; /* of a sub-group or warp; 0: it has no shuffles */
  void *in, *out;
  float *x, *y; /* on the host: the input, and what came out */
};

/* ---- what the primitives do, for the group [first, first + count) that element i is in ---- */

typedef float model_fn(const float *x, uint32_t i, uint32_t first, uint32_t count);

static float keep(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  (void)first, (void)count;
  return x[i];
}
static float sum(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  float total = 0;
  if (i != first) return x[i];
  for (uint32_t k = 0; k < count; k++) total += x[first + k];
  return total;
}
static float greatest(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  float most = x[first];
  if (i != first) return x[i];
  for (uint32_t k = 1; k < count; k++) most = x[first + k] > most ? x[first + k] : most;
  return most;
}
static float exclusive(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  float total = 0;
  (void)count;
  for (uint32_t k = first; k < i; k++) total += x[k];
  return total;
}
static float inclusive(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  return exclusive(x, i, first, count) + x[i];
}
static float broadcast(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  (void)i, (void)count;
  return x[first];
}
static float exchanged(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  (void)count;
  return x[first + ((i - first) ^ 1)];
}
static float from_below(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  (void)count;
  return x[i > first ? i - 1 : i];
}
static float from_above(const float *x, uint32_t i, uint32_t first, uint32_t count) {
  return x[i + 1 < first + count ? i + 1 : i];
}

static const struct primitive {
  const char *name, *why, *kernel;
  model_fn *model;
  bool lanes; /* of a sub-group or warp, not of the whole group */
} primitives[] = {
    {"nothing", "Read an element, write an element: what the rest is to be compared with.", "plain", keep, false},
    {"broadcast", "Every lane reads lane 0's value.", "lanes_broadcast", broadcast, true},
    {"exchange with lane ^ 1", "The step of a butterfly: both partners get the other's value.", "lanes_xor", exchanged,
     true},
    {"from the lane below", "The step of a scan.", "lanes_up", from_below, true},
    {"from the lane above", "The step of a reduction.", "lanes_down", from_above, true},
    {"sum of a warp", "As many steps as the logarithm of the lanes, no memory.", "lanes_sum", sum, true},
    {"sum of a block", "Across warps values go through shared (local) memory, with barriers.", "group_sum", sum, false},
    {"maximum of a block", "The same with another operator.", "group_max", greatest, false},
    {"inclusive scan of a block", "Every lane gets a result: more steps, more barriers.", "group_inclusive", inclusive,
     false},
    {"exclusive scan of a block", "The same, one place further.", "group_exclusive", exclusive, false},
};
enum {
  PRIMITIVES = sizeof primitives / sizeof *primitives
};

/* ---- running ---- */

struct attempt {
  struct table *table;
  void *kernel;
};

static int run_attempt(void *argument, unsigned calls) {
  const struct attempt *a = argument;
  struct table *t = a->table;
  const struct engine_arg args[] = {{sizeof t->in, &t->in}, {sizeof t->n, &t->n}, {sizeof t->out, &t->out}};
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++)
    code = t->engine.api->launch(&t->engine, a->kernel, t->n / t->engine.group, args, 3);
  return code ? code : t->engine.api->finish(&t->engine);
}

static int run_copy(void *argument, unsigned calls) {
  struct table *t = argument;
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++)
    code = t->engine.api->copy(&t->engine, t->out, t->in, (uint64_t)t->n * sizeof(float));
  return code ? code : t->engine.api->finish(&t->engine);
}

/* The last sub-group of a group may have fewer lanes. */
static int check(struct table *t, const struct primitive *p) {
  const uint32_t group = t->engine.group;
  const int code = t->engine.api->read(&t->engine, t->y, t->out, (uint64_t)t->n * sizeof(float));
  for (uint32_t i = 0; i < t->n && !code; i++) {
    const uint32_t first_of_group = i / group * group, within = i - first_of_group;
    const uint32_t begin = p->lanes ? within / t->lanes * t->lanes : 0, wanted = p->lanes ? t->lanes : group;
    const uint32_t count = begin + wanted < group ? wanted : group - begin;
    const float right = p->model(t->x, i, first_of_group + begin, count);
    if (t->y[i] >= right && t->y[i] <= right) continue;
    complain("shuffle: %s: element %u is %g, expected %g", p->name, i, (double)t->y[i], (double)right);
    return EXIT_MISMATCH;
  }
  return code;
}

static int prepare(struct attempt *a, const struct primitive *p, struct rung *rung) {
  struct table *t = a->table;
  *rung = (struct rung){.name = p->name, .why = p->why, .measured = !p->lanes || t->lanes > 0};
  if (!rung->measured) {
    snprintf(rung->reason, sizeof rung->reason, "the device has no sub-group shuffles");
    return EXIT_OK;
  }
  int code = t->engine.api->kernel(&t->engine, p->kernel, &a->kernel);
  if (!code) code = run_attempt(a, 1);
  return code ? code : check(t, p);
}

static int measure(struct table *t, struct ladder *ladder, const struct sampling *sampling) {
  struct attempt attempts[PRIMITIVES];
  struct contestant contestants[PRIMITIVES + 1];
  size_t count = 0;
  int code = EXIT_OK;
  for (int i = 0; i < PRIMITIVES && !code; i++) {
    attempts[i] = (struct attempt){.table = t};
    code = prepare(&attempts[i], &primitives[i], &ladder->rungs[i]);
    if (ladder->rungs[i].measured)
      contestants[count++] = (struct contestant){.run = run_attempt, .argument = &attempts[i]};
  }
  contestants[count] = (struct contestant){.run = run_copy, .argument = t};
  if (!code) code = sampling_measure(contestants, count + 1, sampling);
  if (code) return code;
  for (size_t i = 0, next = 0; i < PRIMITIVES; i++)
    if (ladder->rungs[i].measured) ladder->rungs[i].time = contestants[next++].result;
  const double copied = contestants[count].result.median, moved = ladder->rungs[0].time.median; /* both plain copies */
  ladder->roof = ladder->bytes / (copied < moved ? copied : moved);
  return EXIT_OK;
}

/* ---- set-up ---- */

static int count_lanes(struct table *t) {
  struct attempt a = {.table = t};
  float lanes = 0;
  if (!t->engine.shuffles) return EXIT_OK;
  int code = t->engine.api->kernel(&t->engine, "lanes", &a.kernel);
  if (!code) code = run_attempt(&a, 1);
  if (!code) code = t->engine.api->read(&t->engine, &lanes, t->out, sizeof lanes);
  t->lanes = (uint32_t)lanes;
  return code;
}

static int make_arrays(struct table *t) {
  const uint64_t bytes = (uint64_t)t->n * sizeof(float);
  double ignored;
  t->x = host_map(bytes);
  t->y = host_map(bytes);
  if (!t->x || !t->y) {
    complain("shuffle: no memory for %.1f GiB", (double)bytes / 1073741824.0);
    return EXIT_LIBRARY;
  }
  ladder_fill(t->x, t->n, &ignored);
  int code = t->engine.api->alloc(&t->engine, bytes, &t->in);
  if (!code) code = t->engine.api->alloc(&t->engine, bytes, &t->out);
  if (!code) code = t->engine.api->write(&t->engine, t->in, t->x, bytes);
  return code ? code : count_lanes(t);
}

static void close_table(struct table *t) {
  const struct engine_api *api = t->engine.api;
  if (api && t->engine.state) {
    api->free(&t->engine, t->in);
    api->free(&t->engine, t->out);
  }
  engine_close(&t->engine);
  host_unmap(t->x, (uint64_t)t->n * sizeof(float));
  host_unmap(t->y, (uint64_t)t->n * sizeof(float));
}

static int check_n(const struct table *t, const red_device_info *info, uint64_t n) {
  const uint64_t bytes = 2 * n * sizeof(float), host = t->engine.is_cpu ? 2 * bytes : bytes;
  if (n > MOST_N || n % t->engine.group != 0)
    return usage_error("shuffle: n is a multiple of %u, the size of a group, and at most 2^30", t->engine.group);
  if (host <= machine_free_memory() / 2 && (info->memory == 0 || bytes <= info->memory / 2)) return EXIT_OK;
  complain("shuffle: %.1f GiB of data, and no more than half of the memory is used", (double)bytes / 1073741824.0);
  return EXIT_LIBRARY;
}

static int run(const options *chosen, uint64_t n, const char *backend, const char *title) {
  struct rung rungs[PRIMITIVES];
  struct table table = {.n = 0};
  red_device_info info = {.size = sizeof info};
  struct ladder ladder = {.place = "from memory to memory", .rungs = rungs, .count = PRIMITIVES};
  struct ladder_report report = {.title = title, .ladders = &ladder, .count = 1};
  const struct sampling sampling = {chosen->samples ? chosen->samples : DEFAULT_SAMPLES,
                                    chosen->seconds > 0 ? chosen->seconds : default_seconds};
  int code = ladder_choose_device(chosen, backend, &info);
  if (!code) code = engine_open(&table.engine, &info, ENGINE_SHUFFLE);
  if (!code && n == 0) n = table.engine.is_cpu ? CPU_N : GPU_N;
  if (!code) code = check_n(&table, &info, n);
  if (!code) {
    table.n = (uint32_t)n;
    ladder.n = n;
    ladder.bytes = 2 * (double)n * sizeof(float);
    code = make_arrays(&table);
  }
  progress_begin(1);
  progress_step(0, "the shuffle table");
  if (!code) code = measure(&table, &ladder, &sampling);
  progress_clear();
  snprintf(report.device, sizeof report.device, "%.40s: %.100s, %.100s", info.id, info.name, info.detail);
  if (!code) ladder_print(&report, chosen->json);
  close_table(&table);
  return code;
}

int shuffle_opencl(const options *chosen, uint64_t n) {
  return run(chosen, n, "opencl", "The OpenCL shuffle table: primitives of red/device/opencl");
}

int shuffle_cuda(const options *chosen, uint64_t n) {
  return run(chosen, n, "cuda", "The CUDA shuffle table: primitives of red/device/cuda");
}
