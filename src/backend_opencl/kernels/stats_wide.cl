/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics on CPU devices: each chunk is swept for its sum and again, from the first-level cache, for its extrema. */

/* Least keys of a chunk under both rules: sixteen lanes each. */
static void red_chunk_extrema(global const RED_ELEMENT *x, uint count, red_rules rules, RED_KEY *least,
                              RED_KEY *greatest) {
  typedef RED_JOIN(RED_KEY, 16) keys;
  red_rules opposite = red_opposite(rules);
  RED_KEY low[16], high[16];
  keys lows = (keys)(RED_MOST), highs = lows;
  uint i = 0;
  for (; i + 16 <= count; i += 16) {
    RED_ELEMENT16 bits = vload16(0, x + i);
    lows = min(lows, red_key16(bits, rules));
    highs = min(highs, red_key16(bits, opposite));
  }
  vstore16(lows, 0, low);
  vstore16(highs, 0, high);
  for (; i < count; i++) {
    low[0] = min(low[0], red_key(x[i], rules));
    high[0] = min(high[0], red_key(x[i], opposite));
  }
  *least = low[0];
  *greatest = high[0];
  for (i = 1; i < 16; i++) {
    *least = min(*least, low[i]);
    *greatest = min(*greatest, high[i]);
  }
}

static ulong red_find_key(global const RED_ELEMENT *x, uint count, RED_KEY key, red_rules rules) {
  uint i = 0;
  for (; i + 16 <= count; i += 16)
    if (any(red_key16(vload16(0, x + i), rules) == key)) break;
  while (i + 1 < count && red_key(x[i], rules) != key) i++;
  return i;
}

/* The sum of a chunk, and what of it lies above 64 bits. */
static red_node red_chunk_sum(global const RED_ELEMENT *x, uint count, red_rules rules, ulong *high) {
#if RED_CANONICAL || RED_IN_BITS < 64
  red_node sum = red_node_of(red_fold16(red_chunk16(x, x, count, rules)));
  *high = red_high_of(sum);
  return sum;
#else
  ulong lows = 0, highs = 0; /* of 32 bits each: exact */
  for (uint i = 0; i < count; i++) {
    lows += x[i] & 0xffffffffu;
    highs += RED_IN_SIGNED ? (ulong)((long)x[i] >> 32) : x[i] >> 32;
  }
  ulong sum = lows + (highs << 32);
  *high = (RED_IN_SIGNED ? (ulong)((long)highs >> 32) : highs >> 32) + (sum < lows);
  return sum;
#endif
}

/* The least keys of a chunk that begins at `at`, into those of the run; the places are the chunk's for now. */
static red_extrema red_see_chunk(global const RED_ELEMENT *x, ulong at, uint count, red_rules rules, red_extrema run) {
  red_rules opposite = red_opposite(rules);
  RED_KEY least, greatest;
  red_chunk_extrema(x + at, count, rules, &least, &greatest);
  run.least = min(run.least, least);
  run.greatest = min(run.greatest, greatest);
  RED_KEY min_key = red_key(red_unkey(least, rules), red_merged(rules));
  RED_KEY max_key = red_key(red_unkey(greatest, opposite), red_merged(opposite));
  if (min_key < run.min_key) {
    run.min_key = min_key;
    run.min_at = at;
  }
  if (max_key < run.max_key) {
    run.max_key = max_key;
    run.max_at = at;
  }
  return run;
}

/* From the beginnings of the chunks that won to the places in them. */
static red_extrema red_locate(global const RED_ELEMENT *x, ulong end, red_rules rules, red_extrema run) {
  ulong at = run.min_at;
  run.min_at += red_find_key(x + at, (uint)min(end - at, (ulong)RED_CHUNK), run.min_key, red_merged(rules));
  at = run.max_at;
  run.max_at +=
      red_find_key(x + at, (uint)min(end - at, (ulong)RED_CHUNK), run.max_key, red_merged(red_opposite(rules)));
  return run;
}

static ulong red_chunk_nans(global const RED_ELEMENT *x, uint count, red_rules rules) {
  ulong nans = 0;
  for (uint i = 0; i < count; i++) nans += red_is_nan(x[i], rules);
  return nans;
}

/* Work-item i: the summary of its run of chunks. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_stats_chunks(global const uchar *in, ulong in_offset, ulong n, uint level, red_rules rules, global ulong *nodes,
                 ulong nodes_at) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset);
  red_summary run = red_nothing();
  ulong first = get_global_id(0) * ((ulong)RED_CHUNK << level), end = min(n, first + ((ulong)RED_CHUNK << level));
  uint chunk = 0;
#if RED_WANT_SUM && RED_CANONICAL
  red_node waiting[32];
  uint height = 0;
#endif
#if RED_WANT_MOMENTS
  red_moments_stack moments = {.height = 0};
#endif
  run.extrema.min_at = run.extrema.max_at = first;
  for (ulong at = first; at < end; at += RED_CHUNK, chunk++) {
    uint count = (uint)min(end - at, (ulong)RED_CHUNK);
#if RED_WANT_SUM
    ulong high;
    red_node sum = red_chunk_sum(x + at, count, rules, &high);
#if RED_CANONICAL
    for (uint k = chunk; k & 1; k >>= 1) sum = red_merge(waiting[--height], sum);
    waiting[height++] = sum;
#else
    run.sum += sum;
    run.high += high + (run.sum < sum);
#endif
#endif
#if RED_WANT_EXTREMA
    run.extrema = red_see_chunk(x, at, count, rules, run.extrema);
#endif
#if RED_WANT_NANS
    run.nans += red_chunk_nans(x + at, count, rules);
#endif
#if RED_WANT_MOMENTS
    red_moments_push(&moments, chunk, red_chunk_moments(x + at, count));
#endif
  }
#if RED_WANT_SUM && RED_CANONICAL
  run.sum = waiting[--height];
  while (height > 0) run.sum = red_merge(waiting[--height], run.sum);
#endif
#if RED_WANT_EXTREMA
  run.extrema = red_locate(x, end, rules, run.extrema);
#endif
  red_put_summary(nodes + nodes_at, get_global_id(0), run);
#if RED_WANT_MOMENTS
  red_put_moments(nodes + nodes_at, get_global_id(0), red_moments_pop(&moments));
#endif
}
