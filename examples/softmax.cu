/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Softmax of the rows of a matrix, with libred's block primitives in a kernel of your own: a maximum and a sum for each
 * row, the row in registers in between. Build: nvcc -std=c++17 -I include examples/softmax.cu -o softmax
 */
#include <cmath>
#include <cstdio>
#include <vector>

#include <red/device/cuda/block.cuh>

constexpr unsigned threads = 256;

/* One block for each row of up to 4 * threads elements. */
__global__ void __launch_bounds__(threads) softmax(const float *in, float *out, unsigned columns) {
  __shared__ red::BlockScratch<float> scratch;
  const float *row = in + static_cast<size_t>(blockIdx.x) * columns;
  float x[4], greatest = -INFINITY, sum = 0;
#pragma unroll
  for (unsigned i = 0; i < 4; i++) {
    unsigned column = i * threads + threadIdx.x;
    x[i] = column < columns ? row[column] : -INFINITY;
    greatest = red::MaxNum()(greatest, x[i]);
  }
  greatest = red::block_reduce_all<threads>(greatest, red::Max(), scratch);
#pragma unroll
  for (unsigned i = 0; i < 4; i++) {
    x[i] = expf(x[i] - greatest);
    sum += x[i];
  }
  __syncthreads(); /* the scratch is used again */
  sum = red::block_reduce_all<threads>(sum, red::Sum(), scratch);
#pragma unroll
  for (unsigned i = 0; i < 4; i++) {
    unsigned column = i * threads + threadIdx.x;
    if (column < columns) out[static_cast<size_t>(blockIdx.x) * columns + column] = x[i] / sum;
  }
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  const unsigned rows = 1000, columns = 777;
  std::vector<float> in(rows * columns), out(rows * columns);
  for (size_t i = 0; i < in.size(); i++) in[i] = std::sin(static_cast<float>(i)) * 10;
  float *device_in, *device_out;
  size_t bytes = in.size() * sizeof(float);
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice);
  softmax<<<rows, threads>>>(device_in, device_out, columns);
  if (cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
    std::printf("the kernel failed\n");
    return 1;
  }
  double worst = 0;
  for (unsigned r = 0; r < rows; r++) {
    double greatest = -INFINITY, sum = 0;
    for (unsigned c = 0; c < columns; c++) greatest = std::fmax(greatest, in[r * columns + c]);
    for (unsigned c = 0; c < columns; c++) sum += std::exp(in[r * columns + c] - greatest);
    for (unsigned c = 0; c < columns; c++) {
      double want = std::exp(in[r * columns + c] - greatest) / sum;
      worst = std::fmax(worst, std::fabs(out[r * columns + c] - want) / want);
    }
  }
  std::printf("softmax of %u x %u: largest relative error %.2g\n", rows, columns, worst);
  cudaFree(device_in);
  cudaFree(device_out);
  return worst < 2e-6 ? 0 : 1;
}
