/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans with one block for each tile, which stays in registers: warps of some rows of 32 lanes. A lone tile of one row
 * a warp makes the shortest code and the shortest way for the smallest arrays; four rows a warp move more.
 *
 * One pass: the tile publishes its total and looks back. Three launches (for whoever must not assume that blocks make
 * progress beside each other): totals, nodes above them, outputs; the same code, with nothing left to wait for.
 */
#ifndef RED_CUDA_SCAN_TILE_CUH
#define RED_CUDA_SCAN_TILE_CUH

#include "scan_type.cuh"

namespace red {

/* Rows of a warp, warps of a block, and whether the array is no longer than one tile. */
template <int R, int W, bool Lone> struct TileShape {
  using Groups = SmallGroups;
  static constexpr bool lone = Lone;
  static constexpr int rows = R;
  static constexpr unsigned warps = W, threads = 32 * W;
  static constexpr int levels = W == 16 ? 4 : 3; /* of the tree of warps */
};
using LoneTile = TileShape<1, 16, true>;
using ManyTile = TileShape<4, 8, false>;

template <class T> struct ScanScratch {
  T warp[16];
  T before[17]; /* P at the beginning of each warp's part; the last: at the tile's end */
  uint64_t tile;
};

/* Whether there are other tiles. */
template <class Shape> __device__ inline bool has_others(const red_cuda_scan &args) {
  return !Shape::lone && args.tiles > 1;
}

/* The tile's index and, in lane 0 of warp 0, the epoch. */
template <class Shape, class T>
__device__ inline uint64_t begin_tile(const red_cuda_scan &args, uint32_t &epoch, ScanScratch<T> &scratch) {
  if (Shape::lone) return 0;
  if (threadIdx.x == 0 && args.tiles > 1) epoch = load_relaxed(&args.head->epoch);
  if (!args.ordered) return blockIdx.x;
  if (threadIdx.x == 0) scratch.tile = atomicInc(&args.head->ticket, static_cast<uint32_t>(args.tiles - 1));
  __syncthreads();
  return scratch.tile;
}

/* The total of everything for the host, by the warp that has the last tile. */
template <class Shape, class Type>
__device__ __noinline__ void tell_total(const Type &type, const red_cuda_scan &args, uint64_t tile,
                                        typename Type::T own, uint32_t epoch) {
  typename Type::T total = own;
  if (has_others<Shape>(args))
    total = total_of_tiles<typename Shape::Groups>(args, tile, own, epoch, type.op(), type.identity());
  if (lane_index() == 0) answer_total(args, state_bits(total));
}

/*
 * Warp 0: from the warps' totals to what comes before each warp. The epoch advances when everybody must have read it:
 * the last tile has seen all others.
 */
template <class Shape, class Type>
__device__ inline void place_warps(const Type &type, const red_cuda_scan &args, uint64_t tile, uint32_t epoch,
                                   ScanScratch<typename Type::T> &scratch) {
  using T = typename Type::T;
  using G = typename Shape::Groups;
  auto op = type.op();
  const T identity = type.identity();
  unsigned lane = threadIdx.x;
  T sibling[Shape::levels];
  T own = climb(lane < Shape::warps ? scratch.warp[lane] : identity, sibling, op);
  own = warp_broadcast(own, 0);
  T start = args.element.has_init ? state_of<T>(args.element.init) : identity;
  Prefix<T> prefix = {start, op(start, own)};
  if (has_others<Shape>(args)) {
    epoch = warp_broadcast(epoch, 0) + 1;
    if (args.phase != RED_CUDA_SCAN_APPLY && lane == 0) publish(args.slots[0], tile, own, epoch);
    if (args.phase == RED_CUDA_SCAN_TOTALS) return;
    if (args.levels > 1 && G::ends(tile) && args.phase == RED_CUDA_SCAN_ONCE)
      close_levels<G>(args, tile, own, epoch, op, identity);
    TileSlots<G, T> slots(args, tile);
    UpperPrefix<T> upper = {0, start, false};
    prefix = look_back<G>(args, tile, slots, own, epoch, op, identity, start, upper);
  }
  T before = descend(prefix.before, sibling, lane, op);
  if (lane < Shape::warps) scratch.before[lane] = before;
  if (lane == 0) scratch.before[Shape::warps] = prefix.after;
  if (!Shape::lone && tile + 1 != args.tiles) return;
  if (args.total != nullptr) tell_total<Shape>(type, args, tile, own, epoch);
  if (has_others<Shape>(args) && args.phase == RED_CUDA_SCAN_ONCE && lane == 0) store_relaxed(&args.head->epoch, epoch);
}

/* From what comes before a warp and its rows' totals to what comes before each row; the last: the next warp's. */
template <int Rows, class T, class Op>
__device__ inline void place_rows(const T (&row)[Rows], T begin, T end, T (&before)[Rows + 1], Op op) {
  static_assert(Rows == 1 || Rows == 4, "a power of two");
  before[0] = begin;
  if constexpr (Rows == 4) {
    before[1] = op(begin, row[0]);
    before[2] = op(begin, op(row[0], row[1]));
    before[3] = op(before[2], row[2]);
  }
  before[Rows] = end;
}

template <class Shape, class Type> __device__ inline void scan_tile(const red_cuda_scan &args) {
  using T = typename Type::T;
  constexpr int V = Type::V, rows = Shape::rows;
  constexpr unsigned part = rows * 32 * V; /* of a warp */
  __shared__ ScanScratch<T> scratch;
  const Type type(args);
  auto op = type.op();
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t epoch = 0;
  uint64_t tile = begin_tile<Shape>(args, epoch, scratch);
  if (threadIdx.x == 0 && has_others<Shape>(args)) prefetch_slots<typename Shape::Groups, T>(args, tile);
  uint64_t first = tile * (part * Shape::warps) + warp * part + lane * V;
  T x[rows][V], sibling[5][rows], row[rows];
#pragma unroll
  for (int r = 0; r < rows; r++) type.load(args, first + r * 32 * V, x[r]);
#pragma unroll
  for (int r = 0; r < rows; r++) row[r] = climb_lane(x[r], op);
  climb_rows(row, sibling, op);
  T total = row[0];
  if constexpr (rows == 4) total = op(op(row[0], row[1]), op(row[2], row[3]));
  if (lane == 0) scratch.warp[warp] = total;
  __syncthreads();
  if (warp == 0) place_warps<Shape>(type, args, tile, epoch, scratch);
  if (!Shape::lone && args.phase == RED_CUDA_SCAN_TOTALS) return;
  __syncthreads();
  T before[rows + 1], mine[rows], next[rows];
  place_rows(row, scratch.before[warp], scratch.before[warp + 1], before, op);
#pragma unroll
  for (int r = 0; r < rows; r++) mine[r] = before[r];
  descend_rows(mine, sibling, lane, op);
#pragma unroll
  for (int r = 0; r < rows; r++) next[r] = warp_down(mine[r], 1);
#pragma unroll
  for (int r = 0; r < rows; r++) {
    T y[V];
    descend_lane(x[r], mine[r], y, op);
    if (args.inclusive) {
#pragma unroll
      for (int v = 0; v + 1 < V; v++) y[v] = y[v + 1];
      y[V - 1] = lane == 31 ? before[r + 1] : next[r];
    }
    type.store(args, first + r * 32 * V, y);
  }
  if (has_others<Shape>(args) && args.phase == RED_CUDA_SCAN_APPLY && threadIdx.x == 0) {
    /* all blocks have read the epoch when the last one arrives */
    if (atomicInc(&args.head->arrived, gridDim.x - 1) == gridDim.x - 1) store_relaxed(&args.head->epoch, epoch + 1);
  }
}

/* Between the launches: the nodes of one level, a warp for each. */
template <class Type> __device__ inline void scan_level(const red_cuda_scan &args, unsigned level) {
  using T = typename Type::T;
  using G = ManyTile::Groups;
  const Type type(args);
  uint64_t node = static_cast<uint64_t>(blockIdx.x) * ManyTile::warps + threadIdx.x / 32;
  uint64_t last = ((node + 1) << G::shift(level + 1)) - 1; /* the tile that ends it */
  if (last >= args.tiles) return;
  uint32_t epoch = load_relaxed(&args.head->epoch) + 1;
  Slot<T> end;
  end.read(args.slots[level], last >> G::shift(level)); /* of an earlier launch: there */
  T value = close_level<G>(args, last, level, end.value(), epoch, type.op(), type.identity());
  if (threadIdx.x % 32 == 0) publish(args.slots[level + 1], node, value, epoch);
}

} // namespace red

#define SCAN_TILE(name, shape, type)                                                                                   \
  extern "C" __global__ void __launch_bounds__(red::shape::threads) name(const __grid_constant__ red_cuda_scan args) { \
    red::scan_tile<red::shape, red::type>(args);                                                                       \
  }
#define SCAN_LEVEL(name, type)                                                                                         \
  extern "C" __global__ void __launch_bounds__(red::ManyTile::threads)                                                 \
      name(const __grid_constant__ red_cuda_scan args, unsigned level) {                                               \
    red::scan_level<red::type>(args, level);                                                                           \
  }

#endif
