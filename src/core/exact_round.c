/* SPDX-License-Identifier: BSD-2-Clause */
/* From the long integer of `exact-1` to a float: the sum, its quotient or its root, one rounding, ties to even. */
#include "exact.h"

#include <string.h>

#include "half.h"
#include "status.h"
#include "tables.h"

/* A float format: significant bits, and the bit of the long integer that its smallest subnormal is. */
typedef struct format {
  unsigned precision;
  unsigned least;
} format;

static format format_of(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return (format){11, 2148 - 24};
  case RED_BF16:
    return (format){8, 2148 - 133};
  case RED_F32:
    return (format){24, 2148 - 149};
  default:
    return (format){53, 2148 - 1074};
  }
}

/* Bits [bit, bit + 64) of the magnitude. */
static uint64_t bits_from(const red_exact_magnitude *m, unsigned bit) {
  unsigned i = bit / 32, shift = bit % 32;
  uint64_t digit[3];
  for (unsigned k = 0; k < 3; k++) digit[k] = i + k < RED_EXACT_DIGITS ? m->digit[i + k] : 0;
  uint64_t low = digit[0] | digit[1] << 32;
  return shift == 0 ? low : low >> shift | digit[2] << (64 - shift);
}

/* Is any bit below `bit` set? */
static bool any_below(const red_exact_magnitude *m, unsigned bit) {
  for (uint32_t i = m->first; i < m->last && i < bit / 32; i++)
    if (m->digit[i] != 0) return true;
  return bit / 32 < m->last && (m->digit[bit / 32] & (((uint32_t)1 << bit % 32) - 1)) != 0;
}

/* The bits of the float nearest to a nonzero magnitude; `more` says that a fraction of a unit is missing from it. */
static uint64_t round_magnitude(const red_exact_magnitude *m, bool more, red_dtype dtype) {
  format f = format_of(dtype);
  uint64_t infinity = red_infinity_bits(dtype), sign = (uint64_t)m->negative << (8 * red_type_rows[dtype].bytes - 1);
  unsigned top = 32 * m->last - 1 - (unsigned)__builtin_clz(m->digit[m->last - 1]);
  unsigned quantum = top >= f.least + f.precision ? top - (f.precision - 1) : f.least; /* of the result's last bit */
  uint64_t kept = top >= quantum ? bits_from(m, quantum) : 0;
  bool half = (bits_from(m, quantum - 1) & 1) != 0;
  if (half && ((kept & 1) != 0 || more || any_below(m, quantum - 1))) kept++;
  /* The hidden bit adds one to the exponent, and so does a carry out of the fraction. */
  uint64_t bits = ((uint64_t)(quantum - f.least) << (f.precision - 1)) + kept;
  return sign | (bits < infinity ? bits : infinity);
}

/* The result where flags alone decide; false if the digits do. */
static bool special(const red_exact *sum, red_dtype out, uint64_t *bits) {
  uint64_t infinity = red_infinity_bits(out), sign = (uint64_t)1 << (8 * red_type_rows[out].bytes - 1);
  uint32_t infinities = sum->flags & RED_EXACT_INFINITIES;
  if ((sum->flags & RED_EXACT_NAN) != 0 || infinities == RED_EXACT_INFINITIES)
    *bits = red_nan_bits(out);
  else if (infinities != 0)
    *bits = infinities == RED_EXACT_PLUS_INF ? infinity : infinity | sign;
  else
    return false;
  return true;
}

/* Zero is -0 only as a sum of elements that all are. */
static uint64_t zero_bits(const red_exact *sum, uint64_t count, red_dtype out) {
  bool minus = count > 0 && (sum->flags & RED_EXACT_NOT_MINUS_ZERO) == 0;
  return (uint64_t)minus << (8 * red_type_rows[out].bytes - 1);
}

