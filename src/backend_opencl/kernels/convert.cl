/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Floats from one format to another by integer arithmetic: one rounding to nearest even, subnormals kept, canonical NaN,
 * on devices without double and half precision too. Compiled for one value and for sixteen, like elements.cl.
 * RED_WORD holds the source: uint for binary32, ulong for binary64.
 */

/* To a format with fewer fraction bits; its sign bit lies above its exponent, where `sign_at` says. */
static RED_V(RED_WORD) RED_V(red_narrow)(RED_V(RED_WORD) bits, int fraction, int bias, int sign_at) {
  const RED_WORD one = 1;
  RED_V(RED_WORD) magnitude = bits & (RED_WORD)RED_WORD_MOST;
  RED_V(RED_WORD) sign = (bits >> (RED_WORD)(RED_WORD_BITS - 1)) << (RED_WORD)sign_at;
  RED_WORD infinity = ((one << sign_at) - 1) >> fraction << fraction;
  RED_V(RED_WORD) exponent = magnitude >> (RED_WORD)RED_WORD_FRACTION;
  RED_V(RED_WORD) rebias = (RED_V(RED_WORD))((RED_WORD)(RED_WORD_BIAS - bias));
  /* Normal in the target: exponent and fraction move together, and a carry out of the fraction is right. */
  RED_V(RED_WORD_SIGNED) small = exponent <= rebias;
  RED_V(RED_WORD) significand = (magnitude & ((one << RED_WORD_FRACTION) - 1)) | (one << RED_WORD_FRACTION);
  RED_V(RED_WORD) drop = (RED_V(RED_WORD))((RED_WORD)(RED_WORD_FRACTION - fraction));
  RED_V(RED_WORD) lower = min(rebias + one - exponent, (RED_V(RED_WORD))((RED_WORD)(fraction + 2)));
  RED_V(RED_WORD) source = magnitude - (rebias << (RED_WORD)RED_WORD_FRACTION);
  if (RED_WORD_BIAS != bias) {
    source = select(source, significand, small);
    drop = select(drop, drop + lower, small);
  }
  RED_V(RED_WORD) even = (source >> drop) & one;
  RED_V(RED_WORD) rounded = (source + (((RED_V(RED_WORD))(one) << (drop - one)) - one) + even) >> drop;
  rounded = min(rounded, (RED_V(RED_WORD))(infinity));
  RED_V(RED_WORD_SIGNED) nan = magnitude > (RED_WORD)RED_WORD_INFINITY;
  RED_V(RED_WORD) quiet = (RED_V(RED_WORD))(infinity | (one << (fraction - 1)));
  return select(rounded | sign, quiet, nan);
}

/* The same format: only NaNs change. */
static RED_V(RED_WORD) RED_V(red_canonical)(RED_V(RED_WORD) bits) {
  RED_V(RED_WORD_SIGNED) nan = (bits & (RED_WORD)RED_WORD_MOST) > (RED_WORD)RED_WORD_INFINITY;
  return select(bits, (RED_V(RED_WORD))((RED_WORD)RED_WORD_NAN), nan);
}

#if RED_WORD_BITS == 32
/* To binary64: exact. */
static RED_V(ulong) RED_V(red_double_bits)(RED_V(uint) bits) {
  RED_V(uint) magnitude = bits & 0x7fffffffu;
  RED_V(uint) zeros = clz(magnitude | 1u); /* of a subnormal: at least 9 */
  RED_V(ulong) sign = RED_V(convert_ulong)(bits >> 31) << 63ul;
  RED_V(ulong) normal = (RED_V(convert_ulong)(magnitude) << 29ul) + (896ul << 52);
  RED_V(ulong) fraction = (RED_V(convert_ulong)(magnitude << (zeros - 8u)) << 29ul) & 0xffffffffffffful;
  RED_V(ulong) subnormal = (RED_V(convert_ulong)(905u - zeros) << 52ul) | fraction;
  RED_V(ulong) wide = RED_V(convert_ulong)(magnitude);
  RED_V(long) is_subnormal = wide < 0x800000ul;
  RED_V(long) is_zero = wide == 0ul;
  RED_V(long) is_infinite = wide == 0x7f800000ul;
  RED_V(long) is_nan = wide > 0x7f800000ul;
  RED_V(ulong) result = select(normal, subnormal, is_subnormal);
  result = select(result, (RED_V(ulong))(0ul), is_zero);
  result = select(result, (RED_V(ulong))(0x7ff0000000000000ul), is_infinite);
  return select(result | sign, (RED_V(ulong))(0x7ff8000000000000ul), is_nan);
}
#endif
