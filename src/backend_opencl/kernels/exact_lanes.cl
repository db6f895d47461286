/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact sums on GPUs: each lane of a work-group has a column of bins, in local memory so that whatever the numbers are, no
 * two lanes of a row meet in a bank; or in private memory (RED_EXACT_PRIVATE) where local memory is small. Terms come in
 * tiles, RED_BATCH to a lane, which the groups take in turn.
 */
#define RED_TILE (RED_GROUP * RED_BATCH)
#define RED_KERNEL kernel __attribute__((reqd_work_group_size(RED_GROUP, 1, 1))) void

/* Is there an infinity or a NaN among a batch of elements? */
static bool red_is_special(const RED_ELEMENT *row) {
  RED_WORD most = 0;
#pragma unroll
  for (uint k = 0; k < RED_BATCH; k++) most = max(most, red_number(row[k]) & (RED_WORD)RED_WORD_MOST);
  return most >= (RED_WORD)RED_WORD_INFINITY;
}

/* The lanes' numbers added up: `sum` is right in lane 0. */
static ulong red_group_sum(local ulong *scratch, uint lane, ulong sum) {
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[lane] = sum;
  for (uint half_count = RED_GROUP / 2; half_count > 0; half_count /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_count) scratch[lane] += scratch[lane + half_count];
  }
  return scratch[lane];
}

/* The bins of all lanes added up: bin b goes to words[b * groups]. The columns are carried: no sum can overflow. */
#if RED_EXACT_PRIVATE
static void red_put_bins(red_bins bins, local ulong *scratch, uint lane, global ulong *words, ulong groups) {
  for (uint b = 0; b < RED_BINS; b++) {
    ulong sum = red_group_sum(scratch, lane, bins[b]);
    if (lane == 0) words[b * groups] = sum;
  }
}
#else
static void red_put_bins(red_bins bins, local ulong *all, uint lane, global ulong *words, ulong groups) {
  for (uint half_count = RED_GROUP / 2; half_count > 0; half_count /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < half_count * RED_BINS; i += RED_GROUP) {
      uint at = i / half_count * RED_GROUP + i % half_count;
      all[at] += all[at + half_count];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = lane; b < RED_BINS; b += RED_GROUP) words[b * groups] = all[b * RED_GROUP];
}
#endif

/* Work-group g: the bins of its tiles, and their flags, at words[b * groups + g]. */
RED_KERNEL red_exact_bins(global const uchar *in, ulong in_offset, ulong n, ulong run, global ulong *words,
                          ulong words_at RED_SECOND_PARAMETERS) {
#if RED_EXACT_PRIVATE
  local ulong shared[RED_GROUP];
  ulong bins[RED_BINS];
#else
  local ulong shared[RED_BINS * RED_GROUP];
  red_bins bins = shared + get_local_id(0);
#endif
  local uint group_flags;
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset), *y = RED_SECOND_INPUT(x);
  uint lane = get_local_id(0), flags = 0, count = 0;
  ulong groups = get_num_groups(0), tiles = n / RED_TILE;
  red_seen seen = red_seen_nothing();
  if (lane == 0) group_flags = 0;
  red_bins_clear(bins);
  for (ulong tile = get_group_id(0); tile < tiles; tile += groups) {
    ulong first = tile * RED_TILE + lane;
    RED_ELEMENT row[RED_BATCH], second[RED_BATCH];
#pragma unroll
    for (uint k = 0; k < RED_BATCH; k++) {
      row[k] = x[first + k * RED_GROUP];
      second[k] = RED_MAP == 1 ? y[first + k * RED_GROUP] : row[k];
    }
#pragma unroll
    for (uint k = 0; k < RED_BATCH; k++) red_add_element(bins, &seen, row[k], second[k]);
    if (red_is_suspect(seen)) {
      seen.trace = 1;
      if (red_is_special(row) || red_is_special(second))
        for (uint k = 0; k < RED_BATCH; k++) flags |= red_flags(x[first + k * RED_GROUP], y[first + k * RED_GROUP]);
    }
#if !RED_DOUBLE_BINS /* of which the host sees to it that no lane has too many */
    count += RED_BATCH;
    if (count + 2 * RED_BATCH <= RED_ROOM) continue;
    red_bins_carry(bins);
    count = 0;
#endif
  }
  if (tiles % groups == get_group_id(0)) {
    for (ulong i = tiles * RED_TILE + lane; i < n; i += RED_GROUP) {
      red_add_element(bins, &seen, x[i], y[i]);
      flags |= red_flags(x[i], y[i]);
    }
  }
  flags |= red_seen_flags(seen);
#if RED_DOUBLE_BINS
  flags |= red_bins_settle(bins);
#endif
  red_bins_carry(bins);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (flags) atomic_or(&group_flags, flags);
  words += words_at + get_group_id(0);
  red_put_bins(bins, shared, lane, words, groups);
  if (lane == 0) words[RED_BINS * groups] = group_flags;
}

/* Work-group b: the lower and the upper halves of bin b of all `count` groups, or their flags. */
RED_KERNEL red_exact_merge(global ulong *words, ulong from_at, ulong count, ulong to_at) {
  local ulong scratch[RED_GROUP];
  uint lane = get_local_id(0), bin = get_group_id(0), flags = 0;
  ulong low = 0, high = 0;
  global const ulong *from = words + from_at + bin * count;
  for (ulong i = lane; i < count; i += RED_GROUP) {
    low += from[i] & 0xffffffffu;
    high += (ulong)((long)from[i] >> 32);
    flags |= (uint)from[i];
  }
  low = red_group_sum(scratch, lane, low);
  high = red_group_sum(scratch, lane, high);
  if (bin == RED_BINS) {
    high = 0;
    low = 0;
    for (uint flag = RED_FLAG_NAN; flag <= RED_FLAG_NOT_MINUS_ZERO; flag *= 2)
      low |= red_group_sum(scratch, lane, flags & flag) != 0 ? flag : 0;
  }
  if (lane > 0) return;
  words[to_at + 2 * bin] = low;
  words[to_at + 2 * bin + 1] = high;
}
