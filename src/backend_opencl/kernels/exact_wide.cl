/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact sums on CPU devices: a work-item has bins of its own for a run of elements, and takes it in blocks. Where the
 * exponents of a block lie close together its terms are added as integers of 64 bits in vectors, all in units of the
 * least; else one by one to the bins.
 */
#define RED_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1))) void

#if RED_EXACT_BITS == 106
#define RED_BLOCK 512
#else
#define RED_BLOCK 1024
#define RED_BLOCK_BITS 10
#endif

#define RED_WORD16   RED_JOIN(RED_WORD, 16)
#define RED_SIGNED16 RED_JOIN(RED_WORD_SIGNED, 16)

/* Elements of the next block, terms since the bins were carried, flags so far. */
typedef struct red_course {
  private ulong *bins;
  uint count;
  uint flags;
} red_course;

static void red_add_one_by_one(red_course *course, global const RED_ELEMENT *x, global const RED_ELEMENT *y,
                               uint present) {
  red_seen seen = red_seen_nothing();
  for (uint i = 0; i < present; i++) red_add_element(course->bins, &seen, x[i], y[i]);
  if (red_is_suspect(seen))
    for (uint i = 0; i < present; i++) course->flags |= red_flags(x[i], y[i]);
  course->flags |= red_seen_flags(seen);
}

#if RED_EXACT_BITS == 106

static void red_add_block(red_course *course, global const RED_ELEMENT *x, global const RED_ELEMENT *y) {
  red_add_one_by_one(course, x, y, RED_BLOCK);
}

#else

/* ---- Sixteen terms ---- */

static RED_WORD16 red_number16(RED_ELEMENT16 bits) {
#if RED_IN_BITS == 64
  return bits;
#else
  return as_uint16(red_widen16(bits));
#endif
}

static RED_WORD16 red_term16(RED_ELEMENT16 x, RED_ELEMENT16 y) {
#if RED_MAP == 3
  return red_number16(x) & (RED_WORD)RED_WORD_MOST;
#elif RED_MAP && !RED_TWO_FACTORS
  return as_uint16(as_float16(red_number16(x)) * as_float16(red_number16(y)));
#else
  return red_number16(x);
#endif
}

static RED_WORD16 red_exponent16(RED_WORD16 magnitude) {
  return max(magnitude >> (RED_WORD)RED_WORD_FRACTION, (RED_WORD16)((RED_WORD)1));
}

static RED_WORD16 red_significand16(RED_WORD16 magnitude) {
  RED_SIGNED16 normal = magnitude >= RED_HIDDEN;
  return (magnitude & (RED_HIDDEN - 1)) | (RED_JOIN(as_, RED_WORD16)(normal) & RED_HIDDEN);
}

/* ---- The first look ---- */

/* The greatest magnitude, the least but zero less one, whether anything is not -0. */
typedef struct red_range16 {
  RED_WORD16 most, least, other;
} red_range16;

typedef struct red_range {
  RED_WORD most, least, other;
} red_range;

static red_range16 red_no_range(void) {
  red_range16 none = {(RED_WORD16)((RED_WORD)0), (RED_WORD16)(~(RED_WORD)0), (RED_WORD16)((RED_WORD)0)};
  return none;
}

static void red_look(red_range16 *range, RED_WORD16 term) {
  RED_WORD16 magnitude = term & (RED_WORD)RED_WORD_MOST;
  range->most = max(range->most, magnitude);
  range->least = min(range->least, magnitude - (RED_WORD)1);
  range->other |= term ^ RED_SIGN;
}

static red_range red_fold_range(red_range16 range) {
  RED_WORD most[16], least[16], other[16];
  vstore16(range.most, 0, most);
  vstore16(range.least, 0, least);
  vstore16(range.other, 0, other);
  red_range all = {most[0], least[0], other[0]};
  for (uint i = 1; i < 16; i++) {
    all.most = max(all.most, most[i]);
    all.least = min(all.least, least[i]);
    all.other |= other[i];
  }
  return all;
}

static bool red_is_special(red_range range) {
  return range.most >= (RED_WORD)RED_WORD_INFINITY;
}

/* Exponents of the least and of the greatest number; meaningless if all are zero. */
static uint red_bottom(red_range range) {
  return red_exponent(range.least + 1);
}

static uint red_span(red_range range) {
  return red_exponent(range.most) - red_bottom(range);
}

