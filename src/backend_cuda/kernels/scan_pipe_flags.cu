/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans of whether elements are nonzero, for large arrays on compute capability 9.0 and above: how many are, whether
 * any is, whether all are. The last two ask for one that is, or is not; any state but zero says that there was one.
 */
#include "scan_pipe.cuh"

namespace red {

struct Either {
  template <class T> __device__ T operator()(T a, T b) const { return a | b; }
};

template <class Bits, class State, class Out, class Operator> struct Flags {
  using T = State;
  using Element = Bits;
  using Output = Out;
  using Op = Operator;
  static constexpr int V = 16 / sizeof(Bits);
  Bits mask;
  bool all;
  __device__ explicit Flags(const red_cuda_element &e)
      : mask(static_cast<Bits>(e.nonzero_mask)), all(e.finish == RED_FINISH_ALL) {}
  __device__ Op op() const { return Op(); }
  __device__ T identity() const { return 0; }
  __device__ Out narrow(T value) const {
    if constexpr (sizeof(Out) > 1)
      return value;
    else
      return (value != 0) != all;
  }
};

/* Within a lane they are counted in 32 bits, whatever the order. */
template <class F> struct PipedFlags : F {
  using F::F;
  using typename F::T;
  __device__ T total(const uint4 &raw) const {
    uint32_t sum = 0;
#pragma unroll
    for (int v = 0; v < F::V; v++) sum += flag(raw, v);
    return sum;
  }
  __device__ void outputs(const uint4 &raw, T before, T, bool inclusive, T (&y)[F::V]) const {
    uint32_t sum = 0;
#pragma unroll
    for (int v = 0; v < F::V; v++) {
      const uint32_t next = sum + flag(raw, v);
      y[v] = this->op()(before, static_cast<T>(inclusive ? next : sum));
      sum = next;
    }
  }

private:
  __device__ uint32_t flag(const uint4 &raw, int v) const {
    const bool nonzero = (element_at<typename F::Element>(raw, v) & this->mask) != 0;
    return nonzero != this->all;
  }
};

/* Of bytes four at a time, and added up as in PipedBytes. */
template <class F> struct PipedFlagBytes : F {
  using F::F;
  using typename F::T;
  __device__ T total(const uint4 &raw) const {
    return __dp4a(flags(raw.x), 0x01010101u, 0u) + __dp4a(flags(raw.y), 0x01010101u, 0u) +
           __dp4a(flags(raw.z), 0x01010101u, 0u) + __dp4a(flags(raw.w), 0x01010101u, 0u);
  }
  __device__ void outputs(const uint4 &raw, T before, T, bool inclusive, T (&y)[16]) const {
    const uint32_t word[4] = {flags(raw.x), flags(raw.y), flags(raw.z), flags(raw.w)};
    const uint32_t before_each[4] = {0u, 0x00000001u, 0x00000101u, 0x00010101u};
    uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint32_t mask = inclusive ? before_each[i] << 8 | 1 : before_each[i];
        y[4 * w + i] = this->op()(before, static_cast<T>(__dp4a(word[w], mask, sum)));
      }
      sum = __dp4a(word[w], 0x01010101u, sum);
    }
  }

private:
  __device__ uint32_t flags(uint32_t word) const {
    const uint32_t nonzero = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) >> 7 & 0x01010101u;
    return this->all ? nonzero ^ 0x01010101u : nonzero;
  }
};

template <class Bits> using Counts = Flags<Bits, uint64_t, uint64_t, Sum>;
template <class Bits> using Truths = Flags<Bits, uint32_t, uint8_t, Either>;

template <class Bits, class State, class Out, class Op>
struct Piped<Flags<Bits, State, Out, Op>> : PipedFlags<Flags<Bits, State, Out, Op>> {
  using PipedFlags<Flags<Bits, State, Out, Op>>::PipedFlags;
};
template <class State, class Out, class Op>
struct Piped<Flags<uint8_t, State, Out, Op>> : PipedFlagBytes<Flags<uint8_t, State, Out, Op>> {
  using PipedFlagBytes<Flags<uint8_t, State, Out, Op>>::PipedFlagBytes;
};

} // namespace red

SCAN_PIPE(scan_pipe_count_1, Counts<uint8_t>)
SCAN_PIPE(scan_pipe_count_2, Counts<uint16_t>)
SCAN_PIPE(scan_pipe_count_4, Counts<uint32_t>)
SCAN_PIPE(scan_pipe_count_8, Counts<uint64_t>)
SCAN_PIPE(scan_pipe_truth_1, Truths<uint8_t>)
SCAN_PIPE(scan_pipe_truth_2, Truths<uint16_t>)
SCAN_PIPE(scan_pipe_truth_4, Truths<uint32_t>)
SCAN_PIPE(scan_pipe_truth_8, Truths<uint64_t>)
