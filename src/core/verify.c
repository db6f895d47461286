/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The self-test of a device: problems whose answers were computed with exact arithmetic outside this library. What is
 * tested when a device opens are the arithmetic and the order of floats, and before its first exact reduction an exact
 * sum; red_self_test goes through every family. A device with memory of its own gets each problem twice: other kernels
 * may do it there.
 */
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fpenv.h"
#include "half.h"
#include "overlap.h"
#include "plan.h"

/* Inputs, each a short recipe. */
typedef enum recipe {
  UNIFORM,   /* the top bits of a 64-bit linear congruential generator; floats in [-1, 1) with all their digits */
  SUBNORMAL, /* the smallest subnormal everywhere */
  MINUS_ZERO,
  NAN_LATE, /* 3, -0, 0, then a signalling NaN with its sign set */
  RAMP,     /* 0, 1, 2, ... as i32 */
} recipe;

/* The second input of dot is the first one from its second element on. */
typedef struct known_answer {
  red_kind kind;
  red_op op;
  red_dtype dtype;
  recipe recipe;
  uint64_t n;
  uint64_t bits; /* of the result, of a scan's last output, or of the sample variance */
} known_answer;

#define MOST 70001

static const known_answer when_opened[] = {
    {RED_REDUCE, RED_SUM, RED_F32, UNIFORM, 127, 0xc1057e33},
    {RED_REDUCE, RED_SUM, RED_F32, UNIFORM, 4097, 0xc1a4f18c},
    {RED_REDUCE, RED_SUM, RED_F64, UNIFORM, 129, 0xc02067863cf5cd83},
    {RED_REDUCE, RED_SUM, RED_F64, UNIFORM, 4097, 0xc0349e21c39d6145},
    {RED_REDUCE, RED_SUM, RED_F32, SUBNORMAL, 1000, 0x000003e8},
    {RED_REDUCE, RED_SUM, RED_F64, SUBNORMAL, 4096, 0x1000},
    {RED_REDUCE, RED_SUM, RED_F32, MINUS_ZERO, 1025, 0x80000000},
    {RED_REDUCE, RED_SUM, RED_F32, NAN_LATE, 4, 0x7fc00000},
    {RED_REDUCE, RED_MIN, RED_F32, NAN_LATE, 3, 0x80000000},
    {RED_REDUCE, RED_MAXNUM, RED_F32, NAN_LATE, 4, 0x40400000},
    {RED_REDUCE, RED_ARGMIN, RED_F32, NAN_LATE, 3, 1},
    {RED_REDUCE, RED_SUM, RED_I32, RAMP, 4097, 8390656},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, UNIFORM, 1025, 0xbfc0cc07},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, UNIFORM, 4097, 0xc1a4f191},
    {RED_EXCLUSIVE_SCAN, RED_SUM, RED_F32, UNIFORM, 4097, 0xc1a287bd},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, MINUS_ZERO, 67, 0x80000000},
};

