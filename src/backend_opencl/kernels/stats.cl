/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics: what a node holds, how nodes merge, and the last step where the result stays on the device. The sum is that
 * of the reduction, in its order; minima and maxima are least keys under two sets of rules, their places least keys
 * under two more, in which -0 == +0.
 */
#define RED_RESULT_WORDS 12 /* of red_stats_result */

typedef struct red_extrema {
  RED_KEY least, greatest;  /* keys of min and max */
  RED_KEY min_key, max_key; /* zeros merged */
  ulong min_at, max_at;
} red_extrema;

typedef struct red_summary {
  red_node sum;
  ulong high; /* integers: bits 64..127 of the sum */
  ulong nans;
  red_extrema extrema;
} red_summary;

/* The same order from the other end. */
static red_rules red_opposite(red_rules rules) {
  rules.key_xor = ~rules.key_xor;
  return rules;
}

static red_rules red_merged(red_rules rules) {
  rules.merge_zeros = 1;
  return rules;
}

static red_extrema red_no_extrema(void) {
  red_extrema none = {RED_MOST, RED_MOST, RED_MOST, RED_MOST, (ulong)-1, (ulong)-1};
  return none;
}

static red_extrema red_merge_extrema(red_extrema a, red_extrema b) {
  a.least = min(a.least, b.least);
  a.greatest = min(a.greatest, b.greatest);
  if (b.min_key < a.min_key || (b.min_key == a.min_key && b.min_at < a.min_at)) {
    a.min_key = b.min_key;
    a.min_at = b.min_at;
  }
  if (b.max_key < a.max_key || (b.max_key == a.max_key && b.max_at < a.max_at)) {
    a.max_key = b.max_key;
    a.max_at = b.max_at;
  }
  return a;
}

static red_summary red_merge_summaries(red_summary a, red_summary b) {
  red_node sum = red_merge(a.sum, b.sum);
#if !RED_CANONICAL
  a.high += b.high + (sum < b.sum);
#endif
  a.sum = sum;
  a.nans += b.nans;
  a.extrema = red_merge_extrema(a.extrema, b.extrema);
  return a;
}

static red_summary red_get_summary(global const ulong *nodes, ulong at) {
  nodes += at * RED_STATS_WORDS;
  red_summary s;
  s.sum = red_unpack(nodes[0]);
  s.high = nodes[1];
  s.extrema.least = (RED_KEY)nodes[2];
  s.extrema.greatest = (RED_KEY)nodes[3];
  s.extrema.min_key = (RED_KEY)nodes[4];
  s.extrema.min_at = nodes[5];
  s.extrema.max_key = (RED_KEY)nodes[6];
  s.extrema.max_at = nodes[7];
  s.nans = nodes[8];
  return s;
}

static void red_put_summary(global ulong *nodes, ulong at, red_summary s) {
  nodes += at * RED_STATS_WORDS;
  nodes[0] = red_pack(s.sum);
  nodes[1] = s.high;
  nodes[2] = (ulong)(long)s.extrema.least;
  nodes[3] = (ulong)(long)s.extrema.greatest;
  nodes[4] = (ulong)(long)s.extrema.min_key;
  nodes[5] = s.extrema.min_at;
  nodes[6] = (ulong)(long)s.extrema.max_key;
  nodes[7] = s.extrema.max_at;
  nodes[8] = s.nans;
}

/* Bits 64..127 of a chunk's sum of integers narrower than 64 bits. */
static ulong red_high_of(red_node sum) {
#if RED_CANONICAL || !RED_IN_SIGNED
  return 0;
#else
  return (ulong)((long)sum >> 63);
#endif
}

static red_summary red_nothing(void) {
  red_summary none = {red_identity(), 0, 0, red_no_extrema()};
  return none;
}

static ulong red_is_nan(RED_ELEMENT bits, red_rules rules) {
#if RED_IN_FLOAT
  return (bits & (RED_ELEMENT)RED_MOST) > (RED_ELEMENT)rules.inf;
#else
  return 0;
#endif
}

/* Work-item i: the summary of the summaries [i << level, (i + 1) << level), as far as there are any. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_stats_nodes(global ulong *nodes, ulong from_at, ulong count, uint level, ulong to_at) {
  red_summary waiting[32];
  ulong first = get_global_id(0) << level, end = min(count, (get_global_id(0) + 1) << level);
  uint height = 0;
#if RED_WANT_MOMENTS
  red_moments_stack moments = {.height = 0};
  for (ulong i = first; i < end; i++) red_moments_push(&moments, i - first, red_get_moments(nodes + from_at, i));
#endif
  for (ulong i = first; i < end; i++) {
    red_summary s = red_get_summary(nodes + from_at, i);
    for (ulong k = i - first; k & 1; k >>= 1) s = red_merge_summaries(waiting[--height], s);
    waiting[height++] = s;
  }
  red_summary s = waiting[--height];
  while (height > 0) s = red_merge_summaries(waiting[--height], s);
  red_put_summary(nodes + to_at, get_global_id(0), s);
#if RED_WANT_MOMENTS
  red_put_moments(nodes + to_at, get_global_id(0), red_moments_pop(&moments));
#endif
}

/* ---- The last step ---- */

