/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA backend beside CUB and cudaMemcpy, in one process: the public API on device pointers and a cudaStream_t.
 *
 *   cuda_bench [reduce] [scan] [combine] [host] [latency]     all of them without arguments
 *
 * A row: what, n, our time and rate, CUB's (or the copy's) time, and its time over ours: more than 1 is faster.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/transform_iterator.h>

#include "cuda_measure.cuh"

namespace {

/* ---- CUB
 * ----------------------------------------------------------------------------------------------------------------- */

template <class T> double cub_reduce(red_op op, size_t n) {
  const T *in = reinterpret_cast<const T *>(bench.in);
  T *out = reinterpret_cast<T *>(bench.out);
  int64_t *index = reinterpret_cast<int64_t *>(bench.out + 256);
  int64_t count = static_cast<int64_t>(n);
  switch (op) {
  case RED_SUM:
    return cub_time([&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, in, out, count, bench.stream); });
  case RED_MIN:
    return cub_time([&](void *t, size_t &b) { return cub::DeviceReduce::Min(t, b, in, out, count, bench.stream); });
  case RED_MAX:
    return cub_time([&](void *t, size_t &b) { return cub::DeviceReduce::Max(t, b, in, out, count, bench.stream); });
  case RED_ARGMIN:
    return cub_time(
        [&](void *t, size_t &b) { return cub::DeviceReduce::ArgMin(t, b, in, out, index, count, bench.stream); });
  default:
    return 0;
  }
}

struct Widen {
  __host__ __device__ float operator()(__half x) const { return __half2float(x); }
  __host__ __device__ float operator()(__nv_bfloat16 x) const { return __bfloat162float(x); }
};

template <class T> double cub_half_sum(size_t n) {
  auto in = thrust::make_transform_iterator(reinterpret_cast<const T *>(bench.in), Widen());
  float *out = reinterpret_cast<float *>(bench.out);
  return cub_time(
      [&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, in, out, static_cast<int64_t>(n), bench.stream); });
}

template <class In, class Out> double cub_scan(bool inclusive, size_t n) {
  const In *in = reinterpret_cast<const In *>(bench.in);
  Out *out = reinterpret_cast<Out *>(bench.out);
  int64_t count = static_cast<int64_t>(n);
  if (inclusive)
    return cub_time(
        [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, in, out, count, bench.stream); });
  return cub_time(
      [&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveSum(t, b, in, out, count, bench.stream); });
}

double copy_time(size_t bytes) {
  return measure([&] { CUDA_OK(cudaMemcpyAsync(bench.out, bench.in, bytes, cudaMemcpyDeviceToDevice, bench.stream)); });
}

/* ---- Rows
 * ------------------------------------------------------------------------------------------------------------------ */

template <class T>
void reduce_rows(const char *what, red_op op, red_dtype dtype, std::initializer_list<int> exponents) {
  for (int exponent : exponents) {
    size_t n = size_t(1) << exponent;
    prepare<T>(n);
    double cub;
    if constexpr (std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value)
      cub = op == RED_SUM ? cub_half_sum<T>(n) : 0;
    else
      cub = cub_reduce<T>(op, n);
    row(what, n, ours(RED_REDUCE, op, dtype, RED_DTYPE_DEFAULT, n), double(n) * sizeof(T), cub, 0);
  }
}

template <class In, class Out>
void scan_rows(const char *what, bool inclusive, red_dtype in, red_dtype out, std::initializer_list<int> exponents) {
  red_kind kind = inclusive ? RED_INCLUSIVE_SCAN : RED_EXCLUSIVE_SCAN;
  for (int exponent : exponents) {
    size_t n = size_t(1) << exponent;
    prepare<In>(n);
    double cub = 0;
    if constexpr (!std::is_same<In, __half>::value && !std::is_same<In, __nv_bfloat16>::value)
      cub = cub_scan<In, Out>(inclusive, n);
    double bytes = double(n) * (sizeof(In) + sizeof(Out));
    row(what, n, ours(kind, RED_SUM, in, out, n), bytes, cub, copy_time(static_cast<size_t>(bytes) / 2));
  }
}

