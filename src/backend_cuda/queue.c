/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues: a stream, its workspace and its answers. The order of the stream is what makes sharing them safe. */
#include "room.h"

#include <stdlib.h>

/* ---- Making and closing
 * ------------------------------------------------------------------------------------------------ */

void red_cuda_free_buffers(red_cuda_buffer *buffer, bool entered) {
  while (buffer != NULL) {
    red_cuda_buffer *older = buffer->older;
    if (entered) red_cu.MemFree(buffer->memory);
    free(buffer);
    buffer = older;
  }
}

/*
 * A context that cannot be entered is gone, and all of the driver's objects with it. cuMemFree waits for work that is
 * under way, so the stream need not exist any more.
 */
static void destroy_queue(red_cuda_queue *queue, bool entered) {
  red_cuda_staging_destroy(queue->staging, entered);
  if (entered && !queue->wrapped && queue->stream != NULL) {
    red_cu.StreamSynchronize(queue->stream);
    red_cu.StreamDestroy(queue->stream);
  }
  red_cuda_free_buffers(queue->workspace, entered);
  if (entered && queue->answers != NULL) red_cu.MemFreeHost(queue->answers);
  free(queue);
}

static red_status make_queue(CUstream native, unsigned flags, red_cuda_queue **made) {
  red_cuda_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a queue");
  queue->stream = native;
  queue->wrapped = native != NULL;
  if (native == NULL) {
    red_status status = red_cuda_check(red_cu.StreamCreate(&queue->stream, flags), "cuStreamCreate");
    if (status != RED_OK) {
      free(queue);
      return status;
    }
  }
  *made = queue;
  return RED_OK;
}

red_status red_cuda_queue_open(void *state, void *native, void **queue) {
  red_cuda_scope scope;
  red_status status = red_cuda_enter(state, &scope);
  if (status != RED_OK) return status;
  red_cuda_queue *made = NULL;
  status = make_queue(native, CU_STREAM_NON_BLOCKING, &made);
  red_cuda_leave(&scope);
  if (status == RED_OK) *queue = made;
  return status;
}

red_status red_cuda_queue_finish(void *state, void *at) {
  red_cuda_queue *queue = at;
  red_cuda_scope scope;
  red_status status = red_cuda_enter(state, &scope);
  if (status != RED_OK) return status;
  status = red_cuda_refuse_capture(queue, "waiting for a queue");
  if (status == RED_OK) status = red_cuda_check(red_cu.StreamSynchronize(queue->stream), "cuStreamSynchronize");
  red_cuda_leave(&scope);
  return status;
}

void red_cuda_queue_close(void *state, void *queue) {
  red_cuda_scope scope;
  bool entered = red_cuda_enter(state, &scope) == RED_OK;
  destroy_queue(queue, entered);
  if (entered) red_cuda_leave(&scope);
}

/* ---- Queues of the device's own
 * ----------------------------------------------------------------------------------------- */

red_status red_cuda_take_queue(red_cuda_device *device, red_cuda_queue **queue) {
  pthread_mutex_lock(&device->lock);
  *queue = device->idle;
  if (*queue != NULL) device->idle = (*queue)->next;
  pthread_mutex_unlock(&device->lock);
  /* In order with the legacy default stream: what the application has put there comes first. */
  return *queue != NULL ? RED_OK : make_queue(NULL, CU_STREAM_DEFAULT, queue);
}

void red_cuda_give_queue(red_cuda_device *device, red_cuda_queue *queue) {
  pthread_mutex_lock(&device->lock);
  queue->next = device->idle;
  device->idle = queue;
  pthread_mutex_unlock(&device->lock);
}

void red_cuda_close_queues(red_cuda_device *device, bool entered) {
  while (device->idle != NULL) {
    red_cuda_queue *queue = device->idle;
    device->idle = queue->next;
    destroy_queue(queue, entered);
  }
}

/* ---- Workspace
 * ------------------------------------------------------------------------------------------------------------ */

#define MOST_EPOCHS (UINT32_MAX / 2)

