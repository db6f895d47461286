/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The elements that statistics are taken of: how they lie in the words that a thread loads, their keys, and what is
 * added up. Keys are those of RED_MIN (core/lower.h), as registers hold them: of 4 bytes, or of 8.
 *
 * Integers are added as codes, which need no sign: value = code + origin. Codes of 1 and 2 bytes are keys, several to a
 * word; those of 4 and 8 bytes are keys without a sign, the least being 0.
 */
#ifndef RED_CUDA_STATS_ELEMENT_CUH
#define RED_CUDA_STATS_ELEMENT_CUH

#include "convert.cuh"
#include "keys.cuh"

namespace red {

/* What a thread loads in a row of a chunk: one lane, or two or four adjacent ones of narrow elements. */
template <unsigned Bytes> struct Width {
  using Row = uint32_t;
  using Bits = uint32_t;
  using Key = int32_t;
  using Lane = float; /* decides how many lanes a row has */
  static constexpr unsigned bytes = Bytes, lanes = 4 / Bytes;
  static constexpr Bits all = static_cast<Bits>(~0ull >> (64 - 8 * Bytes));
  __device__ static Bits bits(Row row, unsigned v) { return row >> 8 * Bytes * v & all; }
  __device__ static void insert(Row &row, unsigned v, Bits bits) {
    row = (row & ~(all << 8 * Bytes * v)) | bits << 8 * Bytes * v;
  }
};

template <> struct Width<8> {
  using Row = unsigned long long;
  using Bits = uint64_t;
  using Key = int64_t;
  using Lane = double;
  static constexpr unsigned bytes = 8, lanes = 1;
  __device__ static Bits bits(Row row, unsigned) { return row; }
  __device__ static void insert(Row &row, unsigned, Bits bits) { row = bits; }
};

/* Every key is above, or is, that of a NaN. */
template <class Element> __device__ constexpr typename Element::Key nan_key() {
  return static_cast<typename Element::Key>(~0ll << (8 * Element::bytes - 1));
}
template <class Key> __device__ constexpr Key greatest_key() {
  return static_cast<Key>(sizeof(Key) == 4 ? INT32_MAX : INT64_MAX);
}

/* ---- Floats: numbers, and ranges by comparisons that pass over NaNs ------------------------------------------------
 */

template <unsigned Dtype> struct Float : Width<Dtype == RED_F64 ? 8 : Dtype == RED_F32 ? 4 : 2> {
  using Base = Width<Dtype == RED_F64 ? 8 : Dtype == RED_F32 ? 4 : 2>;
  using Bits = typename Base::Bits;
  using Key = typename Base::Key;
  static constexpr bool is_float = true;
  static constexpr Bits all = static_cast<Bits>(~0ull >> (64 - 8 * Base::bytes)), positive = all >> 1;
  Bits inf;
  __device__ explicit Float(const red_cuda_element &e) : inf(static_cast<Bits>(e.inf)) {}
  __device__ bool is_nan(Bits x) const { return (x & positive) > inf; }
  __device__ static Key key(Bits x) {
    constexpr unsigned shift = 8 * (sizeof(Bits) - Base::bytes);
    Key value = static_cast<Key>(x << shift) >> shift;
    return mirror(value);
  }

  /* Bits with a key of RED_MIN or its complement, as a range: all NaNs, both zeros, or one number. */
  struct Wanted {
    Bits mask, low, span;
    __device__ bool has(Bits x) const { return static_cast<Bits>((x & mask) - low) <= span; }
  };
  __device__ Wanted with_key(Key key) const {
    constexpr Key nan = static_cast<Key>(~0ll << (8 * Base::bytes - 1));
    if (key == nan || ~key == nan) return {positive, inf + 1, positive - (inf + 1)};
    if (key == 0 || key == -1) return {positive, 0, 0};
    return {all, static_cast<Bits>(mirror(key)) & all, 0};
  }

private:
  /* What is below 0 the other way round; again, and it is what it was. */
  __device__ static Key mirror(Key value) {
    return value ^ (value >> (8 * sizeof(Key) - 1) & static_cast<Key>(positive));
  }
};

struct F32 : Float<RED_F32> {
  using Number = float;
  using Float<RED_F32>::Float;
  __device__ static float number(Row row, unsigned) { return __uint_as_float(row); }
  __device__ static double real(Row row, unsigned) { return static_cast<double>(number(row, 0)); }
  struct Range {
    float least, most;
    __device__ explicit Range(const F32 &, Row row) : least(number(row, 0)), most(least) {}
    __device__ void take(const F32 &, Row row) { /* in hardware -0 is below +0 */
      least = fminf(least, number(row, 0));
      most = fmaxf(most, number(row, 0));
    }
    __device__ Key least_key() const { return key(__float_as_uint(least)); }
    __device__ Key most_key() const { return key(__float_as_uint(most)); }
  };
};

/* Comparisons do not tell zeros apart; their signs are collected beside them. */
struct F64 : Float<RED_F64> {
  using Number = double;
  using Float<RED_F64>::Float;
  __device__ static double number(Row row, unsigned) { return __longlong_as_double(static_cast<long long>(row)); }
  __device__ static double real(Row row, unsigned) { return number(row, 0); }
  struct Range {
    double least, most;
    uint32_t some, every; /* the signs: of one at least, of all */
    __device__ explicit Range(const F64 &, Row row)
        : least(number(row, 0)), most(least), some(static_cast<uint32_t>(row >> 32)), every(some) {}
    __device__ void take(const F64 &, Row row) {
      double x = number(row, 0);
      least = x < least ? x : least;
      most = x > most ? x : most;
      some |= static_cast<uint32_t>(row >> 32);
      every &= static_cast<uint32_t>(row >> 32);
    }
    /* No element is below 0: whatever has a sign is -0. */
    __device__ Key least_key() const { return least == 0 ? some >> 31 != 0 ? -1 : 0 : key(bits_of(least)); }
    __device__ Key most_key() const { return most == 0 ? every >> 31 != 0 ? -1 : 0 : key(bits_of(most)); }
    __device__ static uint64_t bits_of(double x) { return static_cast<uint64_t>(__double_as_longlong(x)); }
  };
};

/* Two numbers of 16 bits at a time. */
struct HalfMinMax {
#if __CUDA_ARCH__ >= 800
#define RED_HALF_PAIR(name, instruction)                                                                               \
  __device__ static uint32_t name(uint32_t a, uint32_t b) {                                                            \
    uint32_t c;                                                                                                        \
    asm(instruction " %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));                                                        \
    return c;                                                                                                          \
  }
  RED_HALF_PAIR(least_f16, "min.f16x2")
  RED_HALF_PAIR(most_f16, "max.f16x2")
  RED_HALF_PAIR(least_bf16, "min.bf16x2")
  RED_HALF_PAIR(most_bf16, "max.bf16x2")
#undef RED_HALF_PAIR
#endif
};

template <unsigned Dtype> struct Half : Float<Dtype> {
  using Number = float;
  using typename Float<Dtype>::Row;
  using Float<Dtype>::Float;
  __device__ static float number(Row row, unsigned v) {
    if (Dtype == RED_F16) return f16_to_f32(static_cast<uint16_t>(v != 0 ? row >> 16 : row));
    return __uint_as_float(v != 0 ? row & 0xffff0000u : row << 16);
  }
  __device__ static double real(Row row, unsigned v) {
    const uint16_t half = static_cast<uint16_t>(v != 0 ? row >> 16 : row);
    return Dtype == RED_F16 ? f16_to_f64(half) : bf16_to_f64(half);
  }
#if __CUDA_ARCH__ >= 800
  struct Range {
    uint32_t least, most; /* two of each */
    __device__ explicit Range(const Half &, Row row) : least(row), most(row) {}
    __device__ void take(const Half &, Row row) {
      least = Dtype == RED_F16 ? HalfMinMax::least_f16(least, row) : HalfMinMax::least_bf16(least, row);
      most = Dtype == RED_F16 ? HalfMinMax::most_f16(most, row) : HalfMinMax::most_bf16(most, row);
    }
    __device__ int32_t least_key() const { return min(Half::key(least & 0xffff), Half::key(least >> 16)); }
    __device__ int32_t most_key() const { return max(Half::key(most & 0xffff), Half::key(most >> 16)); }
  };
#else
  struct Range {
    float least, most;
    __device__ explicit Range(const Half &element, Row row) : least(number(row, 0)), most(least) { take(element, row); }
    __device__ void take(const Half &, Row row) {
#pragma unroll
      for (unsigned v = 0; v < 2; v++) {
        least = fminf(least, number(row, v));
        most = fmaxf(most, number(row, v));
      }
    }
    __device__ int32_t least_key() const {
      return Half::key(narrow(least));
    }
    __device__ int32_t most_key() const {
      return Half::key(narrow(most));
    }

  private:
    __device__ static uint32_t narrow(float x) {
      return Dtype == RED_F16 ? f32_to_f16(x) : f32_to_bf16(x);
    }
  };
#endif
};

using F16 = Half<RED_F16>;
using BF16 = Half<RED_BF16>;

/* ---- Integers: codes, ranges, and sums of codes ---------------------------------------------------------------------
 */

template <unsigned Bytes> struct Integer : Width<Bytes> {
  using typename Width<Bytes>::Row;
  using typename Width<Bytes>::Bits;
  using typename Width<Bytes>::Key;
  static constexpr bool is_float = false;
  static constexpr Bits top = static_cast<Bits>(1ull << (8 * Bytes - 1));
  using Number = __int128;
  Bits flip; /* code = bits ^ flip, in every place of a word */
  bool is_signed;
  __device__ explicit Integer(const red_cuda_element &e)
      : flip(static_cast<Bits>(e.key_xor) ^ (Bytes > 2 ? top : 0)), is_signed(e.sign != 0) {
    if (Bytes <= 2) flip = replicate<Bytes>(flip);
  }
  __device__ __int128 origin() const {
    if (Bytes <= 2) return is_signed ? 0 : static_cast<__int128>(top);
    return is_signed ? -static_cast<__int128>(top) : 0;
  }
  __device__ Row codes(Row row) const { return row ^ flip; }
  /* A code as a number: with a sign if it has 1 or 2 bytes. */
  __device__ __int128 code(Bits bits) const {
    Bits code = bits ^ flip;
    if (Bytes == 1) return static_cast<int8_t>(code);
    if (Bytes == 2) return static_cast<int16_t>(code);
    return static_cast<__int128>(code);
  }
  __device__ Key key(Bits bits) const {
    Bits code = bits ^ flip;
    if (Bytes == 1) return static_cast<int8_t>(code);
    if (Bytes == 2) return static_cast<int16_t>(code);
    return static_cast<Key>(code ^ top);
  }
  struct Wanted {
    const Integer &element;
    Key key;
    __device__ bool has(Bits x) const { return element.key(x) == key; }
  };
  __device__ Wanted with_key(Key key) const { return {*this, key}; }
  __device__ static bool is_nan(Bits) { return false; }

  /* Bytes: the upper ones of halves, and what lies below them only decides between equals. */
  struct Range {
    using Word = Bits;
    Word least, most, least_even, most_even;
    __device__ explicit Range(const Integer &element, Row row) {
      least = most = element.codes(row);
      least_even = most_even = least << 8;
    }
    __device__ void take(const Integer &element, Row row) {
      Row code = element.codes(row);
      if constexpr (Bytes <= 2) {
        least = __vmins2(least, code);
        most = __vmaxs2(most, code);
      } else {
        least = code < least ? code : least;
        most = code > most ? code : most;
      }
      if constexpr (Bytes == 1) {
        least_even = __vmins2(least_even, code << 8);
        most_even = __vmaxs2(most_even, code << 8);
      }
    }
    __device__ Key least_key() const {
      if (Bytes == 1) {
        uint32_t both = __vmins2(static_cast<uint32_t>(least), static_cast<uint32_t>(least_even));
        return static_cast<Key>(min(half(both, 24), half(both << 16, 24)));
      }
      if (Bytes == 2)
        return static_cast<Key>(
            min(half(static_cast<uint32_t>(least), 16), half(static_cast<uint32_t>(least) << 16, 16)));
      return static_cast<Key>(least ^ top);
    }
    __device__ Key most_key() const {
      if (Bytes == 1) {
        uint32_t both = __vmaxs2(static_cast<uint32_t>(most), static_cast<uint32_t>(most_even));
        return static_cast<Key>(max(half(both, 24), half(both << 16, 24)));
      }
      if (Bytes == 2)
        return static_cast<Key>(
            max(half(static_cast<uint32_t>(most), 16), half(static_cast<uint32_t>(most) << 16, 16)));
      return static_cast<Key>(most ^ top);
    }

  private:
    __device__ static int32_t half(uint32_t word, unsigned shift) { return static_cast<int32_t>(word) >> shift; }
  };
};

} // namespace red

#endif
