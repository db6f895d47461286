/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reduction's last step where its result stays on the device: init, the operator's last step, conversion to the output
 * dtype. One work-item; the host has the same in src/core/state.c.
 */
typedef struct red_last {
  ulong init;     /* as a node's first word */
  ulong has_init;
  ulong out_type; /* RED_TYPE_.. */
  ulong acc_bits;
  ulong acc_signed;
  ulong finish;   /* 0: the value, 1: all, 2: any */
  ulong count;
} red_last;

static void red_store_bits(global uchar *out, ulong out_type, ulong bits) {
  uint width = 0;
#define RED_WIDTH_OF(ID, name, bits, class) \
  if (out_type == RED_TYPE_##ID) width = bits;
  RED_TYPES(RED_WIDTH_OF)
#undef RED_WIDTH_OF
  if (width == 8) *out = (uchar)bits;
  if (width == 16) *(global ushort *)out = (ushort)bits;
  if (width == 32) *(global uint *)out = (uint)bits;
  if (width == 64) *(global ulong *)out = bits;
}

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

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_reduce_finish(global const ulong *nodes, ulong at, red_rules rules, red_last last, global uchar *out,
                              ulong out_offset) {
  red_node node = red_get(nodes + at, 0);
  ulong bits;
#if defined(RED_ARGMIN)
  bits = node.index;
  /* NaNs were to be skipped and there was nothing else. */
  if ((long)node.key == (long)rules.nan_key && node.key == RED_MOST) bits = (ulong)-1;
#else
  if (last.has_init) node = red_merge(red_unpack(last.init), node);
#if RED_CANONICAL
  bits = red_float_as(last.out_type, (RED_WORD)red_pack(node));
#elif defined(RED_MIN) && RED_IN_FLOAT && RED_IN_BITS <= 32
  bits = red_float_as(last.out_type, as_uint(red_widen(red_unkey(node, rules))));
#elif defined(RED_MIN) && RED_IN_FLOAT
  bits = red_float_as(last.out_type, red_unkey(node, rules));
#elif defined(RED_MIN)
  bits = red_wrapped(red_unkey(node, rules), last);
#else
  bits = red_pack(node);
  if (last.finish == 1) bits = bits == last.count;
  if (last.finish == 2) bits = bits > 0;
  bits = red_wrapped(bits, last);
#endif
#endif
  red_store_bits(out + out_offset, last.out_type, bits);
}