void bench_reduce() {
  heading("reduce");
  reduce_rows<float>("sum f32", RED_SUM, RED_F32, {10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30});
  reduce_rows<float>("min f32", RED_MIN, RED_F32, {16, 20, 24, 28, 30});
  reduce_rows<float>("max f32", RED_MAX, RED_F32, {28});
  reduce_rows<double>("sum f64", RED_SUM, RED_F64, {16, 20, 24, 28});
  reduce_rows<int32_t>("sum i32", RED_SUM, RED_I32, {16, 20, 24, 28});
  reduce_rows<int64_t>("sum i64", RED_SUM, RED_I64, {28});
  reduce_rows<int8_t>("sum i8", RED_SUM, RED_I8, {20, 24, 30});
  reduce_rows<__half>("sum f16", RED_SUM, RED_F16, {20, 24, 30});
  reduce_rows<__nv_bfloat16>("sum bf16", RED_SUM, RED_BF16, {30});
  reduce_rows<float>("prod f32", RED_PROD, RED_F32, {28});
  reduce_rows<float>("argmin f32", RED_ARGMIN, RED_F32, {16, 20, 24, 28});
  reduce_rows<int8_t>("argmin i8", RED_ARGMIN, RED_I8, {24, 30});
  reduce_rows<double>("argmin f64", RED_ARGMIN, RED_F64, {28});
  reduce_rows<__half>("min f16", RED_MIN, RED_F16, {30});
  reduce_rows<int8_t>("min i8", RED_MIN, RED_I8, {30});
  reduce_rows<float>("count_nonzero f32", RED_COUNT_NONZERO, RED_F32, {28});
}

void bench_scan() {
  heading("scan");
  scan_rows<float, float>("inclusive f32", true, RED_F32, RED_F32, {10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30});
  scan_rows<float, float>("exclusive f32", false, RED_F32, RED_F32, {16, 20, 24, 28});
  scan_rows<double, double>("inclusive f64", true, RED_F64, RED_F64, {16, 20, 24, 28});
  scan_rows<int32_t, int32_t>("inclusive i32", true, RED_I32, RED_I32, {20, 28});
  scan_rows<int32_t, int64_t>("inclusive i32 into i64", true, RED_I32, RED_I64, {20, 28});
  scan_rows<int64_t, int64_t>("inclusive i64", true, RED_I64, RED_I64, {28});
  scan_rows<int8_t, int8_t>("inclusive i8 into i8", true, RED_I8, RED_I8, {24, 30});
  scan_rows<__half, __half>("inclusive f16", true, RED_F16, RED_F16, {24, 30});
  scan_rows<int8_t, int64_t>("inclusive i8 into i64", true, RED_I8, RED_I64, {26});
}

