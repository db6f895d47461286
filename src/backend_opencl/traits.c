/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device is, whether it can give the canonical bits, and which kernel shape suits it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static void device_text(cl_device_id device, cl_device_info what, char *text, size_t bytes) {
  char whole[1024] = "";
  if (red_cl.GetDeviceInfo(device, what, sizeof whole, whole, NULL) != CL_SUCCESS) whole[0] = '\0';
  snprintf(text, bytes, "%.*s", (int)bytes - 1, whole);
}

static void platform_text(cl_platform_id platform, cl_platform_info what, char *text, size_t bytes) {
  char whole[1024] = "";
  if (red_cl.GetPlatformInfo(platform, what, sizeof whole, whole, NULL) != CL_SUCCESS) whole[0] = '\0';
  snprintf(text, bytes, "%.*s", (int)bytes - 1, whole);
}

static uint64_t device_number(cl_device_id device, cl_device_info what, size_t bytes) {
  uint64_t value = 0; /* little endian: narrower answers land in the low bytes */
  return red_cl.GetDeviceInfo(device, what, bytes, &value, NULL) == CL_SUCCESS ? value : 0;
}

/* Work-items of a work-group in its first dimension, the only one that kernels use. */
static size_t most_items_of_group(cl_device_id device) {
  size_t most = (size_t)device_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)), bytes = 0;
  if (red_cl.GetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, 0, NULL, &bytes) != CL_SUCCESS) return most;
  size_t *sizes = calloc(1, bytes + sizeof *sizes);
  bool told =
      sizes != NULL && red_cl.GetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes, sizes, NULL) == CL_SUCCESS;
  if (told && sizes[0] > 0 && sizes[0] < most) most = sizes[0];
  free(sizes);
  return most;
}

/* A device's extensions, "" if they cannot be told; to be freed. */
static char *extensions_of(cl_device_id device) {
  size_t bytes = 0;
  if (red_cl.GetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes) != CL_SUCCESS) bytes = 0;
  char *text = calloc(1, bytes + 1);
  if (text != NULL && bytes > 0) red_cl.GetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, text, NULL);
  return text;
}

static bool has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; at != NULL && (at = strstr(at, word)) != NULL; at += length) {
    bool begins = at == words || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}

static const char *const shape_names[RED_CL_SHAPES] = {"wide", "local", "subgroup", "ptx"};

static const char *const shape_details[RED_CL_SHAPES] = {"wide-item kernels", "local-memory kernels",
                                                         "sub-group kernels", "PTX-shuffle kernels"};

/* Built as OpenCL C 2.0 or 3.0; in the latter sub-groups are a feature that needs no extension, only shuffles do. */
static bool offers_subgroups(const red_cl_traits *traits, const char *extensions) {
  unsigned major = 0;
  if (sscanf(traits->device_version, "OpenCL %u", &major) != 1 || major < 2) return false;
  if (has_word(extensions, "cl_intel_subgroups")) return true;
  bool subgroups = has_word(extensions, "cl_khr_subgroups") ||
                   (major >= 3 && device_number(traits->device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(cl_uint)) > 0);
  return subgroups &&
         (has_word(extensions, "cl_khr_subgroup_shuffle_relative") || has_word(extensions, "cl_khr_subgroup_shuffle"));
}

static bool offers_shape(const red_cl_traits *traits, const char *extensions, red_cl_shape shape) {
  char vendor[128];
  switch (shape) {
  case RED_CL_SUBGROUP:
    return traits->local_memory >= 1024 && offers_subgroups(traits, extensions);
  case RED_CL_PTX:
    platform_text(traits->platform, CL_PLATFORM_VENDOR, vendor, sizeof vendor);
    return strstr(vendor, "NVIDIA") != NULL && traits->most_group >= 128 && traits->local_memory >= 32768;
  case RED_CL_LOCAL:
    return traits->local_memory >= 1024;
  default:
    return true;
  }
}

/* What the device has, or the less of it that a variable's text allows, for tests. */
static uint64_t limited(uint64_t value, const char *text) {
  uint64_t most = text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : UINT64_MAX;
  return value < most ? value : most;
}

#define DEVICE_SUB_GROUP_SIZES_INTEL 0x4108 /* cl_intel_required_subgroup_size */

static bool offers_subgroup_size(const red_cl_traits *traits, const char *extensions, uint32_t size) {
  size_t sizes[32] = {0};
  if (!has_word(extensions, "cl_intel_required_subgroup_size") ||
      red_cl.GetDeviceInfo(traits->device, DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, NULL) != CL_SUCCESS)
    return false;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    if (sizes[i] == size) return true;
  return false;
}

