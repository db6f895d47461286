/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs: the options that specialise the kernels for a problem, building, and keeping what was built. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "texts.h"

#define MOST_OPTIONS 896
#define MOST_TEXTS   24

static const char *const kernel_names[RED_CL_KERNELS] = {
    [RED_CL_REDUCE_CHUNKS] = "red_reduce_chunks",     [RED_CL_REDUCE_NODES] = "red_reduce_nodes",
    [RED_CL_REDUCE_FINISH] = "red_reduce_finish",     [RED_CL_SCAN_TOTALS] = "red_scan_totals",
    [RED_CL_SCAN_STARTS] = "red_scan_starts",         [RED_CL_SCAN_NODE_TOTALS] = "red_scan_node_totals",
    [RED_CL_SCAN_NODE_TILES] = "red_scan_node_tiles", [RED_CL_SCAN_TILES] = "red_scan_tiles",
    [RED_CL_STATS_CHUNKS] = "red_stats_chunks",       [RED_CL_STATS_NODES] = "red_stats_nodes",
    [RED_CL_STATS_FINISH] = "red_stats_finish",
};

static const char *const family_names[RED_FAMILIES] = {
    [RED_FAMILY_ADD] = "ADD", [RED_FAMILY_MUL] = "MUL", [RED_FAMILY_MIN] = "MIN", [RED_FAMILY_ARGMIN] = "ARGMIN",
    [RED_FAMILY_AND] = "AND", [RED_FAMILY_OR] = "OR",   [RED_FAMILY_XOR] = "XOR", [RED_FAMILY_COUNT] = "COUNT",
};

static const char *const shape_macros[RED_CL_SHAPES] = {"WIDE", "LOCAL", "SUBGROUP", "PTX"};

static red_dtype unsigned_of(unsigned bytes) {
  switch (bytes) {
  case 1:
    return RED_U8;
  case 2:
    return RED_U16;
  case 4:
    return RED_U32;
  default:
    return RED_U64;
  }
}

static bool is_scan(const red_lowered *lowered) {
  return lowered->kind == RED_INCLUSIVE_SCAN || lowered->kind == RED_EXCLUSIVE_SCAN;
}

static bool is_float(red_dtype dtype) {
  return dtype == RED_F16 || dtype == RED_BF16 || dtype == RED_F32 || dtype == RED_F64;
}

static bool is_signed(red_dtype dtype) {
  return dtype == RED_I8 || dtype == RED_I16 || dtype == RED_I32 || dtype == RED_I64;
}

/* Where only the width of the elements matters they are called unsigned: fewer programs. */
static red_dtype kernel_dtype(const red_lowered *lowered) {
  if (lowered->kind == RED_STATS || lowered->canonical) return lowered->in;
  switch (lowered->family) {
  case RED_FAMILY_ADD:
  case RED_FAMILY_MUL:
    return lowered->in_bytes == 8 ? RED_U64 : lowered->in;
  case RED_FAMILY_MIN:
  case RED_FAMILY_ARGMIN:
    return lowered->in_float ? lowered->in : unsigned_of(lowered->in_bytes);
  default:
    return unsigned_of(lowered->in_bytes);
  }
}

uint32_t red_cl_reduce_lanes(const red_cl_device *device, const red_lowered *lowered) {
  if (lowered->canonical) return 512u / lowered->acc_bytes;
  return device->traits.shape == RED_CL_WIDE ? 64 : 128;
}

uint32_t red_cl_reduce_group(const red_cl_device *device, const red_lowered *lowered) {
  uint32_t lanes = red_cl_reduce_lanes(device, lowered);
  return device->group < lanes ? device->group : lanes;
}

static const char *standard_of(const red_cl_device *device) {
  if (device->traits.shape != RED_CL_SUBGROUP) return "CL1.2";
  return device->traits.device_version[7] >= '3' ? "CL3.0" : "CL2.0";
}

