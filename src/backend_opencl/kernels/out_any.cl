/* SPDX-License-Identifier: BSD-2-Clause */
/* A scan's outputs in a dtype of the caller's choice: one by one, so that all choices share a program. */
#define RED_OUT_VECTOR_BYTES 1

static void red_write(global uchar *out, ulong at, RED_VALUE value, ulong count, red_rules rules, red_last last) {
  red_store_bits(out + at * last.out_bytes, last.out_bytes, red_result(value, count, rules, last));
}

static void red_write16(global uchar *out, ulong at, RED_VALUE16 values, ulong count, uint stream, red_rules rules,
                        red_last last) {
  RED_VALUE value[16];
  vstore16(values, 0, value);
  for (uint i = 0; i < 16; i++) red_write(out, at + i, value[i], count + i, rules, last);
}