/* A number from 1 on, in digits and nothing else. */
static bool read_size(const char *text, uint32_t *size) {
  const size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > 5 || text[digits] != '\0') return false;
  *size = (uint32_t)strtoul(text, NULL, 10);
  return *size > 0;
}

/* "local", or "subgroup:16": sub-groups of that size, whichever the driver would choose. */
static void force_shape(red_cl_traits *traits, const char *extensions, const char *forced) {
  const size_t length = strcspn(forced, ":");
  const char *size = forced[length] == ':' ? forced + length + 1 : NULL;
  int shape = 0;
  while (shape < RED_CL_SHAPES && (strlen(shape_names[shape]) != length || strncmp(forced, shape_names[shape], length)))
    shape++;
  if (shape == RED_CL_SHAPES ||
      (size != NULL && (shape != RED_CL_SUBGROUP || !read_size(size, &traits->subgroup_size)))) {
    snprintf(traits->reason, sizeof traits->reason,
             "RED_OPENCL_SHAPE=%.32s: expected one of wide, local, subgroup, subgroup:SIZE (1 or more), ptx", forced);
    return;
  }
  traits->shape = (red_cl_shape)shape;
  if (!offers_shape(traits, extensions, traits->shape))
    snprintf(traits->reason, sizeof traits->reason, "RED_OPENCL_SHAPE=%s: this device cannot do that", forced);
  else if (size != NULL && !offers_subgroup_size(traits, extensions, traits->subgroup_size))
    snprintf(traits->reason, sizeof traits->reason,
             "RED_OPENCL_SHAPE=%s: this device cannot do that: the size is none that it offers", forced);
}

/* The fastest shape that the device has, or the one that RED_OPENCL_SHAPE demands. */
static void choose_shape(red_cl_traits *traits, const char *extensions) {
  const char *forced = getenv("RED_OPENCL_SHAPE");
  if (forced != NULL && *forced != '\0') {
    force_shape(traits, extensions, forced);
    return;
  }
  traits->shape = RED_CL_WIDE;
  if (traits->type & CL_DEVICE_TYPE_CPU || traits->most_group < 16) return;
  for (int shape = RED_CL_PTX; shape > RED_CL_WIDE; shape--) {
    if (!offers_shape(traits, extensions, (red_cl_shape)shape)) continue;
    traits->shape = (red_cl_shape)shape;
    return;
  }
}

/* Why this device cannot serve, or nothing. */
static const char *missing_ability(const red_cl_traits *traits, const char *extensions) {
  cl_device_id device = traits->device;
  char profile[32], version[64];
  device_text(device, CL_DEVICE_VERSION, version, sizeof version);
  device_text(device, CL_DEVICE_PROFILE, profile, sizeof profile);
  unsigned major = 0, minor = 0;
  if (sscanf(version, "OpenCL %u.%u", &major, &minor) != 2 || major * 10 + minor < 12)
    return "the device is older than OpenCL 1.2";
  if (!device_number(device, CL_DEVICE_AVAILABLE, sizeof(cl_bool))) return "the device says that it is not available";
  if (!device_number(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool))) return "the driver has no compiler";
  if (traits->most_alloc == 0) return "the driver does not say how large a buffer may be";
  if (!device_number(device, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool))) return "the device is big endian";
  if (strcmp(profile, "EMBEDDED_PROFILE") == 0 && !has_word(extensions, "cles_khr_int64"))
    return "the device has no 64-bit integers";
  uint64_t float_config = device_number(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));
  if (!(float_config & CL_FP_DENORM)) return "the device flushes subnormal floats: it cannot give the canonical bits";
  if (!(float_config & CL_FP_ROUND_TO_NEAREST) || !(float_config & CL_FP_INF_NAN))
    return "the device does not round to nearest or has no infinities: it cannot give the canonical bits";
  return NULL;
}

static bool has_f64(cl_device_id device) {
  uint64_t config = device_number(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config));
  const uint64_t needed = CL_FP_DENORM | CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
  const char *refused = getenv("RED_OPENCL_F64"); /* 0: as if the device had none, for tests */
  return (config & needed) == needed && !(refused != NULL && strcmp(refused, "0") == 0);
}

/*
 * PoCL keeps compiled kernels itself, and to hand out a binary it compiles each kernel once more, for any group size.
 * RED_OPENCL_BINARIES: 0 or 1, for tests.
 */
static bool gives_binaries(cl_platform_id platform) {
  char name[128];
  const char *forced = getenv("RED_OPENCL_BINARIES");
  if (forced != NULL && *forced != '\0') return strcmp(forced, "0") != 0;
  platform_text(platform, CL_PLATFORM_NAME, name, sizeof name);
  return strcmp(name, "Portable Computing Language") != 0;
}

