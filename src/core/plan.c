/* SPDX-License-Identifier: BSD-2-Clause */
/* Planning and executing: two short paths. Planning may fail slowly with a sentence; executing checks and forwards. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "fpenv.h"
#include "overlap.h"
#include "small.h"
#include "verify.h"

red_status red_plan_prepare(red_context *context, red_plan *plan) {
  red_status status = red_context_resolve(context, &context);
  if (status == RED_OK) status = red_context_open_device(context, plan->lowered.in_memory, &plan->device);
  if (status == RED_OK && plan->lowered.exact) status = red_verify_exact(plan->device);
  if (status != RED_OK) return status;
  return red_plan_prepare_on(plan->device, plan);
}

red_status red_plan_prepare_on(red_device *device, red_plan *plan) {
  const red_backend *backend = device->backend;
  plan->device = device;
  plan->state = NULL;
  plan->workspace = 0;
  red_status status = backend->supports != NULL ? backend->supports(device->state, &plan->lowered) : RED_OK;
  if (status != RED_OK || backend->plan == NULL) return status;
  return backend->plan(device->state, &plan->lowered, &plan->state, &plan->workspace);
}

void red_plan_release(red_plan *plan) {
  if (plan->state != NULL) plan->device->backend->unplan(plan->device->state, plan->state);
}

red_status red_plan_create(red_context *context, const red_problem *problem, red_plan **plan) {
  if (plan == NULL) return red_fail(RED_ERR_INVALID, "plan is NULL");
  red_plan *made = calloc(1, sizeof *made);
  if (made == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a plan");
  red_status status = red_lower(problem, &made->lowered);
  if (status == RED_OK) status = red_plan_prepare(context, made);
  if (status != RED_OK) {
    free(made);
    return status;
  }
  made->small = red_small_find(made->device, &made->lowered, made->lowered.n);
  *plan = made;
  return RED_OK;
}

void red_plan_destroy(red_plan *plan) {
  if (plan == NULL) return;
  red_plan_release(plan);
  free(plan);
}

uint64_t red_plan_workspace(const red_plan *plan) {
  return plan != NULL ? plan->workspace : 0;
}

static inline red_status check_overlap(const red_plan *plan, const red_args *args, const void *input, uint64_t offset) {
  const red_lowered *lowered = &plan->lowered;
  const red_backend *backend = plan->device->backend;
  if (lowered->in_memory != lowered->out_memory && !backend->on_host) return RED_OK;
  uintptr_t in = (uintptr_t)input, out = (uintptr_t)args->out;
  if (lowered->in_memory == RED_DEVICE && !backend->addresses) { /* handles: only offsets into the same one compare */
    if (in != out) return RED_OK;
    in = out = 0;
  }
  return red_check_overlap(lowered, in + offset, out + args->out_offset);
}

static inline red_status check_workspace(const red_plan *plan, const red_args *args) {
  if (args->workspace == NULL) return RED_OK;
  if (args->workspace_bytes < plan->workspace)
    return red_fail(RED_ERR_WORKSPACE, "workspace_bytes = %llu: this plan needs %llu",
                    (unsigned long long)args->workspace_bytes, (unsigned long long)plan->workspace);
  uint64_t at = args->workspace_offset + (plan->device->backend->addresses ? (uintptr_t)args->workspace : 0);
  if (at % 256 != 0)
    return red_fail(RED_ERR_WORKSPACE, "workspace at %#llx is not aligned to 256 bytes", (unsigned long long)at);
  return RED_OK;
}

/* An array in a device's memory: an address, or a handle and an offset. */
static red_status check_device_array(const red_plan *plan, const red_args *args, const char *name, const void *array,
                                     uint64_t offset, uint64_t bytes, unsigned unit) {
  const bool addresses = plan->device->backend->addresses;
  const uint64_t base = addresses ? (uintptr_t)array : 0, at = base + offset;
  if (at % unit != 0)
    return red_fail(RED_ERR_INVALID, "%s%s = %#llx is not a multiple of %u, the size of its elements", name,
                    addresses ? "" : "_offset", (unsigned long long)at, unit);
  if (args->workspace == NULL || plan->workspace == 0 || (!addresses && args->workspace != array)) return RED_OK;
  const uint64_t room = args->workspace_offset + (addresses ? (uintptr_t)args->workspace : 0);
  if (room + plan->workspace <= at || at + bytes <= room) return RED_OK;
  return red_fail(RED_ERR_WORKSPACE, "workspace overlaps %s: it is %llu bytes at %#llx, %s is %llu bytes at %#llx",
                  name, (unsigned long long)plan->workspace, (unsigned long long)room, name, (unsigned long long)bytes,
                  (unsigned long long)at);
}

