/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reductions: nodes of runs of chunks, then nodes of nodes until one is left, which is finished on the host or, if
 * input and result both lie on the device, there. Host arrays go in pieces of whole nodes, and a forest merges them.
 */
#include <string.h>

#include "device.h"
#include "order.h"

static unsigned slot_words(const red_lowered *lowered) {
  if (lowered->kind == RED_STATS) return RED_CL_SUMMARY_WORDS;
  return lowered->family == RED_FAMILY_ARGMIN ? 2 : 1;
}

/* Enough runs to keep all units busy, long enough to be worth a work-item; lanes share one node of at most 32 chunks.
 */
static unsigned run_level(const red_cl_device *device, uint64_t chunks) {
  bool wide = device->traits.shape == RED_CL_WIDE;
  uint64_t wanted = wide ? (uint64_t)device->traits.units * 16 : 4096;
  unsigned level = wide ? 2 : 0, most = wide ? 40 : 5;
  while (level < most && chunks >> level > wanted) level++;
  return level;
}

static unsigned node_level(const red_cl_device *device, const red_lowered *lowered) {
  if (device->traits.shape == RED_CL_WIDE) return 30;
  if (lowered->kind == RED_STATS) return 4; /* a work-item each */
  unsigned group = red_cl_reduce_group(device, lowered);
  return (unsigned)__builtin_ctz(group) + 4;
}

void red_cl_lay_out(const red_cl_device *device, const red_lowered *lowered, uint64_t n, red_cl_stages *plan) {
  uint64_t chunk = red_chunk_elements(lowered), chunks = (n + chunk - 1) / chunk;
  unsigned level = run_level(device, chunks);
  plan->stages = 0;
  plan->words = 0;
  for (uint64_t count = chunks;;) {
    count = ((count - 1) >> level) + 1;
    unsigned s = plan->stages++;
    plan->level[s] = level;
    plan->count[s] = count;
    plan->at[s] = plan->words;
    plan->words += count * slot_words(lowered);
    if (count == 1) break;
    level = node_level(device, lowered);
  }
}

uint64_t red_cl_reduce_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  red_cl_stages plan;
  if (n == 0) return 0;
  red_cl_lay_out(device, lowered, n, &plan);
  return plan.words * sizeof(uint64_t);
}

static red_status launch_chunks(const red_cl_run *run, const red_cl_stages *plan, cl_mem in, uint64_t offset,
                                uint64_t n) {
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_call call = {.kernel = run->plan->program->kernels[RED_CL_REDUCE_CHUNKS]};
  red_cl_arg_mem(&call, in);
  red_cl_arg_u64(&call, offset);
  red_cl_arg_u64(&call, n);
  red_cl_arg_u32(&call, plan->level[0]);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[0]);
  return red_cl_launch(run->queue, &call, plan->count[0], red_cl_reduce_group(run->device, run->lowered));
}

static red_status launch_nodes(const red_cl_run *run, const red_cl_stages *plan, unsigned s) {
  red_cl_call call = {.kernel = run->plan->program->kernels[RED_CL_REDUCE_NODES]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[s - 1]);
  red_cl_arg_u64(&call, plan->count[s - 1]);
  red_cl_arg_u32(&call, plan->level[s]);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[s]);
  return red_cl_launch(run->queue, &call, plan->count[s], red_cl_reduce_group(run->device, run->lowered));
}

/* Enqueue the reduction of a buffer; *root is the word of the workspace where its node will lie. */
static red_status enqueue(const red_cl_run *run, cl_mem in, uint64_t offset, uint64_t n, uint64_t *root) {
  red_cl_stages plan;
  red_cl_lay_out(run->device, run->lowered, n, &plan);
  red_status status = launch_chunks(run, &plan, in, offset, n);
  for (unsigned s = 1; s < plan.stages && status == RED_OK; s++) status = launch_nodes(run, &plan, s);
  *root = run->workspace_at + plan.at[plan.stages - 1];
  return status;
}

static red_status read_node(const red_cl_run *run, uint64_t root, red_state *state) {
  uint64_t words[2] = {0, 0};
  unsigned count = slot_words(run->lowered);
  red_status status = red_cl_read(run->queue, run->workspace, root * sizeof(uint64_t), words, count * sizeof(uint64_t));
  if (status == RED_OK) *state = (red_state){.u64 = words[0], .index = words[1]};
  return status;
}

