/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics and places of extremes on CUDA beside a plain read of the same bytes, the sum, and CUB's ArgMin: the
 * public API on device pointers.
 *
 *   cuda_stats [exponent]     2^exponent bytes of every dtype, 30 unless given; sizes of f32; argmin
 */
#include "cuda_measure.cuh"

namespace {

/* ---- Data: numbers from -1 to 1, or all bits ---- */

__device__ uint64_t bits_of(float x, red_dtype dtype) {
  uint32_t bits = __float_as_uint(x);
  if (dtype == RED_F64) return static_cast<uint64_t>(__double_as_longlong(x));
  if (dtype == RED_F32) return bits;
  if (dtype == RED_BF16) return bits >> 16;
  return (bits >> 16 & 0x8000u) | ((bits & 0x7fffffffu) < 0x38800000u ? 0 : ((bits & 0x7fffffffu) - 0x38000000u) >> 13);
}

__global__ void fill_any(char *array, red_dtype dtype, unsigned bytes, size_t n) {
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

double time_of(red_kind kind, red_op op, red_dtype dtype, unsigned stats, size_t n) {
  red_problem problem = RED_PROBLEM_INIT(kind, op, dtype, n);
  problem.stats = stats;
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan;
  RED_DO(red_plan_create(bench.context, &problem, &plan));
  double us = measure([&] { RED_DO(red_plan_execute(plan, bench.queue, bench.in, bench.out)); });
  red_plan_destroy(plan);
  return us;
}

double roofline(size_t bytes) {
  unsigned blocks = static_cast<unsigned>((bytes + 16383) / 16384);
  return measure([&] {
    read_all<<<blocks, 128, 0, bench.stream>>>(reinterpret_cast<const uint4 *>(bench.in), bytes / 16,
                                               reinterpret_cast<uint32_t *>(bench.out));
  });
}

template <class T> double cub_argmin(size_t n) {
  const T *in = reinterpret_cast<const T *>(bench.in);
  T *least = reinterpret_cast<T *>(bench.out);
  int64_t *index = reinterpret_cast<int64_t *>(bench.out + 256);
  return cub_time([&](void *t, size_t &b) {
    return cub::DeviceReduce::ArgMin(t, b, in, least, index, static_cast<int64_t>(n), bench.stream);
  });
}

void line(const char *what, red_dtype dtype, size_t n, double us, double bytes, double peer) {
  std::printf("| %s %s | %zu | %.2f | %.0f | %.3f |\n", what, red_dtype_name(dtype), n, us, bytes / us * 1e-3,
              peer / us);
  std::fflush(stdout);
}

void rows_of(red_dtype dtype, size_t bytes) {
  size_t n = bytes / red_dtype_bytes(dtype);
  fill_any<<<4096, 256, 0, bench.stream>>>(bench.in, dtype, static_cast<unsigned>(red_dtype_bytes(dtype)), n);
  double read = roofline(bytes), b = static_cast<double>(bytes);
  line("read", dtype, n, read, b, read);
  line("sum", dtype, n, time_of(RED_REDUCE, RED_SUM, dtype, 0, n), b, read);
  line("min", dtype, n, time_of(RED_REDUCE, RED_MIN, dtype, 0, n), b, read);
  line("stats default", dtype, n, time_of(RED_STATS, RED_SUM, dtype, 0, n), b, read);
  line("stats min, max", dtype, n, time_of(RED_STATS, RED_SUM, dtype, RED_STAT_MIN | RED_STAT_MAX, n), b, read);
  line("stats mean, variance", dtype, n, time_of(RED_STATS, RED_SUM, dtype, RED_STAT_MEAN | RED_STAT_VARIANCE, n), b,
       read);
  line("stats all", dtype, n, time_of(RED_STATS, RED_SUM, dtype, RED_STAT_ALL, n), b, read);
}

template <class T> void argmin_rows(red_dtype dtype, size_t n) {
  fill_any<<<4096, 256, 0, bench.stream>>>(bench.in, dtype, sizeof(T), n);
  double cub = cub_argmin<T>(n);
  line("argmin (ratio to CUB)", dtype, n, time_of(RED_REDUCE, RED_ARGMIN, dtype, 0, n),
       static_cast<double>(n * sizeof(T)), cub);
}

} // namespace

int main(int argc, char **argv) {
  size_t bytes = size_t(1) << (argc > 1 ? std::atoi(argv[1]) : 30);
  begin_benchmark();
  std::printf("| what | n | us | GB/s | ratio to read |\n|---|---|---|---|---|\n");
  for (size_t small : {size_t(1) << 12, size_t(1) << 16, size_t(1) << 20, size_t(1) << 24})
    for (unsigned stats : {unsigned(RED_STAT_DEFAULT), unsigned(RED_STAT_ALL)}) {
      fill_any<<<4096, 256, 0, bench.stream>>>(bench.in, RED_F32, 4, small);
      line(stats == RED_STAT_ALL ? "stats all" : "stats default", RED_F32, small,
           time_of(RED_STATS, RED_SUM, RED_F32, stats, small), 4.0 * static_cast<double>(small), roofline(4 * small));
    }
  for (red_dtype dtype : {RED_F32, RED_F64, RED_F16, RED_BF16, RED_I8, RED_I16, RED_I32, RED_I64})
    rows_of(dtype, bytes);
  for (int exponent : {16, 20, 24, 25, 26, 28}) argmin_rows<float>(RED_F32, size_t(1) << exponent);
  argmin_rows<double>(RED_F64, size_t(1) << 24);
  argmin_rows<double>(RED_F64, size_t(1) << 28);
  argmin_rows<int8_t>(RED_I8, size_t(1) << 30);
  end_benchmark();
  return 0;
}