static const known_answer on_request[] = {
    {RED_REDUCE, RED_SUM, RED_F16, UNIFORM, 4097, 0xcda8},
    {RED_REDUCE, RED_SUM, RED_BF16, UNIFORM, 1025, 0xc0b0},
    {RED_REDUCE, RED_SUM, RED_F32, UNIFORM, 70001, 0x43009e36},
    {RED_REDUCE, RED_PROD, RED_F32, UNIFORM, 37, 0x2c4a45f1},
    {RED_REDUCE, RED_PROD, RED_F64, UNIFORM, 37, 0x3d8948bae3efac8e},
    {RED_REDUCE, RED_SUM, RED_U8, UNIFORM, 4097, 0x7ffb8},
    {RED_REDUCE, RED_SUM, RED_I16, UNIFORM, 4097, 0xfffffffffff5a8fe},
    {RED_REDUCE, RED_PROD, RED_U64, UNIFORM, 63, 0x8000000000000000},
    {RED_REDUCE, RED_MIN, RED_I8, UNIFORM, 1000, 0x80},
    {RED_REDUCE, RED_MAX, RED_U16, UNIFORM, 4097, 0xfffe},
    {RED_REDUCE, RED_MIN, RED_F64, UNIFORM, 4097, 0xbfeff8ad815c9f20},
    {RED_REDUCE, RED_MAX, RED_BF16, UNIFORM, 300, 0x3f7c},
    {RED_REDUCE, RED_ARGMAX, RED_I64, UNIFORM, 4097, 0x8c5},
    {RED_REDUCE, RED_ARGMIN, RED_U32, UNIFORM, 70001, 0x8e57},
    {RED_REDUCE, RED_BAND, RED_U32, UNIFORM, 3, 0x400080},
    {RED_REDUCE, RED_BXOR, RED_U64, UNIFORM, 4097, 0x4800328aef77807c},
    {RED_REDUCE, RED_BOR, RED_I16, UNIFORM, 5, 0xefff},
    {RED_REDUCE, RED_COUNT_NONZERO, RED_U8, UNIFORM, 70001, 0x11063},
    {RED_REDUCE, RED_ALL, RED_I8, UNIFORM, 200, 0x0},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_F64, UNIFORM, 4097, 0xc0349e21c39d6146},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_F16, UNIFORM, 1025, 0xc004},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, UNIFORM, 70001, 0x43009e33},
    {RED_EXCLUSIVE_SCAN, RED_PROD, RED_F32, UNIFORM, 37, 0xacfd164a},
    {RED_INCLUSIVE_SCAN, RED_SUM, RED_I32, UNIFORM, 4097, 0xfffffff5b0ef1632},
    {RED_INCLUSIVE_SCAN, RED_MAX, RED_I64, UNIFORM, 1000, 0x7fe6376edd0f1bd9},
    {RED_INCLUSIVE_SCAN, RED_BXOR, RED_U8, UNIFORM, 1000, 0x70},
    {RED_EXCLUSIVE_SCAN, RED_COUNT_NONZERO, RED_F32, UNIFORM, 1000, 0x3e7},
    {RED_REDUCE, RED_DOT, RED_F32, UNIFORM, 4097, 0xc1a0f580},
    {RED_REDUCE, RED_DOT, RED_F64, UNIFORM, 2049, 0xc03bafdf5339c5e0},
    {RED_REDUCE, RED_DOT, RED_BF16, UNIFORM, 1025, 0xc1fe},
    {RED_REDUCE, RED_DOT, RED_I16, UNIFORM, 4097, 0xfffffffaf868bbba},
    {RED_REDUCE, RED_DOT, RED_U64, UNIFORM, 63, 0x8749c66688489884},
    {RED_REDUCE, RED_SUMSQ, RED_F32, UNIFORM, 4097, 0x44abf038},
    {RED_REDUCE, RED_SUMSQ, RED_BF16, UNIFORM, 1025, 0x43ab},
    {RED_REDUCE, RED_SUMSQ, RED_F64, UNIFORM, 4097, 0x40957e06e47d5416},
    {RED_REDUCE, RED_ASUM, RED_F64, UNIFORM, 4097, 0x40a011507676a66f},
    {RED_REDUCE, RED_NRM2, RED_F32, UNIFORM, 4097, 0x421459ef},
    {RED_REDUCE, RED_MEAN, RED_F16, UNIFORM, 1025, 0x9803},
    {RED_REDUCE, RED_SUMSQ, RED_I32, UNIFORM, 4097, 0xe06e47e12c585f7c},
    {RED_REDUCE, RED_ASUM, RED_I8, UNIFORM, 1000, 0xf950},
    {RED_STATS, RED_SUM, RED_F32, UNIFORM, 6145, 0x3fd5ac475852c1a9},
    {RED_STATS, RED_SUM, RED_F64, UNIFORM, 6145, 0x3fd5ac47585514ab},
    {RED_STATS, RED_SUM, RED_I16, UNIFORM, 70001, 0x41b569d64cfc78ad},
};

/* Of the exact mode: the arrays are long enough for several blocks of a device. The first one before any other. */
static const known_answer exactly[] = {
    {RED_REDUCE, RED_SUM, RED_F32, UNIFORM, 4097, 0xc1a4f18d},
    {RED_REDUCE, RED_SUM, RED_F64, UNIFORM, 70001, 0x406013e8d5254d0e},
    {RED_REDUCE, RED_SUM, RED_F16, UNIFORM, 4097, 0xcda8},
    {RED_REDUCE, RED_SUM, RED_BF16, UNIFORM, 70001, 0xc311},
    {RED_REDUCE, RED_SUMSQ, RED_F32, UNIFORM, 70001, 0x46b6fa58},
    {RED_REDUCE, RED_MEAN, RED_BF16, UNIFORM, 1025, 0xbbb0},
    {RED_REDUCE, RED_ASUM, RED_F64, UNIFORM, 1025, 0x407ffd56900d5682},
    {RED_REDUCE, RED_NRM2, RED_F64, UNIFORM, 70001, 0x40632145d5878530},
};

