/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs that test the device headers share: the orders that those state, computed on the host. */
#ifndef RED_TESTS_CUDA_PRIMITIVES_CUH
#define RED_TESTS_CUDA_PRIMITIVES_CUH

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

int failures, checks;

template <class T> void expect_same(const char *what, unsigned threads, const std::vector<T> &want, const T *got) {
  checks++;
  for (size_t i = 0; i < want.size(); i++)
    if (std::memcmp(&want[i], &got[i], sizeof(T)) != 0) {
      if (failures++ < 20) std::printf("FAIL %s, %u threads: thread %zu differs\n", what, threads, i);
      return;
    }
}

/* ---- The stated orders
 * ------------------------------------------------------------------------------------------------- */

template <class T, class Op> T reduced(std::vector<T> a, Op op) {
  for (size_t h = 16; h > 0; h /= 2)
    for (size_t l = 0; l < h && l + h < a.size(); l++) a[l] = op(a[l], a[l + h]);
  return a[0];
}

template <class T, class Op> T reduced_pairs(std::vector<T> a, Op op) {
  for (size_t h = 1; h < 32; h *= 2)
    for (size_t l = 0; l + h < a.size(); l += 2 * h) a[l] = op(a[l], a[l + h]);
  return a[0];
}

template <class T, class Op> std::vector<T> scanned(std::vector<T> a, Op op) {
  for (size_t d = 1; d < 32; d *= 2) {
    std::vector<T> old = a;
    for (size_t l = d; l < a.size(); l++) a[l] = op(old[l - d], old[l]);
  }
  return a;
}

template <class T> std::vector<T> warp_of(const std::vector<T> &a, size_t warp) {
  size_t end = std::min(a.size(), warp * 32 + 32);
  return std::vector<T>(a.begin() + warp * 32, a.begin() + end);
}

template <class T, class Op> T block_reduced(const std::vector<T> &a, Op op) {
  std::vector<T> warps;
  for (size_t w = 0; w * 32 < a.size(); w++) warps.push_back(reduced(warp_of(a, w), op));
  return reduced(warps, op);
}

template <class T, class Op> std::vector<T> block_scanned(const std::vector<T> &a, Op op) {
  std::vector<T> result;
  T before = T();
  for (size_t w = 0; w * 32 < a.size(); w++) {
    std::vector<T> part = scanned(warp_of(a, w), op);
    T total = part.back();
    for (T &x : part) x = w == 0 ? x : op(before, x);
    before = w == 0 ? total : op(before, total);
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

/* ---- Programs --------------------------------------------------------------------------------------------------- */

void check_kernel(const char *what, void (*kernel)(unsigned *), unsigned threads = 32) {
  unsigned *wrong;
  cudaMallocHost(&wrong, sizeof *wrong);
  *wrong = 0;
  kernel<<<1, threads>>>(wrong);
  checks++;
  if (cudaDeviceSynchronize() != cudaSuccess || *wrong != 0) {
    std::printf("FAIL %s: %u lanes\n", what, *wrong);
    failures++;
  }
  cudaFreeHost(wrong);
}

float number(unsigned i) {
  uint32_t x = i * 2654435761u + 12345u;
  x ^= x >> 15;
  return (static_cast<float>(x & 0xffffff) - 8388608.0f) / 1000.0f;
}

/* The exit status of a program; 77 where there is no device. */
int no_device() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return 0;
  std::printf("skipped: %s\n", cudaGetErrorString(error));
  return 77;
}

int finish(const char *program) {
  std::printf("%s: %d of %d checks failed\n", program, failures, checks);
  return failures != 0;
}

} // namespace

#endif
