/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a scan works on: a state T, V elements in a lane, how they are loaded and stored. The hot pairs of input and
 * output are types of their own, with 16-byte loads; Any<T> (scan_any.cuh) serves every other pair.
 */
#ifndef RED_CUDA_SCAN_TYPE_CUH
#define RED_CUDA_SCAN_TYPE_CUH

#include <type_traits>

#include "scan.cuh"

namespace red {

/* ---- Hot pairs: sums. widen() makes a state of an element, narrow() an output of a state
 * ---------------------------------------------------- */

/* Floats into the same type. */
template <class State, class Bits> struct SumFloat {
  using T = State;
  using Element = Bits;
  using Output = Bits;
  static constexpr int V = 16 / sizeof(Bits);
  using Op = Sum;
  __device__ explicit SumFloat(const red_cuda_element &) {}
  __device__ Op op() const { return Op(); }
  __device__ T identity() const { return static_cast<T>(-0.0); }
};

struct SumF32 : SumFloat<float, uint32_t> {
  using SumFloat::SumFloat;
  __device__ float widen(uint32_t bits) const { return __uint_as_float(bits); }
  __device__ uint32_t narrow(float value) const { return canonical_bits(value); }
};

struct SumF64 : SumFloat<double, uint64_t> {
  using SumFloat::SumFloat;
  __device__ double widen(uint64_t bits) const { return __longlong_as_double(static_cast<long long>(bits)); }
  __device__ uint64_t narrow(double value) const { return canonical_bits(value); }
};

struct SumF16 : SumFloat<float, uint16_t> {
  using SumFloat::SumFloat;
  __device__ float widen(uint16_t bits) const { return f16_to_f32(bits); }
  __device__ uint16_t narrow(float value) const { return f32_to_f16(value); }
};

struct SumBF16 : SumFloat<float, uint16_t> {
  using SumFloat::SumFloat;
  __device__ float widen(uint16_t bits) const { return bf16_to_f32(bits); }
  __device__ uint16_t narrow(float value) const { return f32_to_bf16(value); }
};

/* The same by way of f64. */
struct SumF32Wide : SumFloat<double, uint32_t> {
  using SumFloat::SumFloat;
  __device__ double widen(uint32_t bits) const { return static_cast<double>(__uint_as_float(bits)); }
  __device__ uint32_t narrow(double value) const { return canonical_bits(static_cast<float>(value)); }
};

struct SumF16Wide : SumFloat<double, uint16_t> {
  using SumFloat::SumFloat;
  __device__ double widen(uint16_t bits) const { return f16_to_f64(bits); }
  __device__ uint16_t narrow(double value) const { return narrow_f16(value); }
};

struct SumBF16Wide : SumFloat<double, uint16_t> {
  using SumFloat::SumFloat;
  __device__ double widen(uint16_t bits) const { return bf16_to_f64(bits); }
  __device__ uint16_t narrow(double value) const { return narrow_bf16(value); }
};

/* Products instead. */
template <class Sums> struct Products : Sums {
  using Sums::Sums;
  using Op = Prod;
  __device__ Op op() const { return Op(); }
  __device__ typename Sums::T identity() const { return 1; }
};

/* Integers into as many bits or more; where at most 32 of them are kept, 32 suffice for the sum. */
template <class In, class State, class Out> struct SumInteger {
  using T = State;
  using Element = In;
  using Output = Out;
  static constexpr int V = 16 / sizeof(In);
  using Op = Sum;
  State sign;
  __device__ explicit SumInteger(const red_cuda_element &e) : sign(static_cast<State>(e.sign)) {}
  __device__ Op op() const { return Op(); }
  __device__ T identity() const { return 0; }
  __device__ T widen(In bits) const {
    if (sizeof(In) == sizeof(Out)) return bits; /* the sign changes only bits that are dropped */
    return (static_cast<State>(bits) ^ sign) - sign;
  }
  __device__ Out narrow(T value) const { return static_cast<Out>(value); }
};

using SumI8 = SumInteger<uint8_t, uint32_t, uint8_t>;
using SumI8Int = SumInteger<uint8_t, uint32_t, uint32_t>;
using SumI8Wide = SumInteger<uint8_t, uint64_t, uint64_t>;
using SumI16 = SumInteger<uint16_t, uint32_t, uint16_t>;
using SumI16Int = SumInteger<uint16_t, uint32_t, uint32_t>;
using SumI16Wide = SumInteger<uint16_t, uint64_t, uint64_t>;
using SumI32 = SumInteger<uint32_t, uint32_t, uint32_t>;
using SumI32Wide = SumInteger<uint32_t, uint64_t, uint64_t>;
using SumI64 = SumInteger<uint64_t, uint64_t, uint64_t>;

/*
 * What a lane holds, to and from vectors, by shifts: where memory is copied instead, the compiler forgets how it is
 * aligned and moves it in small pieces.
 */
template <class Bits> __device__ inline Bits element_at(const uint4 &raw, int i) {
  const uint32_t word[4] = {raw.x, raw.y, raw.z, raw.w};
  if constexpr (sizeof(Bits) == 8)
    return word[2 * i] | static_cast<uint64_t>(word[2 * i + 1]) << 32;
  else
    return static_cast<Bits>(word[i * sizeof(Bits) / 4] >> i * sizeof(Bits) % 4 * 8);
}

/* Word w of a lane's outputs. */
template <class Bits, int V> __device__ inline uint32_t word_at(const Bits (&bits)[V], int w) {
  if constexpr (sizeof(Bits) == 8) return static_cast<uint32_t>(bits[w / 2] >> w % 2 * 32);
  constexpr int each = sizeof(Bits) < 4 ? 4 / sizeof(Bits) : 1;
  uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < each; i++) word |= static_cast<uint32_t>(bits[w * each + i]) << i * sizeof(Bits) % 4 * 8;
  return word;
}