static red_status launch_finish(const red_cl_run *run, uint64_t root, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  red_cl_rules rules = red_cl_rules_of(lowered);
  red_cl_last last = red_cl_last_of(lowered);
  red_cl_call call = {.kernel = run->plan->program->kernels[RED_CL_REDUCE_FINISH]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, root);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg(&call, sizeof last, &last);
  red_cl_arg_mem(&call, (cl_mem)exec->out);
  red_cl_arg_u64(&call, exec->out_offset);
  return red_cl_launch(run->queue, &call, 1, 1);
}

/* ---- Results ---- */

/* The value, or for a device result of an arg operator that found nothing, UINT64_MAX. */
static red_status finish_value(const red_lowered *lowered, red_state state, red_scalar *value) {
  value->u64 = 0;
  red_status status = red_state_finish(lowered, state, lowered->n, value);
  if (status == RED_ERR_EMPTY && lowered->out_memory == RED_DEVICE && lowered->n > 0) {
    value->u64 = UINT64_MAX;
    status = RED_OK;
  }
  return status;
}

/* A known value into device memory, without waiting: fills copy their pattern when they are enqueued. */
static red_status store_value(const red_cl_run *run, const red_exec *exec, const red_scalar *value) {
  size_t bytes = run->lowered->out_bytes;
  if (run->lowered->out_memory == RED_HOST) {
    memcpy((char *)exec->out + exec->out_offset, value, bytes);
    return RED_OK;
  }
  red_status status = red_cl_in_order(run->queue);
  if (status != RED_OK) return status;
  cl_int error = red_cl.EnqueueFillBuffer(run->queue->queue, exec->out, value, bytes, (size_t)exec->out_offset, bytes,
                                          0, NULL, NULL);
  return red_cl_check(error, "clEnqueueFillBuffer");
}

static red_status deliver(const red_cl_run *run, const red_exec *exec, red_state state) {
  red_scalar value;
  red_status status = finish_value(run->lowered, state, &value);
  return status == RED_OK ? store_value(run, exec, &value) : status;
}

static red_status reduce_device(const red_cl_run *run, const red_exec *exec) {
  uint64_t root;
  red_state state;
  red_status status = enqueue(run, (cl_mem)exec->in, exec->in_offset, run->lowered->n, &root);
  if (status != RED_OK) return status;
  if (run->lowered->out_memory == RED_DEVICE) return launch_finish(run, root, exec);
  status = read_node(run, root, &state);
  return status == RED_OK ? deliver(run, exec, state) : status;
}

/* Pieces are nodes of the chunks' tree, but for the last, which is the tree's right edge. */
static red_status reduce_host(const red_cl_run *run, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  const char *in = (const char *)exec->in + exec->in_offset;
  uint64_t piece = run->plan->piece;
  unsigned level = (unsigned)__builtin_ctzll(piece / red_chunk_elements(lowered));
  red_forest forest;
  red_forest_clear(&forest);
  for (uint64_t first = 0; first < lowered->n; first += piece) {
    uint64_t count = lowered->n - first < piece ? lowered->n - first : piece, root;
    red_cl_stage stage;
    red_state state;
    red_status status =
        red_cl_stage_in(run, in + first * lowered->in_bytes, count * lowered->in_bytes, lowered->in_bytes, &stage);
    if (status != RED_OK) return status;
    status = enqueue(run, stage.memory, 0, count, &root);
    if (status == RED_OK) status = read_node(run, root, &state);
    red_cl_stage_end(run, &stage);
    if (status != RED_OK) return status;
    if (lowered->family == RED_FAMILY_ARGMIN) state.index += first;
    red_forest_push(&forest, lowered, level, first / piece, state);
  }
  return deliver(run, exec, red_forest_root(&forest, lowered));
}

red_status red_cl_reduce(const red_cl_run *run, const red_exec *exec) {
  if (run->lowered->n == 0) return deliver(run, exec, red_state_identity(run->lowered));
  return run->lowered->in_memory == RED_HOST ? reduce_host(run, exec) : reduce_device(run, exec);
}