static red_status grow_workspace(red_cuda_queue *queue, uint64_t bytes) {
  uint64_t size = 65536;
  while (size < bytes) size *= 2;
  red_cuda_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a workspace");
  red_status status = red_cuda_check(red_cu.MemAlloc(&buffer->memory, size), "cuMemAlloc of a workspace");
  if (status != RED_OK) {
    free(buffer);
    return status;
  }
  buffer->bytes = size;
  buffer->older = queue->workspace; /* work in the stream may still use it */
  queue->workspace = buffer;
  queue->epochs = MOST_EPOCHS; /* to be cleared */
  return RED_OK;
}

void red_cuda_spoil_workspace(red_cuda_queue *queue) {
  queue->epochs = MOST_EPOCHS;
}

red_status red_cuda_workspace(red_cuda_queue *queue, uint64_t bytes, CUdeviceptr *workspace) {
  bool small = queue->workspace == NULL || queue->workspace->bytes < bytes;
  red_status status = small ? grow_workspace(queue, bytes) : RED_OK;
  if (status != RED_OK) return status;
  /* Clear it when it is new, and before epochs come round again: words would look valid that are 2^32 launches old. */
  if (queue->epochs >= MOST_EPOCHS) {
    status = red_cuda_check(red_cu.MemsetD8Async(queue->workspace->memory, 0, queue->workspace->bytes, queue->stream),
                            "clearing a workspace");
    if (status != RED_OK) return status;
    queue->epochs = 0;
  }
  queue->epochs++;
  *workspace = queue->workspace->memory;
  return RED_OK;
}

/* ---- Answers
 * ---------------------------------------------------------------------------------------------------------------- */

static red_status make_answers(red_cuda_queue *queue) {
  void *memory;
  red_status status = red_cuda_check(red_cu.MemHostAlloc(&memory, RED_CUDA_ANSWERS * sizeof(red_cuda_answer),
                                                         CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                                     "cuMemHostAlloc of results");
  if (status != RED_OK) return status;
  status = red_cuda_check(red_cu.MemHostGetDevicePointer(&queue->answers_device, memory, 0),
                          "cuMemHostGetDevicePointer of results");
  if (status != RED_OK) {
    red_cu.MemFreeHost(memory);
    return status;
  }
  queue->answers = memory;
  for (unsigned i = 0; i < RED_CUDA_ANSWERS; i++) queue->answers[i].flag = 0;
  return RED_OK;
}

red_status red_cuda_ask(red_cuda_queue *queue, red_cuda_question *question) {
  red_status status = queue->answers == NULL ? make_answers(queue) : RED_OK;
  if (status != RED_OK) return status;
  if (++queue->asked == 0) queue->asked = 1;
  unsigned i = queue->asked % RED_CUDA_ANSWERS;
  question->answer = &queue->answers[i];
  question->device = queue->answers_device + i * sizeof(red_cuda_answer);
  question->flag = queue->asked;
  return RED_OK;
}

static bool is_there(const red_cuda_question *question) {
  return __atomic_load_n(&question->answer->flag, __ATOMIC_ACQUIRE) == question->flag;
}

/*
 * The flag is seen a few microseconds earlier than the end of the stream. Long kernels are waited for in the driver:
 * after about 100 microseconds of looking.
 */
red_status red_cuda_await(red_cuda_queue *queue, const red_cuda_question *question) {
  for (unsigned looks = 0; looks < 64; looks++) {
    for (unsigned i = 0; i < 256; i++)
      if (is_there(question)) return RED_OK;
    CUresult error = red_cu.StreamQuery(queue->stream);
    if (error != CUDA_SUCCESS && error != CUDA_ERROR_NOT_READY) return red_cuda_fail(error, "a kernel failed");
    if (error == CUDA_SUCCESS) break;
  }
  red_status status = red_cuda_check(red_cu.StreamSynchronize(queue->stream), "a kernel failed");
  if (status != RED_OK) return status;
  return is_there(question) ? RED_OK : red_fail(RED_ERR_DRIVER, "a kernel ended without a result");
}

red_status red_cuda_refuse_capture(const red_cuda_queue *queue, const char *what) {
  CUstreamCaptureStatus state;
  red_status status = red_cuda_check(red_cu.StreamIsCapturing(queue->stream, &state), "cuStreamIsCapturing");
  if (status != RED_OK || state == CU_STREAM_CAPTURE_STATUS_NONE) return status;
  return red_fail(RED_ERR_UNSUPPORTED, "the queue's stream is being captured into a graph: %s is not possible", what);
}
