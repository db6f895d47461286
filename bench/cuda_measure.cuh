/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the CUDA benchmarks share: device memory, a stream, and times of which every repetition begins with a memset of
 * 256 MB, so that neither input nor output is in the L2 cache; medians of 25.
 */
#ifndef RED_BENCH_CUDA_MEASURE_CUH
#define RED_BENCH_CUDA_MEASURE_CUH

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cub/cub.cuh>

#include <red/red.h>

#define CUDA_OK(call)                                                                                                  \
  do {                                                                                                                 \
    cudaError_t error_ = (call);                                                                                       \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                             \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

#define RED_DO(call)                                                                                                   \
  do {                                                                                                                 \
    if ((call) != RED_OK) {                                                                                            \
      std::fprintf(stderr, "%s: %s\n", #call, red_last_error());                                                       \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

namespace {

constexpr size_t flush_bytes = size_t(256) << 20, array_bytes = size_t(8) << 30;
constexpr int repetitions = 25;

struct Bench {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  char *flush, *in, *out, *temporary;
  size_t temporary_bytes = size_t(64) << 20;
  red_context *context;
  red_queue *queue;
};

Bench bench;

/* ---- Measuring
 * ------------------------------------------------------------------------------------------------------- */

/* Microseconds on the device. */
inline double measure(const std::function<void()> &work) {
  for (int i = 0; i < 3; i++) work();
  CUDA_OK(cudaStreamSynchronize(bench.stream));
  std::vector<float> times;
  for (int i = 0; i < repetitions; i++) {
    CUDA_OK(cudaMemsetAsync(bench.flush, i, flush_bytes, bench.stream));
    CUDA_OK(cudaEventRecord(bench.begin, bench.stream));
    work();
    CUDA_OK(cudaEventRecord(bench.end, bench.stream));
    CUDA_OK(cudaEventSynchronize(bench.end));
    float milliseconds;
    CUDA_OK(cudaEventElapsedTime(&milliseconds, bench.begin, bench.end));
    times.push_back(milliseconds * 1e3f);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/* Microseconds as the host sees them. */
inline double measure_host(const std::function<void()> &work, int count) {
  for (int i = 0; i < 3; i++) work();
  std::vector<double> times;
  for (int i = 0; i < count; i++) {
    auto begin = std::chrono::steady_clock::now();
    work();
    auto end = std::chrono::steady_clock::now();
    times.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

inline void heading(const char *title) {
  std::printf("\n%s\n%-28s %12s %10s %8s %10s %7s %10s %7s\n", title, "what", "n", "us", "GB/s", "CUB us", "ratio",
              "memcpy us", "ratio");
}

inline void row(const char *what, size_t n, double us, double bytes, double cub, double copy) {
  std::printf("%-28s %12zu %10.2f %8.0f", what, n, us, bytes / us * 1e-3);
  if (cub > 0)
    std::printf(" %10.2f %7.3f", cub, cub / us);
  else
    std::printf(" %10s %7s", "-", "-");
  if (copy > 0) std::printf(" %10.2f %7.3f", copy, copy / us);
  std::printf("\n");
  std::fflush(stdout);
}

/* ---- Data
 * -------------------------------------------------------------------------------------------------------------- */

__device__ inline uint32_t scramble(uint64_t i) {
  uint32_t x = static_cast<uint32_t>(i) * 2654435761u ^ static_cast<uint32_t>(i >> 32);
  x ^= x >> 13;
  x *= 0x85ebca6bu;
  return x ^ x >> 16;
}

template <class T> __global__ void fill(T *array, size_t n) {
  size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride)
    array[i] = static_cast<T>(static_cast<float>(scramble(i) & 0xffff) / 65536.0f * 2 - 1);
}

template <class T> __global__ void fill_integers(T *array, size_t n) {
  size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride)
    array[i] = static_cast<T>(scramble(i));
}

template <class T> void prepare(size_t n) {
  if (std::is_integral<T>::value)
    fill_integers<<<2048, 256, 0, bench.stream>>>(reinterpret_cast<uint32_t *>(bench.in), n * sizeof(T) / 4);
  else
    fill<<<2048, 256, 0, bench.stream>>>(reinterpret_cast<T *>(bench.in), n);
  CUDA_OK(cudaStreamSynchronize(bench.stream));
}

/* ---- Ours
 * --------------------------------------------------------------------------------------------------------------- */

inline double ours(red_kind kind, red_op op, red_dtype in, red_dtype out, size_t n) {
  red_problem problem = RED_PROBLEM_INIT(kind, op, in, n);
  problem.out = out;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan;
  RED_DO(red_plan_create(bench.context, &problem, &plan));
  double us = measure([&] { RED_DO(red_plan_execute(plan, bench.queue, bench.in, bench.out)); });
  red_plan_destroy(plan);
  return us;
}

/* ---- CUB ---- */

template <class Call> double cub_time(Call call) {
  size_t bytes = 0;
  CUDA_OK(call(static_cast<void *>(nullptr), bytes));
  if (bytes > bench.temporary_bytes) return 0;
  return measure([&] {
    size_t given = bytes;
    CUDA_OK(call(static_cast<void *>(bench.temporary), given));
  });
}

/* ---- Beginning and end ---- */

inline void begin_benchmark() {
  cudaDeviceProp device;
  CUDA_OK(cudaGetDeviceProperties(&device, 0));
  CUDA_OK(cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreate(&bench.begin));
  CUDA_OK(cudaEventCreate(&bench.end));
  CUDA_OK(cudaMalloc(&bench.flush, flush_bytes));
  CUDA_OK(cudaMalloc(&bench.in, array_bytes));
  CUDA_OK(cudaMalloc(&bench.out, array_bytes));
  CUDA_OK(cudaMalloc(&bench.temporary, bench.temporary_bytes));
  red_context_options options = {};
  options.size = sizeof options;
  options.backend = "cuda";
  RED_DO(red_context_create(&options, &bench.context));
  RED_DO(red_queue_wrap(bench.context, bench.stream, &bench.queue));
  std::printf("%s, CUDA %d.%d, CCCL %d.%d.%d\n", device.name, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
              CCCL_MAJOR_VERSION, CCCL_MINOR_VERSION, CCCL_PATCH_VERSION);
}

inline void end_benchmark() {
  red_queue_destroy(bench.queue);
  red_context_destroy(bench.context);
}

} // namespace

#endif
