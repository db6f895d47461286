/* SPDX-License-Identifier: BSD-2-Clause */
/* Probing the backends, taking one, and the reasons. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backends.def"
#include "verify.h"

#define X(name) extern const red_backend red_backend_##name;
RED_BACKENDS(X)
#undef X

static const red_backend *const backends[] = {
#define X(name) &red_backend_##name,
    RED_BACKENDS(X)
#undef X
};

#define BACKENDS    (sizeof backends / sizeof backends[0])
#define MAX_DEVICES 64

typedef struct absent_backend {
  const char *name, *reason;
} absent_backend;

/* Ends with an empty row, so that it is never an empty array. */
static const absent_backend absent[] = {
#define X(name, reason) {#name, reason},
    RED_BACKENDS_ABSENT(X)
#undef X
        {NULL, NULL}};

/* What did not work out, for the error sentence: "cuda: no driver; opencl: ...". */
typedef struct reasons {
  bool mismatch; /* a device was there, but gave other bits */
  char text[768];
} reasons;

static red_status run_out(const reasons *why, const char *what) {
  return red_fail(why->mismatch ? RED_ERR_MISMATCH : RED_ERR_NO_DEVICE, "%s: %s", what, why->text);
}

static void add_reason(reasons *all, const char *who, const char *why) {
  size_t used = strlen(all->text);
  snprintf(all->text + used, sizeof all->text - used, "%s%s: %s", used > 0 ? "; " : "", who, why);
  red_log("%s: not taken: %s", who, why);
}

static size_t probe(const red_backend *backend, const char *item, red_device_info *list, int *scores) {
  memset(list, 0, MAX_DEVICES * sizeof *list);
  memset(scores, 0, MAX_DEVICES * sizeof *scores);
  for (size_t i = 0; i < MAX_DEVICES; i++) {
    list[i].size = sizeof *list;
    snprintf(list[i].backend, sizeof list[i].backend, "%s", backend->name);
  }
  size_t count = backend->probe(item, list, scores, MAX_DEVICES);
  return count < MAX_DEVICES ? count : MAX_DEVICES;
}

static bool contains(const char *text, const char *part) {
  for (size_t length = strlen(part); *text != '\0'; text++)
    if (strncasecmp(text, part, length) == 0) return true;
  return false;
}

/* "cuda" names any device of the backend; "cuda:1" the one with this id; "opencl:arc" one whose name contains it. */
static bool matches(const red_device_info *info, const char *item) {
  size_t length = strlen(info->backend);
  if (strncmp(item, info->backend, length) != 0) return false;
  if (item[length] == '\0') return true;
  if (item[length] != ':') return false;
  const char *which = item + length + 1;
  bool is_id = strspn(which, "0123456789.") == strlen(which); /* never a part of a name: "cuda:2" is no H200 */
  return is_id ? strcmp(item, info->id) == 0 : contains(info->name, which);
}

static bool excluded(const red_selection *selection, const red_device_info *info) {
  for (unsigned i = 0; i < selection->excluded_count; i++)
    if (matches(info, selection->excluded[i])) return true;
  return false;
}

/* All of it, whatever its devices: then its driver need not be started to know them. */
static bool excluded_backend(const red_selection *selection, const red_backend *backend) {
  for (unsigned i = 0; i < selection->excluded_count; i++)
    if (strcmp(selection->excluded[i], backend->name) == 0) return true;
  return false;
}

void red_device_close(red_device *device) {
  if (device == NULL) return;
  device->backend->close(device->state);
  free(device);
}

