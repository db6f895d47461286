/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices that are measured side by side, each with a context and a queue of its own. */
#ifndef REDTOOL_BENCH_DEVICE_H
#define REDTOOL_BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <red/red.h>

#include "bench/engine.h"
#include "options.h"

struct bench_device {
  red_device_info info;
  red_context *context;
  bool on_host;         /* the CPU backend: it works on arrays in host memory */
  red_queue *queue;     /* the engine's, if there is one */
  struct engine engine; /* for rooflines; without an api where the build has none for this device */
  void *read_kernel;    /* the engine's, once it is needed */
  /* For cold samples on a device: a reduction of memory that the case does not use. */
  red_plan *sweep;
  void *scratch;
};

struct bench_devices {
  struct bench_device *list;
  size_t count;
};

/* All available devices, or each entry of `list` (as --backend has it; -NAME leaves one out of all). */
int bench_devices_open(struct bench_devices *devices, const char *list, unsigned threads);
void bench_devices_close(struct bench_devices *devices);

/* The CPU backend among them; NULL if there is none. */
const struct bench_device *bench_devices_host(const struct bench_devices *devices);

/* The device of an id; NULL if it is not among them. */
struct bench_device *bench_devices_find(const struct bench_devices *devices, const char *id);

/* Read other memory of the device, so that its caches hold nothing of the case. An exit status. */
int bench_device_chill(struct bench_device *device);

#endif