/* ---- A block whose terms span few exponents ---- */

static long red_total(long16 values) {
  long8 v8 = values.lo + values.hi;
  long4 v4 = v8.lo + v8.hi;
  return v4.x + v4.y + v4.z + v4.w;
}

/* A total at a position, in parts that a bin has room for. */
static void red_add_total(red_course *course, long total, uint position) {
#if RED_EXACT_BITS == 24
  uint bin = position / RED_SPACING, shift = position % RED_SPACING;
  course->bins[bin] += (ulong)(total & 0xffffffffl) << shift;
  course->bins[bin + 2] += (ulong)(total >> 32) << shift;
#else
  red_bins_add(course->bins, total & 0xffffffffl, position);
  red_bins_add(course->bins, total >> 32, position + 32);
#endif
}

/* What a term's significand is cut into, and how far exponents may lie apart so that no lane's sum overflows. */
#if RED_EXACT_BITS == 24
#define RED_PART_BITS 24
#elif RED_EXACT_BITS == 48
#define RED_PART_BITS 24
#else
#define RED_PART_BITS 27
#endif
#define RED_MOST_SPAN (62 - RED_PART_BITS - RED_BLOCK_BITS)

#if RED_EXACT_BITS == 24

#if RED_DOUBLES
/* So near to each other are the exponents of a block that its sum in doubles has not been rounded. */
#define RED_DOUBLE_SPAN (53 - 24 - RED_BLOCK_BITS)

static double red_total_double(double16 values) {
  double8 v8 = values.lo + values.hi;
  double4 v4 = v8.lo + v8.hi;
  return v4.x + v4.y + v4.z + v4.w;
}
#endif

/* Whether the block was close enough. */
static bool red_add_close(red_course *course, global const RED_ELEMENT *x, global const RED_ELEMENT *y) {
  red_range16 seen = red_no_range();
#if RED_DOUBLES
  double16 doubles = 0;
#endif
  for (uint i = 0; i < RED_BLOCK; i += 16) {
    uint16 term = red_term16(vload16(0, x + i), vload16(0, y + i));
    red_look(&seen, term);
#if RED_DOUBLES
    doubles += convert_double16(as_float16(term));
#endif
  }
  red_range range = red_fold_range(seen);
  if (range.most != 0 && (red_is_special(range) || red_span(range) > RED_MOST_SPAN)) return false;
  if (range.other) course->flags |= RED_FLAG_NOT_MINUS_ZERO;
  if (range.most == 0) return true;
  uint bottom = red_bottom(range);
#if RED_DOUBLES
  if (red_span(range) <= RED_DOUBLE_SPAN) {
    double units = as_double((ulong)(1023 + 150 - (int)bottom) << 52);
    red_add_total(course, (long)(red_total_double(doubles) * units), bottom);
    return true;
  }
#endif
  long16 sum = 0;
  for (uint i = 0; i < RED_BLOCK; i += 16) {
    uint16 term = red_term16(vload16(0, x + i), vload16(0, y + i)), magnitude = term & (uint)RED_WORD_MOST;
    int16 sign = as_int16(term) >> 31, value = (as_int16(red_significand16(magnitude)) ^ sign) - sign;
    sum += convert_long16(value) << convert_long16(red_exponent16(magnitude) - bottom); /* of zeros anything */
  }
  red_add_total(course, red_total(sum), bottom);
  return true;
}

#else

/* Sixteen significands of up to 53 bits with their signs and exponents above the least: the lower part, and the rest. */
static void red_add_parts(long16 *low, long16 *high, ulong16 significand, long16 sign, ulong16 up) {
  long16 below = as_long16(significand & (((ulong)1 << RED_PART_BITS) - 1)) ^ sign;
  long16 above = as_long16(significand >> (ulong)RED_PART_BITS) ^ sign;
  *low += (below - sign) << as_long16(up);
  *high += (above - sign) << as_long16(up);
}

#if RED_TWO_FACTORS

