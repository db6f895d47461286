/* SPDX-License-Identifier: BSD-2-Clause */
#include "shim.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "functions.h"

typedef enum entry {
#define CODE(name, parameters, arguments)       ENTRY_##name,
#define MADE(name, type, parameters, arguments) ENTRY_##name,
  OPENCL_FUNCTIONS(CODE, MADE)
#undef CODE
#undef MADE
  ENTRIES
} entry;

static const char *const names[] = {
#define CODE(name, parameters, arguments)       "cl" #name,
#define MADE(name, type, parameters, arguments) "cl" #name,
    OPENCL_FUNCTIONS(CODE, MADE)
#undef CODE
#undef MADE
};

static red_cl_api real;
static unsigned called[ENTRIES], failed[ENTRIES];

/* ---- References -------------------------------------------------------------------------------------------------- */

enum {
  MOST_OBJECTS = 4096
};

static uintptr_t objects[MOST_OBJECTS];
static unsigned object_count;
static bool giving;

static void add_object(uintptr_t object) {
  ck_assert_uint_lt(object_count, MOST_OBJECTS);
  objects[object_count++] = object;
}

static void remove_object(entry e, uintptr_t object) {
  unsigned i = 0;
  while (i < object_count && objects[i] != object) i++;
  ck_assert_msg(i < object_count, "%s of what the library does not hold", names[e]);
  objects[i] = objects[--object_count];
}

static bool begins(entry e, const char *with) {
  return strncmp(names[e], with, strlen(with)) == 0;
}

static bool retains(entry e) {
  return begins(e, "clRetain");
}

static bool gives_back(entry e) {
  return begins(e, "clRelease") || e == ENTRY_EnqueueUnmapMemObject;
}

unsigned shim_objects(void) {
  return object_count;
}

void shim_giving(int begun) {
  giving = begun != 0;
}

/* ---- Failing ----------------------------------------------------------------------------------------------------- */

static unsigned countdown, calls, first_call[ENTRIES]; /* since the last shim_fail */
static shim_calls failing;
static const char *failed_name;
static bool silently;

void shim_fail(unsigned n, shim_calls how) {
  countdown = n;
  failing = how;
  calls = 0;
  memset(first_call, 0, sizeof first_call);
  failed_name = NULL;
  silently = true;
}

void shim_reset(void) {
  shim_fail(0, ONE_CALL);
  giving = false;
  object_count = 0;
}

const char *shim_failed(void) {
  return failed_name;
}

unsigned shim_first(const char *name) {
  for (unsigned e = 0; e < ENTRIES; e++)
    if (strcmp(names[e], name) == 0) return first_call[e];
  ck_abort_msg("%s is none of the functions", name);
}

int shim_failed_silently(void) {
  return silently;
}

/* It is done, and then said to have failed: nothing is left under way, or unreleased. */
static bool ends(entry e) {
  return gives_back(e) || e == ENTRY_Flush || e == ENTRY_Finish;
}

static uintptr_t of_binary; /* the last program that was made of one */

/* What gives back cannot be told of; what describes has a default; a binary that is refused is built from its text. */
static bool may_be_silent(entry e, uintptr_t object) {
  if (e == ENTRY_BuildProgram || e == ENTRY_CreateKernel) return object == of_binary;
  return giving || gives_back(e) || e == ENTRY_GetPlatformInfo || e == ENTRY_GetDeviceIDs || e == ENTRY_GetDeviceInfo ||
         e == ENTRY_GetProgramInfo || e == ENTRY_GetKernelWorkGroupInfo || e == ENTRY_CreateProgramWithBinary;
}

static bool fails_now(entry e, uintptr_t object) {
  called[e]++;
  calls++;
  if (first_call[e] == 0) first_call[e] = calls;
  const bool goes_on = failed_name != NULL && failing == ALL_CALLS;
  if (!goes_on && (countdown == 0 || --countdown > 0)) return false;
  failed[e]++;
  if (failed_name == NULL) failed_name = names[e];
  silently &= may_be_silent(e, object);
  return true;
}

/* The library asks a program for every kernel that there may be: one that is not there fails by itself. */
static bool lacks_kernel(uintptr_t program, uintptr_t name) {
  cl_int error;
  cl_kernel kernel = real.CreateKernel((cl_program)program, (const char *)name, &error);
  if (kernel != NULL) real.ReleaseKernel(kernel);
  return error == CL_INVALID_KERNEL_NAME;
}

/* The object that a call is about. */
#define FIRST_OF(...)                    FIRST(__VA_ARGS__, 0)
#define FIRST(first, ...)                ((uintptr_t)(first))
#define SECOND_OF(...)                   SECOND(__VA_ARGS__, 0, 0)
#define SECOND(first, second, ...)       ((uintptr_t)(second))
#define THIRD_OF(...)                    THIRD(__VA_ARGS__, 0, 0, 0)
#define THIRD(first, second, third, ...) ((uintptr_t)(third))
#define OBJECT_OF(e, arguments)          (e == ENTRY_EnqueueUnmapMemObject ? THIRD_OF arguments : FIRST_OF arguments)

#define CODE(name, parameters, arguments)                                                                              \
  static cl_int CL_API_CALL shim_##name parameters {                                                                   \
    const entry e = ENTRY_##name;                                                                                      \
    const bool fails = fails_now(e, FIRST_OF arguments);                                                               \
    if (fails && !ends(e)) return CL_OUT_OF_RESOURCES;                                                                 \
    if (gives_back(e)) remove_object(e, OBJECT_OF(e, arguments));                                                      \
    cl_int code = real.name arguments;                                                                                 \
    if (retains(e) && code == CL_SUCCESS) add_object(FIRST_OF arguments);                                              \
    return fails ? CL_OUT_OF_RESOURCES : code;                                                                         \
  }
#define MADE(name, type, parameters, arguments)                                                                        \
  static type CL_API_CALL shim_##name parameters {                                                                     \
    if (ENTRY_##name == ENTRY_CreateKernel && lacks_kernel(FIRST_OF arguments, SECOND_OF arguments))                   \
      return real.name arguments;                                                                                      \
    if (fails_now(ENTRY_##name, FIRST_OF arguments)) {                                                                 \
      *error = CL_OUT_OF_RESOURCES;                                                                                    \
      return NULL;                                                                                                     \
    }                                                                                                                  \
    type made = real.name arguments;                                                                                   \
    if (made != NULL) add_object((uintptr_t)made);                                                                     \
    if (ENTRY_##name == ENTRY_CreateProgramWithBinary) of_binary = (uintptr_t)made;                                    \
    if (ENTRY_##name == ENTRY_CreateProgramWithSource && of_binary == (uintptr_t)made) of_binary = 0;                  \
    return made;                                                                                                       \
  }
OPENCL_FUNCTIONS(CODE, MADE)
#undef CODE
#undef MADE

void shim_install(void) {
  real = red_cl;
#define CODE(name, parameters, arguments)       red_cl.name = shim_##name;
#define MADE(name, type, parameters, arguments) red_cl.name = shim_##name;
  OPENCL_FUNCTIONS(CODE, MADE)
#undef CODE
#undef MADE
}

void shim_remove(void) {
  red_cl = real;
}

void shim_expect_all(void) {
  char missing[1024] = "";
  for (unsigned e = 0; e < ENTRIES; e++) {
    size_t used = strlen(missing);
    if (failed[e] == 0) snprintf(missing + used, sizeof missing - used, " %s (%u calls)", names[e], called[e]);
  }
  ck_assert_msg(missing[0] == '\0', "never failed:%s", missing);
}
