/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The floating-point environment that the bits assume: round to nearest even, subnormals kept, no traps. Whoever
 * computes floats on the host enters it and leaves it again, in every thread: the caller may have set another.
 */
#ifndef RED_CORE_FPENV_H
#define RED_CORE_FPENV_H

#include <stdint.h>

#if defined(__FAST_MATH__)
#error "the canonical bits need strict floating point: do not compile with -ffast-math"
#endif

#if defined(__x86_64__)
#include <xmmintrin.h>

typedef unsigned red_fpenv;

#define RED_FPENV_DEFAULT 0x1f80u

static inline red_fpenv red_fpenv_enter(void) {
  red_fpenv saved = _mm_getcsr();
  if ((saved & ~0x3fu) != RED_FPENV_DEFAULT) _mm_setcsr(RED_FPENV_DEFAULT);
  return saved;
}

/* Exception flags may stay behind, as after any arithmetic, but where the caller traps on them. */
static inline void red_fpenv_leave(red_fpenv saved) {
  if (__builtin_expect((saved & ~0x3fu) != RED_FPENV_DEFAULT, 0)) _mm_setcsr(saved);
}

/*
 * Within that environment: subnormal numbers taken for zeros, and made zeros, by loops that prove that this does not
 * matter. Some CPUs take far longer for them.
 */
static inline void red_fpenv_flush(int on) {
  const unsigned to_zero = 0x8000u | 0x0040u; /* results, operands */
  _mm_setcsr(on ? RED_FPENV_DEFAULT | to_zero : RED_FPENV_DEFAULT);
}

#elif defined(__aarch64__)

typedef uint64_t red_fpenv;

static inline red_fpenv red_fpenv_enter(void) {
  red_fpenv saved;
  __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
  if (saved != 0) __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)0));
  return saved;
}

static inline void red_fpenv_leave(red_fpenv saved) {
  if (saved != 0) __asm__ volatile("msr fpcr, %0" ::"r"(saved));
}

static inline void red_fpenv_flush(int on) { /* they cost nothing there */
  (void)on;
}

#else
#error "libred supports x86-64 and AArch64"
#endif

#endif
