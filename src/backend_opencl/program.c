/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs: building, and keeping what was built. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

static const char *const kernel_names[RED_CL_KERNELS] = {
    [RED_CL_REDUCE_CHUNKS] = "red_reduce_chunks",
    [RED_CL_REDUCE_NODES] = "red_reduce_nodes",
    [RED_CL_REDUCE_FINISH] = "red_reduce_finish",
    [RED_CL_SCAN_TOTALS] = "red_scan_totals",
    [RED_CL_SCAN_STARTS] = "red_scan_starts",
    [RED_CL_SCAN_NODE_TOTALS] = "red_scan_node_totals",
    [RED_CL_SCAN_NODE_TILES] = "red_scan_node_tiles",
    [RED_CL_SCAN_TILES] = "red_scan_tiles",
    [RED_CL_SCAN_PASS] = "red_scan_pass",
    [RED_CL_SCAN_PIPE] = "red_scan_pipe",
    [RED_CL_STATS_CHUNKS] = "red_stats_chunks",
    [RED_CL_STATS_NODES] = "red_stats_nodes",
    [RED_CL_STATS_FINISH] = "red_stats_finish",
    [RED_CL_EXACT_BINS] = "red_exact_bins",
    [RED_CL_EXACT_MERGE] = "red_exact_merge",
    [RED_CL_EXACT_FINISH] = "red_exact_finish",
};

/* ---- Building ---- */

/* However long it is: drivers refuse a shorter buffer. To be freed; NULL if there is none. */
static char *build_log(const red_cl_device *device, cl_program program) {
  size_t bytes = 0;
  cl_device_id id = device->traits.device;
  if (red_cl.GetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS) return NULL;
  char *log = calloc(1, bytes + 1);
  if (log == NULL) return NULL;
  if (red_cl.GetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) == CL_SUCCESS) return log;
  free(log);
  return NULL;
}

/* The first lines of the build log, as one line. */
static red_status fail_with_log(const red_cl_device *device, cl_program program, cl_int error) {
  char *log = build_log(device, program), lines[480];
  size_t used = 0;
  unsigned breaks = 0;
  for (const char *at = log; at != NULL && *at != '\0' && used + 1 < sizeof lines && breaks < 4; at++) {
    bool line_end = *at == '\n';
    if (line_end && used == 0) continue;
    breaks += line_end;
    lines[used++] = line_end ? ' ' : *at;
  }
  lines[used] = '\0';
  free(log);
  return red_fail(RED_ERR_DRIVER, "the OpenCL compiler of %s failed: %s (%d): %s", device->traits.id,
                  red_cl_error_name(error), (int)error,
                  used > 0 ? lines : "it gave no log; is the driver's own cache directory writable?");
}

static red_status build(const red_cl_device *device, const red_cl_source *source, cl_program *program) {
  cl_int error;
  cl_program made =
      red_cl.CreateProgramWithSource(device->context, source->count, (const char **)source->texts, NULL, &error);
  if (error != CL_SUCCESS) return red_cl_check(error, "clCreateProgramWithSource");
  red_log("%s: building a program with %s", device->traits.id, source->options);
  error = red_cl.BuildProgram(made, 1, &device->traits.device, source->options, NULL, NULL);
  if (error != CL_SUCCESS) {
    red_status status = fail_with_log(device, made, error);
    red_cl.ReleaseProgram(made);
    return status;
  }
  *program = made;
  return RED_OK;
}

/* NULL if there is no binary or the driver does not want it: then the source is built. */
static cl_program load(const red_cl_device *device, const red_cl_cache_entry *entry, const char *options) {
  size_t bytes;
  unsigned char *binary = red_cl_cache_load(entry, &bytes);
  if (binary == NULL) return NULL;
  cl_int error, verdict = CL_SUCCESS;
  cl_program program = red_cl.CreateProgramWithBinary(device->context, 1, &device->traits.device, &bytes,
                                                      (const unsigned char **)&binary, &verdict, &error);
  free(binary);
  if (error == CL_SUCCESS && verdict == CL_SUCCESS)
    error = red_cl.BuildProgram(program, 1, &device->traits.device, options, NULL, NULL);
  if (error == CL_SUCCESS && verdict == CL_SUCCESS) return program;
  red_log("%s: a cached program was refused (%s): built again", device->traits.id, red_cl_error_name(error));
  if (program != NULL) red_cl.ReleaseProgram(program);
  return NULL;
}

static void keep_binary(const red_cl_cache_entry *entry, cl_program program) {
  cl_uint devices = 0;
  size_t bytes = 0;
  if (entry->path == NULL) return;
  if (red_cl.GetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL) != CL_SUCCESS) return;
  if (devices != 1) return; /* an application's context of several devices: the binaries are not ours to sort out */
  if (red_cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS) return;
  unsigned char *binary = bytes > 0 ? malloc(bytes) : NULL;
  if (binary == NULL) return;
  if (red_cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
    red_cl_cache_store(entry, binary, bytes);
  free(binary);
}