/*
 * The bits of the double nearest to (high:low) 2^exponent / divisor, for high:low > 0, in integers: devices need no f64,
 * and none can round differently.
 */
static ulong red_quotient(ulong high, ulong low, int exponent, ulong divisor) {
  int up = high != 0 ? (int)clz(high) : 64 + (int)clz(low);
  if (up >= 64) {
    high = low << (up - 64);
    low = 0;
  } else if (up > 0) {
    high = high << up | low >> (64 - up);
    low <<= up;
  }
  int steps = (int)clz(divisor);
  divisor <<= steps;
  bool sticky = low & 1; /* halve, so that the quotient has 63 or 64 bits */
  ulong rest = high >> 1, quotient = 0;
  low = low >> 1 | high << 63;
  for (int i = 0; i < 64; i++) {
    bool carry = rest >> 63;
    rest = rest << 1 | low >> 63;
    low <<= 1;
    quotient <<= 1;
    if (carry || rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
  }
  sticky |= rest != 0;
  exponent += 1 - up + steps;
  if (!(quotient >> 63)) {
    quotient <<= 1;
    exponent--;
  }
  int biased = exponent + 63 + 1023, drop = biased > 0 ? 11 : 12 - biased;
  if (drop > 64) return 0;
  ulong kept = drop < 64 ? quotient >> drop : 0, lost = drop < 64 ? quotient << (64 - drop) : quotient;
  ulong half_way = (ulong)1 << 63;
  if (lost > half_way || (lost == half_way && (sticky || (kept & 1)))) kept++;
  return (biased > 0 ? (ulong)(biased - 1) << 52 : 0) + kept;
}

static ulong red_mean_bits(red_summary s, ulong count) {
#if RED_CANONICAL
#if RED_WORD_BITS == 32
  ulong bits = red_double_bits((uint)red_pack(s.sum));
#else
  ulong bits = red_canonical(red_pack(s.sum));
#endif
  ulong sign = bits & (ulong)1 << 63, magnitude = bits ^ sign, fraction = bits & 0xffffffffffffful;
  int exponent = (int)(magnitude >> 52);
  if (exponent == 0x7ff || magnitude == 0) return bits;
  if (exponent > 0) fraction |= (ulong)1 << 52;
  return sign | red_quotient(0, fraction, (exponent > 0 ? exponent : 1) - 1075, count);
#else
  ulong low = s.sum, high = s.high, sign = 0;
  if (RED_IN_SIGNED && high >> 63) {
    sign = (ulong)1 << 63;
    low = ~low + 1;
    high = ~high + (low == 0);
  }
  return low == 0 && high == 0 ? 0 : sign | red_quotient(high, low, 0, count);
#endif
}

static ulong red_sum_bits(red_summary s) {
#if RED_CANONICAL && defined(RED_IN_f16)
  return red_narrow((RED_WORD)red_pack(s.sum), 10, 15, 15);
#elif RED_CANONICAL && defined(RED_IN_bf16)
  return red_narrow((RED_WORD)red_pack(s.sum), 7, 127, 15);
#elif RED_CANONICAL
  return red_canonical((RED_WORD)red_pack(s.sum));
#else
  return s.sum;
#endif
}

/* In bits of `wanted`, which are those of RED_STAT_COUNT .. RED_STAT_NAN_COUNT. */
#define RED_WANTED(bit, value) ((wanted & (bit)) != 0 ? (value) : 0)

/* As red_stats_result lies in memory; what was not selected is zero. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
red_stats_finish(global const ulong *nodes, ulong at, red_rules rules, ulong count, ulong wanted, global uchar *out,
                 ulong out_offset) {
  global ulong *result = (global ulong *)(out + out_offset);
  red_summary s = red_get_summary(nodes + at, 0);
  ulong variance = 0, sample_variance = 0, squares = 0;
#if RED_WANT_MOMENTS
  double sum = red_get_moments(nodes + at, 0).squares;
  variance = red_canonical_double(sum / (double)count);
  sample_variance = red_canonical_double(sum / (double)(count - 1));
  squares = red_canonical_double(sum);
#endif
  result[0] = RED_RESULT_WORDS * 8;
  result[1] = RED_WANTED(0x001, count);
  result[2] = RED_WANTED(0x100, s.nans);
  result[3] = RED_WANTED(0x004, red_mean_bits(s, count));
  result[4] = variance;
  result[5] = sample_variance;
  result[6] = squares;
  result[7] = RED_WANTED(0x002, red_sum_bits(s));
  result[8] = RED_WANTED(0x010, (ulong)red_unkey(s.extrema.least, rules));
  result[9] = RED_WANTED(0x020, (ulong)red_unkey(s.extrema.greatest, red_opposite(rules)));
  result[10] = RED_WANTED(0x040, s.extrema.min_at);
  result[11] = RED_WANTED(0x080, s.extrema.max_at);
}
