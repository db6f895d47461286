/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the library and the driver: a table of driver functions, each of which can be made to fail, that accounts for
 * every object that is made and unmade. Functions that unmake something do so and then fail.
 */
#ifndef RED_TESTS_CUDA_SHIM_H
#define RED_TESTS_CUDA_SHIM_H

#include "api.h"

/* Put it into the place of the library's table. The driver has been loaded. */
void shim_install(void);

/* No call fails, and there are no objects, as if none had been made. */
void shim_reset(void);

/*
 * The n-th call from now on fails; 0: none does. With `makers`, only calls that make something count. Questions whether
 * a stream has ended never do: how often they are asked is chance.
 */
void shim_fail(unsigned n, int makers);
/* What has failed since, NULL if nothing did; and whether the library may go on without saying so. */
const char *shim_failed(void);
int shim_failed_silently(void);
/* The functions that name errors fail, all of them; and the questions whether a stream has ended. */
void shim_fail_texts(int fail);
void shim_fail_questions(int fail);

/*
 * Objects that exist. A call that gives something back (red_free, ...) stands between begin and end: if the library is
 * kept from entering the device's context there, it can give nothing back. Those objects, as many as the same call gave
 * back when it was recorded, are lost; shim_reclaim unmakes them.
 */
unsigned shim_objects(void);
void shim_record(int record);
void shim_begin_giving(void);
void shim_end_giving(void);
unsigned shim_lost(void);
void shim_reclaim(CUcontext context);

/* How deep the stack of contexts is, seen from the library, and the primary contexts retained: 0 between calls. */
int shim_depth(void);
int shim_retained(void);

/* Fail, naming them, if functions of the table were never called, or were called and never made to fail. */
void shim_expect_all(void);

#endif
