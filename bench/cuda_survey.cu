/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every reduction that the CUDA backend has, of 1 GiB (dot: of twice half of it), beside the time in which a kernel
 * reads as much: each operator, input and accumulator.
 *
 *   cuda_survey [reductions] [floats] [shifted] [bounds] [scans] [list]     reductions to scans without one of them
 *
 * `floats`: reductions of floats alone. What is shown: each that takes more than the roofline over 0.9, and how
 * many others there are and the worst of them; with `list`, everything. `shifted`: inputs that begin one element behind
 * a boundary. `bounds`: as the host sees it, where the result goes, over the time of the same without a bound. `scans`:
 * of floats, over the time of a copy.
 */
#include "cuda_measure.cuh"

namespace {

constexpr size_t survey_bytes = size_t(1) << 30, second_at = array_bytes / 2;
constexpr double enough = 0.9;

double roofline;
bool list_all;

/* ---- The roofline ---- */

__global__ void read_all(const uint4 *in, uint32_t *out) {
  constexpr int depth = 8;
  const uint4 *at = in + static_cast<size_t>(blockIdx.x) * blockDim.x * depth + threadIdx.x;
  uint4 word[depth];
#pragma unroll
  for (int i = 0; i < depth; i++) word[i] = __ldg(at + i * blockDim.x);
  uint32_t all = 0;
#pragma unroll
  for (int i = 0; i < depth; i++) all ^= word[i].x ^ word[i].y ^ word[i].z ^ word[i].w;
  if (all == 0x12345678u) *out = all; /* never, about: or nothing would be loaded */
}

double read_time() {
  constexpr unsigned threads = 256;
  return measure([&] {
    read_all<<<survey_bytes / (threads * 8 * sizeof(uint4)), threads, 0, bench.stream>>>(
        reinterpret_cast<const uint4 *>(bench.in), reinterpret_cast<uint32_t *>(bench.out));
  });
}

/* ---- Problems ---- */

/* 16-bit floats of either format below 1 in magnitude: random digits below those of `one`. */
__global__ void fill_halves(uint16_t *array, size_t n, uint32_t one) {
  size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride)
    array[i] = static_cast<uint16_t>(scramble(i) % one | (scramble(i) >> 31) << 15);
}

bool is_float(red_dtype dtype) {
  return dtype >= RED_F16;
}

void prepare(red_dtype dtype) {
  if (dtype == RED_F64)
    prepare<double>(array_bytes / 8);
  else if (dtype == RED_F32)
    prepare<float>(array_bytes / 4);
  else if (!is_float(dtype))
    prepare<uint32_t>(array_bytes / 4);
  else
    fill_halves<<<2048, 256, 0, bench.stream>>>(reinterpret_cast<uint16_t *>(bench.in), array_bytes / 2,
                                                dtype == RED_F16 ? 0x3c00u : 0x3f80u);
  CUDA_OK(cudaStreamSynchronize(bench.stream));
}

std::string name_of(const red_problem &problem) {
  std::string name = std::string(red_op_name(problem.op)) + " " + red_dtype_name(problem.in);
  if (problem.acc != RED_DTYPE_DEFAULT) name += std::string("/") + red_dtype_name(problem.acc);
  return name;
}

/* Negative: there is no such thing. */
double time_of(const red_problem &problem, size_t shift, bool host) {
  red_plan *plan;
  if (red_plan_create(bench.context, &problem, &plan) != RED_OK) return -1;
  size_t bytes = red_dtype_bytes(problem.in);
  red_bounded result;
  red_args args = {};
  args.size = sizeof args;
  args.in = bench.in + shift * bytes;
  args.in2 = problem.op == RED_DOT ? bench.in + second_at + shift * bytes : nullptr;
  args.out = host ? static_cast<void *>(&result) : bench.out;
  double us = measure([&] { RED_DO(red_plan_execute_args(plan, bench.queue, &args)); });
  red_plan_destroy(plan);
  return us;
}

/* Calls `use` with every operator, input and accumulator; the default one is no more than one of them. */
template <class Use> void for_all(red_kind kind, const std::vector<red_dtype> &inputs, Use use) {
  for (red_dtype in : inputs) {
    prepare(in);
    for (unsigned op = 1; op < RED_OP_COUNT; op++)
      for (unsigned acc = 0; acc < RED_DTYPE_COUNT; acc++) {
        red_problem problem = RED_PROBLEM_INIT(kind, static_cast<red_op>(op), in, survey_bytes / red_dtype_bytes(in));
        if (op == RED_DOT) problem.n /= 2;
        red_problem resolved = problem;
        if (red_problem_resolve(&resolved) != RED_OK || resolved.acc == static_cast<red_dtype>(acc)) continue;
        problem.acc = static_cast<red_dtype>(acc);
        problem.in_memory = problem.out_memory = RED_DEVICE;
        resolved = problem;
        if (red_problem_resolve(&resolved) == RED_OK) use(problem);
      }
  }
}

