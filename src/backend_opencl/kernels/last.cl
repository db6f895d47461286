/* SPDX-License-Identifier: BSD-2-Clause */
/* What the last step of a reduction or scan needs to know when the kernel runs. */
typedef struct red_last {
  ulong init;     /* as a node's first word */
  ulong has_init;
  ulong out_type; /* RED_TYPE_.. */
  ulong out_bytes;
  ulong acc_bits;
  ulong acc_signed;
  ulong finish;   /* 0: the value, 1: all, 2: any, 3: the square root, 4: the mean */
  ulong count;
} red_last;

static void red_store_bits(global uchar *out, ulong bytes, ulong bits) {
  if (bytes == 1) *out = (uchar)bits;
  if (bytes == 2) *(global ushort *)out = (ushort)bits;
  if (bytes == 4) *(global uint *)out = (uint)bits;
  if (bytes == 8) *(global ulong *)out = bits;
}
