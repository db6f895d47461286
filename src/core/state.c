/* SPDX-License-Identifier: BSD-2-Clause */
/* Partial results on the host: identity, merge, keys, and the way to the output dtype. */
#include "state.h"

#include <string.h>

#include "odd.h"
#include "status.h"
#include "tables.h"

static uint64_t load_bits(const void *element, unsigned bytes) {
  uint64_t bits = 0;
  memcpy(&bits, element, bytes);
  return bits;
}

static int64_t sign_extend(uint64_t bits, unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  return (int64_t)(bits << shift) >> shift;
}

static bool takes_f64(const red_lowered *lowered) {
  return lowered->canonical && lowered->acc_bytes == 8;
}

red_state red_state_identity(const red_lowered *lowered) {
  red_state state = {.u64 = 0, .index = 0};
  switch (lowered->family) {
  case RED_FAMILY_ADD:
    if (takes_f64(lowered))
      state.f64 = -0.0;
    else if (lowered->canonical)
      state.f32 = -0.0f;
    break;
  case RED_FAMILY_MUL:
    if (takes_f64(lowered))
      state.f64 = 1.0;
    else if (lowered->canonical)
      state.f32 = 1.0f;
    else
      state.u64 = 1;
    break;
  case RED_FAMILY_MIN:
  case RED_FAMILY_ARGMIN:
    state.key = (int64_t)(red_low_bits(lowered->in_bytes) >> 1);
    state.index = UINT64_MAX;
    break;
  case RED_FAMILY_AND:
    state.u64 = red_low_bits(lowered->in_bytes);
    break;
  default:
    break;
  }
  return state;
}

static red_state merge_float(const red_lowered *lowered, red_state a, red_state b) {
  bool add = lowered->family == RED_FAMILY_ADD;
  if (takes_f64(lowered))
    a.f64 = add ? a.f64 + b.f64 : a.f64 * b.f64;
  else
    a.f32 = add ? a.f32 + b.f32 : a.f32 * b.f32;
  return a;
}

red_state red_state_merge(const red_lowered *lowered, red_state a, red_state b) {
  if (lowered->canonical) return merge_float(lowered, a, b);
  switch (lowered->family) {
  case RED_FAMILY_ADD:
  case RED_FAMILY_COUNT:
    a.u64 += b.u64;
    break;
  case RED_FAMILY_MUL:
    a.u64 *= b.u64;
    break;
  case RED_FAMILY_MIN:
    return b.key < a.key ? b : a;
  case RED_FAMILY_ARGMIN:
    return b.key < a.key || (b.key == a.key && b.index < a.index) ? b : a;
  case RED_FAMILY_AND:
    a.u64 &= b.u64;
    break;
  case RED_FAMILY_OR:
    a.u64 |= b.u64;
    break;
  case RED_FAMILY_XOR:
    a.u64 ^= b.u64;
    break;
  default:
    break;
  }
  return a;
}

int64_t red_key(const red_lowered *lowered, const void *element) {
  unsigned bytes = lowered->in_bytes;
  uint64_t bits = load_bits(element, bytes);
  if (lowered->in_float) {
    uint64_t magnitude = bits & (red_low_bits(bytes) >> 1);
    if (magnitude > lowered->inf) return lowered->nan_key;
    if (lowered->merge_zeros && magnitude == 0) bits = 0;
    if (bits != magnitude) bits ^= red_low_bits(bytes) >> 1; /* negative: a larger magnitude is less */
  }
  return sign_extend(bits ^ lowered->key_xor, bytes);
}

/* The bits that a key came from; canonical NaN. */
static uint64_t unkey(const red_lowered *lowered, int64_t key) {
  unsigned bytes = lowered->in_bytes;
  uint64_t all = red_low_bits(bytes);
  if (lowered->in_float && key == lowered->nan_key) {
    return red_nan_bits(lowered->in);
  }
  uint64_t bits = ((uint64_t)key & all) ^ lowered->key_xor;
  if (lowered->in_float && (bits & ~(all >> 1)) != 0) bits ^= all >> 1;
  return bits;
}

double red_float_value(red_dtype dtype, const void *value) {
  switch (dtype) {
  case RED_F16:
    return (double)red_f16_to_f32((uint16_t)load_bits(value, 2));
  case RED_BF16:
    return (double)red_bf16_to_f32((uint16_t)load_bits(value, 2));
  case RED_F32:
    return (double)red_f32_from_bits((uint32_t)load_bits(value, 4));
  default:
    return red_f64_from_bits(load_bits(value, 8));
  }
}

/* Integers by their value in `dtype`, sign- or zero-extended. */
static uint64_t integer_value(red_dtype dtype, unsigned bytes, uint64_t bits) {
  bits &= red_low_bits(bytes);
  return red_dtype_is_signed(dtype) ? (uint64_t)sign_extend(bits, bytes) : bits;
}

