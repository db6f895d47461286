/* SPDX-License-Identifier: BSD-2-Clause */
/* What applications hand over as device memory: is it a buffer, is it large enough, do two of them share bytes? */
#include "device.h"
#include "overlap.h"

/*
 * An object of a driver behind the ICD loader begins with the driver's table of functions (cl_khr_icd), and calls go
 * through it: with an address that is no object, such as one of shared virtual memory, they would jump anywhere. Where
 * the device and its context begin alike, so does every buffer.
 */
void red_cl_learn_handles(red_cl_device *device) {
  const void *of_device = *(const void *const *)device->traits.device,
             *of_context = *(const void *const *)device->context;
  device->dispatch = of_device == of_context ? of_device : NULL;
}

static bool is_handle(const red_cl_device *device, cl_mem memory) {
  if (memory == NULL || (uintptr_t)memory % sizeof(void *) != 0) return false;
  return device->dispatch == NULL || *(const void *const *)memory == device->dispatch;
}

/*
 * Another context's buffers are refused by drivers in their own ways, if at all; an image has a size, but is no array.
 */
static red_status check_kind(const red_cl_device *device, const red_cl_span *span) {
  cl_mem_object_type type = 0;
  cl_context context = NULL;
  cl_int error = red_cl.GetMemObjectInfo(span->memory, CL_MEM_TYPE, sizeof type, &type, NULL);
  if (error == CL_SUCCESS)
    error = red_cl.GetMemObjectInfo(span->memory, CL_MEM_CONTEXT, sizeof context, &context, NULL);
  if (error != CL_SUCCESS && error != CL_INVALID_MEM_OBJECT) return red_cl_check(error, "clGetMemObjectInfo");
  if (error != CL_SUCCESS)
    return red_fail(RED_ERR_INVALID, "%s is no cl_mem: clGetMemObjectInfo says %s", span->what,
                    red_cl_error_name(error));
  if (type != CL_MEM_OBJECT_BUFFER)
    return red_fail(RED_ERR_INVALID, "%s is no buffer, but an object of CL_MEM_TYPE %#x", span->what, (unsigned)type);
  if (context == device->context) return RED_OK;
  return red_fail(RED_ERR_INVALID,
                  "%s is a buffer of another OpenCL context than %s: give the cl_context and cl_device_id in "
                  "red_context_options",
                  span->what, device->traits.id);
}

red_status red_cl_check_buffer(const red_cl_device *device, const red_cl_span *span) {
  size_t size = 0;
  if (!is_handle(device, span->memory))
    return red_fail(RED_ERR_INVALID,
                    "%s is no cl_mem of %s: the memory of an address, such as clSVMAlloc gives, becomes one by "
                    "clCreateBuffer with CL_MEM_USE_HOST_PTR",
                    span->what, device->traits.id);
  red_status status = check_kind(device, span);
  if (status != RED_OK) return status;
  cl_int error = red_cl.GetMemObjectInfo(span->memory, CL_MEM_SIZE, sizeof size, &size, NULL);
  if (error != CL_SUCCESS) return red_cl_check(error, "clGetMemObjectInfo");
  if (span->offset <= size && span->bytes <= size - span->offset) return RED_OK;
  return red_fail(RED_ERR_INVALID, "%s: %llu bytes at offset %llu exceed the buffer of %llu", span->what,
                  (unsigned long long)span->bytes, (unsigned long long)span->offset, (unsigned long long)size);
}

/* Where the span lies in the buffer that its sub-buffer is a part of; itself if it is of no sub-buffer. */
static red_status in_whole(const red_cl_span *span, red_cl_span *whole) {
  cl_mem parent = NULL;
  size_t origin = 0;
  cl_int error = red_cl.GetMemObjectInfo(span->memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
  if (error == CL_SUCCESS && parent != NULL)
    error = red_cl.GetMemObjectInfo(span->memory, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
  *whole = *span;
  whole->offset += origin;
  if (parent != NULL) whole->memory = parent;
  return red_cl_check(error, "clGetMemObjectInfo");
}

static red_status both_in_whole(const red_cl_span *a, const red_cl_span *b, red_cl_span *whole_a,
                                red_cl_span *whole_b) {
  red_status status = in_whole(a, whole_a);
  return status == RED_OK ? in_whole(b, whole_b) : status;
}

red_status red_cl_check_parts(const red_lowered *lowered, const red_cl_span *in, const red_cl_span *out) {
  if (in->memory == out->memory) return RED_OK; /* the core has seen that */
  red_cl_span from, to;
  red_status status = both_in_whole(in, out, &from, &to);
  if (status != RED_OK) return status;
  return from.memory == to.memory ? red_check_overlap(lowered, from.offset, to.offset) : RED_OK;
}

red_status red_cl_check_apart(const red_cl_span *workspace, const red_cl_span *array) {
  if (workspace->bytes == 0 || workspace->memory == array->memory) return RED_OK; /* the core has seen the latter */
  red_cl_span room, used;
  red_status status = both_in_whole(workspace, array, &room, &used);
  if (status != RED_OK) return status;
  if (room.memory != used.memory || room.offset + room.bytes <= used.offset || used.offset + used.bytes <= room.offset)
    return RED_OK;
  return red_fail(RED_ERR_WORKSPACE,
                  "workspace overlaps %s as parts of one buffer: it is %llu bytes at %llu there, %s is %llu at %llu",
                  used.what, (unsigned long long)room.bytes, (unsigned long long)room.offset, used.what,
                  (unsigned long long)used.bytes, (unsigned long long)used.offset);
}
