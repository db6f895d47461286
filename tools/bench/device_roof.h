/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain reads and copies of a device's memory, by kernels and copies of the tool's own. */
#ifndef REDTOOL_BENCH_DEVICE_ROOF_H
#define REDTOOL_BENCH_DEVICE_ROOF_H

#include "bench/device.h"
#include "bench/sampling.h"

struct device_roof {
  struct bench_device *device;
  void *from, *to; /* memory of the device; reads write at most a word */
  bool copies;
  uint64_t bytes; /* that are read, and by a copy written too */
  uint32_t groups, quads;
  int (*before)(void *argument); /* each turn */
  void *argument;
};

/*
 * Whether the device can read (or copy) `bytes` of `from`; a kernel that reads may leave out the last few bytes, and
 * counts what it reads. An exit status; `bytes` of the roof is 0 if it cannot.
 */
int device_roof_prepare(struct device_roof *roof, struct bench_device *device, void *from, void *to, bool copies,
                        uint64_t bytes);

/* A contestant's run; its argument is the roof. */
int device_roof_run(void *roof, unsigned calls);
int device_roof_before(void *roof);

/* Bytes moved a second, by the median of a turn. */
double device_roof_rate(const struct device_roof *roof, const struct quartiles *time);

#endif