static void put(unsigned char *array, uint64_t i, red_dtype dtype, uint64_t bits) {
  size_t bytes = red_dtype_bytes(dtype);
  memcpy(array + i * bytes, &bits, bytes);
}

static red_scalar uniform(red_dtype dtype, uint64_t state) {
  double fraction = 0x1p-63 * (double)(int64_t)(state & ~(uint64_t)0x7ff); /* 53 digits: exact */
  switch (dtype) {
  case RED_F16:
    return (red_scalar){.f16 = red_f64_to_f16(floor(fraction * 0x1p10) * 0x1p-10)};
  case RED_BF16:
    return (red_scalar){.bf16 = red_f64_to_bf16(floor(fraction * 0x1p7) * 0x1p-7)};
  case RED_F32:
    return (red_scalar){.f32 = (float)(floor(fraction * 0x1p23) * 0x1p-23)};
  case RED_F64:
    return (red_scalar){.f64 = fraction};
  default:
    return (red_scalar){.u64 = state >> (64 - 8 * red_dtype_bytes(dtype))};
  }
}

static void cook(const known_answer *known, unsigned char *array) {
  static const uint32_t nan_late[] = {0x40400000u, 0x80000000u, 0, 0xffa00001u};
  bool wide = known->dtype == RED_F64;
  uint64_t state = 1, count = known->op == RED_DOT ? known->n + 1 : known->n;
  for (uint64_t i = 0; i < count; i++) {
    red_scalar value = {.u64 = 0};
    state = state * 6364136223846793005u + 1442695040888963407u;
    switch (known->recipe) {
    case UNIFORM:
      value = uniform(known->dtype, state);
      break;
    case SUBNORMAL:
      value.u64 = 1;
      break;
    case MINUS_ZERO:
      value.u64 = wide ? (uint64_t)1 << 63 : (uint64_t)1 << 31;
      break;
    case NAN_LATE:
      value.u64 = nan_late[i % 4];
      break;
    case RAMP:
      value.u64 = i;
      break;
    }
    put(array, i, known->dtype, value.u64);
  }
}

/* A device without f64, or with little memory for a work-group, supports the rest. */
static bool may_be_refused(const known_answer *known, const red_lowered *lowered) {
  return known->dtype == RED_F64 || lowered->acc == RED_F64 || known->kind == RED_STATS;
}

static uint64_t result_bits(const known_answer *known, const unsigned char *out, size_t bytes) {
  uint64_t bits = 0;
  if (known->kind == RED_STATS)
    memcpy(&bits, out + offsetof(red_stats_result, sample_variance), sizeof bits);
  else
    memcpy(&bits, out + (known->kind == RED_REDUCE ? 0 : (known->n - 1) * bytes), bytes);
  return bits;
}

/* Room for the longest problem, in host memory and on the device; handles of the latter NULL where it has none. */
typedef struct arrays {
  unsigned char *in, *out;
  void *device_in, *device_out;
} arrays;

#define ROOM (MOST * sizeof(uint64_t))

static red_status run(red_device *device, const red_plan *plan, const arrays *room) {
  const red_backend *backend = device->backend;
  const red_lowered *lowered = &plan->lowered;
  bool on_device = lowered->in_memory == RED_DEVICE, two = lowered->map == RED_MAP_PRODUCT;
  red_args args = {.size = sizeof args, .in = room->in, .out = room->out};
  if (on_device) {
    args.in = room->device_in;
    args.out = room->device_out;
    red_status status =
        backend->upload(device->state, NULL, room->device_in, 0, room->in, (lowered->n + two) * lowered->in_bytes);
    if (status != RED_OK) return status;
  }
  if (two) {
    args.in2 = args.in;
    args.in2_offset = lowered->in_bytes;
  }
  red_status status = red_plan_run(plan, NULL, &args, NULL);
  if (status != RED_OK || !on_device) return status;
  return backend->download(device->state, NULL, room->out, room->device_out, 0, red_out_extent(lowered));
}

