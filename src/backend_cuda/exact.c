/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact reductions: which kernel, how many blocks and threads, what comes back. kernels/exact.cuh says how they add. */
#include "room.h"

struct red_cuda_exact_kernel {
  red_cuda_kernel kernel;
  unsigned threads; /* of a block, where it has shared memory enough for their columns, */
  unsigned fewer;   /* and of one for a short array */
  unsigned column;  /* bytes of a thread's digits */
  unsigned vectors; /* of each input, that a thread has in flight */
};

/* Bytes of shared memory that a block takes for anything else. */
#define OTHER_SHARED 3072u

/* One block takes what its threads hold in two batches: 7 instead of 9 us at 2^14 numbers of f32. */
#define ALONE_VECTORS 8u

/* Up to here blocks are smaller, with fewer columns to add up at the end: 11.5 instead of 12.0 us at 2^20 of f64. */
#define SHORT_BYTES ((uint64_t)32 << 20)

/*
 * Up to here one block does nothing but collect: 12.1 instead of 12.5 us at 2^20 numbers of f64, 19.1 of 19.7 at 2^22.
 */
#define COLLECTED_BYTES ((uint64_t)128 << 20)

/* More are not proven to fit into a column's highest digit. */
#define MOST_OF_A_THREAD ((uint64_t)1 << 28)

enum {
  BINS = 17 * 8,
  HALVES = 2 * 8,
  NARROW = 34 * 4,
  DIGITS = 41 * 8,
  FLOAT_PRODUCTS = 18 * 12,
  PRODUCTS = 82 * 8
};

static const red_cuda_exact_kernel kernels[RED_MAPS][4] = {
    [RED_MAP_NONE] = {{RED_CUDA_exact_sum_f16, 512, 512, HALVES, RED_CUDA_EXACT_BATCH(0)},
                      {RED_CUDA_exact_sum_bf16, 512, 512, NARROW, RED_CUDA_EXACT_BATCH(0)},
                      {RED_CUDA_exact_sum_f32, 512, 512, BINS, RED_CUDA_EXACT_BATCH(0)},
                      {RED_CUDA_exact_sum_f64, 640, 480, DIGITS, RED_CUDA_EXACT_BATCH(0)}},
    [RED_MAP_PRODUCT] = {{RED_CUDA_exact_dot_f16, 512, 512, BINS, RED_CUDA_EXACT_BATCH(1)},
                         {RED_CUDA_exact_dot_bf16, 512, 512, FLOAT_PRODUCTS, RED_CUDA_EXACT_BATCH(1)},
                         {RED_CUDA_exact_dot_f32, 512, 512, FLOAT_PRODUCTS, RED_CUDA_EXACT_BATCH(1)},
                         {RED_CUDA_exact_dot_f64, 320, 320, PRODUCTS, RED_CUDA_EXACT_BATCH(1)}},
    [RED_MAP_SQUARE] = {{RED_CUDA_exact_square_f16, 512, 512, BINS, RED_CUDA_EXACT_BATCH(0)},
                        {RED_CUDA_exact_square_bf16, 512, 512, FLOAT_PRODUCTS, RED_CUDA_EXACT_BATCH(0)},
                        {RED_CUDA_exact_square_f32, 512, 512, FLOAT_PRODUCTS, RED_CUDA_EXACT_BATCH(0)},
                        {RED_CUDA_exact_square_f64, 320, 320, PRODUCTS, RED_CUDA_EXACT_BATCH(0)}},
    [RED_MAP_ABS] = {{RED_CUDA_exact_abs_f16, 512, 512, HALVES, RED_CUDA_EXACT_BATCH(0)},
                     {RED_CUDA_exact_abs_bf16, 512, 512, NARROW, RED_CUDA_EXACT_BATCH(0)},
                     {RED_CUDA_exact_abs_f32, 512, 512, BINS, RED_CUDA_EXACT_BATCH(0)},
                     {RED_CUDA_exact_abs_f64, 640, 480, DIGITS, RED_CUDA_EXACT_BATCH(0)}},
};

static unsigned threads_of(const red_cuda_device *device, const red_cuda_exact_kernel *row) {
  unsigned most = device->block_shared > OTHER_SHARED ? (device->block_shared - OTHER_SHARED) / row->column : 0;
  unsigned threads = row->threads < most ? row->threads : most;
  return threads / 32 * 32;
}

bool red_cuda_exact_block(const red_cuda_device *device, red_cuda_kernel kernel, unsigned *threads, unsigned *shared) {
  const red_cuda_exact_kernel *row = &kernels[0][0], *end = row + sizeof kernels / sizeof *row;
  while (row < end && row->kernel != kernel) row++;
  if (row == end) return false;
  *threads = threads_of(device, row);
  *shared = *threads * row->column;
  return true;
}

