/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From elements to nodes of runs of chunks, and to nodes of nodes until one is left: what reductions and statistics
 * share. Where the result goes to the host and the nodes are few, the host merges them instead of one more launch.
 * Pieces of host arrays are whole nodes.
 */
#include "device.h"

/* How the nodes of n elements are computed: `count[s]` nodes of stage s lie at `at[s]` words of the workspace. */
#define MOST_STAGES 16
typedef struct stages {
  unsigned count;
  unsigned level[MOST_STAGES]; /* chunks, then nodes, of a node: 2^level */
  uint64_t nodes[MOST_STAGES];
  uint64_t at[MOST_STAGES];
  uint64_t words;
} stages;

/* What the kinds of problem do differently. */
static unsigned slot_words(const red_lowered *lowered) {
  if (lowered->kind == RED_STATS) return RED_CL_SUMMARY_WORDS;
  return lowered->family == RED_FAMILY_ARGMIN || red_is_paired(lowered) ? 2 : 1;
}

static cl_kernel chunks_kernel(const red_cl_run *run) {
  bool stats = run->lowered->kind == RED_STATS;
  return run->plan->elements->kernels[stats ? RED_CL_STATS_CHUNKS : RED_CL_REDUCE_CHUNKS];
}

static cl_kernel nodes_kernel(const red_cl_run *run) {
  bool stats = run->lowered->kind == RED_STATS;
  return stats ? run->plan->elements->kernels[RED_CL_STATS_NODES] : run->plan->nodes->kernels[RED_CL_REDUCE_NODES];
}

/* Work-items that share a node of nodes: of statistics, one. */
static uint32_t nodes_group(const red_cl_device *device, const red_lowered *lowered) {
  return lowered->kind == RED_STATS ? 1 : device->group;
}

/*
 * Enough runs to keep all units busy, long enough to be worth a work-item; lanes share one node of at most 32 chunks.
 */
static unsigned run_level(const red_cl_device *device, uint64_t chunks) {
  bool wide = red_cl_is_wide(device);
  uint64_t wanted = device->traits.units * device->tuning.reduce_runs_per_unit;
  unsigned level = wide ? 2 : 0, most = wide ? 40 : 5;
  while (level < most && chunks >> level > wanted) level++;
  return level;
}

static unsigned node_level(const red_cl_device *device, const red_lowered *lowered) {
  if (device->traits.shape == RED_CL_WIDE) return 30;
  return (unsigned)__builtin_ctz(nodes_group(device, lowered)) + 4;
}

/* ---- One launch: nodes lie on the board ---- */

#define FLIGHT    8     /* words of 64 bits that a lane waits for at a time; of floats of 32 bits twice as many */
#define FEW_BYTES 65536 /* that a work-group reads at least, where there are many: half as much by chunks */

bool red_cl_nodes_at_once(const red_cl_device *device, const red_lowered *lowered) {
  return device->traits.one_launch && lowered->kind == RED_REDUCE && !red_is_paired(lowered);
}

uint32_t red_cl_once_members(const red_cl_device *device, const red_lowered *lowered) {
  uint32_t flight = lowered->canonical && lowered->acc_bytes == 4 ? 2 * FLIGHT : FLIGHT / slot_words(lowered);
  return red_cl_reduce_group(device, lowered) * flight;
}

static uint64_t nodes_of(uint64_t chunks, unsigned level) {
  return ((chunks - 1) >> level) + 1;
}

/* As many work-groups as there are chunks, but for short ones; one that waits for each unit at most, and two tiers. */
static stages lay_out_once(const red_cl_device *device, const red_lowered *lowered, uint64_t chunks) {
  uint64_t members = red_cl_once_members(device, lowered), bytes = red_chunk_elements(lowered) * lowered->in_bytes;
  uint64_t teams = device->traits.units < members ? device->traits.units : members;
  unsigned level = 0;
  while (nodes_of(chunks, level) > teams * members) level++;
  uint64_t enough = device->traits.units * device->tuning.reduce_runs_per_unit;
  uint64_t few = lowered->canonical ? FEW_BYTES / 2 : FEW_BYTES;
  while (bytes << level < few && nodes_of(chunks, level) > enough) level++;
  return (stages){.count = 2,
                  .level = {level, 40},
                  .nodes = {nodes_of(chunks, level), 1},
                  .words = slot_words(lowered)}; /* the root */
}

