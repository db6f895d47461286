/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Policies: what a reduction's state is, how two merge, how a group of them is published and folded, where the result
 * goes. combine.cuh does the rest.
 */
#ifndef RED_CUDA_POLICY_CUH
#define RED_CUDA_POLICY_CUH

#include "convert.cuh"
#include "fold.cuh"

namespace red {

/* ---- Merging, by kind of state ------------------------------------------------------------------------------------
 */

/*
 * States of one word whose order is free. The word that atomics work on starts at 0: `add_to` and `take_from` map
 * states so that 0 is the identity.
 */
struct MergeAdd {
  __device__ explicit MergeAdd(const red_cuda_element &) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
  __device__ void add_to(unsigned long long *word, uint64_t state) const { atomicAdd(word, state); }
  __device__ uint64_t take_from(uint64_t word) const { return word; }
};

struct MergeMul { /* there is no atomic product */
  __device__ explicit MergeMul(const red_cuda_element &) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a * b; }
  __device__ void add_to(unsigned long long *, uint64_t) const {}
  __device__ uint64_t take_from(uint64_t word) const { return word; }
};

struct MergeMin {
  __device__ explicit MergeMin(const red_cuda_element &) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const {
    return static_cast<int64_t>(b) < static_cast<int64_t>(a) ? b : a;
  }
  __device__ void add_to(unsigned long long *word, uint64_t state) const {
    atomicMax(word, static_cast<unsigned long long>(INT64_MAX) - state);
  }
  __device__ uint64_t take_from(uint64_t word) const { return static_cast<uint64_t>(INT64_MAX) - word; }
};

/* AND is OR of the complements, complemented. */
struct MergeBits {
  bool exclusive;
  uint64_t complement;
  __device__ explicit MergeBits(const red_cuda_element &e)
      : exclusive(e.family == RED_FAMILY_XOR), complement(e.family == RED_FAMILY_AND ? low_bits(e.in_bytes) : 0) {}
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const {
    return exclusive ? a ^ b : ((a ^ complement) | (b ^ complement)) ^ complement;
  }
  __device__ void add_to(unsigned long long *word, uint64_t state) const {
    if (exclusive)
      atomicXor(word, state);
    else
      atomicOr(word, state ^ complement);
  }
  __device__ uint64_t take_from(uint64_t word) const { return word ^ complement; }
};

struct MergeFloats {
  bool multiply;
  __device__ explicit MergeFloats(const red_cuda_element &e) : multiply(e.family == RED_FAMILY_MUL) {}
  template <class T> __device__ T operator()(T a, T b) const { return multiply ? a * b : a + b; }
  __device__ float identity() const { return multiply ? 1.0f : -0.0f; }
};

struct AddFloats {
  static constexpr bool multiply = false;
  __device__ explicit AddFloats(const red_cuda_element &) {}
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
  __device__ float identity() const { return -0.0f; }
};

/* Raw results for the host: words first, then the flag that makes them valid. */
__device__ inline void raise_flag(const red_cuda_reduce &args) {
  __threadfence_system();
  *static_cast<volatile uint32_t *>(&args.answer->flag) = args.answer_flag;
}

/* ---- Policies: what a state is, where it goes ----------------------------------------------------------------------
 */

/* Canonical sums and products. Finish: what results may need beside init and rounding: VALUE, MEAN, or ROOT and MEAN.
 */
template <class T, class Merge, red_finish Finish> struct FloatPolicy {
  using State = T;
  using Slots = T;
  static constexpr bool asks_input = false;
  Merge merge;
  __device__ explicit FloatPolicy(const red_cuda_element &e) : merge(e) {}
  __device__ T identity() const { return static_cast<T>(merge.identity()); }
  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, T state, uint32_t epoch) const {
    red::publish(args.slots[level], index, state, epoch);
  }
  __device__ T fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                    CombineScratch &scratch) const {
    const uint64_t *slots = args.slots[level] + first * Payload<T>::stride;
    return fold_tree(slots, count, scratch.epoch, identity(), merge, scratch);
  }
  /* At most `few` slots, by one warp. */
  static constexpr int few_rows = 8 / GroupRows<T>::pair;
  static constexpr unsigned few = 256;
  __device__ T fold_few(const red_cuda_reduce &args, unsigned count, uint32_t epoch) const {
    constexpr unsigned pair = GroupRows<T>::pair;
    SlotPair<T> slot[few_rows];
    bool waiting;
    do {
#pragma unroll
      for (int r = 0; r < few_rows; r++) {
        unsigned index = (r * 32 + threadIdx.x) * pair;
        if (r * 32 * pair < count) slot[r].read(args.slots[0], index < count ? index : 0);
      }
      waiting = false;
#pragma unroll
      for (int r = 0; r < few_rows; r++) {
        unsigned index = (r * 32 + threadIdx.x) * pair;
        waiting |= index < count && !slot[r].valid(index, count, epoch);
      }
    } while (waiting);
    __syncwarp();
    T value[few_rows];
#pragma unroll
    for (int r = 0; r < few_rows; r++)
      value[r] = slot[r].value((r * 32 + threadIdx.x) * pair, count, identity(), merge);
    T folded = transpose_fold(value, merge);
#pragma unroll
    for (unsigned bit = few_rows / 2; bit > 0; bit /= 2) folded = merge(folded, warp_xor(folded, bit)); /* rows */
    return folded;
  }
  __device__ void merge_atomically(const red_cuda_reduce &, T) const {}
  __device__ void take_atomically(const red_cuda_reduce &, T &) const {}
  __device__ void finish(const red_cuda_reduce &args, T state) const {
    if (args.answer != nullptr) {
      args.answer->word[0] = bits_of(state);
      raise_flag(args);
      return;
    }
    if (args.as_it_is)
      store_canonical(args.out, state);
    else
      convert(args, state);
  }

