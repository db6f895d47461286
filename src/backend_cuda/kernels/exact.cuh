/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame of exact reductions: one launch of at most as many blocks as are resident. Threads add to their columns, a
 * block adds its columns' sums to the words of the workspace, the last block by number waits for all and finishes.
 * Where that takes a good part of the time it is a block that does nothing else.
 *
 * A word counts who has added to it in its highest bits, so nobody waits for anything but the words: no fences, no
 * counter of arrivals. Integer additions have no order. The block that polls is one; if others share its
 * multiprocessor's place, there are others for them, and a grid of one block does without words.
 */
#ifndef RED_CUDA_EXACT_CUH
#define RED_CUDA_EXACT_CUH

#include "exact_close.cuh"
#include "exact_source.cuh"
#include "memory.cuh"

namespace red {

/*
 * 10 bits of count above 54 of sum: the low half of a digit is below 2^43, and so is the high half, made positive, from
 * 1023 blocks at most. Of the flags each has 13 bits.
 */
constexpr unsigned count_shift = 54, flag_bits = 13;
constexpr int64_t high_bias = 1ll << 42;

__device__ inline void add_word(const red_cuda_exact &args, unsigned index, uint64_t value) {
  unsigned long long *word = reinterpret_cast<unsigned long long *>(args.words) + index * RED_CUDA_EXACT_STRIDE;
  atomicAdd(word, static_cast<unsigned long long>(1) << count_shift | value);
}

/* Wait for a word's last addition, and leave it as the next execution wants it. */
__device__ inline uint64_t take_word(const red_cuda_exact &args, unsigned index) {
  uint64_t *at = args.words + index * RED_CUDA_EXACT_STRIDE, word;
  do load_relaxed(at, word);
  while (word >> count_shift != args.workers);
  store_relaxed(at, static_cast<uint64_t>(0));
  return word & ((1ull << count_shift) - 1);
}

__device__ inline uint64_t spread_flags(uint32_t flags) {
  uint64_t value = 0;
  for (unsigned f = 0; f < 4; f++) value |= static_cast<uint64_t>(flags >> f & 1) << f * flag_bits;
  return value;
}

__device__ inline uint32_t gather_flags(uint64_t value) {
  uint32_t flags = 0;
  for (unsigned f = 0; f < 4; f++)
    if ((value >> f * flag_bits & ((1u << flag_bits) - 1)) != 0) flags |= 1u << f;
  return flags;
}

__device__ inline void clear(ExactScratch &scratch) {
  for (unsigned i = threadIdx.x; i < raw_digits; i += blockDim.x) scratch.raw[i] = 0;
  for (unsigned i = threadIdx.x; i < RED_EXACT_DIGITS; i += blockDim.x) scratch.magnitude.digit[i] = 0;
  if (threadIdx.x == 0) scratch.flags = 0;
}

/*
 * This block's share, except the edges. While a batch is added the next one is on its way; two batches take turns, a
 * copy from one to the other would let the compiler load late.
 */
template <class Source, class Accumulator>
__device__ inline void add_share(const red_cuda_exact &args, const Source &source, Accumulator &sum,
                                 ExactScratch &scratch) {
  /* Between settlings, in pairs of batches; more elements come before the first and after the last pair. */
  constexpr unsigned pairs = (Accumulator::most / Source::elements - 4) / 2;
  const uint64_t stride = static_cast<uint64_t>(args.workers) * Source::vectors * blockDim.x;
  const uint64_t begin = args.steps * stride + blockIdx.x * args.share;
  const uint64_t end = begin + args.share < args.vectors ? begin + args.share : args.vectors;
  const uint64_t rest = begin + Source::place();
  uint64_t at = static_cast<uint64_t>(blockIdx.x) * Source::vectors * blockDim.x + Source::place();
  typename Source::Batch now, next;
  if (args.steps == 0) {
    source.load_some(now, rest, end);
    sum.clear();
    clear(scratch);
    source.add_some(sum, now, rest, end);
    return;
  }
  source.load(now, at);
  sum.clear();
  clear(scratch);
  uint64_t left = args.steps - 1; /* batches to be loaded */
  while (left >= 2) {
    unsigned some = left / 2 < pairs ? static_cast<unsigned>(left / 2) : pairs;
    left -= 2 * some;
#pragma unroll 1
    for (; some > 0; some--) {
      source.load(next, at += stride);
      source.add(sum, now);
      source.load(now, at += stride);
      source.add(sum, next);
    }
    if (left >= 2) sum.settle();
  }
  if (left > 0) {
    source.load(next, at += stride);
    source.add(sum, now);
    now = next;
  }
  source.load_some(next, rest, end);
  source.add(sum, now);
  source.add_some(sum, next, rest, end);
}

/* The columns' sums go where blocks come together: to the words, or to the raw digits if there is only one block. */
template <class Accumulator>
__device__ inline void add_columns(const red_cuda_exact &args, Accumulator &sum, ExactScratch &scratch) {
  const bool alone = gridDim.x == 1;
  for (unsigned d = threadIdx.x / 32; d < Accumulator::used(args.few); d += blockDim.x / 32) {
    DigitSum digit = sum.sum_columns(d, args.few);
    if (lane_index() > 0) continue;
    if (alone) {
      unsigned bit = Accumulator::lowest_bit - 32 * Accumulator::first_digit + Accumulator::step * d;
      add_raw(scratch, static_cast<int64_t>(digit.low), bit);
      add_raw(scratch, digit.high, bit + 32);
    } else {
      add_word(args, 2 * d, digit.low);
      add_word(args, 2 * d + 1, static_cast<uint64_t>(digit.high + high_bias));
    }
  }
  uint32_t flags = warp_or(sum.flags);
  if (lane_index() == 0 && flags != 0) atomicOr(&scratch.flags, flags);
  __syncthreads();
  if (!alone && threadIdx.x == 0) add_word(args, 2 * Accumulator::used(args.few), spread_flags(scratch.flags));
}

/* The sums of all blocks, by the last one. */
template <class Accumulator> __device__ inline void take_words(const red_cuda_exact &args, ExactScratch &scratch) {
  const unsigned words = 2 * Accumulator::used(args.few);
  for (unsigned i = threadIdx.x; i <= words; i += blockDim.x) {
    uint64_t value = take_word(args, i);
    unsigned bit = Accumulator::lowest_bit - 32 * Accumulator::first_digit + Accumulator::step * (i / 2) + 32 * (i % 2);
    if (i == words)
      scratch.flags = gather_flags(value);
    else
      add_raw(scratch, static_cast<int64_t>(value) - (i % 2 == 0 ? 0 : high_bias * args.workers), bit);
  }
}

/* What a worker does; `columns` is the block's shared memory. */
template <unsigned In, unsigned Map>
__device__ inline void exact_work(const red_cuda_exact &args, char *columns, ExactScratch &scratch) {
  using Source = ExactSource<In, Map>;
  using Accumulator = typename Source::Accumulator;
  Source source(args);
  Accumulator sum(columns);
  add_share(args, source, sum, scratch);
  if (blockIdx.x == 0) source.add_edges(sum);
  sum.leave();
  __syncthreads();
  add_columns(args, sum, scratch);
}

/* By the first warp: the digits become the result. A rehearsal changes nothing but the scratch. */
template <class Accumulator>
__device__ __noinline__ void exact_close(const red_cuda_exact &args, ExactScratch &scratch, bool rehearsal) {
  /* A magnitude for the host is only part of a sum; init is added there. */
  if (threadIdx.x == 0 && args.element.has_init && args.answer == nullptr)
    add_init(scratch, args.element, Accumulator::first_digit);
  __syncwarp();
  normalise<Accumulator::groups>(scratch, Accumulator::first_digit);
  give(args, scratch, rehearsal);
}

/*
 * The block that only collects fetches the code of the last steps meanwhile, by taking them with a number of its own.
 */
template <class Accumulator> __device__ inline void exact_rehearse(const red_cuda_exact &args, ExactScratch &scratch) {
  clear(scratch);
  __syncthreads();
  if (threadIdx.x == 0) scratch.raw[1] = 0x123456789;
  if (threadIdx.x < 32) exact_close<Accumulator>(args, scratch, true);
  __syncthreads();
  clear(scratch);
  __syncthreads();
}

template <unsigned In, unsigned Map> __device__ inline void exact_reduce(const red_cuda_exact &args) {
  using Accumulator = typename ExactSource<In, Map>::Accumulator;
  extern __shared__ double columns[];
  __shared__ ExactScratch scratch;
  if (blockIdx.x < args.workers)
    exact_work<In, Map>(args, reinterpret_cast<char *>(columns), scratch);
  else
    exact_rehearse<Accumulator>(args, scratch);
  if (blockIdx.x + 1 < gridDim.x) return;
  if (gridDim.x > 1) {
    __syncthreads(); /* the flags have been read */
    take_words<Accumulator>(args, scratch);
    __syncthreads();
  }
  if (threadIdx.x < 32) exact_close<Accumulator>(args, scratch, false);
}

} // namespace red

#define EXACT_KERNEL(name, in, map, threads, blocks)                                                                   \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                                        \
      exact_##name(const __grid_constant__ red_cuda_exact args) {                                                      \
    red::exact_reduce<in, map>(args);                                                                                  \
  }

#endif