/* NVIDIA's driver says 1 for a kernel that uses none. */
#define NO_LOCAL_MEMORY 1u

/* The compiler may leave a kernel less than the device has for others. What a driver does not tell is no limit. */
static red_status check_kernel(const red_cl_device *device, cl_kernel kernel, const char *name) {
  const red_cl_traits *traits = &device->traits;
  size_t needed[3] = {0}, most = 0;
  cl_ulong local = 0;
  red_cl.GetKernelWorkGroupInfo(kernel, traits->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof needed, needed, NULL);
  red_cl.GetKernelWorkGroupInfo(kernel, traits->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  red_cl.GetKernelWorkGroupInfo(kernel, traits->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
  if (most > 0 && needed[0] > most)
    return red_fail(RED_ERR_UNSUPPORTED, "%s (%s) runs %s in work-groups of %zu at most, it needs %zu", traits->id,
                    traits->name, name, most, needed[0]);
  if (local > traits->local_memory && local > NO_LOCAL_MEMORY)
    return red_fail(RED_ERR_UNSUPPORTED, "%s (%s) has %llu bytes of local memory, %s needs %llu", traits->id,
                    traits->name, (unsigned long long)traits->local_memory, name, (unsigned long long)local);
  return RED_OK;
}

static red_status make_kernels(const red_cl_device *device, red_cl_program *program) {
  bool any = false;
  for (int k = 0; k < RED_CL_KERNELS; k++) {
    cl_int error;
    program->kernels[k] = red_cl.CreateKernel(program->program, kernel_names[k], &error);
    if (error == CL_INVALID_KERNEL_NAME) {
      program->kernels[k] = NULL;
      continue;
    }
    if (error != CL_SUCCESS) return red_cl_check(error, "clCreateKernel");
    red_status status = check_kernel(device, program->kernels[k], kernel_names[k]);
    if (status != RED_OK) return status;
    any = true;
  }
  return any ? RED_OK : red_fail(RED_ERR_DRIVER, "the OpenCL program has none of its kernels");
}

static void release_kernels(red_cl_program *program) {
  for (int k = 0; k < RED_CL_KERNELS; k++) {
    if (program->kernels[k] != NULL) red_cl.ReleaseKernel(program->kernels[k]);
    program->kernels[k] = NULL;
  }
  if (program->program != NULL) red_cl.ReleaseProgram(program->program);
  program->program = NULL;
}

static void release_program(red_cl_program *program) {
  release_kernels(program);
  free(program->options);
  free(program);
}

/* From the cache, or built and kept there. */
static red_status load_or_build(const red_cl_device *device, const red_cl_source *source, red_cl_program *program) {
  red_cl_cache_entry entry = {.path = NULL};
  if (device->traits.gives_binaries)
    red_cl_cache_locate(&device->traits, source->texts, source->count, source->options, &entry);
  program->program = load(device, &entry, source->options);
  red_status status = program->program != NULL ? make_kernels(device, program) : RED_ERR_DRIVER;
  if (status == RED_ERR_DRIVER) {
    if (program->program != NULL)
      red_log("%s: a cached program has no kernels (%s): built again", device->traits.id, red_last_error());
    release_kernels(program);
    status = build(device, source, &program->program);
    if (status == RED_OK) status = make_kernels(device, program);
    if (status == RED_OK) keep_binary(&entry, program->program);
  }
  red_cl_cache_release(&entry);
  return status;
}

static red_status make_program(const red_cl_device *device, const red_cl_source *source, red_cl_program **made) {
  red_cl_program *program = calloc(1, sizeof *program);
  if (program != NULL) program->options = strdup(source->options);
  if (program == NULL || program->options == NULL) {
    free(program);
    return red_fail(RED_ERR_NO_MEMORY, "no memory for a program");
  }
  red_status status = load_or_build(device, source, program);
  if (status != RED_OK) {
    release_program(program);
    return status;
  }
  *made = program;
  return RED_OK;
}

red_status red_cl_program_get(red_cl_device *device, const red_lowered *lowered, red_cl_part part,
                              red_cl_program **program) {
  red_cl_source source;
  red_cl_source_of(device, lowered, part, &source);
  red_status status = RED_OK;
  pthread_mutex_lock(&device->build);
  red_cl_program *at = device->programs;
  while (at != NULL && (at->part != part || strcmp(at->options, source.options) != 0)) at = at->next;
  if (at == NULL) {
    status = make_program(device, &source, &at);
    if (status == RED_OK) {
      at->part = part;
      at->next = device->programs;
      device->programs = at;
    }
  }
  pthread_mutex_unlock(&device->build);
  if (status == RED_OK) *program = at;
  return status;
}

void red_cl_programs_release(red_cl_device *device) {
  while (device->programs != NULL) {
    red_cl_program *program = device->programs;
    device->programs = program->next;
    release_program(program);
  }
}
