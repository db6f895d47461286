/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of any pair of dtypes by any operator: a look at the dtypes and the family for every element. */
#ifndef RED_CUDA_SCAN_ANY_CUH
#define RED_CUDA_SCAN_ANY_CUH

#include "scan_type.cuh"

namespace red {

struct AnyFloatOp {
  bool multiply;
  template <class T> __device__ T operator()(T a, T b) const { return multiply ? a * b : a + b; }
};

struct AnyWordOp {
  unsigned family;
  __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return merge_words(family, a, b); }
};

template <class State> struct AnyOp {
  using Type = AnyFloatOp;
  __device__ static Type make(const red_cuda_element &e) { return AnyFloatOp{e.family == RED_FAMILY_MUL}; }
  __device__ static State widen(const red_cuda_element &e, uint64_t bits) { return float_value<State>(e.in, bits); }
  __device__ static uint64_t narrow(const red_cuda_element &e, State value, uint64_t) {
    return float_bits(e.out, value);
  }
};

template <> struct AnyOp<uint64_t> {
  using Type = AnyWordOp;
  __device__ static Type make(const red_cuda_element &e) { return AnyWordOp{e.family}; }
  __device__ static uint64_t widen(const red_cuda_element &e, uint64_t bits) {
    switch (e.family) {
    case RED_FAMILY_MIN:
      return static_cast<uint64_t>(key_of(e, bits));
    case RED_FAMILY_COUNT:
      return (bits & e.nonzero_mask) != 0;
    case RED_FAMILY_ADD:
    case RED_FAMILY_MUL:
      return (bits ^ e.sign) - e.sign;
    default:
      return bits;
    }
  }
  __device__ static uint64_t narrow(const red_cuda_element &e, uint64_t value, uint64_t count) {
    return output_bits(e, value, 0, count);
  }
};

template <class State> struct Any {
  using T = State;
  static constexpr int V = 4;
  using Op = typename AnyOp<State>::Type;
  const red_cuda_element &e;
  __device__ explicit Any(const red_cuda_scan &args) : e(args.element) {}
  __device__ Op op() const { return AnyOp<State>::make(e); }
  __device__ T identity() const { return state_of<T>(e.identity); }
  __device__ void load(const red_cuda_scan &args, uint64_t i, T (&x)[V]) const {
    uint64_t bits[V];
    if (args.in_aligned && i + V <= args.n) {
      load_four(static_cast<const char *>(args.in) + i * e.in_bytes, bits);
    } else {
#pragma unroll
      for (int v = 0; v < V; v++)
        bits[v] = i + v < args.n ? load_bits(static_cast<const char *>(args.in) + (i + v) * e.in_bytes, e.in_bytes) : 0;
    }
#pragma unroll
    for (int v = 0; v < V; v++) x[v] = i + v < args.n ? AnyOp<T>::widen(e, bits[v]) : identity();
  }
  __device__ void store(const red_cuda_scan &args, uint64_t i, const T (&y)[V]) const {
    uint64_t bits[V];
#pragma unroll
    for (int v = 0; v < V; v++) bits[v] = AnyOp<T>::narrow(e, y[v], i + v + args.inclusive);
    if (i == 0 && args.has_first) bits[0] = args.first;
    char *to = static_cast<char *>(args.out) + i * e.out_bytes;
    if (args.out_aligned && i + V <= args.n) {
      store_four(to, bits);
    } else {
#pragma unroll
      for (int v = 0; v < V; v++)
        if (i + v < args.n) store_bits(to + v * e.out_bytes, bits[v], e.out_bytes);
    }
  }

private:
  __device__ void load_four(const void *from, uint64_t (&bits)[4]) const {
    switch (e.in_bytes) {
    case 1: {
      uint32_t word = *static_cast<const uint32_t *>(from);
      for (int v = 0; v < 4; v++) bits[v] = word >> 8 * v & 0xff;
      break;
    }
    case 2: {
      ushort4 word = *static_cast<const ushort4 *>(from);
      bits[0] = word.x, bits[1] = word.y, bits[2] = word.z, bits[3] = word.w;
      break;
    }
    case 4: {
      uint4 word = *static_cast<const uint4 *>(from);
      bits[0] = word.x, bits[1] = word.y, bits[2] = word.z, bits[3] = word.w;
      break;
    }
    default: {
      ulonglong2 low = static_cast<const ulonglong2 *>(from)[0], high = static_cast<const ulonglong2 *>(from)[1];
      bits[0] = low.x, bits[1] = low.y, bits[2] = high.x, bits[3] = high.y;
      break;
    }
    }
  }
  __device__ void store_four(void *to, const uint64_t (&bits)[4]) const {
    const uint32_t low[4] = {static_cast<uint32_t>(bits[0]), static_cast<uint32_t>(bits[1]),
                             static_cast<uint32_t>(bits[2]), static_cast<uint32_t>(bits[3])};
    switch (e.out_bytes) {
    case 1:
      *static_cast<uint32_t *>(to) = (low[0] & 0xff) | (low[1] & 0xff) << 8 | (low[2] & 0xff) << 16 | low[3] << 24;
      break;
    case 2:
      *static_cast<uint2 *>(to) = make_uint2((low[0] & 0xffff) | low[1] << 16, (low[2] & 0xffff) | low[3] << 16);
      break;
    case 4:
      *static_cast<uint4 *>(to) = make_uint4(low[0], low[1], low[2], low[3]);
      break;
    default:
      static_cast<ulonglong2 *>(to)[0] = make_ulonglong2(bits[0], bits[1]);
      static_cast<ulonglong2 *>(to)[1] = make_ulonglong2(bits[2], bits[3]);
      break;
    }
  }
};

} // namespace red

#endif
