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

red_status red_cl_check_buffer(const red_cl_device *device, const char *what, cl_mem memory, uint64_t offset,
                               uint64_t bytes) {
  size_t size = 0;
  if (!is_handle(device, memory))
    return red_fail(RED_ERR_INVALID,
                    "%s is no cl_mem of %s: the memory of an address, such as clSVMAlloc gives, becomes one by "
                    "clCreateBuffer with CL_MEM_USE_HOST_PTR",
                    what, device->traits.id);
  cl_int error = red_cl.GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, NULL);
  if (error != CL_SUCCESS)
    return red_fail(RED_ERR_INVALID, "%s is no cl_mem: clGetMemObjectInfo says %s", what, red_cl_error_name(error));
  if (offset <= size && bytes <= size - offset) return RED_OK;
  return red_fail(RED_ERR_INVALID, "%s: %llu bytes at offset %llu exceed the buffer of %llu", what,
                  (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)size);
}

/* The buffer that a sub-buffer is a part of, or the buffer itself; *offset moves along. */
static cl_mem whole_of(cl_mem memory, uint64_t *offset) {
  cl_mem parent = NULL;
  size_t origin = 0;
  if (red_cl.GetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL) != CL_SUCCESS ||
      parent == NULL)
    return memory;
  if (red_cl.GetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof origin, &origin, NULL) != CL_SUCCESS) return memory;
  *offset += origin;
  return parent;
}

red_status red_cl_check_parts(const red_lowered *lowered, cl_mem in, uint64_t in_offset, cl_mem out,
                              uint64_t out_offset) {
  if (in == out) return RED_OK; /* the core has seen that */
  cl_mem in_whole = whole_of(in, &in_offset), out_whole = whole_of(out, &out_offset);
  return in_whole == out_whole ? red_check_overlap(lowered, in_offset, out_offset) : RED_OK;
}