template <class P> __device__ inline void widen_vector(const P &type, const uint4 &raw, typename P::T (&x)[P::V]) {
#pragma unroll
  for (int i = 0; i < P::V; i++) x[i] = type.widen(element_at<typename P::Element>(raw, i));
}

/* A lane's outputs as vectors of 16 bytes. */
template <class P> struct Packed {
  static constexpr int vectors = sizeof(typename P::Output) * P::V / 16;
  uint4 vector[vectors];

  __device__ Packed(const P &type, const typename P::T (&y)[P::V]) {
    typename P::Output bits[P::V];
#pragma unroll
    for (int v = 0; v < P::V; v++) bits[v] = type.narrow(y[v]);
#pragma unroll
    for (int v = 0; v < vectors; v++)
      vector[v] = make_uint4(word_at(bits, 4 * v), word_at(bits, 4 * v + 1), word_at(bits, 4 * v + 2),
                             word_at(bits, 4 * v + 3));
  }

  /* As many lanes as there are vectors exchange them: vector i of lane l becomes vector l of lane i. */
  __device__ void transpose() {
    unsigned lane = lane_index();
#pragma unroll
    for (int h = 1; h < vectors; h *= 2) {
#pragma unroll
      for (int i = 0; i < vectors; i++) {
        if (i & h) continue;
        exchange(vector[i].x, vector[i | h].x, h, lane);
        exchange(vector[i].y, vector[i | h].y, h, lane);
        exchange(vector[i].z, vector[i | h].z, h, lane);
        exchange(vector[i].w, vector[i | h].w, h, lane);
      }
    }
  }

private:
  __device__ static void exchange(uint32_t &low, uint32_t &high, int h, unsigned lane) {
    uint32_t got = warp_xor(lane & h ? low : high, h);
    (lane & h ? low : high) = got;
  }
};

/* One lane's; the whole vector is inside and aligned. */
template <class P>
__device__ inline void store_vector(const P &type, void *out, uint64_t i, const typename P::T (&y)[P::V]) {
  const Packed<P> packed(type, y);
  uint4 *to = reinterpret_cast<uint4 *>(static_cast<typename P::Output *>(out) + i);
#pragma unroll
  for (int v = 0; v < Packed<P>::vectors; v++) store_words(to + v, packed.vector[v]);
}

/* All lanes', of which each has less than a vector: bytes. */
template <class P>
__device__ inline void store_part(const P &type, typename P::Output *out, const typename P::T (&y)[P::V]) {
  static_assert(sizeof(typename P::Output) == 1, "a lane's are one word");
  using Word = std::conditional_t<P::V == 2, uint16_t, std::conditional_t<P::V == 4, uint32_t, uint64_t>>;
  Word word = 0;
#pragma unroll
  for (int v = 0; v < P::V; v++) word |= static_cast<Word>(static_cast<Word>(type.narrow(y[v])) << 8 * v);
  reinterpret_cast<Word *>(out)[lane_index()] = word;
}

/* All lanes': whole lines in each request, however wide the outputs are. */
template <class P>
__device__ inline void store_row(const P &type, typename P::Output *out, const typename P::T (&y)[P::V]) {
  if constexpr (sizeof(typename P::Output) < sizeof(typename P::Element)) {
    store_part(type, out, y);
  } else {
    constexpr unsigned vectors = Packed<P>::vectors;
    Packed<P> packed(type, y);
    packed.transpose();
    unsigned place = lane_index() % vectors, group = lane_index() - place;
    uint4 *to = reinterpret_cast<uint4 *>(out) + group * vectors + place;
#pragma unroll
    for (unsigned v = 0; v < vectors; v++) store_words(to + v * vectors, packed.vector[v]);
  }
}

