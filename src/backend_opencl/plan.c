/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans: what a device can do, the programs a problem needs, the size of pieces and workspace; and executing them. */
#include "device.h"

#include <stdlib.h>

#include "fpenv.h"

static bool is_scan(const red_lowered *lowered) {
  return red_is_scan(lowered->kind);
}

red_status red_cl_supports(void *state, const red_lowered *lowered) {
  const red_cl_device *device = state;
  if (device->traits.f64 || lowered->exact) return RED_OK;
  if (red_stats_need_moments(lowered))
    return red_fail(RED_ERR_UNSUPPORTED, "%s (%s) has no f64 arithmetic, which the variance needs", device->traits.id,
                    device->traits.name);
  if (!lowered->canonical || lowered->acc_bytes < 8) return RED_OK;
  return red_fail(RED_ERR_UNSUPPORTED, "%s (%s) has no f64 arithmetic: it cannot accumulate in f64", device->traits.id,
                  device->traits.name);
}

/*
 * A host array is worked on in pieces of a power of two elements: as large as a buffer may be where the device works on
 * the array itself, else moderate, since a copy of the piece lies in device memory.
 */
static uint64_t piece_elements(const red_cl_device *device, const red_lowered *lowered) {
  uint64_t element = lowered->in_bytes;
  if (is_scan(lowered) && lowered->out_bytes > element) element = lowered->out_bytes;
  uint64_t most = device->traits.most_alloc;
  if (!red_cl_works_in_place(device) && most > device->tuning.host_piece_bytes) most = device->tuning.host_piece_bytes;
  const char *forced = getenv("RED_OPENCL_PIECE"); /* bytes, for tests of work in pieces */
  if (forced != NULL && *forced != '\0') most = strtoull(forced, NULL, 10);
  uint64_t chunk = red_chunk_elements(lowered), piece = chunk;
  while (piece <= INT64_MAX / element / 2 && 2 * piece * element <= most) piece *= 2;
  return piece;
}

static uint64_t workspace_bytes(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  if (lowered->exact) return red_cl_exact_workspace(device, lowered, n);
  return is_scan(lowered) ? red_cl_scan_workspace(device, lowered, n) : red_cl_nodes_workspace(device, lowered, n);
}

static red_status get_programs(red_cl_device *device, const red_lowered *lowered, uint64_t n, red_cl_plan *plan) {
  red_status status = RED_OK;
  if (n == 0) return RED_OK;
  status = red_cl_program_get(device, lowered, RED_CL_ELEMENTS, &plan->elements);
  bool merges = (is_scan(lowered) && !red_cl_scans_in_pass(device)) ||
                (lowered->kind == RED_REDUCE && !lowered->exact && red_cl_nodes_merge(device, lowered, n));
  if (status == RED_OK && merges) status = red_cl_program_get(device, lowered, RED_CL_NODES, &plan->nodes);
  return status;
}

red_status red_cl_plan_create(void *state, const red_lowered *lowered, void **plan, uint64_t *workspace) {
  red_cl_device *device = state;
  red_status status = red_cl_check_process(device);
  if (status != RED_OK) return status;
  red_cl_plan *made = calloc(1, sizeof *made);
  if (made == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a plan");
  made->piece = piece_elements(device, lowered);
  uint64_t at_once = lowered->in_memory == RED_HOST && made->piece < lowered->n ? made->piece : lowered->n;
  red_fpenv saved = red_fpenv_enter(); /* compilers compute, too, and do not expect traps */
  status = get_programs(device, lowered, at_once, made);
  red_fpenv_leave(saved);
  if (status != RED_OK) {
    free(made);
    return status;
  }
  made->workspace = workspace_bytes(device, lowered, at_once);
  *plan = made;
  *workspace = made->workspace;
  return RED_OK;
}

void red_cl_plan_destroy(void *device, void *plan) {
  (void)device;
  free(plan);
}

/* ---- Executing ---- */

static uint64_t output_bytes(const red_lowered *lowered) {
  if (lowered->kind == RED_STATS) return sizeof(red_stats_result);
  return lowered->out_bytes * (is_scan(lowered) ? lowered->n : 1);
}

static red_status check_array(const red_cl_device *device, const red_cl_span *workspace, const red_cl_span *array) {
  red_status status = red_cl_check_buffer(device, array);
  return status == RED_OK && workspace->memory != NULL ? red_cl_check_apart(workspace, array) : status;
}

static red_status check_buffers(const red_cl_device *device, const red_lowered *lowered, const red_exec *exec,
                                uint64_t workspace_bytes) {
  const uint64_t in_bytes = lowered->in_memory == RED_DEVICE ? lowered->n * lowered->in_bytes : 0;
  const red_cl_span inputs[] = {{"in", (cl_mem)exec->in, exec->in_offset, in_bytes},
                                {"in2", (cl_mem)exec->in2, exec->in2_offset, in_bytes}};
  const red_cl_span out = {"out", exec->out, exec->out_offset,
                           lowered->out_memory == RED_DEVICE ? output_bytes(lowered) : 0};
  const red_cl_span workspace = {"workspace", exec->workspace, exec->workspace_offset, workspace_bytes};
  red_status status = workspace.memory != NULL ? red_cl_check_buffer(device, &workspace) : RED_OK;
  if (status == RED_OK && out.bytes > 0) status = check_array(device, &workspace, &out);
  for (unsigned i = 0; i < 2 && status == RED_OK; i++) {
    if (inputs[i].bytes == 0 || inputs[i].memory == NULL) continue;
    status = check_array(device, &workspace, &inputs[i]);
    if (status == RED_OK && out.bytes > 0) status = red_cl_check_parts(lowered, &inputs[i], &out);
  }
  return status;
}

static red_status run_in_queue(red_cl_run *run, const red_exec *exec) {
  red_status status = RED_OK;
  if (exec->workspace != NULL) {
    run->workspace = exec->workspace;
    run->workspace_at = exec->workspace_offset / sizeof(uint64_t);
  } else if (run->plan->workspace > 0) {
    status = red_cl_pool_reserve(run->device, &run->queue->workspace, run->plan->workspace);
    run->workspace = run->queue->workspace.memory;
  }
  if (status != RED_OK) return status;
  if (run->lowered->kind == RED_STATS) return red_cl_stats(run, exec);
  if (run->lowered->exact) return red_cl_exact(run, exec);
  return is_scan(run->lowered) ? red_cl_scan(run, exec) : red_cl_reduce(run, exec);
}

red_status red_cl_execute(void *state, const void *plan, const red_lowered *lowered, void *queue,
                          const red_exec *exec) {
  red_cl_device *device = state;
  red_cl_run run = {.device = device,
                    .queue = queue != NULL ? queue : &device->own,
                    .plan = plan,
                    .lowered = lowered,
                    .workspace = NULL,
                    .workspace_at = 0};
  red_status status = red_cl_check_process(device);
  if (status == RED_OK) status = check_buffers(device, lowered, exec, run.plan->workspace);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter(); /* forests merge on the host, and drivers may compile late */
  if (queue == NULL) pthread_mutex_lock(&device->alone);
  status = run_in_queue(&run, exec);
  if (status == RED_OK) status = red_cl_in_order(run.queue); /* what the application enqueues next comes after */
  if (queue == NULL) pthread_mutex_unlock(&device->alone);
  if (status == RED_OK && queue != NULL) status = red_cl_check(red_cl.Flush(run.queue->queue), "clFlush");
  if (status == RED_OK && queue == NULL) status = red_cl_check(red_cl.Finish(run.queue->queue), "clFinish");
  red_fpenv_leave(saved);
  return status;
}
