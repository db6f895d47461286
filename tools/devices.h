/* SPDX-License-Identifier: BSD-2-Clause */
/* All devices of all backends, as the library enumerates them. */
#ifndef REDTOOL_DEVICES_H
#define REDTOOL_DEVICES_H

#include <stddef.h>

#include <red/red.h>

struct devices {
  red_device_info *list;
  size_t count;
};

int devices_list(struct devices *devices);
void devices_free(struct devices *devices);

#endif
