/* SPDX-License-Identifier: BSD-2-Clause */
/* The input of a reduction: all of a device array, or a host array in pieces that are brought to the device in turn. */
#include "device.h"

/* All of arrays on the device. */
red_cl_piece red_cl_whole(const red_cl_run *run, const red_exec *exec) {
  return (red_cl_piece){.memory = (cl_mem)exec->in,
                        .memory2 = (cl_mem)exec->in2,
                        .offset = exec->in_offset,
                        .offset2 = exec->in2_offset,
                        .first = 0,
                        .n = run->lowered->n};
}

/* Bring a piece of host arrays to the device, work on it, and let the arrays go. */
static red_status work_on_host_piece(const red_cl_run *run, const red_exec *exec, red_cl_piece part,
                                     red_cl_piece_worker *work, void *state) {
  const unsigned width = run->lowered->in_bytes;
  const uint64_t at = part.first * width, bytes = part.n * width;
  red_cl_stage stage, stage2 = {.owned = false};
  red_status status = red_cl_stage_in(run, (const char *)exec->in + exec->in_offset + at, bytes, width, &stage);
  if (status != RED_OK) return status;
  if (run->lowered->map == RED_MAP_PRODUCT)
    status = red_cl_stage_in2(run, (const char *)exec->in2 + exec->in2_offset + at, bytes, width, &stage2);
  part.memory = stage.memory;
  part.memory2 = stage2.memory;
  if (status == RED_OK) status = work(state, run, &part);
  status = red_cl_stage_end(run, &stage, status);
  return red_cl_stage_end(run, &stage2, status);
}

red_status red_cl_each_piece(const red_cl_run *run, const red_exec *exec, red_cl_piece_worker *work, void *state) {
  const red_lowered *lowered = run->lowered;
  if (lowered->in_memory == RED_DEVICE) {
    red_cl_piece all = red_cl_whole(run, exec);
    return work(state, run, &all);
  }
  uint64_t length = run->plan->piece;
  red_status status = RED_OK;
  for (uint64_t first = 0; first < lowered->n && status == RED_OK; first += length) {
    uint64_t left = lowered->n - first;
    red_cl_piece part = {.first = first, .n = left < length ? left : length};
    status = work_on_host_piece(run, exec, part, work, state);
  }
  return status;
}
