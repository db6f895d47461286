/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the manual's row_sums and compares with sums of small integers, which are exact in any order. */
#include <cstdio>
#include <vector>

/* BLOCK */

int main() {
  const unsigned rows = 50, columns = 777;
  std::vector<float> in(rows * columns), out(rows);
  for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<float>(i * 37 % 101);
  float *from, *to;
  cudaMalloc(&from, in.size() * sizeof(float));
  cudaMalloc(&to, rows * sizeof(float));
  cudaMemcpy(from, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  row_sums<<<rows, 200>>>(from, to, columns);
  if (cudaMemcpy(out.data(), to, rows * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (unsigned r = 0; r < rows; r++) {
    unsigned sum = 0;
    for (unsigned c = 0; c < columns; c++) sum += (r * columns + c) * 37 % 101;
    if (out[r] != static_cast<float>(sum)) return std::printf("row %u: %g, not %u\n", r, out[r], sum), 1;
  }
  return 0;
}
