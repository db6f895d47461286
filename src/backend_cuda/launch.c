/* SPDX-License-Identifier: BSD-2-Clause */
/* What every launch needs: the launch itself and a workspace that is ready for it. */
#include "room.h"

#include <stdlib.h>

red_status red_cuda_launch(const red_cuda_function *function, uint64_t grid, const red_cuda_shape *shape,
                           CUstream stream, void **arguments) {
  if (grid > INT32_MAX)
    return red_fail(RED_ERR_UNSUPPORTED, "%llu blocks are more than a CUDA grid has", (unsigned long long)grid);
  return red_cuda_check(red_cu.LaunchKernel(function->function, (unsigned)grid, 1, 1, shape->threads, 1, 1,
                                            shape->shared, stream, arguments, NULL),
                        "cuLaunchKernel");
}

/* While a graph is captured: memory of this execution's own, which lives as long as the plan. */
static red_status captured_workspace(const red_cuda_job *job, uint64_t bytes, CUdeviceptr *workspace) {
  red_cuda_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a workspace");
  red_status status = red_cuda_check(red_cu.MemAlloc(&buffer->memory, bytes), "cuMemAlloc of a graph's workspace");
  if (status != RED_OK) {
    free(buffer);
    return status;
  }
  buffer->bytes = bytes;
  red_cuda_captured *captured = job->plan->captured;
  pthread_mutex_lock(&captured->lock);
  buffer->older = captured->list;
  captured->list = buffer;
  pthread_mutex_unlock(&captured->lock);
  *workspace = buffer->memory;
  return RED_OK;
}

static red_status clear(CUdeviceptr workspace, uint64_t bytes, CUstream stream) {
  return red_cuda_check(red_cu.MemsetD8Async(workspace, 0, bytes, stream), "clearing a workspace");
}

/*
 * The caller's memory may hold anything and is cleared before each execution, in the stream; so is a graph's, at each
 * replay. Only the queue's own workspace saves that: executions leave it ready for the next.
 */
red_status red_cuda_job_workspace(const red_cuda_job *job, uint64_t bytes, CUdeviceptr *workspace) {
  *workspace = job->workspace;
  if (job->workspace != 0) return clear(job->workspace, bytes, job->queue->stream);
  if (job->queue->wrapped) {
    CUstreamCaptureStatus state;
    red_status status = red_cuda_check(red_cu.StreamIsCapturing(job->queue->stream, &state), "cuStreamIsCapturing");
    if (status != RED_OK) return status;
    if (state != CU_STREAM_CAPTURE_STATUS_NONE) {
      status = captured_workspace(job, bytes, workspace);
      return status == RED_OK ? clear(*workspace, bytes, job->queue->stream) : status;
    }
  }
  return red_cuda_workspace(job->queue, bytes, workspace);
}
