/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a scan's outputs go when they have the default dtype: whole vectors, past the caches if the array is large. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define RED_STREAMS /* the compiler can say so */
#endif
#endif

#define RED_OUT_VECTOR_BYTES (2 * RED_OUT_BITS)

static void red_write(global uchar *out, ulong at, RED_VALUE value, ulong count, red_rules rules, red_last last) {
  ((global RED_OUT_ELEMENT *)out)[at] = red_out(value, count, rules);
}

static void red_write16(global uchar *out, ulong at, RED_VALUE16 values, ulong count, uint stream, red_rules rules,
                        red_last last) {
  const ulong16 steps = (ulong16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  typedef RED_JOIN(RED_OUT_ELEMENT, 16) vector;
  global RED_OUT_ELEMENT *y = (global RED_OUT_ELEMENT *)out + at;
  vector bits = red_out16(values, count + steps, rules);
#if defined(RED_STREAMS)
  if (stream) {
    __builtin_nontemporal_store(bits, (global vector *)y);
    return;
  }
#endif
  vstore16(bits, 0, y);
}
