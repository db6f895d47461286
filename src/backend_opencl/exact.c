/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact reductions: each work-group, or work-item of a CPU device, leaves the bins of its part; these are added up, and
 * the long integer is rounded once, on the host or, if input and result both lie on the device, there. Nothing but
 * 32-bit atomics in local memory is asked of a device.
 */
#include "exact.h"

#include <string.h>

enum {
  MOST_LANES = 256,
  MOST_DOUBLE_LANES = 128, /* of a group whose columns hold doubles */
  LEAST_LANES = 32,        /* fewer in local memory are slower than more in private memory */
  LANES_PER_UNIT = 1024,   /* of columns in local memory: enough to hide latencies, and all at once */
  GROUPS_PER_UNIT = 24,    /* of those in private memory */
  DOUBLE_ROOM = 1 << 14,   /* terms of a lane that doubles add without rounding */
  ITEMS_PER_UNIT = 16,     /* of a CPU device */
  ITEM_ELEMENTS = 1 << 14  /* ... has at least so many */
};

/* ---- What is added ---- */

/* The position of a sum's term is its exponent, 1 for subnormals, and of a product's both exponents less one. */
static red_cl_exact_form form_of_terms(const red_lowered *lowered) {
  bool product = lowered->map == RED_MAP_PRODUCT || lowered->map == RED_MAP_SQUARE;
  if (lowered->in == RED_F64 && product)
    return (red_cl_exact_form){
        .bits = 106, .spacing = 52, .bins = 82, .first = 0, .batch = lowered->map == RED_MAP_SQUARE ? 8 : 4};
  if (lowered->in == RED_F64)
    return (red_cl_exact_form){.bits = 53, .spacing = 52, .bins = 42, .first = RED_EXACT_F64 - 1, .batch = 16};
  if (product && lowered->in != RED_F16)
    return (red_cl_exact_form){.bits = 48, .spacing = 48, .bins = 13, .first = 2148 - 2 * 149, .batch = 16};
  return (red_cl_exact_form){.bits = 24, .spacing = 16, .bins = 17, .first = 2148 - 150, .batch = 16};
}

red_cl_exact_form red_cl_exact_form_of(const red_cl_device *device, const red_lowered *lowered) {
  red_cl_exact_form form = form_of_terms(lowered);
  form.doubles = form.bits == 24 && device->traits.f64;
  form.finishes = lowered->in_memory == RED_DEVICE && lowered->out_memory == RED_DEVICE;
  form.group = 1;
  if (device->traits.shape == RED_CL_WIDE) {
    if (form.bits == 24) form.bins++; /* for totals of blocks, which are longer than terms */
    return form;
  }
  uint64_t column = form.bins * sizeof(uint64_t),
           room = device->traits.local_memory - 64; /* flags, and what drivers take */
  uint32_t most = form.doubles ? MOST_DOUBLE_LANES : MOST_LANES;
  while (form.group < most && 2 * form.group <= device->group && 2 * form.group * column <= room) form.group *= 2;
  form.in_private = form.group < LEAST_LANES && form.group < device->group;
  if (form.in_private) form.group = device->group;
  return form;
}

/* ---- Who adds it ---- */

typedef struct layout {
  red_cl_exact_form form;
  uint64_t parts; /* work-groups, or work-items of the wide shape */
  uint64_t run;   /* elements of such an item; lanes take tiles */
  uint64_t words; /* of all bins and flags */
} layout;

static uint64_t parts_per_unit(bool wide, const red_cl_exact_form *form) {
  if (wide) return ITEMS_PER_UNIT;
  return form->in_private ? GROUPS_PER_UNIT : LANES_PER_UNIT / form->group;
}

static layout lay_out(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  layout l = {.form = red_cl_exact_form_of(device, lowered)};
  bool wide = device->traits.shape == RED_CL_WIDE;
  uint64_t least = wide ? ITEM_ELEMENTS : l.form.group * l.form.batch, wanted = (n + least - 1) / least;
  uint64_t most = (uint64_t)device->traits.units * parts_per_unit(wide, &l.form);
  uint64_t room = (uint64_t)l.form.group * (DOUBLE_ROOM - 2 * l.form.batch); /* of whole tiles, and of the last one */
  if (!wide && l.form.doubles && most < n / room + 1) most = n / room + 1;
  l.parts = wanted < most ? wanted : most;
  l.run = wide ? ((n + l.parts - 1) / l.parts + least - 1) / least * least : 0;
  if (wide) l.parts = (n + l.run - 1) / l.run;
  l.words = l.parts * (l.form.bins + 1);
  return l;
}

/* After the parts' words come the merged ones, in two halves each. */
static uint64_t merged_words(const layout *l) {
  return 2 * ((uint64_t)l->form.bins + 1);
}

uint64_t red_cl_exact_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n) {
  if (n == 0) return 0;
  layout l = lay_out(device, lowered, n);
  return (l.words + merged_words(&l)) * sizeof(uint64_t);
}

/* ---- Launches ---- */

static red_status launch_bins(const red_cl_run *run, const layout *l, const red_cl_piece *part) {
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_EXACT_BINS]};
  red_cl_arg_mem(&call, part->memory);
  red_cl_arg_u64(&call, part->offset);
  red_cl_arg_u64(&call, part->n);
  red_cl_arg_u64(&call, l->run);
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at);
  if (run->lowered->map == RED_MAP_PRODUCT) {
    red_cl_arg_mem(&call, part->memory2);
    red_cl_arg_u64(&call, part->offset2);
  }
  return red_cl_launch(run, &call, l->parts, l->form.group);
}

