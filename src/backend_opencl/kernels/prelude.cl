/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every program begins with. The host names the problem's types by options:
 *   RED_IN_f32 .. and RED_IN_BITS, RED_IN_FLOAT, RED_IN_SIGNED (0 or 1)   the elements
 *   RED_ADD RED_MUL RED_MIN RED_ARGMIN RED_AND RED_OR RED_XOR RED_COUNT   the family (src/core/lower.h)
 *   RED_MAP         of ADD: 0, or what is added of an element: 1 its product with that of the second input, 2 its square,
 *                   3 its magnitude
 *   RED_CANONICAL   32 or 64: float accumulators in the canonical order; 0: any order
 *   RED_WANT_SUM RED_WANT_EXTREMA RED_WANT_NANS RED_WANT_MOMENTS (0 or 1)  of statistics: what the selection needs
 * and this file derives from them
 *   RED_ELEMENT   an element's bits            RED_KEY     the signed integer of that width
 *   RED_VALUE     what lanes accumulate        RED_STATE   what nodes hold
 *   RED_IDENTITY  the value that changes nothing
 * A node lies in memory as RED_SLOT words of 64 bits, laid out as red_state is.
 */
#pragma OPENCL FP_CONTRACT OFF
#if RED_CANONICAL == 64 || RED_WANT_MOMENTS || RED_DOUBLES || (RED_ROUNDS && RED_PTX)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifndef RED_MAP
#define RED_MAP 0
#endif

#define RED_JOIN_(a, b) a##b
#define RED_JOIN(a, b) RED_JOIN_(a, b)

#if RED_IN_BITS == 8
#define RED_ELEMENT uchar
#define RED_KEY char
#define RED_MOST 0x7f
#elif RED_IN_BITS == 16
#define RED_ELEMENT ushort
#define RED_KEY short
#define RED_MOST 0x7fff
#elif RED_IN_BITS == 32
#define RED_ELEMENT uint
#define RED_KEY int
#define RED_MOST 0x7fffffff
#else
#define RED_ELEMENT ulong
#define RED_KEY long
#define RED_MOST 0x7fffffffffffffffL
#endif

#if defined(RED_ADD)
#define RED_OP(a, b) ((a) + (b))
#elif defined(RED_MUL)
#define RED_OP(a, b) ((a) * (b))
#elif defined(RED_MIN) || defined(RED_ARGMIN)
#define RED_OP(a, b) min((a), (b))
#elif defined(RED_AND)
#define RED_OP(a, b) ((a) & (b))
#elif defined(RED_OR)
#define RED_OP(a, b) ((a) | (b))
#elif defined(RED_XOR)
#define RED_OP(a, b) ((a) ^ (b))
#elif defined(RED_COUNT)
#define RED_OP(a, b) ((a) + (b))
#endif

#if RED_CANONICAL == 32
#define RED_VALUE float
#define RED_STATE float
#define RED_IDENTITY RED_FLOAT_IDENTITY
#elif RED_CANONICAL == 64
#define RED_VALUE double
#define RED_STATE double
#define RED_IDENTITY RED_FLOAT_IDENTITY
#elif defined(RED_MIN) || defined(RED_ARGMIN)
#define RED_VALUE RED_KEY
#define RED_STATE RED_KEY
#define RED_IDENTITY RED_MOST
#elif defined(RED_AND) || defined(RED_OR) || defined(RED_XOR)
#define RED_VALUE RED_ELEMENT
#define RED_STATE RED_ELEMENT
#define RED_IDENTITY (RED_ELEMENT) RED_BITS_IDENTITY
#elif defined(RED_NARROW_VALUES) && (defined(RED_COUNT) || (defined(RED_ADD) && RED_IN_BITS <= 16 && !RED_MAP))
/* Within a chunk 32 bits hold the sum of 4096 elements of up to 16 bits. */
#define RED_VALUE uint
#define RED_STATE ulong
#define RED_IDENTITY 0u
#else
#define RED_VALUE ulong
#define RED_STATE ulong
#if defined(RED_MUL)
#define RED_IDENTITY 1ul
#else
#define RED_IDENTITY 0ul
#endif
#endif

