/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans: totals of tiles, starts of tiles, outputs of tiles. The wide shape does it in one pass where that is safe,
 * else window by window, so that a window is still in cache when its outputs are made, and one work-item finds the
 * starts; lanes scan the totals level upon level. Host arrays go in pieces, and a forest carries P from one to the
 * next.
 */
#include <string.h>

#include "device.h"
#include "order.h"

/* One array, or a piece of one, in buffers. */
typedef struct array {
  cl_mem in, out;
  uint64_t in_offset, out_offset, n;
  red_state start; /* P of the array's first element */
  uint64_t base;   /* elements before it */
  bool first;      /* out[0] of an exclusive scan without init is the operator's identity */
} array;

static uint64_t tiles_of(uint64_t n, unsigned level) {
  return ((n - 1) >> level) + 1;
}

/* ---- The wide shape ---- */

#define WIDE_LEVEL      14 /* a tile of 16 K elements: some microseconds of work */
#define EXPANSION_WORDS 80
#define WINDOW_BYTES    ((uint64_t)4 << 20)       /* in and out of a window together, for each unit */
#define PASS_NODE(tile) (8 + 88 * ((tile)&1) + 8) /* the first node of what is handed to a tile */
#define PASS_WORDS      184                       /* as kernels/scan_pass_wide.cl has it */

bool red_cl_scans_in_pass(const red_cl_device *device) {
  return device->traits.shape == RED_CL_WIDE && device->traits.one_pass;
}

static uint64_t wide_words(const red_cl_device *device, uint64_t n) {
  return red_cl_scans_in_pass(device) ? PASS_WORDS : 2 * tiles_of(n, WIDE_LEVEL) + 1 + EXPANSION_WORDS;
}

/* Kernels take the same leading arguments. */
static void tile_args(const red_cl_run *run, const array *a, uint64_t first_tile, red_cl_call *call) {
  bool wide = run->device->traits.shape == RED_CL_WIDE;
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_arg_mem(call, a->in);
  red_cl_arg_u64(call, a->in_offset);
  red_cl_arg_u64(call, a->n);
  if (wide) red_cl_arg_u32(call, WIDE_LEVEL);
  if (wide) red_cl_arg_u64(call, first_tile);
  red_cl_arg(call, sizeof rules, &rules);
  red_cl_arg_mem(call, run->workspace);
}

static red_status launch_totals(const red_cl_run *run, const array *a, uint64_t first_tile, uint64_t tiles,
                                uint64_t totals_at) {
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_SCAN_TOTALS]};
  tile_args(run, a, first_tile, &call);
  red_cl_arg_u64(&call, totals_at);
  return red_cl_launch(run, &call, tiles, run->device->group);
}

/* The identity of an exclusive scan's first output, in the output dtype. */
static uint64_t beginning_bits(const red_lowered *lowered) {
  uint64_t bits = 0;
  red_state_store(lowered, red_state_from_acc(lowered, &lowered->identity), 0, &bits);
  return bits;
}

/* ... and the same trailing ones. */
static void output_args(const red_cl_run *run, const array *a, red_cl_call *call) {
  const red_lowered *lowered = run->lowered;
  bool inclusive = lowered->kind == RED_INCLUSIVE_SCAN;
  bool begins = !inclusive && a->first && !lowered->has_init;
  red_cl_last last = red_cl_last_of(lowered);
  red_cl_arg_u64(call, a->base);
  red_cl_arg_u32(call, inclusive);
  red_cl_arg_u32(call, begins);
  red_cl_arg_u64(call, begins ? beginning_bits(lowered) : 0);
  red_cl_arg(call, sizeof last, &last);
  red_cl_arg_mem(call, a->out);
  red_cl_arg_u64(call, a->out_offset);
  if (run->device->traits.shape == RED_CL_WIDE)
    red_cl_arg_u32(call, a->n * lowered->out_bytes >= run->device->tuning.scan_stream_bytes);
}

