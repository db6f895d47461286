/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Elements on their way in and out. This text is compiled twice, for one element and for sixteen: RED_V(name) is name or
 * name16, for types, built-in functions and the functions defined here.
 */

static RED_V(RED_VALUE) RED_V(red_op)(RED_V(RED_VALUE) a, RED_V(RED_VALUE) b) {
  return RED_OP(a, b);
}

#if RED_IN_FLOAT && RED_IN_BITS <= 32
/* Exact; f16 by integers, so that no device needs half support. */
static RED_V(float) RED_V(red_widen)(RED_V(RED_ELEMENT) bits) {
#if defined(RED_IN_f16) && RED_PTX && RED_WIDTH == 1
  float wide;
  __asm__("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
  return wide;
#elif defined(RED_IN_f16)
  RED_V(uint) wide = RED_V(convert_uint)(bits);
  RED_V(uint) magnitude = (wide & 0x7fffu) << 13;
  RED_V(uint) finite = RED_V(as_uint)(RED_V(as_float)(magnitude) * 0x1p112f); /* rebias; subnormals come out normal */
  RED_V(int) special = magnitude >= 0x0f800000u;
  return RED_V(as_float)(((wide & 0x8000u) << 16) | select(finite, magnitude | 0x7f800000u, special));
#elif defined(RED_IN_bf16)
  return RED_V(as_float)(RED_V(convert_uint)(bits) << 16);
#else
  return RED_V(as_float)(bits);
#endif
}
#endif

#if defined(RED_MIN) || defined(RED_ARGMIN) || defined(RED_STATS)
/* The key of lower.h: its order as a signed integer is the order of the operator. */
static RED_V(RED_KEY) RED_V(red_key)(RED_V(RED_ELEMENT) bits, red_rules rules) {
#if RED_IN_FLOAT
  RED_V(RED_ELEMENT) magnitude = bits & (RED_ELEMENT)RED_MOST;
  RED_V(RED_KEY) nan = magnitude > (RED_ELEMENT)rules.inf;
  RED_V(RED_ELEMENT) plain = bits;
#if !defined(RED_MIN)
  RED_V(RED_KEY) zero = magnitude == (RED_ELEMENT)0;
  if (RED_ZEROS_MERGE || rules.merge_zeros) plain = select(bits, (RED_V(RED_ELEMENT))(0), zero);
#endif
  RED_V(RED_KEY) key = RED_V(RED_JOIN(as_, RED_KEY))(plain);
  key ^= (key >> (RED_KEY)(RED_IN_BITS - 1)) & (RED_KEY)RED_MOST; /* negative: a larger magnitude is less */
  key ^= (RED_KEY)rules.key_xor;
  return select(key, (RED_V(RED_KEY))((RED_KEY)rules.nan_key), nan);
#else
  RED_V(RED_ELEMENT) key = bits ^ (RED_ELEMENT)rules.key_xor;
  return RED_V(RED_JOIN(as_, RED_KEY))(key);
#endif
}
#endif

#if defined(RED_MIN) || defined(RED_STATS)
/* The element's bits that a key came from; of a NaN, the canonical one. */
static RED_V(RED_ELEMENT) RED_V(red_unkey)(RED_V(RED_KEY) key, red_rules rules) {
  RED_V(RED_ELEMENT) bits = RED_V(RED_JOIN(as_, RED_ELEMENT))(key) ^ (RED_ELEMENT)rules.key_xor;
#if RED_IN_FLOAT
  RED_V(RED_KEY) order = RED_V(RED_JOIN(as_, RED_KEY))(bits);
  order ^= (order >> (RED_KEY)(RED_IN_BITS - 1)) & (RED_KEY)RED_MOST;
  RED_ELEMENT inf = (RED_ELEMENT)rules.inf, quiet = (inf & (RED_ELEMENT)~(inf << 1)) >> 1;
  RED_V(RED_KEY) nan = key == (RED_KEY)rules.nan_key;
  bits = select(RED_V(RED_JOIN(as_, RED_ELEMENT))(order), (RED_V(RED_ELEMENT))((RED_ELEMENT)(inf | quiet)), nan);
#endif
  return bits;
}
#endif

#if RED_WANT_MOMENTS
/* In f64: exact, but for integers of 64 bits, which are rounded to nearest. */
static RED_V(double) RED_V(red_real)(RED_V(RED_ELEMENT) bits) {
#if RED_IN_FLOAT && RED_IN_BITS == 64
  return RED_V(as_double)(bits);
#elif RED_IN_FLOAT
  return RED_V(convert_double)(RED_V(red_widen)(bits));
#elif RED_IN_SIGNED
  return RED_V(convert_double)(RED_V(RED_JOIN(as_, RED_KEY))(bits));
#else
  return RED_V(convert_double)(bits);
#endif
}
#endif

/* An element as an operand. */
static RED_V(RED_VALUE) RED_V(red_lift)(RED_V(RED_ELEMENT) bits, red_rules rules) {
#if defined(RED_PAIRED)
  bits &= (RED_ELEMENT)rules.nonzero_mask;
#endif
#if RED_CANONICAL && RED_IN_BITS == 64
  return RED_V(as_double)(bits);
#elif RED_CANONICAL == 64
  return RED_V(convert_double)(RED_V(red_widen)(bits));
#elif RED_CANONICAL == 32
  return RED_V(red_widen)(bits);
#elif defined(RED_MIN) || defined(RED_ARGMIN)
  return RED_V(red_key)(bits, rules);
#elif defined(RED_AND) || defined(RED_OR) || defined(RED_XOR)
  return bits;
#elif defined(RED_COUNT)
  RED_V(RED_KEY) nonzero = (bits & (RED_ELEMENT)rules.nonzero_mask) != (RED_ELEMENT)0;
  nonzero &= (RED_KEY)1; /* true is -1 in a vector, 1 in a scalar */
  return RED_V(RED_JOIN(convert_, RED_VALUE))(nonzero);
#elif RED_IN_BITS == 64
  return bits;
#elif RED_IN_SIGNED && defined(RED_NARROW_VALUES) && defined(RED_ADD) && RED_IN_BITS <= 16 && !RED_MAP
  return RED_V(as_uint)(RED_V(convert_int)(RED_V(RED_JOIN(as_, RED_KEY))(bits)));
#elif RED_IN_SIGNED
  return RED_V(as_ulong)(RED_V(convert_long)(RED_V(RED_JOIN(as_, RED_KEY))(bits)));
#else
  return RED_V(RED_JOIN(convert_, RED_VALUE))(bits);
#endif
}

/* The value of a lane and its next element, with the one at the same place in the second input. */
static RED_V(RED_VALUE) RED_V(red_step)(RED_V(RED_VALUE) value, RED_V(RED_ELEMENT) bits, RED_V(RED_ELEMENT) second,
                                        red_rules rules) {
#if RED_MAP == 0
  return RED_V(red_op)(value, RED_V(red_lift)(bits, rules));
#elif RED_MAP == 1 && RED_CANONICAL
  return fma(RED_V(red_lift)(bits, rules), RED_V(red_lift)(second, rules), value);
#elif RED_MAP == 1
  return value + RED_V(red_lift)(bits, rules) * RED_V(red_lift)(second, rules);
#elif RED_MAP == 2 && RED_CANONICAL
  return fma(RED_V(red_lift)(bits, rules), RED_V(red_lift)(bits, rules), value);
#elif RED_MAP == 2
  return value + RED_V(red_lift)(bits, rules) * RED_V(red_lift)(bits, rules);
#elif RED_CANONICAL
  return value + fabs(RED_V(red_lift)(bits, rules));
#elif RED_IN_SIGNED
  return value + abs(RED_V(as_long)(RED_V(red_lift)(bits, rules)));
#else
  return value + RED_V(red_lift)(bits, rules);
#endif
}
