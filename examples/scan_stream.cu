/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scan between two kernels of the application, on the application's stream: nothing waits before the end.
 * Build: nvcc -std=c++17 scan_stream.cu $(pkg-config --cflags --libs libred) -o scan_stream
 */
#include <cstdio>
#include <vector>

#include <red/red.hpp>

__global__ void count_up(unsigned *counts, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[i] = i % 3;
}

/* Row i of a ragged array begins at offsets[i] and has i % 3 elements. */
__global__ void fill_rows(const unsigned long long *offsets, unsigned *elements, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (unsigned k = 0; k < i % 3; k++) elements[offsets[i] + k] = i;
}

int main() try {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  const unsigned n = 300000, threads = 256, blocks = (n + threads - 1) / threads;
  unsigned *counts, *elements;
  unsigned long long *offsets;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&counts, n * sizeof *counts);
  cudaMalloc(&offsets, n * sizeof *offsets);
  cudaMalloc(&elements, n * sizeof *elements); /* 0 + 1 + 2 of each three rows */

  const red::context gpu("cuda");
  red_problem problem = red::problem<unsigned, unsigned long long>(RED_EXCLUSIVE_SCAN, RED_SUM, n);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  const red::plan scan(gpu, problem);
  red::queue queue(gpu, stream);

  count_up<<<blocks, threads, 0, stream>>>(counts, n);
  scan.execute(queue, counts, offsets);
  fill_rows<<<blocks, threads, 0, stream>>>(offsets, elements, n);

  std::vector<unsigned> got(n);
  cudaMemcpyAsync(got.data(), elements, n * sizeof *elements, cudaMemcpyDeviceToHost, stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
  for (unsigned i = 0, at = 0; i < n; i++)
    for (unsigned k = 0; k < i % 3; k++)
      if (got[at++] != i) return std::printf("element %u is %u, not %u\n", at - 1, got[at - 1], i), 1;
  std::printf("%u rows filled\n", n);
  cudaFree(counts);
  cudaFree(offsets);
  cudaFree(elements);
  return 0; /* the queue goes before its stream, which the process takes with it */
} catch (const red::error &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
