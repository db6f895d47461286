/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libOpenCL.so.1 whose driver aborts or hangs when it compiles, or has no exact kernels, as RED_TEST_BUILD says:
 * abort, hang, inexact. All else is done by the loader that RED_TEST_LOADER names.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "functions.h"

static red_cl_api real;

__attribute__((constructor)) static void open_real(void) {
  const char *path = getenv("RED_TEST_LOADER");
  void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) return;
#define CODE(name, parameters, arguments)       *(void **)&real.name = dlsym(library, "cl" #name);
#define MADE(name, type, parameters, arguments) *(void **)&real.name = dlsym(library, "cl" #name);
  OPENCL_FUNCTIONS(CODE, MADE)
#undef CODE
#undef MADE
}

static bool is_told(const char *how) {
  const char *told = getenv("RED_TEST_BUILD");
  return told != NULL && strcmp(told, how) == 0;
}

static void misbehave(const char *name) {
  if (strcmp(name, "BuildProgram") != 0) return;
  if (is_told("abort")) abort();
  while (is_told("hang")) pause();
}

#define CODE(name, parameters, arguments)                                                                              \
  CL_API_ENTRY cl_int CL_API_CALL cl##name parameters {                                                                \
    misbehave(#name);                                                                                                  \
    return real.name arguments;                                                                                        \
  }
#define MADE(name, type, parameters, arguments)                                                                        \
  CL_API_ENTRY type CL_API_CALL cl##name parameters {                                                                  \
    return real.name arguments;                                                                                        \
  }
#define clCreateKernel create_kernel
OPENCL_FUNCTIONS(CODE, MADE)
#undef clCreateKernel

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program of, const char *name, cl_int *error) {
  cl_kernel made = create_kernel(of, name, error);
  if (made == NULL || !is_told("inexact") || strncmp(name, "red_exact", 9) != 0) return made;
  real.ReleaseKernel(made);
  *error = CL_OUT_OF_RESOURCES;
  return NULL;
}
