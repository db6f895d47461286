/* SPDX-License-Identifier: BSD-2-Clause */
/* An exact sum's last step where its result stays on the device: the merged bins in one long integer, rounded once. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_exact_finish(global const ulong *words, ulong at, red_last last, global uchar *out, ulong out_offset) {
  red_long sum;
  red_long_clear(&sum);
  words += at;
  for (uint b = 0; b < RED_BINS; b++) {
    long low = (long)words[2 * b], high = (long)words[2 * b + 1];
    red_long_add(&sum, false, (ulong)low, RED_FIRST_BIT + b * RED_SPACING);
    red_long_add(&sum, high < 0, high < 0 ? (ulong)0 - (ulong)high : (ulong)high, RED_FIRST_BIT + b * RED_SPACING + 32);
  }
  sum.flags = (uint)words[2 * RED_BINS];
  if (last.has_init) red_long_add_f64(&sum, last.init);
  ulong bits = red_long_finish(&sum, last.finish, last.count, last.out_type);
  red_store_bits(out + out_offset, last.out_bytes, bits);
}
