/* SPDX-License-Identifier: BSD-2-Clause */
/* How a scan's elements travel: see scan_job.h. */
#include "scan_job.h"

#include <string.h>

#include "order.h"

/* ---- Choosing lanes and conversions ---- */

static void add_store(red_scan_job *job, red_convert_fn *convert) {
  unsigned i = 0;
  while (job->store[i] != NULL) i++;
  job->store[i] = convert;
}

/* Integers of `bytes` bytes whose meaning is that of `acc`, of acc_bytes, to the output's width. */
static void store_integers(red_scan_job *job, unsigned bytes) {
  const red_lowered *lowered = job->lowered;
  const red_kernels *kernels = job->kernels;
  unsigned out = lowered->out_bytes, acc = lowered->acc_bytes;
  if (out > acc) {
    if (acc < bytes) add_store(job, kernels->narrow[lowered->acc][bytes == 8]);
    add_store(job, kernels->widen[lowered->acc][out == 8]);
    if (out == 2) add_store(job, kernels->narrow[RED_U16][0]);
  } else if (out < bytes) {
    if (bytes == 2) add_store(job, kernels->widen[RED_U16][0]);
    add_store(job, kernels->narrow[lowered->out][bytes == 8]);
  }
}

static void store_floats(red_scan_job *job, red_dtype lane) {
  red_dtype out = job->lowered->out;
  const red_kernels *kernels = job->kernels;
  if (lane == out) return;
  if (lane == RED_F16 || lane == RED_BF16) {
    add_store(job, kernels->widen[lane][out == RED_F64]);
    lane = out == RED_F64 ? RED_F64 : RED_F32;
    if (lane == out) return;
  }
  if (out == RED_F64)
    add_store(job, kernels->widen[lane][1]);
  else
    add_store(job, kernels->narrow[out][lane == RED_F64]);
}

static void take_canonical(red_scan_job *job) {
  const red_lowered *lowered = job->lowered;
  bool wide = lowered->acc_bytes == 8, add = lowered->family == RED_FAMILY_ADD;
  job->op = add ? (wide ? RED_ADD_F64 : RED_ADD_F32) : (wide ? RED_MUL_F64 : RED_MUL_F32);
  job->load = job->kernels->widen[lowered->in][wide];
  store_floats(job, wide ? RED_F64 : RED_F32);
}

/* Modulo 2^32 is enough where the accumulator or the output keeps no more. */
static void take_integers(red_scan_job *job) {
  const red_lowered *lowered = job->lowered;
  bool wide = lowered->acc_bytes == 8 && lowered->out_bytes == 8, add = lowered->family != RED_FAMILY_MUL;
  job->op = add ? (wide ? RED_ADD_U64 : RED_ADD_U32) : (wide ? RED_MUL_U64 : RED_MUL_U32);
  if (lowered->family == RED_FAMILY_COUNT) {
    job->is_flag = true;
    job->load = job->kernels->widen[RED_U8][wide];
  } else if (lowered->in_bytes == 8 && !wide) {
    job->load = job->kernels->narrow[RED_U32][1];
  } else {
    job->load = job->kernels->widen[lowered->in][wide];
  }
  store_integers(job, wide ? 8 : 4);
}

/* all and any: bitwise on flags. */
static void take_flags(red_scan_job *job) {
  job->is_flag = true;
  job->op = job->lowered->finish == RED_FINISH_ALL ? RED_AND_U8 : RED_OR_U8;
  store_integers(job, 1);
}

static red_lane_op min_op(const red_lowered *lowered) {
  switch (lowered->in_bytes) {
  case 1:
    return RED_MIN_I8;
  case 2:
    return lowered->in_float ? RED_MIN_F16 : RED_MIN_I16;
  case 4:
    return lowered->in_float ? RED_MIN_F32 : RED_MIN_I32;
  default:
    return lowered->in_float ? RED_MIN_F64 : RED_MIN_I64;
  }
}