static red_status launch_tiles(const red_cl_run *run, const array *a, uint64_t first_tile, uint64_t tiles,
                               uint64_t starts_at) {
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_SCAN_TILES]};
  tile_args(run, a, first_tile, &call);
  red_cl_arg_u64(&call, starts_at);
  output_args(run, a, &call);
  return red_cl_launch(run, &call, tiles, run->device->group);
}

static red_status launch_wide_starts(const red_cl_run *run, const array *a, uint64_t first_tile, uint64_t tiles,
                                     uint64_t totals_at, uint64_t starts_at, uint64_t expansion_at) {
  red_cl_call call = {.kernel = run->plan->nodes->kernels[RED_CL_SCAN_STARTS]};
  red_cl_arg_u64(&call, first_tile);
  red_cl_arg_u64(&call, tiles);
  red_cl_arg_u64(&call, a->start.u64);
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, totals_at);
  red_cl_arg_u64(&call, starts_at);
  red_cl_arg_u64(&call, expansion_at);
  return red_cl_launch(run, &call, 1, 1);
}

/* Tiles that a core's cache holds, or smaller ones so that all units have some; not smaller than a block. */
static unsigned pass_level(const red_cl_run *run, uint64_t n) {
  const red_lowered *lowered = run->lowered;
  uint64_t element = lowered->in_bytes > lowered->out_bytes ? lowered->in_bytes : lowered->out_bytes;
  unsigned level = (unsigned)__builtin_ctzll(run->device->tuning.scan_part_bytes / element);
  while (level > 12 && n >> level < (uint64_t)4 * run->device->traits.units) level--;
  return level;
}

static red_status scan_pass(const red_cl_run *run, const array *a, uint64_t *total) {
  unsigned level = pass_level(run, a->n);
  red_cl_rules rules = red_cl_rules_of(run->lowered);
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_SCAN_PASS]};
  red_status status =
      red_cl_clear(run->queue, run->workspace, run->workspace_at * sizeof(uint64_t), PASS_WORDS * sizeof(uint64_t));
  if (status != RED_OK) return status;
  red_cl_arg_mem(&call, a->in);
  red_cl_arg_u64(&call, a->in_offset);
  red_cl_arg_u64(&call, a->n);
  red_cl_arg_u32(&call, level);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at);
  red_cl_arg_u64(&call, a->start.u64);
  output_args(run, a, &call);
  uint64_t tiles = tiles_of(a->n, level);
  *total = run->workspace_at + PASS_NODE(tiles);
  return red_cl_launch(run, &call, tiles, 1);
}

static red_status scan_windows(const red_cl_run *run, const array *a, uint64_t *total) {
  uint64_t tiles = tiles_of(a->n, WIDE_LEVEL);
  uint64_t totals_at = run->workspace_at, starts_at = totals_at + tiles, expansion_at = starts_at + tiles + 1;
  uint64_t tile_bytes = ((uint64_t)run->lowered->in_bytes + run->lowered->out_bytes) << WIDE_LEVEL;
  uint64_t window = WINDOW_BYTES * run->device->traits.units / tile_bytes;
  if (window < run->device->traits.units) window = run->device->traits.units;
  red_status status = RED_OK;
  for (uint64_t first = 0; first < tiles && status == RED_OK; first += window) {
    uint64_t count = tiles - first < window ? tiles - first : window;
    status = launch_totals(run, a, first, count, totals_at);
    if (status == RED_OK) status = launch_wide_starts(run, a, first, count, totals_at, starts_at, expansion_at);
    if (status == RED_OK) status = launch_tiles(run, a, first, count, starts_at);
  }
  *total = expansion_at;
  return status;
}

/* ---- Lanes ---- */

/*
 * Level 0 are the totals of the elements' tiles; level l + 1 those of level l's tiles. Each level has its totals and
 * its starts, one more than totals, and the uppermost its own total behind them.
 */
