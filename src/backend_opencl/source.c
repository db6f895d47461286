/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs as text: the options that specialise them for a problem, and which texts make one. There are two parts: what
 * meets elements depends on the dtypes, what meets nodes alone does not, so that many problems share it.
 */
#include "source.h"

#include <stdio.h>
#include <string.h>

#include "exact.h"
#include "texts.h"

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

static bool is_float(red_dtype dtype) {
  return dtype == RED_F16 || dtype == RED_BF16 || dtype == RED_F32 || dtype == RED_F64;
}

static bool is_signed(red_dtype dtype) {
  return dtype == RED_I8 || dtype == RED_I16 || dtype == RED_I32 || dtype == RED_I64;
}

/* The magnitude of an element without a sign is the element. */
static red_map kernel_map(const red_lowered *lowered) {
  bool as_it_is = lowered->map == RED_MAP_ABS && !lowered->in_float && !lowered->in_signed;
  return as_it_is ? RED_MAP_NONE : lowered->map;
}

/* Where only the width of the elements matters they are called unsigned: fewer programs. */
static red_dtype kernel_dtype(const red_lowered *lowered) {
  if (lowered->kind == RED_STATS || lowered->canonical || lowered->exact) return lowered->in;
  switch (lowered->family) {
  case RED_FAMILY_ADD:
  case RED_FAMILY_MUL:
    return lowered->in_bytes == 8 && kernel_map(lowered) != RED_MAP_ABS ? RED_U64 : lowered->in;
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

uint32_t red_cl_reduce_adjacent(const red_cl_device *device, const red_lowered *lowered) {
  bool halves = lowered->kind == RED_REDUCE && lowered->canonical && lowered->in_bytes == 2 && !red_is_paired(lowered);
  bool whole = red_cl_reduce_group(device, lowered) == red_cl_reduce_lanes(device, lowered);
  return halves && whole && !red_cl_is_wide(device) ? 16u / lowered->acc_bytes : 1;
}

/* ---- Options ---- */

static const char *standard_of(const red_cl_device *device) {
  if (device->traits.shape != RED_CL_SUBGROUP) return "CL1.2";
  return device->traits.device_version[7] >= '3' ? "CL3.0" : "CL2.0";
}

bool red_cl_has_default_output(const red_lowered *lowered) {
  switch (lowered->family) {
  case RED_FAMILY_ADD:
  case RED_FAMILY_MUL:
    if (!lowered->canonical)
      return lowered->acc_bytes == 8 && (lowered->out_bytes == 8 || lowered->out_bytes == lowered->in_bytes);
    return lowered->out == lowered->in && lowered->acc_bytes == (lowered->in == RED_F64 ? 8 : 4);
  case RED_FAMILY_COUNT:
    return lowered->out_bytes == lowered->acc_bytes;
  default:
    return lowered->out == lowered->in;
  }
}

/* What the options of both parts begin with. */
static int begin_options(const red_cl_device *device, red_family family, uint32_t group, unsigned canonical,
                         red_dtype in, char *text) {
  int used = snprintf(
      text, RED_CL_MOST_OPTIONS,
      "-w -cl-std=%s -DRED_SHAPE_%s -DRED_GROUP=%u -DRED_%s -DRED_CANONICAL=%u -DRED_IN_%s -DRED_IN_BITS=%d"
      " -DRED_IN_FLOAT=%d -DRED_IN_SIGNED=%d -DRED_PTX=%u",
      standard_of(device), shape_macros[device->traits.shape], (unsigned)group, family_names[family], canonical,
      red_dtype_name(in), 8 * (int)red_dtype_bytes(in), is_float(in), is_signed(in), device->traits.capability);
  if (device->traits.subgroup_size > 0)
    used += snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used, " -DRED_SUBGROUP_SIZE=%u",
                     (unsigned)device->traits.subgroup_size);
  return used;
}

/* A row of moments is that of a sum of such elements in their default accumulator. */
static void stats_options(const red_lowered *lowered, char *text, size_t bytes) {
  snprintf(text, bytes,
           " -DRED_STATS -DRED_STATS_WORDS=%d -DRED_ROW=%u -DRED_WANT_SUM=%d -DRED_WANT_EXTREMA=%d -DRED_WANT_NANS=%d"
           " -DRED_WANT_MOMENTS=%d",
           RED_CL_SUMMARY_WORDS, (unsigned)red_chunk_elements(lowered) / 32, red_stats_need_sum(lowered),
           red_stats_need_extrema(lowered), red_stats_need_nan_count(lowered), red_stats_need_moments(lowered));
}

static void exact_options(const red_cl_device *device, const red_lowered *lowered, char *text) {
  red_cl_exact_form form = red_cl_exact_form_of(device, lowered);
  int used = begin_options(device, lowered->family, form.group, 0, lowered->in, text);
  snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used,
           " -DRED_EXACT_BITS=%u -DRED_SPACING=%u -DRED_BINS=%u -DRED_FIRST_BIT=%u -DRED_BATCH=%u"
           " -DRED_DOUBLES=%d -DRED_EXACT_PRIVATE=%d -DRED_FINISHES=%d -DRED_MAP=%d",
           form.bits, form.spacing, form.bins, form.first, (unsigned)form.batch, form.doubles, form.in_private,
           form.finishes, (int)lowered->map);
}

