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
  MOST_GROUP = 256,
  HELD = 4, /* elements of a work-item */
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

/* ---- what the primitives make of the elements that work-items hold, four each, `count` of them together ---- */

typedef void model_fn(const float *x, float *y, uint32_t count);

static void keep(const float *x, float *y, uint32_t count) {
  memcpy(y, x, count * sizeof *x);
}
static void sum(const float *x, float *y, uint32_t count) {
  float total = 0;
  for (uint32_t i = 0; i < count; i++) total += x[i];
  keep(x, y, count);
  y[0] = total;
}
static void greatest(const float *x, float *y, uint32_t count) {
  float most = x[0];
  for (uint32_t i = 1; i < count; i++) most = x[i] > most ? x[i] : most;
  keep(x, y, count);
  y[0] = most;
}
static void inclusive(const float *x, float *y, uint32_t count) {
  float total = 0;
  for (uint32_t i = 0; i < count; i++) y[i] = total += x[i];
}
static void exclusive(const float *x, float *y, uint32_t count) {
  y[0] = 0;
  for (uint32_t i = 1; i < count; i++) y[i] = y[i - 1] + x[i - 1];
}
static void broadcast(const float *x, float *y, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) y[i] = x[i % HELD];
}
static void exchanged(const float *x, float *y, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) y[i] = x[i ^ HELD];
}
static void from_below(const float *x, float *y, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) y[i] = x[i >= HELD ? i - HELD : i];
}
static void from_above(const float *x, float *y, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) y[i] = x[i + HELD < count ? i + HELD : i];
}

static const struct primitive {
  const char *name, *why, *kernel;
  model_fn *model;
  bool lanes; /* of a sub-group or warp, not of the whole group */
} primitives[] = {
    {"nothing", "Read four elements, write four elements: what the rest is to be compared with.", "plain", keep, false},
    {"broadcast", "Every lane gets lane 0's four values, one shuffle each.", "lanes_broadcast", broadcast, true},
    {"exchange with lane ^ 1", "The step of a butterfly: both partners get the other's value.", "lanes_xor", exchanged,
     true},
    {"from the lane below", "The step of a scan.", "lanes_up", from_below, true},
    {"from the lane above", "The step of a reduction.", "lanes_down", from_above, true},
    {"sum of a warp", "The lane's own four first; then as many steps as the logarithm of the lanes, no memory.",
     "lanes_sum", sum, true},
    {"sum of a block", "Across warps values go through shared (local) memory, with barriers.", "group_sum", sum, false},
    {"maximum of a block", "The same with another operator.", "group_max", greatest, false},
    {"inclusive scan of a block", "Every element gets a result: each lane adds what is before it to its own four.",
     "group_inclusive", inclusive, false},
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
    code = t->engine.api->launch(&t->engine, a->kernel, t->n / (HELD * t->engine.group), args, 3);
  return code ? code : t->engine.api->finish(&t->engine);
}

static int run_copy(void *argument, unsigned calls) {
  struct table *t = argument;
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++)
    code = t->engine.api->copy(&t->engine, t->out, t->in, (uint64_t)t->n * sizeof(float));
  return code ? code : t->engine.api->finish(&t->engine);
}

/* Compare what came out of the elements from `first` on, which a group or a sub-group holds, with the model. */
static int check_span(const struct table *t, const struct primitive *p, uint32_t first, uint32_t count) {
  float right[HELD * MOST_GROUP];
  p->model(t->x + first, right, count);
  for (uint32_t i = 0; i < count; i++) {
    const float got = t->y[first + i];
    if (got >= right[i] && got <= right[i]) continue;
    complain("shuffle: %s: element %u is %g, expected %g", p->name, first + i, (double)got, (double)right[i]);
    return EXIT_MISMATCH;
  }
  return EXIT_OK;
}

/* The last sub-group of a group may have fewer lanes. */
static int check(struct table *t, const struct primitive *p) {
  const uint32_t held = HELD * t->engine.group, span = p->lanes ? HELD * t->lanes : held;
  int code = t->engine.api->read(&t->engine, t->y, t->out, (uint64_t)t->n * sizeof(float));
  for (uint32_t group = 0; group < t->n; group += held)
    for (uint32_t at = 0; at < held && !code; at += span)
      code = check_span(t, p, group + at, at + span < held ? span : held - at);
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

/* Without `sampling`, each primitive runs once. */
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
  if (code || !sampling) return code;
  contestants[count] = (struct contestant){.run = run_copy, .argument = t};
  code = sampling_measure(contestants, count + 1, sampling);
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
  const uint32_t held = HELD * t->engine.group;
  if (n > MOST_N || n % held != 0)
    return usage_error("shuffle: n is a multiple of %u, what a group holds, and at most 2^30", held);
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
  if (!code) code = measure(&table, &ladder, chosen->once ? NULL : &sampling);
  progress_clear();
  snprintf(report.device, sizeof report.device, "%.40s: %.100s, %.100s", info.id, info.name, info.detail);
  if (!code && !chosen->once) ladder_print(&report, chosen->json);
  close_table(&table);
  return code;
}

int shuffle_opencl(const options *chosen, uint64_t n) {
  return run(chosen, n, "opencl", "The OpenCL shuffle table: primitives of red/device/opencl");
}

int shuffle_cuda(const options *chosen, uint64_t n) {
  return run(chosen, n, "cuda", "The CUDA shuffle table: primitives of red/device/cuda");
}
