/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CUDA device for rooflines and the ladder; the driver is opened at run time, its primary context is the library's.
 */
#include <cuda.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/engine.h"
#include "bench/engine_cuda.def"
#include "report.h"

enum {
  GROUP = 256, /* as in kernels/ladder.cu */
  MOST_ARGS = 8
};

extern const char redtool_fatbin_ladder[], redtool_fatbin_shuffle[];

static struct {
#define X(member, symbol, parameters) CUresult(*member) parameters;
  REDTOOL_CUDA_API(X)
#undef X
} cu;

struct state {
  CUdevice device;
  CUcontext context; /* NULL: not retained */
  CUstream stream;
  CUmodule module;
};

static int check(CUresult error, const char *call) {
  const char *name = NULL;
  if (error == CUDA_SUCCESS) return EXIT_OK;
  cu.GetErrorName(error, &name);
  complain("%s failed: %s", call, name ? name : "an error that this driver has no name for");
  return EXIT_LIBRARY;
}

/* ---- opening ---- */

static int load(void) {
  static const struct {
    const char *symbol;
    void *into;
  } functions[] = {
#define X(member, symbol, parameters) {symbol, &cu.member},
      REDTOOL_CUDA_API(X)
#undef X
  };
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof functions / sizeof *functions; i++) {
    *(void **)functions[i].into = dlsym(library, functions[i].symbol);
    if (*(void **)functions[i].into) continue;
    complain("the driver is too old: libcuda.so.1 lacks %s", functions[i].symbol);
    return EXIT_LIBRARY;
  }
  if (library) return check(cu.Init(0), "cuInit");
  complain("no driver: %s", dlerror());
  return EXIT_LIBRARY;
}

static int open_device(struct engine *engine, const char *id) {
  struct state *state = engine->state;
  int ordinal = 0, units = 1;
  if (sscanf(id, "cuda:%d", &ordinal) != 1) ordinal = -1;
  int code = check(cu.DeviceGet(&state->device, ordinal), "cuDeviceGet");
  if (!code)
    code = check(cu.DeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, state->device),
                 "cuDeviceGetAttribute");
  if (!code) code = check(cu.DevicePrimaryCtxRetain(&state->context, state->device), "cuDevicePrimaryCtxRetain");
  if (!code) code = check(cu.CtxSetCurrent(state->context), "cuCtxSetCurrent");
  engine->units = (unsigned)units;
  return code;
}

static int open_engine(struct engine *engine, const char *id, enum engine_module module) {
  const char *image = module == ENGINE_LADDER ? redtool_fatbin_ladder : redtool_fatbin_shuffle;
  struct state *state = engine->state = calloc(1, sizeof *state);
  if (!state) {
    complain("out of memory for a device");
    return EXIT_LIBRARY;
  }
  engine->shuffles = true;
  engine->group = GROUP;
  int code = load();
  if (!code) code = open_device(engine, id);
  if (!code) code = check(cu.StreamCreate(&state->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (!code) code = check(cu.ModuleLoadData(&state->module, image), "cuModuleLoadData");
  engine->native_queue = state->stream;
  return code;
}

static void close_engine(struct engine *engine) {
  struct state *state = engine->state;
  if (!state) return;
  if (state->module) cu.ModuleUnload(state->module);
  if (state->stream) cu.StreamDestroy(state->stream);
  if (state->context) {
    cu.CtxSetCurrent(NULL);
    cu.DevicePrimaryCtxRelease(state->device);
  }
  free(state);
}

/* ---- memory: an address in a pointer, as the library has it ---- */

static CUdeviceptr address(const void *memory) {
  return (CUdeviceptr)(uintptr_t)memory;
}

static int alloc(struct engine *engine, uint64_t bytes, void **memory) {
  CUdeviceptr at = 0;
  (void)engine;
  const int code = check(cu.MemAlloc(&at, (size_t)bytes), "cuMemAlloc");
  *memory = (void *)(uintptr_t)at;
  return code;
}

static void free_memory(struct engine *engine, void *memory) {
  (void)engine;
  if (memory) cu.MemFree(address(memory));
}

static int finish(struct engine *engine) {
  const struct state *state = engine->state;
  return check(cu.StreamSynchronize(state->stream), "cuStreamSynchronize");
}

static int zero(struct engine *engine, void *memory, uint64_t bytes) {
  const struct state *state = engine->state;
  return check(cu.MemsetD8Async(address(memory), 0, (size_t)bytes, state->stream), "cuMemsetD8Async");
}

static int copy(struct engine *engine, void *to, void *from, uint64_t bytes) {
  const struct state *state = engine->state;
  return check(cu.MemcpyDtoDAsync(address(to), address(from), (size_t)bytes, state->stream), "cuMemcpyDtoDAsync");
}

static int write_memory(struct engine *engine, void *to, const void *from, uint64_t bytes) {
  const struct state *state = engine->state;
  const int code = check(cu.MemcpyHtoDAsync(address(to), from, (size_t)bytes, state->stream), "cuMemcpyHtoDAsync");
  return code ? code : finish(engine);
}

static int read_memory(struct engine *engine, void *to, void *from, uint64_t bytes) {
  const struct state *state = engine->state;
  const int code = check(cu.MemcpyDtoHAsync(to, address(from), (size_t)bytes, state->stream), "cuMemcpyDtoHAsync");
  return code ? code : finish(engine);
}

/* ---- kernels ---- */

static int find_kernel(struct engine *engine, const char *name, void **kernel) {
  const struct state *state = engine->state;
  CUfunction function = NULL;
  const int code = check(cu.ModuleGetFunction(&function, state->module, name), "cuModuleGetFunction");
  *kernel = function;
  return code;
}

/* The driver copies each argument's value, of the size that the kernel declares. */
static int launch(struct engine *engine, void *kernel, uint32_t groups, const struct engine_arg *args, unsigned count) {
  const struct state *state = engine->state;
  void *values[MOST_ARGS];
  for (unsigned i = 0; i < count && i < MOST_ARGS; i++) values[i] = (void *)(uintptr_t)args[i].value;
  return check(cu.LaunchKernel(kernel, groups, 1, 1, GROUP, 1, 1, 0, state->stream, values, NULL), "cuLaunchKernel");
}

static int launch_together(struct engine *engine, void *kernel, uint32_t groups, const struct engine_arg *args,
                           unsigned count) {
  const struct state *state = engine->state;
  void *values[MOST_ARGS];
  int blocks = 0;
  const int code = check(cu.OccupancyMaxActiveBlocks(&blocks, kernel, GROUP, 0), "cuOccupancyMaxActiveBlocks");
  if (code) return code;
  const uint32_t held = (uint32_t)blocks * engine->units;
  for (unsigned i = 0; i < count && i < MOST_ARGS; i++) values[i] = (void *)(uintptr_t)args[i].value;
  return check(
      cu.LaunchCooperativeKernel(kernel, groups < held ? groups : held, 1, 1, GROUP, 1, 1, 0, state->stream, values),
      "cuLaunchCooperativeKernel");
}

const struct engine_api engine_cuda = {
    .backend = "cuda",
    .open = open_engine,
    .close = close_engine,
    .alloc = alloc,
    .free = free_memory,
    .zero = zero,
    .copy = copy,
    .write = write_memory,
    .read = read_memory,
    .kernel = find_kernel,
    .launch = launch,
    .launch_together = launch_together,
    .finish = finish,
};
