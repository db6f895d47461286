/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last rounding where a result stays on the device: from a long integer to the nearest float, of the value itself, its
 * square root or its quotient. In integers, so that no device rounds differently and none needs f64. The host has the same
 * in src/core/exact.c and exact_round.c: 134 digits of 32 bits count units of 2^-2148.
 */
#define RED_DIGITS   134
#define RED_UNIT_BIT 2148 /* the bit that is 1 */

typedef struct red_long {
  long digit[RED_DIGITS + 4]; /* between carries any integer; some room above */
  uint flags;
} red_long;

/* Sign and magnitude; digits outside [first, last) are zero, and the highest of them is not. */
typedef struct red_magnitude {
  uint digit[RED_DIGITS + 4];
  uint first, last;
  bool negative;
} red_magnitude;

/* A float format: bits of the fraction, and the bit of the long integer that its smallest subnormal is. */
typedef struct red_format {
  uint fraction, least, sign_at;
} red_format;

static red_format red_format_of(ulong type) {
  red_format f16 = {10, RED_UNIT_BIT - 24, 15}, bf16 = {7, RED_UNIT_BIT - 133, 15};
  red_format f32 = {23, RED_UNIT_BIT - 149, 31}, f64 = {52, RED_UNIT_BIT - 1074, 63};
  return type == RED_TYPE_F16 ? f16 : type == RED_TYPE_BF16 ? bf16 : type == RED_TYPE_F32 ? f32 : f64;
}

static ulong red_format_infinity(red_format f) {
  return (((ulong)1 << (f.sign_at - f.fraction)) - 1) << f.fraction;
}

/* ---- The long integer ---- */

static void red_long_clear(private red_long *sum) {
  for (uint i = 0; i < RED_DIGITS + 4; i++) sum->digit[i] = 0;
  sum->flags = 0;
}

static void red_long_add(private red_long *sum, bool negative, ulong significand, uint bit) {
  uint i = bit / 32, shift = bit % 32;
  ulong low = significand << shift, high = shift > 0 ? significand >> (64 - shift) : 0;
  long part[3] = {(long)(low & 0xffffffffu), (long)(low >> 32), (long)high};
  for (uint k = 0; k < 3; k++) sum->digit[i + k] += negative ? -part[k] : part[k];
}

/* Any f64 by its bits, with its flags. */
static void red_long_add_f64(private red_long *sum, ulong bits) {
  ulong magnitude = bits & 0x7ffffffffffffffful, fraction = bits & 0xffffffffffffful;
  uint exponent = (uint)(magnitude >> 52);
  bool negative = bits >> 63;
  if (bits != (ulong)1 << 63) sum->flags |= RED_FLAG_NOT_MINUS_ZERO;
  if (exponent == 0x7ff)
    sum->flags |= fraction > 0 ? RED_FLAG_NAN : negative ? RED_FLAG_MINUS_INF : RED_FLAG_PLUS_INF;
  else if (exponent > 0)
    red_long_add(sum, negative, fraction | (ulong)1 << 52, RED_UNIT_BIT - 1074 + exponent - 1);
  else
    red_long_add(sum, negative, fraction, RED_UNIT_BIT - 1074);
}

static void red_trim(private red_magnitude *m) {
  while (m->last > m->first && m->digit[m->last - 1] == 0) m->last--;
  while (m->last > m->first && m->digit[m->first] == 0) m->first++;
}

static void red_measure(private const red_long *sum, private red_magnitude *m) {
  long carry = 0;
  for (uint i = 0; i < RED_DIGITS + 4; i++) {
    carry += sum->digit[i];
    m->digit[i] = (uint)carry;
    carry >>= 32;
  }
  m->negative = carry < 0;
  ulong one = 1; /* of the two's complement */
  for (uint i = 0; i < RED_DIGITS + 4 && m->negative; i++) {
    one += (uint)~m->digit[i];
    m->digit[i] = (uint)one;
    one >>= 32;
  }
  m->first = 0;
  m->last = RED_DIGITS + 4;
  red_trim(m);
}

/* Bits [bit, bit + 64). */
static ulong red_bits_from(private const red_magnitude *m, uint bit) {
  uint i = bit / 32, shift = bit % 32;
  ulong low = m->digit[i] | (ulong)m->digit[i + 1] << 32;
  return shift == 0 ? low : low >> shift | (ulong)m->digit[i + 2] << (64 - shift);
}

static bool red_any_below(private const red_magnitude *m, uint bit) {
  for (uint i = m->first; i < m->last && i < bit / 32; i++)
    if (m->digit[i] != 0) return true;
  return (m->digit[bit / 32] & ((1u << bit % 32) - 1)) != 0;
}

/* ---- Quotient and root: enough bits of them, and whether anything was cut off ---- */