/* Does a scan write what it would by default? Then its outputs go in vectors; all other dtypes share a program. */
static bool has_default_output(const red_lowered *lowered) {
  switch (lowered->family) {
  case RED_FAMILY_ADD:
  case RED_FAMILY_MUL:
    if (!lowered->canonical) return lowered->acc_bytes == 8 && lowered->out_bytes == 8;
    return lowered->out == lowered->in && lowered->acc_bytes == (lowered->in == RED_F64 ? 8 : 4);
  case RED_FAMILY_COUNT:
    return lowered->out_bytes == lowered->acc_bytes;
  default:
    return lowered->out == lowered->in;
  }
}

static void output_options(const red_lowered *lowered, char *text, size_t bytes) {
  if (!has_default_output(lowered)) return;
  red_dtype out = is_float(lowered->out) ? lowered->out : unsigned_of(lowered->out_bytes);
  snprintf(text, bytes, " -DRED_OUT_%s -DRED_OUT_BITS=%d -DRED_FINISH=%d", red_dtype_name(out), 8 * lowered->out_bytes,
           (int)lowered->finish);
}

/* A row of moments is that of a sum of such elements in their default accumulator. */
static void stats_options(const red_lowered *lowered, char *text, size_t bytes) {
  snprintf(text, bytes,
           " -DRED_STATS -DRED_STATS_WORDS=%d -DRED_ROW=%u -DRED_WANT_SUM=%d -DRED_WANT_EXTREMA=%d -DRED_WANT_NANS=%d"
           " -DRED_WANT_MOMENTS=%d",
           RED_CL_SUMMARY_WORDS, (unsigned)red_chunk_elements(lowered) / 32, red_stats_need_sum(lowered),
           red_stats_need_extrema(lowered), red_stats_need_nan_count(lowered), red_stats_need_moments(lowered));
}

static void write_options(const red_cl_device *device, const red_lowered *lowered, char *text) {
  red_dtype in = kernel_dtype(lowered);
  char output[256] = "";
  if (is_scan(lowered)) output_options(lowered, output, sizeof output);
  uint32_t group = is_scan(lowered) ? device->group : red_cl_reduce_group(device, lowered);
  snprintf(text, MOST_OPTIONS,
           "-w -cl-std=%s -DRED_SHAPE_%s -DRED_GROUP=%u -DRED_%s -DRED_IN_%s -DRED_IN_BITS=%d -DRED_IN_FLOAT=%d"
           " -DRED_IN_SIGNED=%d -DRED_CANONICAL=%d -DRED_LANES=%u -DRED_CHUNK=%u%s%s",
           standard_of(device), shape_macros[device->traits.shape], (unsigned)group, family_names[lowered->family],
           red_dtype_name(in), 8 * lowered->in_bytes, is_float(in), is_signed(in),
           lowered->canonical ? 8 * lowered->acc_bytes : 0, (unsigned)red_cl_reduce_lanes(device, lowered),
           (unsigned)red_chunk_elements(lowered), is_scan(lowered) ? "" : " -DRED_NARROW_VALUES", output);
  if (lowered->kind == RED_STATS) stats_options(lowered, text + strlen(text), MOST_OPTIONS - strlen(text));
}

/* The texts of a program, in order. What RED_V names is compiled for one value and for sixteen. */
typedef struct texts {
  const char *list[MOST_TEXTS];
  cl_uint count;
} texts;

static void add_text(texts *all, const char *text) {
  all->list[all->count++] = text;
}

static void add_for_widths(texts *all, const char *first, const char *second) {
  static const char *const one = "#undef RED_V\n#define RED_V(name) name\n";
  static const char *const sixteen = "#undef RED_V\n#define RED_V(name) RED_JOIN(name, 16)\n";
  add_text(all, one);
  add_text(all, first);
  if (second != NULL) add_text(all, second);
  add_text(all, sixteen);
  add_text(all, first);
  if (second != NULL) add_text(all, second);
  add_text(all, one);
}

