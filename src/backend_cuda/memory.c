/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory and blocking copies. */
#include "room.h"

#include <stdio.h>

red_status red_cuda_alloc(void *state, uint64_t bytes, void **memory) {
  red_cuda_scope scope;
  red_status status = red_cuda_enter(state, &scope);
  if (status != RED_OK) return status;
  CUdeviceptr at = 0;
  CUresult error = red_cu.MemAlloc(&at, bytes > 0 ? bytes : 1);
  red_cuda_leave(&scope);
  if (error != CUDA_SUCCESS) {
    char doing[64];
    snprintf(doing, sizeof doing, "cuMemAlloc of %llu bytes", (unsigned long long)bytes);
    return red_cuda_fail(error, doing);
  }
  *memory = (void *)(uintptr_t)at;
  return RED_OK;
}

void red_cuda_free(void *state, void *memory) {
  red_cuda_scope scope;
  if (memory == NULL || red_cuda_enter(state, &scope) != RED_OK) return;
  red_cu.MemFree((CUdeviceptr)(uintptr_t)memory);
  red_cuda_leave(&scope);
}

/* The plural form succeeds for ordinary memory, too, and leaves 0. */
static bool is_pinned_at(CUdeviceptr at) {
  unsigned type = 0;
  CUpointer_attribute what = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void *value = &type;
  CUresult error = red_cu.PointerGetAttributes(1, &what, &value, at);
  return error == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST;
}

bool red_cuda_is_pinned(const void *memory, uint64_t bytes) {
  CUdeviceptr first = (CUdeviceptr)(uintptr_t)memory;
  return bytes > 0 && is_pinned_at(first) && is_pinned_at(first + bytes - 1);
}

/* One copy and the wait for it, in the queue that was given or in one of the device's own. */
static red_status copy(red_cuda_device *device, red_cuda_queue *queue, CUdeviceptr memory, void *to, const void *from,
                       uint64_t bytes) {
  red_cuda_scope scope;
  red_status status = red_cuda_enter(device, &scope);
  if (status != RED_OK) return status;
  red_cuda_queue *own = NULL;
  if (queue == NULL) {
    status = red_cuda_take_queue(device, &own);
    queue = own;
  } else {
    status = red_cuda_refuse_capture(queue, "a blocking copy");
  }
  if (status == RED_OK) {
    CUresult error = from != NULL ? red_cu.MemcpyHtoDAsync(memory, from, bytes, queue->stream)
                                  : red_cu.MemcpyDtoHAsync(to, memory, bytes, queue->stream);
    status = red_cuda_check(error, from != NULL ? "cuMemcpyHtoD" : "cuMemcpyDtoH");
    CUresult finished = red_cu.StreamSynchronize(queue->stream); /* also after a failure: it may have begun */
    if (status == RED_OK) status = red_cuda_check(finished, "waiting for a copy");
  }
  if (own != NULL) red_cuda_give_queue(device, own);
  red_cuda_leave(&scope);
  return status;
}

red_status red_cuda_upload(void *device, void *queue, void *to, uint64_t offset, const void *from, uint64_t bytes) {
  return copy(device, queue, (CUdeviceptr)(uintptr_t)to + offset, NULL, from, bytes);
}

red_status red_cuda_download(void *device, void *queue, void *to, const void *from, uint64_t offset, uint64_t bytes) {
  return copy(device, queue, (CUdeviceptr)(uintptr_t)from + offset, to, NULL, bytes);
}
