/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics and places of extremes on CUDA beside a plain read of the same bytes, the sum, and CUB's ArgMin, in one
 * process: the public API on device pointers. Every repetition begins with a memset of 256 MB, so that the input is not
 * in the L2 cache; medians of 25.
 *
 *   cuda_stats [exponent]     2^exponent bytes of every dtype, 30 unless given; sizes of f32
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>
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

constexpr size_t flush_bytes = size_t(256) << 20;
constexpr int repetitions = 25;

cudaStream_t stream;
cudaEvent_t begin, end;
char *flush_memory, *in, *out, *temporary;
size_t temporary_bytes = size_t(64) << 20;
red_context *context;
red_queue *queue;

/* Microseconds on the device. */
double measure(const std::function<void()> &work) {
  for (int i = 0; i < 2; i++) work();
  std::vector<float> times;
  for (int i = 0; i < repetitions; i++) {
    CUDA_OK(cudaMemsetAsync(flush_memory, i, flush_bytes, stream));
    CUDA_OK(cudaEventRecord(begin, stream));
    work();
    CUDA_OK(cudaEventRecord(end, stream));
    CUDA_OK(cudaEventSynchronize(end));
    float milliseconds;
    CUDA_OK(cudaEventElapsedTime(&milliseconds, begin, end));
    times.push_back(milliseconds * 1e3f);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/* ---- Data: numbers from -1 to 1, or all bits ------------------------------------------------------------------------
 */

__device__ uint32_t scramble(uint64_t i) {
  uint32_t x = static_cast<uint32_t>(i) * 2654435761u ^ static_cast<uint32_t>(i >> 32);
  x ^= x >> 13;
  x *= 0x85ebca6bu;
  return x ^ x >> 16;
}

__device__ uint64_t bits_of(float x, red_dtype dtype) {
  uint32_t bits = __float_as_uint(x);
  if (dtype == RED_F64) return static_cast<uint64_t>(__double_as_longlong(x));
  if (dtype == RED_F32) return bits;
  if (dtype == RED_BF16) return bits >> 16;
  return (bits >> 16 & 0x8000u) | ((bits & 0x7fffffffu) < 0x38800000u ? 0 : ((bits & 0x7fffffffu) - 0x38000000u) >> 13);
}

__global__ void fill(char *array, red_dtype dtype, unsigned bytes, size_t n) {
  size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    uint64_t bits = static_cast<uint64_t>(scramble(2 * i)) << 32 | scramble(2 * i + 1);
    if (dtype >= RED_F16) bits = bits_of(static_cast<float>(scramble(i) & 0xffff) / 65536.0f * 2 - 1, dtype);
    memcpy(array + i * bytes, &bits, bytes);
  }
}

__global__ void read_all(const uint4 *array, size_t n, uint32_t *result) {
  uint32_t all = 0;
  size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) * 8 + threadIdx.x;
  uint4 x[8];
#pragma unroll
  for (int i = 0; i < 8; i++)
    x[i] = at + i * blockDim.x < n ? __ldg(array + at + i * blockDim.x) : make_uint4(0, 0, 0, 0);
#pragma unroll
  for (int i = 0; i < 8; i++) all ^= x[i].x ^ x[i].y ^ x[i].z ^ x[i].w;
  if (all == 0x12345678u) *result = all; /* hardly ever: nothing is written */
}

/* ---- Rows
 * ------------------------------------------------------------------------------------------------------------ */

double ours(red_kind kind, red_op op, red_dtype dtype, unsigned stats, size_t n) {
  red_problem problem = RED_PROBLEM_INIT(kind, op, dtype, n);
  problem.stats = stats;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan;
  RED_DO(red_plan_create(context, &problem, &plan));
  double us = measure([&] { RED_DO(red_plan_execute(plan, queue, in, out)); });
  red_plan_destroy(plan);
  return us;
}

double roofline(size_t bytes) {
  unsigned blocks = static_cast<unsigned>((bytes + 16383) / 16384);
  return measure([&] {
    read_all<<<blocks, 128, 0, stream>>>(reinterpret_cast<const uint4 *>(in), bytes / 16,
                                         reinterpret_cast<uint32_t *>(out));
  });
}

