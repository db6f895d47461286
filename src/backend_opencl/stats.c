/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics: the summary of everything is finished on the host or, if the result lies on the device, there. */
#include <string.h>

#include "device.h"
#include "order.h"

static red_status launch_finish(const red_cl_run *run, uint64_t root, const red_exec *exec) {
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_STATS_FINISH]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, root);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg_u64(&call, run->lowered->n);
  red_cl_arg_u64(&call, run->lowered->stats);
  red_cl_arg_mem(&call, exec->out);
  red_cl_arg_u64(&call, exec->out_offset);
  return red_cl_launch(run, &call, 1, 1);
}

static double f64_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* As kernels/stats.cl lays a summary out. */
static red_stats_state summary_of(const red_cl_node *node) {
  const uint64_t *words = node->words;
  return (red_stats_state){
      .sum = {.u64 = words[0]},
      .sum_high = (int64_t)words[1],
      .least = {.u64 = words[2]},
      .greatest = {.u64 = words[3]},
      .argmin = {.u64 = words[4], .index = node->first + words[5]},
      .argmax = {.u64 = words[6], .index = node->first + words[7]},
      .nan_count = words[8],
      .moments = {words[9], f64_of(words[10]), f64_of(words[11]), f64_of(words[12])},
  };
}

/* Float sums and moments merge along the tree, everything else in any order. */
typedef struct collected {
  red_forest sums;
  red_moments_forest moments;
  red_stats_state *all;
} collected;

static void collect(void *state, const red_lowered *lowered, const red_cl_node *node) {
  collected *to = state;
  red_stats_state next = summary_of(node);
  if (lowered->in_float) red_forest_push(&to->sums, lowered, node->level, node->index, next.sum);
  if (red_stats_need_moments(lowered)) red_moments_push(&to->moments, node->level, node->index, next.moments);
  red_stats_merge(lowered, to->all, &next);
}

static red_status collect_all(const red_cl_run *run, const red_exec *exec, red_stats_state *all) {
  collected to = {.all = all};
  red_forest_clear(&to.sums);
  red_moments_clear(&to.moments);
  *all = red_stats_identity(run->lowered);
  red_status status = red_cl_visit_nodes(run, exec, collect, &to);
  if (status != RED_OK) return status;
  if (run->lowered->in_float) all->sum = red_forest_root(&to.sums, run->lowered);
  all->moments = red_moments_root(&to.moments);
  return RED_OK;
}

/* Of host memory, and of pieces, the core asks for what they come to, and finishes. */
red_status red_cl_stats(const red_cl_run *run, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  if (exec->stats != NULL) return collect_all(run, exec, exec->stats);
  if (lowered->out_memory == RED_DEVICE) {
    uint64_t root;
    red_status status = red_cl_enqueue_root(run, exec, &root);
    return status == RED_OK ? launch_finish(run, root, exec) : status;
  }
  red_stats_state all;
  red_status status = collect_all(run, exec, &all);
  if (status != RED_OK) return status;
  red_stats_result result; /* aside: out may have any alignment */
  red_stats_finish(lowered, &all, lowered->n, &result);
  memcpy((char *)exec->out + exec->out_offset, &result, sizeof result);
  return RED_OK;
}