/* Roots and quotients are rounded on the device if the sum came from there and the result stays. */
static bool rounds(const red_lowered *lowered) {
  bool finished = lowered->finish == RED_FINISH_ROOT || lowered->finish == RED_FINISH_MEAN;
  return finished && lowered->in_memory == RED_DEVICE && lowered->out_memory == RED_DEVICE;
}

static void element_options(const red_cl_device *device, const red_lowered *lowered, char *text) {
  bool scan = red_is_scan(lowered->kind);
  uint32_t group = scan ? device->group : red_cl_reduce_group(device, lowered);
  int used = begin_options(device, lowered->family, group, lowered->canonical ? 8u * lowered->acc_bytes : 0,
                           kernel_dtype(lowered), text);
  size_t room = RED_CL_MOST_OPTIONS - (size_t)used;
  if (!scan) {
    used += snprintf(text + used, room, " -DRED_LANES=%u -DRED_CHUNK=%u -DRED_NARROW_VALUES",
                     (unsigned)red_cl_reduce_lanes(device, lowered), (unsigned)red_chunk_elements(lowered));
    if (red_cl_reduce_adjacent(device, lowered) > 1)
      used += snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used, " -DRED_ADJACENT=%u",
                       (unsigned)red_cl_reduce_adjacent(device, lowered));
    if (kernel_map(lowered) != RED_MAP_NONE)
      used += snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used, " -DRED_MAP=%d", (int)kernel_map(lowered));
    if (red_is_paired(lowered)) used += snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used, " -DRED_PAIRED");
    if (lowered->kind == RED_REDUCE && rounds(lowered))
      used += snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used, " -DRED_ROUNDS");
    if (red_cl_nodes_at_once(device, lowered))
      used += snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used, " -DRED_ONCE -DRED_MEMBERS=%u",
                       (unsigned)red_cl_once_members(device, lowered));
    if (lowered->kind == RED_STATS) stats_options(lowered, text + used, RED_CL_MOST_OPTIONS - (size_t)used);
  } else if (red_cl_has_default_output(lowered)) {
    red_dtype out = is_float(lowered->out) ? lowered->out : unsigned_of(lowered->out_bytes);
    used += snprintf(text + used, room, " -DRED_OUT_%s -DRED_OUT_BITS=%d -DRED_FINISH=%d", red_dtype_name(out),
                     8 * lowered->out_bytes, (int)lowered->finish);
    if (red_cl_has_pipe(device, lowered))
      snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used,
               " -DRED_PIPE_STAGE=%d -DRED_PIPE_STAGES=%d -DRED_PIPE_SPLIT=%d -DRED_PIPE_APPLIES=%d -DRED_PIPE_SUMS=%d",
               RED_CL_PIPE_STAGE, RED_CL_PIPE_STAGES, RED_CL_PIPE_SPLIT, RED_CL_PIPE_APPLIES, RED_CL_PIPE_SUMS);
  }
}

