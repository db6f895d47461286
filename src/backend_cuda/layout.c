/* SPDX-License-Identifier: BSD-2-Clause */
/* Workspaces: how tiles are grouped, and where the slots of each level lie behind the head and its counters. */
#include "room.h"

#define GROUP_TILES 2048u

static uint64_t round_up(uint64_t bytes) {
  return (bytes + 255) & ~(uint64_t)255;
}

/* Arrival counters that RED_CUDA_LAST needs: one for each group, level after level. */
uint64_t red_cuda_counters(uint64_t tiles, uint64_t group) {
  uint64_t counters = 0;
  for (uint64_t count = tiles; count > 1;) {
    count = (count + group - 1) / group;
    counters += count;
  }
  return counters;
}

static uint64_t least_group(const red_cuda_plan *plan) {
  return plan->stats != 0 ? RED_CUDA_STATS_LEAST : GROUP_TILES;
}

/* Tiles of a group, as few as leave half of `resident` places to blocks that do not poll. */
uint64_t red_cuda_group_tiles(const red_cuda_plan *plan, uint64_t tiles, uint64_t resident) {
  uint64_t group = least_group(plan);
  if (plan->stats == 0) return group;
  while (group < RED_CUDA_STATS_MOST && tiles / group + 2 > resident / 2) group *= 2;
  return group;
}

red_cuda_layout red_cuda_reduce_layout(const red_cuda_plan *plan, uint64_t tiles) {
  red_cuda_layout layout = {.levels = 0};
  uint64_t at = RED_CUDA_SLOTS_AT, group = least_group(plan); /* larger ones take less */
  for (uint64_t count = tiles; layout.levels < RED_CUDA_LEVELS; count = (count + group - 1) / group) {
    layout.slots[layout.levels++] = at;
    at += round_up((count + 1) * plan->slot_words * sizeof(uint64_t));
    if (count <= group) break;
  }
  layout.bytes = at;
  return layout;
}

red_cuda_layout red_cuda_scan_layout(const red_cuda_plan *plan, uint64_t tiles, unsigned group_bits) {
  red_cuda_layout layout = {.levels = 0};
  uint64_t at = RED_CUDA_SLOTS_AT;
  uint64_t last = tiles > 0 ? tiles - 1 : 0; /* the digits of the last tile's index */
  do {
    layout.slots[layout.levels++] = at;
    at += round_up((last + 1) * plan->slot_words * sizeof(uint64_t));
    last >>= layout.levels == 1 ? group_bits : RED_CUDA_SCAN_HIGH_BITS;
  } while (last > 0);
  layout.bytes = at;
  return layout;
}
