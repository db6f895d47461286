/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of src/backend_cuda/tuning.def and src/backend_opencl/tuning.def, whose comments say what they do. */
#include <string.h>

#include "tune/tune.h"

#define KIB   ((uint64_t)1 << 10)
#define MIB   ((uint64_t)1 << 20)
#define NEVER ((uint64_t)1 << 62)

#define SUM  .kind = RED_REDUCE, .op = RED_SUM, .dtype = RED_F32
#define SCAN .kind = RED_INCLUSIVE_SCAN, .op = RED_SUM

static const struct tune_row cuda_rows[] = {
    {.name = "stream_bytes",
     .what = "up to how many bytes a reduction's loads leave the caches alone",
     SUM,
     .candidates = {1, 32 * MIB, 64 * MIB, 128 * MIB, 512 * MIB, 1024 * MIB, NEVER},
     .sizes = {16 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB}},
    {.name = "poll_bytes",
     .what = "up to how many bytes blocks wait for each other's results",
     SUM,
     .candidates = {1, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB},
     .sizes = {256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB}},
    {.name = "far_bytes",
     .what = "from how many bytes on arg operators look for places at the end",
     .kind = RED_REDUCE,
     .op = RED_ARGMAX,
     .dtype = RED_F32,
     .candidates = {8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 256 * MIB, 512 * MIB, NEVER},
     .sizes = {16 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB}},
    {.name = "scan_pipe_bytes",
     .what = "from how many bytes on scans go through the pipeline",
     SCAN,
     .dtype = RED_F32,
     .candidates = {MIB, 2 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, NEVER},
     .sizes = {MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB}},
    {.name = "scan_pipe_bytes_narrow",
     .what = "the same, of narrow elements",
     SCAN,
     .dtype = RED_BF16,
     .candidates = {512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, NEVER},
     .sizes = {256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB}},
    {.name = "scan_places",
     .what = "tiles under way in the pipeline of a multiprocessor",
     SCAN,
     .dtype = RED_F32,
     .candidates = {2, 3, 4, 5, 6, 7},
     .sizes = {16 * MIB, 64 * MIB, 256 * MIB}},
    {.name = "host_piece_bytes",
     .what = "pieces of an array in host memory",
     SUM,
     .in_host_memory = true,
     .candidates = {2 * MIB, 4 * MIB, 8 * MIB, 32 * MIB, 64 * MIB},
     .sizes = {32 * MIB, 128 * MIB}},
};

static const struct tune_row opencl_rows[] = {
    {.name = "work_items",
     .what = "work-items of a group",
     SUM,
     .candidates = {32, 64, 128},
     .sizes = {MIB, 16 * MIB, 128 * MIB}},
    {.name = "reduce_runs_per_unit",
     .what = "work-groups of a reduction for each compute unit",
     SUM,
     .candidates = {1, 2, 4, 8, 32, 64, 128},
     .sizes = {MIB, 4 * MIB, 16 * MIB, 64 * MIB}},
    {.name = "scan_groups_per_unit",
     .what = "work-groups of a scan for each compute unit",
     SCAN,
     .dtype = RED_F32,
     .candidates = {1, 2, 3, 5, 6, 8},
     .sizes = {16 * MIB, 64 * MIB, 256 * MIB}},
    {.name = "scan_part_bytes",
     .what = "how much of a scan a work-item does at a time",
     SCAN,
     .dtype = RED_F32,
     .candidates = {32 * KIB, 64 * KIB, 128 * KIB, 512 * KIB, MIB},
     .sizes = {4 * MIB, 16 * MIB, 64 * MIB}},
    {.name = "scan_stream_bytes",
     .what = "from how many bytes on a scan's stores go past the caches",
     SCAN,
     .dtype = RED_F32,
     .candidates = {256 * KIB, 512 * KIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, NEVER},
     .sizes = {256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 16 * MIB}},
    {.name = "host_piece_bytes",
     .what = "pieces of an array in host memory",
     SUM,
     .in_host_memory = true,
     .candidates = {8 * MIB, 16 * MIB, 32 * MIB, 128 * MIB},
     .sizes = {64 * MIB, 128 * MIB}},
};

static size_t copy(struct tune_row *rows, const struct tune_row *list, size_t count) {
  memcpy(rows, list, count * sizeof *list);
  return count;
}

size_t tune_device_rows(struct tune_row rows[MOST_ROWS], const char *backend) {
  if (strcmp(backend, "cuda") == 0) return copy(rows, cuda_rows, sizeof cuda_rows / sizeof *cuda_rows);
  if (strcmp(backend, "opencl") == 0) return copy(rows, opencl_rows, sizeof opencl_rows / sizeof *opencl_rows);
  return 0;
}
