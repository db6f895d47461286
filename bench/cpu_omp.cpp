// SPDX-License-Identifier: BSD-2-Clause
// GCC's own reductions and scans, as one would write them. Compiled twice: strictly, and (FAST) with -ffast-math.
#include <cstdint>
#include <limits>

#include "cpu.h"

namespace {

template <typename T, typename Acc> void sum(const bench_case *c) {
  const T *in = static_cast<const T *>(c->in);
  const std::int64_t n = (std::int64_t)c->problem.n;
  Acc total = 0;
  if (c->threads == 1) {
    for (std::int64_t i = 0; i < n; i++) total += (Acc)in[i];
  } else {
#pragma omp parallel for reduction(+ : total)
    for (std::int64_t i = 0; i < n; i++) total += (Acc)in[i];
  }
  bench_sink = (double)total;
}

template <typename T, typename Acc> void dot(const bench_case *c) {
  const T *x = static_cast<const T *>(c->in), *y = static_cast<const T *>(c->in2);
  const std::int64_t n = (std::int64_t)c->problem.n;
  Acc total = 0;
  if (c->threads == 1) {
    for (std::int64_t i = 0; i < n; i++) total += (Acc)x[i] * (Acc)y[i];
  } else {
#pragma omp parallel for reduction(+ : total)
    for (std::int64_t i = 0; i < n; i++) total += (Acc)x[i] * (Acc)y[i];
  }
  bench_sink = (double)total;
}

template <typename T> void least(const bench_case *c) {
  const T *in = static_cast<const T *>(c->in);
  const std::int64_t n = (std::int64_t)c->problem.n;
  T best = std::numeric_limits<T>::max();
#pragma omp parallel for reduction(min : best)
  for (std::int64_t i = 0; i < n; i++) best = in[i] < best ? in[i] : best;
  bench_sink = (double)best;
}

template <typename T> void greatest(const bench_case *c) {
  const T *in = static_cast<const T *>(c->in);
  const std::int64_t n = (std::int64_t)c->problem.n;
  T best = std::numeric_limits<T>::lowest();
#pragma omp parallel for reduction(max : best)
  for (std::int64_t i = 0; i < n; i++) best = in[i] > best ? in[i] : best;
  bench_sink = (double)best;
}

#ifndef FAST
template <typename T> void scan(const bench_case *c) {
  const T *in = static_cast<const T *>(c->in);
  T *out = static_cast<T *>(c->out);
  const std::int64_t n = (std::int64_t)c->problem.n;
  T total = 0;
#pragma omp simd reduction(inscan, + : total)
  for (std::int64_t i = 0; i < n; i++) {
    total += in[i];
#pragma omp scan inclusive(total)
    out[i] = total;
  }
}

template <typename T> void exscan(const bench_case *c) {
  const T *in = static_cast<const T *>(c->in);
  T *out = static_cast<T *>(c->out);
  const std::int64_t n = (std::int64_t)c->problem.n;
  T total = 0;
#pragma omp simd reduction(inscan, + : total)
  for (std::int64_t i = 0; i < n; i++) {
    out[i] = total;
#pragma omp scan exclusive(total)
    total += in[i];
  }
}
#endif

template <typename T> bench_run *find_sum(const bench_case *c) {
  switch (c->problem.op) {
  case RED_SUM:
    return sum<T, T>;
  case RED_MIN:
    return c->threads == 1 ? nullptr : least<T>;
  case RED_MAX:
    return c->threads == 1 ? nullptr : greatest<T>;
  default:
    return nullptr;
  }
}

bench_run *find_dot(const bench_case *c) {
  switch (c->problem.in) {
  case RED_F32:
    return dot<float, float>;
  case RED_F64:
    return dot<double, double>;
  case RED_I8:
    return dot<std::int8_t, std::int64_t>;
  case RED_I16:
    return dot<std::int16_t, std::int64_t>;
  case RED_I32:
    return dot<std::int32_t, std::int64_t>;
  case RED_I64:
    return dot<std::int64_t, std::int64_t>;
  default:
    return nullptr;
  }
}

bench_run *find_reduce(const bench_case *c) {
  if (c->problem.op == RED_DOT) return find_dot(c);
  switch (c->problem.in) {
  case RED_F32:
    return find_sum<float>(c);
  case RED_F64:
    return find_sum<double>(c);
  case RED_I32:
    return c->problem.op == RED_SUM ? sum<std::int32_t, std::int64_t> : find_sum<std::int32_t>(c);
  case RED_I64:
    return find_sum<std::int64_t>(c);
  case RED_I8:
    return c->problem.op == RED_SUM ? sum<std::int8_t, std::int64_t> : nullptr;
  case RED_I16:
    return c->problem.op == RED_SUM ? sum<std::int16_t, std::int64_t> : nullptr;
  default:
    return nullptr;
  }
}

#ifndef FAST
template <typename T> bench_run *find_scan(const bench_case *c) {
  return c->problem.kind == RED_INCLUSIVE_SCAN ? scan<T> : exscan<T>;
}
#endif

} // namespace

#ifdef FAST
bench_run *bench_find_omp_fast(const bench_case *c) {
  return c->problem.kind == RED_REDUCE && c->threads != 1 ? find_reduce(c) : nullptr;
}

static bench_run *single;
static void run_single(const bench_case *c) {
  bench_case alone = *c;
  alone.threads = 1;
  single(&alone);
}

bench_run *bench_find_loop_fast(const bench_case *c) {
  if (c->problem.kind != RED_REDUCE || (c->problem.op != RED_SUM && c->problem.op != RED_DOT)) return nullptr;
  single = find_reduce(c);
  return single != nullptr ? run_single : nullptr;
}
#else
bench_run *bench_find_omp(const bench_case *c) {
  if (c->problem.kind == RED_REDUCE) return c->threads != 1 ? find_reduce(c) : nullptr;
  if (c->problem.kind == RED_STATS || c->problem.op != RED_SUM) return nullptr;
  switch (c->problem.in) {
  case RED_F32:
    return find_scan<float>(c);
  case RED_F64:
    return find_scan<double>(c);
  case RED_I32:
    return c->problem.out == RED_I32 ? find_scan<std::int32_t>(c) : nullptr;
  case RED_I64:
    return find_scan<std::int64_t>(c);
  default:
    return nullptr;
  }
}
#endif
