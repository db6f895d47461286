/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Minima and their places as bags (bags.cl): the least key of vectors. NVIDIA's devices have minima of numbers, for which -0
 * is less than +0 and NaNs are nothing, and of pairs of 16 bits in a word; greatest numbers are least negated ones. A NaN that
 * wins is looked for apart, and keys are made once for many elements.
 */

#if RED_PTX >= 90 && RED_IN_BITS <= 16 && !RED_IN_FLOAT
/* A byte is the upper byte of 16 bits; what lies below it only decides between equals. */
typedef struct red_least {
  uint both, even;
} red_least;

static uint red_min_pair(uint a, uint b) {
  uint least;
  __asm__("min.s16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
  return least;
}

static red_least red_least_none(void) {
  red_least least = {0x7fff7fffu, 0x7fff7fffu};
  return least;
}

static void red_least_take(red_least *least, uint4 x, red_rules rules) {
  const uint flip = (uint)rules.key_xor * (RED_IN_BITS == 8 ? 0x01010101u : 0x00010001u);
  red_elements a;
  a.vector = x ^ flip;
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    least->both = red_min_pair(least->both, a.word[i]);
    if (RED_IN_BITS == 8) least->even = red_min_pair(least->even, a.word[i] << 8);
  }
}

static RED_KEY red_least_key(const red_least *least, red_rules rules) {
  uint both = red_min_pair(least->both, least->even);
  return (RED_KEY)min((int)both >> (32 - RED_IN_BITS), (int)(both << 16) >> (32 - RED_IN_BITS));
}

#elif RED_PTX >= 90 && RED_IN_FLOAT && RED_IN_BITS == 16
/* `nan` is a NaN where there was one. */
typedef struct red_least {
  uint number, nan;
} red_least;

#if defined(RED_IN_f16)
#define RED_PAIR "f16x2"
#else
#define RED_PAIR "bf16x2"
#endif

static uint red_min_pair(uint a, uint b) {
  uint least;
  __asm__("min." RED_PAIR " %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
  return least;
}

static uint red_min_or_nan(uint a, uint b) {
  uint least;
  __asm__("min.NaN." RED_PAIR " %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
  return least;
}

static red_least red_least_none(void) {
  red_least least = {0x7fff7fffu, 0u};
  return least;
}

static void red_least_take(red_least *least, uint4 x, red_rules rules) {
  red_elements a;
  a.vector = x ^ ((uint)rules.key_xor & 0x8000u) * 0x00010001u;
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    least->number = red_min_pair(least->number, a.word[i]);
    least->nan = red_min_or_nan(least->nan, a.word[i]);
  }
}

static RED_KEY red_least_key(const red_least *least, red_rules rules) {
  uint number = red_min_pair(least->number, least->number >> 16), nan = red_min_or_nan(least->nan, least->nan >> 16);
  int value = (short)number;
#if defined(RED_ARGMIN)
  value = select(value, (int)(short)(rules.key_xor & 0x8000u), (value & 0x7fff) == 0); /* +0, negated or not */
#endif
  int key = value ^ (value >> 31 & 0x7fff), inf = (int)rules.inf, nan_key = (short)rules.nan_key;
  int nan_wins = ((nan & 0x7fffu) > (uint)inf) & (nan_key < 0);
  return (RED_KEY)select(key, nan_key, ((value & 0x7fff) > inf) | nan_wins);
}

#elif RED_PTX && defined(RED_IN_f32)
typedef struct red_least {
  float number;
  int nan;
} red_least;

static red_least red_least_none(void) {
  red_least least = {as_float(0x7fffffffu), 0};
  return least;
}

static float red_min_number(float a, float b) {
  float least;
  __asm__("min.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}

static void red_least_take(red_least *least, uint4 x, red_rules rules) {
  float4 number = as_float4(x ^ ((uint)rules.key_xor & 0x80000000u));
  float low = red_min_number(number.x, number.y), high = red_min_number(number.z, number.w);
  least->number = red_min_number(least->number, red_min_number(low, high));
  least->nan |= isunordered(number.x, number.y) | isunordered(number.z, number.w);
}

static RED_KEY red_least_key(const red_least *least, red_rules rules) {
  int value = as_int(least->number);
#if defined(RED_ARGMIN)
  value = select(value, (int)((uint)rules.key_xor & 0x80000000u), least->number == 0); /* +0, negated or not */
#endif
  int key = value ^ (value >> 31 & 0x7fffffff), nan_key = (int)rules.nan_key;
  int nan_wins = least->nan & (nan_key < 0);
  return select(key, nan_key, isnan(least->number) | nan_wins);
}

#else
typedef struct red_least {
  RED_KEY key;
} red_least;

static red_least red_least_none(void) {
  red_least least = {RED_MOST};
  return least;
}

static void red_least_take(red_least *least, uint4 x, red_rules rules) {
  red_elements a;
  a.vector = x;
#pragma unroll
  for (uint i = 0; i < RED_PER_VECTOR; i++) least->key = min(least->key, red_lift(a.element[i], rules));
}

static RED_KEY red_least_key(const red_least *least, red_rules rules) {
  return least->key;
}
#endif

#if defined(RED_ARGMIN)
/* The first vector with the least key: which of its elements it is, is looked up at the end, by red_found. */
typedef struct red_bag {
  RED_KEY key;
  uint place;
} red_bag;

static red_bag red_empty_bag(void) {
  red_bag bag = {RED_MOST, 0};
  return bag;
}

static void red_take_vector(red_bag *bag, uint4 x, uint4 y, uint place, red_rules rules) {
  red_least least = red_least_none();
  red_least_take(&least, x, rules);
  RED_KEY key = red_least_key(&least, rules);
  bool first = place == 0 || key < bag->key;
  bag->key = first ? key : bag->key;
  bag->place = first ? place : bag->place;
}

static red_node red_node_of_bag(const red_bag *bag, ulong first, red_rules rules) {
  red_node node = {bag->key, first + bag->place * (RED_GROUP * RED_PER_VECTOR)};
  return node;
}

/* A node whose place is that of the vector, or of the element itself. */
static red_node red_found(red_node node, global const RED_ELEMENT *x, ulong end, red_rules rules) {
  ulong from = node.index;
  if (from == (ulong)-1) return node;
#pragma unroll
  for (uint i = RED_PER_VECTOR; i-- > 0;)
    if (from + i < end && red_lift(x[from + i], rules) == node.key) node.index = from + i;
  return node;
}

#else
typedef red_least red_bag;

static red_bag red_empty_bag(void) {
  return red_least_none();
}

static void red_take_vector(red_bag *bag, uint4 x, uint4 y, uint place, red_rules rules) {
  red_least_take(bag, x, rules);
}

static red_node red_node_of_bag(const red_bag *bag, ulong first, red_rules rules) {
  return red_least_key(bag, rules);
}
#endif
