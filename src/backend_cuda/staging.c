/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Staging: host memory passes through buffers on the device, uploads, kernels and downloads beside each other. The copy
 * engine reads page-locked memory itself; other memory is copied to page-locked buffers by several threads first.
 */
#include "room.h"

#include <stdlib.h>

static void free_stage(red_cuda_stage *stage) {
  if (stage->in != 0) red_cu.MemFree(stage->in);
  if (stage->out != 0) red_cu.MemFree(stage->out);
  if (stage->pinned_in != NULL) red_cu.MemFreeHost(stage->pinned_in);
  if (stage->pinned_out != NULL) red_cu.MemFreeHost(stage->pinned_out);
  stage->in = stage->out = 0;
  stage->pinned_in = stage->pinned_out = NULL;
}

static void free_buffers(red_cuda_staging *staging) {
  for (unsigned i = 0; i < RED_CUDA_STAGES; i++) free_stage(&staging->stage[i]);
  staging->count = 0;
}

static void destroy_objects(red_cuda_staging *staging) {
  free_buffers(staging);
  for (unsigned i = 0; i < RED_CUDA_STAGES; i++) {
    red_cuda_stage *stage = &staging->stage[i];
    if (stage->uploaded != NULL) red_cu.EventDestroy(stage->uploaded);
    if (stage->computed != NULL) red_cu.EventDestroy(stage->computed);
    if (stage->downloaded != NULL) red_cu.EventDestroy(stage->downloaded);
  }
  if (staging->up != NULL) red_cu.StreamDestroy(staging->up);
  if (staging->down != NULL) red_cu.StreamDestroy(staging->down);
}

void red_cuda_staging_destroy(red_cuda_staging *staging, bool entered) {
  if (staging == NULL) return;
  if (entered) destroy_objects(staging);
  free(staging);
}

static CUresult make_events(red_cuda_stage *stage) {
  CUresult error = red_cu.EventCreate(&stage->uploaded, CU_EVENT_DISABLE_TIMING);
  if (error == CUDA_SUCCESS) error = red_cu.EventCreate(&stage->computed, CU_EVENT_DISABLE_TIMING);
  if (error == CUDA_SUCCESS) error = red_cu.EventCreate(&stage->downloaded, CU_EVENT_DISABLE_TIMING);
  return error;
}

