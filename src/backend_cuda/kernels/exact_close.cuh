/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From digits to the result. Raw digits of radix 2^32, signed and of up to 2^60, become sign and magnitude, by one warp
 * and without a chain of carries: what is left of them after two rounds is found by one addition of bit masks.
 */
#ifndef RED_CUDA_EXACT_CLOSE_CUH
#define RED_CUDA_EXACT_CLOSE_CUH

#include "convert.cuh"
#include "exact_column.cuh"

namespace red {

constexpr unsigned raw_digits = 160;

struct ExactScratch {
  unsigned long long raw[raw_digits]; /* as int64; digit 0 is the window's first one */
  red_exact_magnitude magnitude;
  uint32_t flags;
};

/* value * 2^bit units, bit counted from the window's first digit; by any threads. */
__device__ inline void add_raw(ExactScratch &scratch, int64_t value, unsigned bit) {
  if (value == 0) return;
  uint64_t magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
  unsigned i = bit / 32, shift = bit % 32;
  uint64_t low = magnitude << shift;
  uint64_t part[3] = {static_cast<uint32_t>(low), low >> 32, shift > 0 ? magnitude >> (64 - shift) : 0};
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (part[k] != 0) atomicAdd(&scratch.raw[i + k], value < 0 ? 0 - part[k] : part[k]);
}

/* An initial value, by one thread. */
__device__ inline void add_init(ExactScratch &scratch, const red_cuda_element &e, unsigned first_digit) {
  double x = float_value<double>(e.acc, e.init);
  uint64_t bits = static_cast<uint64_t>(__double_as_longlong(x)), fraction = bits & 0xfffffffffffffull;
  unsigned exponent = static_cast<unsigned>(bits >> 52) & 0x7ff;
  if (bits != 0x8000000000000000ull) scratch.flags |= RED_EXACT_NOT_MINUS_ZERO;
  if (exponent == 0x7ff) {
    scratch.flags |= fraction != 0 ? RED_EXACT_NAN : x > 0 ? RED_EXACT_PLUS_INF : RED_EXACT_MINUS_INF;
    return;
  }
  if (bits << 1 == 0) return;
  int64_t significand = static_cast<int64_t>(exponent > 0 ? fraction | 1ull << 52 : fraction);
  unsigned bit = RED_EXACT_F64 + (exponent > 0 ? exponent - 1 : 0) - 32 * first_digit;
  if (exponent >= 1 && bit >= 1u << 31) { /* below the window: an f32 has zeros there */
    significand >>= 0u - bit;
    bit = 0;
  }
  add_raw(scratch, x < 0 ? -significand : significand, bit);
}

/* Carries into 32 digits at a time, given which of them overflow and which would with one more. */
__device__ inline uint32_t look_ahead(uint32_t generate, uint32_t propagate, uint32_t &carry) {
  uint32_t any = generate | propagate;
  uint64_t sum = static_cast<uint64_t>(any) + generate + carry;
  carry = static_cast<uint32_t>(sum >> 32);
  return static_cast<uint32_t>(sum) ^ propagate;
}

/*
 * By one warp, lane l having digits l, l + 32, ... The first round leaves digits in [2^31, 2^32 + 2^31), so that with
 * the carries of their neighbours, of less than 2^31, they are positive; the second one leaves at most 2^32.
 */
template <unsigned Groups> __device__ inline void normalise(ExactScratch &scratch, unsigned first_digit) {
  const unsigned lane = lane_index();
  uint32_t digit[Groups];
  int64_t carry1 = 0; /* what came out of the group before */
  uint32_t carry2 = 0, carry = 0;
#pragma unroll
  for (unsigned g = 0; g < Groups; g++) {
    int64_t raw = static_cast<int64_t>(scratch.raw[32 * g + lane]);
    int64_t up = (raw - (1ll << 31)) >> 32, rest = raw - up * (1ll << 32);
    int64_t came = __shfl_up_sync(0xffffffffu, up, 1);
    if (lane == 0) came = carry1;
    carry1 = __shfl_sync(0xffffffffu, up, 31);
    uint64_t positive = static_cast<uint64_t>(rest + came);
    uint32_t over = static_cast<uint32_t>(positive >> 32), over_before = __shfl_up_sync(0xffffffffu, over, 1);
    if (lane == 0) over_before = carry2;
    carry2 = __shfl_sync(0xffffffffu, over, 31);
    uint64_t nearly = static_cast<uint64_t>(static_cast<uint32_t>(positive)) + over_before;
    uint32_t generate = __ballot_sync(0xffffffffu, nearly >> 32 != 0);
    uint32_t propagate = __ballot_sync(0xffffffffu, nearly == 0xffffffffu);
    uint32_t into = look_ahead(generate, propagate, carry);
    digit[g] = static_cast<uint32_t>(nearly) + (into >> lane & 1);
  }
  bool negative = carry1 + static_cast<int64_t>(carry2) + static_cast<int64_t>(carry) < 0;
  unsigned first = raw_digits, last = 0; /* of the digits that are not zero */
#pragma unroll
  for (unsigned g = 0; g < Groups; g++) {
    uint32_t some = __ballot_sync(0xffffffffu, digit[g] != 0);
    if (some != 0 && first == raw_digits) first = 32 * g + __ffs(static_cast<int>(some)) - 1;
    if (negative) digit[g] = 32 * g + lane > first ? ~digit[g] : 0 - digit[g]; /* zeros stay zeros */
    some = __ballot_sync(0xffffffffu, digit[g] != 0);
    if (some != 0) last = 32 * g + 32 - static_cast<unsigned>(__clz(static_cast<int>(some)));
    if (first_digit + 32 * g + lane < RED_EXACT_DIGITS) scratch.magnitude.digit[first_digit + 32 * g + lane] = digit[g];
  }
  if (lane == 0) {
    scratch.magnitude.first = last > 0 ? first_digit + first : 0;
    scratch.magnitude.last = last > 0 ? first_digit + last : 0;
    scratch.magnitude.negative = negative;
  }
  __syncwarp();
}

/* To the device, rounded, or to the host as it is; by one warp. A rehearsal keeps the result to itself. */
__device__ inline void give(const red_cuda_exact &args, ExactScratch &scratch, bool rehearsal) {
  const red_exact_magnitude &m = scratch.magnitude;
  if (args.answer == nullptr) {
    if (lane_index() > 0) return;
    uint64_t bits = red_exact_rounded(scratch.flags, &scratch.magnitude, static_cast<red_finish>(args.element.finish),
                                      args.n + args.element.has_init, static_cast<red_dtype>(args.element.out));
    if (!rehearsal) store_bits(args.out, bits, args.element.out_bytes);
    return;
  }
  if (rehearsal) return;
  for (unsigned i = m.first + lane_index(); i < m.last; i += 32) args.answer->digit[i] = m.digit[i];
  if (lane_index() == 0) {
    args.answer->word[RED_CUDA_EXACT_FLAGS] = scratch.flags;
    args.answer->word[RED_CUDA_EXACT_NEGATIVE] = m.negative;
    args.answer->word[RED_CUDA_EXACT_FIRST] = m.first;
    args.answer->word[RED_CUDA_EXACT_LAST] = m.last;
  }
  __threadfence_system();
  __syncwarp();
  if (lane_index() == 0) *static_cast<volatile uint32_t *>(&args.answer->flag) = args.answer_flag;
}

} // namespace red

#endif
