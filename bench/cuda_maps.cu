/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dot products, magnitudes, squares, norms and means of the CUDA backend beside CUB's sum of as many bytes of f32.
 *
 *   cuda_maps [sum] [dot] [asum] [sumsq] [nrm2] [mean] [apart] [host]     all of them without arguments
 *
 * A row: what, n, our time and rate, CUB's time, and that over ours: more than 1 is faster. Our own sum is there too.
 */
#include "cuda_measure.cuh"

namespace {

constexpr size_t second_at = array_bytes / 2;

double cub_sum(size_t bytes) {
  const float *in = reinterpret_cast<const float *>(bench.in);
  float *out = reinterpret_cast<float *>(bench.out);
  return cub_time([&](void *t, size_t &b) {
    return cub::DeviceReduce::Sum(t, b, in, out, static_cast<int64_t>(bytes / 4), bench.stream);
  });
}

/* The inputs begin `shift` and `shift2` elements behind a boundary of 256 bytes. */
double time_of(red_op op, red_dtype dtype, size_t n, size_t shift, size_t shift2) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, op, dtype, n);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  red_plan *plan;
  RED_DO(red_plan_create(bench.context, &problem, &plan));
  size_t bytes = red_dtype_bytes(dtype);
  red_args args = {};
  args.size = sizeof args;
  args.in = bench.in + shift * bytes;
  args.in2 = op == RED_DOT ? bench.in + second_at + shift2 * bytes : nullptr;
  args.out = bench.out;
  double us = measure([&] { RED_DO(red_plan_execute_args(plan, bench.queue, &args)); });
  red_plan_destroy(plan);
  return us;
}

bool exists(red_op op, red_dtype dtype) {
  bool integers = dtype < RED_F16;
  if (op == RED_NRM2 && dtype == RED_F64) return false; /* exact */
  return !integers || (op != RED_NRM2 && op != RED_MEAN);
}

void bench_operator(red_op op) {
  heading("one pass over device memory");
  for (red_dtype dtype : {RED_F32, RED_F64, RED_F16, RED_BF16, RED_I8, RED_I16, RED_I32, RED_I64})
    for (int exponent : {16, 20, 24, 28, 30}) {
      size_t bytes = size_t(4) << exponent, n = bytes / red_dtype_bytes(dtype);
      if (op == RED_DOT) n /= 2; /* as many bytes as the others */
      if (!exists(op, dtype) || (exponent > 28 && dtype != RED_F32)) continue;
      if (dtype == RED_F64)
        prepare<double>(array_bytes / 8);
      else if (dtype == RED_F32)
        prepare<float>(array_bytes / 4);
      std::string what = std::string(red_op_name(op)) + " " + red_dtype_name(dtype);
      row(what.c_str(), n, time_of(op, dtype, n, 0, 0), double(bytes), cub_sum(bytes), 0);
    }
}

/* Inputs that are not aligned to each other, as those of an autocorrelation, or to anything. */
void bench_apart() {
  heading("an input one element behind a boundary");
  for (red_op op : {RED_SUM, RED_MEAN, RED_ASUM})
    for (red_dtype dtype : {RED_F16, RED_BF16}) {
      size_t bytes = size_t(1) << 30, n = bytes / red_dtype_bytes(dtype);
      std::string what = std::string(red_op_name(op)) + " " + red_dtype_name(dtype);
      row(what.c_str(), n, time_of(op, dtype, n, 1, 0), double(bytes), cub_sum(bytes), 0);
    }
  heading("dot: the inputs one element, then 256 bytes apart");
  for (red_dtype dtype : {RED_F32, RED_F64, RED_F16, RED_BF16, RED_I8, RED_I16, RED_I32, RED_I64})
    for (size_t shift : {1, 0}) {
      size_t bytes = size_t(1) << 30, n = bytes / 2 / red_dtype_bytes(dtype);
      std::string what = std::string("dot ") + red_dtype_name(dtype) + (shift ? ", one apart" : "");
      row(what.c_str(), n, time_of(RED_DOT, dtype, n, 0, shift), double(bytes), cub_sum(bytes), 0);
    }
}

void bench_host() {
  size_t bytes = size_t(512) << 20, n = bytes / 4;
  char *pinned, *pageable = static_cast<char *>(std::malloc(2 * bytes));
  CUDA_OK(cudaMallocHost(&pinned, 2 * bytes));
  std::memset(pinned, 0, 2 * bytes);
  std::memset(pageable, 0, 2 * bytes);
  std::printf("\ndot of two arrays of 512 MB of f32 in host memory: GB/s\n");
  auto report = [&](const char *what, const void *x, const void *y) {
    float dot;
    double us = measure_host([&] { RED_DO(red_dot(bench.context, RED_F32, x, y, n, &dot)); }, 5);
    std::printf("%-34s %9.1f\n", what, 2.0 * double(bytes) / us * 1e-3);
  };
  report("both pinned", pinned, pinned + bytes);
  report("both pageable", pageable, pageable + bytes);
  report("one pinned, one pageable", pinned, pageable);
  CUDA_OK(cudaFreeHost(pinned));
  std::free(pageable);
}

} // namespace

int main(int argc, char **argv) {
  auto wanted = [&](const char *name) {
    for (int i = 1; i < argc; i++)
      if (std::strcmp(argv[i], name) == 0) return true;
    return argc == 1;
  };
  begin_benchmark();
  for (red_op op : {RED_SUM, RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2, RED_MEAN})
    if (wanted(red_op_name(op))) bench_operator(op);
  if (wanted("apart")) bench_apart();
  if (wanted("host")) bench_host();
  end_benchmark();
  return 0;
}
