/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of the most frequent pairs, for small arrays. */
#include "scan_tile.cuh"

#define SIZES(name, type)                                                                                              \
  SCAN_TILE(scan_small_##name, LoneTile, type)                                                                         \
  SCAN_TILE(scan_large_##name, ManyTile, type)

SIZES(f32, Hot<red::SumF32>)
SIZES(f64, Hot<red::SumF64>)
SIZES(i32, Hot<red::SumI32>)
SIZES(i32_wide, Hot<red::SumI32Wide>)
SIZES(i64, Hot<red::SumI64>)
