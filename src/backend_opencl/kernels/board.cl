/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words by which work-groups of one launch tell each other values: each has 32 bits of a value below the epoch in which they
 * are valid. So nothing needs a fence: what is there tells so itself.
 */
typedef struct red_slot {
  ulong low, high;
} red_slot;

/* Aligned to 16 bytes. */
static void red_write_pair(global ulong *at, red_slot slot) {
#if defined(RED_SHAPE_PTX)
  __asm__ volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(slot.low), "l"(slot.high) : "memory");
#else
  volatile global ulong *to = at;
  to[0] = slot.low;
  to[1] = slot.high;
#endif
}

static red_slot red_read_pair(global const ulong *at) {
  red_slot slot;
#if defined(RED_SHAPE_PTX)
  ulong low, high;
  __asm__ volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(at) : "memory");
  slot.low = low;
  slot.high = high;
#else
  volatile global const ulong *from = at;
  slot.low = from[0];
  slot.high = from[1];
#endif
  return slot;
}

static red_slot red_slot_of(ulong bits, uint epoch) {
  ulong valid = (ulong)epoch << 32;
  red_slot slot = {valid | (uint)bits, valid | bits >> 32};
  return slot;
}

/* A word that stands alone: the other half is nothing, of the same epoch. */
static red_slot red_single(ulong word) {
  red_slot slot = {word, word & 0xffffffff00000000ul};
  return slot;
}

static bool red_is_valid(red_slot slot, uint epoch) {
  return (uint)(slot.low >> 32) == epoch && (uint)(slot.high >> 32) == epoch;
}

static ulong red_slot_bits(red_slot slot) {
  return slot.high << 32 | (uint)slot.low;
}

/* ---- One word a value where 32 bits hold it, else a pair ---- */

#define RED_WORDS (RED_VALUE_BITS == 64 || RED_SLOT == 2 ? 2 : 1)

static void red_post(global ulong *words, ulong index, ulong bits, uint epoch) {
  global ulong *at = words + index * RED_WORDS;
  red_slot slot = red_slot_of(bits, epoch);
  if (RED_WORDS == 2) {
    red_write_pair(at, slot);
    return;
  }
#if defined(RED_SHAPE_PTX)
  __asm__ volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(slot.low) : "memory");
#else
  *(volatile global ulong *)at = slot.low;
#endif
}

/* Read now and looked at later, so that several can be on their way. */
static red_slot red_read_slot(global const ulong *words, ulong index) {
  global const ulong *at = words + index * RED_WORDS;
  if (RED_WORDS == 2) return red_read_pair(at);
#if defined(RED_SHAPE_PTX)
  ulong word;
  __asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return red_single(word);
#else
  return red_single(*(volatile global const ulong *)at);
#endif
}
