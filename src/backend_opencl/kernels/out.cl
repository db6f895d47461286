/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scan's outputs in its default dtype, RED_OUT_f32 .. with RED_OUT_BITS, in vectors: compiled for one value and for
 * sixteen. `count` is how many elements a value covers.
 */
#if RED_OUT_BITS == 8
#define RED_OUT_ELEMENT uchar
#elif RED_OUT_BITS == 16
#define RED_OUT_ELEMENT ushort
#elif RED_OUT_BITS == 32
#define RED_OUT_ELEMENT uint
#else
#define RED_OUT_ELEMENT ulong
#endif

#if RED_CANONICAL
static RED_V(RED_OUT_ELEMENT) RED_V(red_out_float)(RED_V(RED_WORD) bits) {
#if defined(RED_OUT_f16)
  return RED_V(convert_ushort)(RED_V(red_narrow)(bits, 10, 15, 15));
#elif defined(RED_OUT_bf16)
  return RED_V(convert_ushort)(RED_V(red_narrow)(bits, 7, 127, 15));
#else
  return RED_V(red_canonical)(bits);
#endif
}
#elif !defined(RED_MIN)
static RED_V(RED_OUT_ELEMENT) RED_V(red_out_whole)(RED_V(ulong) bits) {
#if RED_OUT_BITS < 64
  bits &= (1ul << RED_OUT_BITS) - 1;
#endif
  return RED_V(RED_JOIN(convert_, RED_OUT_ELEMENT))(bits);
}
#endif

static RED_V(RED_OUT_ELEMENT) RED_V(red_out)(RED_V(RED_VALUE) value, RED_V(ulong) count, red_rules rules) {
#if RED_CANONICAL
  return RED_V(red_out_float)(RED_V(RED_JOIN(as_, RED_WORD))(value));
#elif defined(RED_MIN)
  return RED_V(red_unkey)(value, rules);
#elif defined(RED_COUNT) && RED_FINISH == 1
  RED_V(long) every = value == count;
  return RED_V(RED_JOIN(convert_, RED_OUT_ELEMENT))(every & 1l);
#elif defined(RED_COUNT) && RED_FINISH == 2
  RED_V(long) some = value != 0ul;
  return RED_V(RED_JOIN(convert_, RED_OUT_ELEMENT))(some & 1l);
#else
  return RED_V(red_out_whole)(RED_V(convert_ulong)(value));
#endif
}