static unsigned log2_bytes(unsigned bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static void take_input_lanes(red_scan_job *job) {
  const red_lowered *lowered = job->lowered;
  unsigned width = log2_bytes(lowered->in_bytes);
  switch (lowered->family) {
  case RED_FAMILY_MIN:
    job->op = min_op(lowered);
    break;
  case RED_FAMILY_AND:
    job->op = (red_lane_op)(RED_AND_U8 + width);
    break;
  case RED_FAMILY_OR:
    job->op = (red_lane_op)(RED_OR_U8 + width);
    break;
  default:
    job->op = (red_lane_op)(RED_XOR_U8 + width);
    break;
  }
  if (lowered->in_float)
    store_floats(job, lowered->in);
  else
    store_integers(job, lowered->in_bytes);
}

void red_scan_job_begin(red_scan_job *job, const red_kernels *kernels, const red_lowered *lowered, const void *in,
                        void *out) {
  *job = (red_scan_job){.kernels = kernels, .lowered = lowered, .in = in, .out = out};
  if (lowered->kind == RED_EXCLUSIVE_SCAN) job->flags = RED_SCAN_EXCLUSIVE;
  if (lowered->canonical)
    take_canonical(job);
  else if (lowered->family == RED_FAMILY_COUNT && lowered->finish != RED_FINISH_VALUE)
    take_flags(job);
  else if (lowered->family == RED_FAMILY_ADD || lowered->family == RED_FAMILY_MUL ||
           lowered->family == RED_FAMILY_COUNT)
    take_integers(job);
  else
    take_input_lanes(job);
  job->scan = kernels->scan[job->op];
  red_scan_fn *wide_sum = kernels->wide_sum[job->is_flag ? RED_U8 : lowered->in];
  if (job->op == RED_ADD_U64 && wide_sum != NULL) {
    job->scan = wide_sum;
    job->load = NULL;
  }
}

/* ---- States: those of the core, but flags for all and any ---- */

static bool scans_flags(const red_scan_job *job) {
  return job->op == RED_AND_U8 || job->op == RED_OR_U8;
}

red_state red_scan_before(const red_scan_job *job) {
  const red_lowered *lowered = job->lowered;
  if (job->is_flag && scans_flags(job)) {
    bool flag = lowered->has_init ? lowered->init.u8 != 0 : lowered->finish == RED_FINISH_ALL;
    return (red_state){.u64 = flag};
  }
  return lowered->has_init ? red_state_from_acc(lowered, &lowered->init) : red_state_identity(lowered);
}

red_state red_scan_merge(const red_scan_job *job, red_state a, red_state b) {
  if (!job->is_flag || !scans_flags(job)) return red_state_merge(job->lowered, a, b);
  if (job->op == RED_AND_U8)
    a.u64 &= b.u64;
  else
    a.u64 |= b.u64;
  return a;
}

/* ---- P(k) ---- */

void red_prefix_begin(red_prefix *prefix, red_state before) {
  prefix->k = 0;
  for (unsigned h = 0; h < 65; h++) prefix->prefix[h] = before;
}

void red_prefix_append(red_prefix *prefix, const red_scan_job *job, red_state node) {
  unsigned h = 0;
  for (; (prefix->k >> h & 1) != 0; h++) node = red_scan_merge(job, prefix->node[h], node);
  prefix->node[h] = node;
  red_state now = red_scan_merge(job, prefix->prefix[h + 1], node);
  for (unsigned lower = 0; lower <= h; lower++) prefix->prefix[lower] = now;
  prefix->k++;
}

static red_state top_node(const red_prefix *prefix) {
  return prefix->node[63 - __builtin_clzll(prefix->k)];
}

/* ---- Pieces ---- */

static const void *load_tile(const red_scan_job *job, const uint8_t *in, size_t n, void *tile, void *spare) {
  const void *at = in;
  if (job->is_flag) {
    void *flags = job->load != NULL ? spare : tile;
    job->kernels->flags[log2_bytes(job->lowered->in_bytes)](in, flags, n, job->lowered->nonzero_mask);
    at = flags;
  }
  if (job->load != NULL) {
    job->load(at, tile, n);
    at = tile;
  }
  return at;
}

static void store_tile(const red_scan_job *job, void *tile, void *spare, size_t n, uint8_t *out) {
  for (unsigned i = 0; i < 3 && job->store[i] != NULL; i++) {
    bool last = i == 2 || job->store[i + 1] == NULL;
    void *to = last ? out : spare;
    job->store[i](tile, to, n);
    spare = tile;
    tile = to;
  }
}

void red_scan_store_end(const red_scan_job *job, const red_prefix *prefix, uint64_t end) {
  const red_lowered *lowered = job->lowered;
  if (!lowered->canonical || lowered->kind != RED_INCLUSIVE_SCAN) return;
  red_state_store(lowered, red_prefix_now(prefix), end, job->out + (end - 1) * lowered->out_bytes);
}

static const uint8_t *address_ahead(const red_scan_job *job, uint64_t ahead) {
  return ahead != 0 ? job->in + ahead * job->lowered->in_bytes : NULL;
}

/* From `ahead` on half of `bytes`; what comes after that. */
static const uint8_t *prefetch_half(const uint8_t *ahead, size_t bytes) {
  if (ahead == NULL) return NULL;
  for (size_t line = 0; line < bytes / 2; line += 64) __builtin_prefetch(ahead + line, 0, 2);
  return ahead + bytes / 2;
}

static bool is_direct(const red_scan_job *job) {
  return !job->is_flag && job->load == NULL && job->store[0] == NULL;
}

red_state red_scan_piece(const red_scan_job *job, uint64_t first, uint64_t n, red_state before, uint64_t ahead) {
  const red_lowered *lowered = job->lowered;
  const uint8_t *in = job->in + first * lowered->in_bytes;
  uint8_t *out = job->out + first * lowered->out_bytes;
  const uint8_t *ahead_in = address_ahead(job, ahead);
  if (is_direct(job)) return job->scan(lowered, in, out, n, before, job->flags, ahead_in);
  const unsigned flags = job->flags & ~RED_SCAN_STREAM;
  _Alignas(64) uint8_t tile[RED_TILE * 8], spare[RED_TILE * 8];
  red_prefix prefix;
  red_prefix_begin(&prefix, before);
  for (uint64_t i = 0; i < n; i += RED_TILE) {
    size_t here = n - i < RED_TILE ? n - i : RED_TILE;
    const uint8_t *from = in + i * lowered->in_bytes;
    ahead_in = prefetch_half(ahead_in, here * lowered->in_bytes);
    const void *lanes = load_tile(job, from, here, tile, spare);
    uint8_t *to = out + i * lowered->out_bytes;
    void *scanned = job->store[0] != NULL ? tile : to;
    red_state node = job->scan(lowered, lanes, scanned, here, red_prefix_now(&prefix), flags, NULL);
    store_tile(job, tile, spare, here, to);
    red_prefix_append(&prefix, job, node);
    if (here == RED_TILE) red_scan_store_end(job, &prefix, first + i + here);
  }
  return top_node(&prefix);
}

static red_state reduce_tile(const red_scan_job *job, const uint8_t *in, uint64_t n) {
  const red_lowered *lowered = job->lowered;
  red_state state = job->kernels->reduce[lowered->family][lowered->in][lowered->acc_bytes == 8](lowered, in, n);
  if (!job->is_flag || !scans_flags(job)) return state;
  return (red_state){.u64 = lowered->finish == RED_FINISH_ALL ? state.u64 == n : state.u64 > 0};
}

/* Order-free: reductions of the input, in tiles of half a first-level cache. */
static red_state reduce_node(const red_scan_job *job, const uint8_t *in, uint64_t n, const uint8_t *ahead) {
  enum {
    TILE_BYTES = 16 << 10
  };
  const uint64_t bytes = n * job->lowered->in_bytes, tile = bytes < TILE_BYTES ? bytes : TILE_BYTES;
  red_state state = {.u64 = 0};
  for (uint64_t i = 0; i < bytes; i += tile) {
    ahead = prefetch_half(ahead, tile);
    red_state next = reduce_tile(job, in + i, tile / job->lowered->in_bytes);
    state = i > 0 ? red_scan_merge(job, state, next) : next;
  }
  return state;
}

red_state red_scan_node(const red_scan_job *job, uint64_t first, uint64_t n, uint64_t ahead) {
  const red_lowered *lowered = job->lowered;
  const uint8_t *in = job->in + first * lowered->in_bytes, *ahead_in = address_ahead(job, ahead);
  if (!lowered->canonical) return reduce_node(job, in, n, ahead_in);
  red_total_fn *total = job->kernels->total[job->op];
  if (job->load == NULL) return total(lowered, in, n, ahead_in);
  _Alignas(64) uint8_t tile[RED_TILE * 8];
  red_prefix prefix;
  red_prefix_begin(&prefix, red_state_identity(lowered));
  for (uint64_t i = 0; i < n; i += RED_TILE) {
    size_t here = n - i < RED_TILE ? n - i : RED_TILE;
    ahead_in = prefetch_half(ahead_in, here * lowered->in_bytes);
    job->load(in + i * lowered->in_bytes, tile, here);
    red_prefix_append(&prefix, job, total(lowered, tile, here, NULL));
  }
  return top_node(&prefix);
}
