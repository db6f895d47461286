/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ladder_steps.h"

#include "report.h"

enum {
  GROUPS_A_UNIT = 8 /* of step 7: 2048 threads on a multiprocessor */
};

static uint32_t divide_up(uint32_t n, uint32_t by) {
  return n / by + (n % by != 0);
}

uint32_t ladder_most_groups(const struct climber *c) {
  const uint32_t all = divide_up(c->n, c->engine.group * 4), held = c->engine.units * GROUPS_A_UNIT;
  return all < held ? all : held;
}

int ladder_launch(struct climber *c, void *kernel, uint32_t groups, void *in, uint32_t n, void *out) {
  const struct engine_arg args[] = {{sizeof in, &in}, {sizeof n, &n}, {sizeof out, &out}};
  return c->engine.api->launch(&c->engine, kernel, groups, args, 3);
}

/* The kernel again on its own partial sums, until one is left. */
static int by_levels(struct climber *c, const struct device_step *step, void *kernel) {
  void *in = c->in;
  int code = EXIT_OK, level = 0;
  for (uint32_t n = c->n, groups; !code && (n > 1 || level == 0); n = groups, level++) {
    groups = divide_up(n, step->loads * c->engine.group);
    void *out = groups == 1 ? c->out : c->parts[level % 2];
    code = ladder_launch(c, kernel, groups, in, n, out);
    in = out;
  }
  return code;
}

/* Likewise, each work-item taking as many elements as the step says. */
static int by_coarse_levels(struct climber *c, const struct device_step *step, void *kernel) {
  void *in = c->in;
  int code = EXIT_OK, level = 0;
  const uint32_t loads = step->loads;
  for (uint32_t n = c->n, groups; !code && (n > 1 || level == 0); n = groups, level++) {
    groups = divide_up(n, loads * c->engine.group);
    void *out = groups == 1 ? c->out : c->parts[level % 2];
    const struct engine_arg args[] = {{sizeof in, &in}, {sizeof n, &n}, {sizeof out, &out}, {sizeof loads, &loads}};
    code = c->engine.api->launch(&c->engine, kernel, groups, args, 4);
    in = out;
  }
  return code;
}

static int by_two_launches(struct climber *c, const struct device_step *step, void *kernel) {
  const uint32_t groups = ladder_most_groups(c);
  (void)step;
  const int code = ladder_launch(c, kernel, groups, c->in, c->n, c->parts[0]);
  return code ? code : ladder_launch(c, kernel, 1, c->parts[0], groups, c->out);
}

static int by_atomics(struct climber *c, const struct device_step *step, void *kernel) {
  (void)step;
  const int code = c->engine.api->zero(&c->engine, c->out, sizeof(float));
  return code ? code : ladder_launch(c, kernel, ladder_most_groups(c), c->in, c->n, c->out);
}

static int by_last_group(struct climber *c, const struct device_step *step, void *kernel) {
  const struct engine_arg args[] = {{sizeof c->in, &c->in},
                                    {sizeof c->n, &c->n},
                                    {sizeof c->out, &c->out},
                                    {sizeof c->parts[0], &c->parts[0]},
                                    {sizeof c->counter, &c->counter}};
  (void)step;
  return c->engine.api->launch(&c->engine, kernel, ladder_most_groups(c), args, 5);
}

static int by_grid_barrier(struct climber *c, const struct device_step *step, void *kernel) {
  const struct engine_arg args[] = {
      {sizeof c->in, &c->in}, {sizeof c->n, &c->n}, {sizeof c->out, &c->out}, {sizeof c->parts[0], &c->parts[0]}};
  (void)step;
  return c->engine.api->launch_together(&c->engine, kernel, ladder_most_groups(c), args, 4);
}

static int by_library(struct climber *c, const struct device_step *step, void *kernel) {
  (void)step, (void)kernel;
  const red_status status = red_plan_execute(c->plan, c->queue, c->in, c->out);
  return status ? library_error(status) : EXIT_OK;
}

static const struct device_step ladder[] = {
    {"interleaved, with modulo",
     "Pairs of neighbours: every warp takes part in every step, with ever fewer of its lanes.", "interleaved",
     by_levels, 1, ANYWHERE},
    {"consecutive threads, strided",
     "The same pairs by consecutive threads: whole warps retire, but strides collide in "
     "the banks.",
     "strided", by_levels, 1, ANYWHERE},
    {"sequential addressing", "Consecutive threads and consecutive words: no two meet in a bank.", "sequential",
     by_levels, 1, ANYWHERE},
    {"add while loading", "Half of the threads had nothing to do after their load; now each adds two elements first.",
     "add_loading", by_levels, 2, ANYWHERE},
    {"unrolled", "Loop and tests are gone; whatever is needed to make threads wait for each other stays.", "unrolled",
     by_levels, 2, ANYWHERE},
    {"shuffles", "Lanes of a warp pass values without memory; one barrier is left.", "shuffled", by_levels, 2,
     SHUFFLES},
    {"grid stride, 16-byte loads",
     "As many groups as fit, many loads under way in each, and two launches instead of "
     "one a level.",
     "grid_stride", by_two_launches, 0, ANYWHERE},
    {"the same, atomics", "Groups add to one word: no second launch, but a word to clear, and no fixed order.",
     "combine_atomics", by_atomics, 0, ANYWHERE},
    {"the same, last group",
     "A counter tells who is last; it adds up the partial sums: one launch, any order possible.", "combine_last",
     by_last_group, 0, ANYWHERE},
    {"the same, cooperative groups",
     "All groups run at the same time and meet at a barrier, which waits for the slowest; any order possible.",
     "combine_grid", by_grid_barrier, 0, TOGETHER},
    {"libred", "One launch, wide loads, in an order that gives the same bits everywhere.", NULL, by_library, 0,
     ANYWHERE},
};

#define COARSE(elements, why)                                                                                          \
  { #elements " a work-item", why, "coarsened", by_coarse_levels, elements, ANYWHERE }
static const struct device_step coarsening[] = {
    COARSE(1, "Each group adds 256 elements or fewer: starting it and its barrier cost more than its loads."),
    COARSE(2, "Half as many groups, partial sums and barriers."),
    COARSE(4, "Loads of one work-item do not wait for each other: several are under way at a time."),
    COARSE(8, "From here on there is little left of what a group costs beside its loads."),
    COARSE(16, "More bytes under way than the latency of the memory asks for: the bandwidth is what is left."),
    COARSE(32, "The same, with fewer partial sums."),
    COARSE(64, "The fewer groups, the more the last ones count: some units wait while others still add."),
    COARSE(256, "Too few groups for a small array, which leave units without work."),
};

const struct device_steps ladder_steps = {ladder, sizeof ladder / sizeof *ladder};
const struct device_steps coarsening_steps = {coarsening, sizeof coarsening / sizeof *coarsening};

_Static_assert(sizeof ladder / sizeof *ladder <= LADDER_MOST_STEPS, "more steps than their readers have room for");
_Static_assert(sizeof coarsening / sizeof *coarsening <= LADDER_MOST_STEPS, "likewise");
