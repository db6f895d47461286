/* SPDX-License-Identifier: BSD-2-Clause */
#include "shim.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

typedef enum entry {
#define X(member, symbol, parameters, arguments) ENTRY_##member,
  RED_CUDA_API(X)
  RED_CUDA_API_OPTIONAL(X)
#undef X
      ENTRIES
} entry;

static const char *const symbols[] = {
#define X(member, symbol, parameters, arguments) symbol,
    RED_CUDA_API(X) RED_CUDA_API_OPTIONAL(X)
#undef X
};

static red_cuda_api real;
static unsigned called[ENTRIES], failed[ENTRIES];

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

static const struct {
  entry make, unmake;
} kinds[] = {
    {ENTRY_MemAlloc, ENTRY_MemFree},
    {ENTRY_MemHostAlloc, ENTRY_MemFreeHost},
    {ENTRY_StreamCreate, ENTRY_StreamDestroy},
    {ENTRY_EventCreate, ENTRY_EventDestroy},
    {ENTRY_ModuleLoadData, ENTRY_ModuleUnload},
};

enum {
  KINDS = sizeof kinds / sizeof kinds[0],
  MOST_OBJECTS = 1024,
  MOST_GIVING = 256
};

static struct {
  unsigned kind;
  uintptr_t handle;
} objects[MOST_OBJECTS];
static unsigned object_count, lost;
static int depth, retained;

static unsigned recorded[MOST_GIVING]; /* objects that the i-th call of a scenario gave back */
static unsigned giving_index;
static int recording, giving;

static unsigned kind_made_by(entry e) {
  unsigned k = 0;
  while (k < KINDS && kinds[k].make != e) k++;
  return k;
}

static unsigned kind_unmade_by(entry e) {
  unsigned k = 0;
  while (k < KINDS && kinds[k].unmake != e) k++;
  return k;
}

static void add_object(unsigned kind, uintptr_t handle) {
  ck_assert_uint_lt(object_count, MOST_OBJECTS);
  objects[object_count].kind = kind;
  objects[object_count++].handle = handle;
}

static void remove_object(entry e, unsigned kind, uintptr_t handle) {
  unsigned i = 0;
  while (i < object_count && (objects[i].kind != kind || objects[i].handle != handle)) i++;
  ck_assert_msg(i < object_count, "%s of what was not made, or is unmade already", symbols[e]);
  objects[i] = objects[--object_count];
  if (recording && giving) recorded[giving_index]++;
}

static void account(entry e, uintptr_t first) {
  uintptr_t handle;
  if (kind_made_by(e) < KINDS) {
    memcpy(&handle, (const void *)first, sizeof handle);
    add_object(kind_made_by(e), handle);
  }
  if (e == ENTRY_CtxPushCurrent) depth++;
  if (e == ENTRY_DevicePrimaryCtxRetain) retained++;
}

static void account_end(entry e, uintptr_t first) {
  if (kind_unmade_by(e) < KINDS) remove_object(e, kind_unmade_by(e), first);
  if (e == ENTRY_CtxPopCurrent) depth--;
  if (e == ENTRY_DevicePrimaryCtxRelease) retained--;
}

unsigned shim_objects(void) {
  return object_count;
}

int shim_depth(void) {
  return depth;
}

int shim_retained(void) {
  return retained;
}

void shim_record(int record) {
  recording = record;
  giving_index = 0;
  lost = 0;
  if (record) memset(recorded, 0, sizeof recorded);
}

void shim_begin_giving(void) {
  ck_assert_uint_lt(giving_index, MOST_GIVING);
  giving = 1;
}

void shim_end_giving(void) {
  giving = 0;
  giving_index++;
}

unsigned shim_lost(void) {
  return lost;
}

static void unmake(unsigned kind, uintptr_t handle) {
  switch (kinds[kind].unmake) {
  case ENTRY_MemFree:
    real.MemFree((CUdeviceptr)handle);
    break;
  case ENTRY_MemFreeHost:
    real.MemFreeHost((void *)handle);
    break;
  case ENTRY_StreamDestroy:
    real.StreamDestroy((CUstream)handle);
    break;
  case ENTRY_EventDestroy:
    real.EventDestroy((CUevent)handle);
    break;
  default:
    real.ModuleUnload((CUmodule)handle);
    break;
  }
}

void shim_reclaim(CUcontext context) {
  CUcontext popped;
  ck_assert_int_eq(real.CtxPushCurrent(context), CUDA_SUCCESS);
  while (object_count > 0) {
    object_count--;
    unmake(objects[object_count].kind, objects[object_count].handle);
  }
  real.CtxPopCurrent(&popped);
}

