/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public device headers on part of a warp, its first lanes or any, on blocks of sizes known at compile time, and on
 * floats of 16 bits, as kernels of their own.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <red/device/cuda/block.cuh>

#include "primitives.cuh"

namespace {

/* Associative, not commutative, with words enough to be moved in pieces: shows whether left and right are kept. */
struct Affine {
  uint32_t a, b, c;
};
struct Compose {
  __host__ __device__ Affine operator()(Affine f, Affine g) const { return {f.a * g.a, f.b * g.a + g.b, f.c ^ g.c}; }
};
struct Add {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

/* ---- Any members of a warp ---- */

enum Which {
  REDUCE,
  PAIRS,
  INCLUSIVE,
  EXCLUSIVE,
  FETCH
};

/* Every warp of a block has a mask of its own; other lanes do something else. */
template <class T, class Op> __global__ void run(Which which, const unsigned *masks, const T *in, T *out, T identity) {
  unsigned t = threadIdx.x, lane = red::lane_index(), mask = masks[t / 32];
  T x = in[t];
  if ((mask >> lane & 1) == 0) {
    out[t] = identity;
    return;
  }
  switch (which) {
  case REDUCE:
    x = red::warp_reduce_masked(x, Op(), mask);
    break;
  case PAIRS:
    x = red::warp_reduce_pairs_masked(x, Op(), mask);
    break;
  case INCLUSIVE:
    x = red::warp_inclusive_scan_masked(x, Op(), mask);
    break;
  case EXCLUSIVE:
    x = red::warp_exclusive_scan_masked(x, Op(), identity, mask);
    break;
  case FETCH: /* from the last member */
    x = red::warp_fetch_masked(x, 31 - static_cast<unsigned>(__clz(static_cast<int>(mask))), mask);
    break;
  }
  out[t] = x;
}

constexpr unsigned THREADS = 1024;

template <class T> struct Shared {
  T *data;
  explicit Shared(size_t count) { cudaMallocHost(&data, count * sizeof(T)); }
  ~Shared() { cudaFreeHost(data); }
};

void synchronize(const char *what) {
  cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) return;
  std::printf("FAIL %s: %s\n", what, cudaGetErrorString(error));
  failures++;
}

/* What a warp's members get, the first `results` of them, those of each warp after the other. */
template <class T>
void expect_members(const char *what, const unsigned *masks, const T *out, const std::vector<std::vector<T>> &want) {
  for (unsigned w = 0; w < THREADS / 32; w++) {
    std::vector<T> got;
    for (unsigned l = 0; l < 32 && got.size() < want[w].size(); l++)
      if (masks[w] >> l & 1) got.push_back(out[w * 32 + l]);
    expect_same(what, masks[w], want[w], got.data());
  }
}

template <class T, class Op, class Value>
void check_masks(const char *name, T identity, Value value, bool commutes, uint32_t seed) {
  Shared<T> in(THREADS), out(THREADS);
  Shared<unsigned> masks(THREADS / 32);
  std::vector<std::vector<T>> members(THREADS / 32), want(THREADS / 32);
  for (unsigned w = 0; w < THREADS / 32; w++) {
    seed = seed * 1664525 + 1013904223;
    uint32_t sparse = seed >> 7 & seed >> 3;
    masks.data[w] = w == 0 ? 1u << 31 : w == 1 ? ~0u : w == 2 ? 0xaaaaaaaau : w % 2 ? seed | 16 : sparse | 1u << w;
  }
  for (unsigned t = 0; t < THREADS; t++) {
    in.data[t] = value(t * 3 + seed);
    if (masks.data[t / 32] >> t % 32 & 1) members[t / 32].push_back(in.data[t]);
  }
  auto check = [&](Which which) {
    run<T, Op><<<1, THREADS>>>(which, masks.data, in.data, out.data, identity);
    synchronize(name);
    expect_members(name, masks.data, out.data, want);
    for (unsigned t = 0; t < THREADS; t++)
      if ((masks.data[t / 32] >> t % 32 & 1) == 0) expect_same(name, t, std::vector<T>{identity}, &out.data[t]);
  };
  auto expect = [&](auto result) {
    for (unsigned w = 0; w < THREADS / 32; w++) want[w] = result(members[w]);
  };
  expect([](const std::vector<T> &m) { return std::vector<T>{reduced(m, Op())}; });
  if (commutes) check(REDUCE);
  expect([](const std::vector<T> &m) { return std::vector<T>{reduced_pairs(m, Op())}; });
  check(PAIRS);
  expect([](const std::vector<T> &m) { return scanned(m, Op()); });
  check(INCLUSIVE);
  expect([&](const std::vector<T> &m) {
    std::vector<T> result = scanned(m, Op());
    result.insert(result.begin(), identity);
    result.pop_back();
    return result;
  });
  check(EXCLUSIVE);
  expect([](const std::vector<T> &m) { return std::vector<T>(m.size(), m.back()); });
  check(FETCH);
}

/* ---- The first lanes of a warp ---- */

__global__ void partial_shuffles(unsigned *wrong) {
  unsigned lane = threadIdx.x;
  for (unsigned lanes = 1; lanes <= 32; lanes++) {
    if (lane >= lanes) continue;
    double mine = lane + 0.25;
    bool right = red::warp_broadcast(mine, lanes - 1, lanes) == lanes - 0.75;
    unsigned bits = lanes >= 16 ? 8 : lanes >= 8 ? 4 : lanes >= 4 ? 2 : lanes >= 2 ? 1 : 0, even = bits * 2;
    if (lane < even) { /* pairs whose halves are both there */
      right = right && red::warp_xor(mine, bits, even) == (lane ^ bits) + 0.25;
    }
    double up = red::warp_up(mine, 1, lanes), down = red::warp_down(mine, 1, lanes);
    right = right && up == (lane > 0 ? lane - 0.75 : mine);
    if (lane + 1 < lanes) right = right && down == lane + 1.25;
    if (!right) atomicAdd(wrong, 1u);
  }
}

/* ---- Sizes known at compile time ---- */

template <unsigned Threads> __global__ void fixed_size(const float *in, float *out, float identity) {
  __shared__ red::BlockScratch<float> scratch;
  unsigned t = threadIdx.x;
  float whole, x = red::block_reduce<Threads>(in[t], red::Sum(), scratch);
  if (t == 0) out[0] = x;
  __syncthreads();
  out[Threads + t] = red::block_reduce_all<Threads>(in[t], red::Sum(), scratch);
  __syncthreads();
  out[2 * Threads + t] = red::block_inclusive_scan<Threads>(in[t], red::Sum(), scratch);
  __syncthreads();
  out[3 * Threads + t] = red::block_exclusive_scan<Threads>(in[t], red::Sum(), identity, scratch, &whole);
  out[4 * Threads + t] = whole;
}

template <unsigned Threads> void check_fixed() {
  Shared<float> in(Threads), out(5 * Threads);
  std::vector<float> a(Threads);
  for (unsigned i = 0; i < Threads; i++) in.data[i] = a[i] = number(i * 5 + Threads);
  fixed_size<Threads><<<1, Threads>>>(in.data, out.data, 7.0f);
  synchronize("a fixed size");
  float whole = block_reduced(a, Add());
  std::vector<float> inclusive = block_scanned(a, Add()), exclusive = inclusive;
  exclusive.insert(exclusive.begin(), 7.0f);
  exclusive.pop_back();
  expect_same("block_reduce of a fixed size", Threads, std::vector<float>{whole}, out.data);
  expect_same("block_reduce_all of a fixed size", Threads, std::vector<float>(Threads, whole), out.data + Threads);
  expect_same("block_inclusive_scan of a fixed size", Threads, inclusive, out.data + 2 * Threads);
  expect_same("block_exclusive_scan of a fixed size", Threads, exclusive, out.data + 3 * Threads);
  expect_same("total of a fixed size", Threads, std::vector<float>(Threads, inclusive.back()), out.data + 4 * Threads);
}

/* ---- Floats of 16 bits: bits that come from memory ---- */

struct Half {
  typedef __half type;
  static constexpr unsigned short one = 0x3c00, two = 0x4000, inf = 0x7c00, nan = 0x7e01;
};
struct Bfloat {
  typedef __nv_bfloat16 type;
  static constexpr unsigned short one = 0x3f80, two = 0x4000, inf = 0x7f80, nan = 0x7fc1;
};

/* IEEE 754-2019 on bits: -0 < +0, and of two NaNs the left one. */
__host__ __device__ bool is_nan_of(unsigned short bits, unsigned short inf) {
  return (bits & 0x7fff) > inf;
}
__host__ __device__ int key_of(unsigned short bits) {
  return (bits & 0x8000) != 0 ? -1 - (bits & 0x7fff) : bits;
}
__host__ __device__ unsigned short extreme(unsigned short a, unsigned short b, unsigned short inf, bool least,
                                           bool skip) {
  if (is_nan_of(a, inf)) return skip ? b : a;
  if (is_nan_of(b, inf)) return skip ? a : b;
  return (key_of(a) < key_of(b)) == least ? a : b;
}

template <class Float> __global__ void extremes(unsigned *wrong) {
  const unsigned short words[] = {0,
                                  0x8000,
                                  1,
                                  0x8001,
                                  Float::one,
                                  Float::one | 0x8000,
                                  Float::two,
                                  Float::inf,
                                  Float::nan,
                                  Float::inf | 0x8000,
                                  Float::nan | 0x8003,
                                  0x8123};
  const unsigned count = sizeof words / sizeof words[0];
  for (unsigned i = threadIdx.x; i < count * count; i += 32) {
    unsigned short x = words[i / count], y = words[i % count], got[4];
    typename Float::type a, b, c;
    memcpy(&a, &x, 2);
    memcpy(&b, &y, 2);
    memcpy(&got[0], &(c = red::Min()(a, b)), 2);
    memcpy(&got[1], &(c = red::Max()(a, b)), 2);
    memcpy(&got[2], &(c = red::MinNum()(a, b)), 2);
    memcpy(&got[3], &(c = red::MaxNum()(a, b)), 2);
    const bool both = is_nan_of(x, Float::inf) && is_nan_of(y, Float::inf);
    for (unsigned k = 0; k < 4; k++)
      if (both && k >= 2 ? got[k] != x && got[k] != y : got[k] != extreme(x, y, Float::inf, k % 2 == 0, k >= 2))
        atomicAdd(wrong, 1u);
  }
}

/* A minimum of a block that has one NaN, and a maximum over members. */
template <class Float> __global__ void reductions(unsigned *wrong) {
  typedef typename Float::type type;
  __shared__ red::BlockScratch<type> scratch;
  unsigned short bits = threadIdx.x == 77 ? Float::nan : Float::one;
  type x;
  memcpy(&x, &bits, 2);
  x = red::block_reduce_all(x, red::Min(), scratch);
  memcpy(&bits, &x, 2);
  if (bits != Float::nan) atomicAdd(wrong, 1u);
  unsigned mask = __ballot_sync(0xffffffffu, threadIdx.x % 3 == 0);
  if (threadIdx.x % 3 != 0) return;
  bits = threadIdx.x % 32 < 20 ? 0x8000 : 0;
  memcpy(&x, &bits, 2);
  x = red::warp_reduce_masked(x, red::Max(), mask);
  memcpy(&bits, &x, 2);
  if (red::lane_rank(mask) == 0 && bits != 0) atomicAdd(wrong, 1u);
}

/* An operator's elements need no more than < and a copy. */
struct Key {
  int key, place;
  __device__ bool operator<(const Key &other) const { return key < other.key; }
};

__global__ void ties(unsigned *wrong) {
  Key a = {3, 1}, b = {3, 2}, c = {2, 3};
  bool right = red::Min()(a, b).place == 1 && red::Max()(a, b).place == 1 && red::Min()(a, c).place == 3;
  if (!right || red::MaxNum()(c, b).place != 2) atomicAdd(wrong, 1u);
}

} // namespace

int main() {
  if (no_device() != 0) return no_device();
  for (uint32_t seed = 1; seed <= 5; seed++) {
    check_masks<float, Add>(
        "float, masks", 0.0f, [](unsigned i) { return number(i); }, true, seed * 77);
    check_masks<Affine, Compose>(
        "affine, masks", Affine{1, 0, 0},
        [](unsigned i) {
          return Affine{i * 2 + 1, i * 2654435761u, i};
        },
        false, seed * 99);
  }
  check_kernel("shuffles of the first lanes", partial_shuffles);
  check_fixed<32>();
  check_fixed<96>();
  check_fixed<256>();
  check_fixed<1024>();
  check_fixed<20>();
  check_fixed<250>();
  check_fixed<1000>();
  check_fixed<993>();
  check_kernel("extremes of __half", extremes<Half>);
  check_kernel("extremes of __nv_bfloat16", extremes<Bfloat>);
  check_kernel("reductions of __half", reductions<Half>, 128);
  check_kernel("reductions of __nv_bfloat16", reductions<Bfloat>, 128);
  check_kernel("ties", ties);
  return finish("members");
}