static bool red_add_close(red_course *course, global const RED_ELEMENT *x, global const RED_ELEMENT *y) {
  red_range16 x_seen = red_no_range(), y_seen = red_no_range();
  uint16 other = 0;
  for (uint i = 0; i < RED_BLOCK; i += 16) {
    uint16 a = red_number16(vload16(0, x + i)), b = red_number16(vload16(0, y + i));
    red_look(&x_seen, a);
    red_look(&y_seen, b);
    uint16 magnitude = min(a & (uint)RED_WORD_MOST, b & (uint)RED_WORD_MOST); /* 0 if the product is */
    other |= magnitude | ((a ^ b) & RED_SIGN ^ RED_SIGN);
  }
  red_range x_range = red_fold_range(x_seen), y_range = red_fold_range(y_seen);
  x_seen.other = other;
  if (red_is_special(x_range) || red_is_special(y_range)) return false;
  bool zero = x_range.most == 0 || y_range.most == 0;
  if (!zero && red_span(x_range) + red_span(y_range) > RED_MOST_SPAN) return false;
  if (red_fold_range(x_seen).other) course->flags |= RED_FLAG_NOT_MINUS_ZERO;
  if (zero) return true;
  uint bottom = red_bottom(x_range) + red_bottom(y_range);
  long16 low = 0, high = 0;
  for (uint i = 0; i < RED_BLOCK; i += 16) {
    uint16 a = red_number16(vload16(0, x + i)), b = red_number16(vload16(0, y + i));
    uint16 a_magnitude = a & (uint)RED_WORD_MOST, b_magnitude = b & (uint)RED_WORD_MOST;
    ulong16 product = convert_ulong16(red_significand16(a_magnitude)) * convert_ulong16(red_significand16(b_magnitude));
    uint16 up = red_exponent16(a_magnitude) + red_exponent16(b_magnitude) - bottom;
    red_add_parts(&low, &high, product, convert_long16(as_int16(a ^ b) >> 31), convert_ulong16(up & 63u));
  }
  red_add_total(course, red_total(low), bottom - 2);
  red_add_total(course, red_total(high), bottom - 2 + RED_PART_BITS);
  return true;
}

#else

static bool red_add_close(red_course *course, global const RED_ELEMENT *x, global const RED_ELEMENT *y) {
  red_range16 seen = red_no_range();
  for (uint i = 0; i < RED_BLOCK; i += 16) red_look(&seen, red_term16(vload16(0, x + i), vload16(0, y + i)));
  red_range range = red_fold_range(seen);
  if (range.most != 0 && (red_is_special(range) || red_span(range) > RED_MOST_SPAN)) return false;
  if (range.other) course->flags |= RED_FLAG_NOT_MINUS_ZERO;
  if (range.most == 0) return true;
  uint bottom = red_bottom(range);
  long16 low = 0, high = 0;
  for (uint i = 0; i < RED_BLOCK; i += 16) {
    ulong16 term = red_term16(vload16(0, x + i), vload16(0, y + i)), magnitude = term & (ulong)RED_WORD_MOST;
    ulong16 up = (red_exponent16(magnitude) - (ulong)bottom) & 63ul; /* of zeros anything */
    red_add_parts(&low, &high, red_significand16(magnitude), as_long16(term) >> 63l, up);
  }
  red_add_total(course, red_total(low), bottom);
  red_add_total(course, red_total(high), bottom + RED_PART_BITS);
  return true;
}

#endif
#endif

static void red_add_block(red_course *course, global const RED_ELEMENT *x, global const RED_ELEMENT *y) {
  if (!red_add_close(course, x, y)) red_add_one_by_one(course, x, y, RED_BLOCK);
}

#endif

/* Work-item i: the bins of elements [i * run, (i + 1) * run), and their flags, at words[b * items + i]. */
RED_KERNEL red_exact_bins(global const uchar *in, ulong in_offset, ulong n, ulong run, global ulong *words,
                          ulong words_at RED_SECOND_PARAMETERS) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset), *y = RED_SECOND_INPUT(x);
  ulong bins[RED_BINS], items = get_global_size(0);
  ulong first = get_global_id(0) * run, end = min(n, first + run);
  red_course course = {bins, 0, 0};
  red_bins_clear(bins);
  for (ulong at = first; at < end; at += RED_BLOCK) {
    if (end - at < RED_BLOCK)
      red_add_one_by_one(&course, x + at, y + at, (uint)(end - at));
    else
      red_add_block(&course, x + at, y + at);
    course.count += RED_BLOCK;
    if (course.count + RED_BLOCK <= RED_ROOM) continue;
    red_bins_carry(bins);
    course.count = 0;
  }
  red_bins_carry(bins);
  words += words_at + get_global_id(0);
  for (uint b = 0; b < RED_BINS; b++) words[b * items] = bins[b];
  words[RED_BINS * items] = course.flags;
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
