/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Warp primitives for your own kernels: shuffles of any trivially copyable type, reductions and scans. Header only,
 * CUDA C++14, no dependency on the library.
 *
 * Every function is called by the lanes 0 .. lanes-1 of a warp together, `lanes` being 32 unless given (a partial warp:
 * its first lanes); those that end in _masked by the lanes whose bits are set in `mask`, any but none, the same mask in
 * all of them. Each states its order of operations, so that results on floating-point numbers can be relied on:
 *   warp_reduce          for h = 16, 8, 4, 2, 1:  a[l] = op(a[l], a[l + h]), a missing operand is skipped
 *   warp_reduce_pairs    for h = 1, 2, 4, 8, 16:  neighbours first, the tree of adjacent pairs
 *   warp_inclusive_scan  for d = 1, 2, 4, 8, 16:  a[l] = op(a[l - d], a[l]), where l >= d
 * With a mask the order is that of as many first lanes: the member of rank r, before which r bits are set, takes the
 * place of lane r.
 */
#ifndef RED_DEVICE_CUDA_WARP_CUH
#define RED_DEVICE_CUDA_WARP_CUH

namespace red {

/* ---- Operators: any struct with a const operator() will do ------------------------------------------------------- */

struct Sum {
  template <class T> __device__ T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
struct Prod {
  template <class T> __device__ T operator()(T a, T b) const { return static_cast<T>(a * b); }
};
struct And {
  template <class T> __device__ T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
struct Or {
  template <class T> __device__ T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
struct Xor {
  template <class T> __device__ T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

namespace detail {
/* NaN: what has == and is not equal to itself. */
template <class T> __device__ inline auto differs_from_itself(const T &x, int) -> decltype(static_cast<bool>(x == x)) {
  return !(x == x);
}
template <class T> __device__ inline bool differs_from_itself(const T &, long) {
  return false;
}
template <class T> __device__ inline bool is_nan(const T &x) {
  return differs_from_itself(x, 0);
}
/* `result` unless an operand is a NaN, which wins, the left one first. */
template <class T> __device__ inline T nan_or(T a, T b, T result) {
  return !is_nan(a) && !is_nan(b) ? result : is_nan(a) ? a : b;
}
/* The lesser and the greater of two operands, the left one of equals; a NaN loses, two NaNs give any. */
template <class T> __device__ inline T lesser(T a, T b) {
  return b < a ? b : a;
}
template <class T> __device__ inline T greater(T a, T b) {
  return a < b ? b : a;
}
/* These instructions put -0 before +0, as IEEE 754-2019 does, and flush nothing, whatever the compiler's options. */
__device__ inline float lesser(float a, float b) {
  float result;
  asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
__device__ inline float greater(float a, float b) {
  float result;
  asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
__device__ inline double lesser(double a, double b) {
  double result;
  asm("min.f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b));
  return result;
}
__device__ inline double greater(double a, double b) {
  double result;
  asm("max.f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b));
  return result;
}

/* Classes of two bytes that convert to float, as __half and __nv_bfloat16, are compared as floats, others as they are.
 */
template <class T, class = float> struct Converts { static constexpr bool value = false; };
template <class T> struct Converts<T, decltype(static_cast<float>(*static_cast<const T *>(nullptr)))> {
  static constexpr bool value = __is_class(T) && sizeof(T) == 2;
};
template <class T, bool AsFloat = Converts<T>::value> struct Compare {
  template <class Choose> static __device__ T by(T a, T b, Choose choose) { return choose(a, b); }
};
template <class T> struct Compare<T, true> {
  template <class Choose> static __device__ T by(T a, T b, Choose choose) {
    float x = static_cast<float>(a), y = static_cast<float>(b);
    return __float_as_uint(choose(x, y)) == __float_as_uint(x) ? a : b;
  }
};
} // namespace detail

/* minimum, maximum: a NaN wins. -0 is below +0, of float, double, __half and __nv_bfloat16. */
struct Min {
  template <class T> __device__ T operator()(T a, T b) const {
    return detail::Compare<T>::by(a, b, [](auto x, auto y) { return detail::nan_or(x, y, detail::lesser(x, y)); });
  }
};
struct Max {
  template <class T> __device__ T operator()(T a, T b) const {
    return detail::Compare<T>::by(a, b, [](auto x, auto y) { return detail::nan_or(x, y, detail::greater(x, y)); });
  }
};
/* minimumNumber, maximumNumber: a NaN loses. */
struct MinNum {
  template <class T> __device__ T operator()(T a, T b) const {
    return detail::Compare<T>::by(a, b, [](auto x, auto y) { return detail::is_nan(x) ? y : detail::lesser(x, y); });
  }
};
struct MaxNum {
  template <class T> __device__ T operator()(T a, T b) const {
    return detail::Compare<T>::by(a, b, [](auto x, auto y) { return detail::is_nan(x) ? y : detail::greater(x, y); });
  }
};

/* ---- Shuffles -----------------------------------------------------------------------------------------------------
 */

/* For blocks whose size in x is a multiple of 32, or that are one-dimensional. */
__device__ inline unsigned lane_index() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/* The mask of the first `lanes` lanes. */
__device__ constexpr unsigned lane_mask(unsigned lanes) {
  return lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
}

namespace detail {
template <class T, unsigned Size = sizeof(T)> struct Words {
  static_assert(__is_trivially_copyable(T), "shuffles copy bytes");
  static constexpr unsigned count = (Size + 3) / 4;
  unsigned word[count];
};

/* Any type travels as 32-bit words; the compiler sees through the copies. */
template <class T, class Move> __device__ inline T move_words(T value, Move move) {
  Words<T> words = {};
  __builtin_memcpy(words.word, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < Words<T>::count; i++) words.word[i] = move(words.word[i]);
  __builtin_memcpy(&value, words.word, sizeof(T));
  return value;
}
} // namespace detail

/* The value of one lane, in all. */
template <class T> __device__ inline T warp_broadcast(T value, unsigned lane, unsigned lanes = 32) {
  unsigned mask = lane_mask(lanes);
  return detail::move_words(value, [=](unsigned w) { return __shfl_sync(mask, w, static_cast<int>(lane)); });
}

/* The value of lane ^ bits, which must be one of the lanes. */
template <class T> __device__ inline T warp_xor(T value, unsigned bits, unsigned lanes = 32) {
  unsigned mask = lane_mask(lanes);
  return detail::move_words(value, [=](unsigned w) { return __shfl_xor_sync(mask, w, static_cast<int>(bits)); });
}

/* The value of lane - distance; lanes below `distance` keep their own: guard what you do with it. */
template <class T> __device__ inline T warp_up(T value, unsigned distance, unsigned lanes = 32) {
  unsigned mask = lane_mask(lanes);
  return detail::move_words(value, [=](unsigned w) { return __shfl_up_sync(mask, w, distance); });
}

/* The value of lane + distance; where there is none the result is unspecified: guard what you do with it. */
template <class T> __device__ inline T warp_down(T value, unsigned distance, unsigned lanes = 32) {
  unsigned mask = lane_mask(lanes);
  return detail::move_words(value, [=](unsigned w) { return __shfl_down_sync(mask, w, distance); });
}

/* ---- Reductions: the result is in lane 0, other lanes hold partial results ----------------------------------------
 */

template <class T, class Op> __device__ inline T warp_reduce(T value, Op op, unsigned lanes = 32) {
  unsigned lane = lane_index();
#pragma unroll
  for (unsigned h = 16; h > 0; h /= 2) {
    T other = warp_down(value, h, lanes);
    if (lane + h < lanes) value = op(value, other);
  }
  return value;
}

/* As above in the order of adjacent pairs: keeps left and right, so op need not be commutative. */
template <class T, class Op> __device__ inline T warp_reduce_pairs(T value, Op op, unsigned lanes = 32) {
  unsigned lane = lane_index();
#pragma unroll
  for (unsigned h = 1; h < 32; h *= 2) {
    T other = warp_down(value, h, lanes);
    if (lane % (2 * h) == 0 && lane + h < lanes) value = op(value, other);
  }
  return value;
}

/* ---- Scans: op need not be commutative -----------------------------------------------------------------------------
 */

/* Lane l gets a[0] op .. op a[l]. Without the guard an up-shuffle would count a lane's own value twice. */
template <class T, class Op> __device__ inline T warp_inclusive_scan(T value, Op op, unsigned lanes = 32) {
  unsigned lane = lane_index();
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    T left = warp_up(value, d, lanes);
    if (lane >= d) value = op(left, value);
  }
  return value;
}

/* Lane l gets a[0] op .. op a[l-1]; lane 0 gets `identity`. */
template <class T, class Op> __device__ inline T warp_exclusive_scan(T value, Op op, T identity, unsigned lanes = 32) {
  T left = warp_up(warp_inclusive_scan(value, op, lanes), 1, lanes);
  return lane_index() == 0 ? identity : left;
}

/* ---- Any lanes of a warp: those in `mask`, by rank -----------------------------------------------------------------
 */

/* How many members of the mask are below this lane. */
__device__ inline unsigned lane_rank(unsigned mask) {
  return static_cast<unsigned>(__popc(mask & ((1u << lane_index()) - 1)));
}

/* The value of one lane, in all; each may name another one. The lanes named are members. */
template <class T> __device__ inline T warp_fetch_masked(T value, unsigned lane, unsigned mask) {
  return detail::move_words(value, [=](unsigned w) { return __shfl_sync(mask, w, static_cast<int>(lane)); });
}

namespace detail {
/* The lane of the next member, or of the one before; the last one's next, and the first one's before, is itself. */
__device__ inline unsigned lane_after(unsigned mask) {
  unsigned above = mask & ~((2u << lane_index()) - 1);
  return above != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(above))) - 1 : lane_index();
}
__device__ inline unsigned lane_before(unsigned mask) {
  unsigned below = mask & ((1u << lane_index()) - 1);
  return below != 0 ? 31 - static_cast<unsigned>(__clz(static_cast<int>(below))) : lane_index();
}
/* From the lane `distance` ranks away to the one twice as far: where the lane there points to. */
__device__ inline unsigned twice_as_far(unsigned lane, unsigned mask) {
  return __shfl_sync(mask, lane, static_cast<int>(lane));
}
} // namespace detail

/* The result is in the first member. */
template <class T, class Op> __device__ inline T warp_reduce_masked(T value, Op op, unsigned mask) {
  unsigned rank = lane_rank(mask), count = static_cast<unsigned>(__popc(mask)), lane[5];
  lane[0] = detail::lane_after(mask);
#pragma unroll
  for (unsigned i = 1; i < 5; i++) lane[i] = detail::twice_as_far(lane[i - 1], mask);
#pragma unroll
  for (unsigned i = 5; i-- > 0;) {
    T other = warp_fetch_masked(value, lane[i], mask);
    if (rank + (1u << i) < count) value = op(value, other);
  }
  return value;
}

/* As above in the order of adjacent pairs: op need not be commutative. */
template <class T, class Op> __device__ inline T warp_reduce_pairs_masked(T value, Op op, unsigned mask) {
  unsigned rank = lane_rank(mask), count = static_cast<unsigned>(__popc(mask)), lane = detail::lane_after(mask);
#pragma unroll
  for (unsigned h = 1; h < 32; h *= 2) {
    T other = warp_fetch_masked(value, lane, mask);
    if (rank % (2 * h) == 0 && rank + h < count) value = op(value, other);
    lane = detail::twice_as_far(lane, mask);
  }
  return value;
}

/* Each member gets its own; op need not be commutative. */
template <class T, class Op> __device__ inline T warp_inclusive_scan_masked(T value, Op op, unsigned mask) {
  unsigned rank = lane_rank(mask), lane = detail::lane_before(mask);
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    T left = warp_fetch_masked(value, lane, mask);
    if (rank >= d) value = op(left, value);
    lane = detail::twice_as_far(lane, mask);
  }
  return value;
}

/* The first member gets `identity`. */
template <class T, class Op> __device__ inline T warp_exclusive_scan_masked(T value, Op op, T identity, unsigned mask) {
  T left = warp_fetch_masked(warp_inclusive_scan_masked(value, op, mask), detail::lane_before(mask), mask);
  return lane_rank(mask) == 0 ? identity : left;
}

} // namespace red

#endif
