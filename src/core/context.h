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

/* The default context, made when first asked for. */
extern _Atomic(red_context *) red_default_context;
red_status red_context_make_default(red_context **made);

/* `context`, or the default one if it is NULL. */
static inline red_status red_context_resolve(red_context *context, red_context **resolved) {
  if (context == NULL) context = atomic_load_explicit(&red_default_context, memory_order_acquire);
  if (context == NULL) return red_context_make_default(resolved);
  *resolved = context;
  return RED_OK;
}

red_status red_context_open_first(red_context *context, red_memory memory, red_device **device);

/* The open device for data in `memory`. */
static inline red_status red_context_open_device(red_context *context, red_memory memory, red_device **device) {
  *device = atomic_load_explicit(&context->devices[memory], memory_order_acquire);
  return *device != NULL ? RED_OK : red_context_open_first(context, memory, device);
}

/* The same of a context that may be NULL, as far as it is open already; else NULL. */
static inline const red_device *red_context_device_known(red_context *context, red_memory memory) {
  if (context == NULL) context = atomic_load_explicit(&red_default_context, memory_order_acquire);
  return context != NULL ? atomic_load_explicit(&context->devices[memory], memory_order_acquire) : NULL;
}

#endif
