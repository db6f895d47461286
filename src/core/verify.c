/* SPDX-License-Identifier: BSD-2-Clause */
/* The self-test of a device: a few problems whose answers were computed with exact arithmetic outside this library. */
#include "verify.h"

#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* Inputs, each a short recipe. */
typedef enum recipe {
  UNIFORM,   /* (x >> 11) 2^-52 (f64) or (x >> 40) 2^-23 (f32) of a 64-bit linear congruential generator */
  SUBNORMAL, /* the smallest subnormal everywhere */
  MINUS_ZERO,
  NAN_LATE, /* 3, -0, 0, then a signalling NaN with its sign set */
  RAMP,     /* 0, 1, 2, ... as i32 */
} recipe;

typedef struct known_answer {
  red_kind kind;
  red_op op;
  red_dtype dtype;
  recipe recipe;
  uint64_t n;
  uint64_t bits; /* of the result, or of a scan's last output */
} known_answer;

#define MOST 4097

static const known_answer answers[] = {
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

static void put(unsigned char *array, uint64_t i, red_dtype dtype, uint64_t bits) {
  size_t bytes = red_dtype_bytes(dtype);
  memcpy(array + i * bytes, &bits, bytes);
}

static void cook(const known_answer *known, unsigned char *array) {
  static const uint32_t nan_late[] = {0x40400000u, 0x80000000u, 0, 0xffa00001u};
  bool wide = known->dtype == RED_F64;
  uint64_t state = 1;
  for (uint64_t i = 0; i < known->n; i++) {
    red_scalar value = {.u64 = 0};
    state = state * 6364136223846793005u + 1442695040888963407u;
    switch (known->recipe) {
    case UNIFORM:
      if (wide)
        value.f64 = (double)((int64_t)state >> 11) * 0x1p-52;
      else
        value.f32 = (float)((int64_t)state >> 40) * 0x1p-23f;
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

/* A device without f64 supports the rest. */
static bool is_left_out(const red_device *device, const known_answer *known, const red_lowered *lowered) {
  const red_backend *backend = device->backend;
  return known->dtype == RED_F64 && backend->supports != NULL && backend->supports(device->state, lowered) != RED_OK;
}

static red_status check(red_device *device, const known_answer *known, unsigned char *in, unsigned char *out) {
  red_problem problem = RED_PROBLEM_INIT(known->kind, known->op, known->dtype, known->n);
  red_plan plan;
  red_status status = red_lower(&problem, &plan.lowered);
  if (status == RED_OK && is_left_out(device, known, &plan.lowered)) return RED_OK;
  if (status == RED_OK) status = red_plan_prepare_on(device, &plan);
  if (status != RED_OK) return status;
  cook(known, in);
  red_args args = {.size = sizeof args, .in = in, .out = out};
  status = red_plan_run(&plan, NULL, &args, NULL, NULL);
  size_t bytes = plan.lowered.out_bytes;
  red_plan_release(&plan);
  if (status != RED_OK) return status;
  uint64_t bits = 0;
  memcpy(&bits, out + (known->kind == RED_REDUCE ? 0 : (known->n - 1) * bytes), bytes);
  if (bits == known->bits) return RED_OK;
  char text[128] = "";
  red_problem_print(&problem, text, sizeof text);
  return red_fail(RED_ERR_MISMATCH, "self-test: %s gave %#llx, the canonical answer is %#llx", text,
                  (unsigned long long)bits, (unsigned long long)known->bits);
}

red_status red_verify_device(red_device *device) {
  unsigned char *in = malloc(2 * MOST * sizeof(uint64_t));
  if (in == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for the self-test");
  red_status status = RED_OK;
  for (size_t i = 0; i < sizeof answers / sizeof answers[0] && status == RED_OK; i++)
    status = check(device, &answers[i], in, in + MOST * sizeof(uint64_t));
  free(in);
  return status;
}

red_status red_self_test(red_context *context, red_memory memory) {
  if ((unsigned)memory > RED_DEVICE)
    return red_fail(RED_ERR_INVALID, "memory = %d: expected RED_HOST or RED_DEVICE", (int)memory);
  red_device *device = NULL;
  red_status status = red_context_resolve(context, &context);
  if (status == RED_OK) status = red_context_open_device(context, memory, &device);
  return status == RED_OK ? red_verify_device(device) : status;
}
