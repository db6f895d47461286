/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernels: compiled code that the build embedded, loaded a module at a time when a plan first needs it. */
#include "room.h"

#include <stdio.h>

#define M(name) extern const unsigned char red_cuda_fatbin_##name[];
RED_CUDA_MODULES(M)
#undef M

static const struct {
  const char *name;
  const unsigned char *image;
} modules[] = {
#define M(name) {#name, red_cuda_fatbin_##name},
    RED_CUDA_MODULES(M)
#undef M
};

static const struct {
  const char *name;
  red_cuda_module module;
} kernels[] = {{"", RED_CUDA_MODULE_COUNT},
#define K(name, module) {#name, RED_CUDA_MODULE_##module},
               RED_CUDA_KERNELS(K)
#undef K
};

static red_status load_module(red_cuda_device *device, red_cuda_module module) {
  if (device->modules[module] != NULL) return RED_OK;
  char doing[96];
  snprintf(doing, sizeof doing, "loading the kernels %s for compute capability %u.%u", modules[module].name,
           device->capability / 10, device->capability % 10);
  return red_cuda_check(red_cu.ModuleLoadData(&device->modules[module], modules[module].image), doing);
}

static bool is_pipeline(red_cuda_kernel kernel) {
  unsigned module = kernels[kernel].module;
  return module == RED_CUDA_MODULE_scan_pipe || module == RED_CUDA_MODULE_scan_pipe_narrow ||
         module == RED_CUDA_MODULE_scan_pipe_wide || module == RED_CUDA_MODULE_scan_pipe_other ||
         module == RED_CUDA_MODULE_scan_pipe_flags;
}

/* Columns in shared memory: as many blocks as fit when all of the multiprocessor's memory is shared. */
static CUresult prepare_exact(CUfunction function, unsigned threads, unsigned shared, int *blocks) {
  CUresult error = red_cu.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
  if (error == CUDA_SUCCESS)
    error = red_cu.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                    CU_SHAREDMEM_CARVEOUT_MAX_SHARED);
  if (error == CUDA_SUCCESS)
    error = red_cu.OccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, (int)threads, shared);
  return error;
}

/*
 * What the driver makes of PTX for older devices has no pipeline in it, whatever the device could do: such a kernel
 * is empty, and none.
 */
static CUresult prepare_pipeline(red_cuda_device *device, CUfunction function, bool *empty) {
  int version = 0;
  CUresult error = red_cu.FuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, function);
  *empty = version < 90;
  if (error != CUDA_SUCCESS || *empty) return error;
  return red_cu.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 (int)red_cuda_pipe_shared(device));
}

static red_status load_function(red_cuda_device *device, red_cuda_kernel kernel) {
  red_status status = load_module(device, kernels[kernel].module);
  if (status != RED_OK) return status;
  red_cuda_function *row = &device->functions[kernel];
  CUfunction function;
  status =
      red_cuda_check(red_cu.ModuleGetFunction(&function, device->modules[kernels[kernel].module], kernels[kernel].name),
                     kernels[kernel].name);
  if (status != RED_OK) return status;
  int blocks = 1;
  CUresult error = CUDA_SUCCESS;
  unsigned threads, shared;
  bool empty = false;
  if (red_cuda_exact_block(device, kernel, &threads, &shared))
    error = prepare_exact(function, threads, shared, &blocks);
  else if (is_pipeline(kernel))
    error = prepare_pipeline(device, function, &empty);
  else
    error = red_cu.OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0);
  if (error != CUDA_SUCCESS) return red_cuda_fail(error, kernels[kernel].name);
  row->empty = empty;
  row->resident = (unsigned)(blocks > 0 ? blocks : 1) * device->multiprocessors;
  row->function = function;
  return RED_OK;
}

red_status red_cuda_get_kernel(red_cuda_device *device, red_cuda_kernel kernel, const red_cuda_function **function) {
  *function = NULL;
  if (kernel == RED_CUDA_NO_KERNEL) return RED_OK;
  red_status status = RED_OK;
  pthread_mutex_lock(&device->lock);
  if (device->functions[kernel].function == NULL) status = load_function(device, kernel);
  pthread_mutex_unlock(&device->lock);
  if (status == RED_OK && !device->functions[kernel].empty) *function = &device->functions[kernel];
  return status;
}

void red_cuda_unload(red_cuda_device *device) {
  for (unsigned i = 0; i < RED_CUDA_MODULE_COUNT; i++)
    if (device->modules[i] != NULL) red_cu.ModuleUnload(device->modules[i]);
}
