/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reductions: the root of the chunks' tree is finished on the host or, if input and result both lie on the device,
 * there.
 */
#include <string.h>

#include "device.h"
#include "order.h"

red_cl_last red_cl_reduce_last(const red_lowered *lowered) {
  red_cl_last last = red_cl_last_of(lowered);
  if (lowered->finish == RED_FINISH_MEAN) last.count = (uint64_t)(double)last.count; /* as numerics.md has it */
  return last;
}

static red_status launch_finish(const red_cl_run *run, uint64_t root, const red_exec *exec) {
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_last last = red_cl_reduce_last(run->lowered);
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_REDUCE_FINISH]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, root);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg(&call, sizeof last, &last);
  red_cl_arg_mem(&call, (cl_mem)exec->out);
  red_cl_arg_u64(&call, exec->out_offset);
  return red_cl_launch(run, &call, 1, 1);
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
red_status red_cl_store_value(const red_cl_run *run, const red_exec *exec, const red_scalar *value) {
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
  return status == RED_OK ? red_cl_store_value(run, exec, &value) : status;
}

static void push_node(void *state, const red_lowered *lowered, const red_cl_node *node) {
  red_state partial = {.u64 = node->words[0]};
  if (lowered->family == RED_FAMILY_ARGMIN) partial.index = node->first + node->words[1];
  red_forest_push(state, lowered, node->level, node->index, partial);
}

static red_status reduce_to_host(const red_cl_run *run, const red_exec *exec) {
  red_forest forest;
  red_forest_clear(&forest);
  red_status status = red_cl_visit_nodes(run, exec, push_node, &forest);
  return status == RED_OK ? deliver(run, exec, red_forest_root(&forest, run->lowered)) : status;
}

/* ---- With a bound: the core finishes ---- */

typedef struct pairs {
  red_forest sums, sizes;
} pairs;

static void push_pair(void *state, const red_lowered *lowered, const red_cl_node *node) {
  pairs *to = state;
  red_forest_push(&to->sums, lowered, node->level, node->index, (red_state){.u64 = node->words[0]});
  red_forest_push(&to->sizes, lowered, node->level, node->index, (red_state){.u64 = node->words[1]});
}

static red_status reduce_to_pair(const red_cl_run *run, const red_exec *exec) {
  pairs all;
  red_forest_clear(&all.sums);
  red_forest_clear(&all.sizes);
  const bool paired = red_is_paired(run->lowered);
  red_status status =
      paired ? red_cl_visit_nodes(run, exec, push_pair, &all) : red_cl_visit_nodes(run, exec, push_node, &all.sums);
  if (status != RED_OK) return status;
  exec->pair->sum = red_forest_root(&all.sums, run->lowered);
  exec->pair->size = paired ? red_forest_root(&all.sizes, run->lowered) : exec->pair->sum;
  return RED_OK;
}

static red_status reduce_on_device(const red_cl_run *run, const red_exec *exec) {
  uint64_t root;
  red_status status = red_cl_enqueue_root(run, exec, &root);
  if (status != RED_OK || red_cl_nodes_at_once(run->device, run->lowered)) return status;
  return launch_finish(run, root, exec);
}

red_status red_cl_reduce(const red_cl_run *run, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  if (lowered->n == 0) return deliver(run, exec, red_state_identity(lowered));
  if (lowered->bounded) return reduce_to_pair(run, exec);
  bool stays = lowered->in_memory == RED_DEVICE && lowered->out_memory == RED_DEVICE;
  return stays ? reduce_on_device(run, exec) : reduce_to_host(run, exec);
}