static red_status launch_merge(const red_cl_run *run, const layout *l) {
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_EXACT_MERGE]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at);
  red_cl_arg_u64(&call, l->parts);
  red_cl_arg_u64(&call, run->workspace_at + l->words);
  return red_cl_launch(run, &call, l->form.bins + 1, l->form.group);
}

static red_cl_last last_of(const red_lowered *lowered) {
  red_cl_last last = red_cl_last_of(lowered);
  double init = lowered->acc == RED_F64 ? lowered->init.f64 : (double)lowered->init.f32;
  if (lowered->has_init) memcpy(&last.init, &init, sizeof last.init);
  return last;
}

static red_status launch_finish(const red_cl_run *run, const layout *l, const red_exec *exec) {
  red_cl_last last = last_of(run->lowered);
  red_cl_call call = {.kernel = run->plan->elements->kernels[RED_CL_EXACT_FINISH]};
  red_cl_arg_mem(&call, run->workspace);
  red_cl_arg_u64(&call, run->workspace_at + l->words);
  red_cl_arg(&call, sizeof last, &last);
  red_cl_arg_mem(&call, exec->out);
  red_cl_arg_u64(&call, exec->out_offset);
  return red_cl_launch(run, &call, 1, 1);
}

/* ---- On the host ---- */

/* The lower and the upper halves of a bin of all parts; of the flags only lower ones. */
typedef struct halves {
  uint64_t low;
  int64_t high;
} halves;

static halves halves_of_parts(const layout *l, const uint64_t *words, unsigned bin) {
  halves sum = {0, 0};
  for (uint64_t i = bin * l->parts; i < (bin + 1) * l->parts; i++) {
    if (bin == l->form.bins) {
      sum.low |= words[i];
    } else {
      sum.low += words[i] & UINT32_MAX;
      sum.high += (int64_t)words[i] >> 32;
    }
  }
  return sum;
}

static void add_bins(const layout *l, const uint64_t *words, bool merged, red_exact *sum) {
  const red_cl_exact_form *form = &l->form;
  const uint64_t mask = ((uint64_t)1 << form->spacing) - 1;
  red_exact part;
  __int128 carry = 0;
  red_exact_clear(&part);
  for (unsigned bin = 0; bin <= form->bins; bin++) {
    halves h = merged ? (halves){words[2 * bin], (int64_t)words[2 * bin + 1]} : halves_of_parts(l, words, bin);
    if (bin == form->bins) {
      part.flags = (uint32_t)h.low;
      break;
    }
    carry += (__int128)h.high * ((__int128)1 << 32) + h.low;
    unsigned bit = form->first + bin * form->spacing;
    if (bin + 1 == form->bins) {
      red_exact_add_integer(&part, (int64_t)carry, bit);
    } else {
      red_exact_add_bits(&part, false, (uint64_t)carry & mask, bit);
      carry >>= form->spacing;
    }
  }
  red_exact_merge(sum, &part);
}

/* Where memory is shared, or there is but one part, the host merges: it is one launch less. */
static red_status add_piece(void *state, const red_cl_run *run, const red_cl_piece *part) {
  layout l = lay_out(run->device, run->lowered, part->n);
  bool merge = run->device->traits.shape != RED_CL_WIDE && l.parts > 1;
  red_status status = launch_bins(run, &l, part);
  if (status == RED_OK && merge) status = launch_merge(run, &l);
  if (status != RED_OK) return status;
  uint64_t at = (run->workspace_at + (merge ? l.words : 0)) * sizeof(uint64_t);
  void *mapped;
  status = red_cl_map(run->queue, run->workspace, at, (merge ? merged_words(&l) : l.words) * sizeof(uint64_t), &mapped);
  if (status != RED_OK) return status;
  add_bins(&l, mapped, merge, state);
  return red_cl_unmap(run->queue, run->workspace, mapped);
}

/* Where the core does not finish, a result for the device is written without waiting. */
static red_status round_on_host(const red_cl_run *run, const red_exec *exec, const red_exact *sum) {
  red_scalar value = {.u64 = 0};
  red_status status = red_exact_finish(run->lowered, sum, run->lowered->n, &value);
  return status == RED_OK ? red_cl_store_value(run, exec, &value) : status;
}

static red_status on_device(const red_cl_run *run, const red_exec *exec) {
  layout l = lay_out(run->device, run->lowered, run->lowered->n);
  red_cl_piece all = red_cl_whole(run, exec);
  red_status status = launch_bins(run, &l, &all);
  if (status == RED_OK) status = launch_merge(run, &l);
  return status == RED_OK ? launch_finish(run, &l, exec) : status;
}

red_status red_cl_exact(const red_cl_run *run, const red_exec *exec) {
  const red_lowered *lowered = run->lowered;
  red_exact aside, *sum = exec->exact != NULL ? exec->exact : &aside;
  if (exec->exact == NULL && lowered->n > 0 && red_cl_exact_form_of(run->device, lowered).finishes)
    return on_device(run, exec);
  red_exact_clear(sum);
  red_status status = lowered->n > 0 ? red_cl_each_piece(run, exec, add_piece, sum) : RED_OK;
  return status != RED_OK || exec->exact != NULL ? status : round_on_host(run, exec, sum);
}
