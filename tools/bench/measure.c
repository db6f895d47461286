/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/machine.h"
#include "bench/roofline.h"
#include "report.h"
#include "routes.h"

enum {
  RESULT_BYTES = 4096,      /* of one result, of any kind */
  MOST_CALL_BYTES = 1 << 20 /* beyond it a call takes as long as its plan or its copies */
};

/* One device computing one case by one route. */
struct entry {
  struct bench_device *device;
  const struct bench_case *c;
  const struct arrays *arrays;
  enum bench_route route;
  red_plan *plan;
  void *in, *out; /* as the plan takes them */
  bool owns_in, owns_out;
  _Alignas(64) char result[RESULT_BYTES];
  red_status status;
  char reason[256];
};

/* ---- the work ---- */

static int run_plan(void *argument, unsigned calls) {
  struct entry *e = argument;
  red_args args = {.size = sizeof args, .in = e->in, .out = e->out};
  if (e->c->second) {
    args.in2 = e->in;
    args.in2_offset = e->c->second;
  }
  red_status status = RED_OK;
  for (unsigned i = 0; i < calls && !status; i++) status = red_plan_execute_args(e->plan, e->device->queue, &args);
  if (!status && e->device->queue) status = red_queue_finish(e->device->queue);
  return status ? library_error(status) : EXIT_OK;
}

static red_status call(const struct entry *e) {
  const char *second = e->c->second ? (const char *)e->in + e->c->second : NULL;
  return red_run2(e->device->context, &e->c->problem, e->in, second, e->out);
}

static int run_call(void *argument, unsigned calls) {
  const struct entry *e = argument;
  red_status status = RED_OK;
  for (unsigned i = 0; i < calls && !status; i++) status = call(e);
  return status ? library_error(status) : EXIT_OK;
}

/*
 * OpenMP's threads spin for some milliseconds after the CPU's turn, which would slow down an OpenCL device that is the
 * same CPU.
 */
static int settle(void *argument) {
  const struct timespec pause = {.tv_nsec = 5000000};
  (void)argument;
  nanosleep(&pause, NULL);
  return EXIT_OK;
}

static int chill(void *argument) {
  struct entry *e = argument;
  if (e->device->on_host || e->route == ROUTE_CALL) arrays_chill(e->arrays);
  if (e->device->on_host) return EXIT_OK;
  settle(e);
  return bench_device_chill(e->device);
}

/* ---- preparing it ---- */

static void use_host(struct entry *e) {
  e->in = e->arrays->in;
  e->out = is_scan(&e->c->problem) ? e->arrays->out : e->result;
}

/* Results stay on the device where it can hold them, so that no copy back is timed. */
static red_status plan_on_device(struct entry *e) {
  red_problem problem = e->c->problem;
  problem.in_memory = RED_DEVICE;
  problem.out_memory = problem.kind == RED_STATS ? RED_HOST : RED_DEVICE;
  red_status status = red_plan_create(e->device->context, &problem, &e->plan);
  if (status == RED_ERR_UNSUPPORTED && problem.kind == RED_REDUCE) {
    problem.out_memory = RED_HOST;
    status = red_plan_create(e->device->context, &problem, &e->plan);
  }
  e->owns_out = !status && problem.out_memory == RED_DEVICE;
  return status;
}

static red_status use_device(struct entry *e) {
  red_context *context = e->device->context;
  const uint64_t out_bytes = e->c->bytes_out ? e->c->bytes_out : RESULT_BYTES;
  red_status status = plan_on_device(e);
  e->out = e->result;
  if (!status) status = red_alloc(context, e->c->bytes_in, &e->in);
  e->owns_in = !status;
  if (!status) status = red_upload(context, NULL, e->in, 0, e->arrays->in, e->c->bytes_in);
  if (!status && e->owns_out) {
    e->out = NULL;
    status = red_alloc(context, out_bytes, &e->out);
  }
  return status;
}

static red_status prepare(struct entry *e) {
  const red_stats_result ours = {.size = sizeof ours};
  memcpy(e->result, &ours, sizeof ours); /* what statistics want to know of their result */
  if (e->route == ROUTE_PLAN && !e->device->on_host) return use_device(e);
  use_host(e);
  if (e->route == ROUTE_PLAN) return red_plan_create(e->device->context, &e->c->problem, &e->plan);
  return call(e); /* whether it can be done at all */
}

static void release(struct entry *e) {
  red_plan_destroy(e->plan);
  if (e->owns_in) red_free(e->device->context, e->in);
  if (e->owns_out && e->out) red_free(e->device->context, e->out);
}

/* A device that lacks the memory or the operator is a row that says so, not the end of the run. */
static bool is_refusal(red_status status) {
  return status == RED_ERR_UNSUPPORTED || status == RED_ERR_NO_MEMORY;
}

static int prepare_entry(struct entry *e) {
  e->status = prepare(e);
  if (!e->status) return EXIT_OK;
  snprintf(e->reason, sizeof e->reason, "%s", red_last_error());
  return is_refusal(e->status) ? EXIT_OK : library_error(e->status);
}

/* ---- a case ---- */

struct round {
  struct entry *entries;
  struct contestant *contestants; /* of the entries that can run, then of the roofs */
  size_t entry_count, running, roof_count;
  struct roof roofs[MOST_ROOFS];
};

