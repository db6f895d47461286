/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact reductions on a CUDA device beside CUB's plain sum of the same bytes, in one process. Data of four kinds, since
 * exact methods that guess what the data are like pay for guessing wrong: normal, uniform, of every finite exponent,
 * and cancelling (every exponent, each number undone by a later one, so that little is left).
 *
 *   cuda_exact [sum] [small] [halves] [maps] [same] [host]     all of them without arguments
 *
 * Every repetition begins with a memset of 256 MB, so that the input is not in the L2 cache; medians of 25. A row:
 * what, data, n, our time and rate, CUB's time, and its time over ours.
 */
#include "cuda_measure.cuh"

namespace {

char *in2; /* of dot products */

double ours(red_op op, red_dtype in, size_t n) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, in, n);
  problem.exact = 1;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan;
  RED_DO(red_plan_create(bench.context, &problem, &plan));
  red_args args = {};
  args.size = sizeof args;
  args.in = bench.in;
  args.in2 = op == RED_DOT ? in2 : nullptr;
  args.out = bench.out;
  double us = measure([&] { RED_DO(red_plan_execute_args(plan, bench.queue, &args)); });
  red_plan_destroy(plan);
  return us;
}

template <class T> double cub_sum(size_t n) {
  const T *in = reinterpret_cast<const T *>(bench.in);
  T *out = reinterpret_cast<T *>(bench.out);
  return cub_time([&](void *temporary, size_t &bytes) {
    return cub::DeviceReduce::Sum(temporary, bytes, in, out, static_cast<int64_t>(n), bench.stream);
  });
}

/* CUB's sum of f32, or of f64, over so many bytes. */
double cub_of(size_t bytes, bool wide) {
  return wide ? cub_sum<double>(bytes / 8) : cub_sum<float>(bytes / 4);
}

/* ---- Data
 * -------------------------------------------------------------------------------------------------------------- */

enum Kind {
  normal,
  uniform,
  every_exponent,
  cancelling,
  kinds
};
const char *const kind_names[] = {"normal", "uniform", "every exponent", "cancelling"};

__device__ uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

__device__ double unit(uint64_t x) {
  return static_cast<double>(x >> 11) * 0x1p-53;
}

template <class T> struct Format;
template <> struct Format<uint16_t> { /* f16 */
  static constexpr unsigned fraction = 10;
  __device__ static uint16_t bits(double x) {
    uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(static_cast<float>(x)));
    return half;
  }
};
template <> struct Format<uint32_t> {
  static constexpr unsigned fraction = 23;
  __device__ static uint32_t bits(double x) { return __float_as_uint(static_cast<float>(x)); }
};
template <> struct Format<uint64_t> {
  static constexpr unsigned fraction = 52;
  __device__ static uint64_t bits(double x) { return static_cast<uint64_t>(__double_as_longlong(x)); }
};

/* Element i of n as bits; the second half of cancelling data is the first one, negative and in another order. */
template <class T> __device__ T element(uint64_t i, uint64_t n, Kind kind, uint64_t seed) {
  constexpr T sign = static_cast<T>(T(1) << (8 * sizeof(T) - 1));
  constexpr T infinity = static_cast<T>(static_cast<T>(~sign) >> Format<T>::fraction << Format<T>::fraction);
  bool undo = kind == cancelling && i >= n / 2;
  if (undo) i = n - 1 - i;
  uint64_t x = mix(2 * i + seed), y = mix(2 * i + 1 + seed);
  if (kind == normal) return Format<T>::bits(sqrt(-2 * log(unit(x) + 0x1p-54)) * cospi(2 * unit(y)));
  if (kind == uniform) return Format<T>::bits(unit(x));
  T magnitude = static_cast<T>(y % infinity);
  return static_cast<T>(magnitude | ((x & 1) != 0) * sign) ^ (undo ? sign : T(0));
}

template <class T> __global__ void fill(T *array, uint64_t n, Kind kind, uint64_t seed) {
  uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x; i < n; i += stride)
    array[i] = element<T>(i, n, kind, seed);
}

void prepare(red_dtype dtype, size_t n, Kind kind, char *array, uint64_t seed) {
  unsigned bytes = static_cast<unsigned>(red_dtype_bytes(dtype));
  if (bytes == 2)
    fill<<<2048, 256, 0, bench.stream>>>(reinterpret_cast<uint16_t *>(array), n, kind, seed);
  else if (bytes == 4)
    fill<<<2048, 256, 0, bench.stream>>>(reinterpret_cast<uint32_t *>(array), n, kind, seed);
  else
    fill<<<2048, 256, 0, bench.stream>>>(reinterpret_cast<uint64_t *>(array), n, kind, seed);
  CUDA_OK(cudaStreamSynchronize(bench.stream));
}

/* ---- Rows
 * -------------------------------------------------------------------------------------------------------------- */

void exact_heading(const char *title) {
  std::printf("\n%s\n%-12s %-15s %12s %10s %8s %10s %7s\n", title, "what", "data", "n", "us", "GB/s", "CUB us",
              "ratio");
}

void print_row(const char *what, Kind kind, size_t n, double us, double bytes, double cub) {
  std::printf("%-12s %-15s %12zu %10.2f %8.0f %10.2f %7.3f\n", what, kind_names[kind], n, us, bytes / us * 1e-3, cub,
              cub / us);
  std::fflush(stdout);
}

