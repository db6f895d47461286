/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact sums (`exact-1`) in integers: no device needs f64 for them, and no rounding mode has a say. What is added of an
 * element is a significand of at most RED_EXACT_BITS bits at a position in a long integer, which is kept in bins:
 *   RED_SPACING   bits from one bin to the next
 *   RED_BINS      how many, the last one for what is carried out of the others
 * A bin is a signed integer of 64 bits that takes RED_ROOM terms before it must be carried. RED_DOUBLES: there is f64; on
 * GPUs terms of 24 bits are then added as doubles, of which a bin takes 2^14 without rounding, and become integers at the end.
 */
#if RED_DOUBLES && !defined(RED_SHAPE_WIDE)
#define RED_DOUBLE_BINS 1
#else
#define RED_DOUBLE_BINS 0
#endif

#if defined(RED_SHAPE_WIDE) || RED_EXACT_PRIVATE
#define RED_BIN_SPACE private
#define RED_STRIDE    1 /* from one bin to the next */
#else
#define RED_BIN_SPACE local
#define RED_STRIDE    RED_GROUP
#endif

#define RED_SIGN_SHIFT (RED_WORD_BITS - 1)
#define RED_SIGN       ((RED_WORD)1 << RED_SIGN_SHIFT)
#define RED_HIDDEN     ((RED_WORD)1 << RED_WORD_FRACTION)
#define RED_UPPER(word) ((uint)((word) >> (RED_WORD_BITS - 32)))
#define RED_TWO_FACTORS (RED_EXACT_BITS == 48 || RED_EXACT_BITS == 106)
#define RED_BIN_MASK   (((ulong)1 << RED_SPACING) - 1)

#if RED_EXACT_BITS == 24
#define RED_ROOM (1u << 22) /* each changes a bin by less than 2^39 */
#elif RED_EXACT_BITS == 48
#define RED_ROOM (1u << 14) /* ... by 2^48 at most */
#elif RED_EXACT_BITS == 53
#define RED_ROOM 2000u /* ... 2^52 */
#else
#define RED_ROOM 1000u /* ... 2^53, of two parts */
#endif

typedef RED_BIN_SPACE ulong *red_bins;

/* ---- Elements ---- */

static RED_WORD red_number(RED_ELEMENT bits) {
#if RED_IN_BITS == 64
  return bits;
#else
  return as_uint(red_widen(bits));
#endif
}

/* The term where it is one number: products of f16 are exact in f32, and none of them is subnormal there. */
static RED_WORD red_term(RED_ELEMENT x, RED_ELEMENT y) {
#if RED_MAP == 3
  return red_number(x) & (RED_WORD)RED_WORD_MOST;
#elif RED_MAP && !RED_TWO_FACTORS
  return as_uint(as_float(red_number(x)) * as_float(red_number(y)));
#else
  return red_number(x);
#endif
}

/* Subnormals have the exponent 1, but no hidden bit. */
static uint red_exponent(RED_WORD magnitude) {
  return max((uint)(magnitude >> RED_WORD_FRACTION), 1u);
}

static RED_WORD red_significand(RED_WORD magnitude) {
  return (magnitude & (RED_HIDDEN - 1)) | (RED_UPPER(magnitude) >= RED_UPPER(RED_HIDDEN) ? RED_HIDDEN : 0);
}

/* ---- Flags of any term; only where there is an infinity or a NaN is each looked at ---- */

static uint red_flags_of(RED_WORD term) {
  RED_WORD magnitude = term & (RED_WORD)RED_WORD_MOST;
  if (term == RED_SIGN) return 0;
  if (magnitude < (RED_WORD)RED_WORD_INFINITY) return RED_FLAG_NOT_MINUS_ZERO;
  if (magnitude > (RED_WORD)RED_WORD_INFINITY) return RED_FLAG_NOT_MINUS_ZERO | RED_FLAG_NAN;
  return RED_FLAG_NOT_MINUS_ZERO | (term & RED_SIGN ? RED_FLAG_MINUS_INF : RED_FLAG_PLUS_INF);
}

#if RED_TWO_FACTORS
static uint red_flags_of_product(RED_WORD x, RED_WORD y) {
  RED_WORD sign = (x ^ y) & RED_SIGN, a = x & (RED_WORD)RED_WORD_MOST, b = y & (RED_WORD)RED_WORD_MOST;
  RED_WORD most = max(a, b), least = min(a, b);
  if (most < (RED_WORD)RED_WORD_INFINITY) return least == 0 ? red_flags_of(sign) : RED_FLAG_NOT_MINUS_ZERO;
  return red_flags_of(least == 0 ? (RED_WORD)RED_WORD_NAN : sign | most);
}
#endif

static uint red_flags(RED_ELEMENT x, RED_ELEMENT y) {
#if RED_TWO_FACTORS
  return red_flags_of_product(red_number(x), red_number(y));
#else
  return red_flags_of(red_term(x, y));
#endif
}

/* ---- Bins ---- */

#if RED_DOUBLE_BINS
#define RED_EMPTY_BIN ((ulong)1 << 63) /* -0 */
#else
#define RED_EMPTY_BIN ((ulong)0)
#endif

static void red_bins_clear(red_bins bins) {
  for (uint b = 0; b < RED_BINS; b++) bins[b * RED_STRIDE] = RED_EMPTY_BIN;
}