static bool has_call(const struct bench_case *c) {
  return c->bytes_in + c->bytes_out <= MOST_CALL_BYTES;
}

static int prepare_round(struct round *round, struct bench *bench, const struct bench_case *c, bool cold) {
  int code = EXIT_OK;
  for (size_t i = 0; i < bench->devices.count && !code; i++)
    for (int route = 0; route < (has_call(c) ? ROUTES : 1) && !code; route++) {
      struct entry *e = &round->entries[round->entry_count++];
      e->device = &bench->devices.list[i];
      e->c = c;
      e->arrays = &bench->arrays;
      e->route = (enum bench_route)route;
      code = prepare_entry(e);
      if (e->status) continue;
      round->contestants[round->running++] = (struct contestant){.run = route == ROUTE_PLAN ? run_plan : run_call,
                                                                 .before = cold                 ? chill
                                                                           : e->device->on_host ? NULL
                                                                                                : settle,
                                                                 .single = cold,
                                                                 .argument = e};
    }
  if (code || !bench_devices_host(&bench->devices)) return code;
  const bool copies = c->bytes_out > 0;
  const uint64_t bytes = copies ? (c->bytes_in + c->bytes_out) / 2 : c->bytes_in;
  round->roof_count = roofs_for(round->roofs, round->contestants + round->running, &bench->arrays, copies, bytes, cold);
  return EXIT_OK;
}

static int add_rows(struct bench *bench, const struct round *round, bool cold) {
  char what[48] = "";
  const double roof =
      roofs_best(round->roofs, round->contestants + round->running, round->roof_count, what, sizeof what);
  size_t next = 0;
  for (size_t i = 0; i < round->entry_count; i++) {
    const struct entry *e = &round->entries[i];
    struct row *row = table_add(&bench->table);
    if (!row) return EXIT_LIBRARY;
    *row = (struct row){.c = e->c, .device = e->device, .route = e->route, .cold = cold, .measured = !e->status};
    snprintf(row->reason, sizeof row->reason, "%s", e->reason);
    if (row->measured) row->time = round->contestants[next++].result;
    if (!e->device->on_host) continue;
    row->roof = roof;
    snprintf(row->roof_what, sizeof row->roof_what, "%s", what);
  }
  return EXIT_OK;
}

int measure_case(struct bench *bench, const struct bench_case *c, bool cold) {
  const size_t most = bench->devices.count * ROUTES;
  const struct sampling sampling = {bench->samples, bench->seconds};
  struct round round = {.entries = calloc(most, sizeof *round.entries),
                        .contestants = calloc(most + MOST_ROOFS, sizeof *round.contestants)};
  int code = EXIT_OK;
  if (!round.entries || !round.contestants) {
    complain("out of memory for %zu measurements", most);
    code = EXIT_LIBRARY;
  }
  if (!code) code = prepare_round(&round, bench, c, cold);
  if (!code) code = sampling_measure(round.contestants, round.running + round.roof_count, &sampling);
  if (!code) code = add_rows(bench, &round, cold);
  for (size_t i = 0; i < round.entry_count; i++) release(&round.entries[i]);
  free(round.entries);
  free(round.contestants);
  return code;
}

/* ---- rooflines ---- */

static int measure_roof(struct bench *bench, bool copies, uint64_t bytes, double *best) {
  struct roof roofs[MOST_ROOFS];
  struct contestant contestants[MOST_ROOFS];
  char what[48];
  const struct sampling sampling = {bench->samples, bench->seconds};
  const size_t count = roofs_for(roofs, contestants, &bench->arrays, copies, bytes, false);
  const int code = sampling_measure(contestants, count, &sampling);
  if (!code) *best = roofs_best(roofs, contestants, count, what, sizeof what);
  return code;
}

static int add_roofline(struct bench *bench, const char *memory, uint64_t bytes) {
  if (bench->table.roofline_count == MOST_ROOFLINES) return EXIT_OK;
  struct roofline *r = &bench->table.rooflines[bench->table.roofline_count++];
  const struct bench_device *host = bench_devices_host(&bench->devices);
  snprintf(r->memory, sizeof r->memory, "%s", memory);
  snprintf(r->device, sizeof r->device, "%s", host->info.id);
  r->bytes = bytes;
  int code = measure_roof(bench, false, bytes, &r->read);
  if (!code) code = measure_roof(bench, true, bytes / 2, &r->copy); /* as much cache for both arrays together */
  return code;
}

/* Half of a level: what fits in it surely. The first two levels are each core's own. */
static uint64_t bytes_within(const struct bench *bench, unsigned level) {
  return machine_cache(level) / 2 * (level < 3 ? bench->threads : 1);
}

int measure_rooflines(struct bench *bench) {
  static const char *const names[] = {"L1", "L2", "L3", "L4"};
  const struct bench_device *host = bench_devices_host(&bench->devices);
  if (!host) return EXIT_OK;
  int code = EXIT_OK;
  for (unsigned level = 1; level <= 4 && !code; level++) {
    const uint64_t bytes = bytes_within(bench, level);
    if (bytes && bytes <= bench->arrays.in_bytes) code = add_roofline(bench, names[level - 1], bytes);
  }
  return code ? code : add_roofline(bench, "memory", bench->arrays.in_bytes);
}
