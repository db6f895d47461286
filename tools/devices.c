/* SPDX-License-Identifier: BSD-2-Clause */
#include "devices.h"

#include <stdlib.h>

#include "report.h"

int devices_list(struct devices *devices) {
  size_t capacity = 16;
  devices->list = NULL;
  for (;;) {
    red_device_info *list = realloc(devices->list, capacity * sizeof *list);
    if (!list) {
      devices_free(devices);
      complain("out of memory for a list of %zu devices", capacity);
      return EXIT_LIBRARY;
    }
    devices->list = list;
    for (size_t i = 0; i < capacity; i++) list[i].size = sizeof *list;
    const red_status status = red_devices(list, capacity, &devices->count);
    if (status) {
      devices_free(devices);
      return library_error(status);
    }
    if (devices->count <= capacity) return EXIT_OK;
    capacity = devices->count;
  }
}

void devices_free(struct devices *devices) {
  free(devices->list);
  devices->list = NULL;
  devices->count = 0;
}
