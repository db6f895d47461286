/* SPDX-License-Identifier: BSD-2-Clause */
/* The public device headers as kernels of their own, against the orders that they state, computed on the host. */
#include <functional>

#include <red/device/cuda/block.cuh>

#include "primitives.cuh"

namespace {

/* ---- Operators on both sides
 * -------------------------------------------------------------------------------------------- */

struct AddHost {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
struct XorHost {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};

/* Associative, not commutative: the composition of x -> a x + b. Shows whether left and right are kept. */
struct Affine {
  uint32_t a, b;
};
struct Compose {
  __host__ __device__ Affine operator()(Affine f, Affine g) const { return {f.a * g.a, f.b * g.a + g.b}; }
};

/* ---- Kernels
 * -------------------------------------------------------------------------------------------------------------- */

enum Which {
  WARP_REDUCE,
  WARP_PAIRS,
  WARP_INCLUSIVE,
  WARP_EXCLUSIVE,
  BLOCK_REDUCE,
  BLOCK_ALL,
  BLOCK_INCLUSIVE,
  BLOCK_EXCLUSIVE
};

template <class T, class Op> __global__ void run(Which which, const T *in, T *out, T identity, T *total) {
  __shared__ red::BlockScratch<T> scratch;
  unsigned t = threadIdx.x, rest = blockDim.x - (t & ~31u), lanes = rest < 32 ? rest : 32;
  T x = in[t];
  switch (which) {
  case WARP_REDUCE:
    x = red::warp_reduce(x, Op(), lanes);
    break;
  case WARP_PAIRS:
    x = red::warp_reduce_pairs(x, Op(), lanes);
    break;
  case WARP_INCLUSIVE:
    x = red::warp_inclusive_scan(x, Op(), lanes);
    break;
  case WARP_EXCLUSIVE:
    x = red::warp_exclusive_scan(x, Op(), identity, lanes);
    break;
  case BLOCK_REDUCE:
    x = red::block_reduce(x, Op(), scratch);
    break;
  case BLOCK_ALL:
    x = red::block_reduce_all(x, Op(), scratch);
    break;
  case BLOCK_INCLUSIVE:
    x = red::block_inclusive_scan(x, Op(), scratch);
    break;
  case BLOCK_EXCLUSIVE: {
    T whole;
    x = red::block_exclusive_scan(x, Op(), identity, scratch, &whole);
    total[t] = whole;
    break;
  }
  }
  out[t] = x;
}

template <class T> struct Arrays {
  T *in, *out, *total;
  Arrays() {
    cudaMallocHost(&in, 1024 * sizeof(T));
    cudaMallocHost(&out, 1024 * sizeof(T));
    cudaMallocHost(&total, 1024 * sizeof(T));
  }
  ~Arrays() {
    cudaFreeHost(in);
    cudaFreeHost(out);
    cudaFreeHost(total);
  }
};

template <class T> std::vector<T> shifted(const std::vector<T> &inclusive, T identity, size_t unit) {
  std::vector<T> result(inclusive.size());
  for (size_t i = 0; i < inclusive.size(); i++) result[i] = i % unit == 0 ? identity : inclusive[i - 1];
  return result;
}

template <class T, class Op, class HostOp>
void check_all(const char *name, HostOp op, T identity, const std::function<T(unsigned)> &value, bool commutes = true) {
  Arrays<T> arrays;
  auto launch = [&](Which which, unsigned threads) {
    run<T, Op><<<1, threads>>>(which, arrays.in, arrays.out, identity, arrays.total);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
      std::printf("FAIL %s: %s\n", name, cudaGetErrorString(error));
      failures++;
    }
  };
  for (unsigned threads :
       {1u, 2u, 3u, 31u, 32u, 33u, 63u, 64u, 95u, 96u, 128u, 255u, 256u, 500u, 512u, 1000u, 1023u, 1024u}) {
    std::vector<T> a(threads);
    for (unsigned i = 0; i < threads; i++) arrays.in[i] = a[i] = value(i * 7 + threads);
    std::vector<T> inclusive;
    for (size_t w = 0; w * 32 < threads; w++) {
      std::vector<T> part = scanned(warp_of(a, w), op);
      inclusive.insert(inclusive.end(), part.begin(), part.end());
    }
    auto check_warps = [&](const char *what, bool pairs) {
      for (size_t w = 0; w * 32 < threads; w++) {
        std::vector<T> one = {pairs ? reduced_pairs(warp_of(a, w), op) : reduced(warp_of(a, w), op)};
        expect_same(what, threads, one, arrays.out + w * 32);
      }
    };
    if (commutes) {
      launch(WARP_REDUCE, threads);
      check_warps(name, false);
      launch(BLOCK_REDUCE, threads);
      std::vector<T> whole = {block_reduced(a, op)};
      expect_same(name, threads, whole, arrays.out);
      launch(BLOCK_ALL, threads);
      expect_same(name, threads, std::vector<T>(threads, whole[0]), arrays.out);
    }
    launch(WARP_PAIRS, threads);
    check_warps(name, true);
    launch(WARP_INCLUSIVE, threads);
    expect_same(name, threads, inclusive, arrays.out);
    launch(WARP_EXCLUSIVE, threads);
    expect_same(name, threads, shifted(inclusive, identity, 32), arrays.out);
    std::vector<T> block = block_scanned(a, op);
    launch(BLOCK_INCLUSIVE, threads);
    expect_same(name, threads, block, arrays.out);
    launch(BLOCK_EXCLUSIVE, threads);
    expect_same(name, threads, shifted(block, identity, 1024), arrays.out);
    expect_same(name, threads, std::vector<T>(threads, block.back()), arrays.total);
  }
}

/* ---- Shuffles and the operators' corners
 * ------------------------------------------------------------------------------------ */

struct Wide {
  double x;
  uint16_t y;
};

__global__ void shuffles(unsigned *wrong) {
  unsigned lane = red::lane_index();
  Wide mine = {lane + 0.5, static_cast<uint16_t>(lane * 3)};
  Wide all = red::warp_broadcast(mine, 7), other = red::warp_xor(mine, 5), down = red::warp_down(mine, 3),
       up = red::warp_up(mine, 4);
  bool right = all.x == 7.5 && all.y == 21 && other.x == (lane ^ 5) + 0.5 && other.y == (lane ^ 5) * 3;
  if (lane + 3 < 32) right = right && down.x == lane + 3.5 && down.y == (lane + 3) * 3;
  if (lane >= 4) right = right && up.x == lane - 3.5 && up.y == (lane - 4) * 3;
  if (lane < 4) right = right && up.x == lane + 0.5; /* keeps its own */
  if (!right) atomicAdd(wrong, 1u);
}

__global__ void corners(unsigned *wrong) {
  const float nan = __uint_as_float(0x7fc00000u), inf = __uint_as_float(0x7f800000u);
  bool right = __float_as_uint(red::Min()(0.0f, -0.0f)) == 0x80000000u;
  right = right && __float_as_uint(red::Min()(-0.0f, 0.0f)) == 0x80000000u;
  right = right && __float_as_uint(red::Max()(-0.0f, 0.0f)) == 0u && __float_as_uint(red::Max()(0.0f, -0.0f)) == 0u;
  right = right && red::Min()(nan, 1.0f) != red::Min()(nan, 1.0f) && red::Max()(1.0f, nan) != red::Max()(1.0f, nan);
  right = right && red::MinNum()(nan, 1.0f) == 1.0f && red::MaxNum()(1.0f, nan) == 1.0f;
  right = right && red::Min()(inf, -inf) == -inf && red::MaxNum()(inf, -inf) == inf;
  right = right && red::Min()(-3, 2) == -3 && red::Max()(3u, 2u) == 3u && red::And()(6, 3) == 2 && red::Or()(6, 3) == 7;
  right = right && red::Prod()(static_cast<uint8_t>(16), static_cast<uint8_t>(17)) == 16;
  if (!right) atomicAdd(wrong, 1u);
}

/*
 * What the compiler cannot know: bits that come from memory. Which NaN wins, signed zeros, numbers below normal ones.
 */
__device__ unsigned bits_of(float x) {
  return __float_as_uint(x);
}

__device__ volatile unsigned words[] = {0x7fc00001u, 0xffc00002u, 0x80000000u, 0u, 1u, 0x80000001u};

__global__ void extremes_of_memory(unsigned *wrong) {
  float x[6];
  double zero[2];
  for (int i = 0; i < 6; i++) x[i] = __uint_as_float(words[i]);
  for (int i = 0; i < 2; i++) zero[i] = __hiloint2double(static_cast<int>(words[2 + i]), 0);
  bool right = bits_of(red::Max()(x[0], x[1])) == words[0] && bits_of(red::Min()(x[1], x[0])) == words[1];
  right = right && bits_of(red::Max()(x[4], x[1])) == words[1] && bits_of(red::Min()(x[0], x[4])) == words[0];
  right = right && bits_of(red::MaxNum()(x[4], x[1])) == words[4] && bits_of(red::MinNum()(x[0], x[4])) == words[4];
  right = right && bits_of(red::Max()(x[2], x[3])) == 0 && bits_of(red::Min()(x[3], x[2])) == words[2];
  right = right && bits_of(red::Max()(x[4], x[3])) == 1 && bits_of(red::Min()(x[5], x[2])) == words[5];
  right =
      right && __double2hiint(red::Max()(zero[0], zero[1])) == 0 && __double2hiint(red::Min()(zero[1], zero[0])) < 0;
  if (!right) atomicAdd(wrong, 1u);
}

} // namespace

int main() {
  if (no_device() != 0) return no_device();
  check_kernel("shuffles", shuffles);
  check_kernel("corners", corners);
  check_kernel("extremes of memory", extremes_of_memory);
  check_all<float, red::Sum>("float", AddHost(), 0.0f, number);
  check_all<double, red::Sum>("double", AddHost(), 0.0, [](unsigned i) { return number(i) / 7.0; });
  check_all<uint64_t, red::Xor>("uint64_t", XorHost(), 0, [](unsigned i) { return i * 0x9e3779b97f4a7c15ull; });
  check_all<int, red::Max>(
      "int max", [](int a, int b) { return a > b ? a : b; }, INT32_MIN,
      [](unsigned i) { return static_cast<int>(i * 2654435761u); });
  check_all<float, red::Min>(
      "float min", [](float a, float b) { return b < a ? b : a; }, number(1), number);
  check_all<Affine, Compose>(
      "affine", Compose(), Affine{1, 0},
      [](unsigned i) {
        return Affine{i * 2 + 1, i * 2654435761u};
      },
      false);
  return finish("primitives");
}
