/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU backend's row of slots: probing, opening, describing, and the way into the three kinds of work. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "room.h"

static size_t probe(const char *item, red_device_info *list, int *scores, size_t capacity) {
  (void)item;
  if (capacity == 0) return 1;
  snprintf(list->id, sizeof list->id, "omp");
  snprintf(list->name, sizeof list->name, "%s", red_cpu_model());
  list->available = 1;
  list->memory = red_cpu_memory();
  list->units = red_process_cpus(red_team_processors());
  *scores = 1;
  return 1;
}

static void print_detail(const red_cpu *cpu, char *text, size_t bytes) {
#if defined(_OPENMP)
  snprintf(text, bytes, "%s, %u thread%s (OpenMP)", cpu->kernels->name, cpu->threads, cpu->threads == 1 ? "" : "s");
#else
  snprintf(text, bytes, "%s, 1 thread (built without OpenMP)", cpu->kernels->name);
#endif
}

/* The defaults, then what was measured on a device of this description. */
static red_status tune(red_cpu *cpu) {
  red_cpu_tuning *tuning = &cpu->tuning;
  RED_CPU_TUNING(RED_TUNING_DEFAULT)
  tuning->stream_bytes = red_cpu_last_level_cache() / 2;
  tuning->narrow_bytes = red_cpu_last_level_cache();
  const red_tuning_row rows[] = {RED_CPU_TUNING(RED_TUNING_ROW)};
  char detail[96];
  print_detail(cpu, detail, sizeof detail);
  return red_tune_load("omp", red_cpu_model(), detail, rows, sizeof rows / sizeof rows[0]);
}

static void close_cpu(void *device) {
  red_cpu *cpu = device;
  free(cpu->rivals);
  free(cpu);
}

static red_status open_cpu(const char *id, const red_context_options *options, void **device) {
  (void)id;
  const red_kernels *kernels = red_cpu_kernels();
  if (kernels == NULL) return RED_ERR_NO_DEVICE;
  red_cpu *cpu = malloc(sizeof *cpu);
  if (cpu == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for the CPU device");
  /* A number that the application gives is obeyed, beyond the CPUs too; by itself the library stays within them. */
  unsigned most = red_team_limit(), asked = options != NULL ? options->threads : 0;
  unsigned cap = asked > 0 ? asked : red_process_cpus(red_team_processors());
  if (most > cap) most = cap;
  *cpu = (red_cpu){.kernels = kernels, .narrow = red_cpu_narrow_kernels(kernels), .threads = most, .asked = asked > 0};
  cpu->rivals = calloc(RED_LANE_OPS, sizeof *cpu->rivals);
  red_status status = cpu->rivals != NULL ? tune(cpu) : red_fail(RED_ERR_NO_MEMORY, "no memory for the CPU device");
  if (status == RED_OK)
    *device = cpu;
  else
    close_cpu(cpu);
  return status;
}

static void describe(void *device, red_device_info *info) {
  const red_cpu *cpu = device;
  print_detail(cpu, info->detail, sizeof info->detail);
  info->units = cpu->threads;
}

static red_status execute(void *device, const void *plan, const red_lowered *lowered, void *queue,
                          const red_exec *exec) {
  (void)plan;
  (void)queue;
  const void *in = (const char *)exec->in + exec->in_offset;
  const void *in2 = exec->in2 != NULL ? (const char *)exec->in2 + exec->in2_offset : NULL;
  void *out = (char *)exec->out + exec->out_offset;
  switch (lowered->kind) {
  case RED_REDUCE:
    if (lowered->exact) return red_cpu_exact(device, lowered, in, in2, exec->exact, exec->result_only);
    if (lowered->bounded) return red_cpu_bounded(device, lowered, in, in2, exec->pair);
    return red_cpu_reduce(device, lowered, in, in2, out);
  case RED_STATS:
    return red_cpu_stats(device, lowered, in, exec->stats);
  default:
    return red_cpu_scan(device, lowered, in, out, exec->total);
  }
}

const red_backend red_backend_omp = {
    .abi = RED_BACKEND_ABI,
    .name = "omp",
    .on_host = true,
    .addresses = true,
    .probe = probe,
    .open = open_cpu,
    .close = close_cpu,
    .describe = describe,
    .alloc = red_cpu_alloc,
    .free = red_cpu_free,
    .upload = red_cpu_upload,
    .download = red_cpu_download,
    .queue_open = red_cpu_queue_open,
    .queue_finish = red_cpu_queue_finish,
    .queue_close = red_cpu_queue_close,
    .execute = execute,
    .small = red_cpu_small,
};