red_status red_cuda_exact_plan(red_cuda_device *device, const red_lowered *lowered, red_cuda_plan *plan) {
  plan->exact = &kernels[lowered->map][lowered->in - RED_F16];
  plan->any.threads = threads_of(device, plan->exact);
  plan->any.shared = plan->any.threads * plan->exact->column;
  if (plan->any.threads == 0)
    return red_fail(RED_ERR_UNSUPPORTED, "exact: a block of this device has %u bytes of shared memory, too few",
                    device->block_shared);
  return red_cuda_get_kernel(device, plan->exact->kernel, &plan->any.function);
}

static uint64_t divide_up(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

/* Blocks that are resident together, none of them without a vector for each thread. */
static uint64_t blocks_for(const red_cuda_plan *plan, uint64_t vectors, unsigned threads) {
  uint64_t resident = plan->any.function->resident, wanted = divide_up(vectors, threads);
  if (wanted <= ALONE_VECTORS || resident == 1) return 1;
  if (resident > RED_CUDA_EXACT_BLOCKS) resident = RED_CUDA_EXACT_BLOCKS;
  return wanted < resident ? wanted : resident;
}

/* Whether a lane that sums up a bin's doubles has at most 2^14 numbers in them, which is exact. */
static bool are_few(uint64_t of_a_thread, unsigned threads) {
  return of_a_thread * (threads / 32) <= (1u << 14);
}

static red_status make_args(const red_cuda_job *job, uint64_t *blocks, unsigned *threads, red_cuda_exact *args) {
  const red_cuda_plan *plan = job->plan;
  unsigned bytes = plan->element.in_bytes, of_a_vector = 16 / bytes;
  *args = (red_cuda_exact){
      .in = (const void *)(uintptr_t)job->in,
      .in2 = (const void *)(uintptr_t)job->in2,
      .out = (void *)(uintptr_t)job->out,
      .n = job->n,
      .head = (uint32_t)((16 - job->in % 16) % 16 / bytes),
      .streaming = job->n * bytes * (job->in2 != 0 ? 2 : 1) <= plan->streaming_bytes,
      .element = plan->element,
  };
  if (args->head > job->n) args->head = (uint32_t)job->n;
  args->aligned2 = (job->in2 + args->head * bytes) % 16 == 0;
  args->vectors = (job->n - args->head) / of_a_vector;
  *threads = plan->any.threads;
  if (job->n * bytes <= SHORT_BYTES && plan->exact->fewer < *threads) *threads = plan->exact->fewer;
  *blocks = blocks_for(plan, args->vectors, *threads);
  bool collector = *blocks > 1 && job->n * bytes <= COLLECTED_BYTES;
  if (collector && *blocks == plan->any.function->resident) --*blocks;
  args->workers = (uint32_t)*blocks;
  uint64_t step = *blocks * *threads * plan->exact->vectors;
  args->steps = args->vectors / step;
  args->share = divide_up(args->vectors % step, *blocks);
  uint64_t vectors = args->steps * plan->exact->vectors + divide_up(args->share, *threads);
  args->few = are_few(vectors * of_a_vector + 1, *threads);
  if (vectors * of_a_vector > MOST_OF_A_THREAD)
    return red_fail(RED_ERR_UNSUPPORTED, "exact: n = %llu elements are more than 2^28 for each thread of this device",
                    (unsigned long long)job->n);
  *blocks += collector;
  if (job->question != NULL) {
    args->answer = (red_cuda_answer *)(uintptr_t)job->question->device;
    args->answer_flag = job->question->flag;
  }
  return RED_OK;
}

red_status red_cuda_exact_launch(const red_cuda_job *job) {
  red_cuda_exact args;
  uint64_t blocks;
  red_cuda_shape shape = job->plan->any;
  red_status status = make_args(job, &blocks, &shape.threads, &args);
  shape.shared = shape.threads * job->plan->exact->column;
  if (status == RED_OK && blocks > 1) {
    CUdeviceptr workspace;
    status = red_cuda_job_workspace(job, RED_CUDA_SLOTS_AT, &workspace);
    args.words = (uint64_t *)(uintptr_t)(workspace + RED_CUDA_COUNTERS_AT);
  }
  void *arguments[] = {&args};
  if (status != RED_OK) return status;
  return red_cuda_launch(job->plan->any.function, blocks, &shape, job->queue->stream, arguments);
}

void red_cuda_answer_exact(const red_cuda_answer *answer, red_exact *sum) {
  red_exact_clear(sum);
  sum->flags = (uint32_t)answer->word[RED_CUDA_EXACT_FLAGS];
  sum->first = (uint32_t)answer->word[RED_CUDA_EXACT_FIRST];
  sum->last = (uint32_t)answer->word[RED_CUDA_EXACT_LAST];
  sum->additions = 1;
  bool negative = answer->word[RED_CUDA_EXACT_NEGATIVE] != 0;
  for (uint32_t i = sum->first; i < sum->last; i++)
    sum->digit[i] = negative ? -(int64_t)answer->digit[i] : (int64_t)answer->digit[i];
}
