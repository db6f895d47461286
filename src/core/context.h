/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_CORE_CONTEXT_H
#define RED_CORE_CONTEXT_H

#include <stdatomic.h>

#include "registry.h"

struct red_context {
  red_context_options options;
  red_selection selection;
  /* Indexed by red_memory. A listed device serves both; automatic ones are opened when first asked for. */
  _Atomic(red_device *) devices[2];
};

/* `context`, or the default one if it is NULL. */
red_status red_context_resolve(red_context *context, red_context **resolved);

/* The open device for data in `memory`. */
red_status red_context_open_device(red_context *context, red_memory memory, red_device **device);

#endif
