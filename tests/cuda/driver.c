/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

driver_table cuda;
CUdevice driver_device;
CUcontext driver_primary;

static const struct {
  const char *name;
  void *into;
} symbols[] = {
#define X(member, symbol, parameters) {symbol, &cuda.member},
    DRIVER_FUNCTIONS(X)
#undef X
};

int driver_ordinal(void) {
  const char *colon = strchr(suite_backend(), ':');
  return colon != NULL ? atoi(colon + 1) : 0;
}

void driver_open(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  ck_assert_msg(library != NULL, "%s", dlerror());
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *(void **)symbols[i].into = dlsym(library, symbols[i].name);
    ck_assert_msg(*(void **)symbols[i].into != NULL, "no %s", symbols[i].name);
  }
  red_context_destroy(suite_context(0)); /* starts the driver */
  ck_cuda(cuda.DeviceGet(&driver_device, driver_ordinal()));
  ck_cuda(cuda.DevicePrimaryCtxRetain(&driver_primary, driver_device));
  ck_cuda(cuda.CtxSetCurrent(driver_primary));
}

void driver_close(void) {
  ck_cuda(cuda.DevicePrimaryCtxRelease(driver_device));
}
