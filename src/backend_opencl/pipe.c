/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of device arrays in one pass, by kernels/scan_pipe.cl: what it can do, where its tiles meet, the launch. */
#include "device.h"
#include "source.h"

#define MOST_LEVELS 4
#define LOW_BITS    7           /* a group of tiles, as kernels/lookback.cl has it */
#define HIGH_BITS   5           /* ... of nodes above them */
#define SLOT_WORDS  (uint64_t)2 /* at most */

/* As kernels/lookback.cl has it. */
typedef struct pipe {
  uint64_t n, start, beginning;
  uint64_t level_at[MOST_LEVELS];
  uint32_t tiles, levels;
  uint32_t epoch, counted;
  uint32_t inclusive, begins;
} pipe;

bool red_cl_has_pipe(const red_cl_device *device, const red_lowered *lowered) {
  return device->traits.pipe && red_is_scan(lowered->kind) && lowered->in_memory == RED_DEVICE &&
         lowered->in_bytes >= 4 && red_cl_has_default_output(lowered);
}

static uint64_t tiles_of(const red_lowered *lowered) {
  return (lowered->n * lowered->in_bytes + RED_CL_PIPE_TILE - 1) / RED_CL_PIPE_TILE;
}

/* Vectors of inputs and of their outputs are read and written as such, from the first one on. */
bool red_cl_pipe_takes(const red_cl_run *run, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  const uint64_t out_vector = 16u / lowered->in_bytes * lowered->out_bytes;
  return red_cl_has_pipe(run->device, lowered) && exec->in_offset % 16 == 0 && exec->out_offset % out_vector == 0 &&
         tiles_of(lowered) <= (uint64_t)1 << (LOW_BITS + (MOST_LEVELS - 1) * HIGH_BITS);
}

/* The levels' places, and the bytes of the board. */
static uint64_t lay_out(const red_lowered *lowered, pipe *p) {
  uint64_t last = tiles_of(lowered) - 1, at = RED_CL_BOARD_AT;
  p->tiles = (uint32_t)last + 1;
  p->levels = 0;
  do {
    const unsigned bits = p->levels == 0 ? LOW_BITS : HIGH_BITS;
    p->level_at[p->levels++] = at;
    last >>= bits;
    at += (last + 1) * (SLOT_WORDS << bits); /* whole groups */
  } while (last > 0);
  return at * sizeof(uint64_t);
}

red_status red_cl_pipe_launch(const red_cl_run *run, const red_exec *exec, uint64_t start, bool begins,
                              uint64_t beginning) {
  const red_lowered *lowered = run->lowered;
  red_cl_board *board = &run->queue->board;
  pipe p = {.n = lowered->n,
            .start = start,
            .beginning = beginning,
            .inclusive = lowered->kind == RED_INCLUSIVE_SCAN,
            .begins = begins};
  red_status status = red_cl_board_reserve(run->device, run->queue, lay_out(lowered, &p));
  if (status != RED_OK) return status;
  status = red_cl_board_epoch(run->queue, &p.epoch);
  if (status != RED_OK) return status;
  p.counted = board->counted;
  uint64_t groups = (uint64_t)run->device->traits.units * run->device->tuning.scan_groups_per_unit;
  if (groups > p.tiles) groups = p.tiles;
  red_cl_rules rules = red_cl_rules_of(lowered);
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_SCAN_PIPE]};
  red_cl_arg_mem(&call, (cl_mem)exec->in);
  red_cl_arg_u64(&call, exec->in_offset);
  red_cl_arg(&call, sizeof p, &p);
  red_cl_arg_mem(&call, board->pool.memory);
  red_cl_arg(&call, sizeof rules, &rules);
  red_cl_arg_mem(&call, exec->out);
  red_cl_arg_u64(&call, exec->out_offset);
  status = red_cl_launch(run, &call, groups, RED_CL_PIPE_THREADS);
  if (status == RED_OK) board->counted += p.tiles + (uint32_t)groups; /* each work-group asks in vain once */
  return status;
}