#if RED_CANONICAL && defined(RED_ADD)
#define RED_FLOAT_IDENTITY (-0.0f) /* x + -0 is x, for every x */
#elif RED_CANONICAL
#define RED_FLOAT_IDENTITY 1.0f
#elif defined(RED_AND)
#define RED_BITS_IDENTITY (-1L)
#else
#define RED_BITS_IDENTITY 0
#endif

/* Arg operators take zeros for equal; statistics say when. */
#if defined(RED_ARGMIN)
#define RED_ZEROS_MERGE 1
#else
#define RED_ZEROS_MERGE 0
#endif

/* How wide a value is. */
#if RED_CANONICAL
#define RED_VALUE_BITS RED_CANONICAL
#elif defined(RED_ADD) || defined(RED_MUL) || defined(RED_COUNT)
#define RED_VALUE_BITS 64
#else
#define RED_VALUE_BITS RED_IN_BITS
#endif

/* Float results pass through the bits of binary32 or binary64. */
#if RED_CANONICAL == 64 || (!RED_CANONICAL && RED_IN_BITS == 64)
#define RED_WORD ulong
#define RED_WORD_SIGNED long
#define RED_WORD_BITS 64
#define RED_WORD_FRACTION 52
#define RED_WORD_BIAS 1023
#define RED_WORD_MOST 0x7fffffffffffffffL
#define RED_WORD_INFINITY 0x7ff0000000000000L
#define RED_WORD_NAN 0x7ff8000000000000L
#else
#define RED_WORD uint
#define RED_WORD_SIGNED int
#define RED_WORD_BITS 32
#define RED_WORD_FRACTION 23
#define RED_WORD_BIAS 127
#define RED_WORD_MOST 0x7fffffff
#define RED_WORD_INFINITY 0x7f800000
#define RED_WORD_NAN 0x7fc00000
#endif

#if defined(RED_ARGMIN)
#define RED_SLOT 2
#else
#define RED_SLOT 1
#endif

#define RED_VALUE16 RED_JOIN(RED_VALUE, 16)
#define RED_ELEMENT16 RED_JOIN(RED_ELEMENT, 16)

/* How elements become keys and truth values; the fields of red_lowered. */
typedef struct red_rules {
  ulong key_xor;
  ulong inf;
  ulong nan_key;
  ulong merge_zeros;
  ulong nonzero_mask;
} red_rules;

/* All loads before the first addition: NVIDIA's compiler would rather save registers, and wait more often. */
#if defined(RED_SHAPE_PTX)
#define RED_HOLD() __asm__ volatile("membar.cta;" ::: "memory")
#else
#define RED_HOLD()
#endif

/* The second input, where there is one; elsewhere the first stands for it and is not read twice. */
#if RED_MAP == 1
#define RED_SECOND_PARAMETERS , global const uchar *in2, ulong in2_offset
#define RED_SECOND_INPUT(x) ((global const RED_ELEMENT *)(in2 + in2_offset))
#else
#define RED_SECOND_PARAMETERS
#define RED_SECOND_INPUT(x) (x)
#endif

/* Flags of exact sums, as src/core/exact.h has them. */
enum { RED_FLAG_NAN = 1, RED_FLAG_PLUS_INF = 2, RED_FLAG_MINUS_INF = 4, RED_FLAG_NOT_MINUS_ZERO = 8 };

/* The dtypes as numbers, in the order of red_dtype. */
#define RED_ENUMERATE(ID, name, bits, class) RED_TYPE_##ID,
enum { RED_TYPE_NONE, RED_TYPES(RED_ENUMERATE) RED_TYPE_COUNT };