static red_status check_device_arrays(const red_plan *plan, const red_args *args) {
  const red_lowered *lowered = &plan->lowered;
  const unsigned in_bytes = lowered->in_bytes, out_bytes = lowered->kind == RED_STATS ? 8 : lowered->out_bytes;
  red_status status = RED_OK;
  if (lowered->in_memory == RED_DEVICE)
    status = check_device_array(plan, args, "in", args->in, args->in_offset, lowered->n * in_bytes, in_bytes);
  if (status == RED_OK && lowered->in_memory == RED_DEVICE && args->in2 != NULL)
    status = check_device_array(plan, args, "in2", args->in2, args->in2_offset, lowered->n * in_bytes, in_bytes);
  if (status == RED_OK && lowered->out_memory == RED_DEVICE)
    status = check_device_array(plan, args, "out", args->out, args->out_offset, red_out_extent(lowered), out_bytes);
  return status;
}

/* A result in device memory cannot be looked at without waiting for the device. */
static inline red_status check_size(const red_lowered *lowered, const red_args *args) {
  if (lowered->kind != RED_STATS || lowered->out_memory != RED_HOST) return RED_OK;
  return red_stats_check_size((const char *)args->out + args->out_offset);
}

static inline red_status check_arguments(const red_plan *plan, const red_queue *queue, const red_args *args) {
  const red_lowered *lowered = &plan->lowered;
  if (args->in == NULL && lowered->n > 0)
    return red_fail(RED_ERR_INVALID, "in is NULL, n = %llu", (unsigned long long)lowered->n);
  if (args->out == NULL && red_out_extent(lowered) > 0) return red_fail(RED_ERR_INVALID, "out is NULL");
  if (queue != NULL && queue->device != plan->device && !plan->device->backend->on_host)
    return red_fail(RED_ERR_INVALID, "queue belongs to another device (%s) than the plan (%s)", queue->device->info.id,
                    plan->device->info.id);
  red_status status = red_check_in2(lowered, args->in2);
  if (status == RED_OK) status = check_overlap(plan, args, args->in, args->in_offset);
  if (status == RED_OK && args->in2 != NULL) status = check_overlap(plan, args, args->in2, args->in2_offset);
  if (status == RED_OK) status = check_workspace(plan, args);
  return status == RED_OK && !plan->device->backend->on_host ? check_device_arrays(plan, args) : status;
}

/* Only a reduction whose result lies on a device has something to write there for n = 0. */
static bool known_when_empty(const red_plan *plan) {
  const red_lowered *lowered = &plan->lowered;
  bool on_device = lowered->out_memory == RED_DEVICE && !plan->device->backend->on_host;
  return !on_device || lowered->kind != RED_REDUCE || (lowered->empty_is_error && !lowered->has_init);
}

static red_status finish_empty(const red_lowered *lowered, const red_args *args) {
  if (lowered->kind == RED_STATS) return red_fail(RED_ERR_EMPTY, "n = 0: statistics have no result for empty input");
  if (lowered->kind != RED_REDUCE) return RED_OK; /* out may be NULL */
  void *out = (char *)args->out + args->out_offset;
  const red_state none = red_state_identity(lowered);
  red_exact nothing;
  red_exact_clear(&nothing);
  red_fpenv saved = red_fpenv_enter();
  red_status status = lowered->exact     ? red_bound_finish_exact(lowered, &nothing, 0, out)
                      : lowered->bounded ? red_bound_finish(lowered, &(red_pair){none, none}, 0, out)
                                         : red_state_finish(lowered, none, 0, out);
  red_fpenv_leave(saved);
  return status;
}

static red_status execute(const red_plan *plan, red_queue *queue, red_exec *exec) {
  void *queue_state = queue != NULL ? queue->state : NULL;
  return plan->device->backend->execute(plan->device->state, plan->state, &plan->lowered, queue_state, exec);
}

