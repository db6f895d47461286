/* SPDX-License-Identifier: BSD-2-Clause */
/* The moments of a chunk on GPUs: a lane takes every RED_GROUP-th column, the columns fold in local memory. */

/* Both rows folded by halving. All lanes see the results in the first places after the last barrier. */
static void red_fold_rows(local double *a, local double *b, uint lane) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_count = RED_ROW / 2; half_count > 0; half_count /= 2) {
    for (uint c = lane; c < half_count; c += RED_GROUP) {
      a[c] += a[c + half_count];
      b[c] += b[c + half_count];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

static red_moments red_group_moments(global const RED_ELEMENT *x, uint count, uint lane, local double *sums,
                                     local double *squares) {
  double origin = red_real(x[0]);
  for (uint c = lane; c < RED_ROW; c += RED_GROUP) {
    sums[c] = c < count ? red_real(x[c]) - origin : 0;
    squares[c] = 0;
  }
  red_fold_rows(sums, squares, lane);
  double shift = origin + sums[0] / (double)min(count, (uint)RED_ROW);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint c = lane; c < RED_ROW; c += RED_GROUP) {
    double sum = 0, square = 0;
    for (uint i = c; i < count; i += RED_ROW) {
      double d = red_real(x[i]) - shift;
      sum += d;
      square += d * d;
    }
    sums[c] = sum;
    squares[c] = square;
  }
  red_fold_rows(sums, squares, lane);
  red_moments m = red_moments_of_sums(count, shift, sums[0], squares[0]);
  barrier(CLK_LOCAL_MEM_FENCE);
  return m;
}