const std::vector<red_dtype> floats = {RED_F16, RED_BF16, RED_F32, RED_F64};
const std::vector<red_dtype> dtypes = {RED_I8,  RED_U8,  RED_I16, RED_U16,  RED_I32, RED_U32,
                                       RED_I64, RED_U64, RED_F16, RED_BF16, RED_F32, RED_F64};

/* ---- Tables ---- */

struct Worst {
  double ratio = 2;
  std::string name;
  int count = 0;
};

Worst worst; /* of those that are good enough */

void begin_table(const char *title) {
  std::printf("\n%s\n", title);
  worst = Worst();
}

void report(const std::string &name, double us, double best) {
  double ratio = best / us;
  if (list_all || ratio < enough) std::printf("%-24s %9.1f us %6.3f\n", name.c_str(), us, ratio);
  if (ratio < enough) return;
  worst.count++;
  if (ratio < worst.ratio) {
    worst.ratio = ratio;
    worst.name = name;
  }
}

void end_table() {
  std::printf("%d others at %.3f (%s) and above\n", worst.count, worst.ratio, worst.name.c_str());
  std::fflush(stdout);
}

void survey_reductions(const std::vector<red_dtype> &inputs, size_t shift) {
  begin_table(shift > 0 ? "floats, one element behind a boundary" : "reductions");
  for_all(RED_REDUCE, inputs, [&](const red_problem &problem) {
    double us = time_of(problem, shift, false);
    if (us > 0) report(name_of(problem), us, roofline);
  });
  end_table();
}

void survey_bounds() {
  begin_table("with a bound, over without, result on the host");
  for_all(RED_REDUCE, floats, [&](red_problem problem) {
    problem.out_memory = RED_HOST;
    double alone = time_of(problem, 0, true);
    problem.bound = 1;
    red_problem resolved = problem;
    if (red_problem_resolve(&resolved) == RED_OK) report(name_of(problem), time_of(problem, 0, true), alone);
  });
  end_table();
}

void survey_scans() {
  begin_table("inclusive scans of floats, over a copy of as many bytes");
  for_all(RED_INCLUSIVE_SCAN, floats, [&](const red_problem &problem) {
    red_problem resolved = problem;
    RED_DO(red_problem_resolve(&resolved));
    size_t bytes = problem.n * (red_dtype_bytes(resolved.in) + red_dtype_bytes(resolved.out)) / 2;
    double copy =
        measure([&] { CUDA_OK(cudaMemcpyAsync(bench.out, bench.in, bytes, cudaMemcpyDeviceToDevice, bench.stream)); });
    double us = time_of(problem, 0, false);
    if (us > 0) report(name_of(problem), us, copy);
  });
  end_table();
}

} // namespace

int main(int argc, char **argv) {
  int named = 0;
  auto given = [&](const char *name) {
    for (int i = 1; i < argc; i++)
      if (std::strcmp(argv[i], name) == 0) return true;
    return false;
  };
  list_all = given("list");
  for (const char *name : {"reductions", "floats", "shifted", "bounds", "scans"}) named += given(name);
  auto wanted = [&](const char *name) { return named == 0 || given(name); };
  begin_benchmark();
  prepare(RED_F32);
  roofline = read_time();
  const float *in = reinterpret_cast<const float *>(bench.in);
  double cub = cub_time([&](void *t, size_t &b) {
    return cub::DeviceReduce::Sum(t, b, in, reinterpret_cast<float *>(bench.out), int64_t(survey_bytes / 4),
                                  bench.stream);
  });
  std::printf("1 GiB: read in %.1f us, CUB's sum of f32 %.1f us (%.3f)\n", roofline, cub, roofline / cub);
  if (wanted("reductions")) survey_reductions(dtypes, 0);
  if (given("floats")) survey_reductions(floats, 0);
  if (wanted("shifted")) survey_reductions(floats, 1);
  if (wanted("bounds")) survey_bounds();
  if (wanted("scans")) survey_scans();
  end_benchmark();
  return 0;
}