static void gather_texts(const red_cl_device *device, const red_lowered *lowered, texts *all) {
  bool wide = device->traits.shape == RED_CL_WIDE;
  all->count = 0;
  add_text(all, red_cl_text_types_def);
  add_text(all, red_cl_text_prelude_cl);
  add_for_widths(all, red_cl_text_elements_cl, red_cl_text_convert_cl);
  add_text(all, red_cl_text_nodes_cl);
  if (is_scan(lowered)) {
    add_text(all, red_cl_text_results_cl);
    if (has_default_output(lowered)) add_for_widths(all, red_cl_text_out_cl, NULL);
    add_text(all, has_default_output(lowered) ? red_cl_text_out_default_cl : red_cl_text_out_any_cl);
    add_text(all, wide ? red_cl_text_scan_wide_cl : red_cl_text_scan_lanes_cl);
    return;
  }
  if (!wide) add_text(all, red_cl_text_lanes_cl);
  add_text(all, wide ? red_cl_text_chunk_wide_cl : red_cl_text_chunk_lanes_cl);
  if (lowered->kind == RED_STATS) {
    if (red_stats_need_moments(lowered)) {
      add_text(all, red_cl_text_moments_cl);
      add_text(all, wide ? red_cl_text_moments_wide_cl : red_cl_text_moments_lanes_cl);
    }
    add_text(all, red_cl_text_stats_cl);
    add_text(all, wide ? red_cl_text_stats_wide_cl : red_cl_text_stats_lanes_cl);
    return;
  }
  add_text(all, wide ? red_cl_text_reduce_wide_cl : red_cl_text_reduce_lanes_cl);
  add_text(all, red_cl_text_results_cl);
  add_text(all, red_cl_text_finish_cl);
}

/* ---- Building ---- */

