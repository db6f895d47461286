// SPDX-License-Identifier: BSD-2-Clause
// Boost.Compute on the benchmark's device: what it keeps between calls is kept, as its users have it.
#include <boost/compute/algorithm/exclusive_scan.hpp>
#include <boost/compute/algorithm/inclusive_scan.hpp>
#include <boost/compute/algorithm/max_element.hpp>
#include <boost/compute/algorithm/reduce.hpp>
#include <boost/compute/command_queue.hpp>
#include <boost/compute/iterator/buffer_iterator.hpp>

#include "opencl.h"

namespace compute = boost::compute;

int bench_can_boost(const bench_case *c) {
  return c->problem.op == RED_SUM;
}

template <class T> static void run(const bench_case *c) {
  compute::command_queue queue(cl.queue);
  compute::buffer in(cl.in), out(cl.out);
  auto first = compute::make_buffer_iterator<T>(in, 0), last = compute::make_buffer_iterator<T>(in, c->problem.n);
  auto to = compute::make_buffer_iterator<T>(out, 0);
  T sum = 0;
  if (c->problem.kind == RED_REDUCE)
    compute::reduce(first, last, &sum, compute::plus<T>(), queue);
  else if (c->problem.kind == RED_INCLUSIVE_SCAN)
    compute::inclusive_scan(first, last, to, queue);
  else
    compute::exclusive_scan(first, last, to, queue);
  queue.finish();
  bench_sink = static_cast<double>(sum);
}

void bench_run_boost(const bench_case *c) {
  switch (c->problem.in) {
  case RED_F32:
    return run<float>(c);
  case RED_F64:
    return run<double>(c);
  case RED_I32:
    return run<int>(c);
  default:
    return;
  }
}
