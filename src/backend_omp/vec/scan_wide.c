/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans for sums in 64 bits of narrower integers, without tiles. */
#include "words.h"

#include "kernels.def"

#if VB >= 32
#define KERNEL(dtype, suffix, bytes, is_signed)                                                                        \
  red_state ISA(scan_wide_##suffix)(const red_lowered *lowered, const void *in, void *out, size_t n, red_state before, \
                                    unsigned flags, const void *ahead) {                                               \
    (void)lowered;                                                                                                     \
    if ((flags & RED_SCAN_EXCLUSIVE) != 0) return scan_words(in, out, n, bytes, is_signed, before.u64, true, ahead);   \
    return scan_words(in, out, n, bytes, is_signed, before.u64, false, ahead);                                         \
  }
RED_WIDE_SCANS(KERNEL)
#endif
