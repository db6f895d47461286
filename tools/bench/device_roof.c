/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/device_roof.h"

#include "report.h"

enum {
  QUAD_BYTES = 16,
  GROUPS_A_UNIT = 8,
  LEAST_PIECE = 16, /* quads of a work-item's piece, on a CPU */
  PIECE_STEP = 4    /* quads that it reads at a time */
};

/* Neighbouring work-items read neighbouring quads, one each; on a CPU each has a piece, and what is left over is not
 * read. */
static uint64_t choose_geometry(struct device_roof *roof, uint64_t bytes) {
  const struct engine *engine = &roof->device->engine;
  const uint64_t quads = bytes / QUAD_BYTES > UINT32_MAX ? UINT32_MAX : bytes / QUAD_BYTES;
  roof->quads = (uint32_t)quads;
  roof->groups = (uint32_t)(quads / engine->group + 1);
  if (!engine->is_cpu) return quads * QUAD_BYTES;
  const uint64_t wanted = quads / (LEAST_PIECE * engine->group), most = (uint64_t)engine->units * GROUPS_A_UNIT;
  const uint64_t groups = wanted < most ? wanted : most;
  roof->groups = groups ? (uint32_t)groups : 1;
  const uint64_t items = (uint64_t)roof->groups * engine->group;
  return quads / items / PIECE_STEP * PIECE_STEP * items * QUAD_BYTES;
}

int device_roof_prepare(struct device_roof *roof, struct bench_device *device, void *from, void *to, bool copies,
                        uint64_t bytes) {
  struct engine *engine = &device->engine;
  *roof = (struct device_roof){.device = device, .from = from, .to = to, .copies = copies, .bytes = bytes};
  if (!engine->api) {
    roof->bytes = 0;
    return EXIT_OK;
  }
  if (copies) return EXIT_OK;
  roof->bytes = choose_geometry(roof, bytes);
  if (device->read_kernel || roof->bytes == 0) return EXIT_OK;
  return engine->api->kernel(engine, engine->is_cpu ? "read_pieces" : "read_all", &device->read_kernel);
}

int device_roof_run(void *argument, unsigned calls) {
  struct device_roof *roof = argument;
  struct engine *engine = &roof->device->engine;
  const struct engine_arg args[] = {
      {sizeof roof->from, &roof->from}, {sizeof roof->quads, &roof->quads}, {sizeof roof->to, &roof->to}};
  int code = EXIT_OK;
  for (unsigned i = 0; i < calls && !code; i++)
    code = roof->copies ? engine->api->copy(engine, roof->to, roof->from, roof->bytes)
                        : engine->api->launch(engine, roof->device->read_kernel, roof->groups, args, 3);
  return code ? code : engine->api->finish(engine);
}

int device_roof_before(void *argument) {
  const struct device_roof *roof = argument;
  return roof->before ? roof->before(roof->argument) : EXIT_OK;
}

double device_roof_rate(const struct device_roof *roof, const struct quartiles *time) {
  return (double)roof->bytes * (roof->copies ? 2 : 1) / time->median;
}
