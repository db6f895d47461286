/* SPDX-License-Identifier: BSD-2-Clause */
/* Which backends there are, what RED_BACKEND asks for, and opening a device. */
#ifndef RED_CORE_REGISTRY_H
#define RED_CORE_REGISTRY_H

#include <stdatomic.h>

#include "backend.h"

/* An open device. */
typedef struct red_device {
  const red_backend *backend;
  void *state;
  red_device_info info;
  atomic_bool exact; /* its exact reductions have passed their test, too */
} red_device;

#define RED_SELECTION_ITEMS 16

/* A parsed RED_BACKEND: names in order of preference, what is excluded, whether `auto` ends the list. */
typedef struct red_selection {
  unsigned count;
  char items[RED_SELECTION_ITEMS][64];
  unsigned excluded_count;
  char excluded[RED_SELECTION_ITEMS][64];
  bool automatic;
  const char *origin; /* who gave the list, for the log */
} red_selection;

red_status red_selection_parse(const char *list, red_selection *selection);

/* Open the first available item of the list, self-tested; RED_ERR_NO_DEVICE with all the reasons if none is. */
red_status red_registry_open_listed(const red_selection *selection, const red_context_options *options,
                                    red_device **device);

/* Open the automatic choice for data in `memory`. */
red_status red_registry_open_automatic(const red_selection *selection, red_memory memory,
                                       const red_context_options *options, red_device **device);

void red_device_close(red_device *device);

#endif