template <class T> double cub_argmin(size_t n) {
  const T *data = reinterpret_cast<const T *>(in);
  T *least = reinterpret_cast<T *>(out);
  int64_t *index = reinterpret_cast<int64_t *>(out + 256);
  return measure([&] {
    size_t given = temporary_bytes;
    CUDA_OK(cub::DeviceReduce::ArgMin(temporary, given, data, least, index, static_cast<int64_t>(n), stream));
  });
}

void row(const char *what, red_dtype dtype, size_t n, double us, double bytes, double peer) {
  std::printf("| %s %s | %zu | %.2f | %.0f | %.3f |\n", what, red_dtype_name(dtype), n, us, bytes / us * 1e-3,
              peer / us);
  std::fflush(stdout);
}

void rows_of(red_dtype dtype, size_t bytes) {
  size_t n = bytes / red_dtype_bytes(dtype);
  fill<<<4096, 256, 0, stream>>>(in, dtype, static_cast<unsigned>(red_dtype_bytes(dtype)), n);
  double read = roofline(bytes), b = static_cast<double>(bytes);
  row("read", dtype, n, read, b, read);
  row("sum", dtype, n, ours(RED_REDUCE, RED_SUM, dtype, 0, n), b, read);
  row("min", dtype, n, ours(RED_REDUCE, RED_MIN, dtype, 0, n), b, read);
  row("stats default", dtype, n, ours(RED_STATS, RED_SUM, dtype, 0, n), b, read);
  row("stats min, max", dtype, n, ours(RED_STATS, RED_SUM, dtype, RED_STAT_MIN | RED_STAT_MAX, n), b, read);
  row("stats mean, variance", dtype, n, ours(RED_STATS, RED_SUM, dtype, RED_STAT_MEAN | RED_STAT_VARIANCE, n), b, read);
  row("stats all", dtype, n, ours(RED_STATS, RED_SUM, dtype, RED_STAT_ALL, n), b, read);
}

template <class T> void argmin_rows(red_dtype dtype, size_t n) {
  fill<<<4096, 256, 0, stream>>>(in, dtype, sizeof(T), n);
  double cub = cub_argmin<T>(n);
  row("argmin (ratio to CUB)", dtype, n, ours(RED_REDUCE, RED_ARGMIN, dtype, 0, n), static_cast<double>(n * sizeof(T)),
      cub);
}

} // namespace

int main(int argc, char **argv) {
  size_t bytes = size_t(1) << (argc > 1 ? std::atoi(argv[1]) : 30);
  cudaDeviceProp device;
  CUDA_OK(cudaGetDeviceProperties(&device, 0));
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreate(&begin));
  CUDA_OK(cudaEventCreate(&end));
  CUDA_OK(cudaMalloc(&flush_memory, flush_bytes));
  CUDA_OK(cudaMalloc(&in, size_t(2) << 30));
  CUDA_OK(cudaMalloc(&out, 1 << 20));
  CUDA_OK(cudaMalloc(&temporary, temporary_bytes));
  red_context_options options = {};
  options.size = sizeof options;
  options.backend = "cuda";
  RED_DO(red_context_create(&options, &context));
  RED_DO(red_queue_wrap(context, stream, &queue));
  std::printf("%s\n| what | n | us | GB/s | ratio to read |\n|---|---|---|---|---|\n", device.name);
  for (size_t small : {size_t(1) << 12, size_t(1) << 16, size_t(1) << 20, size_t(1) << 24})
    for (unsigned stats : {unsigned(RED_STAT_DEFAULT), unsigned(RED_STAT_ALL)}) {
      fill<<<4096, 256, 0, stream>>>(in, RED_F32, 4, small);
      row(stats == RED_STAT_ALL ? "stats all" : "stats default", RED_F32, small,
          ours(RED_STATS, RED_SUM, RED_F32, stats, small), 4.0 * static_cast<double>(small), roofline(4 * small));
    }
  for (red_dtype dtype : {RED_F32, RED_F64, RED_F16, RED_BF16, RED_I8, RED_I16, RED_I32, RED_I64})
    rows_of(dtype, bytes);
  for (int exponent : {16, 20, 24, 25, 26, 28}) argmin_rows<float>(RED_F32, size_t(1) << exponent);
  argmin_rows<double>(RED_F64, size_t(1) << 24);
  argmin_rows<double>(RED_F64, size_t(1) << 28);
  argmin_rows<int8_t>(RED_I8, size_t(1) << 30);
  red_queue_destroy(queue);
  red_context_destroy(context);
  return 0;
}
