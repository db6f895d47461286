/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUB, Thrust and cudaMemcpy as peers of `redtool bench --peer "red-peer-cuda NAME"`, NAME being cub, thrust or
 * cudaMemcpy, which moves as many bytes as the problem: a scan's input to its output, or half of what is reduced.
 */
#include <cstdio>
#include <cstring>
#include <vector>

#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

#include "peer.h"

namespace {

const char *const no_operation = "it has no such operation";

struct Work {
  cudaStream_t stream;
  red_problem problem;
  char *in = nullptr, *out = nullptr, *temporary = nullptr;
  size_t bytes = 0, temporary_bytes = 0;
  cudaError_t (*once)(Work &) = nullptr;
};

template <class T> T *input(Work &w) {
  return reinterpret_cast<T *>(w.in);
}
template <class T> T *output(Work &w) {
  return reinterpret_cast<T *>(w.out);
}
int64_t count(const Work &w) {
  return static_cast<int64_t>(w.problem.n);
}

/* ---- CUB: results stay on the device; temporary memory is given ---- */

template <class T, class Out> cudaError_t cub_once(Work &w) {
  const T *in = input<T>(w);
  Out *out = output<Out>(w);
  void *memory = w.temporary;
  size_t &bytes = w.temporary_bytes;
  if (w.problem.kind == RED_INCLUSIVE_SCAN)
    return cub::DeviceScan::InclusiveSum(memory, bytes, in, out, count(w), w.stream);
  if (w.problem.kind == RED_EXCLUSIVE_SCAN)
    return cub::DeviceScan::ExclusiveSum(memory, bytes, in, out, count(w), w.stream);
  switch (w.problem.op) {
  case RED_SUM:
    return cub::DeviceReduce::Sum(memory, bytes, in, out, count(w), w.stream);
  case RED_MIN:
    return cub::DeviceReduce::Min(memory, bytes, in, out, count(w), w.stream);
  default:
    return cub::DeviceReduce::Max(memory, bytes, in, out, count(w), w.stream);
  }
}

/* ---- Thrust: reductions return a value, so that each call waits ---- */

template <class T, class Out> cudaError_t thrust_once(Work &w) {
  const auto policy = thrust::cuda::par.on(w.stream);
  const thrust::device_ptr<T> in(input<T>(w)), end = in + count(w);
  const thrust::device_ptr<Out> out(output<Out>(w));
  if (w.problem.kind == RED_INCLUSIVE_SCAN) {
    thrust::inclusive_scan(policy, in, end, out);
  } else if (w.problem.kind == RED_EXCLUSIVE_SCAN) {
    thrust::exclusive_scan(policy, in, end, out, Out(0));
  } else if (w.problem.op == RED_SUM) {
    thrust::reduce(policy, in, end, Out(0));
  } else if (w.problem.op == RED_MIN) {
    thrust::min_element(policy, in, end);
  } else {
    thrust::max_element(policy, in, end);
  }
  return cudaGetLastError();
}

cudaError_t copy_once(Work &w) {
  const size_t bytes = w.problem.kind == RED_REDUCE ? w.bytes / 2 : w.bytes;
  return cudaMemcpyAsync(w.out, w.in, bytes, cudaMemcpyDeviceToDevice, w.stream);
}

/* ---- which ---- */

template <class T, class Out> cudaError_t (*named(const char *name))(Work &) {
  if (std::strcmp(name, "cub") == 0) return cub_once<T, Out>;
  if (std::strcmp(name, "thrust") == 0) return thrust_once<T, Out>;
  return copy_once;
}

bool has_operation(const red_problem &p) {
  if (p.kind != RED_REDUCE) return p.op == RED_SUM;
  return p.op == RED_SUM || p.op == RED_MIN || p.op == RED_MAX;
}

/* Sums of narrow integers are made in the type of the result, as the library's. */
cudaError_t (*find(const char *name, const red_problem &p))(Work &) {
  if (!has_operation(p)) return nullptr;
  if (p.in == RED_F32 && p.out == RED_F32) return named<float, float>(name);
  if (p.in == RED_F64 && p.out == RED_F64) return named<double, double>(name);
  if (p.in == RED_I32 && p.out == RED_I32) return named<int32_t, int32_t>(name);
  if (p.in == RED_I64 && p.out == RED_I64) return named<int64_t, int64_t>(name);
  return nullptr;
}

/* ---- a peer ---- */

const char *wanted;

/* CUB's first call, without memory, says how much it wants. */
cudaError_t prepare(Work &w, size_t out_bytes) {
  std::vector<char> host(w.bytes);
  bench_peer_fill(w.problem.in, host.data(), w.problem.n);
  cudaFree(w.in);
  cudaFree(w.out);
  cudaFree(w.temporary);
  w.in = w.out = w.temporary = nullptr;
  cudaError_t error = cudaMalloc(&w.in, w.bytes);
  if (error == cudaSuccess) error = cudaMalloc(&w.out, out_bytes);
  if (error == cudaSuccess) error = cudaMemcpy(w.in, host.data(), w.bytes, cudaMemcpyHostToDevice);
  if (error == cudaSuccess && std::strcmp(wanted, "cub") == 0) {
    error = w.once(w);
    if (error == cudaSuccess) error = cudaMalloc(&w.temporary, w.temporary_bytes);
  }
  if (error == cudaSuccess) error = w.once(w);
  return error == cudaSuccess ? cudaStreamSynchronize(w.stream) : error;
}

const char *take(void *state, const red_problem *problem) {
  Work &w = *static_cast<Work *>(state);
  w.problem = *problem;
  w.once = find(wanted, *problem);
  if (!w.once) return no_operation;
  w.bytes = problem->n * red_dtype_bytes(problem->in);
  const size_t made = problem->kind == RED_REDUCE ? w.bytes / 2 : problem->n * red_dtype_bytes(problem->out);
  const cudaError_t error = prepare(w, made + 256);
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

void chill(void *state) {
  static char *other;
  Work &w = *static_cast<Work *>(state);
  if (!other) cudaMalloc(&other, BENCH_CHILL_BYTES);
  cudaMemsetAsync(other, 1, BENCH_CHILL_BYTES, w.stream);
  cudaStreamSynchronize(w.stream);
}

/* By the host's clock, as redtool does: launches and the wait for the last one count. */
double run(void *state, unsigned calls) {
  Work &w = *static_cast<Work *>(state);
  const double begun = bench_peer_now();
  for (unsigned i = 0; i < calls; i++) w.once(w);
  cudaStreamSynchronize(w.stream);
  return bench_peer_now() - begun;
}

} // namespace

int main(int argc, char **argv) {
  Work work;
  wanted = argc == 2 ? argv[1] : "";
  if (std::strcmp(wanted, "cub") != 0 && std::strcmp(wanted, "thrust") != 0 && std::strcmp(wanted, "cudaMemcpy") != 0) {
    std::fprintf(stderr, "usage: red-peer-cuda cub|thrust|cudaMemcpy\n");
    return 2;
  }
  const cudaError_t error = cudaStreamCreateWithFlags(&work.stream, cudaStreamNonBlocking);
  if (error != cudaSuccess) {
    std::printf("no %s\n", cudaGetErrorString(error));
    return 0;
  }
  const bench_peer peer = {wanted, "cuda:0", &work, take, chill, run};
  return bench_peer_serve(&peer);
}
