/* SPDX-License-Identifier: BSD-2-Clause */
/* The moments of a chunk on CPU devices: sixteen lanes to a vector, one pair of columns of sums at a time. */
#define RED_ROW_VECTORS (RED_ROW / 16)

/* Differences of up to sixteen elements from `shift`; zero where there are none. */
static double16 red_differences(global const RED_ELEMENT *x, uint count, double shift) {
  if (count >= 16) return red_real16(vload16(0, x)) - shift;
  double differences[16];
  for (uint i = 0; i < 16; i++) differences[i] = i < count ? red_real(x[i]) - shift : 0;
  return vload16(0, differences);
}

static double red_fold_row(double16 *lane) {
  for (uint half_count = RED_ROW_VECTORS / 2; half_count > 0; half_count /= 2)
    for (uint v = 0; v < half_count; v++) lane[v] += lane[v + half_count];
  double8 v8 = lane[0].lo + lane[0].hi;
  double4 v4 = v8.lo + v8.hi;
  double2 v2 = v4.lo + v4.hi;
  return v2.lo + v2.hi;
}

static uint red_left(uint count, uint from) {
  return count > from ? count - from : 0;
}

static red_moments red_chunk_moments(global const RED_ELEMENT *x, uint count) {
  double16 sums[RED_ROW_VECTORS], squares[RED_ROW_VECTORS];
  uint row = min(count, (uint)RED_ROW), rows = count / RED_ROW;
  double origin = red_real(x[0]);
  for (uint v = 0; v < RED_ROW_VECTORS; v++) sums[v] = red_differences(x + 16 * v, red_left(row, 16 * v), origin);
  double shift = origin + red_fold_row(sums) / (double)row;
  for (uint v = 0; v < RED_ROW_VECTORS; v++) {
    double16 sum = 0, square = 0;
    for (uint r = 0; r < rows; r++) {
      double16 d = red_real16(vload16(0, x + r * RED_ROW + 16 * v)) - shift;
      sum += d;
      square += d * d;
    }
    uint at = rows * RED_ROW + 16 * v;
    double16 d = red_differences(x + at, red_left(count, at), shift);
    sums[v] = sum + d;
    squares[v] = square + d * d;
  }
  double sum = red_fold_row(sums);
  return red_moments_of_sums(count, shift, sum, red_fold_row(squares));
}
