/* SPDX-License-Identifier: BSD-2-Clause */
/* An OpenCL context of the application's, and the library's context in it, for the suites of this folder. */
#ifndef RED_TESTS_OPENCL_NATIVE_H
#define RED_TESTS_OPENCL_NATIVE_H

#include "../compare.h"
#include "api.h"

extern red_context *context;
extern cl_context native;
extern cl_device_id native_device;
extern char native_id[32]; /* "opencl:1.0" */

/* Fixture: the device under test, by default the first one that there is. */
void open_native(void);
void close_native(void);

/* Of the loader, what the library itself has no use for. */
void *function(const char *name);

/* Another context of the library's, as it is while the environment has these variables: "NAME=VALUE NAME=VALUE". */
red_status context_under(const char *settings, red_context **made);

/* A program for RED_OPENCL_PROBE that says of any device that it has passed. It is for caches of one's own: that is
 * kept. */
const char *probe_that_passes(void);

/* The context opens without the self-test, for suites that test more of it: each shape's programs take their time. */
red_status untested_context_under(const char *settings, red_context **made);

/* `count` bytes from `offset` on, and some room behind; `bytes` may be NULL. */
cl_mem filled(const void *bytes, size_t count, size_t offset);

/* A plan for arrays on the device. */
red_plan *device_plan(red_kind kind, red_op op, red_dtype in, red_dtype out, uint64_t n);

/* The problem on device memory at odd offsets, through `queue`, against the reference: of this data, or of random. */
void compare_data_on_device(const red_problem *problem, const void *in, const void *in2, red_queue *queue,
                            random_state *random);
void compare_on_device(const red_problem *problem, red_queue *queue, random_state *random);

#endif
