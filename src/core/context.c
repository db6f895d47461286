/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts. Nothing here takes a lock: whatever is made on first use is made aside and published with one exchange, so
 * that a process may fork at any moment.
 */
#include "context.h"

#include <stdlib.h>

_Atomic(red_context *) red_default_context;

static red_status check_options(const red_context_options *options) {
  if (options != NULL && options->size != sizeof *options)
    return red_fail(RED_ERR_INVALID, "options.size is %zu, this library expects %zu", options->size, sizeof *options);
  return RED_OK;
}

static red_status fill_context(red_context *context, const red_context_options *options) {
  context->options = options != NULL ? *options : (red_context_options){.size = sizeof *options};
  const char *list = context->options.backend != NULL ? context->options.backend : getenv("RED_BACKEND");
  bool from_caller = context->options.backend != NULL;
  red_status status = red_selection_parse(list, &context->selection);
  context->selection.origin = from_caller ? "the context's list" : "RED_BACKEND";
  context->options.backend = NULL; /* the caller's string need not live; the selection has what it says */
  if (status != RED_OK || context->selection.count == 0) return status;
  red_device *device;
  status = red_registry_open_listed(&context->selection, &context->options, &device);
  if (status == RED_OK) {
    atomic_init(&context->devices[RED_HOST], device);
    atomic_init(&context->devices[RED_DEVICE], device);
  } else if (status == RED_ERR_NO_DEVICE && context->selection.automatic) {
    status = RED_OK; /* the list said so: "..., auto" */
  }
  return status;
}

red_status red_context_create(const red_context_options *options, red_context **context) {
  if (context == NULL) return red_fail(RED_ERR_INVALID, "context is NULL");
  red_status status = check_options(options);
  if (status != RED_OK) return status;
  red_context *made = calloc(1, sizeof *made);
  if (made == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a context");
  status = fill_context(made, options);
  if (status != RED_OK) {
    free(made);
    return status;
  }
  *context = made;
  return RED_OK;
}

void red_context_destroy(red_context *context) {
  if (context == NULL) return;
  red_device *host = atomic_load(&context->devices[RED_HOST]);
  red_device *device = atomic_load(&context->devices[RED_DEVICE]);
  red_device_close(host);
  if (device != host) red_device_close(device);
  free(context);
}

red_status red_context_make_default(red_context **made) {
  red_status status = red_context_create(NULL, made);
  red_context *present = NULL;
  if (status == RED_OK && !atomic_compare_exchange_strong(&red_default_context, &present, *made)) {
    red_context_destroy(*made);
    *made = present;
  }
  return status;
}

red_status red_context_open_first(red_context *context, red_memory memory, red_device **device) {
  red_status status = red_registry_open_automatic(&context->selection, memory, &context->options, device);
  red_device *present = NULL;
  if (status == RED_OK && !atomic_compare_exchange_strong(&context->devices[memory], &present, *device)) {
    red_device_close(*device);
    *device = present;
  }
  return status;
}

red_status red_context_device(red_context *context, red_memory memory, red_device_info *info) {
  if (info == NULL) return red_fail(RED_ERR_INVALID, "info is NULL");
  if (info->size != sizeof *info)
    return red_fail(RED_ERR_INVALID, "info.size is %zu, this library expects %zu", info->size, sizeof *info);
  if ((unsigned)memory > RED_DEVICE)
    return red_fail(RED_ERR_INVALID, "memory = %d: expected RED_HOST or RED_DEVICE", (int)memory);
  red_device *device = NULL;
  red_status status = red_context_resolve(context, &context);
  if (status == RED_OK) status = red_context_open_device(context, memory, &device);
  if (status == RED_OK) *info = device->info;
  return status;
}