private:
  /* Out of the way: few results need it, and code that is not fetched costs nothing. */
  __device__ __noinline__ static void convert(const red_cuda_reduce &args, T state) {
    const red_cuda_element &e = args.element;
    Merge merge(e);
    if (Finish != RED_FINISH_VALUE && e.finish != RED_FINISH_VALUE) {
      double sum = static_cast<double>(state);
      bool rooted = Finish == RED_FINISH_ROOT && e.finish == RED_FINISH_ROOT;
      sum = rooted ? root(sum, e.out != RED_F64) : mean(sum, args.n, e.out != RED_F64);
      store_bits(args.out, float_bits(e.out, sum), e.out_bytes);
      return;
    }
    if (e.has_init) state = merge(from_bits(e.init, state), state);
    store_bits(args.out, float_bits(e.out, state), e.out_bytes);
  }
  __device__ static void store_canonical(void *out, float x) {
    *static_cast<uint32_t *>(out) = canonical_bits(x);
  }
  __device__ static void store_canonical(void *out, double x) {
    *static_cast<uint64_t *>(out) = canonical_bits(x);
  }
  __device__ static uint64_t bits_of(float x) {
    return __float_as_uint(x);
  }
  __device__ static uint64_t bits_of(double x) {
    return static_cast<uint64_t>(__double_as_longlong(x));
  }
  __device__ static float from_bits(uint64_t bits, float) {
    return __uint_as_float(static_cast<uint32_t>(bits));
  }
  __device__ static double from_bits(uint64_t bits, double) {
    return __longlong_as_double(static_cast<long long>(bits));
  }
};

/* Everything whose state is one word and whose order is free. */
template <class Merge> struct WordPolicy {
  using State = uint64_t;
  using Slots = uint64_t;
  static constexpr bool asks_input = false;
  Merge merge;
  __device__ explicit WordPolicy(const red_cuda_element &e) : merge(e) {}
  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, uint64_t state,
                          uint32_t epoch) const {
    red::publish(args.slots[level], index, state, epoch);
  }
  __device__ uint64_t fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                           CombineScratch &scratch) const {
    const uint64_t *slots = args.slots[level] + first * Payload<uint64_t>::stride;
    return fold_any(slots, count, scratch.epoch, args.element.identity, merge, scratch);
  }
  __device__ void merge_atomically(const red_cuda_reduce &args, uint64_t state) const {
    merge.add_to(reinterpret_cast<unsigned long long *>(&args.head->atomic), state);
  }
  __device__ void take_atomically(const red_cuda_reduce &args, uint64_t &state) const {
    state = merge.take_from(atomicExch(reinterpret_cast<unsigned long long *>(&args.head->atomic), 0ull));
  }
  __device__ void finish(const red_cuda_reduce &args, uint64_t state) const {
    if (args.answer != nullptr) {
      args.answer->word[0] = state;
      raise_flag(args);
      return;
    }
    const red_cuda_element &e = args.element;
    if (e.has_init) state = merge(e.init, state);
    store_bits(args.out, output_bits(e, state, 0, args.n), e.out_bytes);
  }
};

struct KeyIndex {
  int64_t key;
  uint64_t index;
};

__device__ inline KeyIndex earlier_of(KeyIndex a, KeyIndex b) {
  return b.key < a.key || (b.key == a.key && b.index < a.index) ? b : a;
}

struct MergeKeyIndex {
  __device__ KeyIndex operator()(KeyIndex a, KeyIndex b) const { return earlier_of(a, b); }
};

struct ArgPolicy {
  using State = KeyIndex;
  using Slots = KeyIndex;
  static constexpr bool asks_input = false;
  __device__ explicit ArgPolicy(const red_cuda_element &) {}
  __device__ void publish(const red_cuda_reduce &args, int level, uint64_t index, KeyIndex state,
                          uint32_t epoch) const {
    red::publish(args.slots[level], index, state, epoch);
  }
  __device__ KeyIndex fold(const red_cuda_reduce &args, int level, uint64_t first, unsigned count,
                           CombineScratch &scratch) const {
    const uint64_t *slots = args.slots[level] + first * Payload<KeyIndex>::stride;
    return fold_any(slots, count, scratch.epoch, KeyIndex{INT64_MAX, UINT64_MAX}, MergeKeyIndex{}, scratch);
  }
  __device__ void merge_atomically(const red_cuda_reduce &, KeyIndex) const {}
  __device__ void take_atomically(const red_cuda_reduce &, KeyIndex &) const {}
  __device__ void finish(const red_cuda_reduce &args, KeyIndex state) const {
    if (args.answer != nullptr) {
      args.answer->word[0] = static_cast<uint64_t>(state.key);
      args.answer->word[1] = state.index;
      raise_flag(args);
      return;
    }
    const red_cuda_element &e = args.element;
    store_bits(args.out, output_bits(e, static_cast<uint64_t>(state.key), state.index, args.n), e.out_bytes);
  }
};

} // namespace red

#endif