static red_status execute_stats(const red_plan *plan, red_queue *queue, red_exec *exec) {
  red_stats_state state;
  exec->stats = &state;
  red_status status = execute(plan, queue, exec);
  if (status != RED_OK) return status;
  red_stats_result result; /* aside: out may have any alignment */
  red_fpenv saved = red_fpenv_enter();
  red_stats_finish(&plan->lowered, &state, plan->lowered.n, &result);
  red_fpenv_leave(saved);
  memcpy((char *)exec->out + exec->out_offset, &result, sizeof result);
  return RED_OK;
}

static red_status execute_exact(const red_plan *plan, red_queue *queue, red_exec *exec) {
  red_exact sum;
  exec->exact = &sum;
  exec->result_only = true;
  red_status status = execute(plan, queue, exec);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = red_bound_finish_exact(&plan->lowered, &sum, plan->lowered.n, (char *)exec->out + exec->out_offset);
  red_fpenv_leave(saved);
  return status;
}

static red_status execute_pair(const red_plan *plan, red_queue *queue, red_exec *exec) {
  red_pair pair;
  exec->pair = &pair;
  red_status status = execute(plan, queue, exec);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = red_bound_finish(&plan->lowered, &pair, plan->lowered.n, (char *)exec->out + exec->out_offset);
  red_fpenv_leave(saved);
  return status;
}

/* Inlined where most of the arguments are known: a small call is short. */
__attribute__((always_inline)) static inline red_status run(const red_plan *plan, red_queue *queue,
                                                            const red_args *args, const red_raw *raw) {
  const red_lowered *lowered = &plan->lowered;
  red_status status = check_arguments(plan, queue, args);
  if (status == RED_OK && (raw == NULL || raw->stats == NULL)) status = check_size(lowered, args);
  if (status != RED_OK) return status;
  if (lowered->n == 0 && known_when_empty(plan)) return finish_empty(lowered, args);
  red_exec exec = {
      .in = args->in,
      .in_offset = args->in_offset,
      .in2 = args->in2,
      .in2_offset = args->in2_offset,
      .out = args->out,
      .out_offset = args->out_offset,
      .workspace = args->workspace,
      .workspace_offset = args->workspace_offset,
      .total = raw != NULL ? raw->total : NULL,
      .stats = raw != NULL ? raw->stats : NULL,
      .exact = raw != NULL ? raw->exact : NULL,
      .pair = raw != NULL ? raw->pair : NULL,
  };
  bool on_host = plan->device->backend->on_host;
  bool in_host_memory = lowered->in_memory == RED_HOST || on_host;
  bool out_host_memory = lowered->out_memory == RED_HOST || on_host;
  if (lowered->kind == RED_STATS && in_host_memory && exec.stats == NULL) return execute_stats(plan, queue, &exec);
  if (lowered->exact && out_host_memory && exec.exact == NULL) return execute_exact(plan, queue, &exec);
  if (lowered->bounded && !lowered->exact && exec.pair == NULL) return execute_pair(plan, queue, &exec);
  return execute(plan, queue, &exec);
}

red_status red_plan_run(const red_plan *plan, red_queue *queue, const red_args *args, const red_raw *raw) {
  return run(plan, queue, args, raw);
}

red_status red_plan_run_arrays(const red_plan *plan, red_queue *queue, const void *in, const void *in2, void *out) {
  red_args args = {.size = sizeof args, .in = in, .out = out, .in2 = in2};
  return run(plan, queue, &args, NULL);
}

red_status red_plan_execute_args(const red_plan *plan, red_queue *queue, const red_args *args) {
  if (plan == NULL) return red_fail(RED_ERR_INVALID, "plan is NULL");
  if (args == NULL) return red_fail(RED_ERR_INVALID, "args is NULL");
  if (args->size != sizeof *args)
    return red_fail(RED_ERR_INVALID, "args.size is %zu, this library expects %zu", args->size, sizeof *args);
  return red_plan_run(plan, queue, args, NULL);
}

red_status red_plan_execute(const red_plan *plan, red_queue *queue, const void *in, void *out) {
  if (plan == NULL) return red_fail(RED_ERR_INVALID, "plan is NULL");
  const red_lowered *lowered = &plan->lowered;
  if (plan->small != NULL && red_small_fits(lowered, in, NULL, lowered->n, out))
    return plan->small(plan->device->state, lowered, in, NULL, lowered->n, out);
  return red_plan_run_arrays(plan, queue, in, NULL, out);
}
