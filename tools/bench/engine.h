/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device beside the library: its own kernels, copies and a queue, for rooflines and ladders. The library's context
 * can share its objects, and then both work on the same memory in the same order.
 */
#ifndef REDTOOL_BENCH_ENGINE_H
#define REDTOOL_BENCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <red/red.h>

/* An argument of a kernel: a handle of memory, or a number. */
struct engine_arg {
  size_t bytes;
  const void *value;
};

struct engine {
  const struct engine_api *api;
  void *state;
  bool is_cpu;
  bool shuffles;        /* between the lanes of a sub-group or warp */
  unsigned units;       /* multiprocessors, compute units */
  unsigned group;       /* work-items of a group, or threads of a block: a power of two */
  void *native_context; /* for red_context_options, or NULL */
  void *native_device;
  void *native_queue; /* for red_queue_wrap */
};

/* Which kernels: those of kernels/ladder.*, which rooflines share, or of kernels/shuffle.*. */
enum engine_module {
  ENGINE_LADDER,
  ENGINE_SHUFFLE,
  ENGINE_MODULES
};

/* What each kind of device does; all return an exit status, and have complained. Work is enqueued, in order. */
struct engine_api {
  const char *backend;
  int (*open)(struct engine *engine, const char *id, enum engine_module module);
  void (*close)(struct engine *engine);
  int (*alloc)(struct engine *engine, uint64_t bytes, void **memory);
  void (*free)(struct engine *engine, void *memory);
  int (*zero)(struct engine *engine, void *memory, uint64_t bytes);
  int (*copy)(struct engine *engine, void *to, void *from, uint64_t bytes);
  /* Blocking. */
  int (*write)(struct engine *engine, void *to, const void *from, uint64_t bytes);
  int (*read)(struct engine *engine, void *to, void *from, uint64_t bytes);
  int (*kernel)(struct engine *engine, const char *name, void **kernel);
  int (*launch)(struct engine *engine, void *kernel, uint32_t groups, const struct engine_arg *args, unsigned count);
  /* As many groups as can run at the same time, at most `groups`; NULL where nothing promises that they do. */
  int (*launch_together)(struct engine *engine, void *kernel, uint32_t groups, const struct engine_arg *args,
                         unsigned count);
  int (*finish)(struct engine *engine);
};

/* Those that this build has; NULL at the end. */
extern const struct engine_api *const engine_apis[];

/* Open the device of a library's id: "opencl:0.0", "cuda:1". Without an engine for it: EXIT_LIBRARY and a sentence. */
int engine_open(struct engine *engine, const red_device_info *info, enum engine_module module);
bool engine_exists(const red_device_info *info);
/* Accepts a zeroed engine. */
void engine_close(struct engine *engine);

#endif
