/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics on GPUs: a work-group takes a run of chunks; sums fold chunk by chunk, extrema once. */

static red_extrema red_lane_extrema(global const RED_ELEMENT *x, ulong at, uint count, uint lane, red_rules rules,
                                    red_extrema e) {
  red_rules opposite = red_opposite(rules);
  for (uint i = lane; i < count; i += RED_GROUP) {
    RED_ELEMENT bits = x[at + i];
    RED_KEY min_key = red_key(bits, red_merged(rules)), max_key = red_key(bits, red_merged(opposite));
    e.least = min(e.least, red_key(bits, rules));
    e.greatest = min(e.greatest, red_key(bits, opposite));
    if (min_key < e.min_key || e.min_at == (ulong)-1) {
      e.min_key = min_key;
      e.min_at = at + i;
    }
    if (max_key < e.max_key || e.max_at == (ulong)-1) {
      e.max_key = max_key;
      e.max_at = at + i;
    }
  }
  return e;
}

/* A lane's share of a chunk of 64-bit integers: low and high halves apart, which is exact. */
static void red_lane_sum(global const RED_ELEMENT *x, ulong at, uint count, uint lane, ulong *lows, ulong *highs) {
#if !RED_CANONICAL
  for (uint i = lane; i < count; i += RED_GROUP) {
#if RED_IN_BITS == 64
    *lows += x[at + i] & 0xffffffffu;
    *highs += RED_IN_SIGNED ? (ulong)((long)x[at + i] >> 32) : x[at + i] >> 32;
#elif RED_IN_SIGNED
    long value = (RED_KEY)x[at + i];
    *lows += (ulong)value & 0xffffffffu;
    *highs += (ulong)(value >> 32);
#else
    *lows += x[at + i];
#endif
  }
#endif
}

static ulong red_lane_nans(global const RED_ELEMENT *x, ulong at, uint count, uint lane, red_rules rules) {
  ulong nans = 0;
  for (uint i = lane; i < count; i += RED_GROUP) nans += red_is_nan(x[at + i], rules);
  return nans;
}

/* Lane 0 gets the result. A lane keeps its own: read back from local memory, Intel's CPU compiler lost the others. */
static red_summary red_fold_summaries(red_summary s, uint lane, local red_summary *scratch) {
  scratch[lane] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_count = RED_GROUP / 2; half_count > 0; half_count /= 2) {
    if (lane < half_count) {
      s = red_merge_summaries(s, scratch[lane + half_count]);
      scratch[lane] = s;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return s;
}

RED_KERNEL
red_stats_chunks(global const uchar *in, ulong in_offset, ulong n, uint level, red_rules rules, global ulong *nodes,
                 ulong nodes_at) {
  local red_summary summaries[RED_GROUP];
  local red_node scratch[2 * RED_GROUP], waiting[32];
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset);
  uint lane = red_lane(), height = 0, chunk = 0;
  red_summary mine = red_nothing();
#if RED_WANT_MOMENTS
  local double differences[RED_ROW], squares[RED_ROW];
  red_moments_stack moments = {.height = 0};
#endif
  ulong first = get_group_id(0) * ((ulong)RED_CHUNK << level), end = min(n, first + ((ulong)RED_CHUNK << level));
  ulong lows = 0, highs = 0;
  for (ulong at = first; at < end; at += RED_CHUNK, chunk++) {
    uint count = (uint)min(end - at, (ulong)RED_CHUNK);
#if RED_WANT_EXTREMA
    mine.extrema = red_lane_extrema(x, at, count, lane, rules, mine.extrema);
#endif
#if RED_WANT_NANS
    mine.nans += red_lane_nans(x, at, count, lane, rules);
#endif
#if RED_WANT_MOMENTS
    red_moments node = red_group_moments(x + at, count, lane, differences, squares);
    if (lane == 0) red_moments_push(&moments, chunk, node);
#endif
#if RED_WANT_SUM && RED_CANONICAL
    red_node sum = red_lane_node(x, x, at, count, lane, rules);
    sum = red_group_fold(sum, lane, scratch + (chunk & 1) * RED_GROUP);
    if (lane != 0) continue;
    for (uint k = chunk; k & 1; k >>= 1) sum = red_merge(waiting[--height], sum);
    waiting[height++] = sum;
#elif RED_WANT_SUM
    red_lane_sum(x, at, count, lane, &lows, &highs);
#endif
  }
#if !RED_CANONICAL
  mine.sum = lows + (highs << 32);
  mine.high = (RED_IN_SIGNED ? (ulong)((long)highs >> 32) : highs >> 32) + (mine.sum < lows);
#endif
  red_summary all = red_fold_summaries(mine, lane, summaries);
  if (lane != 0) return;
#if RED_WANT_SUM && RED_CANONICAL
  all.sum = waiting[--height];
  while (height > 0) all.sum = red_merge(waiting[--height], all.sum);
#endif
  red_put_summary(nodes + nodes_at, get_group_id(0), all);
#if RED_WANT_MOMENTS
  red_put_moments(nodes + nodes_at, get_group_id(0), red_moments_pop(&moments));
#endif
}
