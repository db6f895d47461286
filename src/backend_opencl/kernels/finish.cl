/* SPDX-License-Identifier: BSD-2-Clause */
/* A reduction's last step where its result stays on the device: from the root to the output's bits. */
static ulong red_finished(red_node node, red_rules rules, red_last last) {
#if !defined(RED_ARGMIN)
  if (last.has_init) node = red_merge(red_unpack(last.init), node);
#endif
#if RED_ROUNDS && RED_PTX
  return red_rounded(node, last);
#elif RED_ROUNDS
  red_long sum; /* S, whose root or quotient is rounded once */
  red_long_clear(&sum);
#if RED_CANONICAL == 32
  red_long_add_f64(&sum, red_double_bits(as_uint(node)));
#else
  red_long_add_f64(&sum, as_ulong(node));
#endif
  return red_long_finish(&sum, last.finish, last.count, last.out_type);
#else
  return red_result(node, last.count, rules, last);
#endif
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_reduce_finish(global const ulong *nodes, ulong at, red_rules rules, red_last last, global uchar *out,
                  ulong out_offset) {
  red_store_bits(out + out_offset, last.out_bytes, red_finished(red_get(nodes + at, 0), rules, last));
}
