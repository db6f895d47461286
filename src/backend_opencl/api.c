/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of OpenCL's functions, and what their errors are called. */
#include "api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

red_cl_api red_cl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *why_not;
static char reason[256];
static volatile bool forked; /* in a child since the driver was started, which does not survive fork() */

/* The address of a function as an object pointer: POSIX guarantees it, ISO C has no word for it. */
static bool find(void *library, const char *name, void *slot) {
  void *symbol = dlsym(library, name);
  *(void **)slot = symbol;
  return symbol != NULL;
}

static void note_fork(void) {
  forked = true;
}

bool red_cl_is_forked(void) {
  return forked;
}

static void open_library(void) {
  const char *name = "libOpenCL.so.1";
  if (pthread_atfork(NULL, NULL, note_fork) != 0) {
    why_not = "no memory to be told of fork()";
    return;
  }
  red_cl_keep_environment();
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *error = dlerror();
    snprintf(reason, sizeof reason, "the OpenCL loader cannot be opened: %s", error != NULL ? error : name);
    why_not = reason;
    return;
  }
#define X(function)                                                                                                    \
  if (!find(library, "cl" #function, &red_cl.function)) {                                                              \
    why_not = "the OpenCL loader lacks cl" #function ": OpenCL 1.2 is needed";                                         \
    return;                                                                                                            \
  }
  RED_OPENCL_API(X)
#undef X
}

const char *red_cl_open_api(void) {
  pthread_once(&once, open_library);
  if (why_not == NULL && forked) return "the OpenCL driver was started before fork(): it does not work in the child";
  return why_not;
}

const char *red_cl_error_name(cl_int error) {
  switch (error) {
#define X(name)                                                                                                        \
  case name:                                                                                                           \
    return #name;
    X(CL_SUCCESS)
    X(CL_DEVICE_NOT_FOUND)
    X(CL_DEVICE_NOT_AVAILABLE)
    X(CL_COMPILER_NOT_AVAILABLE)
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    X(CL_OUT_OF_RESOURCES)
    X(CL_OUT_OF_HOST_MEMORY)
    X(CL_MEM_COPY_OVERLAP)
    X(CL_BUILD_PROGRAM_FAILURE)
    X(CL_MAP_FAILURE)
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    X(CL_INVALID_VALUE)
    X(CL_INVALID_DEVICE_TYPE)
    X(CL_INVALID_PLATFORM)
    X(CL_INVALID_DEVICE)
    X(CL_INVALID_CONTEXT)
    X(CL_INVALID_QUEUE_PROPERTIES)
    X(CL_INVALID_COMMAND_QUEUE)
    X(CL_INVALID_HOST_PTR)
    X(CL_INVALID_MEM_OBJECT)
    X(CL_INVALID_BINARY)
    X(CL_INVALID_BUILD_OPTIONS)
    X(CL_INVALID_PROGRAM)
    X(CL_INVALID_PROGRAM_EXECUTABLE)
    X(CL_INVALID_KERNEL_NAME)
    X(CL_INVALID_KERNEL)
    X(CL_INVALID_ARG_INDEX)
    X(CL_INVALID_ARG_VALUE)
    X(CL_INVALID_ARG_SIZE)
    X(CL_INVALID_KERNEL_ARGS)
    X(CL_INVALID_WORK_DIMENSION)
    X(CL_INVALID_WORK_GROUP_SIZE)
    X(CL_INVALID_WORK_ITEM_SIZE)
    X(CL_INVALID_GLOBAL_OFFSET)
    X(CL_INVALID_EVENT_WAIT_LIST)
    X(CL_INVALID_OPERATION)
    X(CL_INVALID_BUFFER_SIZE)
    X(CL_INVALID_GLOBAL_WORK_SIZE)
    X(CL_PLATFORM_NOT_FOUND_KHR)
#undef X
  default:
    return "an unknown error";
  }
}

red_status red_cl_check(cl_int error, const char *call) {
  if (error == CL_SUCCESS) return RED_OK;
  bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY;
  return red_fail(memory ? RED_ERR_NO_MEMORY : RED_ERR_DRIVER, "%s failed: %s (%d)", call, red_cl_error_name(error),
                  (int)error);
}
