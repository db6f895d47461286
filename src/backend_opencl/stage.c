/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host arrays for a device. One that shares the host's memory works on the array itself (CL_MEM_USE_HOST_PTR) if its
 * elements are aligned; else pieces are copied to and fro.
 */
#include "device.h"

bool red_cl_works_in_place(const red_cl_device *device) {
  return device->traits.unified && (device->traits.type & CL_DEVICE_TYPE_CPU);
}

bool red_cl_stage_shared(const red_cl_run *run, const void *host, unsigned align) {
  return red_cl_works_in_place(run->device) && (uintptr_t)host % align == 0;
}

static red_status wrap_array(const red_cl_run *run, void *host, uint64_t bytes, cl_mem_flags access,
                             red_cl_stage *stage) {
  cl_int error;
  stage->memory = red_cl.CreateBuffer(run->device->context, CL_MEM_USE_HOST_PTR | access, (size_t)bytes, host, &error);
  stage->owned = error == CL_SUCCESS;
  return red_cl_check(error, "clCreateBuffer with CL_MEM_USE_HOST_PTR");
}

static red_status stage_in(const red_cl_run *run, red_cl_pool *pool, const void *host, uint64_t bytes, unsigned align,
                           red_cl_stage *stage) {
  if (red_cl_stage_shared(run, host, align)) return wrap_array(run, (void *)host, bytes, CL_MEM_READ_ONLY, stage);
  red_status status = red_cl_pool_reserve(run->device, pool, bytes);
  stage->memory = pool->memory;
  stage->owned = false;
  return status == RED_OK ? red_cl_write(run->queue, stage->memory, 0, host, bytes) : status;
}

red_status red_cl_stage_in(const red_cl_run *run, const void *host, uint64_t bytes, unsigned align,
                           red_cl_stage *stage) {
  return stage_in(run, &run->queue->stage_in, host, bytes, align, stage);
}

red_status red_cl_stage_in2(const red_cl_run *run, const void *host, uint64_t bytes, unsigned align,
                            red_cl_stage *stage) {
  return stage_in(run, &run->queue->stage_in2, host, bytes, align, stage);
}

red_status red_cl_stage_out(const red_cl_run *run, void *host, uint64_t bytes, unsigned align, red_cl_stage *stage) {
  if (red_cl_stage_shared(run, host, align)) return wrap_array(run, host, bytes, CL_MEM_READ_WRITE, stage);
  red_status status = red_cl_pool_reserve(run->device, &run->queue->stage_out, bytes);
  stage->memory = run->queue->stage_out.memory;
  stage->owned = false;
  return status;
}

/* Mapping is what makes a device's writes to a wrapped array visible. */
red_status red_cl_stage_fetch(const red_cl_run *run, const red_cl_stage *stage, void *host, uint64_t bytes) {
  if (!stage->owned) return red_cl_read(run->queue, stage->memory, 0, host, bytes);
  void *mapped;
  red_status status = red_cl_map(run->queue, stage->memory, 0, bytes, &mapped);
  return status == RED_OK ? red_cl_unmap(run->queue, stage->memory, mapped) : status;
}

/* The caller's array is the caller's again: nothing that uses it may be under way. */
red_status red_cl_stage_end(const red_cl_run *run, red_cl_stage *stage, red_status status) {
  if (!stage->owned) return status;
  cl_int error = red_cl.Finish(run->queue->queue);
  red_cl.ReleaseMemObject(stage->memory);
  stage->owned = false;
  return status == RED_OK ? red_cl_check(error, "clFinish") : status;
}
