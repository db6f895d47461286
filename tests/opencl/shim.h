/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the library and the driver: a table of OpenCL's functions, each of which can be made to fail, that counts the
 * references to every object. Functions that give something back, or wait for the end, do so and then fail.
 */
#ifndef RED_TESTS_OPENCL_SHIM_H
#define RED_TESTS_OPENCL_SHIM_H

#include "api.h"

/* Put it into the place of the library's table, and the driver's own back. */
void shim_install(void);
void shim_remove(void);

/* No call fails, and there are no objects: whatever a test before has left. */
void shim_reset(void);

/* The n-th call from now on fails, 0: none does; or that and all after it, until the next of these. */
typedef enum shim_calls {
  ONE_CALL,
  ALL_CALLS
} shim_calls;
void shim_fail(unsigned n, shim_calls calls);
/* The first that has failed since, NULL if none did; and whether the library may go on without saying so. */
const char *shim_failed(void);
int shim_failed_silently(void);

/* Which call since the last shim_fail was the first of this function; 0: none. */
unsigned shim_first(const char *name);

/* References that the library holds. */
unsigned shim_objects(void);
/* Between begin and end the library gives back what it has no way to say a failure of. */
void shim_giving(int begun);

/* Fail, naming them, if functions of the table were never called, or were called and never made to fail. */
void shim_expect_all(void);

#endif
