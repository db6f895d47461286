/* SPDX-License-Identifier: BSD-2-Clause */
/* The elements that statistics are taken of: bits, keys, numbers to be added, and the range of many keys. */
#ifndef RED_CUDA_STATS_ELEMENT_CUH
#define RED_CUDA_STATS_ELEMENT_CUH

#include "convert.cuh"

namespace red {

template <unsigned Bytes> struct Storage { /* of 1 and 2 bytes too: registers have 4 */
  using Bits = uint32_t;
  using Key = int32_t;
};
template <> struct Storage<8> {
  using Bits = uint64_t;
  using Key = int64_t;
};

/* The least and the greatest key so far, and whether there was a NaN. */
template <class Element> struct KeyRange {
  using Key = typename Storage<Element::bytes>::Key;
  using Bits = typename Storage<Element::bytes>::Bits;
  Key least, most;
  Bits magnitude;
  __device__ KeyRange(const Element &element, Bits x) : least(element.key(x)), most(least), magnitude(0) {}
  __device__ void take(const Element &element, Bits a, Bits b) {
    take(element, a);
    take(element, b);
  }
  __device__ bool keys(const Element &element, Key &least_key, Key &greatest_key) const {
    least_key = least;
    greatest_key = ~most;
    return element.is_nan(magnitude);
  }

private:
  __device__ void take(const Element &element, Bits x) {
    Key key = element.key(x);
    least = key < least ? key : least;
    most = key > most ? key : most;
    Bits a = element.magnitude(x);
    magnitude = a > magnitude ? a : magnitude;
  }
};

/*
 * The bits of f32 as integers, without making keys: numbers of one sign are in order, so the ends of the order are the
 * greatest signed, the greatest unsigned or, where all have one sign, the least signed word. NaNs are beyond the ends.
 */
template <class Element> struct BitRange {
  int32_t least, most;
  uint32_t largest;
  __device__ BitRange(const Element &, uint32_t x) : least(static_cast<int32_t>(x)), most(least), largest(x) {}
  __device__ void take(const Element &, uint32_t a, uint32_t b) {
    int32_t x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
    least = min(least, min(x, y));
    most = max(most, max(x, y));
    largest = max(largest, max(a, b));
  }
  __device__ bool keys(const Element &element, int32_t &least_key, int32_t &greatest_key) const {
    uint32_t lowest = largest >> 31 != 0 ? largest : static_cast<uint32_t>(least);
    uint32_t highest = static_cast<uint32_t>(most >= 0 ? most : least);
    least_key = element.key(lowest);
    greatest_key = ~element.key(highest);
    return (most >= 0 && element.is_nan(static_cast<uint32_t>(most))) ||
           (largest >> 31 != 0 && element.is_nan(element.magnitude(largest)));
  }
};

template <unsigned Width> struct Integer {
  static constexpr unsigned bytes = Width;
  static constexpr bool is_float = false;
  using Bits = typename Storage<Width>::Bits;
  using Key = typename Storage<Width>::Key;
  using Lane = Key; /* decides how many lanes a row has */
  using Number = __int128;
  using Partial = typename Storage<8>::Key; /* of 32 elements */
  using Range = KeyRange<Integer<Width>>;
  Bits flip, sign;
  __device__ explicit Integer(const red_cuda_element &e)
      : flip(static_cast<Bits>(e.key_xor)), sign(static_cast<Bits>(e.sign)) {}
  __device__ Key key(Bits x) const {
    constexpr unsigned shift = 8 * (sizeof(Bits) - Width);
    return static_cast<Key>((x ^ flip) << shift) >> shift;
  }
  __device__ Bits magnitude(Bits) const { return 0; }
  __device__ bool is_nan(Bits) const { return false; }
  __device__ int64_t number(Bits x) const { return static_cast<int64_t>(x ^ sign) - static_cast<int64_t>(sign); }
};

template <unsigned Dtype> struct Float {
  static constexpr unsigned bytes = Dtype == RED_F64 ? 8 : Dtype == RED_F32 ? 4 : 2;
  static constexpr bool is_float = true;
  using Bits = typename Storage<bytes>::Bits;
  using Key = typename Storage<bytes>::Key;
  static constexpr Bits positive = static_cast<Bits>(~0ull >> (65 - 8 * bytes));
  using Range = KeyRange<Float<Dtype>>;
  Bits inf;
  __device__ explicit Float(const red_cuda_element &e) : inf(static_cast<Bits>(e.inf)) {}
  __device__ Bits magnitude(Bits x) const { return x & positive; }
  __device__ bool is_nan(Bits a) const { return a > inf; }
  __device__ Key key(Bits x) const {
    constexpr unsigned shift = 8 * (sizeof(Bits) - bytes);
    Key value = static_cast<Key>(x << shift) >> shift;
    return value ^ (value >> (8 * sizeof(Key) - 1) & static_cast<Key>(positive));
  }
};

struct F16 : Float<RED_F16> {
  using Lane = float;
  using Number = float;
  using Partial = float;
  using Float<RED_F16>::Float;
  __device__ float number(uint32_t x) const { return f16_to_f32(static_cast<uint16_t>(x)); }
};
struct BF16 : Float<RED_BF16> {
  using Lane = float;
  using Number = float;
  using Partial = float;
  using Float<RED_BF16>::Float;
  __device__ float number(uint32_t x) const { return __uint_as_float(x << 16); }
};
struct F32 : Float<RED_F32> {
  using Range = BitRange<F32>;
  using Lane = float;
  using Number = float;
  using Partial = float;
  using Float<RED_F32>::Float;
  __device__ float number(uint32_t x) const { return __uint_as_float(x); }
};
struct F64 : Float<RED_F64> {
  using Lane = double;
  using Number = double;
  using Partial = double;
  using Float<RED_F64>::Float;
  __device__ double number(uint64_t x) const { return __longlong_as_double(static_cast<long long>(x)); }
};

/* Integers of 64 bits: 32 of them need more. */
struct Wide : Integer<8> {
  using Partial = __int128;
  using Integer<8>::Integer;
  __device__ __int128 number(uint64_t x) const {
    return sign != 0 ? static_cast<__int128>(static_cast<int64_t>(x)) : static_cast<__int128>(x);
  }
};

} // namespace red

#endif
