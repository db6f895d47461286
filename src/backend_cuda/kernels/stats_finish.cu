/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics that stay in device memory: from the raw words to red_stats_result, as core/stats.c does it on the host.
 */
#include "convert.cuh"

namespace red {

__device__ inline unsigned width(unsigned __int128 x) {
  uint64_t high = static_cast<uint64_t>(x >> 64), low = static_cast<uint64_t>(x);
  return high != 0 ? 128 - __clzll(static_cast<long long>(high)) : 64 - __clzll(static_cast<long long>(low));
}

/*
 * The double nearest to sum / count: the quotient of the sum shifted up to 126 bits has 62 bits or more, the last one
 * sticky for the remainder, and is rounded once. The scaling by a power of two is exact.
 */
__device__ double integer_mean(__int128 sum, uint64_t count) {
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

__device__ inline double mean_of(const red_cuda_stats_finish &args) {
  const red_cuda_element &e = args.element;
  uint64_t sum = args.raw[RED_CUDA_RAW_SUM];
  if (!e.in_float) {
    uint64_t high = args.raw[RED_CUDA_RAW_SUM_HIGH];
    return integer_mean(static_cast<__int128>(static_cast<unsigned __int128>(high) << 64 | sum), args.n);
  }
  double value = e.acc_bytes == 8 ? __longlong_as_double(static_cast<long long>(sum))
                                  : static_cast<double>(__uint_as_float(static_cast<uint32_t>(sum)));
  double mean = __ddiv_rn(value, __ull2double_rn(args.n));
  return __longlong_as_double(static_cast<long long>(canonical_bits(mean)));
}

__device__ inline uint64_t sum_of(const red_cuda_stats_finish &args) {
  const red_cuda_element &e = args.element;
  uint64_t sum = args.raw[RED_CUDA_RAW_SUM];
  if (!e.in_float) return sum;
  if (e.acc_bytes == 8) return float_bits(e.in, __longlong_as_double(static_cast<long long>(sum)));
  return float_bits(e.in, __uint_as_float(static_cast<uint32_t>(sum)));
}

__device__ inline void finish_stats(const red_cuda_stats_finish &args) {
  red_stats_result *out = static_cast<red_stats_result *>(args.out);
  red_cuda_element least = args.element, greatest = args.element;
  greatest.key_xor ^= low_bits(greatest.in_bytes);
  auto wanted = [&](unsigned part) { return (args.stats & part) != 0; };
  red_stats_result result = {};
  result.size = sizeof result;
  if (wanted(RED_STAT_COUNT)) result.count = args.n;
  if (wanted(RED_STAT_MEAN)) result.mean = mean_of(args);
  if (wanted(RED_STAT_SUM)) result.sum.u64 = sum_of(args);
  if (wanted(RED_STAT_MIN)) result.min.u64 = bits_of_key(least, static_cast<int64_t>(args.raw[RED_CUDA_RAW_LEAST]));
  if (wanted(RED_STAT_MAX))
    result.max.u64 = bits_of_key(greatest, static_cast<int64_t>(args.raw[RED_CUDA_RAW_GREATEST]));
  if (wanted(RED_STAT_ARGMIN)) result.argmin = args.raw[RED_CUDA_RAW_ARGMIN];
  if (wanted(RED_STAT_ARGMAX)) result.argmax = args.raw[RED_CUDA_RAW_ARGMAX];
  *out = result;
}

} // namespace red

extern "C" __global__ void stats_finish(const __grid_constant__ red_cuda_stats_finish args) {
  red::finish_stats(args);
}