void bench_combine() {
  std::printf("\nhow blocks combine: sum, us\n%-10s %12s", "dtype", "n");
  const char *const ways[] = {"poll", "last", "two", "pdl", "coop", "atomic"};
  for (const char *way : ways) std::printf(" %9s", way);
  std::printf("\n");
  for (red_dtype dtype : {RED_F32, RED_I32}) {
    for (int exponent : {14, 16, 18, 20, 22, 24, 26, 28, 30}) {
      size_t n = size_t(1) << exponent;
      prepare<float>(n);
      std::printf("%-10s %12zu", red_dtype_name(dtype), n);
      for (const char *way : ways) {
        setenv("RED_CUDA_COMBINE", way, 1);
        if (dtype == RED_F32 && std::strcmp(way, "atomic") == 0)
          std::printf(" %9s", "-");
        else
          std::printf(" %9.2f", ours(RED_REDUCE, RED_SUM, dtype, RED_DTYPE_DEFAULT, n));
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  std::printf("\none pass or three launches: inclusive scan of f32, us\n%12s %9s %9s\n", "n", "one", "three");
  for (int exponent : {16, 20, 24, 28}) {
    size_t n = size_t(1) << exponent;
    prepare<float>(n);
    setenv("RED_CUDA_COMBINE", "poll", 1);
    double one = ours(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_DTYPE_DEFAULT, n);
    setenv("RED_CUDA_COMBINE", "two", 1);
    std::printf("%12zu %9.2f %9.2f\n", n, one, ours(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, RED_DTYPE_DEFAULT, n));
  }
  unsetenv("RED_CUDA_COMBINE");
}

/* On the device already, result on the host: what a caller waits for. */
void bench_latency() {
  std::printf("\nsum of f32 in device memory, result in host memory: us as the host sees them\n%12s %9s %9s %7s\n", "n",
              "ours", "CUB", "ratio");
  for (size_t n : {size_t(100), size_t(1000), size_t(10000), size_t(100000), size_t(1000000)}) {
    prepare<float>(n);
    red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, n);
    problem.in_memory = RED_DEVICE;
    red_plan *plan;
    RED_DO(red_plan_create(bench.context, &problem, &plan));
    float result;
    double mine = measure_host([&] { RED_DO(red_plan_execute(plan, bench.queue, bench.in, &result)); }, 300);
    red_plan_destroy(plan);
    size_t bytes = 0;
    float *in = reinterpret_cast<float *>(bench.in), *out = reinterpret_cast<float *>(bench.out);
    CUDA_OK(cub::DeviceReduce::Sum(nullptr, bytes, in, out, static_cast<int64_t>(n), bench.stream));
    double cub = measure_host(
        [&] {
          CUDA_OK(cub::DeviceReduce::Sum(bench.temporary, bytes, in, out, static_cast<int64_t>(n), bench.stream));
          CUDA_OK(cudaMemcpyAsync(&result, out, sizeof result, cudaMemcpyDeviceToHost, bench.stream));
          CUDA_OK(cudaStreamSynchronize(bench.stream));
        },
        300);
    std::printf("%12zu %9.2f %9.2f %7.3f\n", n, mine, cub, cub / mine);
  }
}

/* Arrays in host memory, through the device. */
void bench_host() {
  size_t bytes = size_t(1) << 30, n = bytes / 4;
  void *pinned, *pageable = std::malloc(bytes), *result = std::malloc(bytes);
  CUDA_OK(cudaMallocHost(&pinned, bytes));
  std::memset(pinned, 0, bytes);
  std::memset(pageable, 0, bytes);
  std::memset(result, 0, bytes);
  std::printf("\n1 GB of f32 in host memory: GB/s\n%-34s %9s\n", "what", "GB/s");
  auto report = [&](const char *what, double us, double moved) {
    std::printf("%-34s %9.1f\n", what, moved / us * 1e-3);
    std::fflush(stdout);
  };
  report("copy to the device, pinned",
         measure_host([&] { CUDA_OK(cudaMemcpy(bench.in, pinned, bytes, cudaMemcpyHostToDevice)); }, 5), double(bytes));
  report("copy to the device, pageable",
         measure_host([&] { CUDA_OK(cudaMemcpy(bench.in, pageable, bytes, cudaMemcpyHostToDevice)); }, 5),
         double(bytes));
  float sum;
  report("sum, pinned", measure_host([&] { RED_DO(red_reduce(bench.context, RED_SUM, RED_F32, pinned, n, &sum)); }, 5),
         double(bytes));
  report("sum, pageable",
         measure_host([&] { RED_DO(red_reduce(bench.context, RED_SUM, RED_F32, pageable, n, &sum)); }, 5),
         double(bytes));
  report("inclusive scan, pinned, in + out",
         measure_host([&] { RED_DO(red_inclusive_scan(bench.context, RED_SUM, RED_F32, pinned, n, pinned)); }, 5),
         2.0 * double(bytes));
  report("inclusive scan, pageable, in + out",
         measure_host([&] { RED_DO(red_inclusive_scan(bench.context, RED_SUM, RED_F32, pageable, n, result)); }, 5),
         2.0 * double(bytes));
  CUDA_OK(cudaFreeHost(pinned));
  std::free(pageable);
  std::free(result);
}

} // namespace

int main(int argc, char **argv) {
  const struct {
    const char *name;
    void (*run)();
  } parts[] = {{"reduce", bench_reduce},
               {"scan", bench_scan},
               {"combine", bench_combine},
               {"latency", bench_latency},
               {"host", bench_host}};
  begin_benchmark();
  for (const auto &part : parts) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; i++) wanted = wanted || std::strcmp(argv[i], part.name) == 0;
    if (wanted) part.run();
  }
  end_benchmark();
  return 0;
}