#if RED_DOUBLE_BINS
/* Make integers of doubles, and flags of what is none; the last bin has been empty. */
static uint red_bins_settle(red_bins bins) {
  uint flags = 0;
  for (uint b = 0; b < RED_BINS; b++) {
    ulong bits = bins[b * RED_STRIDE], magnitude = bits & 0x7ffffffffffffffful;
    const ulong infinity = 0x7ff0000000000000ul;
    if (bits != RED_EMPTY_BIN) flags |= RED_FLAG_NOT_MINUS_ZERO;
    if (magnitude >= infinity)
      flags |= magnitude > infinity ? RED_FLAG_NAN : bits == magnitude ? RED_FLAG_PLUS_INF : RED_FLAG_MINUS_INF;
    double units = as_double((ulong)(1023 + 150 - 16 * (int)b) << 52);
    bins[b * RED_STRIDE] = magnitude < infinity ? (ulong)(long)(as_double(bits) * units) : 0;
  }
  return flags;
}
#endif

/* Leave less than 2^RED_SPACING in each bin but the last, which keeps the sign. */
static void red_bins_carry(red_bins bins) {
  long carry = 0;
  for (uint b = 0; b < RED_BINS - 1; b++) {
    carry += (long)bins[b * RED_STRIDE];
    bins[b * RED_STRIDE] = (ulong)carry & RED_BIN_MASK;
    carry >>= RED_SPACING;
  }
  bins[(RED_BINS - 1) * RED_STRIDE] += (ulong)carry;
}

/* position / RED_SPACING of positions below 2^13. */
static uint red_bin_of(uint position) {
  return mul_hi(position, (uint)((((ulong)1 << 32) + RED_SPACING - 1) / RED_SPACING));
}

/* A significand with its sign, less than 2^53 in magnitude: the part below the next bin, and the rest. */
static void red_bins_add(red_bins bins, long significand, uint position) {
  uint bin = red_bin_of(position), shift = position - bin * RED_SPACING;
  bins += bin * RED_STRIDE;
  bins[0] += ((ulong)significand << shift) & RED_BIN_MASK;
  bins[RED_STRIDE] += (ulong)(significand >> (RED_SPACING - shift));
}

/* ---- Adding ---- */

/*
 * What a run of terms has shown, without many instructions: a float sum that is -0 only if all terms are, and not finite if
 * one is not. Scaled down it cannot overflow; of f64, whose upper half stands for it, the largest exponents look infinite
 * as well. Of products the trace says nothing about zeros, which have a word of their own.
 */
typedef struct red_seen {
  float trace;
  RED_WORD other;
} red_seen;

static red_seen red_seen_nothing(void) {
  red_seen seen = {-0.0f, 0};
  return seen;
}

/* Is each term to be looked at? */
static bool red_is_suspect(red_seen seen) {
  return (as_uint(seen.trace) & 0x7f800000u) == 0x7f800000u;
}

static uint red_seen_flags(red_seen seen) {
#if RED_TWO_FACTORS
  return seen.other ? RED_FLAG_NOT_MINUS_ZERO : 0;
#else
  return as_uint(seen.trace) != 0x80000000u ? RED_FLAG_NOT_MINUS_ZERO : 0;
#endif
}

static void red_see(red_seen *seen, RED_WORD number) {
  seen->trace += as_float(RED_UPPER(number)) * 0x1p-24f;
}

/* Add one term; of an infinity or a NaN something that will not matter. */
#if RED_DOUBLE_BINS
static void red_add_element(red_bins bins, red_seen *seen, RED_ELEMENT x, RED_ELEMENT y) {
  uint term = red_term(x, y);
  red_bins bin = bins + (term >> 27 & 15) * RED_STRIDE;
  *bin = as_ulong(as_double(*bin) + (double)as_float(term));
}
#elif RED_TWO_FACTORS
static void red_add_element(red_bins bins, red_seen *seen, RED_ELEMENT x, RED_ELEMENT y) {
  RED_WORD x_number = red_number(x), y_number = red_number(y);
  RED_WORD a = x_number & (RED_WORD)RED_WORD_MOST, b = y_number & (RED_WORD)RED_WORD_MOST;
  RED_WORD minus = (x_number ^ y_number) >> RED_SIGN_SHIFT, a_bits = red_significand(a), b_bits = red_significand(b);
  uint position = red_exponent(a) + red_exponent(b) - 2;
  long sign = -(long)minus;
  red_see(seen, a);
  red_see(seen, b);
  seen->other |= !minus || (a_bits && b_bits);
#if RED_EXACT_BITS == 48
  red_bins_add(bins, ((long)((ulong)a_bits * b_bits) ^ sign) - sign, position);
#else
  ulong low = a_bits * b_bits, high = mul_hi(a_bits, b_bits);
  red_bins_add(bins, ((long)(low & (((ulong)1 << 53) - 1)) ^ sign) - sign, position);
  red_bins_add(bins, ((long)(low >> 53 | high << 11) ^ sign) - sign, position + 53);
#endif
}
#else
static void red_add_element(red_bins bins, red_seen *seen, RED_ELEMENT x, RED_ELEMENT y) {
  RED_WORD term = red_term(x, y), magnitude = term & (RED_WORD)RED_WORD_MOST;
  red_see(seen, term);
#if RED_EXACT_BITS == 24
  uint exponent = magnitude >> RED_WORD_FRACTION, fraction = term & (RED_HIDDEN - 1);
  int significand = (int)(fraction + (exponent ? RED_HIDDEN : fraction)); /* twice a subnormal, at position 0 */
  int factor = ((int)term >> 31 | 1) << (exponent % RED_SPACING);
  bins[exponent / RED_SPACING * RED_STRIDE] += (ulong)((long)significand * factor);
#else
  long sign = (long)term >> 63;
  red_bins_add(bins, ((long)red_significand(magnitude) ^ sign) - sign, red_exponent(magnitude));
#endif
}
#endif
