/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCL room's door: probing, opening, describing, and the table of functions that the core knows. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"

#define MOST_PLATFORMS 16
#define MOST_DEVICES   16
#define LANE_BYTES     160 /* of local memory that a lane of a scan takes, at most */

static const char *platform_failure(cl_int error) {
  if (error == CL_PLATFORM_NOT_FOUND_KHR) return "no OpenCL driver (ICD) is installed";
  if (error == CL_SUCCESS) return "the OpenCL loader knows no platform";
  return red_cl_error_name(error);
}

/* The platform of the device that an item such as "opencl:1.0" names, ALL if it is none of that kind. */
#define ALL UINT_MAX
static unsigned platform_of(const char *item) {
  unsigned p, d;
  int end = 0;
  bool is_id = item != NULL && sscanf(item, "opencl:%u.%u%n", &p, &d, &end) == 2 && item[end] == '\0';
  return is_id ? p : ALL;
}

/*
 * All devices of one platform, or of all, in the order of their ids; `visit` says whether to go on. Drivers of other
 * platforms are not started: each takes its time.
 */
static bool visit_devices(unsigned only, bool (*visit)(void *state, const red_cl_traits *traits), void *state) {
  cl_platform_id platforms[MOST_PLATFORMS];
  cl_uint platform_count = 0;
  bool any = false;
  if (red_cl.GetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) return false;
  for (cl_uint p = 0; p < platform_count && p < MOST_PLATFORMS; p++) {
    cl_device_id devices[MOST_DEVICES];
    cl_uint device_count = 0;
    if (only != ALL && p != only) continue;
    cl_int error = red_cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &device_count);
    for (cl_uint d = 0; error == CL_SUCCESS && d < device_count && d < MOST_DEVICES; d++) {
      red_cl_traits traits;
      red_cl_inspect(platforms[p], devices[d], p, d, &traits);
      any = true;
      if (!visit(state, &traits)) return true;
    }
  }
  return any;
}

static void set_info(const red_cl_traits *traits, red_device_info *info) {
  snprintf(info->id, sizeof info->id, "%s", traits->id);
  snprintf(info->name, sizeof info->name, "%s", traits->name);
  snprintf(info->detail, sizeof info->detail, "%s", traits->detail);
  snprintf(info->reason, sizeof info->reason, "%s", traits->reason);
  info->available = traits->reason[0] == '\0';
  info->memory = traits->memory;
  info->units = traits->units;
}

typedef struct listing {
  red_device_info *list;
  int *scores;
  size_t capacity, count;
} listing;

/* A CPU as an OpenCL device is second to the CPU backend: only taken when named. */
static bool list_device(void *state, const red_cl_traits *traits) {
  listing *into = state;
  if (into->count < into->capacity) {
    set_info(traits, &into->list[into->count]);
    into->scores[into->count] = traits->type & CL_DEVICE_TYPE_GPU ? 20 : traits->type & CL_DEVICE_TYPE_CPU ? 0 : 10;
  }
  into->count++;
  return true;
}

static size_t unavailable(red_device_info *list, size_t capacity, const char *reason) {
  if (capacity > 0) {
    snprintf(list->id, sizeof list->id, "opencl");
    snprintf(list->reason, sizeof list->reason, "%s", reason);
  }
  return 1;
}

static size_t probe(const char *item, red_device_info *list, int *scores, size_t capacity) {
  const unsigned only = platform_of(item);
  const char *reason = red_cl_open_api();
  if (reason != NULL) return unavailable(list, capacity, reason);
  cl_uint platforms = 0;
  cl_int error = red_cl.GetPlatformIDs(0, NULL, &platforms);
  if (error != CL_SUCCESS || platforms == 0) return unavailable(list, capacity, platform_failure(error));
  if (only != ALL && only >= platforms) return 0;
  listing into = {list, scores, capacity, 0};
  if (!visit_devices(only, list_device, &into))
    return unavailable(list, capacity, "the OpenCL platforms have no device");
  return into.count;
}

/* The device with the id or, where that is NULL, the one that the application's cl_device_id names. */
typedef struct search {
  const char *id;
  cl_device_id native;
  red_cl_traits found;
  bool hit;
} search;

static bool seek_device(void *state, const red_cl_traits *traits) {
  search *wanted = state;
  wanted->hit = wanted->id != NULL ? strcmp(traits->id, wanted->id) == 0 : traits->device == wanted->native;
  if (wanted->hit) wanted->found = *traits;
  return !wanted->hit;
}

static red_status make_context(red_cl_device *device, const red_context_options *options) {
  cl_int error;
  if (options->native_context != NULL) {
    error = red_cl.RetainContext(options->native_context);
    if (error == CL_SUCCESS) device->context = options->native_context; /* to be released */
    return red_cl_check(error, "clRetainContext");
  }
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->traits.platform, 0};
  device->context = red_cl.CreateContext(properties, 1, &device->traits.device, NULL, NULL, &error);
  return red_cl_check(error, "clCreateContext");
}

