/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/entry.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report.h"
#include "routes.h"

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

void entry_release(struct entry *e) {
  red_plan_destroy(e->plan);
  if (e->owns_in) red_free(e->device->context, e->in);
  if (e->owns_out && e->out) red_free(e->device->context, e->out);
}

/* A device that lacks the memory or the operator is a row that says so, not the end of the run. */
static bool is_refusal(red_status status) {
  return status == RED_ERR_UNSUPPORTED || status == RED_ERR_NO_MEMORY;
}

int entry_prepare(struct entry *e) {
  e->status = prepare(e);
  if (!e->status) return EXIT_OK;
  snprintf(e->reason, sizeof e->reason, "%s", red_last_error());
  return is_refusal(e->status) ? EXIT_OK : library_error(e->status);
}

/* ---- taking turns ---- */

int (*entry_before(const struct entry *e, bool cold))(void *entry) {
  if (cold) return chill;
  return e->device->on_host ? NULL : settle;
}

struct contestant entry_contestant(struct entry *e, bool cold) {
  return (struct contestant){.run = e->route == ROUTE_PLAN ? run_plan : run_call,
                             .before = entry_before(e, cold),
                             .single = cold,
                             .argument = e};
}
