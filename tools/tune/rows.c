/* SPDX-License-Identifier: BSD-2-Clause */
/* Names are those of src/backend_omp/tuning.def, whose comments say what the rows do. */
#include "tune/tune.h"

#include <string.h>

#define SUM_OF_F32 .op = RED_SUM, .dtype = RED_F32

static const uint64_t kib = 1024, mib = 1048576, never = (uint64_t)1 << 62;

static void list(uint64_t *to, size_t most, uint64_t first, uint64_t last) {
  size_t count = 0;
  for (uint64_t value = first; value <= last && count + 1 < most; value *= 2) to[count++] = value;
  to[count] = 0;
}

static void list_around(uint64_t *to, size_t most, uint64_t first, uint64_t last) {
  list(to, most - 1, first, last);
  size_t count = 0;
  while (to[count]) count++;
  to[count] = never;
  to[count + 1] = 0;
}

size_t tune_cpu_rows(struct tune_row rows[MOST_ROWS], uint64_t last_level, unsigned threads) {
  struct tune_row *row = rows;
  memset(rows, 0, MOST_ROWS * sizeof *rows);
  *row = (struct tune_row){.name = "read_bytes_per_thread",
                           .what = "from how many bytes on a reduction starts another thread",
                           .kind = RED_REDUCE,
                           SUM_OF_F32,
                           .needs_team = true};
  list(row->candidates, MOST_CANDIDATES, 64 * kib, 4 * mib);
  list(row->sizes, MOST_SIZES, 256 * kib, 4 * mib);
  row++;
  *row = (struct tune_row){.name = "scan_bytes_per_thread",
                           .what = "from how many bytes on a scan starts another thread",
                           .kind = RED_INCLUSIVE_SCAN,
                           SUM_OF_F32,
                           .needs_team = true};
  list(row->candidates, MOST_CANDIDATES, 64 * kib, 16 * mib);
  list(row->sizes, MOST_SIZES, 256 * kib, 4 * mib);
  row++;
  *row = (struct tune_row){.name = "scan_part_bytes",
                           .what = "how much of a scan a thread does at a time",
                           .kind = RED_INCLUSIVE_SCAN,
                           SUM_OF_F32,
                           .needs_team = true};
  list(row->candidates, MOST_CANDIDATES, 32 * kib, mib);
  list(row->sizes, MOST_SIZES, 2 * mib * threads, 16 * mib * threads);
  row++;
  *row = (struct tune_row){.name = "scan_part_bytes_in_place",
                           .what = "the same, where the output replaces the input",
                           .kind = RED_INCLUSIVE_SCAN,
                           SUM_OF_F32,
                           .in_place = true,
                           .needs_team = true};
  list(row->candidates, MOST_CANDIDATES, 128 * kib, 4 * mib);
  list(row->sizes, MOST_SIZES, 4 * mib * threads, 32 * mib * threads);
  row++;
  *row = (struct tune_row){.name = "stream_bytes",
                           .what = "from how many bytes on a scan's stores go past the caches",
                           .kind = RED_INCLUSIVE_SCAN,
                           SUM_OF_F32};
  list_around(row->candidates, MOST_CANDIDATES, last_level / 8, 2 * last_level);
  list(row->sizes, MOST_SIZES, last_level / 16, last_level);
  row++;
  *row = (struct tune_row){.name = "narrow_bytes",
                           .what = "above how many bytes plain reductions use shorter vectors",
                           .kind = RED_REDUCE,
                           SUM_OF_F32};
  list_around(row->candidates, MOST_CANDIDATES, last_level / 4, 2 * last_level);
  list(row->sizes, MOST_SIZES, last_level / 4, 4 * last_level);
  return (size_t)(row + 1 - rows);
}
