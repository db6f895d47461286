/* SPDX-License-Identifier: BSD-2-Clause */
/* The first table of `redtool bench`: what each memory gives. */
#include <stdio.h>

#include "bench/device_roof.h"
#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/roofline.h"
#include "report.h"

static const uint64_t device_bytes = (uint64_t)256 << 20; /* of an array: more than the caches of the GPUs of today */

static struct roofline *add(struct bench *bench, const struct bench_device *device, const char *memory,
                            uint64_t bytes) {
  if (bench->table.roofline_count == MOST_ROOFLINES) return NULL;
  struct roofline *r = &bench->table.rooflines[bench->table.roofline_count++];
  snprintf(r->memory, sizeof r->memory, "%s", memory);
  snprintf(r->device, sizeof r->device, "%s", device->info.id);
  r->bytes = bytes;
  return r;
}

/* ---- the CPU ---- */

static int measure_roof(struct bench *bench, bool copies, uint64_t bytes, double *best) {
  struct roof roofs[MOST_ROOFS];
  struct contestant contestants[MOST_ROOFS];
  char what[48];
  const struct sampling sampling = {bench->samples, bench->seconds};
  const size_t count = roofs_for(roofs, contestants, &bench->arrays, copies, bytes, false);
  const int code = sampling_measure(contestants, count, &sampling);
  if (!code) *best = roofs_best(roofs, contestants, count, what, sizeof what);
  return code;
}

static int measure_level(struct bench *bench, const struct bench_device *host, const char *memory, uint64_t bytes) {
  struct roofline *r = add(bench, host, memory, bytes);
  if (!r) return EXIT_OK;
  int code = measure_roof(bench, false, bytes, &r->read);
  if (!code) code = measure_roof(bench, true, bytes / 2, &r->copy); /* as much cache for both arrays together */
  return code;
}

/* Half of a level: what fits in it surely. The first two levels are each core's own. */
static uint64_t bytes_within(const struct bench *bench, unsigned level) {
  return machine_cache(level) / 2 * (level < 3 ? bench->threads : 1);
}

static int measure_host(struct bench *bench, const struct bench_device *host) {
  static const char *const names[] = {"L1", "L2", "L3", "L4"};
  int code = EXIT_OK;
  for (unsigned level = 1; level <= 4 && !code; level++) {
    const uint64_t bytes = bytes_within(bench, level);
    if (bytes && bytes <= bench->arrays.in_bytes) code = measure_level(bench, host, names[level - 1], bytes);
  }
  return code ? code : measure_level(bench, host, "memory", bench->arrays.in_bytes);
}

/* ---- other devices ---- */

static int measure_arrays(struct bench *bench, struct bench_device *device, void *from, void *to, uint64_t bytes) {
  struct roofline *r = add(bench, device, "memory", bytes);
  struct device_roof roofs[2];
  struct contestant contestants[2];
  const struct sampling sampling = {bench->samples, bench->seconds};
  /* Pages that nobody wrote are all the same page, which lies in cache. */
  int code = device->engine.api->zero(&device->engine, from, bytes);
  if (!code) code = device->engine.api->zero(&device->engine, to, bytes);
  for (int copies = 0; copies < 2 && !code; copies++) {
    code = device_roof_prepare(&roofs[copies], device, from, to, copies, bytes);
    contestants[copies] = (struct contestant){.run = device_roof_run, .argument = &roofs[copies]};
  }
  if (!code) code = sampling_measure(contestants, 2, &sampling);
  if (code || !r) return code;
  r->read = device_roof_rate(&roofs[0], &contestants[0].result);
  r->copy = device_roof_rate(&roofs[1], &contestants[1].result);
  return EXIT_OK;
}

static int measure_device(struct bench *bench, struct bench_device *device) {
  const uint64_t bytes = device->engine.is_cpu ? bench->arrays.in_bytes : device_bytes;
  void *from = NULL, *to = NULL;
  red_status status = red_alloc(device->context, bytes, &from);
  if (!status) status = red_alloc(device->context, bytes, &to);
  const int code = status ? library_error(status) : measure_arrays(bench, device, from, to, bytes);
  red_free(device->context, from);
  red_free(device->context, to);
  return code;
}

int measure_rooflines(struct bench *bench) {
  int code = EXIT_OK;
  for (size_t i = 0; i < bench->devices.count && !code; i++) {
    struct bench_device *device = &bench->devices.list[i];
    if (device->on_host)
      code = measure_host(bench, device);
    else if (device->engine.api)
      code = measure_device(bench, device);
  }
  return code;
}
