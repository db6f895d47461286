/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a lane has taken of vectors of 16 bytes, for operators whose order is free; minima are in keys.cl. Narrow elements are
 * taken several at a time, as words, where bit tricks or the device allow it. RED_PTX is the compute capability of NVIDIA's
 * devices, 90 for 9.0, elsewhere 0.
 */
#define RED_PER_VECTOR (128 / RED_IN_BITS)

typedef union red_elements {
  uint4 vector;
  uint word[4];
  RED_ELEMENT element[RED_PER_VECTOR];
} red_elements;

#if defined(RED_AND) || defined(RED_OR) || defined(RED_XOR)

typedef uint4 red_bag;

static red_bag red_empty_bag(void) {
  return (uint4)((uint)RED_BITS_IDENTITY);
}

static void red_take_vector(red_bag *bag, uint4 x, uint4 y, uint place, red_rules rules) {
  *bag = RED_OP(*bag, x);
}

static red_node red_node_of_bag(const red_bag *bag, ulong first, red_rules rules) {
  uint2 both = RED_OP(bag->lo, bag->hi);
#if RED_IN_BITS == 64
  return as_ulong(both);
#else
  uint word = RED_OP(both.x, both.y);
  if (RED_IN_BITS <= 16) word = RED_OP(word, word >> 16);
  if (RED_IN_BITS == 8) word = RED_OP(word, word >> 8);
  return (red_node)word;
#endif
}

#elif !defined(RED_MIN) && !defined(RED_ARGMIN)

/* ---- What is added of a word of narrow elements: small enough for any number of a lane's vectors ---- */

#define RED_ONES (RED_IN_BITS == 8 ? 0x01010101u : 0x00010001u) /* in each element */

#if defined(RED_COUNT) && RED_IN_BITS <= 16
#define RED_WORDS_ADD 1
/* A carry into the top bit of each element that has any of the others. */
static uint red_add_word(uint sum, uint x, uint y, red_rules rules) {
  const uint top = RED_ONES << (RED_IN_BITS - 1);
  x &= (uint)rules.nonzero_mask * RED_ONES;
  return sum + popcount((((x & ~top) + ~top) | x) & top);
}

#elif defined(RED_ADD) && RED_IN_BITS == 8 && RED_PTX >= 61 && RED_MAP != 3
#define RED_WORDS_ADD 1
/* Four products of bytes; a plain sum is one with ones. */
static uint red_add_word(uint sum, uint x, uint y, red_rules rules) {
  uint factor = RED_MAP == 0 ? RED_ONES : y;
#if RED_IN_SIGNED
  __asm__("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(factor));
#else
  __asm__("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(factor));
#endif
  return sum;
}

#elif defined(RED_ADD) && RED_IN_BITS <= 16 && RED_IN_SIGNED && RED_MAP == 3
#define RED_WORDS_ADD 1
/* Magnitudes: complements of the negative elements, plus one; nothing is carried out of an element. */
static uint red_add_word(uint sum, uint x, uint y, red_rules rules) {
  const uint all = (1u << RED_IN_BITS) - 1, even = RED_IN_BITS == 8 ? 0x00ff00ffu : 0xffffu;
  uint negative = x >> (RED_IN_BITS - 1) & RED_ONES, magnitudes = (x ^ negative * all) + negative;
  uint pairs = (magnitudes & even) + (magnitudes >> RED_IN_BITS & even);
  return sum + (RED_IN_BITS == 8 ? (pairs & 0xffff) + (pairs >> 16) : pairs);
}

#else
#define RED_WORDS_ADD 0
#endif

/* ---- Sums, products, counts ---- */

typedef struct red_bag {
  RED_VALUE value;
  uint words; /* what was added as words */
} red_bag;

static red_bag red_empty_bag(void) {
  red_bag bag = {(RED_VALUE)RED_IDENTITY, 0};
  return bag;
}

static void red_take_vector(red_bag *bag, uint4 x, uint4 y, uint place, red_rules rules) {
  red_elements a, b;
  a.vector = x;
  b.vector = y;
#if RED_WORDS_ADD
#pragma unroll
  for (uint i = 0; i < 4; i++) bag->words = red_add_word(bag->words, a.word[i], b.word[i], rules);
#else
#pragma unroll
  for (uint i = 0; i < RED_PER_VECTOR; i++) bag->value = red_step(bag->value, a.element[i], b.element[i], rules);
#endif
}

static red_node red_node_of_bag(const red_bag *bag, ulong first, red_rules rules) {
#if RED_WORDS_ADD && RED_IN_SIGNED && RED_MAP != 3
  return (red_node)(long)(int)bag->words;
#elif RED_WORDS_ADD
  return bag->words;
#else
  return red_node_of(bag->value);
#endif
}

#endif
