/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of device memory: one pass through the pipeline or by tiles, or three launches. */
#include "room.h"

static bool is_aligned(const red_cuda_job *job, uint64_t bytes) {
  return job->in % bytes == 0 && job->out % bytes == 0;
}

/*
 * Tiles that wait for each other must all be under way: by ticket if they do not fit on the device together. (Residency
 * is counted for 128 threads, and an odd one is rounded down for each multiprocessor.)
 */
static bool needs_tickets(const red_cuda_job *job, const red_cuda_shape *shape, uint64_t tiles) {
  uint64_t units = job->device->multiprocessors, blocks = shape->function->resident / units;
  return tiles > blocks * 128 / shape->threads * units;
}

static const red_cuda_shape *choose_shape(const red_cuda_job *job) {
  const red_cuda_plan *plan = job->plan;
  if (!is_aligned(job, 16)) return &plan->any;
  /* The pipeline's state of `all` is none that the host could add to those of other pieces. */
  bool counted = job->question != NULL && plan->element.finish == RED_FINISH_ALL;
  bool piped = plan->best.function != NULL && !plan->in_order && !counted;
  if (plan->small.function != NULL && job->n <= plan->small.tile) return &plan->small;
  if (piped && job->n > plan->large_elements) return &plan->best;
  return plan->large.function != NULL ? &plan->large : &plan->any;
}

static red_cuda_scan make_args(const red_cuda_job *job, const red_cuda_shape *shape) {
  const red_cuda_plan *plan = job->plan;
  const red_cuda_element *e = job->element != NULL ? job->element : &plan->element;
  unsigned in_vector = e->in_bytes * 4u, out_vector = e->out_bytes * 4u; /* four elements, 16 bytes at most */
  red_cuda_scan args = {
      .in = (const void *)(uintptr_t)job->in,
      .out = (void *)(uintptr_t)job->out,
      .n = job->n,
      .tiles = (job->n + shape->tile - 1) / shape->tile,
      .inclusive = job->inclusive,
      .phase = RED_CUDA_SCAN_ONCE,
      .in_aligned = job->in % (in_vector < 16 ? in_vector : 16) == 0,
      .out_aligned = job->out % (out_vector < 16 ? out_vector : 16) == 0,
      .places = shape->shared / RED_CUDA_PIPE_TILE,
      .has_first = job->first_known,
      .first = job->first,
      .element = *e,
  };
  args.ordered = shape != &plan->best && !plan->in_order && args.tiles > 1 && needs_tickets(job, shape, args.tiles);
  if (job->question != NULL) {
    args.total = (red_cuda_answer *)(uintptr_t)job->question->device;
    args.total_flag = job->question->flag;
  }
  return args;
}

/*
 * For those who must not assume that blocks make progress beside each other: nothing waits within a launch. (Kernels
 * with large groups of tiles take arrays of one such group here, which has no levels above.)
 */
static red_status launch_three(const red_cuda_job *job, const red_cuda_shape *shape, red_cuda_scan *args) {
  void *arguments[] = {args, NULL};
  CUstream stream = job->queue->stream;
  args->phase = RED_CUDA_SCAN_TOTALS;
  red_status status = red_cuda_launch(shape->function, args->tiles, shape, stream, arguments);
  const red_cuda_shape eight_warps = {.threads = 256}; /* a warp for each node of a level */
  uint64_t nodes = args->tiles;
  for (unsigned level = 0; level + 1 < args->levels && status == RED_OK; level++) {
    nodes >>= level == 0 ? RED_CUDA_SCAN_SMALL_GROUPS : RED_CUDA_SCAN_HIGH_BITS;
    if (nodes == 0) break;
    arguments[1] = &level;
    status = red_cuda_launch(job->plan->groups, (nodes + 7) / 8, &eight_warps, stream, arguments);
  }
  if (status != RED_OK) return status;
  args->phase = RED_CUDA_SCAN_APPLY;
  return red_cuda_launch(shape->function, args->tiles, shape, stream, arguments);
}

red_status red_cuda_scan_launch(const red_cuda_job *job) {
  const red_cuda_shape *shape = choose_shape(job);
  red_cuda_scan args = make_args(job, shape);
  red_cuda_layout layout = red_cuda_scan_layout(job->plan, args.tiles, shape->group_bits);
  args.levels = layout.levels;
  bool pipe = shape == &job->plan->best;
  if (args.tiles > 1 || pipe) {
    CUdeviceptr workspace;
    red_status status = red_cuda_job_workspace(job, layout.bytes, &workspace);
    if (status != RED_OK) return status;
    args.head = (red_cuda_head *)(uintptr_t)workspace;
    for (unsigned i = 0; i < layout.levels; i++) args.slots[i] = (uint64_t *)(uintptr_t)(workspace + layout.slots[i]);
  }
  if (job->plan->in_order && args.tiles > 1) return launch_three(job, shape, &args);
  void *arguments[] = {&args};
  uint64_t grid = args.tiles;
  if (pipe && grid > job->device->multiprocessors) grid = job->device->multiprocessors;
  return red_cuda_launch(shape->function, grid, shape, job->queue->stream, arguments);
}
