/* SPDX-License-Identifier: BSD-2-Clause */
/* An OpenCL device for rooflines and the ladder; the loader is opened at run time, as the library does. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engine.h"
#include "bench/engine_opencl.def"
#include "report.h"

enum {
  MOST_PLATFORMS = 16,
  MOST_DEVICES = 16,
  MOST_KERNELS = 32,
  MOST_GROUP = 256,
  LEAST_GROUP = 16,
  LOG_BYTES = 2048
};

extern const char redtool_text_ladder_cl[], redtool_text_shuffle_cl[];

static struct {
#define X(name) __typeof__(&cl##name) name;
  REDTOOL_OPENCL_API(X)
#undef X
} cl;

struct state {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernels[MOST_KERNELS]; /* to be released */
  unsigned kernel_count;
};

static int check(cl_int error, const char *call) {
  if (error == CL_SUCCESS) return EXIT_OK;
  complain("%s failed: OpenCL error %d", call, (int)error);
  return EXIT_LIBRARY;
}

/* ---- opening ---- */

static int load(void) {
  static const struct {
    const char *name;
    void *into;
  } functions[] = {
#define X(name) {"cl" #name, &cl.name},
      REDTOOL_OPENCL_API(X)
#undef X
  };
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof functions / sizeof *functions; i++) {
    *(void **)functions[i].into = dlsym(library, functions[i].name);
    if (*(void **)functions[i].into) continue;
    complain("the OpenCL loader lacks %s", functions[i].name);
    return EXIT_LIBRARY;
  }
  if (library) return EXIT_OK;
  complain("the OpenCL loader cannot be opened: %s", dlerror());
  return EXIT_LIBRARY;
}

/* "opencl:P.D": the library counts as the loader does. */
static int find_device(const char *id, cl_platform_id *platform, cl_device_id *device) {
  cl_platform_id platforms[MOST_PLATFORMS];
  cl_device_id devices[MOST_DEVICES];
  cl_uint count = 0, p = 0, d = 0;
  if (sscanf(id, "opencl:%u.%u", &p, &d) != 2 || p >= MOST_PLATFORMS || d >= MOST_DEVICES)
    return check(CL_DEVICE_NOT_FOUND, id);
  int code = check(cl.GetPlatformIDs(MOST_PLATFORMS, platforms, &count), "clGetPlatformIDs");
  if (code || p >= count) return code ? code : check(CL_DEVICE_NOT_FOUND, id);
  code = check(cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count), "clGetDeviceIDs");
  if (code || d >= count) return code ? code : check(CL_DEVICE_NOT_FOUND, id);
  *platform = platforms[p];
  *device = devices[d];
  return EXIT_OK;
}

