/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues and device memory: resolve the context's device, forward to its backend. */
#include <stdlib.h>

#include "plan.h"

static red_status resolve_device(red_context *context, red_device **device) {
  red_status status = red_context_resolve(context, &context);
  return status == RED_OK ? red_context_open_device(context, RED_DEVICE, device) : status;
}

static red_status make_queue(red_context *context, void *native, red_queue **queue) {
  if (queue == NULL) return red_fail(RED_ERR_INVALID, "queue is NULL");
  red_queue *made = calloc(1, sizeof *made);
  if (made == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a queue");
  red_status status = resolve_device(context, &made->device);
  if (status == RED_OK) status = made->device->backend->queue_open(made->device->state, native, &made->state);
  if (status != RED_OK) {
    free(made);
    return status;
  }
  *queue = made;
  return RED_OK;
}

red_status red_queue_create(red_context *context, red_queue **queue) {
  return make_queue(context, NULL, queue);
}

red_status red_queue_wrap(red_context *context, void *native, red_queue **queue) {
  if (native == NULL)
    return red_fail(
        RED_ERR_INVALID,
        "native is NULL: red_queue_create makes a new queue, and the default stream of CUDA is cudaStreamLegacy");
  return make_queue(context, native, queue);
}

red_status red_queue_finish(red_queue *queue) {
  if (queue == NULL) return red_fail(RED_ERR_INVALID, "queue is NULL");
  return queue->device->backend->queue_finish(queue->device->state, queue->state);
}

void red_queue_destroy(red_queue *queue) {
  if (queue == NULL) return;
  queue->device->backend->queue_close(queue->device->state, queue->state);
  free(queue);
}

red_status red_alloc(red_context *context, uint64_t bytes, void **memory) {
  if (memory == NULL) return red_fail(RED_ERR_INVALID, "memory is NULL");
  red_device *device;
  red_status status = resolve_device(context, &device);
  return status == RED_OK ? device->backend->alloc(device->state, bytes, memory) : status;
}

void red_free(red_context *context, void *memory) {
  red_device *device;
  if (memory == NULL || resolve_device(context, &device) != RED_OK) return;
  device->backend->free(device->state, memory);
}

static red_status check_copy(const red_device *device, const red_queue *queue, const void *to, const void *from,
                             uint64_t bytes) {
  if (to == NULL || from == NULL)
    return red_fail(RED_ERR_INVALID, "%s memory is NULL, bytes = %llu", to == NULL ? "destination" : "source",
                    (unsigned long long)bytes);
  if (queue != NULL && queue->device != device)
    return red_fail(RED_ERR_INVALID, "queue belongs to another device (%s) than the memory (%s)",
                    queue->device->info.id, device->info.id);
  return RED_OK;
}

red_status red_upload(red_context *context, red_queue *queue, void *device_memory, uint64_t offset, const void *host,
                      uint64_t bytes) {
  if (bytes == 0) return RED_OK;
  red_device *device;
  red_status status = resolve_device(context, &device);
  if (status == RED_OK) status = check_copy(device, queue, device_memory, host, bytes);
  if (status != RED_OK) return status;
  return device->backend->upload(device->state, queue != NULL ? queue->state : NULL, device_memory, offset, host,
                                 bytes);
}

red_status red_download(red_context *context, red_queue *queue, void *host, const void *device_memory, uint64_t offset,
                        uint64_t bytes) {
  if (bytes == 0) return RED_OK;
  red_device *device;
  red_status status = resolve_device(context, &device);
  if (status == RED_OK) status = check_copy(device, queue, host, device_memory, bytes);
  if (status != RED_OK) return status;
  return device->backend->download(device->state, queue != NULL ? queue->state : NULL, host, device_memory, offset,
                                   bytes);
}