static stages lay_out(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  uint64_t chunk = red_chunk_elements(lowered), chunks = (n + chunk - 1) / chunk;
  if (red_cl_nodes_at_once(device, lowered)) return lay_out_once(device, lowered, chunks);
  unsigned level = run_level(device, chunks);
  stages plan = {.count = 0};
  for (uint64_t nodes = chunks;;) {
    nodes = nodes_of(nodes, level);
    unsigned s = plan.count++;
    plan.level[s] = level;
    plan.nodes[s] = nodes;
    plan.at[s] = plan.words;
    plan.words += nodes * slot_words(lowered);
    if (nodes == 1) return plan;
    level = node_level(device, lowered);
  }
}

uint64_t red_cl_nodes_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  return n > 0 ? lay_out(device, lowered, n).words * sizeof(uint64_t) : 0;
}

/* A CPU device leaves a few nodes for each of its units, in memory that the host shares. */
static bool merges_on_host(const red_cl_device *device, const red_lowered *lowered) {
  return device->traits.shape == RED_CL_WIDE && (lowered->out_memory == RED_HOST || lowered->in_memory == RED_HOST);
}

bool red_cl_nodes_merge(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  if (merges_on_host(device, lowered) || red_cl_nodes_at_once(device, lowered)) return false;
  return lay_out(device, lowered, n).count > 1;
}

/* ---- Launches ---- */

/* Where nodes meet, and what becomes of the root: it goes to the workspace, or if there is an `exec`, is its result. */
static red_status once_args(const red_cl_run *run, const stages *plan, const red_exec *exec, red_cl_call *call) {
  uint64_t places = plan->nodes[0] + red_cl_once_members(run->device, run->lowered);
  uint64_t words = RED_CL_BOARD_AT + places * 2 * slot_words(run->lowered);
  uint32_t epoch = 0;
  red_status status = red_cl_board_reserve(run->device, run->queue, words * sizeof(uint64_t));
  if (status == RED_OK) status = red_cl_board_epoch(run->queue, &epoch);
  if (status != RED_OK) return status;
  red_cl_last last = red_cl_reduce_last(run->lowered);
  red_cl_arg_mem(call, run->queue->board.pool.memory);
  red_cl_arg_u64(call, RED_CL_BOARD_AT);
  red_cl_arg_u32(call, epoch);
  red_cl_arg_u32(call, exec != NULL);
  red_cl_arg(call, sizeof last, &last);
  red_cl_arg_mem(call, exec != NULL ? (cl_mem)exec->out : run->workspace);
  red_cl_arg_u64(call, exec != NULL ? exec->out_offset : 0);
  return RED_OK;
}

static red_status launch_chunks(const red_cl_run *run, const stages *plan, const red_cl_piece *part,
                                const red_exec *exec) {
  const bool at_once = red_cl_nodes_at_once(run->device, run->lowered);
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_call call = {.kernel = chunks_kernel(run)};
  red_cl_arg_mem(&call, part->memory);
  red_cl_arg_u64(&call, part->offset);
  red_cl_arg_u64(&call, part->n);
  red_cl_arg_u32(&call, plan->level[0]);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[0]);
  if (run->lowered->map == RED_MAP_PRODUCT) {
    red_cl_arg_mem(&call, part->memory2);
    red_cl_arg_u64(&call, part->offset2);
  }
  red_status status = at_once ? once_args(run, plan, exec, &call) : RED_OK;
  if (status == RED_OK)
    status = red_cl_launch(run, &call, plan->nodes[0], red_cl_reduce_group(run->device, run->lowered));
  return status;
}

