/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool info: the devices, which one would be taken, and why the others are missing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "format.h"
#include "report.h"
#include "options.h"

/* What a context takes for data in one kind of memory, or why it takes nothing. */
struct choice {
  const char *memory;
  bool found;
  red_device_info device;
  char reason[512];
};

static void choose(const options *chosen, red_memory memory, struct choice *choice) {
  red_context *context = NULL;
  const red_context_options wish = {.size = sizeof wish, .backend = chosen->backend, .threads = chosen->threads};
  memset(choice, 0, sizeof *choice);
  choice->memory = memory == RED_HOST ? "host" : "device";
  choice->device.size = sizeof choice->device;
  red_status status = red_context_create(&wish, &context);
  if (!status) status = red_context_device(context, memory, &choice->device);
  choice->found = status == RED_OK;
  if (status) snprintf(choice->reason, sizeof choice->reason, "%s", red_last_error());
  red_context_destroy(context);
}

static void print_device(const red_device_info *device) {
  printf("%-12s ", device->id[0] ? device->id : device->backend);
  if (!device->available) {
    printf("not available: %s\n", device->reason);
    return;
  }
  printf("%s", device->name);
  if (device->detail[0]) printf(", %s", device->detail);
  if (device->units) printf(", %" PRIu32 " units", device->units);
  if (device->memory) printf(", %.1f GiB", (double)device->memory / 1073741824.0);
  if (device->bandwidth > 0) printf(", %.0f GB/s peak", device->bandwidth * 1e-9);
  printf("\n");
}

static void print_choice(const struct choice *choice) {
  if (choice->found)
    printf("%-6s memory: %s, %s\n", choice->memory, choice->device.id, choice->device.detail);
  else
    printf("%-6s memory: none (%s)\n", choice->memory, choice->reason);
}

static void print_text(const options *chosen, const struct devices *devices, const struct choice choices[2]) {
  const int v = red_version();
  const char *variable = getenv("RED_BACKEND");
  printf("libred %d.%d.%d\n", v / 10000, v / 100 % 100, v % 100);
  if (chosen->backend)
    printf("--backend %s\n", chosen->backend);
  else if (variable)
    printf("RED_BACKEND=%s\n", variable);
  printf("\nDevices\n");
  for (size_t i = 0; i < devices->count; i++) print_device(&devices->list[i]);
  printf("\nChosen for data in\n");
  for (int i = 0; i < 2; i++) print_choice(&choices[i]);
}

static void print_json_field(const char *name, const char *text) {
  printf("\"%s\": ", name);
  print_json_string(stdout, text);
  printf(", ");
}

static void print_json_device(const red_device_info *device) {
  printf("{");
  print_json_field("id", device->id);
  print_json_field("backend", device->backend);
  print_json_field("name", device->name);
  print_json_field("detail", device->detail);
  print_json_field("reason", device->reason);
  printf("\"available\": %s, \"memory\": %" PRIu64 ", \"bandwidth\": %.17g, \"units\": %" PRIu32 "}",
         device->available ? "true" : "false", device->memory, device->bandwidth, device->units);
}

static void print_json_choice(const struct choice *choice) {
  printf("\"%s\": ", choice->memory);
  print_json_string(stdout, choice->found ? choice->device.id : "");
  printf(", \"%s_detail\": ", choice->memory);
  print_json_string(stdout, choice->found ? choice->device.detail : "");
  printf(", \"%s_reason\": ", choice->memory);
  print_json_string(stdout, choice->reason);
}

static void print_json(const struct devices *devices, const struct choice choices[2]) {
  const int v = red_version();
  printf("{\"version\": \"%d.%d.%d\", \"devices\": [", v / 10000, v / 100 % 100, v % 100);
  for (size_t i = 0; i < devices->count; i++) {
    if (i) printf(", ");
    print_json_device(&devices->list[i]);
  }
  printf("], \"chosen\": {");
  print_json_choice(&choices[0]);
  printf(", ");
  print_json_choice(&choices[1]);
  printf("}}\n");
}

static int run_info(const options *chosen) {
  struct devices devices;
  struct choice choices[2];
  const int code = devices_list(&devices);
  if (code) return code;
  choose(chosen, RED_HOST, &choices[0]);
  choose(chosen, RED_DEVICE, &choices[1]);
  if (chosen->json)
    print_json(&devices, choices);
  else
    print_text(chosen, &devices, choices);
  devices_free(&devices);
  /* No GPU is no error, but a --backend or RED_BACKEND that offers nothing at all is. */
  if (choices[0].found || choices[1].found) return EXIT_OK;
  complain("%s", choices[0].reason);
  return EXIT_LIBRARY;
}

const struct verb verb_info = {
    .name = "info",
    .synopsis = "[OPTION]...",
    .summary = "List the devices, which of them would be used, and why others are missing.",
    .details = "Data in host memory is worked on by the CPU unless --backend or RED_BACKEND names another device.\n",
    .examples = "  redtool info\n"
                "  redtool info --backend cuda,omp --json\n",
    .accepts = OPTION_BIT(BACKEND) | OPTION_BIT(THREADS) | OPTION_BIT(JSON),
    .run = run_info,
};
