/* SPDX-License-Identifier: BSD-2-Clause */
/* libcuda, opened at run time: the library itself runs on machines that have none. */
#include "api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

red_cuda_api red_cu;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char reason[256];
static pid_t initialised_in; /* 0: not yet */
static bool usable;

typedef struct symbol_row {
  const char *symbol;
  void *into; /* the address of a member of red_cu */
  bool optional;
} symbol_row;

static const symbol_row symbols[] = {
#define X(member, symbol, parameters, arguments) {symbol, &red_cu.member, false},
    RED_CUDA_API(X)
#undef X
#define X(member, symbol, parameters, arguments) {symbol, &red_cu.member, true},
        RED_CUDA_API_OPTIONAL(X)
#undef X
};

static bool find_symbols(void *library) {
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *function = dlsym(library, symbols[i].symbol);
    if (function == NULL && !symbols[i].optional) {
      snprintf(reason, sizeof reason, "the driver is too old: libcuda.so.1 lacks %s", symbols[i].symbol);
      return false;
    }
    *(void **)symbols[i].into = function;
  }
  return true;
}

static bool open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(reason, sizeof reason, "no driver: %s", dlerror());
    return false;
  }
  if (!find_symbols(library)) return false;
  CUresult error = red_cu.Init(0);
  if (error == CUDA_SUCCESS) return true;
  const char *text = "unknown error";
  red_cu.GetErrorString(error, &text);
  snprintf(reason, sizeof reason, error == CUDA_ERROR_NO_DEVICE ? "no device: cuInit: %s" : "cuInit: %s", text);
  return false;
}

const char *red_cuda_load(void) {
  pthread_mutex_lock(&lock);
  if (initialised_in == 0) {
    initialised_in = getpid();
    usable = open_driver();
  }
  bool forked = usable && initialised_in != getpid();
  pthread_mutex_unlock(&lock);
  if (forked) return "the driver was started before fork(): it does not work in the child";
  return usable ? NULL : reason;
}

static red_status status_of(CUresult error) {
  switch (error) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return RED_ERR_NO_MEMORY;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
    return RED_ERR_NO_DEVICE;
  case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
  case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    return RED_ERR_UNSUPPORTED;
  default:
    return RED_ERR_DRIVER;
  }
}

/* The driver gives these again for whatever is asked of the context from then on. */
static bool is_lasting(CUresult error) {
  switch (error) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
    return true;
  default:
    return false;
  }
}

red_status red_cuda_fail(CUresult error, const char *doing) {
  const char *name = NULL, *text = NULL;
  red_cu.GetErrorName(error, &name);
  red_cu.GetErrorString(error, &text);
  return red_fail(status_of(error), "%s: %s (%s)%s", doing, text != NULL ? text : "unknown error",
                  name != NULL ? name : "an error this driver has no name for",
                  is_lasting(error) ? "; the CUDA context is lost: this process can use the device no more" : "");
}
