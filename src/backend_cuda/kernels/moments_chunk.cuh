/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The moments of a tile's chunks by `stats-1`: a shift near the mean from the first row, then the differences from it
 * and their squares, added in rows and lanes.
 *
 * Elements of 1 and 2 bytes are added as integers where the law's own additions lose nothing. With a full first row,
 * whose codes sum to R, the shift is R / 128, and with t = 128 c - R for a code c, 2^7 d = t and 2^14 q = t^2 are
 * integers: columns of 2-byte elements stay below 2^51, sums of whole chunks of bytes below 2^42.
 */
#ifndef RED_CUDA_MOMENTS_CHUNK_CUH
#define RED_CUDA_MOMENTS_CHUNK_CUH

#include "moments.cuh"
#include "stats_rows.cuh"

namespace red {

template <bool WithMoments, unsigned Lanes> struct MomentsScratch {
  double row[block_threads * Lanes], difference[block_threads * Lanes], square[block_threads * Lanes];
  double shift[block_warps]; /* of each chunk */
};
template <> struct MomentsScratch<true, 4> { Moments chunk[block_warps]; /* chunks of one warp */ };
template <unsigned Lanes> struct MomentsScratch<false, Lanes> {};

/* What is added to a code, in f64. */
template <class Element> __device__ inline double origin_of_codes(const Element &element) {
  if (Element::bytes <= 2) return element.is_signed ? 0 : static_cast<double>(Element::top);
  return element.is_signed ? -static_cast<double>(Element::top) : 0;
}

/* An element in f64. */
template <class Element> __device__ inline double real(const Element &element, typename Element::Row row, unsigned v) {
  if constexpr (Element::is_float) {
    return Element::real(row, v);
  } else if constexpr (Element::bytes <= 2) {
    return static_cast<double>(static_cast<int32_t>(element.code(Element::bits(row, v)))) + origin_of_codes(element);
  } else if constexpr (Element::bytes ==
                       4) { /* the code as the fraction of a number from 2^52 on; both steps are exact */
    double code = __hiloint2double(0x43300000, static_cast<int>(element.codes(row)));
    return code - (element.is_signed ? 0x1p52 + 0x1p31 : 0x1p52);
  } else { /* halves likewise, the upper one from 2^84 on; only their sum is rounded */
    uint64_t code = element.codes(row);
    double high = __hiloint2double(0x45300000, static_cast<int>(code >> 32));
    double low = __hiloint2double(0x43300000, static_cast<int>(code));
    return (high - (element.is_signed ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52)) + low;
  }
}

/* Bits of a chunk's first element in f64. */
template <class Element> __device__ inline double origin_of(const Element &element, typename Element::Bits bits) {
  typename Element::Row first{};
  Element::insert(first, 0, bits);
  return real(element, first, 0);
}

/* ---- Chunks of several warps
 * -----------------------------------------------------------------------------------------
 */

/* The thread's lanes: differences from `shift` and their squares. */
template <class Element, bool Whole>
__device__ inline void add_real(const Element &element, const Rows<Element> &x, unsigned left, double shift,
                                double (&difference)[Element::lanes], double (&square)[Element::lanes]) {
#pragma unroll
  for (unsigned v = 0; v < Element::lanes; v++) difference[v] = square[v] = 0;
#pragma unroll
  for (unsigned r = 0; r < rows; r++)
#pragma unroll
    for (unsigned v = 0; v < Element::lanes; v++) {
      double d = real(element, x.x[r], v) - shift;
      if (!Whole && Rows<Element>::place(r, v) >= left) d = 0;
      difference[v] += d;
      square[v] += d * d;
    }
}

/* The same of 2-byte integers with a full first row. Missing elements count as they were loaded, and are taken back. */
__device__ inline void add_exact(const Integer<2> &element, const Rows<Integer<2>> &x, const void *in, unsigned left,
                                 double shift, double (&difference)[2], double (&square)[2]) {
  using S = Rows<Integer<2>>::S;
  const int32_t row = __double2int_rn((shift - origin_of_codes(element)) * 128);
  int32_t sum[2] = {0, 0};
  int64_t squares[2] = {0, 0};
#pragma unroll
  for (unsigned r = 0; r < rows; r++) {
    int32_t codes = static_cast<int32_t>(element.codes(x.x[r]));
    int32_t t[2] = {static_cast<int16_t>(codes) * 128 - row, (codes >> 16) * 128 - row};
#pragma unroll
    for (unsigned v = 0; v < 2; v++) {
      sum[v] += t[v];
      squares[v] += static_cast<int64_t>(t[v]) * t[v];
    }
  }
  int32_t none = 0;
  if (left < S::chunk) none = static_cast<int32_t>(element.code(Rows<Integer<2>>::element(in, 0))) * 128 - row;
#pragma unroll
  for (unsigned v = 0; v < 2; v++) {
    unsigned present = left / S::lanes + (Rows<Integer<2>>::place(0, v) < left % S::lanes ? 1 : 0);
    int64_t missing = static_cast<int64_t>(rows - present);
    difference[v] = static_cast<double>(sum[v] - static_cast<int32_t>(missing) * none) * 0x1p-7;
    square[v] = static_cast<double>(squares[v] - missing * none * none) * 0x1p-14;
  }
}

/* The shift of the thread's chunk, near its mean: all that waits for is the first row. */
template <class Element, bool Whole>
__device__ inline double shift_of_chunk(const Element &element, const Rows<Element> &x, typename Element::Bits first,
                                        unsigned left, MomentsScratch<true, Element::lanes> &scratch) {
  using R = Rows<Element>;
  using S = typename R::S;
  constexpr unsigned lanes = Element::lanes;
  double origin = Whole || left > 0 ? origin_of(element, first) : 0;
#pragma unroll
  for (unsigned v = 0; v < lanes; v++) {
    bool here = Whole || R::place(0, v) < left;
    scratch.row[threadIdx.x * lanes + v] = here ? real(element, x.x[0], v) - origin : 0;
  }
  __syncthreads();
  const unsigned own = threadIdx.x / S::threads, row = Whole || left > S::lanes ? S::lanes : left;
  double shift = origin + divide<S::lanes>(fold_row<S>(scratch.row, own), row);
  if (threadIdx.x % S::threads == 0) scratch.shift[own] = shift;
  return shift;
}

template <class Element, bool Whole>
__device__ inline void gather_moments(const Element &element, const Rows<Element> &x, const void *in, double shift,
                                      unsigned left, MomentsScratch<true, Element::lanes> &scratch) {
  using S = typename Rows<Element>::S;
  constexpr unsigned lanes = Element::lanes;
  double difference[lanes], square[lanes];
  if constexpr (Element::bytes == 2 && !Element::is_float) {
    if (Whole || left >= S::lanes)
      add_exact(element, x, in, left, shift, difference, square);
    else
      add_real<Element, Whole>(element, x, left, shift, difference, square);
  } else {
    add_real<Element, Whole>(element, x, left, shift, difference, square);
  }
#pragma unroll
  for (unsigned v = 0; v < lanes; v++) {
    scratch.difference[threadIdx.x * lanes + v] = difference[v];
    scratch.square[threadIdx.x * lanes + v] = square[v];
  }
}

/* ---- Chunks of one warp: bytes
 * ---------------------------------------------------------------------------------------
 */

/* The row of a chunk that has no other: the differences from `shift`, folded, and their squares. */
__device__ inline double fold_first_row(const Integer<1> &element, const Rows<Integer<1>> &x, unsigned left,
                                        double shift, double *squares) {
  double difference[4], square[4];
#pragma unroll
  for (unsigned v = 0; v < 4; v++) {
    difference[v] = Rows<Integer<1>>::place(0, v) < left ? real(element, x.x[0], v) - shift : 0;
    square[v] = difference[v] * difference[v];
  }
  *squares = fold_warp(square, Sum());
  return fold_warp(difference, Sum());
}

/* A full first row: everything follows from the sums of the codes c and of their squares. */
__device__ inline Moments warp_moments_exact(const Integer<1> &element, const Rows<Integer<1>> &x, const void *in,
                                             unsigned left) {
  constexpr unsigned chunk = Rows<Integer<1>>::S::chunk;
  int32_t own = 0, own_squares = 0;
#pragma unroll
  for (unsigned r = 0; r < rows; r++) {
    int32_t codes = static_cast<int32_t>(element.codes(x.x[r]));
    own = add_codes<1>(static_cast<uint32_t>(codes), own);
    own_squares = __dp4a(codes, codes, own_squares);
  }
  int64_t codes = static_cast<int32_t>(warp_add(static_cast<uint32_t>(own)));
  int64_t squares = static_cast<int32_t>(warp_add(static_cast<uint32_t>(own_squares)));
  int64_t row = static_cast<int32_t>(warp_add(static_cast<uint32_t>(add_codes<1>(element.codes(x.x[0]), 0))));
  if (left < chunk) {
    int64_t pad = static_cast<int64_t>(element.code(Rows<Integer<1>>::element(in, 0))), missing = chunk - left;
    codes -= missing * pad;
    squares -= missing * pad * pad;
  }
  int64_t count = left, sum = 128 * codes - count * row;
  int64_t sum_of_squares = (squares << 14) - 256 * row * codes + count * row * row;
  return moments_of_sums<chunk>(left, static_cast<double>(row) * 0x1p-7 + origin_of_codes(element),
                                static_cast<double>(sum) * 0x1p-7, static_cast<double>(sum_of_squares) * 0x1p-14);
}

template <bool Whole>
__device__ inline Moments warp_moments(const Integer<1> &element, const Rows<Integer<1>> &x, const void *in,
                                       uint32_t first, unsigned left) {
  using S = Rows<Integer<1>>::S;
  if (Whole || left >= S::lanes) return warp_moments_exact(element, x, in, left);
  if (left == 0) return {0, 0, 0, 0};
  double origin = origin_of(element, first), squares;
  double shift = origin + divide<S::lanes>(fold_first_row(element, x, left, origin, &squares), left);
  double difference = fold_first_row(element, x, left, shift, &squares);
  return moments_of_sums<S::chunk>(left, shift, difference, squares);
}

/* ---- Tiles
 * -----------------------------------------------------------------------------------------------------------
 */

/* Before the tile's barrier. */
template <class Element, bool Whole>
__device__ inline void gather_tile_moments(const red_cuda_reduce &args, const Rows<Element> &x,
                                           typename Element::Bits first, double shift, unsigned left,
                                           MomentsScratch<true, Element::lanes> &scratch) {
  const Element element(args.element);
  if constexpr (Element::bytes == 1) {
    Moments m = warp_moments<Whole>(element, x, args.in, first, left);
    if (threadIdx.x % 32 == 0) scratch.chunk[threadIdx.x / 32] = m;
  } else {
    gather_moments<Element, Whole>(element, x, args.in, shift, left, scratch);
  }
}

/* After it, in the first warp; the tile begins at element `first`. */
template <class Element>
__device__ inline Moments tile_moments(uint64_t n, uint64_t first,
                                       const MomentsScratch<true, Element::lanes> &scratch) {
  using S = typename Rows<Element>::S;
  if constexpr (Element::bytes == 1) {
    const Moments *chunk = scratch.chunk;
    return merge_moments(merge_moments(chunk[0], chunk[1]), merge_moments(chunk[2], chunk[3]));
  } else {
    Moments node[S::chunks];
#pragma unroll
    for (unsigned c = 0; c < S::chunks; c++) {
      const unsigned left = left_in_chunk(n, first + c * S::chunk, S::chunk);
      double difference = fold_row<S>(scratch.difference, c), square = fold_row<S>(scratch.square, c);
      node[c] = moments_of_sums<S::chunk>(left, scratch.shift[c], difference, square);
    }
    return S::chunks == 1 ? node[0] : merge_moments(node[0], node[S::chunks - 1]);
  }
}

} // namespace red

#endif