static red_status launch_nodes(const red_cl_run *run, const stages *plan, unsigned s) {
  red_cl_call call = {.kernel = nodes_kernel(run)};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[s - 1]);
  red_cl_arg_u64(&call, plan->nodes[s - 1]);
  red_cl_arg_u32(&call, plan->level[s]);
  red_cl_arg_u64(&call, run->workspace_at + plan->at[s]);
  return red_cl_launch(run, &call, plan->nodes[s], nodes_group(run->device, run->lowered));
}

/* The stages up to `count`; `exec`, where it is one launch, says where the result goes. */
static red_status enqueue(const red_cl_run *run, const stages *plan, unsigned count, const red_cl_piece *part,
                          const red_exec *exec) {
  red_status status = launch_chunks(run, plan, part, exec);
  if (red_cl_nodes_at_once(run->device, run->lowered)) return status;
  for (unsigned s = 1; s < count && status == RED_OK; s++) status = launch_nodes(run, plan, s);
  return status;
}

red_status red_cl_enqueue_root(const red_cl_run *run, const red_exec *exec, uint64_t *root) {
  stages plan = lay_out(run->device, run->lowered, run->lowered->n);
  *root = run->workspace_at + plan.at[plan.count - 1];
  red_cl_piece all = red_cl_whole(run, exec);
  return enqueue(run, &plan, plan.count, &all, exec);
}

/* ---- Visiting ---- */

/* Show `count` nodes at word `at` of the workspace, the first of which is *node. */
static red_status show_nodes(const red_cl_run *run, uint64_t at, uint64_t count, red_cl_node *node,
                             red_cl_visitor *visit, void *state) {
  unsigned slot = slot_words(run->lowered);
  uint64_t words[RED_CL_SUMMARY_WORDS], bytes = count * slot * sizeof(uint64_t);
  if (count == 1) {
    red_status status = red_cl_read(run->queue, run->workspace, at * sizeof(uint64_t), words, bytes);
    node->words = words;
    if (status == RED_OK) visit(state, run->lowered, node);
    return status;
  }
  void *mapped;
  red_status status = red_cl_map(run->queue, run->workspace, at * sizeof(uint64_t), bytes, &mapped);
  if (status != RED_OK) return status;
  node->words = mapped;
  for (; count > 0; count--, node->words += slot, node->index++) visit(state, run->lowered, node);
  return red_cl_unmap(run->queue, run->workspace, mapped);
}

/* What a piece's nodes are shown to. */
typedef struct visitor {
  red_cl_visitor *visit;
  void *state;
} visitor;

static red_status visit_piece(void *state, const red_cl_run *run, const red_cl_piece *part) {
  const visitor *to = state;
  const red_lowered *lowered = run->lowered;
  uint64_t chunk = red_chunk_elements(lowered);
  stages plan = lay_out(run->device, lowered, part->n);
  unsigned count = merges_on_host(run->device, lowered) ? 1 : plan.count;
  red_status status = enqueue(run, &plan, count, part, NULL);
  if (status != RED_OK) return status;
  /* Pieces and runs are whole nodes of the chunks' tree, but for the last, which is the tree's right edge. */
  unsigned level = (unsigned)__builtin_ctzll(run->plan->piece / chunk);
  if (count < plan.count) level = plan.level[0];
  red_cl_node node = {.level = level, .index = part->first / chunk >> level, .first = part->first};
  return show_nodes(run, run->workspace_at + plan.at[count - 1], plan.nodes[count - 1], &node, to->visit, to->state);
}

red_status red_cl_visit_nodes(const red_cl_run *run, const red_exec *exec, red_cl_visitor *visit, void *state) {
  visitor to = {visit, state};
  return red_cl_each_piece(run, exec, visit_piece, &to);
}