/* Lanes of a work-group: a row of the canonical order at most, what the device allows, what its local memory holds. */
static uint32_t most_items(const red_cl_device *device) {
  const red_cl_traits *traits = &device->traits;
  uint32_t group = 1;
  if (red_cl_is_wide(device)) return group;
  while (group < 256 && 2 * group <= traits->most_group && (uint64_t)2 * group * LANE_BYTES <= traits->local_memory)
    group *= 2;
  return group;
}

/* More than one where there are several at all; of warps a pair, as a row of f64 is. */
static uint32_t least_items(const red_cl_device *device) {
  if (red_cl_is_wide(device)) return 2;
  return device->traits.shape == RED_CL_PTX ? 64 : 1;
}

/* The defaults, then what was measured on a device of this description. */
static red_status tune(red_cl_device *device) {
  red_cl_tuning *tuning = &device->tuning;
  RED_CL_TUNING(RED_TUNING_DEFAULT)
  const red_tuning_row rows[] = {RED_CL_TUNING(RED_TUNING_ROW)};
  red_status status =
      red_tune_load("opencl", device->traits.name, device->traits.detail, rows, sizeof rows / sizeof rows[0]);
  device->group = (uint32_t)tuning->work_items;
  return status;
}

static void close_device(void *state) {
  red_cl_device *device = state;
  if (device == NULL) return;
  if (!red_cl_is_forked()) { /* in a forked child the driver is dead: leave its objects alone */
    red_cl_queue_release(&device->own);
    red_cl_programs_release(device);
    if (device->context != NULL) red_cl.ReleaseContext(device->context);
    pthread_mutex_destroy(&device->launch);
    pthread_mutex_destroy(&device->alone);
    pthread_mutex_destroy(&device->build);
  }
  free(device);
}

/* The application's cl_device_id is not this device: a list that leaves the choice open has others. */
static red_status another_native(const red_cl_traits *traits, cl_device_id native) {
  search its = {.native = native};
  cl_device_id parent = NULL;
  visit_devices(ALL, seek_device, &its);
  if (its.hit)
    return red_fail(RED_ERR_NO_DEVICE, "native_device is another device, %s (%s), not %s (%s)", its.found.id,
                    its.found.name, traits->id, traits->name);
  red_cl.GetDeviceInfo(native, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL);
  if (parent != NULL)
    return red_fail(RED_ERR_NO_DEVICE,
                    "native_device is a sub-device: expected a whole one, as clGetDeviceIDs lists it");
  return red_fail(RED_ERR_NO_DEVICE, "native_device is none of the devices that clGetDeviceIDs lists");
}

static red_status open_device(const char *id, const red_context_options *options, void **state) {
  const char *reason = red_cl_open_api();
  if (reason != NULL) return red_fail(RED_ERR_NO_DEVICE, "%s", reason);
  search wanted = {.id = id};
  visit_devices(platform_of(id), seek_device, &wanted);
  if (!wanted.hit) return red_fail(RED_ERR_NO_DEVICE, "there is no OpenCL device %s", id);
  if (options->native_device != NULL && options->native_device != wanted.found.device)
    return another_native(&wanted.found, options->native_device);
  if (wanted.found.reason[0] != '\0') return red_fail(RED_ERR_UNSUPPORTED, "%s", wanted.found.reason);
  red_cl_device *device = calloc(1, sizeof *device);
  if (device == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a device");
  device->traits = wanted.found;
  device->owner = getpid();
  pthread_mutex_init(&device->launch, NULL);
  pthread_mutex_init(&device->alone, NULL);
  pthread_mutex_init(&device->build, NULL);
  red_status status = tune(device);
  if (status == RED_OK) status = red_cl_vet(device, &device->has_passed);
  if (status == RED_OK) status = make_context(device, options);
  if (status == RED_OK) {
    red_cl_learn_handles(device);
    status = red_cl_queue_init(device, NULL, &device->own);
  }
  if (status != RED_OK) {
    close_device(device);
    return status;
  }
  *state = device;
  return RED_OK;
}

static void describe(void *state, red_device_info *info) {
  const red_cl_device *device = state;
  set_info(&device->traits, info);
}

static bool has_passed(const void *state) {
  return ((const red_cl_device *)state)->has_passed;
}

red_status red_cl_check_process(const red_cl_device *device) {
  if (!red_cl_is_forked()) return RED_OK;
  return red_fail(RED_ERR_UNSUPPORTED,
                  "%s was opened by process %ld: OpenCL drivers do not survive fork(), and this is a child of it",
                  device->traits.id, (long)device->owner);
}

const red_backend red_backend_opencl = {
    .abi = RED_BACKEND_ABI,
    .name = "opencl",
    .on_host = false,
    .addresses = false,
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .describe = describe,
    .alloc = red_cl_alloc,
    .free = red_cl_free,
    .upload = red_cl_upload,
    .download = red_cl_download,
    .queue_open = red_cl_queue_open,
    .queue_finish = red_cl_queue_finish,
    .queue_close = red_cl_queue_close,
    .supports = red_cl_supports,
    .plan = red_cl_plan_create,
    .unplan = red_cl_plan_destroy,
    .execute = red_cl_execute,
    .has_passed = has_passed,
};