/* Forget digits below `first` and zeros above. */
static void trim(red_exact_magnitude *m) {
  while (m->last > m->first && m->digit[m->last - 1] == 0) m->last--;
}

/* The magnitude divided by n, a fraction of a unit or a hundred bits below the highest one cut off; was any? */
static bool divide(red_exact_magnitude *m, uint64_t n) {
  enum {
    ENOUGH = 4 /* digits: at least 97 bits */
  };
  unsigned __int128 rest = 0;
  unsigned found = 0;
  uint32_t i = m->last;
  while (i > 0 && found < ENOUGH && (rest != 0 || i > m->first)) {
    i--;
    rest = rest << 32 | m->digit[i];
    m->digit[i] = (uint32_t)(rest / n);
    rest %= n;
    if (found > 0 || m->digit[i] != 0) found++;
  }
  bool more = rest != 0;
  while (i > m->first) {
    more |= m->digit[--i] != 0;
    m->digit[i] = 0;
  }
  m->first = i < m->first ? i : m->first;
  trim(m);
  return more;
}

/* The greatest integer whose square is not above x. */
static uint64_t integer_root(unsigned __int128 x) {
  uint64_t root = 0;
  for (uint64_t bit = (uint64_t)1 << 63; bit != 0; bit >>= 1) {
    uint64_t next = root | bit;
    if ((unsigned __int128)next * next <= x) root = next;
  }
  return root;
}

/*
 * The square root of a magnitude, cut off after 64 bits; was anything? A window of the highest 127 or 128 bits, at an
 * even distance from bit 0, has the root's bits.
 */
static bool take_root(red_exact_magnitude *m) {
  int length = (int)(32 * m->last) - __builtin_clz(m->digit[m->last - 1]);
  int low = length - 128 + (length & 1); /* the window's lowest bit, may be below 0 */
  unsigned from = low > 0 ? (unsigned)low : 0;
  unsigned __int128 window = (unsigned __int128)bits_from(m, from + 64) << 64 | bits_from(m, from);
  if (low < 0) window <<= -low;
  uint64_t root = integer_root(window);
  bool more = (unsigned __int128)root * root != window || any_below(m, from);
  /* sqrt(window * 2^low * 2^-2148) = root * 2^(low / 2) * 2^-1074 */
  unsigned bit = (unsigned)(1074 + low / 2), shift = bit % 32;
  unsigned __int128 shifted = (unsigned __int128)root << shift;
  memset(m, 0, sizeof *m);
  m->first = bit / 32;
  m->last = m->first + 3;
  for (unsigned k = 0; k < 3; k++) m->digit[m->first + k] = (uint32_t)(shifted >> 32 * k);
  trim(m);
  return more;
}

static uint64_t finished_bits(const red_lowered *lowered, const red_exact *sum, uint64_t count) {
  uint64_t bits;
  if (special(sum, lowered->out, &bits)) return bits;
  red_exact_magnitude m;
  red_exact_measure(sum, &m);
  if (m.last == 0) return zero_bits(sum, count, lowered->out);
  bool more = false;
  if (lowered->finish == RED_FINISH_MEAN) more = divide(&m, count);
  if (lowered->finish == RED_FINISH_ROOT) more = take_root(&m);
  return round_magnitude(&m, more, lowered->out);
}

red_status red_exact_finish(const red_lowered *lowered, const red_exact *sum, uint64_t count, void *out) {
  red_exact total;
  if (count == 0 && lowered->empty_is_error)
    return red_fail(RED_ERR_EMPTY, "n = 0: op = %s has no result for empty input", red_op_name(lowered->op));
  if (lowered->has_init) {
    total = *sum;
    red_exact_add_f64(&total, lowered->acc == RED_F64 ? lowered->init.f64 : (double)lowered->init.f32);
    sum = &total;
    count++;
  }
  uint64_t bits = finished_bits(lowered, sum, count);
  memcpy(out, &bits, lowered->out_bytes);
  return RED_OK;
}
