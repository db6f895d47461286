/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/roofline.h"

#include <stdio.h>

#include "report.h"

/* Below this a second thread costs more than it gains; above, prefetching and stores past the caches may gain. */
static const uint64_t bytes_of_team = 64 << 10, bytes_of_prefetch = 512 << 10;

static int run_roof(void *argument, unsigned calls) {
  const struct roof *roof = argument;
  for (unsigned i = 0; i < calls; i++)
    host_move(roof->way, roof->threads, roof->arrays->out, roof->arrays->in, roof->bytes);
  return EXIT_OK;
}

static int chill_roof(void *argument) {
  const struct roof *roof = argument;
  arrays_chill(roof->arrays);
  return EXIT_OK;
}

size_t roofs_for(struct roof roofs[MOST_ROOFS], struct contestant contestants[MOST_ROOFS], const struct arrays *arrays,
                 bool copies, uint64_t bytes, bool cold) {
  const enum host_way first = copies ? HOST_COPY : HOST_READ;
  size_t count = 0;
  bytes = (bytes + 7) / 8 * 8;
  for (int way = 0; way < 2; way++) {
    if (!host_has_way(first + (enum host_way)way) || (way > 0 && bytes < bytes_of_prefetch)) continue;
    for (int team = 0; team < 2; team++) {
      if (team && (arrays->threads < 2 || bytes < bytes_of_team)) continue;
      roofs[count] = (struct roof){first + (enum host_way)way, team ? arrays->threads : 1, arrays, bytes};
      contestants[count] = (struct contestant){
          .run = run_roof, .before = cold ? chill_roof : NULL, .single = cold, .argument = &roofs[count]};
      count++;
    }
  }
  return count;
}

double roofs_best(const struct roof *roofs, const struct contestant *contestants, size_t count, char *what,
                  size_t what_bytes) {
  double best = 0;
  for (size_t i = 0; i < count; i++) {
    const bool copies = roofs[i].way == HOST_COPY || roofs[i].way == HOST_COPY_PAST;
    const double rate = (double)roofs[i].bytes * (copies ? 2 : 1) / contestants[i].result.median;
    if (rate <= best) continue;
    best = rate;
    snprintf(what, what_bytes, "%s, %u thread%s", host_way_name(roofs[i].way), roofs[i].threads,
             roofs[i].threads == 1 ? "" : "s");
  }
  return best;
}