/* ---- Failing ----------------------------------------------------------------------------------------------------- */

static unsigned countdown; /* 0: no call fails */
static int only_makers, texts_fail, questions_fail, silently;
static const char *failed_symbol;

void shim_fail(unsigned n, int makers) {
  countdown = n;
  only_makers = makers;
  failed_symbol = NULL;
  silently = 0;
}

const char *shim_failed(void) {
  return failed_symbol;
}

int shim_failed_silently(void) {
  return silently;
}

void shim_fail_texts(int fail) {
  texts_fail = fail;
}

void shim_reset(void) {
  shim_fail(0, 0);
  shim_record(0);
  texts_fail = questions_fail = giving = 0;
  object_count = 0;
  depth = retained = 0;
}

void shim_fail_questions(int fail) {
  questions_fail = fail;
}

static int is_text(entry e) {
  return e == ENTRY_GetErrorName || e == ENTRY_GetErrorString;
}

/* A function that unmakes or restores something does it and then fails: otherwise the test would leak. */
static int unmakes(entry e, uintptr_t first) {
  if (e != ENTRY_ThreadExchangeStreamCaptureMode)
    return kind_unmade_by(e) < KINDS || e == ENTRY_CtxPopCurrent || e == ENTRY_DevicePrimaryCtxRelease;
  CUstreamCaptureMode mode;
  memcpy(&mode, (const void *)first, sizeof mode);
  return mode != CU_STREAM_CAPTURE_MODE_RELAXED;
}

/* What describes a device, or has another way: the library may go on without it. */
static int may_be_silent(entry e, int unmaking) {
  return unmaking || giving || e == ENTRY_DriverGetVersion || e == ENTRY_DeviceGetName || e == ENTRY_DeviceTotalMem ||
         e == ENTRY_DeviceGetAttribute || e == ENTRY_PointerGetAttributes;
}

static int fails_now(entry e, int unmaking) {
  called[e]++;
  if (is_text(e)) {
    failed[e] += (unsigned)texts_fail;
    return texts_fail;
  }
  if (e == ENTRY_StreamQuery) {
    if (!questions_fail) return 0;
  } else if (countdown == 0 || (only_makers && kind_made_by(e) == KINDS) || --countdown > 0) {
    return 0;
  }
  failed[e]++;
  failed_symbol = symbols[e];
  silently = may_be_silent(e, unmaking);
  if (giving && !unmaking && (e == ENTRY_CtxPushCurrent || e == ENTRY_ThreadExchangeStreamCaptureMode))
    lost = recorded[giving_index];
  return 1;
}

#define FIRST_OF(...)     FIRST(__VA_ARGS__, 0)
#define FIRST(first, ...) ((uintptr_t)(first))

#define X(member, symbol, parameters, arguments)                                                                       \
  static CUresult shim_##member parameters {                                                                           \
    const uintptr_t first = FIRST_OF arguments;                                                                        \
    const int unmaking = unmakes(ENTRY_##member, first), fails = fails_now(ENTRY_##member, unmaking);                  \
    if (fails && !unmaking) return CUDA_ERROR_OUT_OF_MEMORY;                                                           \
    if (unmaking) account_end(ENTRY_##member, first);                                                                  \
    CUresult result = real.member arguments;                                                                           \
    if (result == CUDA_SUCCESS && !unmaking) account(ENTRY_##member, first);                                           \
    return fails ? CUDA_ERROR_UNKNOWN : result;                                                                        \
  }
RED_CUDA_API(X)
RED_CUDA_API_OPTIONAL(X)
#undef X

void shim_install(void) {
  real = red_cu;
#define X(member, symbol, parameters, arguments)                                                                       \
  if (real.member != NULL) red_cu.member = shim_##member;
  RED_CUDA_API(X)
  RED_CUDA_API_OPTIONAL(X)
#undef X
}

/* cuInit is called before any table can be replaced: test_absence.c makes it fail. */
void shim_expect_all(void) {
  char missing[1024] = "";
  for (unsigned e = 0; e < ENTRIES; e++) {
    if (e == ENTRY_Init || (e == ENTRY_LaunchKernelEx && real.LaunchKernelEx == NULL) || failed[e] > 0) continue;
    size_t used = strlen(missing);
    snprintf(missing + used, sizeof missing - used, " %s (%u calls)", symbols[e], called[e]);
  }
  ck_assert_msg(missing[0] == '\0', "never failed:%s", missing);
}