/*
 * A scan in one pass has work-groups that wait for others that have begun. CPU drivers run a group on a thread of the
 * operating system from its beginning to its end; of other devices nothing is promised.
 * RED_OPENCL_SCAN: pass or windows, for tests and comparisons.
 */
static bool one_pass(const red_cl_traits *traits) {
  const char *forced = getenv("RED_OPENCL_SCAN");
  if (forced != NULL && strcmp(forced, "pass") == 0) return true;
  if (forced != NULL && strcmp(forced, "windows") == 0) return false;
  return (traits->type & CL_DEVICE_TYPE_CPU) != 0;
}

#define DEVICE_COMPUTE_CAPABILITY_MAJOR_NV 0x4000 /* cl_nv_device_attribute_query */
#define DEVICE_COMPUTE_CAPABILITY_MINOR_NV 0x4001

static unsigned compute_capability(const red_cl_traits *traits) {
  if (traits->shape != RED_CL_PTX) return 0;
  uint64_t major = device_number(traits->device, DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, sizeof(cl_uint));
  return (unsigned)(10 * major + device_number(traits->device, DEVICE_COMPUTE_CAPABILITY_MINOR_NV, sizeof(cl_uint)));
}

/*
 * Work-groups of NVIDIA's devices that have begun go on side by side, as the CUDA backend's scan relies on too. The
 * pipeline is for compute capability 9.0 and above.
 */
static bool has_pipe(const red_cl_traits *traits) {
  const char *forced = getenv("RED_OPENCL_SCAN");
  if (forced != NULL && strcmp(forced, "windows") == 0) return false;
  return traits->capability >= 90 && traits->most_group >= RED_CL_PIPE_THREADS && traits->local_memory >= 49152;
}

/*
 * A reduction in one launch: some work-groups wait for values that others write whole or not at all. OpenCL 1.2
 * promises neither; NVIDIA's devices do both, and PTX has words for it from compute capability 7.0 on.
 * RED_OPENCL_REDUCE: launch or stages, for tests and comparisons.
 */
static bool one_launch(const red_cl_traits *traits) {
  const char *forced = getenv("RED_OPENCL_REDUCE");
  if (traits->shape == RED_CL_WIDE) return false;
  if (forced != NULL && strcmp(forced, "launch") == 0) return true;
  if (forced != NULL && strcmp(forced, "stages") == 0) return false;
  return traits->capability >= 70;
}

void red_cl_inspect(cl_platform_id platform, cl_device_id device, unsigned p, unsigned d, red_cl_traits *traits) {
  memset(traits, 0, sizeof *traits);
  traits->platform = platform;
  traits->device = device;
  snprintf(traits->id, sizeof traits->id, "opencl:%u.%u", p, d);
  device_text(device, CL_DEVICE_NAME, traits->name, sizeof traits->name);
  platform_text(platform, CL_PLATFORM_VERSION, traits->platform_version, sizeof traits->platform_version);
  device_text(device, CL_DEVICE_VERSION, traits->device_version, sizeof traits->device_version);
  device_text(device, CL_DRIVER_VERSION, traits->driver_version, sizeof traits->driver_version);
  traits->type = device_number(device, CL_DEVICE_TYPE, sizeof(cl_device_type));
  traits->units = (uint32_t)device_number(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
  if (traits->units == 0) traits->units = 1; /* it does not say; work is laid out for one at least */
  traits->memory = device_number(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
  traits->most_alloc = device_number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
  traits->local_memory = device_number(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
  traits->most_group = most_items_of_group(device);
  traits->local_memory = limited(traits->local_memory, getenv("RED_OPENCL_LOCAL"));
  traits->most_group = (size_t)limited(traits->most_group, getenv("RED_OPENCL_GROUP"));
  traits->unified = device_number(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool)) != 0;
  traits->f64 = has_f64(device);
  traits->one_pass = one_pass(traits);
  traits->gives_binaries = gives_binaries(platform);
  char *extensions = extensions_of(device);
  const char *missing = missing_ability(traits, extensions != NULL ? extensions : "");
  if (missing != NULL)
    snprintf(traits->reason, sizeof traits->reason, "%s", missing);
  else
    choose_shape(traits, extensions != NULL ? extensions : "");
  free(extensions);
  traits->capability = compute_capability(traits);
  traits->one_launch = one_launch(traits);
  traits->pipe = has_pipe(traits);
  snprintf(traits->detail, sizeof traits->detail, "%.10s, %s, %sdriver %.48s", traits->device_version,
           shape_details[traits->shape], traits->f64 ? "" : "no f64, ", traits->driver_version);
}
