/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/engine.h"

#include <string.h>

#include "report.h"

#if defined(HAVE_OPENCL)
extern const struct engine_api engine_opencl;
#endif
#if defined(HAVE_CUDA)
extern const struct engine_api engine_cuda;
#endif

const struct engine_api *const engine_apis[] = {
#if defined(HAVE_OPENCL)
    &engine_opencl,
#endif
#if defined(HAVE_CUDA)
    &engine_cuda,
#endif
    NULL,
};

static const struct engine_api *find(const red_device_info *info) {
  for (const struct engine_api *const *api = engine_apis; *api; api++)
    if (strcmp((*api)->backend, info->backend) == 0) return *api;
  return NULL;
}

bool engine_exists(const red_device_info *info) {
  return find(info) != NULL;
}

int engine_open(struct engine *engine, const red_device_info *info, enum engine_module module) {
  memset(engine, 0, sizeof *engine);
  engine->api = find(info);
  if (engine->api) return engine->api->open(engine, info->id, module);
  complain("%s: this build of redtool has no kernels of its own for %s", info->id, info->backend);
  return EXIT_LIBRARY;
}

void engine_close(struct engine *engine) {
  if (engine->api) engine->api->close(engine);
  memset(engine, 0, sizeof *engine);
}
