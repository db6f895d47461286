/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans at the speed of the memory: one persistent block a multiprocessor, a ring of tiles of 32 KB in shared memory
 * and a role for each warp. Compute capability 9.0 and above; in and out aligned to 16 bytes.
 *
 *   producer    takes a ticket once half a place in the ring is free, and has the copy engine fill it
 *   sum (8)     the totals of 16 parts of 2 KB
 *   publisher   the tile's total, at once: nothing that waits for other tiles may delay it
 *   closer      the nodes above, for the tiles that end one
 *   look-back   P at the tile's beginning and end
 *   apply (8)   the outputs, with plain stores
 *
 * A place's barriers: full[2] (its halves are there), summed, placed (P is known), free[2] (its halves have been read).
 * Tickets are in order and held by resident blocks only, so every wait is for something that is under way.
 */
#ifndef RED_CUDA_SCAN_PIPE_CUH
#define RED_CUDA_SCAN_PIPE_CUH

#include "async.cuh"
#include "scan_type.cuh"

namespace red {

constexpr unsigned pipe_half = 16384;
constexpr unsigned pipe_tile = 2 * pipe_half;
constexpr unsigned pipe_most = 7; /* places in the ring */
constexpr unsigned pipe_workers = 8;
constexpr unsigned pipe_parts = 2 * pipe_workers;
constexpr unsigned pipe_part = pipe_tile / pipe_parts; /* 4 rows of 32 lanes of 16 bytes */
constexpr int pipe_rows = 4;
constexpr unsigned pipe_threads = 32 * (4 + 2 * pipe_workers);
using PipeGroups = LargeGroups;      /* some 130 tiles are under way at a time */
constexpr uint64_t pipe_end = ~0ull; /* instead of a tile: there are no more */

/* Shared memory beside the ring. */
template <class T> struct PipePlace {
  Barrier full[2], summed, placed, free[2];
  uint64_t tile;
  T part[pipe_parts];
  Prefix<T> prefix;
};

template <class T> struct PipeShared {
  PipePlace<T> place[pipe_most];
  uint32_t epoch;
};

#if __CUDA_ARCH__ >= 900

/* Where a role stands in the ring. */
struct PipeCursor {
  unsigned index = 0, parity = 0, places;
  __device__ explicit PipeCursor(unsigned n) : places(n) {}
  __device__ void advance() {
    if (++index == places) {
      index = 0;
      parity ^= 1;
    }
  }
};

/* ---- Producer: one warp, of which lane 0 works, but for the last tile -----------------------------------------------
 */

/* What is less than a vector comes by hand; what lies beyond it is never looked at for an output. Once at most. */
template <class Element>
__device__ __noinline__ void fill_rest(const char *in, char *to, unsigned begin, unsigned end) {
#pragma unroll 1
  for (unsigned i = begin; i < end; i += sizeof(Element))
    *reinterpret_cast<Element *>(to + i) = *reinterpret_cast<const Element *>(in + i);
}

/* One half of a place. */
template <class Type>
__device__ inline void fill_half(const red_cuda_scan &args, Barrier *full, char *to, uint64_t at) {
  using Element = typename Type::Element;
  const char *in = static_cast<const char *>(args.in) + at;
  uint64_t end = args.n * sizeof(Element), left = at < end ? end - at : 0;
  unsigned bytes = left < pipe_half ? static_cast<unsigned>(left) : pipe_half, whole = bytes & ~15u;
  if (whole < bytes) fill_rest<Element>(in, to, whole, bytes);
  barrier_arrive_expect(full, whole);
  if (whole > 0) bulk_load(to, in, whole, full);
}

/* Into the L2 cache, from where its block will have it at once. */
template <class Type> __device__ inline void prefetch_tile(const red_cuda_scan &args, uint64_t tile) {
  uint64_t at = tile * pipe_tile, end = args.n * sizeof(typename Type::Element), left = at < end ? end - at : 0;
  unsigned bytes = left < pipe_tile ? static_cast<unsigned>(left) & ~15u : pipe_tile;
  if (bytes > 0) bulk_prefetch(static_cast<const char *>(args.in) + at, bytes);
}

__device__ inline uint32_t take_ticket(const red_cuda_scan &args) {
  return atomicInc(&args.head->ticket, static_cast<uint32_t>(args.tiles) + gridDim.x - 1); /* as many as are taken */
}

/* What the producer asks for before anything else. */
struct PipeStart {
  uint32_t ticket, epoch;
};
template <class Type> __device__ inline PipeStart ask_first(const red_cuda_scan &args) {
  PipeStart start = {take_ticket(args), load_relaxed(&args.head->epoch)};
  prefetch_tile<Type>(args, blockIdx.x); /* whoever will get it */
  return start;
}

template <class Type>
__device__ inline void produce(const red_cuda_scan &args, PipeShared<typename Type::T> &shared, char *ring,
                               PipeStart start) {
  using T = typename Type::T;
  constexpr unsigned ahead = 2;      /* tiles being loaded at a time */
  constexpr unsigned distance = 256; /* tiles from a ticket to the slots that it asks for: two rounds of all blocks */
  uint32_t ticket = start.ticket, second = ticket;
  shared.epoch = start.epoch + 1; /* for whoever learns of a tile */
  PipeCursor cursor(args.places), loaded(args.places);
#pragma unroll 1
  for (unsigned i = 0;; i++) {
    PipePlace<T> &place = shared.place[cursor.index];
    barrier_wait(&place.free[0], cursor.parity ^ 1);
    if (i >= ahead) {
      barrier_wait(&shared.place[loaded.index].full[0], loaded.parity);
      barrier_wait(&shared.place[loaded.index].full[1], loaded.parity);
      loaded.advance();
    }
    if (i > 0) ticket = i == 1 ? second : take_ticket(args);
    place.tile = ticket < args.tiles ? ticket : pipe_end;
    if (ticket >= args.tiles) {
      barrier_arrive(&place.full[0]);
      barrier_arrive(&place.full[1]);
      return;
    }
    if (i == 0) second = take_ticket(args); /* on its way meanwhile */
    char *to = ring + cursor.index * pipe_tile;
    uint64_t at = static_cast<uint64_t>(ticket) * pipe_tile;
    fill_half<Type>(args, &place.full[0], to, at);
    barrier_wait(&place.free[1], cursor.parity ^ 1);
    fill_half<Type>(args, &place.full[1], to + pipe_half, at + pipe_half);
    if (i == 0) {
#pragma unroll 1
      for (unsigned tile = blockIdx.x * Sector<T>::slots; tile < distance; tile += gridDim.x * Sector<T>::slots)
        prefetch_slots<PipeGroups, T>(args, tile);
    }
    prefetch_slots<PipeGroups, T>(args, ticket + distance);
    cursor.advance();
  }
}

/* ---- Sums of the parts
 * ------------------------------------------------------------------------------------------------ */

/* Four rows of 32 lanes: lanes exchange halves of their rows first. The total in all lanes. */
template <class T, class Op> __device__ inline T fold_rows(const T (&row)[pipe_rows], Op op) {
  unsigned lane = lane_index();
  bool odd = lane & 1, second = lane & 2;
  T low = op(odd ? row[2] : row[0], warp_xor(odd ? row[0] : row[2], 1));
  T high = op(odd ? row[3] : row[1], warp_xor(odd ? row[1] : row[3], 1));
  T one = op(second ? high : low, warp_xor(second ? low : high, 2));
#pragma unroll
  for (unsigned h = 4; h < 32; h *= 2) one = op(one, warp_xor(one, h));
  /* lane bits 0 and 1 now name the row: 0, 2, 1, 3; rows 0 and 1 first, then both pairs */
  one = op(one, warp_xor(one, 2));
  return op(one, warp_xor(one, 1));
}

template <class Type>
__device__ inline void sum_parts(const red_cuda_scan &args, PipeShared<typename Type::T> &shared, const char *ring,
                                 unsigned worker) {
  const Type type(args.element);
  unsigned lane = lane_index();
  for (PipeCursor cursor(args.places);; cursor.advance()) {
    PipePlace<typename Type::T> &place = shared.place[cursor.index];
#pragma unroll 1
    for (unsigned half = 0; half < 2; half++) {
      barrier_wait(&place.full[half], cursor.parity);
      unsigned part = half * pipe_workers + worker;
      const char *from = ring + cursor.index * pipe_tile + part * pipe_part + lane * 16;
      typename Type::T row[pipe_rows];
#pragma unroll
      for (int r = 0; r < pipe_rows; r++) row[r] = type.total(*reinterpret_cast<const uint4 *>(from + r * 512));
      typename Type::T total = fold_rows(row, type.op());
      if (lane == 0) place.part[part] = total;
    }
    uint64_t tile = place.tile;
    __syncwarp();
    if (lane == 0) barrier_arrive(&place.summed);
    if (tile == pipe_end) return;
  }
}

/* The tile's total from its parts, in all lanes. */
template <class T, class Op> __device__ inline T climb_parts(const PipePlace<T> &place, T (&sibling)[4], Op op) {
  return climb(place.part[lane_index() % pipe_parts], sibling, op);
}

/* ---- Roles that deal with other tiles
 * ---------------------------------------------------------------------------------- */

template <class Type>
__device__ inline void publish_tiles(const red_cuda_scan &args, PipeShared<typename Type::T> &shared) {
  const Type type(args.element);
  for (PipeCursor cursor(args.places);; cursor.advance()) {
    PipePlace<typename Type::T> &place = shared.place[cursor.index];
    barrier_wait(&place.summed, cursor.parity);
    uint64_t tile = place.tile;
    if (tile == pipe_end) return;
    typename Type::T sibling[4];
    typename Type::T total = climb_parts(place, sibling, type.op());
    if (lane_index() == 0) {
      publish(args.slots[0], tile, total, shared.epoch);
      barrier_arrive(&place.free[0]);
    }
  }
}

template <class Type>
__device__ inline void close_tiles(const red_cuda_scan &args, PipeShared<typename Type::T> &shared) {
  const Type type(args.element);
  for (PipeCursor cursor(args.places);; cursor.advance()) {
    PipePlace<typename Type::T> &place = shared.place[cursor.index];
    barrier_wait(&place.summed, cursor.parity);
    uint64_t tile = place.tile;
    if (tile == pipe_end) return;
    bool last = args.total != nullptr && tile + 1 == args.tiles;
    typename Type::T sibling[4];
    typename Type::T own = climb_parts(place, sibling, type.op());
    if (lane_index() == 0) barrier_arrive(&place.free[0]);
    if (!PipeGroups::ends(tile) && !last) continue;
    close_levels<PipeGroups>(args, tile, own, shared.epoch, type.op(), type.identity());
    if (!last) continue;
    typename Type::T total = total_of_tiles<PipeGroups>(args, tile, own, shared.epoch, type.op(), type.identity());
    if (lane_index() == 0) answer_total(args, state_bits(total));
  }
}

template <class Type>
__device__ inline void look_back_tiles(const red_cuda_scan &args, PipeShared<typename Type::T> &shared) {
  using T = typename Type::T;
  const Type type(args.element);
  T start = args.element.has_init ? state_of<T>(args.element.init) : type.identity();
  UpperPrefix<T> upper = {0, start, false};
  for (PipeCursor cursor(args.places);; cursor.advance()) {
    PipePlace<T> &place = shared.place[cursor.index];
    /* What others have published is asked for while the tile is being summed. */
    barrier_wait(&place.full[0], cursor.parity);
    uint64_t tile = place.tile;
    TileSlots<PipeGroups, T> slots(args, tile != pipe_end ? tile : 0);
    barrier_wait(&place.summed, cursor.parity);
    if (tile != pipe_end) {
      uint32_t epoch = shared.epoch;
      T sibling[4];
      T own = climb_parts(place, sibling, type.op());
      Prefix<T> prefix = look_back<PipeGroups>(args, tile, slots, own, epoch, type.op(), type.identity(), start, upper);
      if (lane_index() == 0) place.prefix = prefix;
      /* The last tile has seen all others: whoever has a tile has read the epoch. */
      if (tile + 1 == args.tiles && lane_index() == 0) store_relaxed(&args.head->epoch, epoch);
    }
    if (lane_index() == 0) barrier_arrive(&place.placed);
    if (tile == pipe_end) return;
  }
}

/* ---- Outputs
 * ------------------------------------------------------------------------------------------------------------ */

/* Row r of a part, which begins at element `first`. */
template <class Type>
__device__ inline void store_some(const Type &type, const red_cuda_scan &args, uint64_t first,
                                  const typename Type::T (&y)[Type::V]) {
  uint64_t i = first + lane_index() * Type::V;
#pragma unroll
  for (int v = 0; v < Type::V; v++)
    if (i + v < args.n) static_cast<typename Type::Output *>(args.out)[i + v] = type.narrow(y[v]);
}

/* One part: P at its beginning and end are known. */
template <bool Whole, class Type>
__device__ inline void apply_part(const Type &type, const red_cuda_scan &args, const char *from, uint64_t first,
                                  typename Type::T begin, typename Type::T end) {
  using T = typename Type::T;
  constexpr int V = Type::V;
  auto op = type.op();
  unsigned lane = lane_index();
  uint4 raw[pipe_rows];
  T sibling[5][pipe_rows], row[pipe_rows], before[pipe_rows + 1], mine[pipe_rows], next[pipe_rows];
#pragma unroll
  for (int r = 0; r < pipe_rows; r++) raw[r] = *reinterpret_cast<const uint4 *>(from + r * 512 + lane * 16);
#pragma unroll
  for (int r = 0; r < pipe_rows; r++) row[r] = type.total(raw[r]);
  climb_rows(row, sibling, op);
  before[0] = begin;
  before[1] = op(begin, row[0]);
  before[2] = op(begin, op(row[0], row[1]));
  before[3] = op(before[2], row[2]);
  before[4] = end;
  auto *to = static_cast<typename Type::Output *>(args.out) + first;
#pragma unroll
  for (int r = 0; r < pipe_rows; r++) mine[r] = before[r];
  descend_rows(mine, sibling, lane, op);
#pragma unroll
  for (int r = 0; r < pipe_rows; r++) next[r] = warp_down(mine[r], 1);
#pragma unroll
  for (int r = 0; r < pipe_rows; r++) {
    if (lane == 31) next[r] = before[r + 1];
    T y[V];
    type.outputs(raw[r], mine[r], next[r], args.inclusive, y);
    if (Whole)
      store_row(type, to + r * 32 * V, y);
    else
      store_some(type, args, first + r * 32 * V, y);
  }
}

template <class Type>
__device__ inline void apply_tiles(const red_cuda_scan &args, PipeShared<typename Type::T> &shared, const char *ring,
                                   unsigned worker) {
  using T = typename Type::T;
  constexpr unsigned part_elements = 32 * pipe_rows * Type::V;
  const Type type(args.element);
  unsigned lane = lane_index();
  for (PipeCursor cursor(args.places);; cursor.advance()) {
    PipePlace<T> &place = shared.place[cursor.index];
    barrier_wait(&place.placed, cursor.parity);
    uint64_t tile = place.tile;
    if (tile == pipe_end) return;
    Prefix<T> prefix = place.prefix;
    T sibling[4];
    climb_parts(place, sibling, type.op());
    T begin = descend(prefix.before, sibling, lane % pipe_parts, type.op());
    T end = warp_down(begin, 1);
    if (lane % pipe_parts == pipe_parts - 1) end = prefix.after;
#pragma unroll 1
    for (unsigned half = 0; half < 2; half++) {
      unsigned part = half * pipe_workers + worker;
      const char *from = ring + cursor.index * pipe_tile + part * pipe_part;
      uint64_t first = (tile * pipe_parts + part) * part_elements;
      T before = warp_broadcast(begin, part), after = warp_broadcast(end, part);
      if (first + part_elements <= args.n)
        apply_part<true>(type, args, from, first, before, after);
      else
        apply_part<false>(type, args, from, first, before, after);
      if (first == 0 && lane == 0 && args.has_first)
        *static_cast<typename Type::Output *>(args.out) = static_cast<typename Type::Output>(args.first);
      __syncwarp();
      if (lane == 0) barrier_arrive(&place.free[half]);
    }
  }
}

#endif

template <class Type> __device__ inline void scan_pipe(const red_cuda_scan &args) {
#if __CUDA_ARCH__ >= 900
  using T = typename Type::T;
  extern __shared__ __align__(128) char ring[];
  __shared__ PipeShared<T> shared;
  constexpr unsigned producer = 2 * pipe_workers;
  unsigned warp = threadIdx.x / 32;
  PipeStart start = {0, 0};
  if (threadIdx.x == 32 * producer) start = ask_first<Type>(args);
  if (threadIdx.x < args.places) {
    PipePlace<T> &place = shared.place[threadIdx.x];
    barrier_init(&place.full[0], 1);
    barrier_init(&place.full[1], 1);
    barrier_init(&place.summed, pipe_workers);
    barrier_init(&place.placed, 1);
    barrier_init(&place.free[0], pipe_workers + 2); /* apply, publisher, closer */
    barrier_init(&place.free[1], pipe_workers);
    barrier_fence();
  }
  __syncthreads();
  if (warp == producer) {
    if (threadIdx.x % 32 == 0) produce<Type>(args, shared, ring, start);
  } else if (warp == producer + 1) {
    publish_tiles<Type>(args, shared);
  } else if (warp == producer + 2) {
    close_tiles<Type>(args, shared);
  } else if (warp == producer + 3) {
    look_back_tiles<Type>(args, shared);
  } else if (warp < pipe_workers) {
    apply_tiles<Type>(args, shared, ring, warp);
  } else {
    sum_parts<Type>(args, shared, ring, warp - pipe_workers);
  }
#endif
}

} // namespace red

#define SCAN_PIPE(name, type)                                                                                          \
  extern "C" __global__ void __launch_bounds__(red::pipe_threads, 1)                                                   \
      name(const __grid_constant__ red_cuda_scan args) {                                                               \
    red::scan_pipe<red::Piped<red::type>>(args);                                                                       \
  }

#endif
