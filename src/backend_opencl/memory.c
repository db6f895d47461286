/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory is a cl_mem; queues, the application's or ours; copies; what an execution borrows. */
#include "device.h"

#include <stdlib.h>

red_status red_cl_alloc(void *state, uint64_t bytes, void **memory) {
  red_cl_device *device = state;
  red_status status = red_cl_check_process(device);
  if (status != RED_OK) return status;
  if (bytes > device->traits.most_alloc)
    return red_fail(RED_ERR_NO_MEMORY, "bytes = %llu: one allocation of %s holds %llu at most",
                    (unsigned long long)bytes, device->traits.id, (unsigned long long)device->traits.most_alloc);
  cl_int error;
  cl_mem made = red_cl.CreateBuffer(device->context, CL_MEM_READ_WRITE, bytes > 0 ? (size_t)bytes : 1, NULL, &error);
  status = red_cl_check(error, "clCreateBuffer");
  if (status == RED_OK) *memory = made;
  return status;
}

void red_cl_free(void *state, void *memory) {
  const red_cl_span all = {"memory", memory, 0, 0};
  if (red_cl_check_process(state) != RED_OK) return;
  /* A driver that cannot say what it is has made it all the same. */
  if (red_cl_check_buffer(state, &all) != RED_ERR_INVALID) red_cl.ReleaseMemObject(memory);
}

/* ---- Queues ---- */

