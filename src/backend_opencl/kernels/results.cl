/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a node to an output: the operator's last step and the conversion to any output dtype, chosen when the kernel runs.
 * The host has the same in src/core/state.c.
 */

#if RED_CANONICAL || (RED_IN_FLOAT && defined(RED_MIN))
static ulong red_float_as(ulong out_type, RED_WORD bits) {
  if (out_type == RED_TYPE_F16) return red_narrow(bits, 10, 15, 15);
  if (out_type == RED_TYPE_BF16) return red_narrow(bits, 7, 127, 15);
#if RED_WORD_BITS == 32
  if (out_type == RED_TYPE_F64) return red_double_bits(bits);
#else
  if (out_type == RED_TYPE_F32) return red_narrow(bits, 23, 127, 31);
#endif
  return red_canonical(bits);
}
#endif

/* As the accumulator's dtype holds it, extended to 64 bits. */
static ulong red_wrapped(ulong bits, red_last last) {
  ulong shift = 64 - last.acc_bits;
  return last.acc_signed ? (ulong)((long)(bits << shift) >> shift) : bits << shift >> shift;
}

/* The output's bits; `count` is how many elements the node covers. */
static ulong red_result(red_node node, ulong count, red_rules rules, red_last last) {
#if defined(RED_ARGMIN)
  bool nothing = (long)node.key == (long)rules.nan_key && node.key == RED_MOST; /* only NaNs, which were skipped */
  return nothing ? (ulong)-1 : node.index;
#elif RED_CANONICAL
  return red_float_as(last.out_type, (RED_WORD)red_pack(node));
#elif defined(RED_MIN) && RED_IN_FLOAT && RED_IN_BITS <= 32
  return red_float_as(last.out_type, as_uint(red_widen(red_unkey(node, rules))));
#elif defined(RED_MIN) && RED_IN_FLOAT
  return red_float_as(last.out_type, red_unkey(node, rules));
#elif defined(RED_MIN)
  return red_wrapped(red_unkey(node, rules), last);
#else
  ulong bits = red_pack(node);
  if (last.finish == 1) bits = bits == count;
  if (last.finish == 2) bits = bits > 0;
  return red_wrapped(bits, last);
#endif
}
