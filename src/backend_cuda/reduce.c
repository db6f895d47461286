/* SPDX-License-Identifier: BSD-2-Clause */
/* Reductions and statistics of device memory: geometry, arguments, one launch or two. */
#include "room.h"

#include <string.h>

/*
 * Blocks that poll hold a place on the device until those of lower index have come; one for each group of tiles, so
 * that half of the places are left for the others, and another stream's grid that polls takes no more. Beyond that,
 * some 16 GB, a second launch folds the groups; of statistics, which have no kernel for it, tile indices come from a
 * ticket, for which every block waits before it loads. (More such grids side by side rely on blocks of lower index
 * starting first.)
 */
static bool polls_too_many(const red_cuda_plan *plan, const red_cuda_shape *shape, uint64_t tiles) {
  uint64_t resident = shape->function->resident;
  return tiles / red_cuda_group_tiles(plan, tiles, resident) + 2 > resident / 2;
}

static uint64_t tiles_of(const red_cuda_job *job, const red_cuda_shape *shape) {
  uint64_t elements = job->n + (job->plan->by_vectors ? job->in % 16 / job->plan->element.in_bytes : 0);
  uint64_t tiles = (elements + shape->tile - 1) / shape->tile;
  return tiles > 0 && job->plan->stats != RED_STAT_COUNT ? tiles : 1; /* a count alone looks at nothing */
}

/* Where there is no more than the quick kernel, it is for what that can do: polling, or the first of two launches. */
static const red_cuda_shape *choose_shape(const red_cuda_job *job) {
  const red_cuda_plan *plan = job->plan;
  const red_cuda_shape *best = &plan->best;
  bool at_once = plan->combine == RED_CUDA_POLL || plan->combine == RED_CUDA_LAST;
  const red_cuda_shape *large = &plan->large;
  if (large->function != NULL && job->n > plan->large_elements && at_once &&
      !polls_too_many(plan, large, tiles_of(job, large)))
    return large;
  if (best->function == NULL) return &plan->any;
  bool aligned = job->in % plan->alignment == 0 && job->in2 % plan->alignment == 0;
  if (!aligned) best = &plan->shifted;
  if (best->function == NULL) return &plan->any;
  if (aligned && best->function != plan->quick) return best;
  return plan->combine == RED_CUDA_POLL || plan->combine == RED_CUDA_TWO ? best : &plan->any;
}

static red_cuda_reduce make_args(const red_cuda_job *job, const red_cuda_shape *shape) {
  const red_cuda_plan *plan = job->plan;
  red_cuda_reduce args = {
      .in = (const void *)(uintptr_t)job->in,
      .in2 = (const void *)(uintptr_t)job->in2,
      .out = (void *)(uintptr_t)job->out,
      .n = job->n,
      .combine = (uint32_t)plan->combine,
      .as_it_is = plan->as_it_is,
      .streaming = job->n * plan->element.in_bytes * (job->in2 != 0 ? 2 : 1) <= plan->streaming_bytes,
      .pad_is_first = plan->pad_is_first,
      .pad = plan->pad,
      .stats = plan->stats,
      .element = plan->element,
  };
  if (plan->by_vectors) args.head_elements = (uint32_t)(job->in % 16 / plan->element.in_bytes);
  args.tiles = tiles_of(job, shape);
  uint64_t group = red_cuda_group_tiles(plan, args.tiles, shape->function->resident);
  args.group = (uint32_t)group;
  if (args.combine == RED_CUDA_LAST && red_cuda_counters(args.tiles, group) > RED_CUDA_COUNTERS)
    args.combine = RED_CUDA_POLL;
  if (args.combine == RED_CUDA_POLL && args.tiles > 1 && polls_too_many(plan, shape, args.tiles)) {
    if (plan->groups != NULL)
      args.combine = RED_CUDA_TWO;
    else
      args.ordered = true;
  }
  if (job->question != NULL) {
    args.answer = (red_cuda_answer *)(uintptr_t)job->question->device;
    args.answer_flag = job->question->flag;
  }
  return args;
}

static void place(red_cuda_reduce *args, const red_cuda_layout *layout, CUdeviceptr workspace) {
  args->head = (red_cuda_head *)(uintptr_t)workspace;
  args->counters = (uint32_t *)(uintptr_t)(workspace + RED_CUDA_COUNTERS_AT);
  for (unsigned i = 0; i < layout->levels; i++) args->slots[i] = (uint64_t *)(uintptr_t)(workspace + layout->slots[i]);
}

