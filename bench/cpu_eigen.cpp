// SPDX-License-Identifier: BSD-2-Clause
// Eigen's vectorised reductions, one thread.
#include <cstdint>

#include <Eigen/Core>

#include "cpu.h"

namespace {

template <typename T> using array = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

template <typename T> array<T> input(const bench_case *c) {
  return array<T>(static_cast<const T *>(c->in), (Eigen::Index)c->problem.n);
}

template <typename T> void sum(const bench_case *c) {
  bench_sink = (double)input<T>(c).sum();
}
template <typename T> void least(const bench_case *c) {
  bench_sink = (double)input<T>(c).minCoeff();
}
template <typename T> void greatest(const bench_case *c) {
  bench_sink = (double)input<T>(c).maxCoeff();
}

template <typename T> void argmin(const bench_case *c) {
  Eigen::Index index;
  input<T>(c).minCoeff(&index);
  bench_sink = (double)index;
}

template <typename T> bench_run *find(const bench_case *c) {
  switch (c->problem.op) {
  case RED_SUM:
    return sum<T>;
  case RED_MIN:
    return least<T>;
  case RED_MAX:
    return greatest<T>;
  case RED_ARGMIN:
    return argmin<T>;
  default:
    return nullptr;
  }
}

} // namespace

bench_run *bench_find_eigen(const bench_case *c) {
  if (c->problem.kind != RED_REDUCE) return nullptr;
  switch (c->problem.in) {
  case RED_F32:
    return find<float>(c);
  case RED_F64:
    return find<double>(c);
  case RED_I32:
    return c->problem.op == RED_SUM ? nullptr : find<std::int32_t>(c);
  case RED_I64:
    return find<std::int64_t>(c);
  default:
    return nullptr;
  }
}