void row(const char *what, red_op op, red_dtype dtype, size_t n, Kind kind) {
  size_t bytes = n * red_dtype_bytes(dtype);
  prepare(dtype, n, kind, bench.in, 0);
  if (op == RED_DOT) prepare(dtype, n, kind == cancelling ? normal : kind, in2, 1u << 20);
  size_t read = op == RED_DOT ? 2 * bytes : bytes;
  double us = ours(op, dtype, n), cub = cub_of(read, dtype == RED_F64);
  print_row(what, kind, n, us, double(read), cub);
}

void bench_sum() {
  exact_heading("sums of any data");
  for (int exponent : {20, 22, 24, 26, 28, 30})
    for (int kind = 0; kind < kinds; kind++) row("sum f32", RED_SUM, RED_F32, size_t(1) << exponent, Kind(kind));
  for (int exponent : {20, 22, 24, 26, 28, 30})
    for (int kind = 0; kind < kinds; kind++) row("sum f64", RED_SUM, RED_F64, size_t(1) << exponent, Kind(kind));
}

/* CUB's own sum with the same bits on all GPUs, which is not exact: CCCL 3.2 or newer, `-I` of which comes first. */
#if CCCL_VERSION >= 3002000
template <class T> double cub_same(size_t n) {
  const T *in = reinterpret_cast<const T *>(bench.in);
  T *out = reinterpret_cast<T *>(bench.out);
  auto how = cuda::std::execution::env{cuda::execution::require(cuda::execution::determinism::gpu_to_gpu),
                                       cuda::stream_ref{bench.stream}};
  return measure([&] { CUDA_OK(cub::DeviceReduce::Sum(in, out, static_cast<int64_t>(n), how)); });
}

void bench_same() {
  cudaMemPool_t pool;
  uint64_t all = UINT64_MAX; /* what CUB allocates for each sum stays with the process */
  CUDA_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  exact_heading("CUB's gpu_to_gpu");
  for (red_dtype dtype : {RED_F32, RED_F64})
    for (int exponent : {16, 18, 20, 22, 24, 26, 28, 30}) {
      size_t n = size_t(1) << exponent, bytes = n * red_dtype_bytes(dtype);
      prepare(dtype, n, normal, bench.in, 0);
      double us = ours(RED_SUM, dtype, n), cub = dtype == RED_F64 ? cub_same<double>(n) : cub_same<float>(n);
      print_row(dtype == RED_F32 ? "sum f32" : "sum f64", normal, n, us, double(bytes), cub);
    }
}
#else
void bench_same() {
  std::printf("CUB's gpu_to_gpu needs CCCL 3.2\n");
}
#endif

void bench_small() {
  exact_heading("few numbers");
  for (red_dtype dtype : {RED_F32, RED_F64})
    for (int exponent : {10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22})
      row(dtype == RED_F32 ? "sum f32" : "sum f64", RED_SUM, dtype, size_t(1) << exponent, normal);
}

void bench_halves() {
  exact_heading("narrow types");
  for (int exponent : {20, 24, 28, 30}) row("sum f16", RED_SUM, RED_F16, size_t(1) << exponent, every_exponent);
  for (int exponent : {20, 24, 28, 30}) row("sum bf16", RED_SUM, RED_BF16, size_t(1) << exponent, every_exponent);
}

void bench_maps() {
  exact_heading("magnitudes, means, squares, norms, products");
  for (red_dtype dtype : {RED_F32, RED_F64, RED_F16})
    for (red_op op : {RED_ASUM, RED_MEAN, RED_SUMSQ, RED_NRM2, RED_DOT})
      for (int exponent : {20, 28}) {
        if (dtype == RED_F64 && exponent == 28) exponent = 27;
        std::string what = std::string(red_op_name(op)) + " " + red_dtype_name(dtype);
        row(what.c_str(), op, dtype, size_t(1) << exponent, every_exponent);
      }
}

/* What a caller waits for whose result is to be in host memory; the array is on the device. */
void bench_host() {
  std::printf("\nresult in host memory: us as the host sees them\n%-12s %12s %9s\n", "what", "n", "us");
  for (red_dtype dtype : {RED_F32, RED_F64})
    for (size_t n : {size_t(100), size_t(10000), size_t(1000000)}) {
      prepare(dtype, n, normal, bench.in, 0);
      red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, dtype, n);
      problem.exact = 1;
      problem.in_memory = RED_DEVICE;
      red_plan *plan;
      double result;
      RED_DO(red_plan_create(bench.context, &problem, &plan));
      double us = measure_host([&] { RED_DO(red_plan_execute(plan, bench.queue, bench.in, &result)); }, 300);
      red_plan_destroy(plan);
      std::printf("%-12s %12zu %9.2f\n", dtype == RED_F32 ? "sum f32" : "sum f64", n, us);
    }
}

} // namespace

int main(int argc, char **argv) {
  const struct {
    const char *name;
    void (*run)();
  } parts[] = {{"sum", bench_sum},   {"small", bench_small}, {"halves", bench_halves},
               {"maps", bench_maps}, {"same", bench_same},   {"host", bench_host}};
  begin_benchmark();
  CUDA_OK(cudaMalloc(&in2, array_bytes));
  for (const auto &part : parts) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; i++) wanted = wanted || std::strcmp(argv[i], part.name) == 0;
    if (wanted) part.run();
  }
  end_benchmark();
  return 0;
}
