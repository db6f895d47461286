/* SPDX-License-Identifier: BSD-2-Clause */
/* One problem with everything around it: what the fault tests try again and again, while calls of the driver fail. */
#ifndef RED_TESTS_CUDA_TRIAL_H
#define RED_TESTS_CUDA_TRIAL_H

#include "../suite.h"

typedef struct trial {
  const char *combine; /* RED_CUDA_COMBINE */
  red_kind kind;
  red_op op;
  red_dtype in, out;
  uint64_t n;
  red_memory in_memory, out_memory;
  int exact;
  enum {
    OWN_QUEUE,
    NO_QUEUE,
    OWN_WORKSPACE,
    CAPTURED
  } how;
} trial;

/* Room for problems of up to `most` elements. */
void trial_open(uint64_t most);
void trial_close(void);

/* The input and the right answer of what is tried next, and the way to combine; and no way any more. */
void trial_begin(const trial *t);
void trial_end(void);

/* Make what is needed, execute, compare, unmake, in any context of the device. Statuses are passed on. */
red_status trial_run(red_context *context, const trial *t);

#endif
