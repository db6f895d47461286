/* SPDX-License-Identifier: BSD-2-Clause */
/* Problems in device memory, for the suites of the CUDA backend. */
#ifndef RED_TESTS_CUDA_DEVICE_H
#define RED_TESTS_CUDA_DEVICE_H

#include "../compare.h"

/* The device under test, and the CPU that knows better: a suite's unchecked fixture. */
extern red_context *context, *cpu;
void open_contexts(void);
void close_contexts(void);

/* Whether there is such a problem: not every operator goes with every dtype. */
int possible(const red_problem *problem);

/* How to run a problem whose input lies on the host. */
typedef struct device_run {
  red_queue *queue;   /* or NULL */
  uint64_t in_shift;  /* elements by which the device copy is off a 256-byte boundary */
  uint64_t out_shift; /* outputs, likewise; ignored in place */
  const void *in2;    /* the second input of operators that take two, on the host like the first */
  uint64_t in2_shift;
  int in_place;
  int host_result;                 /* reductions: the result goes to host memory */
  int own_workspace;               /* give the execution memory full of rubbish */
  void (*prepare)(red_plan *plan); /* what to do to the plan before it is executed, or NULL */
} device_run;

/* The status of the plan or the execution; on RED_OK `out` has the outputs. What must not be written is watched. */
red_status run_on_device(const device_run *run, const red_problem *problem, const void *in, void *out);

#endif