static bool has_extension(cl_device_id device, const char *name) {
  static char all[16384];
  const size_t length = strlen(name);
  if (cl.GetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof all, all, NULL) != CL_SUCCESS) return false;
  for (const char *at = all; (at = strstr(at, name)); at += length)
    if ((at == all || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  return false;
}

static void inspect(struct engine *engine, cl_device_id device) {
  cl_device_type type = 0;
  cl_uint units = 1;
  size_t most = LEAST_GROUP;
  cl.GetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  cl.GetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
  cl.GetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  engine->is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  engine->units = units;
  engine->shuffles = has_extension(device, "cl_intel_subgroups") ||
                     (has_extension(device, "cl_khr_subgroups") && has_extension(device, "cl_khr_subgroup_shuffle"));
  engine->group = LEAST_GROUP;
  while (engine->group < MOST_GROUP && 2 * engine->group <= most) engine->group *= 2;
}

static int build(struct engine *engine, enum engine_module module) {
  struct state *state = engine->state;
  const char *text = module == ENGINE_LADDER ? redtool_text_ladder_cl : redtool_text_shuffle_cl;
  char arguments[64], log[LOG_BYTES] = "";
  cl_int error;
  state->program = cl.CreateProgramWithSource(state->context, 1, &text, NULL, &error);
  if (error != CL_SUCCESS) return check(error, "clCreateProgramWithSource");
  snprintf(arguments, sizeof arguments, "-DGROUP=%u%s", engine->group, engine->shuffles ? " -DSHUFFLES" : "");
  error = cl.BuildProgram(state->program, 1, &state->device, arguments, NULL, NULL);
  if (error == CL_SUCCESS) return EXIT_OK;
  cl.GetProgramBuildInfo(state->program, state->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  complain("the kernels do not compile (OpenCL error %d): %.1000s", (int)error, log);
  return EXIT_LIBRARY;
}

static int open_queue(struct engine *engine, cl_platform_id platform) {
  struct state *state = engine->state;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  cl_int error;
  state->context = cl.CreateContext(properties, 1, &state->device, NULL, NULL, &error);
  if (error != CL_SUCCESS) return check(error, "clCreateContext");
  state->queue = cl.CreateCommandQueue(state->context, state->device, 0, &error);
  engine->native_context = state->context;
  engine->native_device = state->device;
  engine->native_queue = state->queue;
  return check(error, "clCreateCommandQueue");
}

static int open_engine(struct engine *engine, const char *id, enum engine_module module) {
  cl_platform_id platform = NULL;
  struct state *state = engine->state = calloc(1, sizeof *state);
  if (!state) {
    complain("out of memory for a device");
    return EXIT_LIBRARY;
  }
  int code = load();
  if (!code) code = find_device(id, &platform, &state->device);
  if (!code) {
    inspect(engine, state->device);
    code = open_queue(engine, platform);
  }
  return code ? code : build(engine, module);
}

static void close_engine(struct engine *engine) {
  struct state *state = engine->state;
  if (!state) return;
  for (unsigned i = 0; i < state->kernel_count; i++) cl.ReleaseKernel(state->kernels[i]);
  if (state->program) cl.ReleaseProgram(state->program);
  if (state->queue) cl.ReleaseCommandQueue(state->queue);
  if (state->context) cl.ReleaseContext(state->context);
  free(state);
}

/* ---- memory ---- */

static int alloc(struct engine *engine, uint64_t bytes, void **memory) {
  struct state *state = engine->state;
  cl_int error;
  *memory = cl.CreateBuffer(state->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &error);
  return check(error, "clCreateBuffer");
}

static void free_memory(struct engine *engine, void *memory) {
  (void)engine;
  if (memory) cl.ReleaseMemObject(memory);
}

static int zero(struct engine *engine, void *memory, uint64_t bytes) {
  struct state *state = engine->state;
  const cl_uint pattern = 0;
  return check(cl.EnqueueFillBuffer(state->queue, memory, &pattern, sizeof pattern, 0, (size_t)bytes, 0, NULL, NULL),
               "clEnqueueFillBuffer");
}

static int copy(struct engine *engine, void *to, void *from, uint64_t bytes) {
  struct state *state = engine->state;
  return check(cl.EnqueueCopyBuffer(state->queue, from, to, 0, 0, (size_t)bytes, 0, NULL, NULL), "clEnqueueCopyBuffer");
}

static int write_memory(struct engine *engine, void *to, const void *from, uint64_t bytes) {
  struct state *state = engine->state;
  return check(cl.EnqueueWriteBuffer(state->queue, to, CL_TRUE, 0, (size_t)bytes, from, 0, NULL, NULL),
               "clEnqueueWriteBuffer");
}

static int read_memory(struct engine *engine, void *to, void *from, uint64_t bytes) {
  struct state *state = engine->state;
  return check(cl.EnqueueReadBuffer(state->queue, from, CL_TRUE, 0, (size_t)bytes, to, 0, NULL, NULL),
               "clEnqueueReadBuffer");
}

/* ---- kernels ---- */

static int make_kernel(struct engine *engine, const char *name, void **kernel) {
  struct state *state = engine->state;
  cl_int error;
  if (state->kernel_count == MOST_KERNELS) return check(CL_OUT_OF_HOST_MEMORY, "clCreateKernel");
  *kernel = cl.CreateKernel(state->program, name, &error);
  if (error == CL_SUCCESS) state->kernels[state->kernel_count++] = *kernel;
  return check(error, "clCreateKernel");
}

static int launch(struct engine *engine, void *kernel, uint32_t groups, const struct engine_arg *args, unsigned count) {
  struct state *state = engine->state;
  const size_t local = engine->group, global = local * groups;
  for (unsigned i = 0; i < count; i++) {
    const cl_int error = cl.SetKernelArg(kernel, i, args[i].bytes, args[i].value);
    if (error != CL_SUCCESS) return check(error, "clSetKernelArg");
  }
  return check(cl.EnqueueNDRangeKernel(state->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
               "clEnqueueNDRangeKernel");
}

static int finish(struct engine *engine) {
  struct state *state = engine->state;
  return check(cl.Finish(state->queue), "clFinish");
}

const struct engine_api engine_opencl = {
    .backend = "opencl",
    .open = open_engine,
    .close = close_engine,
    .alloc = alloc,
    .free = free_memory,
    .zero = zero,
    .copy = copy,
    .write = write_memory,
    .read = read_memory,
    .kernel = make_kernel,
    .launch = launch,
    .finish = finish,
};