/* A node is a word of 64 bits or two, whatever the elements are; counts add up. */
static void node_options(const red_cl_device *device, const red_lowered *lowered, char *text) {
  red_family family = lowered->family == RED_FAMILY_COUNT ? RED_FAMILY_ADD : lowered->family;
  int used =
      begin_options(device, family, device->group, lowered->canonical ? 8u * lowered->acc_bytes : 0, RED_U64, text);
  if (red_is_paired(lowered)) snprintf(text + used, RED_CL_MOST_OPTIONS - (size_t)used, " -DRED_PAIRED");
}

/* ---- Texts ---- */

static void add_text(red_cl_source *all, const char *text) {
  all->texts[all->count++] = text;
}

/* What RED_V names is compiled for one value and for sixteen. */
static void add_for_widths(red_cl_source *all, const char *first, const char *second) {
  static const char *const one = "#undef RED_V\n#define RED_V(name) name\n#undef RED_WIDTH\n#define RED_WIDTH 1\n";
  static const char *const sixteen =
      "#undef RED_V\n#define RED_V(name) RED_JOIN(name, 16)\n#undef RED_WIDTH\n#define RED_WIDTH 16\n";
  add_text(all, one);
  add_text(all, first);
  if (second != NULL) add_text(all, second);
  add_text(all, sixteen);
  add_text(all, first);
  if (second != NULL) add_text(all, second);
  add_text(all, one);
}

static void scan_texts(const red_cl_device *device, const red_lowered *lowered, red_cl_source *all) {
  const bool wide = red_cl_is_wide(device);
  bool by_default = red_cl_has_default_output(lowered);
  add_text(all, red_cl_text_last_cl);
  add_text(all, red_cl_text_results_cl);
  if (by_default) add_for_widths(all, red_cl_text_out_cl, NULL);
  add_text(all, by_default ? red_cl_text_out_default_cl : red_cl_text_out_any_cl);
  add_text(all, wide ? red_cl_text_expansion_cl : red_cl_text_runs_cl);
  if (wide) add_text(all, red_cl_text_tile_wide_cl);
  if (red_cl_scans_in_pass(device))
    add_text(all, red_cl_text_scan_pass_wide_cl);
  else
    add_text(all, wide ? red_cl_text_scan_wide_cl : red_cl_text_scan_lanes_cl);
  if (!red_cl_has_pipe(device, lowered)) return;
  add_text(all, red_cl_text_async_cl);
  add_text(all, red_cl_text_board_cl);
  add_text(all, red_cl_text_lookback_cl);
  add_text(all, red_cl_text_scan_pipe_cl);
}

static void stats_texts(bool wide, const red_lowered *lowered, red_cl_source *all) {
  if (red_stats_need_moments(lowered)) {
    add_text(all, red_cl_text_moments_cl);
    add_text(all, wide ? red_cl_text_moments_wide_cl : red_cl_text_moments_lanes_cl);
  }
  add_text(all, red_cl_text_stats_cl);
  add_text(all, wide ? red_cl_text_stats_wide_cl : red_cl_text_stats_lanes_cl);
}

