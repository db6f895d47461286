/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of driver functions, and what their errors mean here. */
#ifndef RED_CUDA_API_H
#define RED_CUDA_API_H

#include <cuda.h>

#include "api.def"
#include "status.h"

typedef struct red_cuda_api {
#define X(member, symbol, parameters, arguments) CUresult(*member) parameters;
  RED_CUDA_API(X)
  RED_CUDA_API_OPTIONAL(X)
#undef X
} red_cuda_api;

/* Filled by red_cuda_load; tests put functions that fail in between. */
extern red_cuda_api red_cu;

/* Open libcuda and initialise it, once in a process. NULL if it worked, else why not; a forked child is told so. */
const char *red_cuda_load(void);

/* A status and a sentence for a failed call: "cuMemAlloc (16 bytes of ...): out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
 */
red_status red_cuda_fail(CUresult error, const char *doing);

/* RED_OK, or the sentence. */
static inline red_status red_cuda_check(CUresult error, const char *doing) {
  return error == CUDA_SUCCESS ? RED_OK : red_cuda_fail(error, doing);
}

#endif