#define MOST_LEVELS 12
typedef struct levels {
  unsigned count;
  uint64_t nodes[MOST_LEVELS], totals_at[MOST_LEVELS], starts_at[MOST_LEVELS];
  uint64_t words;
} levels;

static void lay_out(const red_cl_device *device, uint64_t n, levels *plan) {
  uint64_t tile = (uint64_t)device->group * 16;
  uint64_t nodes = (n - 1) / tile + 1;
  plan->count = 0;
  plan->words = 0;
  for (;;) {
    unsigned l = plan->count++;
    plan->nodes[l] = nodes;
    plan->totals_at[l] = plan->words;
    plan->starts_at[l] = plan->words + nodes;
    plan->words += 2 * nodes + 2;
    if (nodes + 1 <= tile) return;
    nodes = nodes / tile + 1; /* of nodes + 1 starts */
  }
}

static red_status launch_node_totals(const red_cl_run *run, const levels *plan, unsigned l) {
  red_cl_call call = {.kernel = run->plan->nodes->kernels[RED_CL_SCAN_NODE_TOTALS]};
  red_cl_arg_u64(&call, plan->nodes[l - 1]);
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + plan->totals_at[l - 1]);
  red_cl_arg_u64(&call, run->workspace_at + plan->totals_at[l]);
  return red_cl_launch(run, &call, plan->nodes[l], run->device->group);
}

static red_status launch_node_tiles(const red_cl_run *run, const levels *plan, unsigned l, red_state start) {
  bool uppermost = l + 1 == plan->count;
  red_cl_call call = {.kernel = run->plan->nodes->kernels[RED_CL_SCAN_NODE_TILES]};
  red_cl_arg_u64(&call, plan->nodes[l]);
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + plan->totals_at[l]);
  red_cl_arg_u64(&call, start.u64);
  red_cl_arg_u32(&call, uppermost);
  red_cl_arg_u64(&call, uppermost ? 0 : run->workspace_at + plan->starts_at[l + 1]);
  red_cl_arg_u64(&call, run->workspace_at + plan->starts_at[l]);
  return red_cl_launch(run, &call, uppermost ? 1 : plan->nodes[l + 1], run->device->group);
}

static red_status scan_lanes(const red_cl_run *run, const array *a, uint64_t *total) {
  levels plan;
  lay_out(run->device, a->n, &plan);
  red_status status = launch_totals(run, a, 0, plan.nodes[0], run->workspace_at + plan.totals_at[0]);
  for (unsigned l = 1; l < plan.count && status == RED_OK; l++) status = launch_node_totals(run, &plan, l);
  for (unsigned l = plan.count; l-- > 0 && status == RED_OK;) status = launch_node_tiles(run, &plan, l, a->start);
  if (status == RED_OK) status = launch_tiles(run, a, 0, plan.nodes[0], run->workspace_at + plan.starts_at[0]);
  unsigned top = plan.count - 1;
  *total = run->workspace_at + plan.starts_at[top] + plan.nodes[top] + 1;
  return status;
}

uint64_t red_cl_scan_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  (void)lowered;
  if (n == 0) return 0;
  if (device->traits.shape == RED_CL_WIDE) return wide_words(device, n) * sizeof(uint64_t);
  levels plan;
  lay_out(device, n, &plan);
  return plan.words * sizeof(uint64_t);
}

/* ---- Arrays ---- */

/* *total is the word that holds node(b, 0), if n is a power of two. */
static red_status enqueue(const red_cl_run *run, const array *a, uint64_t *total) {
  if (run->device->traits.shape != RED_CL_WIDE) return scan_lanes(run, a, total);
  return red_cl_scans_in_pass(run->device) ? scan_pass(run, a, total) : scan_windows(run, a, total);
}

/* P(0): init, or what changes nothing. */
static red_state first_start(const red_lowered *lowered) {
  return lowered->has_init ? red_state_from_acc(lowered, &lowered->init) : red_state_identity(lowered);
}

