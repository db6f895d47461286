/* SPDX-License-Identifier: BSD-2-Clause */
/* A producer, libred's stream and a consumer, ordered by events alone: the consumer's copy must hold the sum. */
#include <red/red.h>
#include <stdio.h>

__global__ void fill(float *x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.5f;
}

static float *x, *sum;
static cudaStream_t stream, producer, consumer;
static cudaEvent_t ready, done;
static red_plan *plan;
static red_queue *queue;

static int example(void) {
  /* BLOCK */
  return 0;
}

int main(void) {
  const unsigned n = 1 << 24;
  float result = 0;
  red_context *context;
  red_context_options options = {sizeof options, "cuda"};
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, n);
  problem.in_memory = problem.out_memory = RED_DEVICE;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking);
  cudaEventCreate(&ready);
  cudaEventCreate(&done);
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&sum, sizeof *sum);
  if (red_context_create(&options, &context) || red_queue_wrap(context, stream, &queue) ||
      red_plan_create(context, &problem, &plan)) {
    printf("%s\n", red_last_error());
    return 1;
  }
  fill<<<n / 256, 256, 0, producer>>>(x, n);
  if (example()) return 1;
  cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDeviceToHost, consumer);
  if (cudaStreamSynchronize(consumer) != cudaSuccess) return 1;
  red_plan_destroy(plan);
  red_queue_destroy(queue);
  red_context_destroy(context);
  return result != n / 2;
}
