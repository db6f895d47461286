/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What NVIDIA's devices of compute capability 9.0 and above have for work-groups whose warps do different things: barriers
 * in local memory that count arrivals and bytes, copies by an engine of their own, votes and shuffles of values.
 */
static uint red_local_address(local const void *at) {
  return (uint)(ulong)at;
}

static void red_bar_init(local ulong *bar, uint arrivals) {
  __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(red_local_address(bar)), "r"(arrivals) : "memory");
}

/* Make what was initialised visible to the copy engine. */
static void red_bar_fence(void) {
  __asm__ volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static void red_bar_arrive(local ulong *bar) {
  __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(red_local_address(bar)) : "memory");
}

/* Arrive, and expect so many bytes of copies before the phase completes. */
static void red_bar_expect(local ulong *bar, uint bytes) {
  __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(red_local_address(bar)), "r"(bytes)
                   : "memory");
}

/* Wait until the phase of this parity has completed. */
static void red_bar_wait(local ulong *bar, uint parity) {
  uint done = 0;
  while (!done)
    __asm__ volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(red_local_address(bar)), "r"(parity)
                     : "memory");
}

/* Addresses and size are multiples of 16. */
static void red_bulk_copy(local void *to, global const uchar *from, uint bytes, local ulong *bar) {
  __asm__ volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          red_local_address(to)),
      "l"(from), "r"(bytes), "r"(red_local_address(bar))
      : "memory");
}

static void red_warp_barrier(void) {
  __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

static bool red_any(bool is) {
  uint any;
  __asm__ volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q;}"
                   : "=r"(any)
                   : "r"((uint)is));
  return any;
}

/* The value of the lane whose number differs by `mask`; of lane `from`; of the next lane. */
#define RED_SHUFFLES(how, name)                                                                                        \
  static uint red_##name##_word(uint value, uint lane) {                                                               \
    uint other;                                                                                                        \
    __asm__ volatile("shfl.sync." how ".b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(value), "r"(lane));     \
    return other;                                                                                                      \
  }                                                                                                                    \
  static RED_VALUE red_##name(RED_VALUE value, uint lane) {                                                            \
    ulong word = red_pack(value);                                                                                      \
    uint low = red_##name##_word((uint)word, lane);                                                                    \
    uint high = RED_VALUE_BITS == 64 ? red_##name##_word((uint)(word >> 32), lane) : 0;                                \
    return red_unpack((ulong)high << 32 | low);                                                                        \
  }
RED_SHUFFLES("bfly", across)
RED_SHUFFLES("idx", of_lane)
RED_SHUFFLES("down", down)