red_state red_state_from_acc(const red_lowered *lowered, const red_scalar *value) {
  red_state state = {.u64 = 0, .index = 0};
  switch (lowered->family) {
  case RED_FAMILY_MIN:
  case RED_FAMILY_ARGMIN:
    state.key = red_key(lowered, value);
    break;
  case RED_FAMILY_COUNT:
    /* all: a false init leaves the count one short for ever; any: a true one puts it above zero */
    if (lowered->finish == RED_FINISH_VALUE)
      state.u64 = value->u64;
    else if (lowered->finish == RED_FINISH_ALL)
      state.u64 = value->u8 != 0 ? 0 : UINT64_MAX;
    else
      state.u64 = value->u8 != 0;
    break;
  default:
    if (takes_f64(lowered))
      state.f64 = value->f64;
    else if (lowered->canonical)
      state.f32 = value->f32;
    else
      state.u64 = integer_value(lowered->acc, lowered->acc_bytes, value->u64);
    break;
  }
  return state;
}

static void store_half(uint16_t bits, void *to) {
  memcpy(to, &bits, sizeof bits);
}

static void store_f32(float value, void *to) {
  value = red_canonical_f32(value);
  memcpy(to, &value, sizeof value);
}

static void store_f64(double value, void *to) {
  value = red_canonical_f64(value);
  memcpy(to, &value, sizeof value);
}

/* One rounding from the exact double; f64 -> f32 is the machine's own. */
static void store_float(red_dtype out, double value, void *to) {
  switch (out) {
  case RED_F16:
    store_half(red_f64_to_f16(value), to);
    break;
  case RED_BF16:
    store_half(red_f64_to_bf16(value), to);
    break;
  case RED_F32:
    store_f32((float)value, to);
    break;
  default:
    store_f64(value, to);
    break;
  }
}

/* Where store_float rounds to a narrower format, these leave that rounding to be the only one. */
static double mean(double sum, uint64_t count, bool narrower) {
  double n = (double)count, quotient = sum / n;
  return narrower ? red_round_to_odd(quotient, fma(-quotient, n, sum)) : quotient;
}

static double root(double sum, bool narrower) {
  double nearest = sqrt(sum);
  return narrower ? red_round_to_odd(nearest, fma(-nearest, nearest, sum)) : nearest;
}

static double finished(const red_lowered *lowered, double sum, uint64_t count) {
  bool narrower = lowered->out != RED_F64;
  switch (lowered->finish) {
  case RED_FINISH_MEAN:
    return mean(sum, count, narrower);
  case RED_FINISH_ROOT:
    return root(sum, narrower);
  default:
    return sum;
  }
}

/* One store, not a call: small calls are short. */
static void store_bits(uint64_t bits, unsigned bytes, void *out) {
  switch (bytes) {
  case 1:
    memcpy(out, &bits, 1);
    break;
  case 2:
    memcpy(out, &bits, 2);
    break;
  case 4:
    memcpy(out, &bits, 4);
    break;
  default:
    memcpy(out, &bits, 8);
    break;
  }
}

void red_state_store(const red_lowered *lowered, red_state state, uint64_t count, void *out) {
  uint64_t bits = state.u64;
  switch (lowered->family) {
  case RED_FAMILY_ADD:
  case RED_FAMILY_MUL:
    if (lowered->canonical) {
      double sum = takes_f64(lowered) ? state.f64 : (double)state.f32;
      store_float(lowered->out, finished(lowered, sum, count), out);
      return;
    }
    break;
  case RED_FAMILY_MIN:
    bits = unkey(lowered, state.key);
    if (lowered->in_float && lowered->out != lowered->in) {
      store_float(lowered->out, red_float_value(lowered->in, &bits), out);
      return;
    }
    break;
  case RED_FAMILY_ARGMIN:
    bits = state.index;
    break;
  case RED_FAMILY_COUNT:
    if (lowered->finish == RED_FINISH_ALL) bits = bits == count;
    if (lowered->finish == RED_FINISH_ANY) bits = bits > 0;
    break;
  default:
    break;
  }
  store_bits(integer_value(lowered->acc, lowered->acc_bytes, bits), lowered->out_bytes, out);
}

__attribute__((noinline)) static red_status finish(const red_lowered *lowered, red_state state, uint64_t count,
                                                   void *out) {
  bool nothing_found = lowered->family == RED_FAMILY_ARGMIN && lowered->nan_skip && state.key == lowered->nan_key;
  if (nothing_found && count > 0)
    return red_fail(RED_ERR_EMPTY, "op = %s: all %llu elements are NaN, there is no index to return",
                    red_op_name(lowered->op), (unsigned long long)count);
  if (count == 0 && !lowered->has_init) {
    if (lowered->empty_is_error)
      return red_fail(RED_ERR_EMPTY, "n = 0: op = %s has no result for empty input", red_op_name(lowered->op));
    state = red_state_from_acc(lowered, &lowered->identity);
  } else if (lowered->has_init) {
    state = red_state_merge(lowered, red_state_from_acc(lowered, &lowered->init), state);
  }
  red_state_store(lowered, state, count, out);
  return RED_OK;
}

/* By far the most frequent, and small calls are short. */
static bool is_simple_f32(const red_lowered *lowered) {
  return lowered->canonical && lowered->acc_bytes == 4 && lowered->out == RED_F32 && !lowered->has_init &&
         lowered->finish == RED_FINISH_VALUE;
}

red_status red_state_finish(const red_lowered *lowered, red_state state, uint64_t count, void *out) {
  if (count == 0 || !is_simple_f32(lowered)) return finish(lowered, state, count, out);
  store_f32(state.f32, out);
  return RED_OK;
}
