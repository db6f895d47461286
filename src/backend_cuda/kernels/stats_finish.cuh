/* SPDX-License-Identifier: BSD-2-Clause */
/* From the summary of everything to red_stats_result in device memory, as core/stats.c does it on the host. */
#ifndef RED_CUDA_STATS_FINISH_CUH
#define RED_CUDA_STATS_FINISH_CUH

#include "stats_summary.cuh"

namespace red {

__device__ inline unsigned width(unsigned __int128 x) {
  uint64_t high = static_cast<uint64_t>(x >> 64), low = static_cast<uint64_t>(x);
  return high != 0 ? 128 - __clzll(static_cast<long long>(high)) : 64 - __clzll(static_cast<long long>(low));
}

/*
 * The double nearest to sum / count: the quotient of the sum shifted up to 126 bits has 62 bits or more, the last one
 * sticky for the remainder, and is rounded once. The scaling by a power of two is exact.
 */
__device__ inline double mean_of(__int128 sum, uint64_t count) {
  bool negative = sum < 0;
  unsigned __int128 magnitude = negative ? -static_cast<unsigned __int128>(sum) : static_cast<unsigned __int128>(sum);
  if (magnitude == 0) return 0.0;
  int up = static_cast<int>(127 - width(magnitude));
  magnitude <<= up;
  unsigned __int128 quotient = magnitude / count;
  if (quotient * count != magnitude) quotient |= 1;
  int drop = static_cast<int>(width(quotient)) - 53;
  unsigned __int128 kept = quotient >> drop, rest = quotient - (kept << drop);
  unsigned __int128 half = static_cast<unsigned __int128>(1) << (drop - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) kept++;
  double value = scalbn(static_cast<double>(static_cast<uint64_t>(kept)), drop - up);
  return negative ? -value : value;
}

__device__ inline double canonical(double x) {
  return __longlong_as_double(static_cast<long long>(canonical_bits(x)));
}

__device__ inline double mean_of(double sum, uint64_t count) {
  return canonical(__ddiv_rn(sum, __ull2double_rn(count)));
}
__device__ inline double mean_of(float sum, uint64_t count) {
  return mean_of(static_cast<double>(sum), count);
}

__device__ inline uint64_t sum_bits(const red_cuda_element &, __int128 sum) {
  return static_cast<uint64_t>(sum);
}
template <class T> __device__ inline uint64_t sum_bits(const red_cuda_element &e, T sum) {
  return float_bits(e.in, sum);
}

template <class Element>
__device__ inline void finish_stats(const red_cuda_reduce &args, const Summary<Element> &s, uint64_t argmin,
                                    uint64_t argmax) {
  const red_cuda_element &least = args.element;
  red_cuda_element greatest = args.element;
  greatest.key_xor ^= low_bits(greatest.in_bytes);
  auto wanted = [&](unsigned part) { return (args.stats & part) != 0; };
  red_stats_result result = {};
  result.size = sizeof result;
  if (wanted(RED_STAT_COUNT)) result.count = args.n;
  if (Element::is_float && wanted(RED_STAT_NAN_COUNT)) result.nan_count = s.nans;
  if (wanted(RED_STAT_MEAN)) result.mean = mean_of(s.sum, args.n);
  if (wanted(RED_STAT_VARIANCE)) {
    result.squared_deviations = canonical(s.moments.squares);
    result.variance = canonical(__ddiv_rn(s.moments.squares, __ull2double_rn(args.n)));
    result.sample_variance = canonical(__ddiv_rn(s.moments.squares, __ull2double_rn(args.n - 1)));
  }
  if (wanted(RED_STAT_SUM)) result.sum.u64 = sum_bits(args.element, s.sum);
  if (wanted(RED_STAT_MIN)) result.min.u64 = bits_of_key(least, s.least);
  if (wanted(RED_STAT_MAX)) result.max.u64 = bits_of_key(greatest, s.greatest);
  if (wanted(RED_STAT_ARGMIN)) result.argmin = argmin;
  if (wanted(RED_STAT_ARGMAX)) result.argmax = argmax;
  *static_cast<red_stats_result *>(args.out) = result;
}

} // namespace red

#endif