static red_status check(red_device *device, const known_answer *known, bool exact, red_memory memory,
                        const arrays *room) {
  red_problem problem = RED_PROBLEM_INIT(known->kind, known->op, known->dtype, known->n);
  red_plan plan;
  problem.exact = exact;
  problem.in_memory = problem.out_memory = memory;
  if (known->kind == RED_STATS) problem.stats = RED_STAT_VARIANCE;
  red_status status = red_lower(&problem, &plan.lowered);
  if (status != RED_OK) return status;
  status = red_plan_prepare_on(device, &plan);
  if (status == RED_ERR_UNSUPPORTED && may_be_refused(known, &plan.lowered)) return RED_OK;
  if (status != RED_OK) return status;
  cook(known, room->in);
  if (known->kind == RED_STATS) ((red_stats_result *)(void *)room->out)->size = sizeof(red_stats_result);
  status = run(device, &plan, room);
  size_t bytes = plan.lowered.out_bytes;
  red_plan_release(&plan);
  if (status != RED_OK) return status;
  uint64_t bits = result_bits(known, room->out, bytes);
  if (bits == known->bits) return RED_OK;
  char text[128] = "";
  red_problem_print(&problem, text, sizeof text);
  return red_fail(RED_ERR_MISMATCH, "self-test: %s%s gave %#llx, the canonical answer is %#llx", text,
                  memory == RED_DEVICE ? " on the device" : "", (unsigned long long)bits,
                  (unsigned long long)known->bits);
}

static red_status check_list(red_device *device, const known_answer *known, size_t count, bool exact,
                             const arrays *room) {
  red_status status = RED_OK;
  for (size_t i = 0; i < count && status == RED_OK; i++) {
    status = check(device, &known[i], exact, RED_HOST, room);
    if (status == RED_OK && room->device_in != NULL) status = check(device, &known[i], exact, RED_DEVICE, room);
  }
  return status;
}

typedef enum extent {
  OPENED,
  EXACT,
  ALL
} extent;

static red_status check_lists(red_device *device, extent what, const arrays *room) {
  red_status status = RED_OK;
  if (what != EXACT) status = check_list(device, when_opened, sizeof when_opened / sizeof when_opened[0], false, room);
  if (status == RED_OK && what == ALL)
    status = check_list(device, on_request, sizeof on_request / sizeof on_request[0], false, room);
  if (status == RED_OK && what != OPENED)
    status = check_list(device, exactly, what == ALL ? sizeof exactly / sizeof exactly[0] : 1, true, room);
  return status;
}

static red_status verify(red_device *device, extent what) {
  const red_backend *backend = device->backend;
  arrays room = {.in = malloc(2 * ROOM)};
  if (room.in == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for the self-test");
  room.out = room.in + ROOM;
  red_status status = RED_OK;
  if (!backend->on_host) {
    status = backend->alloc(device->state, ROOM, &room.device_in);
    if (status == RED_OK) status = backend->alloc(device->state, ROOM, &room.device_out);
  }
  red_fpenv saved = red_fpenv_enter();
  if (status == RED_OK) status = check_lists(device, what, &room);
  red_fpenv_leave(saved);
  if (room.device_in != NULL) backend->free(device->state, room.device_in);
  if (room.device_out != NULL) backend->free(device->state, room.device_out);
  free(room.in);
  return status;
}

red_status red_verify_device(red_device *device) {
  return verify(device, OPENED);
}

red_status red_verify_exact(red_device *device) {
  if (atomic_load_explicit(&device->exact, memory_order_acquire)) return RED_OK;
  red_status status = verify(device, EXACT);
  if (status == RED_OK) atomic_store_explicit(&device->exact, true, memory_order_release);
  return status;
}

red_status red_self_test(red_context *context, red_memory memory) {
  if ((unsigned)memory > RED_DEVICE)
    return red_fail(RED_ERR_INVALID, "memory = %d: expected RED_HOST or RED_DEVICE", (int)memory);
  red_device *device = NULL;
  red_status status = red_context_resolve(context, &context);
  if (status == RED_OK) status = red_context_open_device(context, memory, &device);
  return status == RED_OK ? verify(device, ALL) : status;
}
