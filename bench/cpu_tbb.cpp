// SPDX-License-Identifier: BSD-2-Clause
// oneTBB's parallel_reduce and parallel_scan with bodies that vectorise, and libstdc++'s parallel algorithms on top of
// it.
#include <algorithm>
#include <cstdint>
#include <execution>
#include <functional>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>

#include "cpu.h"

namespace {

using range = tbb::blocked_range<std::size_t>;

template <typename T> const T *input(const bench_case *c) {
  return static_cast<const T *>(c->in);
}
template <typename T> T *output(const bench_case *c) {
  return static_cast<T *>(c->out);
}

template <typename T> T simd_sum(const T *in, std::size_t first, std::size_t last, T total) {
#pragma omp simd reduction(+ : total)
  for (std::size_t i = first; i < last; i++) total += in[i];
  return total;
}

template <typename T> void tbb_sum(const bench_case *c) {
  const T *in = input<T>(c);
  bench_sink = (double)tbb::parallel_reduce(
      range(0, c->problem.n, 4096), T(0),
      [=](const range &r, T total) { return simd_sum(in, r.begin(), r.end(), total); }, std::plus<T>());
}

template <typename T> void tbb_min(const bench_case *c) {
  const T *in = input<T>(c);
  bench_sink = (double)tbb::parallel_reduce(
      range(0, c->problem.n, 4096), in[0],
      [=](const range &r, T best) {
#pragma omp simd reduction(min : best)
        for (std::size_t i = r.begin(); i < r.end(); i++) best = in[i] < best ? in[i] : best;
        return best;
      },
      [](T a, T b) { return b < a ? b : a; });
}

template <typename T, bool Exclusive> void tbb_scan(const bench_case *c) {
  const T *in = input<T>(c);
  T *out = output<T>(c);
  tbb::parallel_scan(
      range(0, c->problem.n, 16384), T(0),
      [=](const range &r, T total, bool final) {
        if (!final) return simd_sum(in, r.begin(), r.end(), total);
        if (Exclusive) {
#pragma omp simd reduction(inscan, + : total)
          for (std::size_t i = r.begin(); i < r.end(); i++) {
            out[i] = total;
#pragma omp scan exclusive(total)
            total += in[i];
          }
        } else {
#pragma omp simd reduction(inscan, + : total)
          for (std::size_t i = r.begin(); i < r.end(); i++) {
            total += in[i];
#pragma omp scan inclusive(total)
            out[i] = total;
          }
        }
        return total;
      },
      std::plus<T>());
}

constexpr auto policy = std::execution::par_unseq;

template <typename T> void std_sum(const bench_case *c) {
  bench_sink = (double)std::reduce(policy, input<T>(c), input<T>(c) + c->problem.n, T(0));
}

template <typename T> void std_min(const bench_case *c) {
  bench_sink = (double)*std::min_element(policy, input<T>(c), input<T>(c) + c->problem.n);
}

template <typename T, bool Exclusive> void std_scan(const bench_case *c) {
  if (Exclusive)
    std::exclusive_scan(policy, input<T>(c), input<T>(c) + c->problem.n, output<T>(c), T(0));
  else
    std::inclusive_scan(policy, input<T>(c), input<T>(c) + c->problem.n, output<T>(c));
}

template <typename T> bench_run *tbb_of(const bench_case *c) {
  switch (c->problem.kind) {
  case RED_REDUCE:
    return c->problem.op == RED_SUM ? tbb_sum<T> : c->problem.op == RED_MIN ? tbb_min<T> : nullptr;
  case RED_INCLUSIVE_SCAN:
    return c->problem.op == RED_SUM ? tbb_scan<T, false> : nullptr;
  case RED_EXCLUSIVE_SCAN:
    return c->problem.op == RED_SUM ? tbb_scan<T, true> : nullptr;
  default:
    return nullptr;
  }
}

template <typename T> bench_run *std_of(const bench_case *c) {
  switch (c->problem.kind) {
  case RED_REDUCE:
    if (c->problem.op == RED_ARGMIN) return std_min<T>;
    return c->problem.op == RED_SUM ? std_sum<T> : nullptr;
  case RED_INCLUSIVE_SCAN:
    return c->problem.op == RED_SUM ? std_scan<T, false> : nullptr;
  case RED_EXCLUSIVE_SCAN:
    return c->problem.op == RED_SUM ? std_scan<T, true> : nullptr;
  default:
    return nullptr;
  }
}

bool same_type(const bench_case *c) {
  return c->problem.out == 0 || c->problem.out == c->problem.in;
}

} // namespace

bench_run *bench_find_tbb(const bench_case *c) {
  if (c->threads == 1) return nullptr;
  switch (c->problem.in) {
  case RED_F32:
    return tbb_of<float>(c);
  case RED_F64:
    return tbb_of<double>(c);
  case RED_I32:
    return same_type(c) ? tbb_of<std::int32_t>(c) : nullptr;
  case RED_I64:
    return tbb_of<std::int64_t>(c);
  default:
    return nullptr;
  }
}

bench_run *bench_find_std(const bench_case *c) {
  if (c->threads == 1) return nullptr;
  switch (c->problem.in) {
  case RED_F32:
    return std_of<float>(c);
  case RED_F64:
    return std_of<double>(c);
  case RED_I32:
    return same_type(c) ? std_of<std::int32_t>(c) : nullptr;
  case RED_I64:
    return std_of<std::int64_t>(c);
  default:
    return nullptr;
  }
}
