/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "report.h"

enum {
  ID_BYTES = 64
};

static const uint64_t scratch_bytes = (uint64_t)256 << 20; /* twice the caches of the GPUs of today */

/* ---- opening ---- */

/* The library's context again, on objects that it shares with the engine. */
static int share_with_engine(struct bench_device *device) {
  const int code = engine_open(&device->engine, &device->info, ENGINE_LADDER);
  if (code) return code;
  const red_context_options wish = {.size = sizeof wish,
                                    .backend = device->info.id,
                                    .native_context = device->engine.native_context,
                                    .native_device = device->engine.native_device};
  red_context_destroy(device->context);
  device->context = NULL;
  red_status status = red_context_create(&wish, &device->context);
  if (!status) status = red_queue_wrap(device->context, device->engine.native_queue, &device->queue);
  return status ? library_error(status) : EXIT_OK;
}

static int open_queue(struct bench_device *device) {
  if (device->on_host) return EXIT_OK;
  if (engine_exists(&device->info)) return share_with_engine(device);
  const red_status status = red_queue_create(device->context, &device->queue);
  return status ? library_error(status) : EXIT_OK;
}

static int open_device(struct bench_devices *devices, const char *id, unsigned threads) {
  struct bench_device *list = realloc(devices->list, (devices->count + 1) * sizeof *list);
  if (!list) {
    complain("out of memory for a list of %zu devices", devices->count + 1);
    return EXIT_LIBRARY;
  }
  devices->list = list;
  struct bench_device *device = &list[devices->count];
  memset(device, 0, sizeof *device);
  device->info.size = sizeof device->info;
  const red_context_options wish = {.size = sizeof wish, .backend = id, .threads = threads};
  red_status status = red_context_create(&wish, &device->context);
  devices->count++;
  if (!status) status = red_context_device(device->context, RED_HOST, &device->info);
  device->on_host = strcmp(device->info.backend, "omp") == 0;
  return status ? library_error(status) : open_queue(device);
}

/* The next entry of a comma-separated list; false at its end. */
static bool next_entry(const char **list, char entry[ID_BYTES]) {
  if (!*list) return false;
  const size_t length = strcspn(*list, ",");
  snprintf(entry, ID_BYTES, "%.*s", (int)length, *list);
  *list = (*list)[length] ? *list + length + 1 : NULL;
  return true;
}

/* Whether -NAME in the list stands for this device: "-opencl", "-opencl:0.1". */
static bool is_excluded(const char *list, const red_device_info *info) {
  char entry[ID_BYTES];
  while (next_entry(&list, entry))
    if (entry[0] == '-' && (strcmp(entry + 1, info->id) == 0 || strcmp(entry + 1, info->backend) == 0)) return true;
  return false;
}

/* Entries that name a device to take. */
static size_t count_named(const char *list) {
  char entry[ID_BYTES];
  size_t count = 0;
  while (next_entry(&list, entry))
    if (entry[0] != '-') count++;
  return count;
}

static int open_all(struct bench_devices *devices, const char *list, unsigned threads) {
  struct devices all;
  int code = devices_list(&all);
  if (code) return code;
  for (size_t i = 0; i < all.count && !code; i++)
    if (all.list[i].available && !is_excluded(list, &all.list[i])) code = open_device(devices, all.list[i].id, threads);
  devices_free(&all);
  return code;
}

static int open_named(struct bench_devices *devices, const char *list, unsigned threads) {
  char entry[ID_BYTES];
  int code = EXIT_OK;
  while (!code && next_entry(&list, entry))
    if (entry[0] != '-')
      code = *entry ? open_device(devices, entry, threads) : usage_error("--backend: an empty entry");
  return code;
}

int bench_devices_open(struct bench_devices *devices, const char *list, unsigned threads) {
  if (list && !*list) return usage_error("--backend is empty, it takes names of devices");
  int code = count_named(list) ? open_named(devices, list, threads) : open_all(devices, list, threads);
  if (!code && devices->count == 0) {
    complain("--backend %s leaves no device", list);
    code = EXIT_LIBRARY;
  }
  return code;
}

void bench_devices_close(struct bench_devices *devices) {
  for (size_t i = 0; i < devices->count; i++) {
    struct bench_device *device = &devices->list[i];
    red_plan_destroy(device->sweep);
    red_queue_destroy(device->queue);
    if (device->scratch) red_free(device->context, device->scratch);
    red_context_destroy(device->context);
    engine_close(&device->engine);
  }
  free(devices->list);
  devices->list = NULL;
  devices->count = 0;
}

struct bench_device *bench_devices_find(const struct bench_devices *devices, const char *id) {
  for (size_t i = 0; i < devices->count; i++)
    if (strcmp(devices->list[i].info.id, id) == 0) return &devices->list[i];
  return NULL;
}

const struct bench_device *bench_devices_host(const struct bench_devices *devices) {
  for (size_t i = 0; i < devices->count; i++)
    if (devices->list[i].on_host) return &devices->list[i];
  return NULL;
}

/* ---- cold caches ---- */

static red_status prepare_sweep(struct bench_device *device) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_BXOR, RED_U64, scratch_bytes / 8);
  problem.in_memory = RED_DEVICE;
  red_status status = red_alloc(device->context, scratch_bytes, &device->scratch);
  if (!status) status = red_plan_create(device->context, &problem, &device->sweep);
  return status;
}

int bench_device_chill(struct bench_device *device) {
  uint64_t ignored;
  red_status status = device->sweep ? RED_OK : prepare_sweep(device);
  if (!status) status = red_plan_execute(device->sweep, device->queue, device->scratch, &ignored);
  if (!status) status = red_queue_finish(device->queue);
  return status ? library_error(status) : EXIT_OK;
}
