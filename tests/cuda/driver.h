/* SPDX-License-Identifier: BSD-2-Clause */
/* The few functions of the CUDA driver that an application would call, opened at run time. */
#ifndef RED_TESTS_CUDA_DRIVER_H
#define RED_TESTS_CUDA_DRIVER_H

#include <cuda.h>

#include "../suite.h"

/* X(member, symbol, (parameters)) */
#define DRIVER_FUNCTIONS(X)                                                                                            \
  X(DeviceGet, "cuDeviceGet", (CUdevice *, int))                                                                       \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, CUdevice_attribute, CUdevice))                                 \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                                       \
  X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                                               \
  X(CtxCreate, "cuCtxCreate_v2", (CUcontext *, unsigned, CUdevice))                                                    \
  X(CtxDestroy, "cuCtxDestroy_v2", (CUcontext))                                                                        \
  X(CtxSetCurrent, "cuCtxSetCurrent", (CUcontext))                                                                     \
  X(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                                                   \
  X(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                                                \
  X(MemFree, "cuMemFree_v2", (CUdeviceptr))                                                                            \
  X(MemFreeHost, "cuMemFreeHost", (void *))                                                                            \
  X(MemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                                                               \
  X(MemsetD8, "cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t))                                                   \
  X(MemsetD2D32, "cuMemsetD2D32_v2", (CUdeviceptr, size_t, unsigned, size_t, size_t))                                  \
  X(MemcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                                                \
  X(MemcpyDtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                                                      \
  X(ModuleLoadData, "cuModuleLoadData", (CUmodule *, const void *))                                                    \
  X(ModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))                                  \
  X(LaunchKernel, "cuLaunchKernel",                                                                                    \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **))    \
  X(LaunchHostFunc, "cuLaunchHostFunc", (CUstream, CUhostFn, void *))                                                  \
  X(StreamCreate, "cuStreamCreate", (CUstream *, unsigned))                                                            \
  X(StreamDestroy, "cuStreamDestroy_v2", (CUstream))                                                                   \
  X(StreamQuery, "cuStreamQuery", (CUstream))                                                                          \
  X(StreamSynchronize, "cuStreamSynchronize", (CUstream))                                                              \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream, CUstreamCaptureMode))                                    \
  X(StreamEndCapture, "cuStreamEndCapture", (CUstream, CUgraph *))                                                     \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags", (CUgraphExec *, CUgraph, unsigned long long))                     \
  X(GraphLaunch, "cuGraphLaunch", (CUgraphExec, CUstream))                                                             \
  X(GraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec))                                                             \
  X(GraphDestroy, "cuGraphDestroy", (CUgraph))

typedef struct driver_table {
#define X(member, symbol, parameters) CUresult(*member) parameters;
  DRIVER_FUNCTIONS(X)
#undef X
} driver_table;

extern driver_table cuda;

/* The device under test, its primary context, which stays alive in between. */
extern CUdevice driver_device;
extern CUcontext driver_primary;

/* Open the driver, retain the primary context of the device under test and make it current; and let it go. */
void driver_open(void);
void driver_close(void);

/* The ordinal in RED_BACKEND, 0 if there is none. */
int driver_ordinal(void);

#define ck_cuda(call)                                                                                                  \
  do {                                                                                                                 \
    CUresult ck_cuda_result = (call);                                                                                  \
    if (ck_cuda_result != CUDA_SUCCESS) ck_abort_msg("%s: CUDA error %d", #call, (int)ck_cuda_result);                 \
  } while (0)

#endif