red_status red_cl_queue_init(red_cl_device *device, cl_command_queue native, red_cl_queue *queue) {
  cl_int error;
  queue->in_order = true;
  if (native == NULL) {
    queue->queue = red_cl.CreateCommandQueue(device->context, device->traits.device, 0, &error);
    return red_cl_check(error, "clCreateCommandQueue");
  }
  cl_context context = NULL;
  cl_device_id runs_on = NULL;
  cl_command_queue_properties properties = 0;
  error = red_cl.GetCommandQueueInfo(native, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
  if (error == CL_SUCCESS) error = red_cl.GetCommandQueueInfo(native, CL_QUEUE_DEVICE, sizeof runs_on, &runs_on, NULL);
  if (error == CL_SUCCESS)
    error = red_cl.GetCommandQueueInfo(native, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  if (error != CL_SUCCESS) return red_cl_check(error, "clGetCommandQueueInfo");
  if (context != device->context || runs_on != device->traits.device)
    return red_fail(
        RED_ERR_INVALID,
        "native is a queue of another OpenCL context or device than %s: give the cl_context and cl_device_id "
        "in red_context_options",
        device->traits.id);
  queue->in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  error = red_cl.RetainCommandQueue(native);
  if (error == CL_SUCCESS) queue->queue = native;
  return red_cl_check(error, "clRetainCommandQueue");
}

static void release_pool(red_cl_pool *pool) {
  if (pool->memory != NULL) red_cl.ReleaseMemObject(pool->memory);
  pool->memory = NULL;
  pool->bytes = 0;
}

/* Memory objects outlive their release until the commands that use them are done. */
void red_cl_queue_release(red_cl_queue *queue) {
  release_pool(&queue->workspace);
  release_pool(&queue->stage_in);
  release_pool(&queue->stage_in2);
  release_pool(&queue->stage_out);
  release_pool(&queue->board.pool);
  if (queue->queue != NULL) red_cl.ReleaseCommandQueue(queue->queue);
  queue->queue = NULL;
}

red_status red_cl_queue_open(void *state, void *native, void **queue) {
  red_status status = red_cl_check_process(state);
  if (status != RED_OK) return status;
  red_cl_queue *made = calloc(1, sizeof *made);
  if (made == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a queue");
  status = red_cl_queue_init(state, native, made);
  if (status != RED_OK) {
    free(made);
    return status;
  }
  *queue = made;
  return RED_OK;
}

red_status red_cl_queue_finish(void *state, void *queue) {
  red_status status = red_cl_check_process(state);
  if (status != RED_OK) return status;
  return red_cl_check(red_cl.Finish(((red_cl_queue *)queue)->queue), "clFinish");
}

void red_cl_queue_close(void *state, void *queue) {
  if (red_cl_check_process(state) == RED_OK) {
    red_cl.Flush(((red_cl_queue *)queue)->queue);
    red_cl_queue_release(queue);
  }
  free(queue);
}

red_status red_cl_in_order(red_cl_queue *queue) {
  if (queue->in_order) return RED_OK;
  return red_cl_check(red_cl.EnqueueBarrierWithWaitList(queue->queue, 0, NULL, NULL), "clEnqueueBarrierWithWaitList");
}

/* ---- Copies ---- */

red_status red_cl_read(red_cl_queue *queue, cl_mem from, uint64_t offset, void *to, uint64_t bytes) {
  red_status status = red_cl_in_order(queue);
  if (status != RED_OK) return status;
  cl_int error =
      red_cl.EnqueueReadBuffer(queue->queue, from, CL_TRUE, (size_t)offset, (size_t)bytes, to, 0, NULL, NULL);
  return red_cl_check(error, "clEnqueueReadBuffer");
}

red_status red_cl_write(red_cl_queue *queue, cl_mem to, uint64_t offset, const void *from, uint64_t bytes) {
  red_status status = red_cl_in_order(queue);
  if (status != RED_OK) return status;
  cl_int error =
      red_cl.EnqueueWriteBuffer(queue->queue, to, CL_TRUE, (size_t)offset, (size_t)bytes, from, 0, NULL, NULL);
  return red_cl_check(error, "clEnqueueWriteBuffer");
}

red_status red_cl_clear(red_cl_queue *queue, cl_mem memory, uint64_t offset, uint64_t bytes) {
  static const uint64_t zero = 0;
  red_status status = red_cl_in_order(queue);
  if (status != RED_OK) return status;
  cl_int error =
      red_cl.EnqueueFillBuffer(queue->queue, memory, &zero, sizeof zero, (size_t)offset, (size_t)bytes, 0, NULL, NULL);
  return red_cl_check(error, "clEnqueueFillBuffer");
}

red_status red_cl_map(red_cl_queue *queue, cl_mem memory, uint64_t offset, uint64_t bytes, void **mapped) {
  red_status status = red_cl_in_order(queue);
  if (status != RED_OK) return status;
  cl_int error;
  *mapped = red_cl.EnqueueMapBuffer(queue->queue, memory, CL_TRUE, CL_MAP_READ, (size_t)offset, (size_t)bytes, 0, NULL,
                                    NULL, &error);
  return red_cl_check(error, "clEnqueueMapBuffer");
}

red_status red_cl_unmap(red_cl_queue *queue, cl_mem memory, void *mapped) {
  cl_int error = red_cl.EnqueueUnmapMemObject(queue->queue, memory, mapped, 0, NULL, NULL);
  return red_cl_check(error, "clEnqueueUnmapMemObject");
}

static red_cl_queue *queue_or_own(red_cl_device *device, void *queue) {
  return queue != NULL ? queue : &device->own;
}

red_status red_cl_upload(void *state, void *queue, void *to, uint64_t offset, const void *from, uint64_t bytes) {
  red_status status = red_cl_check_process(state);
  if (status == RED_OK) status = red_cl_check_buffer(state, &(red_cl_span){"the destination", to, offset, bytes});
  if (status == RED_OK) status = red_cl_write(queue_or_own(state, queue), to, offset, from, bytes);
  if (status != RED_OK) return status;
  /* Intel's CPU runtime lets kernels in other queues begin before a blocking write with an offset is done. */
  return red_cl_check(red_cl.Finish(queue_or_own(state, queue)->queue), "clFinish");
}

red_status red_cl_download(void *state, void *queue, void *to, const void *from, uint64_t offset, uint64_t bytes) {
  cl_mem memory = (cl_mem)from;
  red_status status = red_cl_check_process(state);
  if (status == RED_OK) status = red_cl_check_buffer(state, &(red_cl_span){"the source", memory, offset, bytes});
  return status == RED_OK ? red_cl_read(queue_or_own(state, queue), memory, offset, to, bytes) : status;
}

/* ---- What an execution borrows ---- */

red_status red_cl_pool_reserve(red_cl_device *device, red_cl_pool *pool, uint64_t bytes) {
  if (pool->bytes >= bytes) return RED_OK;
  void *memory = NULL;
  red_status status = red_cl_alloc(device, bytes, &memory);
  if (status != RED_OK) return status;
  release_pool(pool);
  pool->memory = memory;
  pool->bytes = bytes;
  return RED_OK;
}

red_status red_cl_board_reserve(red_cl_device *device, red_cl_queue *queue, uint64_t bytes) {
  red_cl_board *board = &queue->board;
  if (board->pool.bytes >= bytes) return RED_OK;
  red_status status = red_cl_pool_reserve(device, &board->pool, bytes);
  if (status == RED_OK) status = red_cl_clear(queue, board->pool.memory, 0, bytes);
  if (status != RED_OK) release_pool(&board->pool); /* not to be taken for a cleared one */
  board->counted = 0;
  board->epoch = 0;
  return status;
}

red_status red_cl_board_epoch(red_cl_queue *queue, uint32_t *epoch) {
  red_cl_board *board = &queue->board;
  red_status status = RED_OK;
  if (board->epoch == UINT32_MAX) { /* words of the first launch could still be there */
    status = red_cl_clear(queue, board->pool.memory, 0, board->pool.bytes);
    if (status != RED_OK) return status;
    board->counted = 0;
    board->epoch = 0;
  }
  *epoch = ++board->epoch;
  return status;
}
