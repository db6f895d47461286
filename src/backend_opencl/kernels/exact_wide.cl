/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact sums on CPU devices: a work-item has bins of its own for a run of elements. */
#define RED_BLOCK 512
#define RED_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1))) void

/* Work-item i: the bins of elements [i * run, (i + 1) * run), and their flags, at words[b * items + i]. */
RED_KERNEL red_exact_bins(global const uchar *in, ulong in_offset, ulong n, ulong run, global ulong *words,
                          ulong words_at RED_SECOND_PARAMETERS) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset), *y = RED_SECOND_INPUT(x);
  ulong bins[RED_BINS], items = get_global_size(0);
  ulong first = get_global_id(0) * run, end = min(n, first + run);
  uint flags = 0, count = 0;
  red_bins_clear(bins);
  for (ulong at = first; at < end; at += RED_BLOCK) {
    uint present = (uint)min(end - at, (ulong)RED_BLOCK);
    red_seen seen = {0, 0};
    for (uint i = 0; i < present; i++) red_add_element(bins, &seen, x[at + i], y[at + i]);
    if (red_saw_special(seen))
      for (uint i = 0; i < present; i++) flags |= red_flags(x[at + i], y[at + i]);
    if (seen.other) flags |= RED_FLAG_NOT_MINUS_ZERO;
    count += RED_BLOCK;
    if (count + RED_BLOCK <= RED_ROOM) continue;
    red_bins_carry(bins);
    count = 0;
  }
  red_bins_carry(bins);
  words += words_at + get_global_id(0);
  for (uint b = 0; b < RED_BINS; b++) words[b * items] = bins[b];
  words[RED_BINS * items] = flags;
}

/* Work-item b: the lower and the upper halves of bin b of all `count` items, or their flags. */
RED_KERNEL red_exact_merge(global ulong *words, ulong from_at, ulong count, ulong to_at) {
  ulong bin = get_global_id(0), low = 0, high = 0, flags = 0;
  global const ulong *from = words + from_at + bin * count;
  for (ulong i = 0; i < count; i++) {
    low += from[i] & 0xffffffffu;
    high += (ulong)((long)from[i] >> 32);
    flags |= from[i];
  }
  words[to_at + 2 * bin] = bin < RED_BINS ? low : flags;
  words[to_at + 2 * bin + 1] = bin < RED_BINS ? high : 0;
}