static red_status make_staging(red_cuda_staging **made) {
  red_cuda_staging *staging = calloc(1, sizeof *staging);
  if (staging == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for staging");
  CUresult error = red_cu.StreamCreate(&staging->up, CU_STREAM_NON_BLOCKING);
  if (error == CUDA_SUCCESS) error = red_cu.StreamCreate(&staging->down, CU_STREAM_NON_BLOCKING);
  for (unsigned i = 0; i < RED_CUDA_STAGES && error == CUDA_SUCCESS; i++) error = make_events(&staging->stage[i]);
  if (error != CUDA_SUCCESS) {
    red_cuda_staging_destroy(staging, true);
    return red_cuda_fail(error, "making streams and events for staging");
  }
  *made = staging;
  return RED_OK;
}

static red_status make_stage(const red_cuda_staging *staging, red_cuda_stage *stage) {
  CUresult error = red_cu.MemAlloc(&stage->in, staging->in_bytes);
  if (error == CUDA_SUCCESS) error = red_cu.MemHostAlloc(&stage->pinned_in, staging->in_bytes, 0);
  if (error == CUDA_SUCCESS && staging->out_bytes > 0) error = red_cu.MemAlloc(&stage->out, staging->out_bytes);
  if (error == CUDA_SUCCESS && staging->out_bytes > 0)
    error = red_cu.MemHostAlloc(&stage->pinned_out, staging->out_bytes, 0);
  return red_cuda_check(error, "allocating buffers for staging");
}

static uint64_t grown(uint64_t bytes, uint64_t had) {
  uint64_t size = had > 65536 ? had : 65536;
  while (size < bytes) size *= 2;
  return bytes > 0 ? size : had;
}

/* The threads are shared by the device's queues and started when something large is first copied. */
static red_status get_copiers(red_cuda_device *device, uint64_t bytes, red_cuda_copiers **copiers) {
  red_status status = RED_OK;
  pthread_mutex_lock(&device->lock);
  if (device->copiers == NULL && bytes >= (1u << 20)) status = red_cuda_copiers_create(&device->copiers);
  *copiers = device->copiers;
  pthread_mutex_unlock(&device->lock);
  return status;
}

red_status red_cuda_staging_get(red_cuda_device *device, red_cuda_queue *queue, uint64_t in_bytes, uint64_t out_bytes,
                                unsigned count, red_cuda_staging **got) {
  red_status status = queue->staging == NULL ? make_staging(&queue->staging) : RED_OK;
  if (status != RED_OK) return status;
  red_cuda_staging *staging = queue->staging;
  if (staging->in_bytes < in_bytes || staging->out_bytes < out_bytes) {
    free_buffers(staging);
    staging->in_bytes = grown(in_bytes, staging->in_bytes);
    staging->out_bytes = grown(out_bytes, staging->out_bytes);
  }
  while (staging->count < count && status == RED_OK) {
    status = make_stage(staging, &staging->stage[staging->count]);
    if (status == RED_OK) staging->count++;
  }
  if (status != RED_OK) {
    free_buffers(staging);
    return status;
  }
  *got = staging;
  return get_copiers(device, in_bytes > out_bytes ? in_bytes : out_bytes, &staging->copiers);
}

static CUresult upload_source(const red_cuda_staging *staging, const red_cuda_stage *stage,
                              const red_cuda_source *source) {
  const void *from = source->from;
  if (!source->pinned) {
    char *pinned = (char *)stage->pinned_in + source->at;
    red_cuda_copy(staging->copiers, pinned, from, source->bytes);
    from = pinned;
  }
  return red_cu.MemcpyHtoDAsync(stage->in + source->at, from, source->bytes, staging->up);
}

red_status red_cuda_stage_upload(red_cuda_staging *staging, red_cuda_queue *queue, unsigned index,
                                 const red_cuda_source *sources, unsigned count) {
  red_cuda_stage *stage = &staging->stage[index];
  CUresult error = red_cu.StreamWaitEvent(staging->up, stage->computed, 0);
  bool pinned = true;
  for (unsigned i = 0; i < count; i++) pinned = pinned && sources[i].pinned;
  if (error == CUDA_SUCCESS && !pinned) error = red_cu.EventSynchronize(stage->uploaded); /* the buffer has been read */
  for (unsigned i = 0; i < count && error == CUDA_SUCCESS; i++) error = upload_source(staging, stage, &sources[i]);
  if (error == CUDA_SUCCESS) error = red_cu.EventRecord(stage->uploaded, staging->up);
  if (error == CUDA_SUCCESS) error = red_cu.StreamWaitEvent(queue->stream, stage->uploaded, 0);
  return red_cuda_check(error, "uploading host memory");
}

red_status red_cuda_stage_download(red_cuda_staging *staging, red_cuda_queue *queue, unsigned index, void *to,
                                   uint64_t bytes, bool pinned) {
  red_cuda_stage *stage = &staging->stage[index];
  CUresult error = red_cu.EventRecord(stage->computed, queue->stream);
  if (error == CUDA_SUCCESS && bytes > 0) {
    error = red_cu.StreamWaitEvent(staging->down, stage->computed, 0);
    if (error == CUDA_SUCCESS)
      error = red_cu.MemcpyDtoHAsync(pinned ? to : stage->pinned_out, stage->out, bytes, staging->down);
    if (error == CUDA_SUCCESS) error = red_cu.EventRecord(stage->downloaded, staging->down);
  }
  return red_cuda_check(error, "downloading to host memory");
}

red_status red_cuda_stage_arrive(red_cuda_staging *staging, unsigned index, void *to, uint64_t bytes, bool pinned) {
  red_cuda_stage *stage = &staging->stage[index];
  red_status status = red_cuda_check(red_cu.EventSynchronize(stage->downloaded), "downloading to host memory");
  if (status == RED_OK && !pinned) red_cuda_copy(staging->copiers, to, stage->pinned_out, bytes);
  return status;
}