/* The first lines of the build log, as one line. */
static red_status fail_with_log(const red_cl_device *device, cl_program program, cl_int error) {
  char log[4096] = "", lines[480];
  red_cl.GetProgramBuildInfo(program, device->traits.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  size_t used = 0;
  unsigned breaks = 0;
  for (const char *at = log; *at != '\0' && used + 1 < sizeof lines && breaks < 4; at++) {
    bool line_end = *at == '\n';
    breaks += line_end;
    lines[used++] = line_end ? ' ' : *at;
  }
  lines[used] = '\0';
  return red_fail(RED_ERR_DRIVER, "the OpenCL compiler of %s failed: %s (%d): %s", device->traits.id,
                  red_cl_error_name(error), (int)error,
                  used > 0 ? lines : "it gave no log; is the driver's own cache directory writable?");
}

static red_status build(const red_cl_device *device, const texts *all, const char *options, cl_program *program) {
  cl_int error;
  cl_program made = red_cl.CreateProgramWithSource(device->context, all->count, (const char **)all->list, NULL, &error);
  if (error != CL_SUCCESS) return red_cl_check(error, "clCreateProgramWithSource");
  error = red_cl.BuildProgram(made, 1, &device->traits.device, options, NULL, NULL);
  if (error != CL_SUCCESS) {
    red_status status = fail_with_log(device, made, error);
    red_cl.ReleaseProgram(made);
    return status;
  }
  *program = made;
  return RED_OK;
}

/* NULL if there is no binary or the driver does not want it: then the source is built. */
static cl_program load(const red_cl_device *device, const red_cl_cache_entry *entry, const char *options) {
  size_t bytes;
  unsigned char *binary = red_cl_cache_load(entry, &bytes);
  if (binary == NULL) return NULL;
  cl_int error, verdict = CL_SUCCESS;
  cl_program program = red_cl.CreateProgramWithBinary(device->context, 1, &device->traits.device, &bytes,
                                                      (const unsigned char **)&binary, &verdict, &error);
  free(binary);
  if (error == CL_SUCCESS && verdict == CL_SUCCESS)
    error = red_cl.BuildProgram(program, 1, &device->traits.device, options, NULL, NULL);
  if (error == CL_SUCCESS && verdict == CL_SUCCESS) return program;
  red_log("%s: a cached program was refused (%s): built again", device->traits.id, red_cl_error_name(error));
  if (program != NULL) red_cl.ReleaseProgram(program);
  return NULL;
}

static void keep_binary(const red_cl_device *device, const red_cl_cache_entry *entry, cl_program program) {
  cl_uint devices = 0;
  size_t bytes = 0;
  if (entry->path == NULL) return;
  if (red_cl.GetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL) != CL_SUCCESS) return;
  if (devices != 1) return; /* an application's context of several devices: the binaries are not ours to sort out */
  if (red_cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS) return;
  unsigned char *binary = bytes > 0 ? malloc(bytes) : NULL;
  if (binary == NULL) return;
  if (red_cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
    red_cl_cache_store(entry, binary, bytes);
  free(binary);
  (void)device;
}

static red_status make_kernels(red_cl_program *program) {
  bool any = false;
  for (int k = 0; k < RED_CL_KERNELS; k++) {
    cl_int error;
    program->kernels[k] = red_cl.CreateKernel(program->program, kernel_names[k], &error);
    if (error == CL_INVALID_KERNEL_NAME) {
      program->kernels[k] = NULL;
      continue;
    }
    if (error != CL_SUCCESS) return red_cl_check(error, "clCreateKernel");
    any = true;
  }
  return any ? RED_OK : red_fail(RED_ERR_DRIVER, "the OpenCL program has none of its kernels");
}

static void release_program(red_cl_program *program) {
  for (int k = 0; k < RED_CL_KERNELS; k++)
    if (program->kernels[k] != NULL) red_cl.ReleaseKernel(program->kernels[k]);
  if (program->program != NULL) red_cl.ReleaseProgram(program->program);
  free(program->options);
  free(program);
}

static red_status make_program(red_cl_device *device, const red_lowered *lowered, const char *options,
                               red_cl_program **made) {
  red_cl_program *program = calloc(1, sizeof *program);
  if (program == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for a program");
  program->options = strdup(options);
  texts all;
  gather_texts(device, lowered, &all);
  red_cl_cache_entry entry;
  red_cl_cache_locate(&device->traits, all.list, all.count, options, &entry);
  red_status status = RED_OK;
  program->program = load(device, &entry, options);
  bool built = program->program == NULL;
  if (built) status = build(device, &all, options, &program->program);
  if (status == RED_OK) status = make_kernels(program);
  if (status == RED_OK && built) keep_binary(device, &entry, program->program);
  red_cl_cache_release(&entry);
  if (status == RED_OK && program->options == NULL) status = red_fail(RED_ERR_NO_MEMORY, "no memory for a program");
  if (status != RED_OK) {
    release_program(program);
    return status;
  }
  *made = program;
  return RED_OK;
}

red_status red_cl_program_get(red_cl_device *device, const red_lowered *lowered, red_cl_program **program) {
  char options[MOST_OPTIONS];
  write_options(device, lowered, options);
  red_status status = RED_OK;
  pthread_mutex_lock(&device->build);
  red_cl_program *at = device->programs;
  while (at != NULL && strcmp(at->options, options) != 0) at = at->next;
  if (at == NULL) {
    status = make_program(device, lowered, options, &at);
    if (status == RED_OK) {
      at->next = device->programs;
      device->programs = at;
    }
  }
  pthread_mutex_unlock(&device->build);
  if (status == RED_OK) *program = at;
  return status;
}

void red_cl_programs_release(red_cl_device *device) {
  while (device->programs != NULL) {
    red_cl_program *program = device->programs;
    device->programs = program->next;
    release_program(program);
  }
}
