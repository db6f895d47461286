/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics: summaries of runs of chunks, then of summaries, finished on the host or on the device. */
#include <string.h>

#include "device.h"
#include "order.h"

uint64_t red_cl_stats_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  return red_cl_reduce_workspace(device, lowered, n);
}

static red_status launch_chunks(const red_cl_run *run, const red_cl_stages *plan, cl_mem in, uint64_t offset,
                                uint64_t n) {
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_call call = {.kernel = run->plan->program->kernels[RED_CL_STATS_CHUNKS]};
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
  red_cl_call call = {.kernel = run->plan->program->kernels[RED_CL_STATS_NODES]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[s - 1]);
  red_cl_arg_u64(&call, plan->count[s - 1]);
  red_cl_arg_u32(&call, plan->level[s]);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[s]);
  return red_cl_launch(run->queue, &call, plan->count[s], 1);
}

static red_status enqueue(const red_cl_run *run, cl_mem in, uint64_t offset, uint64_t n, uint64_t *root) {
  red_cl_stages plan;
  red_cl_lay_out(run->device, run->lowered, n, &plan);
  red_status status = launch_chunks(run, &plan, in, offset, n);
  for (unsigned s = 1; s < plan.stages && status == RED_OK; s++) status = launch_nodes(run, &plan, s);
  *root = run->workspace_at + plan.at[plan.stages - 1];
  return status;
}

static double f64_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static red_status read_summary(const red_cl_run *run, uint64_t root, uint64_t first, red_stats_state *state) {
  uint64_t words[RED_CL_SUMMARY_WORDS];
  red_status status = red_cl_read(run->queue, run->workspace, root * sizeof(uint64_t), words, sizeof words);
  if (status != RED_OK) return status;
  *state = (red_stats_state){
      .sum = {.u64 = words[0]},
      .sum_high = (int64_t)words[1],
      .least = {.u64 = words[2]},
      .greatest = {.u64 = words[3]},
      .argmin = {.u64 = words[4], .index = first + words[5]},
      .argmax = {.u64 = words[6], .index = first + words[7]},
      .nan_count = words[8],
      .moments = {words[9], f64_of(words[10]), f64_of(words[11]), f64_of(words[12])},
  };
  return RED_OK;
}

static red_status launch_finish(const red_cl_run *run, uint64_t root, const red_exec *exec) {
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_call call = {.kernel = run->plan->program->kernels[RED_CL_STATS_FINISH]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, root);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg_u64(&call, run->lowered->n);
  red_cl_arg_u64(&call, run->lowered->stats);
  red_cl_arg_mem(&call, exec->out);
  red_cl_arg_u64(&call, exec->out_offset);
  return red_cl_launch(run->queue, &call, 1, 1);
}

static red_status stats_device(const red_cl_run *run, const red_exec *exec) {
  uint64_t root;
  red_stats_state state;
  red_status status = enqueue(run, (cl_mem)exec->in, exec->in_offset, run->lowered->n, &root);
  if (status != RED_OK) return status;
  if (run->lowered->out_memory == RED_DEVICE) return launch_finish(run, root, exec);
  status = read_summary(run, root, 0, &state);
  if (status != RED_OK) return status;
  red_stats_result result; /* aside: out may have any alignment */
  red_stats_finish(run->lowered, &state, run->lowered->n, &result);
  memcpy((char *)exec->out + exec->out_offset, &result, sizeof result);
  return RED_OK;
}

static red_status stats_piece(const red_cl_run *run, const char *in, uint64_t first, uint64_t count,
                              red_stats_state *state) {
  const red_lowered *lowered = run->lowered;
  uint64_t root;
  red_cl_stage stage;
  red_status status = red_cl_stage_in(run, in, count * lowered->in_bytes, lowered->in_bytes, &stage);
  if (status != RED_OK) return status;
  status = enqueue(run, stage.memory, 0, count, &root);
  if (status == RED_OK) status = read_summary(run, root, first, state);
  red_cl_stage_end(run, &stage);
  return status;
}

static red_status stats_host(const red_cl_run *run, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  const char *in = (const char *)exec->in + exec->in_offset;
  uint64_t piece = run->plan->piece;
  unsigned level = (unsigned)__builtin_ctzll(piece / red_chunk_elements(lowered));
  red_forest forest;
  red_moments_forest moments;
  red_forest_clear(&forest);
  red_moments_clear(&moments);
  *exec->stats = red_stats_identity(lowered);
  for (uint64_t first = 0; first < lowered->n; first += piece) {
    uint64_t count = lowered->n - first < piece ? lowered->n - first : piece;
    red_stats_state next;
    red_status status = stats_piece(run, in + first * lowered->in_bytes, first, count, &next);
    if (status != RED_OK) return status;
    if (lowered->in_float) red_forest_push(&forest, lowered, level, first / piece, next.sum);
    red_moments_push(&moments, level, first / piece, next.moments);
    red_stats_merge(lowered, exec->stats, &next);
  }
  exec->stats->moments = red_moments_root(&moments);
  if (lowered->in_float) exec->stats->sum = red_forest_root(&forest, lowered);
  return RED_OK;
}

red_status red_cl_stats(const red_cl_run *run, const red_exec *exec) {
  return run->lowered->in_memory == RED_HOST ? stats_host(run, exec) : stats_device(run, exec);
}
