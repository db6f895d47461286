/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact sums on GPUs: each lane of a work-group has a column of bins, in local memory so that whatever the numbers are, no
 * two lanes of a row meet in a bank; or in private memory (RED_EXACT_PRIVATE) where local memory is small. Terms come in
 * tiles, RED_BATCH to a lane in vectors of 16 bytes, which the groups take in turn. While a tile is added, the next one is
 * on its way.
 */
#define RED_WIDTH     (128 / RED_IN_BITS) /* elements of a vector */
#define RED_VECTOR    RED_JOIN(RED_ELEMENT, RED_VECTOR_WIDTH)
#define RED_TILE      (RED_GROUP * RED_BATCH)
#define RED_KERNEL    kernel __attribute__((reqd_work_group_size(RED_GROUP, 1, 1))) void
#if RED_IN_BITS == 64
#define RED_VECTOR_WIDTH 2
#elif RED_IN_BITS == 32
#define RED_VECTOR_WIDTH 4
#else
#define RED_VECTOR_WIDTH 8
#endif

/* Keeps loads before the additions that follow them. */
#if defined(RED_SHAPE_PTX)
#define RED_FENCE asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define RED_FENCE barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* The inputs from the first vector on, and whether vectors of the second one can be loaded as such. */
typedef struct red_inputs {
  global const RED_ELEMENT *x, *y;
  bool aligned;
} red_inputs;

typedef struct red_terms {
  RED_ELEMENT x[RED_BATCH];
#if RED_MAP == 1
  RED_ELEMENT y[RED_BATCH];
#endif
} red_terms;

#if RED_MAP == 1
#define RED_SECOND_TERMS(terms) ((terms)->y)
#else
#define RED_SECOND_TERMS(terms) ((terms)->x)
#endif

static ulong red_place(ulong tile, uint lane, uint k) {
  return tile * RED_TILE + (lane + k / RED_WIDTH * RED_GROUP) * RED_WIDTH + k % RED_WIDTH;
}

static void red_load(red_inputs in, ulong tile, uint lane, red_terms *terms) {
#pragma unroll
  for (uint k = 0; k < RED_BATCH; k += RED_WIDTH) {
    RED_VECTOR v = *(global const RED_VECTOR *)(in.x + red_place(tile, lane, k));
    RED_JOIN(vstore, RED_VECTOR_WIDTH)(v, 0, terms->x + k);
  }
#if RED_MAP == 1
#pragma unroll
  for (uint k = 0; k < RED_BATCH; k += RED_WIDTH) {
    global const RED_ELEMENT *at = in.y + red_place(tile, lane, k);
    RED_VECTOR v = in.aligned ? *(global const RED_VECTOR *)at : RED_JOIN(vload, RED_VECTOR_WIDTH)(0, at);
    RED_JOIN(vstore, RED_VECTOR_WIDTH)(v, 0, terms->y + k);
  }
#endif
}

/* Is there an infinity or a NaN among a batch of elements? */
static bool red_is_special(const RED_ELEMENT *row) {
  RED_WORD most = 0;
#pragma unroll
  for (uint k = 0; k < RED_BATCH; k++) most = max(most, red_number(row[k]) & (RED_WORD)RED_WORD_MOST);
  return most >= (RED_WORD)RED_WORD_INFINITY;
}

/* The terms of a tile; what is not finite is looked for again in the inputs, for its flags. */
static void red_add_tile(red_bins bins, red_seen *seen, const red_terms *terms, red_inputs in, ulong tile, uint lane,
                         uint *flags) {
#pragma unroll
  for (uint k = 0; k < RED_BATCH; k++) red_add_element(bins, seen, terms->x[k], RED_SECOND_TERMS(terms)[k]);
  if (!red_is_suspect(*seen)) return;
  seen->trace = 1;
  if (!red_is_special(terms->x) && !red_is_special(RED_SECOND_TERMS(terms))) return;
  for (uint k = 0; k < RED_BATCH; k++)
    *flags |= red_flags(in.x[red_place(tile, lane, k)], in.y[red_place(tile, lane, k)]);
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

/* Room for as many again as a lane has at a time. Of doubles the host sees to it that no lane has too many. */
#if RED_DOUBLE_BINS
#define RED_COUNT(bins, count)
#else
#define RED_COUNT(bins, count)                                                                                         \
  if ((count += RED_BATCH) + 2 * RED_BATCH > RED_ROOM) {                                                               \
    red_bins_carry(bins);                                                                                              \
    count = 0;                                                                                                         \
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
  ulong groups = get_num_groups(0), head = min(n, (ulong)(-(size_t)x % 16 / sizeof(RED_ELEMENT)));
  ulong tiles = (n - head) / RED_TILE, tile = get_group_id(0);
  red_inputs inputs = {x + head, y + head, (size_t)(y + head) % 16 == 0};
  red_terms now, next;
  red_seen seen = red_seen_nothing();
  if (lane == 0) group_flags = 0;
  if (tile < tiles) red_load(inputs, tile, lane, &now);
  red_bins_clear(bins);
  /* Two batches take turns: a copy would wait for the loads. */
  while (tile < tiles) {
    if (tile + groups < tiles) red_load(inputs, tile + groups, lane, &next);
    RED_FENCE;
    red_add_tile(bins, &seen, &now, inputs, tile, lane, &flags);
    RED_COUNT(bins, count);
    tile += groups;
    if (tile >= tiles) break;
    if (tile + groups < tiles) red_load(inputs, tile + groups, lane, &now);
    RED_FENCE;
    red_add_tile(bins, &seen, &next, inputs, tile, lane, &flags);
    RED_COUNT(bins, count);
    tile += groups;
  }
  if (tiles % groups == get_group_id(0)) { /* what is before the first tile and after the last one */
    ulong rest = n - tiles * RED_TILE;
    for (ulong k = lane; k < rest; k += RED_GROUP) {
      ulong i = k < head ? k : k + tiles * RED_TILE;
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
