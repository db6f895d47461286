/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libOpenCL.so.1 whose driver aborts or hangs when it compiles, as RED_TEST_BUILD says; all else is done by the
 * loader that RED_TEST_LOADER names.
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

static void misbehave(const char *name) {
  const char *how = getenv("RED_TEST_BUILD");
  if (how == NULL || strcmp(name, "BuildProgram") != 0) return;
  if (strcmp(how, "abort") == 0) abort();
  for (;;) pause();
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
OPENCL_FUNCTIONS(CODE, MADE)
