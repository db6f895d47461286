/* SPDX-License-Identifier: BSD-2-Clause */
/* Bulk copies into shared memory and the barriers that count their bytes (compute capability 9.0 and above). */
#ifndef RED_CUDA_ASYNC_CUH
#define RED_CUDA_ASYNC_CUH

#include <stdint.h>

namespace red {

struct Barrier {
  uint64_t state;
};

#if __CUDA_ARCH__ >= 900

__device__ inline uint32_t shared_address(const void *at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

__device__ inline void barrier_init(Barrier *barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/* Make the initialisation visible to the copy engine. */
__device__ inline void barrier_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrier_arrive(Barrier *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/* Arrive, and expect so many bytes of bulk copies before the phase completes. */
__device__ inline void barrier_arrive_expect(Barrier *barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

/* Wait until the phase with this parity has completed. */
__device__ inline void barrier_wait(Barrier *barrier, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra finished;\n"
               "bra again;\n"
               "finished:\n"
               "}\n" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}

/* Both addresses and the size are multiples of 16. */
__device__ inline void bulk_load(void *to, const void *from, unsigned bytes, Barrier *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/* Into the L2 cache. */
__device__ inline void bulk_prefetch(const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

#endif

} // namespace red

#endif
