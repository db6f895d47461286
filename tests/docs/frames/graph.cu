/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan for a sum, ready to be captured; afterwards the result must be there. */
#include <red/red.h>
#include <stdio.h>

__global__ void fill(float *x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.5f;
}

static float *x, *sum;
static cudaStream_t stream;
static red_plan *plan;
static red_queue *queue;

static int example(void) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  /* BLOCK */
  return 0;
}

int main(void) {
  const unsigned n = 1 << 20;
  float result = 0;
  red_context *context;
  red_context_options options = {sizeof options, "cuda"};
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, n);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  cudaStreamCreate(&stream);
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&sum, sizeof *sum);
  fill<<<n / 256, 256, 0, stream>>>(x, n);
  if (red_context_create(&options, &context) || red_queue_wrap(context, stream, &queue) ||
      red_plan_create(context, &problem, &plan) || example()) {
    printf("%s\n", red_last_error());
    return 1;
  }
  if (cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  return result != n / 2;
}