static red_status scan_device(const red_cl_run *run, const red_exec *exec) {
  uint64_t total;
  red_state start = first_start(run->lowered);
  if (red_cl_pipe_takes(run, exec)) {
    bool begins = run->lowered->kind == RED_EXCLUSIVE_SCAN && !run->lowered->has_init;
    return red_cl_pipe_launch(run, exec, start.u64, begins, begins ? beginning_bits(run->lowered) : 0);
  }
  array a = {.in = (cl_mem)exec->in,
             .out = exec->out,
             .in_offset = exec->in_offset,
             .out_offset = exec->out_offset,
             .n = run->lowered->n,
             .start = start,
             .base = 0,
             .first = true};
  return enqueue(run, &a, &total);
}

/*
 * One piece: its buffers, its launches, its outputs back in the host's array; `node` gets its total if it is complete.
 */
static red_status scan_piece(const red_cl_run *run, const char *in, char *out, array *a, bool complete,
                             red_state *node) {
  const red_lowered *lowered = run->lowered;
  uint64_t in_bytes = a->n * lowered->in_bytes, out_bytes = a->n * lowered->out_bytes, total;
  red_cl_stage source = {NULL, false}, target = {NULL, false};
  bool same = in == out && lowered->in_bytes == lowered->out_bytes;
  red_status status = RED_OK;
  if (!same || !red_cl_stage_shared(run, out, lowered->out_bytes))
    status = red_cl_stage_in(run, in, in_bytes, lowered->in_bytes, &source);
  if (status == RED_OK) status = red_cl_stage_out(run, out, out_bytes, lowered->out_bytes, &target);
  a->in = source.memory != NULL ? source.memory : target.memory;
  a->out = target.memory;
  if (status == RED_OK) status = enqueue(run, a, &total);
  if (status == RED_OK) status = red_cl_stage_fetch(run, &target, out, out_bytes);
  if (status == RED_OK && complete) {
    node->u64 = 0;
    status = red_cl_read(run->queue, run->workspace, total * sizeof(uint64_t), &node->u64, sizeof node->u64);
  }
  status = red_cl_stage_end(run, &source, status);
  return red_cl_stage_end(run, &target, status);
}

static red_state prefix_of(const red_forest *forest, const red_lowered *lowered) {
  red_state start = first_start(lowered);
  return red_forest_prefix(forest, lowered, lowered->has_init || forest->count == 0 ? &start : NULL);
}

static red_status scan_host(const red_cl_run *run, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  const char *in = (const char *)exec->in + exec->in_offset;
  char *out = (char *)exec->out + exec->out_offset;
  uint64_t piece = run->plan->piece;
  red_forest forest;
  red_forest_clear(&forest);
  for (uint64_t first = 0; first < lowered->n; first += piece) {
    uint64_t count = lowered->n - first < piece ? lowered->n - first : piece;
    bool complete = (count & (count - 1)) == 0; /* a node of the tree, since pieces are powers of two */
    array a = {.n = count, .start = prefix_of(&forest, lowered), .base = first, .first = first == 0};
    red_state node = {.u64 = 0};
    char *to = out + first * lowered->out_bytes;
    red_status status = scan_piece(run, in + first * lowered->in_bytes, to, &a, complete, &node);
    if (status != RED_OK) return status;
    if (!complete) break; /* the last one: nobody asks for its total */
    unsigned level = (unsigned)__builtin_ctzll(count);
    red_forest_push(&forest, lowered, level, first >> level, node);
    /* P of the piece's end ripples through the nodes before it. */
    if (lowered->kind == RED_INCLUSIVE_SCAN)
      red_state_store(lowered, prefix_of(&forest, lowered), first + count, to + (count - 1) * lowered->out_bytes);
  }
  if (exec->total != NULL) *exec->total = forest.nodes[0].state;
  return RED_OK;
}

red_status red_cl_scan(const red_cl_run *run, const red_exec *exec) {
  if (run->lowered->n == 0) return RED_OK;
  return run->lowered->in_memory == RED_HOST ? scan_host(run, exec) : scan_device(run, exec);
}