/* Open and self-test: a device that gives other bits is as unavailable as one without a driver. */
static red_status open_device(const red_backend *backend, const red_device_info *info,
                              const red_context_options *options, red_device **opened) {
  red_device *device = calloc(1, sizeof *device);
  if (device == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a device");
  device->backend = backend;
  device->info = *info;
  red_status status = backend->open(info->id, options, &device->state);
  if (status != RED_OK) {
    free(device);
    return status;
  }
  backend->describe(device->state, &device->info);
  bool passed = backend->has_passed != NULL && backend->has_passed(device->state);
  if (!passed) status = red_verify_device(device);
  atomic_init(&device->exact, passed);
  if (status != RED_OK) {
    red_device_close(device);
    return status;
  }
  *opened = device;
  return RED_OK;
}

/* Open this one if it can be had; else remember why not. */
static void consider(const red_backend *backend, const red_device_info *info, const red_selection *selection,
                     const red_context_options *options, reasons *why, red_device **device) {
  const char *who = info->id[0] != '\0' ? info->id : info->backend;
  if (!info->available) {
    add_reason(why, who, info->reason);
  } else if (excluded(selection, info)) {
    add_reason(why, who, "excluded by the list");
  } else {
    red_status status = open_device(backend, info, options, device);
    if (status == RED_ERR_MISMATCH) why->mismatch = true;
    if (status != RED_OK) add_reason(why, who, red_last_error());
  }
}

/* The first available device of one backend that the item names. */
static red_status open_item(const red_backend *backend, const char *item, const red_selection *selection,
                            const red_context_options *options, reasons *why, red_device **device) {
  red_device_info *list = malloc(MAX_DEVICES * sizeof *list);
  int scores[MAX_DEVICES];
  if (list == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory to probe devices");
  size_t count = probe(backend, item, list, scores);
  bool seen = false;
  *device = NULL;
  for (size_t i = 0; i < count && *device == NULL; i++) {
    const red_device_info *info = &list[i];
    if (!info->available && strchr(item, ':') != NULL && !matches(info, item) && count > 1) continue;
    if (info->available && !matches(info, item)) continue;
    seen = true;
    consider(backend, info, selection, options, why, device);
  }
  if (!seen) add_reason(why, item, "no such device");
  free(list);
  return RED_OK;
}

static red_status open_named(const char *item, const red_selection *selection, const red_context_options *options,
                             reasons *why, red_device **device) {
  size_t length = strcspn(item, ":");
  for (size_t b = 0; b < BACKENDS; b++)
    if (strlen(backends[b]->name) == length && strncmp(backends[b]->name, item, length) == 0)
      return open_item(backends[b], item, selection, options, why, device);
  for (const absent_backend *a = absent; a->name != NULL; a++)
    if (strlen(a->name) == length && strncmp(a->name, item, length) == 0) add_reason(why, item, a->reason);
  *device = NULL;
  return RED_OK;
}

red_status red_registry_open_listed(const red_selection *selection, const red_context_options *options,
                                    red_device **device) {
  reasons why = {.text = ""};
  for (unsigned i = 0; i < selection->count; i++) {
    red_status status = open_named(selection->items[i], selection, options, &why, device);
    if (status != RED_OK) return status;
    if (*device != NULL) {
      red_log("%s (%s): taken: entry %u of %s", (*device)->info.id, (*device)->info.name, i + 1, selection->origin);
      return RED_OK;
    }
  }
  return run_out(&why, "no device of the backend list is available");
}

/* The best device of the backends that work on (or off) host memory; NULL if there is none. */
static red_status open_best(const red_selection *selection, bool on_host, const red_context_options *options,
                            reasons *why, red_device **device) {
  red_device_info *list = malloc(MAX_DEVICES * sizeof *list);
  int scores[MAX_DEVICES];
  if (list == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory to probe devices");
  *device = NULL;
  for (size_t b = 0; b < BACKENDS && *device == NULL; b++) {
    if (backends[b]->on_host != on_host) continue;
    if (excluded_backend(selection, backends[b])) {
      add_reason(why, backends[b]->name, "excluded by the list");
      continue;
    }
    size_t count = probe(backends[b], NULL, list, scores);
    for (size_t tries = 0; tries < count && *device == NULL; tries++) {
      size_t best = 0;
      for (size_t i = 1; i < count; i++)
        if (scores[i] > scores[best]) best = i;
      const red_device_info *info = &list[best];
      if (scores[best] < 0) break;
      if (info->available && scores[best] == 0 && !excluded(selection, info))
        add_reason(why, info->id, "taken only when named");
      else
        consider(backends[b], info, selection, options, why, device);
      scores[best] = -1;
    }
  }
  free(list);
  return RED_OK;
}

static void log_automatic(const red_device *device, red_memory memory, bool preferred) {
  red_log("%s (%s): taken automatically for %s memory%s", device->info.id, device->info.name,
          memory == RED_HOST ? "host" : "device", preferred ? "" : ": no device of the preferred sort is available");
  for (size_t b = 0; b < BACKENDS && preferred; b++)
    if (backends[b]->on_host != device->backend->on_host)
      red_log("%s: not asked: %s", backends[b]->name,
              memory == RED_HOST ? "host memory is worked on where it lies"
                                 : "a device with memory of its own comes first");
}

red_status red_registry_open_automatic(const red_selection *selection, red_memory memory,
                                       const red_context_options *options, red_device **device) {
  reasons why = {.text = ""};
  bool host_first = memory == RED_HOST;
  for (int round = 0; round < 2; round++) {
    bool on_host = host_first == (round == 0);
    red_status status = open_best(selection, on_host, options, &why, device);
    if (status != RED_OK) return status;
    if (*device == NULL) continue;
    log_automatic(*device, memory, on_host == host_first);
    return RED_OK;
  }
  return run_out(&why, "no device is available");
}

red_status red_devices(red_device_info *list, size_t capacity, size_t *count) {
  if (count == NULL) return red_fail(RED_ERR_INVALID, "count is NULL");
  if (list == NULL && capacity > 0) return red_fail(RED_ERR_INVALID, "list is NULL, capacity is %zu", capacity);
  if (capacity > 0 && list[0].size != sizeof *list)
    return red_fail(RED_ERR_INVALID, "list[0].size is %zu, this library expects %zu", list[0].size, sizeof *list);
  red_device_info *found = malloc(MAX_DEVICES * sizeof *found);
  int scores[MAX_DEVICES];
  if (found == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory to probe devices");
  size_t total = 0;
  for (size_t b = 0; b < BACKENDS; b++) {
    size_t here = probe(backends[b], NULL, found, scores);
    for (size_t i = 0; i < here; i++, total++)
      if (total < capacity) list[total] = found[i];
  }
  for (const absent_backend *a = absent; a->name != NULL; a++, total++) {
    if (total >= capacity) continue;
    memset(&list[total], 0, sizeof list[total]);
    list[total].size = sizeof *list;
    snprintf(list[total].id, sizeof list[total].id, "%s", a->name);
    snprintf(list[total].backend, sizeof list[total].backend, "%s", a->name);
    snprintf(list[total].reason, sizeof list[total].reason, "%s", a->reason);
  }
  free(found);
  *count = total;
  return RED_OK;
}
