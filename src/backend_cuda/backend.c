/* SPDX-License-Identifier: BSD-2-Clause */
/* The CUDA backend: probing, opening and describing devices, and the table that the core sees. */
#include "room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int attribute(CUdevice device, CUdevice_attribute what) {
  int value = 0;
  return red_cu.DeviceGetAttribute(&value, what, device) == CUDA_SUCCESS ? value : 0;
}

static unsigned capability_of(CUdevice device) {
  return (unsigned)(10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                    attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

/* Code runs on later devices of its own major version, PTX on all later ones; the build adds it for its last target. */
static bool has_code(unsigned capability) {
  static const unsigned targets[] = {RED_CUDA_TARGETS};
  const size_t count = sizeof targets / sizeof targets[0];
  for (size_t i = 0; i < count; i++)
    if (targets[i] / 10 == capability / 10 && targets[i] <= capability) return true;
  return targets[count - 1] <= capability;
}

static void fill_info(CUdevice device, int ordinal, red_device_info *info) {
  size_t memory = 0;
  int driver = 0;
  unsigned capability = capability_of(device);
  snprintf(info->id, sizeof info->id, "cuda:%d", ordinal);
  if (red_cu.DeviceGetName(info->name, (int)sizeof info->name, device) != CUDA_SUCCESS) info->name[0] = '\0';
  if (red_cu.DeviceTotalMem(&memory, device) == CUDA_SUCCESS) info->memory = memory;
  red_cu.DriverGetVersion(&driver);
  snprintf(info->detail, sizeof info->detail, "compute capability %u.%u, driver for CUDA %d.%d", capability / 10,
           capability % 10, driver / 1000, driver % 1000 / 10);
  info->units = (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  double kilohertz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  double bits = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  info->bandwidth = 2.0 * kilohertz * 1e3 * bits / 8; /* two transfers a clock */
  info->available = has_code(capability);
  if (!info->available)
    snprintf(info->reason, sizeof info->reason, "compute capability %u.%u: this build has code for %s", capability / 10,
             capability % 10, RED_CUDA_TARGETS_TEXT);
  else if (attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_PROHIBITED) {
    info->available = 0;
    snprintf(info->reason, sizeof info->reason, "its compute mode prohibits use");
  }
}

static size_t say_why_not(red_device_info *list, size_t capacity, const char *reason) {
  if (capacity > 0) {
    snprintf(list[0].id, sizeof list[0].id, "cuda");
    snprintf(list[0].reason, sizeof list[0].reason, "%s", reason);
  }
  return 1;
}

static size_t probe(const char *item, red_device_info *list, int *scores, size_t capacity) {
  (void)item;
  const char *reason = red_cuda_load();
  if (reason != NULL) return say_why_not(list, capacity, reason);
  int count = 0;
  CUresult error = red_cu.DeviceGetCount(&count);
  if (error != CUDA_SUCCESS) {
    red_cuda_fail(error, "cuDeviceGetCount");
    return say_why_not(list, capacity, red_last_error());
  }
  if (count == 0) return say_why_not(list, capacity, "no device");
  for (int i = 0; i < count && (size_t)i < capacity; i++) {
    CUdevice device;
    if (red_cu.DeviceGet(&device, i) == CUDA_SUCCESS) {
      fill_info(device, i, &list[i]);
      scores[i] = 100 + (int)(list[i].bandwidth / 1e11); /* the fastest memory first */
    } else {
      snprintf(list[i].id, sizeof list[i].id, "cuda:%d", i);
      snprintf(list[i].reason, sizeof list[i].reason, "cuDeviceGet failed");
    }
  }
  return (size_t)count;
}

red_status red_cuda_enter(const red_cuda_device *device, red_cuda_scope *scope) {
  red_status status = red_cuda_check(red_cu.CtxPushCurrent(device->context), "cuCtxPushCurrent");
  if (status != RED_OK) return status;
  scope->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  status = red_cuda_check(red_cu.ThreadExchangeStreamCaptureMode(&scope->mode), "cuThreadExchangeStreamCaptureMode");
  if (status != RED_OK) {
    CUcontext popped;
    red_cu.CtxPopCurrent(&popped);
  }
  return status;
}

void red_cuda_leave(red_cuda_scope *scope) {
  CUcontext popped;
  red_cu.ThreadExchangeStreamCaptureMode(&scope->mode);
  red_cu.CtxPopCurrent(&popped);
}

/* The application's context if it gave one, else the primary one, which the runtime API uses as well. */
static red_status get_context(red_cuda_device *device, int ordinal, void *native) {
  red_status status = red_cuda_check(red_cu.DeviceGet(&device->ordinal, ordinal), "cuDeviceGet");
  if (status != RED_OK) return status;
  if (native == NULL) {
    status =
        red_cuda_check(red_cu.DevicePrimaryCtxRetain(&device->context, device->ordinal), "cuDevicePrimaryCtxRetain");
    device->retained = status == RED_OK;
    return status;
  }
  CUdevice actual;
  CUcontext popped;
  device->context = native;
  status = red_cuda_check(red_cu.CtxPushCurrent(device->context), "native_context");
  if (status != RED_OK) return status;
  status = red_cuda_check(red_cu.CtxGetDevice(&actual), "native_context");
  red_cu.CtxPopCurrent(&popped);
  if (status == RED_OK && actual != device->ordinal)
    return red_fail(RED_ERR_INVALID, "native_context belongs to device %d, cuda:%d was chosen", (int)actual, ordinal);
  return status;
}

/* What plans are made of: a device whose size is not known is not opened. */
static red_status measure(red_cuda_device *device) {
  static const CUdevice_attribute wanted[] = {
      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
      CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH};
  int value[sizeof wanted / sizeof wanted[0]];
  CUresult error = CUDA_SUCCESS;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && error == CUDA_SUCCESS; i++)
    error = red_cu.DeviceGetAttribute(&value[i], wanted[i], device->ordinal);
  if (error != CUDA_SUCCESS) return red_cuda_fail(error, "asking for the device's attributes");
  device->multiprocessors = (unsigned)value[0];
  device->capability = (unsigned)(10 * value[1] + value[2]);
  device->block_shared = (unsigned)value[3];
  device->cooperative = value[4] != 0;
  return RED_OK;
}

static void describe(void *state, red_device_info *info) {
  red_cuda_device *device = state;
  const red_cuda_function *pipeline = NULL;
  red_cuda_scope scope;
  if (red_cuda_pipe_shared(device) > 0 && red_cuda_enter(device, &scope) == RED_OK) {
    red_cuda_get_kernel(device, RED_CUDA_scan_pipe_f32, &pipeline);
    red_cuda_leave(&scope);
  }
  size_t used = strlen(info->detail);
  snprintf(info->detail + used, sizeof info->detail - used, ", %s scan", pipeline != NULL ? "pipelined" : "tiled");
}

/* The defaults, then what was measured on a device of this description. */
static red_status tune(red_cuda_device *device, int ordinal) {
  red_cuda_tuning *tuning = &device->tuning;
  RED_CUDA_TUNING(RED_TUNING_DEFAULT)
  const red_tuning_row rows[] = {RED_CUDA_TUNING(RED_TUNING_ROW)};
  red_device_info info = {.size = sizeof info};
  fill_info(device->ordinal, ordinal, &info);
  describe(device, &info);
  return red_tune_load("cuda", info.name, info.detail, rows, sizeof rows / sizeof rows[0]);
}

static void close_device(void *state) {
  red_cuda_device *device = state;
  red_cuda_scope scope;
  bool entered = red_cuda_enter(device, &scope) == RED_OK;
  red_cuda_close_queues(device, entered);
  if (entered) {
    red_cuda_unload(device);
    red_cuda_leave(&scope);
  }
  red_cuda_copiers_destroy(device->copiers);
  if (device->retained) red_cu.DevicePrimaryCtxRelease(device->ordinal);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

static red_status open_device(const char *id, const red_context_options *options, void **opened) {
  const char *colon = strchr(id, ':');
  int ordinal = colon != NULL ? atoi(colon + 1) : 0;
  red_cuda_device *device = calloc(1, sizeof *device);
  if (device == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a device");
  red_status status = get_context(device, ordinal, options != NULL ? options->native_context : NULL);
  if (status != RED_OK) {
    free(device);
    return status;
  }
  pthread_mutex_init(&device->lock, NULL);
  status = measure(device);
  if (status == RED_OK) status = tune(device, ordinal);
  if (status == RED_OK)
    *opened = device;
  else
    close_device(device);
  return status;
}

const red_backend red_backend_cuda = {
    .abi = RED_BACKEND_ABI,
    .name = "cuda",
    .on_host = false,
    .addresses = true,
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .describe = describe,
    .alloc = red_cuda_alloc,
    .free = red_cuda_free,
    .upload = red_cuda_upload,
    .download = red_cuda_download,
    .queue_open = red_cuda_queue_open,
    .queue_finish = red_cuda_queue_finish,
    .queue_close = red_cuda_queue_close,
    .plan = red_cuda_plan_create,
    .unplan = red_cuda_plan_destroy,
    .execute = red_cuda_execute,
};