/* rest:digit divided by n < 2^63, which is above rest. */
static uint red_divide_digit(private ulong *rest, uint digit, ulong n) {
  uint quotient = 0;
  for (uint i = 0; i < 32; i++) {
    *rest = *rest << 1 | digit >> 31;
    digit <<= 1;
    quotient <<= 1;
    if (*rest < n) continue;
    *rest -= n;
    quotient |= 1;
  }
  return quotient;
}

static bool red_divide(private red_magnitude *m, ulong n) {
  const uint enough = 4; /* digits: at least 97 bits */
  ulong rest = 0;
  uint found = 0, i = m->last;
  while (i > 0 && found < enough && (rest != 0 || i > m->first)) {
    i--;
    m->digit[i] = red_divide_digit(&rest, m->digit[i], n);
    if (found > 0 || m->digit[i] != 0) found++;
  }
  bool more = rest != 0;
  for (uint k = m->first; k < i; k++) {
    more |= m->digit[k] != 0;
    m->digit[k] = 0;
  }
  m->first = 0;
  red_trim(m);
  return more;
}

/* sqrt(window 2^low 2^-2148) = root 2^(low / 2) 2^-1074, the window being the highest 127 or 128 bits. */
static bool red_take_root(private red_magnitude *m) {
  int length = (int)(32 * m->last) - (int)clz(m->digit[m->last - 1]);
  int low = length - 128 + (length & 1);
  uint from = low > 0 ? (uint)low : 0, up = low < 0 ? (uint)-low : 0;
  ulong below = red_bits_from(m, from), above = red_bits_from(m, from + 64), root = 0;
  if (up >= 64) {
    above = below << (up - 64);
    below = 0;
  } else if (up > 0) {
    above = above << up | below >> (64 - up);
    below <<= up;
  }
  for (ulong bit = (ulong)1 << 63; bit != 0; bit >>= 1) {
    ulong next = root | bit, high = mul_hi(next, next), rest = next * next;
    if (high < above || (high == above && rest <= below)) root = next;
  }
  bool more = mul_hi(root, root) != above || root * root != below || red_any_below(m, from);
  uint at = (uint)(RED_UNIT_BIT / 2 + low / 2), shift = at % 32;
  for (uint i = 0; i < RED_DIGITS + 4; i++) m->digit[i] = 0;
  m->digit[at / 32] = (uint)(root << shift);
  m->digit[at / 32 + 1] = (uint)(root << shift >> 32);
  m->digit[at / 32 + 2] = shift > 0 ? (uint)(root >> (64 - shift)) : 0;
  m->first = 0;
  m->last = RED_DIGITS + 4;
  red_trim(m);
  return more;
}

/* ---- Rounding ---- */

/* `more` says that a fraction of a unit is missing from the magnitude. */
static ulong red_round_magnitude(private const red_magnitude *m, bool more, red_format f) {
  uint top = 32 * m->last - 1 - (uint)clz(m->digit[m->last - 1]);
  uint quantum = top > f.least + f.fraction ? top - f.fraction : f.least; /* of the result's last bit */
  ulong kept = top >= quantum ? red_bits_from(m, quantum) : 0;
  bool half_way = red_bits_from(m, quantum - 1) & 1;
  if (half_way && ((kept & 1) != 0 || more || red_any_below(m, quantum - 1))) kept++;
  /* The hidden bit adds one to the exponent, and so does a carry out of the fraction. */
  return min(((ulong)(quantum - f.least) << f.fraction) + kept, red_format_infinity(f));
}

/* The sum of `count` terms, its root (finish 3) or its quotient by count (4), as a float of the type. */
static ulong red_long_finish(private red_long *sum, ulong finish, ulong count, ulong type) {
  red_format f = red_format_of(type);
  red_magnitude m;
  ulong infinity = red_format_infinity(f), sign = (ulong)1 << f.sign_at;
  uint infinities = sum->flags & (RED_FLAG_PLUS_INF | RED_FLAG_MINUS_INF);
  if ((sum->flags & RED_FLAG_NAN) || infinities == (RED_FLAG_PLUS_INF | RED_FLAG_MINUS_INF))
    return infinity | (ulong)1 << (f.fraction - 1);
  if (infinities != 0) return infinities == RED_FLAG_PLUS_INF ? infinity : infinity | sign;
  red_measure(sum, &m);
  if (m.last == m.first) return (sum->flags & RED_FLAG_NOT_MINUS_ZERO) == 0 ? sign : 0;
  bool more = false;
  if (finish == 3) more = red_take_root(&m);
  if (finish == 4) more = red_divide(&m, count);
  return (m.negative ? sign : 0) | red_round_magnitude(&m, more, f);
}