/* How a kernel sees a hot pair. */
template <class P> struct Hot : P {
  using typename P::T;
  static constexpr int V = P::V;
  __device__ explicit Hot(const red_cuda_scan &args) : P(args.element) {}
  __device__ void load(const red_cuda_scan &args, uint64_t i, T (&x)[V]) const {
    if (i + V <= args.n) {
      uint4 raw = *reinterpret_cast<const uint4 *>(static_cast<const typename P::Element *>(args.in) + i);
      widen_vector(static_cast<const P &>(*this), raw, x);
      return;
    }
#pragma unroll
    for (int v = 0; v < V; v++)
      x[v] = i + v < args.n ? this->widen(static_cast<const typename P::Element *>(args.in)[i + v]) : this->identity();
  }
  __device__ void store(const red_cuda_scan &args, uint64_t i, const T (&y)[V]) const {
    if (i + V <= args.n) {
      store_vector(static_cast<const P &>(*this), args.out, i, y);
    } else {
#pragma unroll
      for (int v = 0; v < V; v++)
        if (i + v < args.n) static_cast<typename P::Output *>(args.out)[i + v] = this->narrow(y[v]);
    }
    if (i == 0 && args.has_first)
      *static_cast<typename P::Output *>(args.out) = static_cast<typename P::Output>(args.first);
  }
};

/* A hot pair as the pipeline sees it: totals and outputs from what a lane holds. */
template <class P> struct Piped : P {
  using typename P::T;
  static constexpr int V = P::V;
  using P::P;
  __device__ T total(const uint4 &raw) const {
    T x[V];
    widen_vector(static_cast<const P &>(*this), raw, x);
    return climb_lane(x, this->op());
  }
  /* `before` is P at the lane's beginning, `next` at the next lane's. */
  __device__ void outputs(const uint4 &raw, T before, T next, bool inclusive, T (&y)[V]) const {
    T x[V];
    widen_vector(static_cast<const P &>(*this), raw, x);
    climb_lane(x, this->op());
    descend_lane(x, before, y, this->op());
    if (!inclusive) return;
#pragma unroll
    for (int v = 0; v + 1 < V; v++) y[v] = y[v + 1];
    y[V - 1] = next;
  }
};

/*
 * Bytes: products with masks of ones add up the bytes of a word in one instruction, whatever the order. With the sign
 * bit flipped they are unsigned and too large by the sign, each.
 */
template <class P> struct PipedBytes : P {
  using P::P;
  using typename P::T;
  __device__ T total(const uint4 &raw) const {
    uint32_t word[4];
    flip(raw, word);
    uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) sum = __dp4a(word[w], 0x01010101u, sum);
    return sum - 16 * excess();
  }
  __device__ void outputs(const uint4 &raw, T before, T, bool inclusive, T (&y)[16]) const {
    uint32_t word[4], masks[4] = {0u, 0x00000001u, 0x00000101u, 0x00010101u}, sum = 0;
    flip(raw, word);
    if (inclusive) masks[0] = 0x00000001u, masks[1] = 0x00000101u, masks[2] = 0x00010101u, masks[3] = 0x01010101u;
    if (inclusive) before -= excess();
#pragma unroll
    for (int w = 0; w < 4; w++) {
#pragma unroll
      for (int i = 0; i < 4; i++) y[4 * w + i] = before + __dp4a(word[w], masks[i], sum) - (4 * w + i) * excess();
      sum = __dp4a(word[w], 0x01010101u, sum);
    }
  }

private:
  /* Outputs of a byte drop the bits that a sign would change. */
  __device__ T excess() const {
    return sizeof(typename P::Output) == 1 ? 0 : this->sign;
  }
  __device__ void flip(const uint4 &raw, uint32_t (&word)[4]) const {
    uint32_t mask = static_cast<uint32_t>(excess()) * 0x01010101u;
    word[0] = raw.x ^ mask, word[1] = raw.y ^ mask, word[2] = raw.z ^ mask, word[3] = raw.w ^ mask;
  }
};
template <> struct Piped<SumI8> : PipedBytes<SumI8> { using PipedBytes::PipedBytes; };
template <> struct Piped<SumI8Int> : PipedBytes<SumI8Int> { using PipedBytes::PipedBytes; };
template <> struct Piped<SumI8Wide> : PipedBytes<SumI8Wide> { using PipedBytes::PipedBytes; };

} // namespace red

#endif