/* The second kernel may start while the first one ends: it waits inside. */
static red_status launch_dependent(const red_cuda_function *function, unsigned grid, unsigned threads, CUstream stream,
                                   void **arguments) {
  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                 .value = {.programmaticStreamSerializationAllowed = 1}};
  CUlaunchConfig config = {.gridDimX = grid,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = threads,
                           .blockDimY = 1,
                           .blockDimZ = 1,
                           .hStream = stream,
                           .attrs = &attribute,
                           .numAttrs = 1};
  return red_cuda_check(red_cu.LaunchKernelEx(&config, function->function, arguments, NULL), "cuLaunchKernelEx");
}

static red_status launch_tiles(const red_cuda_job *job, const red_cuda_shape *shape, red_cuda_reduce *args) {
  void *arguments[] = {args};
  CUstream stream = job->queue->stream;
  if (args->combine == RED_CUDA_COOP && args->tiles > 1) {
    uint64_t resident = shape->function->resident;
    unsigned grid = (unsigned)(args->tiles < resident ? args->tiles : resident);
    return red_cuda_check(red_cu.LaunchCooperativeKernel(shape->function->function, grid, 1, 1, shape->threads, 1, 1, 0,
                                                         stream, arguments),
                          "cuLaunchCooperativeKernel");
  }
  bool quick =
      shape == &job->plan->best && job->plan->quick != NULL && args->combine == RED_CUDA_POLL && !args->ordered;
  const red_cuda_function *function = quick ? job->plan->quick : shape->function;
  red_status status = red_cuda_launch(function, args->tiles, shape, stream, arguments);
  if (status != RED_OK || args->tiles == 1) return status;
  uint64_t groups = (args->tiles + args->group - 1) / args->group;
  if (args->combine == RED_CUDA_TWO) return red_cuda_launch(job->plan->groups, groups, shape, stream, arguments);
  if (args->combine == RED_CUDA_PDL)
    return launch_dependent(job->plan->groups, (unsigned)groups, shape->threads, stream, arguments);
  return RED_OK;
}

red_status red_cuda_reduce_launch(const red_cuda_job *job) {
  if (job->plan->exact != NULL) return red_cuda_exact_launch(job);
  const red_cuda_shape *shape = choose_shape(job);
  red_cuda_reduce args = make_args(job, shape);
  if (args.tiles > 1) {
    red_cuda_layout layout = red_cuda_reduce_layout(job->plan, args.tiles);
    CUdeviceptr workspace;
    red_status status = red_cuda_job_workspace(job, layout.bytes, &workspace);
    if (status != RED_OK) return status;
    place(&args, &layout, workspace);
  }
  return launch_tiles(job, shape, &args);
}

red_state red_cuda_answer_state(const red_cuda_answer *answer) {
  return (red_state){.u64 = answer->word[0], .index = answer->word[1]};
}

red_pair red_cuda_answer_pair(const red_cuda_answer *answer, const red_lowered *lowered) {
  return (red_pair){.sum = {.u64 = answer->word[0]}, .size = {.u64 = answer->word[red_is_paired(lowered) ? 1 : 0]}};
}

static double f64_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The arg operators' keys, for which zeros are equal: those of -0 and +0 are neighbours, `zero` is +0's. */
static red_state merged(uint64_t key, uint64_t minus_zero, uint64_t zero, uint64_t index) {
  return (red_state){.u64 = key == minus_zero ? zero : key, .index = index};
}

void red_cuda_answer_stats(const red_cuda_answer *answer, const red_lowered *lowered, uint64_t n,
                           red_stats_state *state) {
  const uint64_t *word = answer->word, minus_one = UINT64_MAX;
  const uint64_t least = word[RED_CUDA_RAW_LEAST], greatest = word[RED_CUDA_RAW_GREATEST];
  const bool zeros = lowered->in_float;
  *state = red_stats_identity(lowered);
  if (red_stats_need_sum(lowered)) {
    state->sum.u64 = word[RED_CUDA_RAW_SUM];
    state->sum_high = (int64_t)word[RED_CUDA_RAW_SUM_HIGH];
  }
  if (red_stats_need_extrema(lowered)) {
    state->least.u64 = least;
    state->greatest.u64 = greatest;
  }
  if ((lowered->stats & (RED_STAT_ARGMIN | RED_STAT_ARGMAX)) != 0) {
    state->argmin = merged(least, zeros ? minus_one : least, zeros ? 0 : least, word[RED_CUDA_RAW_ARGMIN]);
    state->argmax = merged(greatest, zeros ? 0 : greatest, zeros ? minus_one : greatest, word[RED_CUDA_RAW_ARGMAX]);
  }
  if (red_stats_need_nan_count(lowered)) state->nan_count = word[RED_CUDA_RAW_NANS];
  if (red_stats_need_moments(lowered))
    state->moments = (red_moments){n, f64_of(word[RED_CUDA_RAW_MEAN]), f64_of(word[RED_CUDA_RAW_MEAN_LOW]),
                                   f64_of(word[RED_CUDA_RAW_SQUARES])};
}