/* How a work-group comes from elements to its node: in the canonical order by chunks. */
static void group_texts(const red_cl_device *device, const red_lowered *lowered, red_cl_source *all) {
  bool keys = lowered->family == RED_FAMILY_MIN || lowered->family == RED_FAMILY_ARGMIN;
  add_text(all, red_cl_text_lanes_cl);
  add_text(all, red_cl_text_fold_lanes_cl);
  if (lowered->kind == RED_STATS || (lowered->canonical && red_cl_reduce_adjacent(device, lowered) == 1)) {
    add_text(all, red_cl_text_chunk_lanes_cl);
  } else if (lowered->canonical) {
    add_text(all, red_cl_text_chunk_adjacent_cl);
  } else {
    add_text(all, red_cl_text_bags_cl);
    if (keys) add_text(all, red_cl_text_keys_cl);
    add_text(all, red_cl_text_vectors_cl);
  }
}

static void reduce_texts(const red_cl_device *device, const red_lowered *lowered, red_cl_source *all) {
  const bool wide = red_cl_is_wide(device);
  if (!red_is_paired(lowered)) { /* the host finishes those */
    const bool by_doubles = device->traits.capability > 0;
    add_text(all, red_cl_text_last_cl);
    if (rounds(lowered) && !by_doubles) add_text(all, red_cl_text_round_cl);
    add_text(all, red_cl_text_results_cl);
    if (rounds(lowered) && by_doubles) add_text(all, red_cl_text_round_odd_cl);
    add_text(all, red_cl_text_finish_cl);
  }
  if (!wide) add_text(all, red_cl_text_board_cl);
  if (!wide) add_text(all, red_cl_text_once_lanes_cl);
  add_text(all, wide ? red_cl_text_reduce_wide_cl : red_cl_text_reduce_lanes_cl);
}

static void exact_texts(bool wide, const red_cl_device *device, const red_lowered *lowered, red_cl_source *all) {
  add_for_widths(all, red_cl_text_elements_cl, NULL);
  add_text(all, red_cl_text_exact_cl);
  add_text(all, wide ? red_cl_text_exact_wide_cl : red_cl_text_exact_lanes_cl);
  if (!red_cl_exact_form_of(device, lowered).finishes) return;
  add_text(all, red_cl_text_last_cl);
  add_text(all, red_cl_text_round_cl);
  add_text(all, red_cl_text_exact_finish_cl);
}

static void element_texts(const red_cl_device *device, const red_lowered *lowered, red_cl_source *all) {
  const bool wide = red_cl_is_wide(device);
  add_for_widths(all, red_cl_text_elements_cl, red_cl_text_convert_cl);
  add_text(all, red_cl_text_nodes_cl);
  if (red_is_scan(lowered->kind)) {
    scan_texts(device, lowered, all);
    return;
  }
  if (wide)
    add_text(all, red_cl_text_chunk_wide_cl);
  else
    group_texts(device, lowered, all);
  if (lowered->kind == RED_STATS)
    stats_texts(wide, lowered, all);
  else
    reduce_texts(device, lowered, all);
}

static void node_texts(bool wide, const red_lowered *lowered, red_cl_source *all) {
  add_text(all, red_cl_text_nodes_cl);
  add_text(all, wide ? red_cl_text_nodes_wide_cl : red_cl_text_nodes_lanes_cl);
  if (lowered->family == RED_FAMILY_ARGMIN || red_is_paired(lowered)) return; /* no scan */
  add_text(all, wide ? red_cl_text_expansion_cl : red_cl_text_runs_cl);
  add_text(all, wide ? red_cl_text_scan_nodes_wide_cl : red_cl_text_scan_nodes_lanes_cl);
}

void red_cl_source_of(const red_cl_device *device, const red_lowered *lowered, red_cl_part part,
                      red_cl_source *source) {
  bool wide = device->traits.shape == RED_CL_WIDE;
  source->count = 0;
  add_text(source, red_cl_text_types_def);
  add_text(source, red_cl_text_prelude_cl);
  if (part == RED_CL_NODES) {
    node_options(device, lowered, source->options);
    node_texts(wide, lowered, source);
  } else if (lowered->exact) {
    exact_options(device, lowered, source->options);
    exact_texts(wide, device, lowered, source);
  } else {
    element_options(device, lowered, source->options);
    element_texts(device, lowered, source);
  }
}
